"""Writes torques of joints as keys on their Empties, and the settings of the simulation that they were found for."""

from collections.abc import Mapping

import numpy as np
from bpy.types import Scene

from ..blender import compat, physics_access
from ..curves import fcurve_arrays
from ..data import references
from ..reading.input_values import torque_path

#: torques (K,) of the coordinate of a number of a joint, by its Empty's session uid and that number
Torques = Mapping[tuple[int, int], np.ndarray]


def check(scene: Scene, torques: Torques, types: Mapping[int, str] | None = None) -> dict[int, str]:
    """Types of the joints, by session uid; ModelError where a torque cannot be keyed, or types are others than
    before, and nothing is changed.
    """
    found = {}
    for uid, number in torques:
        item = references.find_in(scene, uid, "a joint")
        data, found[uid] = item.animation_data, item.condyle.joint.type
        if types is not None and types[uid] != found[uid]:
            raise physics_access.model_error(
                f"the type of joint {item.name!r} was changed meanwhile: solve again"
            )
        if item.library is not None or (data and data.action and data.action.library):
            raise physics_access.model_error(
                f"joint {item.name!r} or its action is linked: make a library override first"
            )
        if data is None:
            continue
        if any(each.data_path == torque_path(number) for each in data.drivers):
            raise physics_access.model_error(
                f"joint {item.name!r}: a driver sets its torque: remove the driver first"
            )
        if data.nla_tracks or data.action_influence != 1.0:
            raise physics_access.model_error(
                f"joint {item.name!r}: strips of the NLA blend its torque: remove them, or bake to New Action"
            )
    return found


def write(scene: Scene, frames: np.ndarray, torques: Torques) -> None:
    """Key torques at frames (K,), straight between them, in place of the keys that they have."""
    for (uid, number), values in torques.items():
        item, path = references.find_in(scene, uid, "a joint"), torque_path(number)
        curve = next((each for each in compat.curves_in_use(item) if each.data_path == path), None)
        if curve is None:
            item.keyframe_insert(path, frame=frames[0])
            curve = next(each for each in compat.curves_in_use(item) if each.data_path == path)
        curve.mute = False
        for modifier in list(curve.modifiers):
            curve.modifiers.remove(modifier)
        (keys,) = fcurve_arrays.made(frames, values[:, None], None)
        compat.give(curve, keys)
        curve.update()
        item.condyle.joint.coordinates[number].torque = values[0]
