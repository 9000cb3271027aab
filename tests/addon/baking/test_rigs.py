"""Rigs as animators have them: every kind of bone and parent, baked as simulated; what cannot be is refused first."""

import itertools

import bpy
import numpy as np
import pytest

from ..frames_shown import over_frames
from ..said import said
from .test_channels import bake

SINGLE = 4e-6  # float32 of poses of size 1 to 3
MODES = ("QUATERNION", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX", "AXIS_ANGLE")
SCALES = ("FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY")
KINDS = list(itertools.product((False, True), (True, False), SCALES, (True, False)))
FINE = 4  # poses a frame


def flagged_rig(make, connect, rotation, scale, local, mode):
    """A turned, scaled rig of three bones in a chain, with these flags, and bones that are scaled in their pose."""
    item = make.armature(
        "Rig",
        {
            "A": ((0, 0, 1), (0, 0.1, 0.5), None),
            "B": ((0, 0.1, 0.5), (0, 0, 0), "A"),
            "C": ((0, 0, 0), (0, 0.3, 0.1), "B"),
        },
        connect=connect,
    )
    item.rotation_euler, item.scale, item.location = (0.3, 0.2, -0.9), (0.8, 0.8, 0.8), (1.0, 0.0, 0.5)
    for bone in item.data.bones:
        bone.use_inherit_rotation, bone.inherit_scale, bone.use_local_location = rotation, scale, local
    for bone in item.pose.bones:
        bone.rotation_mode = mode
    item.pose.bones["A"].scale = (1.3, 1.3, 1.3)
    item.pose.bones["B"].scale = (0.7, 0.7, 0.7)
    make.update()
    return item


def chosen_poses(part, make, item, connect, turn):
    """Smooth world poses (97, 4, 4) of two bones: A, and C over B that stands still, or B that is connected to A."""
    units, body = part("blender.units"), part("data.references").Body
    worlds = {}
    for seed, name in enumerate("AB" if connect else "AC"):
        poses = make.smooth_poses(1 + 24 * FINE, seed, turn=turn)
        poses[:, :3, :3] *= units.split_scale(body(item, name).matrix, name)[1]
        worlds[body(item, name)] = poses
    if connect:
        tail = worlds[body(item, "A")] @ np.array([0, item.data.bones["A"].length, 0, 1.0])
        worlds[body(item, "B")][:, :3, 3] = tail[:, :3]
    return worlds


def missed(scene, worlds, numbers):
    """Largest entry by which world matrices miss fine poses of these numbers."""
    worst = 0.0
    for number in numbers:
        scene.frame_set(1 + number // FINE, subframe=(number % FINE) / FINE)
        for body, poses in worlds.items():
            worst = max(worst, np.abs(np.array(body.matrix) - poses[number]).max())
    return worst


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_every_kind_of_bone_is_baked_as_simulated(part, scene, make, number):
    connect, rotation, scale, local = KINDS[number]
    item = flagged_rig(make, connect, rotation, scale, local, MODES[number % len(MODES)])
    worlds = chosen_poses(part, make, item, connect, turn=1.2)
    bake(part, scene, {body: poses[::FINE] for body, poses in worlds.items()}, np.arange(1.0, 26.0))
    assert missed(scene, worlds, range(0, 97, FINE)) < SINGLE


@pytest.mark.small
@pytest.mark.parametrize("connect", [False, True])
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_between_frames_bones_follow_too(part, scene, make, connect, mode):
    """Turns of up to 0.3 rad keep Euler angles far from gimbal lock; frames at the ends have one-sided slopes."""
    item = flagged_rig(make, connect, True, "FULL", True, mode)
    worlds = chosen_poses(part, make, item, connect, turn=0.3)
    coarse = {body: poses[::FINE] for body, poses in worlds.items()}
    bake(part, scene, coarse, np.arange(1.0, 26.0))
    step = max(np.abs(np.diff(poses, axis=0)).max() for poses in coarse.values())
    # two bones in a chain: twice what `test_bake_equality` grants one body
    assert missed(scene, worlds, range(2 * FINE, 22 * FINE)) < 1e-4 < 1e-2 * step


@pytest.mark.small
@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ"])
def test_what_a_mode_misses_between_frames_is_found_and_told(part, scene, make, mode):
    """A body that turns past gimbal lock: what is predicted is what Blender shows halfway."""
    lie = part("blender.physics_access").physics().lie
    item = make.box("Box")
    item.rotation_mode = mode
    body, frames = part("data.references").Body(item), np.arange(1.0, 26.0)
    poses = np.tile(np.eye(4), (49, 1, 1))
    turns = np.linspace(0.8, 2.4, 49)[:, None] * np.array([0.0, 1.0, 0.0])
    poses[:, :3, :3] = lie.so3_exp(np.array([0.03, 0.0, 0.0])) @ lie.so3_exp(turns)
    channels = part("baking.channels").of_bodies([body], poses[None, ::2], scene)
    part("baking.write").put(scene, frames, channels)
    shown = over_frames(frames[:-1] + 0.5, lambda: np.array(item.matrix_world)[:3, :3])
    off = np.linalg.norm(lie.so3_log(np.swapaxes(poses[1::2, :3, :3], 1, 2) @ shown), axis=1)
    found = list(part("baking.write")._missed(frames, channels))
    if mode == "QUATERNION":
        assert off.max() < np.radians(0.05) and found == []  # ends have one-sided slopes
    else:
        assert off.max() > np.radians(1.0) and np.abs(off - channels[0].missed).max() < np.radians(0.05)
        ((code, name, order, frame, _),) = said(found)
        assert (code, name, order) == ("swinging-angles", "Box", "XYZ Euler")
        assert frame == frames[off.argmax()]


@pytest.fixture
def ball(part, scene, make):
    """Makes a free ball on a parent, and tells how far its bake is beside the simulation."""

    def made(parent, kind="OBJECT", bone=""):
        item = make.box("Ball", (0, 0, 3), (0.1, 0.1, 0.1))
        item.parent, item.parent_type, item.parent_bone = parent, kind, bone
        scene.frame_start, scene.frame_end = 1, 9
        scene.frame_set(1)
        make.update()
        return baked(part, scene, part("data.references").Body(item))

    return made


def baked(part, scene, body):
    """Let a body fall; the largest entry by which its world matrices are beside the simulation."""
    part("making.bodies_and_joints").make_body(scene, body, motion="FREE")
    report = part("jobs.bake").bake_now(scene)
    worst = 0.0
    for frame, pose in zip(report.frames, report.poses[body.name]):
        scene.frame_set(int(frame))
        worst = max(worst, np.abs(np.array(body.matrix) - pose).max())
    return worst


def animated(item):
    for frame, value in ((1, 0.0), (9, 2.0)):
        item.location.x = item.rotation_euler.z = value
        item.keyframe_insert("location", frame=frame)
        item.keyframe_insert("rotation_euler", frame=frame)
    return item


@pytest.mark.small
def test_a_still_parent_that_is_carried_moves(scene, make, ball):
    still = make.empty("Still", animated(make.empty("Grand")))
    still.location.x = 0.3
    assert ball(still) < SINGLE


@pytest.mark.small
def test_a_still_parent_on_a_moving_bone_moves(scene, make, ball):
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0.5), None)})
    bone = rig.pose.bones["A"]
    for frame, value in ((1, 0.0), (9, 1.0)):
        bone.rotation_quaternion = (1.0, value, 0.0, 0.0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    still = make.empty("Still", rig)
    still.parent_type, still.parent_bone = "BONE", "A"
    assert ball(still) < SINGLE


@pytest.mark.small
def test_a_still_rig_that_is_carried_moves(part, scene, make):
    rig = make.armature("Rig")
    rig.parent = animated(make.empty("Grand"))
    scene.frame_end = 9
    scene.frame_set(1)
    assert baked(part, scene, part("data.references").Body(rig, "B")) < SINGLE


@pytest.mark.small
def test_a_constraint_on_a_parent_is_honoured(scene, make, ball):
    grand = make.empty("Grand")
    grand.constraints.new("COPY_LOCATION").target = animated(make.empty("Target"))
    assert ball(make.empty("Still", grand)) < SINGLE


def test_a_parent_on_a_vertex_is_honoured_where_only_it_is_carried(scene, make, ball):
    still = make.empty("Still", animated(make.box("Mesh")))
    still.parent_type = "VERTEX"
    assert ball(still) < SINGLE


@pytest.mark.small
@pytest.mark.parametrize(
    ("kind", "named"), [("VERTEX", "a vertex"), ("VERTEX_3", "three vertices"), ("LATTICE", "the lattice")]
)
def test_other_parents_are_refused_before_anything_is_computed(scene, make, ball, part, ph, kind, named):
    parent = make.box("Carrier")
    if kind == "LATTICE":
        bpy.data.objects.remove(parent)
        parent = bpy.data.objects.new("Carrier", bpy.data.lattices.new("Carrier"))
        scene.collection.objects.link(parent)
    with pytest.raises(ph.ModelError, match=f"'Ball' is parented to {named} of 'Carrier'; only .* clear"):
        ball(parent, kind)
    assert bpy.data.objects["Ball"].animation_data is None


@pytest.mark.small
def test_a_bone_that_is_gone_is_named(scene, make, ball, ph):
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0.5), None)})
    with pytest.raises(ph.ModelError, match="'Ball' is parented to the bone 'Lost' of 'Rig', which is gone"):
        ball(rig, "BONE", "Lost")


