"""Panels draw for every kind of joint and body; the looks are for a real window."""

import re
import time
from unittest.mock import MagicMock

import bpy
import pytest

from ..chain_rigs import add_chain, rig_with_tail, tail

NUM_TYPES = 25  # joint types that the menus offer


class Properties:
    """A layout that takes everything, and notes properties and operators that do not exist."""

    def __init__(self):
        self.shown = []

    def layout(self):
        made = MagicMock()
        for name in ("row", "column", "box", "split"):
            getattr(made, name).side_effect = lambda *_, **__: self.layout()
        made.prop.side_effect = self.prop
        made.operator.side_effect = self.operator
        made.prop_enum.side_effect = lambda data, name, value: self.prop(data, name)
        return made

    def prop(self, data, name, **options):
        assert name.startswith("[") or name in data.bl_rna.properties, f"{data} has no {name}"
        self.shown.append(name)

    def operator(self, name, **_):
        category, _, short = name.partition(".")
        assert getattr(getattr(bpy.ops, category), short).get_rna_type()
        return MagicMock()


@pytest.mark.small
@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("q", "Coordinate"),
        ("q_2", "Coordinate 2"),
        ("q1", "Coordinate1"),
        ("quad_angle", "Quad Angle"),
        ("1.q", "1: Coordinate"),
        ("r_1", "Turn 1"),
    ],
)
def test_coordinates_have_names_for_people(part, name, label):
    assert part("data.joints").label_of(name) == label


@pytest.mark.small
def test_a_line_is_not_broken_between_a_figure_and_its_unit(part):
    layout = MagicMock()
    for width in range(150, 400, 10):
        part("ui.layout").draw_lines(
            layout, "Baked 1 body, 49 frames in 0.9 s; worst 0.003 mm", "INFO", width
        )
    lines = [call.kwargs["text"] for call in layout.label.call_args_list]
    assert len(lines) > 25 and not any(line.startswith(("s;", "mm")) for line in lines)


def draw_all(part):
    """Draw every panel whose poll allows it; returns the properties that were shown."""
    found = Properties()
    context = MagicMock(wraps=bpy.context)
    for name in (
        *("scene", "active_object", "mode", "selected_objects", "active_pose_bone"),
        *("selected_pose_bones",),
    ):
        setattr(context, name, getattr(bpy.context, name, None))
    context.region.width = 280
    for panel in part("registration").CLASSES:
        if not issubclass(panel, bpy.types.Panel) or (hasattr(panel, "poll") and not panel.poll(context)):
            continue
        own = {
            name: value
            for name, value in vars(panel).items()
            if callable(value) and not name.startswith("__")
        }
        fake = type("Fake", (), own)()
        fake.layout = found.layout()
        if hasattr(fake, "draw_header"):
            fake.draw_header(context)
        fake.draw(context)
    return found.shown


@pytest.fixture
def knee(part, scene, make, body):
    """A fitted, driven knee, its joint active."""
    thigh, shank = make.keyed_knee()
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    part("jobs.bake").fit_now(scene, joint)
    part("making.bodies_and_joints").drive(scene, joint, True)
    bpy.context.view_layer.objects.active = joint
    return scene, joint, thigh, shank


def test_panels_draw_with_nothing_at_hand(part, scene):
    assert "gravity" in draw_all(part)


@pytest.mark.small
@pytest.mark.parametrize("kind", range(NUM_TYPES))
def test_panels_draw_every_joint(part, make, knee, kind):
    scene, joint, _, _ = knee
    settings = joint.condyle.joint
    name = make.shaped(part, scene, joint, kind)
    for row in settings.coordinates:
        row.limits, row.stiffness = "CUSTOM", 1.0
    shown = draw_all(part)
    for setting in part("data.joint_types").TYPES[name].settings:
        assert setting in shown or setting == "custom_text"
    if name == "spline_curve":
        assert '["coordinate"]' in shown and "lower" in shown
    if name == "hinge":
        assert "lower_angle" in shown
    if name == "slider":
        assert "lower_length" in shown


