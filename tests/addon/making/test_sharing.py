"""Rigs that are appended, shared between scenes, or shown by instances of their collection."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from ..copying import frames_of, in_window, joined, moved_by, simulated

pytestmark = pytest.mark.small


def test_an_appended_joint_brings_what_it_needs(part, scene, knee, tmp_path, ph):
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    for count in (1, 2):
        with in_window():
            bpy.ops.wm.append(filepath=f"{path}/Object/Knee", directory=f"{path}/Object/", filename="Knee")
        assert part("making.duplicates").mend() == 1  # Blender shows what it appends
        assert part("making.duplicates").mend() == 0 and len(simulated(part, scene)) == count
        assert all(
            each.condyle.joint.follower.hide_viewport for each in part("data.references").joints_of(scene)
        )
    first, second = part("data.references").joints_of(scene)
    child = part("data.references").resolve(second.condyle.joint.child).object
    assert joined(part, second) == ("Thigh.001", "Shank.001")
    assert moved_by(second, child) > 0.05 and moved_by(first, child) < 1e-6
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path) as (_, wanted):
        wanted.objects = ["Knee"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    with pytest.raises(ph.ModelError, match="joint 'Knee': its child Shank is in no scene"):
        simulated(part, bpy.context.scene)  # scripts have to link the rest, too


def test_a_copied_scene_has_a_rig_of_its_own_and_a_linked_one_shares_it(part, scene, knee):
    _, shank, joint = knee
    with in_window():
        bpy.ops.scene.new(type="FULL_COPY")
    other = bpy.context.window.scene
    (copy,) = part("data.references").joints_of(other)
    assert part("making.duplicates").mend() == 0 and joined(part, copy) == ("Thigh.001", "Shank.001")
    assert simulated(part, other) == ["Shank.001"]
    bpy.context.window.scene = scene
    with in_window():
        bpy.ops.scene.new(type="LINK_COPY")
    third = bpy.context.window.scene
    assert part("data.references").joints_of(third) == [joint]
    third.frame_end = 3
    for which, frames in ((third, 3), (scene, 5)):  # the same objects: one bake at a time, the last one shows
        bpy.context.window.scene = which
        assert len(part("jobs.bake").bake_now(which).frames) == frames
    assert len(bpy.data.actions) == 1
    assert part("jobs.bake").free_bake(third) == 1 and shank.animation_data is None


def test_the_panel_of_a_scene_shows_what_is_true_of_that(part, scene, knee, monkeypatch):
    """A linked copy kept Last Bake of a bake that was freed in the other scene, and its lines and warnings."""
    session, panels = part("blender.session"), part("ui.simulation.panels")
    warnings, told = part("ui.checks.panels").WarningsPanel, []
    monkeypatch.setattr(panels, "draw_status", lambda _layout, _context, text, *_rest: told.append(text))

    def shown():
        """In the panel of the scene in the window: whether it has Last Bake, lines, and whether it has warnings."""
        told.clear()
        context = SimpleNamespace(scene=bpy.context.window.scene, region=MagicMock())
        panels.BakePanel.draw(MagicMock(), context)
        kept = context.scene.condyle.simulation.statistics
        return bool(kept.integrator), list(told), warnings.poll(context)

    with in_window():
        bpy.ops.scene.new(type="LINK_COPY")
    other = bpy.context.window.scene
    bpy.context.window.scene = scene
    for which in (other, scene):
        bpy.context.window.scene = which
        with in_window():
            assert bpy.ops.condyle.bake() == {"FINISHED"}
    part("data.finding_list").show(
        scene.session_uid, [part("data.findings").Finding("no-motion", source="Bake")]
    )
    last, (line, *_), listed = shown()
    assert last and line.startswith("Baked") and listed
    bpy.context.window.scene = other
    assert shown() == (True, ["Ready"], False)
    with in_window():
        assert bpy.ops.condyle.free_bake() == {"FINISHED"}
    assert shown() == (False, ["Removed the bake of 1 object"], False)
    bpy.context.window.scene = scene
    assert shown()[:2] == (False, ["Ready"]) and session.message
    session.tell("saved by a newer version", "ERROR", scene_uid=0)
    assert shown()[1] == ["saved by a newer version"]


def test_a_body_in_two_scenes_is_simulated_where_its_joint_is(part, scene, knee, ph):
    thigh, shank, joint = knee
    second = bpy.data.scenes.new("Second")
    second.collection.objects.link(shank)
    bpy.context.window.scene = second
    with pytest.raises(ph.ModelError, match="Nothing to simulate"):
        simulated(part, second)
    second.collection.objects.link(joint)
    with pytest.raises(ph.ModelError, match="joint 'Knee': its parent Thigh is not in scene 'Second'"):
        simulated(part, second)
    for item in (thigh, *frames_of(joint)):
        second.collection.objects.link(item)
    assert simulated(part, second) == ["Shank"]


def test_instances_show_the_bake_of_the_real_ones_and_alone_are_refused(part, scene, knee, ph):
    _, shank, _ = knee
    leg = bpy.data.collections.new("Leg")
    for item in list(scene.objects):
        for user in list(item.users_collection):
            user.objects.unlink(item)
        leg.objects.link(item)
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", leg
    instance.location.x = 1.0
    scene.collection.objects.link(instance)
    with pytest.raises(ph.ModelError, match="Instance only instances the joints of the collection Leg: link"):
        simulated(part, scene)
    with pytest.raises(RuntimeError, match="Instance only instances the joints"):
        bpy.ops.condyle.bake()
    scene.collection.children.link(leg)
    report = part("jobs.bake").bake_now(scene)
    scene.frame_set(4)
    graph = bpy.context.evaluated_depsgraph_get()
    (seen,) = (
        np.array(each.matrix_world)
        for each in graph.object_instances
        if each.is_instance and each.object.original == shank
    )
    seen[0, 3] -= 1.0
    assert np.abs(seen - report.poses["Shank"][3]).max() < 1e-6
