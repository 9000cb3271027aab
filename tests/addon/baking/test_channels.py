"""Baked channels give back the poses, on objects and pose bones; everything else stays byte for byte."""

import bpy
import numpy as np
import pytest

from ..frames_shown import over_frames
from ..keying import make_keys, set_keys

MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
FRAMES = np.arange(1.0, 26.0)
# Keys are float32, and so are Blender's matrices: a few units in the last place of a pose of size 1 to 10.
SINGLE = 4e-6


def bake(part, scene, worlds, frames=FRAMES, disconnect=False):
    """Bake world poses {body: (F, 4, 4) with scale} as a bake of a simulation does."""
    actions, transforms, references = (
        part("baking.channels"),
        part("baking.local_matrices"),
        part("data.references"),
    )
    scene.condyle.simulation.disconnect_bones = disconnect
    keyed = {references.key_of(body): poses for body, poses in worlds.items()}
    local = transforms.LocalPoses(scene, frames, keyed)
    channels = []
    part("reading.conflicts").check_all(scene, worlds)
    for body in worlds:
        basis = np.broadcast_to(local.basis(body), (1, len(frames), 4, 4))
        channels += actions.of_bodies([body], basis, scene)
    return part("baking.write").put(scene, frames, channels)


def worst(scene, body, poses):
    """Largest entry by which the world matrices at the frames miss the poses."""
    found = over_frames(FRAMES, lambda: body.matrix)
    return np.abs(found - poses).max()


@pytest.mark.small
@pytest.mark.parametrize("mode", MODES)
def test_an_object_in_every_rotation_mode_under_a_turned_and_scaled_parent(part, scene, make, mode):
    body = part("data.references").Body(make.box("Shank"))
    parent = make.empty("Parent")
    parent.location, parent.rotation_euler, parent.scale = (1.0, -2.0, 0.5), (0.4, -1.1, 2.0), (1.7, 1.7, 1.7)
    body.object.parent = parent
    body.object.scale = (0.6, 0.6, 0.6)
    body.object.rotation_mode = mode
    body.object.delta_location = (0.1, 0.2, -0.3)
    body.object.delta_rotation_euler = (0.2, -0.4, 0.7)
    body.object.delta_rotation_quaternion = (1.2, 0.6, -0.3, 0.0)  # Blender makes it one
    make.update()
    poses = make.smooth_poses(len(FRAMES), seed=1)
    poses[:, :3, :3] *= 1.7 * 0.6
    bake(part, scene, {body: poses})
    assert worst(scene, body, poses) < SINGLE


@pytest.mark.small
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
@pytest.mark.parametrize("own", [(-0.6, -0.6, 0.6), (0.6, -0.6, 0.6), (-0.6, -0.6, -0.6)])
def test_a_scale_of_its_own_that_turns_or_mirrors_stays(part, scene, make, own, mode):
    """Keys were those of a body without it: it was half a turn off, or by something else, and nothing said so."""
    item, rig = make.box("Shank"), make.armature("Rig", {"A": ((0, 0, 0), (0, 0, 1), None)})
    parent = make.empty("Parent")
    parent.scale = (-1.7, 1.7, 1.7) if np.prod(own) < 0.0 else (1.7, 1.7, 1.7)
    worlds = {}
    for seed, owner in enumerate((item, rig.pose.bones["A"])):
        owner.id_data.parent = parent
        owner.scale, owner.rotation_mode = own, mode
        poses = make.smooth_poses(len(FRAMES), seed)
        poses[:, :3, :3] *= 1.7 * 0.6
        worlds[part("data.references").Body(owner.id_data, "" if owner == item else "A")] = poses
    make.update()
    bake(part, scene, worlds)
    for body, poses in worlds.items():
        assert worst(scene, body, poses) < SINGLE


def test_a_parent_that_comes_to_mirror_is_refused(part, scene, make, ph):
    """The size is the same before and after, but no rotation turns the one into the other."""
    body, parent = part("data.references").Body(make.box("Shank")), make.empty("Parent")
    body.object.parent = parent
    set_keys(parent, "scale", {1: 1.0, 10: -1.0}, axis=0)
    make_keys(parent, "CONSTANT")
    make.update()
    with pytest.raises(ph.ModelError, match="a parent mirrors it"):
        bake(part, scene, {body: make.smooth_poses(len(FRAMES), 1)})