@pytest.mark.small
@pytest.mark.parametrize("what", ["object", "parent", "bone", "armature"])
def test_scale_that_is_not_uniform_is_refused_with_the_reason(part, scene, make, body, authoring, ph, what):
    parent = make.empty("Parent")
    parent.rotation_euler = (0.3, 0.4, 0.2)
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0.5), None), "B": ((0, 0, 0.5), (0, 0.2, 0), "A")})
    box = make.box("Box")
    box.parent, box.rotation_euler = parent, (0.5, 0.2, 0.1)
    scaled = {
        "object": box,
        "parent": parent,
        "bone": rig.pose.bones["B"],
        "armature": rig,
    }[what]
    scaled.scale = (1, 2, 1)
    make.update()
    authoring.make_body(scene, body(box) if what in {"object", "parent"} else body(rig, "B"))
    (found,) = part("data.references").bodies_of(scene)
    found.data.body.motion = "FREE"
    told = {
        "object": r"non-uniform scale \(1, 2, 1\); apply it",
        "parent": r"its parent Parent has non-uniform scale \(1, 2, 1\); apply that scale",
        "bone": r"non-uniform scale \(1, 2, 1\); clear it",
        "armature": r"its parent Rig has non-uniform scale \(1, 2, 1\); apply that scale",
    }[what]
    with pytest.raises(ph.ModelError, match=f"{found.name}: {told}"):
        part("jobs.bake").bake_now(scene)
    if what == "object":  # the Empty of a joint to a body that is scaled
        post = make.box("Post", (1, 0, 0))
        box.scale = (1, 1, 1)
        make.update()
        authoring.add_joint(scene, body(post), found, "hinge", name="Hip")
        post.scale = (1, 2, 1)
        with pytest.raises(
            ph.ModelError, match=r"joint 'Hip': its parent Post has non-uniform scale \(1, 2, 1\)"
        ):
            part("jobs.bake").bake_now(scene)