@pytest.mark.small
@pytest.mark.parametrize("number", range(10))
def test_panels_draw_every_connection(part, body, knee, number):
    scene, _joint, thigh, shank = knee
    kind = list(part("data.connection_kinds").KINDS.values())[number]
    part("making.bodies_and_joints").add_joint(scene, None, body(thigh), "planar")
    item = part("making.connections").add_connection(scene, body(thigh), body(shank), kind.name)
    bpy.context.view_layer.objects.active = item
    shown = draw_all(part)
    assert set(kind.settings) - {"length", "corners"} <= set(shown) and "kind" in shown
    assert ("end" in shown) == (kind.has_end and item.condyle.connection.end is not None)
    ground = item.condyle.connection.ground
    if kind.name == "ground":
        ground.contact, ground.points = "SOFT", "GROUP"
        assert {"exponent", "friction"} <= set(draw_all(part))
        ground.contact, ground.points = "BALL", "END"
        assert "law" in draw_all(part) and bpy.ops.condyle.add_end() == {"FINISHED"}
        assert "end" in draw_all(part)


def test_panels_tell_of_the_last_bake(part, knee):
    scene, *_ = knee
    kept = scene.condyle.simulation.statistics
    lines = part("ui.simulation.panels").statistics_lines
    kept.integrator, kept.steps, kept.constrained, kept.largest = "rk4", 2000, True, "Rod"
    assert draw_all(part)
    told = dict(line[:2] for line in lines(kept))
    assert told["Steps"].startswith("2,000") and told["In"] == "Rod"
    kept.failed_reason, kept.failed_body = "a coordinate is no longer finite", "Shank"
    assert draw_all(part) and dict(line[:2] for line in lines(kept))["Body"] == "Shank"


def test_only_curves_offer_their_ends_and_only_splines_are_fitted_before_a_bake(part, knee):
    _scene, joint, _, _ = knee
    joint.condyle.joint.fit.active_residual = 0
    assert "requested" in draw_all(part) and "pinned" in draw_all(part)
    joint.condyle.joint.type = "hinge"
    shown = draw_all(part)
    assert "requested" not in shown and not part("ui.joints.panels").has_ends(joint.condyle.joint)
    joint.condyle.joint.type = "spline_surface"
    assert "pinned" not in draw_all(part)


@pytest.mark.small
def test_a_surface_offers_seconds_only_where_it_moves_in_time(part, knee):
    _, joint, _, _ = knee
    assert bpy.ops.condyle.make_grid(rows=4, columns=4) == {"FINISHED"}
    assert "moving" in draw_all(part) and "line_seconds" not in draw_all(part)
    assert bpy.ops.condyle.add_third_direction(moving=True) == {"FINISHED"}
    assert "line_seconds" in draw_all(part)
    joint.condyle.joint.frames.remove(0)
    assert "moving" in draw_all(part)


@pytest.mark.small
def test_panels_draw_bodies_and_work_under_way(part, knee, make):
    _, _, thigh, shank = knee
    session = part("blender.session")
    for item in (thigh, shank):
        bpy.context.view_layer.objects.active = item
        for source in ("MESH", "MANUAL"):
            item.condyle.body.mass_source = source
            assert "mass_source" in draw_all(part)
    began = time.monotonic() - 90.2  # however long it takes: a busy machine compiles for minutes
    job = part("jobs.operator").Job
    assert [job("Bake", began, share, "compiling").heading for share in (0.0, 0.3)] == ["Bake", "Bake 30%"]
    session.job = job("Bake", began, 0.3, "compiling forward dynamics")
    session.tell("mass of body 'Shank' must be positive, got 0", "ERROR")
    try:
        assert draw_all(part)
        expected = r"compiling forward dynamics: 9\d s \(first use only\)"
        assert re.fullmatch(expected, session.job.activity)
    finally:
        session.job = None
        session.tell("")


