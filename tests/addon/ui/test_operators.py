"""Operators: what they do, what they say when they cannot, and undo."""

import bpy
import numpy as np
import pytest

from ..digests import digest
from ..selecting import select, why_not


@pytest.fixture
def knee(part, scene, make, body, authoring, condyle):
    """A keyed knee, fitted: (joint's Empty, parent, child), by name since undo replaces objects."""
    thigh, shank = make.keyed_knee()
    scene.frame_end = 9
    joint = authoring.add_joint(scene, body(thigh), body(shank), name="Knee")
    part("jobs.bake").fit_now(scene, joint)
    return joint, thigh, shank


def test_types_that_cannot_be_chosen_say_why(knee):
    joint, _, _ = knee
    select(joint)
    assert "Only a composite joint has parts" in why_not("add_part")
    bpy.ops.condyle.choose_type(kind="composite")
    with pytest.raises(RuntimeError, match="The joint has no part 3"):
        bpy.ops.condyle.choose_type(kind="hinge", part=3)
    bpy.ops.condyle.add_part(kind="hinge")
    with pytest.raises(RuntimeError, match="cannot be a part of another"):
        bpy.ops.condyle.choose_type(kind="composite", part=1)
    bpy.ops.condyle.choose_type(kind="fixed")
    assert bpy.ops.condyle.drive.poll()  # there is no slider, but the child goes along with its parent


def test_after_an_operator_the_bake_s_badge_looks_again(part, knee):
    """What writes nothing but the add-on's own values is no change that Blender tells of."""
    session = part("blender.session")
    select(knee[0])
    session.stale_unknown = False
    assert bpy.ops.condyle.choose_type(kind="hinge") == {"FINISHED"}
    assert session.stale_unknown


@pytest.mark.small
@pytest.mark.parametrize("name", ["add_joint", "choose_type", "add_part", "add_connection"])
def test_lists_that_can_be_searched_have_something_to_search(condyle, name):
    (operator,) = [
        each
        for each in bpy.types.Operator.__subclasses__()
        if each.__dict__.get("bl_idname") == f"condyle.{name}"
    ]
    assert operator.__dict__["bl_property"] == "kind"  # Blender looks for it there and not in a base


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("make_body", "Select objects"),
        ("fill_in_mass", "not a body"),
        ("add_joint", "Select the child, then the parent"),
        ("remove_joint", "Select a joint's Empty"),
        ("drive", "Select a joint's Empty"),
        ("fit", "Select the keyed object"),
        ("bake", "Nothing to simulate"),
        ("free_bake", "Nothing is baked"),
        ("cancel", "Nothing is being computed"),
    ],
)
def test_disabled_buttons_say_why(scene, name, message):
    assert message in why_not(name)


def test_errors_are_reported_and_change_nothing(part, scene, make):
    thigh, shank = make.box("Thigh", (0, 0, 1)), make.box("Shank")
    select(shank, thigh)  # the child, then the parent
    with pytest.raises(RuntimeError, match="Shank has no keyframes to fit"):
        bpy.ops.condyle.fit()
    assert not part("data.references").joints_of(scene) and not shank.condyle.body.enabled
    shank.scale = (1, 2, 1)
    make.update()
    with pytest.raises(RuntimeError, match="non-uniform scale"):
        bpy.ops.condyle.add_joint()
    assert not part("data.references").joints_of(scene)


@pytest.mark.small
def test_a_file_of_a_newer_version_is_shown_but_not_changed(part, scene, make, tmp_path):
    _, shank = make.keyed_knee()
    select(shank)
    bpy.ops.condyle.make_body()
    shank.condyle.schema_version = 999
    path = str(tmp_path / "newer.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    session = part("blender.session")
    assert session.read_only and "newer version (data version 999" in session.message
    select(bpy.data.objects["Shank"])
    assert "saved by a newer Condyle" in why_not("make_body")
    assert bpy.data.objects["Shank"].condyle.body.enabled
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not session.read_only


@pytest.mark.small
def test_the_way_of_an_artist_by_operators(part, scene, make):
    thigh, shank = make.keyed_knee()
    scene.frame_end = 25
    select(thigh, shank)
    assert bpy.ops.condyle.fit() == {"FINISHED"}
    (joint,) = part("data.references").joints_of(scene)
    settings = joint.condyle.joint
    assert settings.driven and settings.parent.object == thigh and settings.child.object == shank
    select(joint)
    joint["coordinate"] = 0.9
    bpy.ops.condyle.start_here()
    assert np.isclose(settings.coordinates[0].start, 0.9)
    assert bpy.ops.condyle.bake() == {"FINISHED"}
    scene.frame_set(1)
    curve = part("reading.scene").read_joint(scene, joint)
    start = np.array(joint.matrix_world) @ curve.transform(np.array([0.9]))
    assert np.abs(np.array(shank.matrix_world) - start).max() < 1e-6
    assert bpy.ops.condyle.free_bake() == {"FINISHED"}


def test_modal_work_is_cancelled_by_esc_and_finished_by_the_timer(part, scene, make, knee, monkeypatch):
    """The modal operator's own logic; a real window is not to be had here."""
    from types import SimpleNamespace

    jobs, session, tasks = part("jobs.operator"), part("blender.session"), part("jobs.bake")
    monkeypatch.setattr(jobs, "show_progress", lambda: None)
    manager = SimpleNamespace(
        event_timer_add=lambda *_, **__: "timer",
        event_timer_remove=lambda *_: None,
        modal_handler_add=lambda *_: None,
        windows=[],
    )
    context = SimpleNamespace(scene=scene, window_manager=manager, window=None, mode="OBJECT")

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
        assert session.job is not None and "is computing" in why_not("make_body")
        assert operator.modal(context, SimpleNamespace(type="MOUSEMOVE", value="NOTHING")) == {"PASS_THROUGH"}
        while isinstance(operator._request, part("blender.compute_process").Drawn):  # behind it, it computes
            assert operator.modal(context, SimpleNamespace(type="TIMER", value="NOTHING")) == {"PASS_THROUGH"}
        event, outcome = SimpleNamespace(type=key, value="PRESS"), {"PASS_THROUGH"}
        while outcome == {"PASS_THROUGH"}:
            outcome = operator.modal(context, event)
        assert session.job is None
        assert outcome == ({"CANCELLED"} if key == "ESC" else {"FINISHED"})
        assert (digest() == before) == (key == "ESC")
    assert "Baked 1 body" in session.message or "done" in session.message
