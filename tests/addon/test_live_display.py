"""What a live run that is over leaves in objects that were not, or are no longer, its own scene's."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")


@pytest.fixture
def rods(part, scene, make):
    """Two bodies on hinges beside each other: (first, second)."""
    found = []
    for number in range(2):
        rod = make.box(f"Rod {number}", (number, 0, 0.5))
        make.update()
        top = np.eye(4)
        top[:3, 3] = (number, 0.0, 0.75)
        body = part("references").Body(rod)
        joint = part("authoring").add_joint(
            scene, None, body, kind="hinge", matrix=top, name=f"Axle {number}"
        )
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
    steps = part("live_mode").live(scene, 0.2)

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

    return part("worker_client").run(watched(), seconds=120.0)


def test_what_is_no_body_any_more_stays_where_the_user_put_it(part, scene, rods):
    """The end of a run put back all bodies of runs before, too."""
    run(part, scene)
    part("authoring").remove_joint(scene, bpy.data.objects["Axle 1"])
    rods[1].condyle.body.enabled = False
    rods[1].location = (3.0, 2.0, 1.0)
    run(part, scene)
    assert tuple(rods[1].location) == (3.0, 2.0, 1.0)


def test_bodies_of_a_scene_that_is_removed_in_a_run_are_put_back(part, scene, ph, rods):
    """They are those of other scenes as well: poses of the run, and muted constraints, stayed there for good."""
    other = bpy.data.scenes.new("Linked")
    for item in scene.objects:
        other.collection.objects.link(item)
    part("authoring").drive(scene, bpy.data.objects["Axle 0"], True)
    bpy.context.view_layer.update()
    before = [tuple(rod.location) + tuple(rod.rotation_euler) for rod in rods]
    muted = [each.mute for each in rods[0].constraints]
    assert muted
    bpy.context.window.scene = other
    with pytest.raises(ph.CondyleError, match="removed meanwhile"):
        run(part, scene, lambda: bpy.data.scenes.remove(scene))
    assert [tuple(rod.location) + tuple(rod.rotation_euler) for rod in rods] == before
    assert [each.mute for each in rods[0].constraints] == muted


def test_a_run_of_one_scene_knows_what_a_run_of_another_has_not_changed(part, scene, rods, make):
    """An undo into the first run finds bodies in its poses: of those that the second scene shares, or runs as well,
    it was forgotten, or overwritten, where they stood before.
    """
    run(part, scene)
    before = [tuple(rod.location) + tuple(rod.rotation_euler) for rod in rods]
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(rods[0])
    other.frame_start, other.frame_end = 1, 5
    bpy.context.window.scene = other
    axle = part("authoring").add_joint(other, None, part("references").Body(make.box("Wheel")), kind="hinge")
    assert axle.name in other.objects
    run(part, other)
    scene.condyle.live = True  # as it was in the step that an undo brings back
    for rod in rods:
        rod.location, rod.rotation_euler = (3.0, 2.0, 1.0), (0.1, 0.2, 0.3)
    part("live_display").put_back(scene)
    assert [tuple(rod.location) + tuple(rod.rotation_euler) for rod in rods] == before