@pytest.mark.small
def test_the_list_of_control_frames_names_them_and_marks_missing_ones(part, knee):
    scene, joint, _, _ = knee
    row = MagicMock()
    draw = part("ui.frames.panels").ControlFrameList.draw_row
    context = MagicMock(scene=scene)
    frames = joint.condyle.joint.frames
    draw(MagicMock(), context, row, joint.condyle.joint, frames[2], 2)
    assert row.label.call_args.kwargs["text"] == "Frame 02"
    frames[2].object.users_collection[0].objects.unlink(frames[2].object)
    draw(MagicMock(), context, row, joint.condyle.joint, frames[2], 2)
    assert "missing" in row.label.call_args.kwargs["text"]


@pytest.mark.small
def test_tiny_residuals_have_room_in_their_row(part):
    """The words "under 0.001 mm" and "under 0.001°" were cut off in a sidebar of the width that Blender gives it."""
    row = MagicMock()
    residual = MagicMock(frame=12.0, distance=1e-7, angle=1e-9, trust=1.0, pinned=False)
    draw = part("ui.fitting.panels").ResidualList.draw_row
    draw(MagicMock(), MagicMock(), row, MagicMock(), residual, 0)
    assert [call.kwargs["text"] for call in row.label.call_args_list] == ["12", "< 0.001 mm", "< 0.001°"]


@pytest.mark.small
def test_the_slider_is_renewed_where_frames_moved_and_only_there(part, knee, monkeypatch):
    _, joint, thigh, _ = knee
    live, drive = part("handlers.control_frames"), part("sliders.sliders")
    renewed = []
    monkeypatch.setattr(drive, "refresh", lambda scene, item: renewed.append(item.name))
    monkeypatch.setattr(part("posing.keep_sliders"), "_known", {})

    def move():
        live._moved.add(joint.session_uid)
        bpy.context.view_layer.update()
        live.renew()

    move()
    thigh.rotation_euler.x = 0.5  # carries the joint along
    move()
    assert renewed == ["Knee"]
    joint.condyle.joint.frames[3].object.location.y += 0.01
    move()
    assert renewed == ["Knee", "Knee"]
    part("blender.session").job = part("jobs.operator").Job("Bake", 0.0, 0.3, "computing")
    try:
        joint.condyle.joint.frames[3].object.location.y += 0.01
        move()
        assert renewed == ["Knee", "Knee"] and live.renew() > 0.0  # it comes again
    finally:
        part("blender.session").job = None
    assert live.renew() is None and renewed == ["Knee"] * 3


@pytest.mark.small
def test_panels_draw_muscles_and_obstacles(part, body, knee):
    scene, _joint, thigh, shank = knee
    muscle = part("making.muscles").add_muscle(scene, [(body(thigh), (0, 0, 0.5)), (body(shank), (0, 0, 0))])
    obstacle = part("making.obstacles").add_obstacle(scene, body(thigh), "torus")
    part("making.muscles").wrap_over(muscle, obstacle)
    part("blender.session").warnings = ["a note"]
    bpy.context.view_layer.objects.active = muscle
    for kind in ("none", "tension", "millard", "thelen", "degroote", "schutte", "cord"):
        muscle.condyle.muscle.law.kind = kind
        shown = set(draw_all(part))
        assert {"mass", "radius"} <= shown and ("max_force" in shown) == (kind not in ("none", "cord"))
        assert ("excitation" in shown) == (kind != "cord") == ("slack_length" not in shown)
    bpy.context.view_layer.objects.active = obstacle
    for name, shape in part("data.obstacles").SHAPES.items():
        obstacle.condyle.obstacle.shape = name
        assert set(shape.settings) <= set(draw_all(part))
        layout = MagicMock()
        part("ui.muscles.panels").draw_side(layout, obstacle.condyle.obstacle, "side", "Side")
        offered = [call.args[2] for call in layout.grid_flow.return_value.prop_enum.call_args_list]
        assert offered == (list(shape.sides) if len(shape.sides) > 1 else [])
    part("blender.session").warnings = []


