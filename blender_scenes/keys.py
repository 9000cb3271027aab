"""Keys objects with motions, all frames at once: poses and custom properties; and compares what Blender shows."""

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from addon.blender import compat
from physics._typing import FloatArray
from physics.geometry import lie

# Blender keeps location and quaternion in single precision: half a unit in the last place of a metre, composed twice.
SHOWN_WITHIN = 2e-6


def key_poses(made: bpy.types.Object, frames: Sequence[int] | FloatArray, poses: FloatArray) -> None:
    """Key location and quaternion of an object by poses (n, 4, 4), relative to its parent if it has one."""
    made.rotation_mode = "QUATERNION"
    quaternions = lie.continuous_quaternions(lie.quaternion_from_matrix(poses[:, :3, :3]))
    key_values(made, "location", frames, poses[:, :3, 3])
    key_values(made, "rotation_quaternion", frames, quaternions)


def key_bodies(
    items: Sequence[bpy.types.Object],
    frames: Sequence[int] | FloatArray,
    poses: FloatArray,
    shift: Sequence[float] | FloatArray = (0.0, 0.0, 0.0),
) -> dict[str, FloatArray]:
    """Key objects (k,) by poses (n, k, 4, 4) that are shifted [m]; returns the shifted poses (n, 4, 4) by object."""
    moved = poses.copy()
    moved[..., :3, 3] += shift
    for k, item in enumerate(items):
        key_poses(item, frames, moved[:, k])
    return {item.name: moved[:, k] for k, item in enumerate(items)}


def key_vertices(item: bpy.types.Object, places: FloatArray) -> None:
    """Key a mesh by places (frames, k, 3) from frame 1 on: absolute shape keys, one a frame."""
    for frame, points in enumerate(places, 1):
        key = item.shape_key_add(name=f"Frame {frame}", from_mix=False)
        key.interpolation = "KEY_LINEAR"
        key.data.foreach_set("co", points.astype(np.float32).ravel())
    keys = item.data.shape_keys
    keys.use_relative = False
    times = np.array([key.frame for key in keys.key_blocks])
    key_values(keys, "eval_time", np.arange(1, len(places) + 1), times[:, None], array=False)


def shown_vertices(scene: bpy.types.Scene, item: bpy.types.Object, frame: int) -> FloatArray:
    """Places (k, 3) that Blender shows."""
    scene.frame_set(frame)
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    found = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", found)
    return found.reshape(-1, 3).astype(np.float64)


def key_property(
    made: bpy.types.Object, name: str, frames: Sequence[int] | FloatArray, values: FloatArray
) -> None:
    """Add a custom property and key it with values (n,)."""
    made[name] = float(values[0])
    key_values(made, f'["{bpy.utils.escape_identifier(name)}"]', frames, values[:, None], array=False)


def key_values(
    made: bpy.types.Object,
    path: str,
    frames: Sequence[int] | FloatArray,
    values: FloatArray,
    array: bool = True,
) -> None:
    """Key one curve per column of values (n, k), linear between the keys."""
    data = made.animation_data or made.animation_data_create()
    if data.action is None:
        action = bpy.data.actions.new(f"{made.name} motion")
        compat.assign(data, action, compat.new_slot(action, made))
    curves = compat.curves(data.action, compat.slot_of(data), ensure=True)
    linear = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["LINEAR"].value
    for index, column in enumerate(np.asarray(values, dtype=np.float64).T):
        curve = curves.new(path, index=index) if array else curves.new(path)
        curve.keyframe_points.add(len(column))
        points = np.column_stack([frames, column]).astype(np.float32)
        curve.keyframe_points.foreach_set("co", points.ravel())
        curve.keyframe_points.foreach_set("interpolation", np.full(len(column), linear, dtype=np.int32))
        curve.update()


def shown_error(
    scene: bpy.types.Scene, frames: Sequence[int] | FloatArray, poses: Mapping[str, FloatArray]
) -> float:
    """Largest difference [m and matrix entries] between world poses (n, 4, 4) by object and those that Blender shows,
    at every seventh frame and the last.
    """
    before, largest = scene.frame_current, 0.0
    for index in sorted({*range(0, len(frames), 7), len(frames) - 1}):
        scene.frame_set(int(frames[index]))
        for name, wanted in poses.items():
            shown = np.array(bpy.data.objects[name].matrix_world, dtype=np.float64)
            largest = max(largest, float(np.abs(shown - wanted[index]).max()))
    scene.frame_set(before)
    return largest