@pytest.mark.small
def test_a_parent_that_is_baked_itself_and_one_that_is_animated(part, scene, make):
    body_class = part("data.references").Body
    carrier, upper, lower = make.empty("Carrier"), make.box("Upper"), make.box("Lower")
    between = make.empty("Between", upper)
    between.location, between.rotation_euler = (0.1, 0.2, 0.3), (0.5, 0.0, 0.0)
    upper.parent, lower.parent = carrier, between
    for frame, x in ((1, 0.0), (25, 2.0)):
        carrier.location.x = x
        carrier.rotation_euler.z = x
        carrier.keyframe_insert("location", frame=frame)
        carrier.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(1)
    worlds = {body_class(upper): make.smooth_poses(25, 2), body_class(lower): make.smooth_poses(25, 3)}
    bake(part, scene, worlds)
    for body, poses in worlds.items():
        assert worst(scene, body, poses) < SINGLE


def test_an_object_hanging_on_a_baked_bone(part, scene, make):
    body_class = part("data.references").Body
    item = make.armature("Rig", {"A": ((0, 0, 1), (0, 0.1, 0.5), None)})
    for relative in (False, True):
        item.data.bones["A"].use_relative_parent = relative
        mesh = make.box(f"Hand {relative}")
        mesh.parent, mesh.parent_type, mesh.parent_bone = item, "BONE", "A"
    make.update()
    worlds = {body_class(item, "A"): make.smooth_poses(25, 4)}
    for seed, name in enumerate(("Hand False", "Hand True")):
        worlds[body_class(bpy.data.objects[name])] = make.smooth_poses(25, seed)
    bake(part, scene, worlds)
    for body, poses in worlds.items():
        assert worst(scene, body, poses) < SINGLE


def digest(compat, item):
    """Every key of the action in use as bytes, by path and index."""
    found = {}
    for curve in compat.curves_in_use(item):
        values = []
        for name in ("co", "handle_left", "handle_right"):
            array = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get(name, array)
            values.append(array.tobytes())
        kinds = [
            (p.interpolation, p.handle_left_type, p.handle_right_type, p.easing)
            for p in curve.keyframe_points
        ]
        found[curve.data_path, curve.array_index] = (*values, repr(kinds), curve.extrapolation, curve.mute)
    return found


@pytest.mark.small
def test_free_bake_restores_action_slot_and_pose(part, scene, make):
    actions, compat, references = part("baked.channels_back"), part("blender.compat"), part("data.references")
    keyed, still = make.box("Keyed"), make.box("Still")
    for frame in (1, 10):
        keyed.location.x = frame
        keyed.keyframe_insert("location", frame=frame)
    keyed.animation_data.action_blend_type, keyed.animation_data.action_influence = "ADD", 0.5
    still.location, still.rotation_euler = (1, 2, 3), (0.1, 0.2, 0.3)
    scene.frame_set(4)
    old, old_slot, before = (
        keyed.animation_data.action,
        compat.slot_of(keyed.animation_data),
        digest(compat, keyed),
    )
    worlds = {
        references.Body(keyed): make.smooth_poses(25, 7),
        references.Body(still): make.smooth_poses(25, 8),
    }
    made = {action.name for action in bake(part, scene, worlds)}
    assert keyed.animation_data.action.name in made and keyed.animation_data.action_blend_type == "REPLACE"
    scene.frame_set(20)
    scene.frame_set(4)
    assert actions.free(scene) == 2
    assert keyed.animation_data.action == old and compat.slot_of(keyed.animation_data) == old_slot
    assert keyed.animation_data.action_blend_type == "ADD" and keyed.animation_data.action_influence == 0.5
    assert digest(compat, keyed) == before
    assert still.animation_data is None
    assert tuple(still.location) == (1.0, 2.0, 3.0)
    assert np.array_equal(np.float32(still.rotation_euler), np.float32((0.1, 0.2, 0.3)))
    assert not made & set(bpy.data.actions.keys())


def test_an_action_without_a_slot_comes_back_without_one(part, scene, make):
    compat, references = part("blender.compat"), part("data.references")
    item = make.box("Shank")
    item.keyframe_insert("location", frame=1)
    if not compat.has_slots(item.animation_data.action):
        pytest.skip("before 4.4 actions have no slots")
    item.animation_data.action_slot = None
    bake(part, scene, {references.Body(item): make.smooth_poses(25, 9)})
    part("baked.channels_back").free(scene)
    assert item.animation_data.action is not None and item.animation_data.action_slot is None


def test_a_shared_action_is_not_touched(part, scene, make):
    compat, references = part("blender.compat"), part("data.references")
    one, other = make.box("One"), make.box("Other")
    one.keyframe_insert("location", frame=1)
    other.animation_data_create()
    action = one.animation_data.action
    compat.assign(other.animation_data, action, compat.slot_of(one.animation_data))
    before = digest(compat, other)
    bake(part, scene, {references.Body(one): make.smooth_poses(25, 9)})
    assert other.animation_data.action == action and digest(compat, other) == before
    assert one.animation_data.action != action


