"""A rig that walks, with a tail: what its hips do by keys of theirs or by something else, and where the tail is."""

from itertools import pairwise
from typing import Any

import numpy as np

BONES = {
    "Root": ((0, 0, 0), (0, 0.2, 0), None),
    "Hips": ((0, 0, 1.0), (0, 0, 1.2), "Root"),
    "Thigh": ((0.1, 0, 1.0), (0.1, 0.02, 0.55), "Hips"),
    "Shin": ((0.1, 0.02, 0.55), (0.1, 0, 0.1), "Thigh"),
    "Foot": ((0.1, 0, 0.1), (0.1, 0.15, 0.1), "Root"),
    "Tail.1": ((0, -0.05, 1.0), (0, -0.15, 1.0), "Hips"),
    "Tail.2": ((0, -0.15, 1.0), (0, -0.25, 1.0), "Tail.1"),
    "Tail.3": ((0, -0.25, 1.0), (0, -0.35, 1.0), "Tail.2"),
}
WAYS = ("own keys", "root", "object", "constraint", "driver", "strip", "parent")


def walker(make: Any, scene: Any, way: str = "own keys") -> Any:
    """The rig, whose hips walk by 0.6 m in 12 frames, in one of the ways, and bob and turn in some of them."""
    import bpy

    scene.frame_start, scene.frame_end = 1, 13
    rig = make.armature("Rig", BONES)
    ik = rig.pose.bones["Shin"].constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count = rig, "Foot", 2
    for name in ("Root", "Hips"):
        rig.pose.bones[name].rotation_mode = "XYZ"
    mover = {
        "own keys": rig.pose.bones["Hips"],
        "root": rig.pose.bones["Root"],
        "strip": rig.pose.bones["Root"],
    }
    if way in ("constraint", "parent"):
        guide = make.empty("Guide")
        mover[way] = guide
        if way == "parent":
            rig.parent = guide
        else:
            rig.pose.bones["Hips"].constraints.new("CHILD_OF").target = guide
    if way == "driver":
        curve = rig.pose.bones["Root"].driver_add("location", 1)
        curve.driver.expression = "0.05 * (frame - 1) + 0.02 * sin(frame)"
        make.update()
        return rig
    moved = mover.get(way, rig)
    for frame in range(1, 14, 3):
        step = (frame - 1) / 12.0
        moved.location = (0.03 * np.sin(9.0 * step), 0.6 * step, 0.0)
        moved.rotation_euler = (0.0, 0.0, 0.2 * np.sin(6.0 * step))
        for path in ("location", "rotation_euler"):
            moved.keyframe_insert(path, frame=frame)
    for frame, y in ((1, 0.0), (7, 0.5), (13, 0.6)):
        rig.pose.bones["Foot"].location.y = y
        rig.pose.bones["Foot"].keyframe_insert("location", frame=frame)
    if way == "strip":
        action, data = rig.animation_data.action, rig.animation_data
        data.nla_tracks.new().strips.new("Walk", 1, action)
        data.action = None
    scene.frame_set(1)
    make.update()
    bpy.context.view_layer.objects.active = rig
    return rig


def add_tail(part: Any, scene: Any, rig: Any, parent: str = "Hips") -> list[Any]:
    """Ball joints along the tail; the first hangs on the bone `parent`."""
    body, authoring = part("data.references").Body, part("making.bodies_and_joints")
    names = [parent, "Tail.1", "Tail.2", "Tail.3"]
    joints = []
    for above, below in pairwise(names):
        joint = authoring.add_joint(scene, body(rig, above), body(rig, below), "spherical")
        for row in joint.condyle.joint.coordinates:
            row.damping = 1e-3
        joints.append(joint)
    return joints


def tied_tail(part: Any, scene: Any, make: Any, kind: str) -> Any:
    """A walker that a constraint moves, whose tail a cord and a connection of a kind tie to a post; the post."""
    body = part("data.references").Body
    rig = walker(make, scene, "constraint")
    add_tail(part, scene, rig)
    post = make.box("Post", (1, 0, 1))
    points = [(body(post), (0, 0, 1.1)), (body(rig, "Tail.3"), (0, -0.3, 1.0))]
    part("making.muscles").add_muscle(scene, points, "Cord")
    part("making.connections").add_connection(scene, body(post), body(rig, "Tail.3"), kind)
    return post


def apart(scene: Any, rig: Any, upper: str = "Hips", lower: str = "Tail.1", step: float = 0.5) -> float:
    """How far [m] the head of a bone leaves the place in another where it is at rest, at frames and between them."""
    bones = rig.data.bones
    rest = bones[upper].matrix_local.inverted() @ bones[lower].head_local
    far = 0.0
    for frame in np.arange(scene.frame_start, scene.frame_end + 0.25, step):
        scene.frame_set(int(frame), subframe=float(frame % 1.0))
        poses = rig.pose.bones
        far = max(far, (poses[upper].matrix @ rest - poses[lower].matrix.translation).length)
    return far


def walked(scene: Any, rig: Any, bone: str) -> float:
    """How far [m] a bone goes from the first frame to the last."""
    places = []
    for frame in (scene.frame_start, scene.frame_end):
        scene.frame_set(frame)
        places.append((rig.matrix_world @ rig.pose.bones[bone].matrix).translation.copy())
    return (places[1] - places[0]).length
