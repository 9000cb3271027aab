"""What a live run that is over leaves in objects that were not, or are no longer, its own scene's."""

import bpy
import numpy as np
import pytest


@pytest.fixture
def rods(part, scene, make, authoring):
    """Two bodies on hinges beside each other: (first, second)."""
    found = []
    for number in range(2):
        rod = make.box(f"Rod {number}", (number, 0, 0.5))
        top = np.eye(4)
        top[:3, 3] = (number, 0.0, 0.75)
        body = part("data.references").Body(rod)
        joint = authoring.add_joint(scene, None, body, kind="hinge", matrix=top, name=f"Axle {number}")
        joint.condyle.joint.axis = (1, 0, 0)
        joint.condyle.joint.coordinates[0].start = 0.4
        found.append(rod)
    scene.frame_start, scene.frame_end = 1, 5
    make.update()
    return found


class Watched:
    """A run under way; calls something when the first poses are shown."""

    def __init__(self, run, at_once):
        self._run, self._at_once = run, at_once

    def __getattr__(self, name):
        return getattr(self._run, name)

    def poll(self):
        over = self._run.poll()
        if self._run.poses is not None and self._at_once is not None:
            at_once, self._at_once = self._at_once, None
            at_once()
        return over


def run(part, scene, at_once=None):
    """A live run of 0.2 s; at_once is called when the first poses are shown."""
    steps = part("live.run_mode").live(scene, 0.2)

    def watched():
        request = next(steps)
        while True:
            try:
                answer = yield Watched(request, at_once) if hasattr(request, "poses") else request
            except BaseException as error:
                request = steps.throw(error)
                continue
            try:
                request = steps.send(answer)
            except StopIteration as end:
                return end.value

    return part("blender.compute_process").run(watched(), seconds=120.0)


def test_what_is_no_body_any_more_stays_where_the_user_put_it(part, scene, rods):
    """The end of a run put back all bodies of runs before, too."""
    run(part, scene)
    part("making.bodies_and_joints").remove_joint(scene, bpy.data.objects["Axle 1"])
    rods[1].condyle.body.enabled = False
    rods[1].location = (3.0, 2.0, 1.0)
    run(part, scene)
    assert tuple(rods[1].location) == (3.0, 2.0, 1.0)


def test_bodies_of_a_scene_that_is_removed_in_a_run_are_put_back(part, scene, ph, rods):
    """They are those of other scenes as well: poses of the run, and muted constraints, stayed there for good."""
    other = bpy.data.scenes.new("Linked")
    for item in scene.objects:
        other.collection.objects.link(item)
    part("making.bodies_and_joints").drive(scene, bpy.data.objects["Axle 0"], True)
    bpy.context.view_layer.update()
    before = [tuple(rod.location) + tuple(rod.rotation_euler) for rod in rods]
    muted = [each.mute for each in rods[0].constraints]
    assert muted
    bpy.context.window.scene = other
    with pytest.raises(ph.CondyleError, match="removed meanwhile"):
        run(part, scene, lambda: bpy.data.scenes.remove(scene))
    assert [tuple(rod.location) + tuple(rod.rotation_euler) for rod in rods] == before
    assert [each.mute for each in rods[0].constraints] == muted


def places(rods):
    return [tuple(rod.location) + tuple(rod.rotation_euler) for rod in rods]


def named():
    return [bpy.data.objects["Rod 0"], bpy.data.objects["Rod 1"]]


def test_an_undo_into_a_run_of_one_scene_shows_what_was_before_it_after_a_run_of_another(
    part, scene, rods, make
):
    """Of bodies that the second scene shares, or runs as well, it was forgotten, or overwritten, where they stood."""
    before = places(rods)
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message="before")
        run(part, scene, lambda: bpy.ops.ed.undo_push(message="within"))
        other = bpy.data.scenes.new("Other")
        other.collection.objects.link(rods[0])
        other.frame_start, other.frame_end = 1, 5
        bpy.context.window.scene = other
        wheel = part("data.references").Body(make.box("Wheel"))
        axle = part("making.bodies_and_joints").add_joint(other, None, wheel, kind="hinge")
        assert axle.name in other.objects
        rods[0].location = (3.0, 2.0, 1.0)
        run(part, other)
        bpy.ops.ed.undo_push(message="after")
        bpy.ops.ed.undo()  # to within the first run
    assert not bpy.context.scene.condyle.live and "Other" not in bpy.data.scenes
    assert places(named()) == before


def test_what_was_copied_within_a_run_is_put_back_with_it(part, scene, rods):
    """A full copy of the scene kept the run's poses and muted constraints: its sliders were dead for good."""
    part("making.bodies_and_joints").drive(scene, bpy.data.objects["Axle 0"], True)
    bpy.context.view_layer.update()
    before, muted = places(rods), [each.mute for each in rods[0].constraints]
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        run(part, scene, lambda: bpy.ops.scene.new(type="FULL_COPY"))
    (copy,) = (each for each in bpy.data.scenes if each != scene)
    copies = [copy.objects[f"{rod.name}.001"] for rod in rods]
    assert not copy.condyle.live and places(copies) == before == places(rods)
    assert muted and [each.mute for each in copies[0].constraints] == muted


@pytest.mark.small
def test_a_file_that_blender_saved_within_a_run_opens_as_it_was_before(
    part, scene, rods, tmp_path, monkeypatch
):
    """As its last session, or by an autosave, which no handler is told of."""
    part("making.bodies_and_joints").drive(scene, bpy.data.objects["Axle 0"], True)
    rods[1].rotation_mode = "QUATERNION"
    bpy.context.view_layer.update()
    before, muted = places(rods), [each.mute for each in rods[0].constraints]
    path = str(tmp_path / "quit.blend")
    monkeypatch.setattr(part("handlers.live_run"), "_put_back", lambda: None)
    run(part, scene, lambda: bpy.ops.wm.save_as_mainfile(filepath=path, copy=True))
    monkeypatch.undo()
    bpy.ops.wm.open_mainfile(filepath=path)
    assert not bpy.context.scene.condyle.live and places(named()) == before
    assert muted and [each.mute for each in named()[0].constraints] == muted
    assert not any(rod.condyle.is_property_set("before_live") for rod in named())
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