@pytest.mark.small
@pytest.mark.parametrize("kind", ["SPLINE_IK", "COPY_ROTATION", "CHILD_OF", "ARMATURE"])
def test_constraints_on_simulated_bones_are_muted_or_refused_with_their_names(
    part, scene, make, body, ph, kind
):
    rig = make.armature(
        "Rig", {"A": ((0, 0, 1), (0, 0.01, 0.5), None), "B": ((0, 0.01, 0.5), (0, 0, 0), "A")}, connect=True
    )
    constraint = rig.pose.bones["B"].constraints.new(kind)
    if kind == "SPLINE_IK":
        data = bpy.data.curves.new("Path", "CURVE")
        data.splines.new("POLY").points.add(1)
        for point, place in zip(data.splines[0].points, ((0, 0, 1, 1), (0, 0.2, 0, 1))):
            point.co = place
        constraint.target = bpy.data.objects.new("Path", data)
        scene.collection.objects.link(constraint.target)
        constraint.chain_count = 2
        constraint.y_scale_mode, constraint.use_curve_radius = "NONE", False
    elif kind == "ARMATURE":
        constraint.targets.new().target = make.empty("Target")
    else:
        constraint.target = make.empty("Target")
        constraint.target.rotation_euler.x = 0.4
    make.update()
    scene.frame_end, scene.condyle.simulation.disconnect_bones = 5, True
    if kind == "SPLINE_IK":
        for name in "AB":
            part("making.bodies_and_joints").make_body(scene, body(rig, name), motion="FREE")
            named = (
                f"the constraint '{constraint.name}'"
                if name == "B"
                else f"inverse kinematics; mute the constraint '{constraint.name}' of bone 'B'"
            )
            with pytest.raises(ph.ModelError, match=f"Rig/{name}.*{named}"):
                part("jobs.bake").bake_now(scene)
            part("making.bodies_and_joints").remove_body(body(rig, name))
        constraint.mute = True
        make.update()
    else:
        part("making.bodies_and_joints").make_body(scene, body(rig, "B"), motion="FREE")
        part("jobs.bake").bake_now(scene)
        assert constraint.mute
        part("jobs.bake").free_bake(scene)
        assert not constraint.mute
    assert baked(part, scene, body(rig, "B")) < SINGLE
