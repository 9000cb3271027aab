"""The handle that drags a joint along its curve or over its surface; with the mouse it needs a window."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from ..selecting import select


def from_the_side(scale=1.0):
    """Seen along y: 1000 pixels a metre."""
    return lambda points: 1000.0 / scale * points[:, [0, 2]]


@pytest.fixture
def knee(part, scene, make):
    """A fitted knee with its slider: `knee(scale)`."""

    def made(scale=1.0):
        scene.unit_settings.scale_length = 1.0 / scale
        thigh, shank = make.keyed_knee(scale=scale)
        body = part("data.references").Body
        joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
        select(joint)
        assert bpy.ops.condyle.fit(num_frames=8) == {"FINISHED"}
        return joint, shank

    return made


@pytest.mark.small
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_the_handle_goes_along_the_curve_to_where_the_mouse_is(part, scene, knee, scale):
    joint, shank = knee(scale)
    scrubbing = part("posing.scrubbing")
    held, project = scrubbing.read(scene, joint), from_the_side(scale)
    lower, upper = held.ranges[0]
    now = np.array([lower])
    for q in np.linspace(lower, upper, 9)[1:-1]:
        now = scrubbing.drag(held, now, project(held.points(np.array([[q]])))[0], project)
        assert now[0] == pytest.approx(q, abs=2e-3 * (upper - lower))
    part("posing.project_poses").set_readings(scene, joint, now)
    assert np.allclose(held.points(now), shank.matrix_world.translation, atol=2e-6 * scale)
    far = scrubbing.drag(held, now, np.array([-9000.0, 9000.0]), project)
    for _ in range(5):  # the mouse goes on, and on
        far = scrubbing.drag(held, far, np.array([-9000.0, 9000.0]), project)
    assert lower <= far[0] <= upper


@pytest.mark.small
def test_limits_stop_the_handle(part, scene, knee):
    joint, _ = knee()
    row = joint.condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", 0.5, 0.9
    held, project = part("posing.scrubbing").read(scene, joint), from_the_side()
    for place, expected in (((-500.0, 500.0), 0.9), ((500.0, -500.0), 0.5)):
        now = np.array([0.7])
        for _ in range(5):
            now = part("posing.scrubbing").drag(held, now, np.array(place), project)
        assert now[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.small
def test_a_hinge_is_held_beside_its_axis_and_a_closed_curve_goes_round(part, scene, make, body, authoring):
    joint = authoring.add_joint(scene, None, body(make.box("Door")), "hinge", name="Pin")
    joint.condyle.joint.axis = (0, 1, 0)
    select(joint)
    assert bpy.ops.condyle.drive() == {"FINISHED"}
    held, project = part("posing.scrubbing").read(scene, joint), from_the_side()
    points = held.points(np.array([[0.0], [1.0]]))
    assert np.linalg.norm(points[1] - points[0]) > 0.9 * np.linalg.norm(held.arm) > 0.0
    found = part("posing.scrubbing").drag(held, np.zeros(1), project(points[1:])[0], project)
    assert found[0] == pytest.approx(1.0, abs=1e-3)
    wire = authoring.add_joint(scene, None, body(make.box("Bead")), matrix=np.eye(4).tolist(), name="Wire")
    for angle in np.linspace(0.0, 2.0 * np.pi, 9)[:-1]:
        pose = np.eye(4)
        pose[:3, 3] = np.cos(angle), 0.0, np.sin(angle)
        authoring.add_control_frame(scene, wire, pose)
    wire.condyle.joint.periodic = True
    authoring.drive(scene, wire, True)
    held = part("posing.scrubbing").read(scene, wire)
    now, period = np.array([held.ranges[0, 0]]), np.ptp(held.ranges[0])
    for share in np.linspace(0.0, 1.4, 29):
        target = project(held.points(np.array([[held.ranges[0, 0] + share * period]])))[0]
        now = part("posing.scrubbing").drag(held, now, target, project)
    assert now[0] == pytest.approx(held.ranges[0, 0] + 1.4 * period, abs=1e-2 * period)
    part("posing.project_poses").set_readings(scene, wire, now)
    assert wire["coordinate"] == pytest.approx(held.ranges[0, 0] + 0.4 * period, abs=1e-2 * period)


@pytest.mark.small
def test_a_bone_that_turns_about_its_head_is_held_at_its_tail(part, scene, make, body, authoring):
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0.5), None), "B": ((0, 0, 0.5), (0, 0.1, 0), "A")})
    joint = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    authoring.drive(scene, joint, True)
    joint["coordinate"] = 0.4
    joint.update_tag()
    make.update()
    held = part("posing.scrubbing").read(scene, joint)
    assert np.allclose(held.points(np.array([0.4])), rig.matrix_world @ rig.pose.bones["B"].tail, atol=1e-6)


@pytest.mark.small
def test_a_surface_is_dragged_in_both_its_coordinates(part, scene, make, body):
    chest, plate = make.box("Chest", size=(0.2, 0.2, 0.2)), make.box("Blade", (0, 0, 0.2), (0.1, 0.1, 0.02))
    joint = part("making.bodies_and_joints").add_joint(scene, body(chest), body(plate), name="Glide")
    select(joint)
    assert bpy.ops.condyle.make_grid() == {"FINISHED"} and bpy.ops.condyle.drive() == {"FINISHED"}
    held = part("posing.scrubbing").read(scene, joint)

    def from_above(points):
        return 1000.0 * points[:, :2]

    middle = held.ranges.mean(axis=1)
    wanted = middle + (0.2, -0.15) * np.ptp(held.ranges, axis=1)
    found = part("posing.scrubbing").drag(held, middle, from_above(held.points(wanted[None]))[0], from_above)
    assert np.allclose(found, wanted, atol=2e-3)
    slanted = np.array([[0.9, 0.3], [0.5, -0.8], [0.2, 0.6]])
    for corner in np.array(np.meshgrid(*held.ranges)).reshape(2, -1).T:  # from a corner, seen from anywhere
        for wanted in (middle, middle + (0.25, -0.3) * np.ptp(held.ranges, axis=1)):
            target = 1000.0 * held.points(wanted[None])[0] @ slanted
            now = corner
            for _ in range(3):
                now = part("posing.scrubbing").drag(
                    held, now, target, lambda points: 1000.0 * points @ slanted
                )
            assert np.allclose(1000.0 * held.points(now[None])[0] @ slanted, target, atol=1.0)


@pytest.mark.small
def test_scrubbing_by_a_script_sets_keys_where_auto_keying_is_on(part, scene, knee):
    joint, _ = knee()
    assert bpy.ops.condyle.scrub(values=(0.6, 0.0, 0.0)) == {"FINISHED"}
    assert joint["coordinate"] == pytest.approx(0.6) and not list(part("blender.compat").curves_in_use(joint))
    scene.tool_settings.use_keyframe_insert_auto = True
    scene.frame_set(12)
    assert bpy.ops.condyle.scrub(values=(99.0, 0.0, 0.0)) == {"FINISHED"}
    upper = part("posing.scrubbing").read(scene, joint).ranges[0, 1]
    assert joint["coordinate"] == pytest.approx(upper)
    (curve,) = part("blender.compat").curves_in_use(joint)
    assert [tuple(key.co) for key in curve.keyframe_points] == [(12.0, pytest.approx(upper, abs=1e-6))]


@pytest.mark.small
@pytest.mark.parametrize(("kind", "shown"), [("hinge", "turns"), ("slider", "values")])
def test_angles_are_adjusted_and_told_in_the_units_of_the_scene(part, scene, make, body, kind, shown):
    """Adjust Last Operation showed 0.35 where the slider in the panel says 20 degrees, and the header degrees where it
    says radians.
    """
    scrub = part("ui.frames.scrub_operators")
    held, moved = make.box("Held"), make.box("Moved", (0, 0, 1))
    joint = part("making.bodies_and_joints").add_joint(scene, body(held), body(moved), kind)
    part("making.bodies_and_joints").drive(scene, joint, True)
    select(joint)
    assert bpy.ops.condyle.scrub(values=(0.35, 0.0, 0.0)) == {"FINISHED"}
    assert joint["coordinate"] == pytest.approx(0.35)
    adjusted = SimpleNamespace(values=(0.0, 0.0, 0.0))
    scrub._take_turns(adjusted, (0.1, 0.2, 0.3))  # as by the field that shows degrees
    assert adjusted.values == (0.1, 0.2, 0.3)
    layout = MagicMock()
    scrub.Scrub.draw(SimpleNamespace(layout=layout), bpy.context)
    (drawn,) = layout.column().prop.call_args_list
    assert drawn.args[1] == shown
    context, units = SimpleNamespace(area=MagicMock(), scene=scene), scene.unit_settings
    for rotation, system, wanted in (
        ("DEGREES", "METRIC", ("20.05° ", "35 cm ")),
        ("RADIANS", "IMPERIAL", ("0.35 ", "1.148' ")),
        ("DEGREES", "NONE", ("20.05° ", "0.35 ")),
    ):
        units.system_rotation, units.system = rotation, system
        scrub.Scrub._tell(None, context, joint)
        (text,) = context.area.header_text_set.call_args.args
        assert f" {wanted[kind == 'slider']}" in text, text


def test_what_cannot_be_dragged_says_why(part, scene, make, body, authoring, knee):
    joint, _ = knee()
    why = part("posing.scrubbing").why_not
    assert why(joint) == ""
    assert bpy.ops.condyle.stop_driving() == {"FINISHED"} and "not driven" in why(joint)
    ball = authoring.add_joint(scene, None, body(make.box("Ball")), "spherical", name="Ball Joint")
    authoring.drive(scene, ball, True)
    assert "one or two coordinates" in why(ball)
    select(ball)
    with pytest.raises(RuntimeError, match="one or two coordinates"):
        bpy.ops.condyle.scrub()


def test_the_handle_is_hidden_in_a_live_run_where_the_limb_is_elsewhere(part, scene, knee, monkeypatch):
    knee()
    handle = part("ui.frames.scrub_operators").ScrubHandle
    assert handle.poll(bpy.context)
    monkeypatch.setattr(part("blender.session"), "live", object())
    assert not handle.poll(bpy.context)


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_the_handle_hides_no_more_than_a_part_of_a_small_body(part, scene, authoring, knee, scale):
    """A shank of 0.4 m that is seen as 400 pixels: as ever; as 30: a quarter of these; never too small to take."""
    joint, shank = knee(scale)
    module = part("ui.frames.scrub_operators")

    def size(pixels):
        view = np.eye(4)  # along z; the region's width of 1000 pixels is 2 in its units
        view[:3] *= pixels / 500.0 / (2.0 * authoring.typical_length(part("data.references").Body(shank)))
        region = SimpleNamespace(width=1000, height=1000)
        data = SimpleNamespace(perspective_matrix=view, view_matrix=np.eye(4))
        preferences = SimpleNamespace(
            view=SimpleNamespace(gizmo_size=75), system=SimpleNamespace(ui_scale=1.0)
        )
        context = SimpleNamespace(
            active_object=joint, region=region, region_data=data, preferences=preferences, scene=scene
        )
        return module.handle_size(context, np.zeros(3))

    assert size(400) == module.SIZE and size(2) == module.LEAST
    assert size(30) == pytest.approx(0.25 * 30 / 75, rel=1e-6)


@pytest.mark.parametrize(
    ("place", "moved", "shift"),
    [((12, 0), 0, False), ((12, 0), 0, True), ((4, 0), 0, False), ((12, 0), 9, False)],
)
def test_a_click_beside_the_handle_selects_what_is_seen_there(
    part, scene, knee, monkeypatch, place, moved, shift
):
    """Blender gives presses up to ten pixels beside it to the handle: they did nothing, where there was a body."""
    joint, _ = knee()
    module = part("ui.frames.scrub_operators")
    monkeypatch.setattr(module, "handle_size", lambda *_: 0.1)
    handle = np.array([100.0, 200.0])
    preferences = SimpleNamespace(view=SimpleNamespace(gizmo_size=75), system=SimpleNamespace(ui_scale=1.0))
    monkeypatch.setattr(module, "handle_place", lambda _: np.zeros(3))
    pressed = handle + place
    is_beside = module.beside(SimpleNamespace(preferences=preferences), pressed, handle)
    assert is_beside == (place[0] > 7.5)
    clicked = []
    select = SimpleNamespace(select=lambda *_, **options: clicked.append(options))
    start = part("ui.overlay.shown").readings(scene, joint)
    operator = SimpleNamespace(
        _uid=joint.session_uid,
        _beside=is_beside,
        _at=tuple(pressed),
        _mouse=tuple(pressed + [moved, 0]),
        _start=start,
        _set=lambda *_: None,
        _end=lambda _, outcome: outcome,
        _done=lambda *_: {"FINISHED"},
    )
    operator._select = lambda *arguments: module.Scrub._select(operator, *arguments)
    event = SimpleNamespace(type="LEFTMOUSE", value="RELEASE", shift=shift)
    monkeypatch.setattr(bpy, "ops", SimpleNamespace(view3d=select))  # without a window it does not run
    outcome = module.Scrub.modal(operator, SimpleNamespace(region_data=object()), event)
    if is_beside and not moved:
        assert outcome == {"CANCELLED"}  # no step of undo of ours, and no key
        assert clicked == [{"location": [112, 200], "toggle": shift, "deselect_all": not shift}]
    else:
        assert outcome == {"FINISHED"} and not clicked
