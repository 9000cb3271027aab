"""Bones that are renamed between a bake and Free Bake get back what moved them."""

import bpy
import numpy as np
import pytest

from ..frames_shown import over_frames
from .test_targets import TARGETS

pytestmark = pytest.mark.small
FRAMES = (1, 3, 6, 9, 12)


@pytest.fixture
def rig(scene, make, body, authoring):
    """A body "B" on a hinge below "A", and "Jaw", of which Condyle knows nothing: both keyed."""
    scene.frame_start, scene.frame_end = 3, 9
    bones = {"A": ((0, 0, 1), (0, 0, 0.5), None), "B": ((0, 0, 0.5), (0.1, 0, 0), "A")}
    item = make.armature("Rig", bones | {"Jaw": ((1, 0, 0), (1, 0, 1), None)})
    for name, step in (("B", 0.002), ("Jaw", 0.01)):
        for frame in (1, 6, 12):
            item.pose.bones[name].location = (0, step * frame, 0)
            item.pose.bones[name].keyframe_insert("location", frame=frame, group=name)
    scene.frame_set(3)
    authoring.make_body(scene, body(item, "B"), mass=1.0, center=(0.1, 0.2, 0), inertia=(0.02, 0.01, 0.02))
    authoring.add_joint(scene, body(item, "A"), body(item, "B"), "hinge", name="Elbow")
    return item


def motion(scene, item, name):
    found = over_frames(FRAMES, lambda: item.pose.bones[name].matrix)
    scene.frame_set(3)
    return found


def rename(item, names):
    """Give bones other names, which may be each other's."""
    bones = {old: item.data.bones[old] for old in names}
    for old, bone in bones.items():
        bone.name = f"{old} on its way"
    for old, bone in bones.items():
        bone.name = names[old]


NAMES = ({"B": "Fore"}, {"Jaw": 'Chi"n'}, {"B": "Jaw", "Jaw": "B"}, {"B": "Jaw", "Jaw": "A", "A": "B"})


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("names", NAMES, ids=str)
def test_renamed_bones_get_back_what_moved_them(part, scene, rig, target, names):
    before = {name: motion(scene, rig, name) for name in ("B", "Jaw")}
    action = rig.animation_data.action
    scene.condyle.simulation.output.target = target
    part("jobs.bake").bake_now(scene)
    rename(rig, names)
    baked = motion(scene, rig, names.get("B", "B"))
    with part("baked.temporarily").without_bake(scene):
        for name, poses in before.items():
            np.testing.assert_allclose(motion(scene, rig, names.get(name, name)), poses, atol=1e-6)
    np.testing.assert_allclose(motion(scene, rig, names.get("B", "B")), baked, atol=1e-6)
    part("jobs.bake").free_bake(scene)
    for name, poses in before.items():
        np.testing.assert_allclose(motion(scene, rig, names.get(name, name)), poses, atol=1e-6)
    assert rig.animation_data.action == action and list(bpy.data.actions) == [action]
    curves = list(part("blender.compat").curves_in_use(rig))
    assert len(curves) == 6
    assert {curve.group.name for curve in curves} == {names.get(name, name) for name in before}


@pytest.mark.parametrize("target", TARGETS)
def test_bones_that_were_renamed_are_known_after_loading(part, scene, rig, target, tmp_path):
    before = motion(scene, rig, "B")
    scene.condyle.simulation.output.target = target
    part("jobs.bake").bake_now(scene)
    path = str(tmp_path / "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig, scene = bpy.data.objects["Rig"], bpy.context.scene
    rename(rig, {"B": "Fore"})
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    rig, scene = bpy.data.objects["Rig"], bpy.context.scene
    part("jobs.bake").free_bake(scene)
    np.testing.assert_allclose(motion(scene, rig, "Fore"), before, atol=1e-6)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


def test_an_action_in_use_without_a_slot_keeps_the_names_of_another_rig(part, scene, make):
    """It has but one slot, that of the other."""
    rig, other = (make.armature(name, {"A": ((0, 0, 0), (0, 0, 1), None)}) for name in ("Rig", "Other"))
    other.pose.bones["A"].keyframe_insert("location", frame=1)
    action, compat = other.animation_data.action, part("blender.compat")
    if not compat.has_slots(action):
        pytest.skip("actions have no slots before Blender 4.4")
    rig.animation_data_create().action = action
    rig.animation_data.action_slot = None
    put(part, rig, "NEW")
    rename(rig, {"A": "Thigh"})
    part("baked.targets").free(rig)
    assert {curve.data_path for curve in compat.curves_in_use(other)} == {'pose.bones["A"].location'}
    assert rig.animation_data.action == action and rig.animation_data.action_slot is None


@pytest.mark.parametrize("target", ("NEW", "STRIP"))
@pytest.mark.parametrize("kind", ("keyed", "without a slot", "empty"))
def test_a_bakes_action_that_was_put_aside_goes_with_the_bake_whatever_bones_are_called(
    part, scene, make, target, kind
):
    """It has nothing but what was baked."""
    rig, compat = make.armature("Rig", {"A": ((0, 0, 0), (0, 0, 1), None)}), part("blender.compat")
    if kind != "empty":
        rig.pose.bones["A"].keyframe_insert("location", frame=1, group="A")
        if kind == "without a slot" and compat.has_slots(rig.animation_data.action):
            rig.animation_data.action_slot = None
    actions = set(bpy.data.actions)
    put(part, rig, target)
    for track in list(rig.animation_data.nla_tracks):
        rig.animation_data.nla_tracks.remove(track)
    mine = rig.animation_data.action = bpy.data.actions.new("Mine")
    rename(rig, {"A": "Thigh"})
    part("baked.targets").free(rig)
    assert set(bpy.data.actions) == {*actions, mine}


def put(part, rig, target):
    """A bake in which the bone "A" stands still."""
    frames, zeros = np.arange(6.0, 15.0), np.zeros((9, 3))
    path = part("curves.fcurve_arrays").KeyedPath(
        'pose.bones["A"].location', "A", frames, zeros, part("curves.slopes").Slopes.smooth(zeros)
    )
    part("baked.targets").put(rig, [path], target)