def test_bones_chosen_by_a_drag_show_their_figures_though_none_is_active(part, scene, make):
    rig = rig_with_tail(make, 3)
    add_chain(rig, *tail(rig))
    rig.data.bones.active = None
    assert bpy.context.active_pose_bone is None
    assert {"frequency_selected", "drag_selected"} <= set(draw_all(part))


@pytest.mark.parametrize("compiles", [True, False])
def test_it_is_told_where_nothing_can_be_compiled(part, scene, monkeypatch, compiles):
    jit, panels = part("blender.numba_support"), part("ui.compiling.panels")
    monkeypatch.setattr(jit, "can_compile", lambda: compiles)
    assert panels.SlowPanel.poll(bpy.context) is not compiles
    told = []
    monkeypatch.setattr(panels, "draw_note", lambda _layout, _context, text, *_: told.append(text))
    for cls in (panels.Preferences, panels.SlowPanel):
        cls.draw(MagicMock(), MagicMock())
    assert told == [jit.WITH if compiles else jit.WITHOUT, jit.WITHOUT]
    assert jit.SLOWDOWN in jit.WITHOUT and len(jit.TAGLINE) <= 64


def test_a_slider_under_a_bake_says_why_it_does_not_move_anything(part, knee, monkeypatch):
    _, _, _, shank = knee
    panels, told = part("ui.joints.panels"), []
    monkeypatch.setattr(panels, "draw_note", lambda _layout, _context, text, *_: told.append(text))
    draw_all(part)
    assert told == []
    shank.condyle.channels.baked = True
    draw_all(part)
    assert told == [panels.BAKED_OVER]


def test_the_inertia_of_a_tiny_body_is_read_and_typed_in_a_smaller_unit(part, make):
    """Of a phalanx its fields showed 0.000000 kg·m²."""
    settings, panels = make.box("Phalanx").condyle.body, part("ui.bodies.panels")
    settings.inertia_diagonal = (2.5e-9, 2e-7, 3e-7)
    assert panels.is_small(settings)
    # single precision
    assert tuple(settings.inertia_diagonal_small) == pytest.approx((0.025, 2.0, 3.0), rel=1e-6)
    settings.inertia_diagonal_small[1], settings.inertia_products_small = 2.2, (0.0, -0.5, 0.0)
    assert tuple(settings.inertia_diagonal) == pytest.approx((2.5e-9, 2.2e-7, 3e-7), rel=1e-6)
    assert tuple(settings.inertia_products) == pytest.approx((0.0, -5e-8, 0.0), rel=1e-6)
    settings.inertia_diagonal = (0.01, 2e-7, 0.01)
    assert not panels.is_small(settings)


#: the panels of the tab, and within each panel those that it contains
SIDEBAR = {
    None: "bake chain collider soft_body welcome next_step body joint goals frames grid reach fit connection muscle "
    "overlay",
    "bake": "settings live slow",
    "settings": "output statistics start",
    "goals": "goal_search make_physical",
    "collider": "collider_contact",
    "soft_body": "soft_body_advanced",
    "body": "mass_distribution soft_parts",
    "joint": "joint_bodies coordinates controller feedback from_pose",
    "fit": "residuals",
    "connection": "chosen_connection",
    "muscle": "chosen_muscle obstacle",
}


def test_panels_keep_their_order(part):
    """Blender sorts by ``bl_order``, and what is equal by registration."""
    found: dict = {}
    in_tab = part("data.property_options").SidebarPanel
    panels = [each for each in part("registration").CLASSES if issubclass(each, in_tab)]
    for each in sorted(panels, key=lambda panel: getattr(panel, "bl_order", 0)):
        parent = getattr(each, "bl_parent_id", None)
        found.setdefault(parent and parent.removeprefix("CONDYLE_PT_"), []).append(each.bl_idname)
    assert found == {
        parent: [f"CONDYLE_PT_{name}" for name in names.split()] for parent, names in SIDEBAR.items()
    }