@pytest.mark.small
def test_connected_bones_are_refused_or_disconnected_on_request(part, scene, make, ph):
    references, actions = part("data.references"), part("baked.channels_back")
    item = make.armature("Rig", connect=True)
    body = references.Body(item, "B")
    poses = make.smooth_poses(25, 10)
    with pytest.raises(ph.ModelError, match="'Rig/B' is connected to its parent"):
        bake(part, scene, {body: poses})
    assert item.animation_data is None
    bake(part, scene, {body: poses}, disconnect=True)
    assert worst(scene, body, poses) < SINGLE
    actions.free(scene)
    assert item.data.bones["B"].use_connect


@pytest.mark.parametrize("place", [(0, 0, 0), (100, 40, 0), (-3000, 0, 2000)])
def test_a_connected_bone_far_from_the_origin_stays_connected(part, scene, make, body, authoring, place):
    """Where single precision is coarser than what counts as moved."""
    tips = [(0, 0, 1), (0, -0.016, 1), (0, -0.026, 0.997), (0, -0.034, 0.992)]
    names = {"Prox": None, "Mid": "Prox", "Dist": "Mid"}
    rig = make.armature("Rig", {name: (*tips[k : k + 2], names[name]) for k, name in enumerate(names)}, True)
    rig.location = place
    make.update()
    for parent, child in (("Prox", "Mid"), ("Mid", "Dist")):
        joint = authoring.add_joint(scene, body(rig, parent), body(rig, child), "hinge")
        joint.condyle.joint.axis = (1, 0, 0)
    scene.frame_start, scene.frame_end = 1, 8
    make.update()
    part("jobs.bake").bake_now(scene)
    assert all(bone.use_connect for bone in rig.data.bones if bone.parent)


def test_a_connected_bone_that_only_turns_stays_connected(part, scene, make):
    references = part("data.references")
    item = make.armature("Rig", connect=True)
    body = references.Body(item, "B")
    poses = make.smooth_poses(25, 11)
    poses[:, :3, 3] = (0, 0, 0.5)
    bake(part, scene, {body: poses})
    assert worst(scene, body, poses) < SINGLE and item.data.bones["B"].use_connect


def test_what_would_override_the_keys_is_refused_with_the_reason(part, scene, make, ph):
    references = part("data.references")
    item = make.box("Shank")
    body, poses = references.Body(item), make.smooth_poses(25, 12)
    item.constraints.new("LIMIT_LOCATION")
    with pytest.raises(ph.ModelError, match="constraint 'Limit Location'"):
        bake(part, scene, {body: poses})
    item.constraints.clear()
    item.driver_add("location", 0)
    with pytest.raises(ph.ModelError, match="a driver on 'location'"):
        bake(part, scene, {body: poses})
    item.driver_remove("location")
    assert not bpy.data.actions


def test_writing_many_keys_is_quick(part, scene, make):
    """50 bones x 1000 frames (0.05 s of the processor for the keys alone)."""
    import time

    actions, references = part("baking.channels"), part("data.references")
    bones = {f"B{number}": ((number, 0, 0), (number, 0, 1), None) for number in range(50)}
    item = make.armature("Rig", bones)
    frames = np.arange(1.0, 1001.0)
    poses = make.smooth_poses(1000, 13)
    bodies = [references.Body(item, name) for name in bones]
    channels = actions.of_bodies(bodies, np.broadcast_to(poses, (50, 1000, 4, 4)), scene)
    began = time.process_time()
    part("baking.write").put(scene, frames, channels)
    assert time.process_time() - began < 3.0


def test_of_a_rig_that_moves_only_bones_are_looked_at_that_carry_what_is_simulated(part, scene, make):
    """Of 50 bones that all are, looking at each in a thousand frames took longer than all else of writing them."""
    ends = {name: ((0, 0, 3 - number), (0, 0, 2 - number)) for number, name in enumerate("ABC")}
    bones = {
        "A": (*ends["A"], None),
        "B": (*ends["B"], "A"),
        "C": (*ends["C"], "B"),
        "Beside": (*ends["B"], "A"),
    }
    rig = make.armature("Rig", bones)
    rig.keyframe_insert("location", frame=1)
    make.update()
    frames, keys = np.arange(1.0, 5.0), [("Rig", "A"), ("Rig", "C")]
    local = part("baking.local_matrices").LocalPoses(
        scene, frames, {key: make.smooth_poses(4) for key in keys}
    )
    assert set(local.samples["Rig"]) == {"", "basis", "pose:B", "basis:B"}
