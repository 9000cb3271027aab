"""Operators: what they do, what they say when they cannot, and undo."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

OPERATORS = [
    "make_body",
    "remove_body",
    "fill_in_mass",
    "add_joint",
    "choose_type",
    "remove_joint",
    "set_rest_pose",
    "drive",
    "stop_driving",
    "start_here",
    "add_part",
    "remove_part",
    "add_control_frame",
    "insert_control_frame",
    "remove_control_frame",
    "move_control_frame",
    "select_control_frame",
    "make_grid",
    "add_grid_line",
    "remove_grid_line",
    "add_third_direction",
    "remove_third_direction",
    "select_grid_line",
    "select_grid_neighbour",
    "add_connection",
    "remove_connection",
    "add_end",
    "add_corner",
    "remove_corner",
    "fit",
    "fit_surface",
    "set_from_pose",
    "key_sliders",
    "bake",
    "free_bake",
    "cancel",
]


def select(*items):
    for item in bpy.context.view_layer.objects:
        item.select_set(False)
    for item in items:
        item.select_set(True)
    bpy.context.view_layer.objects.active = items[-1] if items else None


def digest():
    """All our data, animation, constraints and transforms of the file, as nested plain values."""
    found = {}
    for item in bpy.data.objects:
        data = item.animation_data
        action = data.action if data else None
        found[item.name] = (
            [list(row) for row in item.matrix_basis],
            item.parent.name if item.parent else "",
            plain(item.condyle),
            (action.name, keys_of(data)) if action else None,
            len(data.drivers) if data else 0,
            [(constraint.name, constraint.mute) for constraint in item.constraints],
            sorted(item.keys()),
            item.get("coordinate"),
        )
    return {
        "objects": found,
        "actions": sorted(bpy.data.actions.keys()),
        "scene": plain(bpy.context.scene.condyle),
    }


def keys_of(data):
    action, slot = data.action, getattr(data, "action_slot", None)
    if not hasattr(action, "slots"):
        curves = action.fcurves
    else:
        curves = action.layers[0].strips[0].channelbag(slot).fcurves
    return [
        (curve.data_path, curve.array_index, [tuple(point.co) for point in curve.keyframe_points])
        for curve in curves
    ]


def plain(value):
    if isinstance(value, bpy.types.PropertyGroup):
        names = [p.identifier for p in value.bl_rna.properties if p.identifier not in {"rna_type", "name"}]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, bpy.types.ID):
        return value.name
    if hasattr(value, "bl_rna") or (hasattr(value, "__len__") and not isinstance(value, str)):
        return [plain(entry) for entry in value]
    return value


@pytest.fixture
def window():
    """Undo in the background wants a window in its context."""
    return bpy.context.window_manager.windows[0]


def undone_and_redone(window, call):
    """Digests before the call, after it, after an undo and after a redo."""
    with bpy.context.temp_override(window=window):
        bpy.ops.ed.undo_push(message="before")
        before = digest()
        assert call() == {"FINISHED"}
        after = digest()
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()
        undone = digest()
        bpy.ops.ed.redo()
        return before, after, undone, digest()


STEPS = {
    "make_body": lambda joint, thigh, shank: (select(thigh, shank), bpy.ops.condyle.remove_body()),
    "remove_body": lambda joint, thigh, shank: select(shank),
    "fill_in_mass": lambda joint, thigh, shank: select(shank),
    "remove_joint": lambda joint, thigh, shank: select(joint),
    "drive": lambda joint, thigh, shank: select(joint),
    "stop_driving": lambda joint, thigh, shank: (select(joint), bpy.ops.condyle.drive()),
    "start_here": lambda joint, thigh, shank: (
        select(joint),
        bpy.ops.condyle.drive(),
        joint.__setitem__("coordinate", 0.5),
    ),
    "set_rest_pose": lambda joint, thigh, shank: (select(joint), bpy.context.scene.frame_set(9)),
    "add_part": lambda joint, thigh, shank: (
        select(joint),
        setattr(joint.condyle.joint, "type", "composite"),
    ),
    "remove_part": lambda joint, thigh, shank: (
        select(joint),
        setattr(joint.condyle.joint, "type", "composite"),
        bpy.ops.condyle.add_part(),
    ),
    "add_control_frame": lambda joint, thigh, shank: select(joint),
    "insert_control_frame": lambda joint, thigh, shank: select(joint),
    "remove_control_frame": lambda joint, thigh, shank: select(joint),
    "move_control_frame": lambda joint, thigh, shank: (
        select(joint),
        setattr(joint.condyle.joint, "active_frame", 2),
    ),
    "make_grid": lambda joint, thigh, shank: select(joint),
    "add_grid_line": lambda joint, thigh, shank: (select(joint), bpy.ops.condyle.make_grid()),
    "remove_grid_line": lambda joint, thigh, shank: (select(joint), bpy.ops.condyle.make_grid()),
    "add_third_direction": lambda joint, thigh, shank: (
        select(joint),
        bpy.ops.condyle.make_grid(rows=4, columns=4),
        bpy.ops.condyle.drive(),
    ),
    "remove_third_direction": lambda joint, thigh, shank: (
        select(joint),
        bpy.ops.condyle.make_grid(rows=4, columns=4),
        bpy.ops.condyle.add_third_direction(moving=True),
    ),
    "fit_surface": lambda joint, thigh, shank: (
        select(joint),
        setattr(joint.condyle.joint.fit, "smoothing", 0.5),
        bpy.ops.condyle.drive(),
    ),
    "set_from_pose": lambda joint, thigh, shank: (
        select(joint),
        bpy.ops.condyle.drive(),
        bpy.context.scene.frame_set(9),
    ),
    "key_sliders": lambda joint, thigh, shank: select(joint),
    "fit": lambda joint, thigh, shank: (select(shank), setattr(joint.condyle.joint.fit, "num_frames", 5)),
    "bake": lambda joint, thigh, shank: select(joint),
    "free_bake": lambda joint, thigh, shank: bpy.ops.condyle.bake(),
}


@pytest.fixture
def knee(part, scene, make, condyle):
    """A keyed knee, fitted: (joint's Empty, parent, child), by name since undo replaces objects."""
    thigh, shank = make.keyed_knee()
    scene.frame_end = 9
    joint = part("authoring").add_joint(
        scene, part("references").Body(thigh), part("references").Body(shank), name="Knee"
    )
    part("tasks").fit_now(scene, joint)
    return joint, thigh, shank


@pytest.mark.small
@pytest.mark.parametrize("name", STEPS)
def test_undo_and_redo(knee, window, name):
    STEPS[name](*knee)
    before, after, undone, redone = undone_and_redone(window, getattr(bpy.ops.condyle, name))
    assert before != after
    assert undone == before
    assert redone == after


@pytest.mark.small
def test_undo_and_redo_of_types_and_sliders(knee, window):
    joint, _, _ = knee
    select(joint)
    bpy.ops.condyle.choose_type(kind="ellipsoid")
    calls = (
        bpy.ops.condyle.drive,
        lambda: bpy.ops.condyle.choose_type(kind="euler"),  # with other sliders and followers
        lambda: bpy.ops.condyle.choose_type(kind="composite"),
        lambda: bpy.ops.condyle.add_part(kind="universal"),
        lambda: bpy.ops.condyle.choose_type(kind="spherical", part=1),
        lambda: bpy.ops.condyle.remove_part(part=1),
    )
    for call in calls:
        before, after, undone, redone = undone_and_redone(window, call)
        assert before != after and undone == before and redone == after
        select(bpy.data.objects["Knee"])


def test_types_that_cannot_be_chosen_say_why(knee):
    joint, _, _ = knee
    select(joint)
    assert "Only a composite joint has parts" in poll_message("add_part")
    bpy.ops.condyle.choose_type(kind="composite")
    with pytest.raises(RuntimeError, match="The joint has no part 3"):
        bpy.ops.condyle.choose_type(kind="hinge", part=3)
    bpy.ops.condyle.add_part(kind="hinge")
    with pytest.raises(RuntimeError, match="cannot be a part of another"):
        bpy.ops.condyle.choose_type(kind="composite", part=1)
    bpy.ops.condyle.choose_type(kind="fixed")
    assert "it has no coordinates" in poll_message("drive")


@pytest.mark.small
def test_undo_of_a_new_joint_and_of_a_first_fit(scene, make, window):
    thigh, shank = make.keyed_knee()
    select(thigh, shank)
    for call in (bpy.ops.condyle.add_joint, bpy.ops.condyle.fit):
        before, after, undone, redone = undone_and_redone(window, call)
        assert before != after and undone == before and redone == after
        with bpy.context.temp_override(window=window):
            bpy.ops.ed.undo()
        select(bpy.data.objects["Thigh"], bpy.data.objects["Shank"])


@pytest.mark.small
@pytest.mark.parametrize("name", ["add_joint", "choose_type", "add_part", "add_connection"])
def test_lists_that_can_be_searched_have_something_to_search(condyle, name):
    (operator,) = [
        each
        for each in bpy.types.Operator.__subclasses__()
        if each.__dict__.get("bl_idname") == f"condyle.{name}"
    ]
    assert operator.__dict__["bl_property"] == "kind"  # Blender looks for it there and not in a base


@pytest.mark.small
def test_every_operator_is_there_and_explains_itself(condyle):
    for name in OPERATORS:
        operator = getattr(bpy.ops.condyle, name).get_rna_type()
        assert len(operator.description) > 20 and operator.name


def poll_message(name):
    """Why an operator cannot run: what its poll says, by the error that Blender raises."""
    with pytest.raises(RuntimeError) as caught:
        getattr(bpy.ops.condyle, name)()
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("make_body", "Select objects"),
        ("fill_in_mass", "not a body"),
        ("add_joint", "Select the parent, then the child"),
        ("remove_joint", "Select a joint's Empty"),
        ("drive", "Select a joint's Empty"),
        ("fit", "Select the keyed object"),
        ("bake", "Nothing to simulate"),
        ("free_bake", "Nothing is baked"),
        ("cancel", "Nothing is being computed"),
    ],
)
def test_disabled_buttons_say_why(scene, name, message):
    assert message in poll_message(name)


def test_errors_are_reported_and_change_nothing(part, scene, make):
    thigh, shank = make.box("Thigh", (0, 0, 1)), make.box("Shank")
    make.update()
    select(thigh, shank)
    with pytest.raises(RuntimeError, match="Shank has no keyframes to fit"):
        bpy.ops.condyle.fit()
    assert not part("references").joints_of(scene) and not shank.condyle.body.enabled
    shank.scale = (1, 2, 1)
    make.update()
    with pytest.raises(RuntimeError, match="non-uniform scale"):
        bpy.ops.condyle.add_joint()
    assert not part("references").joints_of(scene)


@pytest.mark.small
def test_a_file_of_a_newer_version_is_shown_but_not_changed(part, scene, make, tmp_path):
    _, shank = make.keyed_knee()
    select(shank)
    bpy.ops.condyle.make_body()
    shank.condyle.schema_version = 999
    path = str(tmp_path / "newer.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    session = part("session")
    assert session.read_only and "newer version (data version 999" in session.message
    select(bpy.data.objects["Shank"])
    assert "saved by a newer Condyle" in poll_message("make_body")
    assert bpy.data.objects["Shank"].condyle.body.enabled
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not session.read_only


@pytest.mark.small
def test_the_way_of_an_artist_by_operators(part, scene, make):
    thigh, shank = make.keyed_knee()
    scene.frame_end = 25
    select(thigh, shank)
    assert bpy.ops.condyle.fit() == {"FINISHED"}
    (joint,) = part("references").joints_of(scene)
    settings = joint.condyle.joint
    assert settings.driven and settings.parent.object == thigh and settings.child.object == shank
    select(joint)
    joint["coordinate"] = 0.9
    bpy.ops.condyle.start_here()
    assert np.isclose(settings.coordinates[0].start, 0.9)
    assert bpy.ops.condyle.bake() == {"FINISHED"}
    scene.frame_set(1)
    curve = part("scene_to_model").read_joint(scene, joint)
    start = np.array(joint.matrix_world) @ curve.transform(np.array([0.9]))
    assert np.abs(np.array(shank.matrix_world) - start).max() < 1e-6
    assert bpy.ops.condyle.free_bake() == {"FINISHED"}


def test_modal_work_is_cancelled_by_esc_and_finished_by_the_timer(part, scene, make, knee, monkeypatch):
    """The modal operator's own logic; a real window is not to be had here."""
    from types import SimpleNamespace

    jobs, session, tasks = part("jobs"), part("session"), part("tasks")
    monkeypatch.setattr(jobs, "show_progress", lambda context: None)
    manager = SimpleNamespace(
        event_timer_add=lambda *_, **__: "timer",
        event_timer_remove=lambda *_: None,
        modal_handler_add=lambda *_: None,
    )
    context = SimpleNamespace(scene=scene, window_manager=manager, window=None)

    class Bake(jobs.JobOperator):
        title = "Bake"
        reports = ()

        def steps(self, context):
            return tasks.bake(context.scene)

        def report(self, kind, text):
            self.reports = (*self.reports, text)

    for key in ("ESC", "TIMER"):
        operator = Bake()
        before = digest()
        assert operator.start(context) == {"RUNNING_MODAL"}
        assert session.job is not None and "is computing" in poll_message("make_body")
        assert operator.modal(context, SimpleNamespace(type="MOUSEMOVE", value="NOTHING")) == {"PASS_THROUGH"}
        event, outcome = SimpleNamespace(type=key, value="PRESS"), {"PASS_THROUGH"}
        while outcome == {"PASS_THROUGH"}:
            outcome = operator.modal(context, event)
        assert session.job is None
        assert outcome == ({"CANCELLED"} if key == "ESC" else {"FINISHED"})
        assert (digest() == before) == (key == "ESC")
    assert "Baked 1 body" in session.message or "done" in session.message
