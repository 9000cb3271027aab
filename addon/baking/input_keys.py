"""Writes torques of joints and excitations of muscles as keys on their objects."""

from collections.abc import Iterable, Mapping

import numpy as np
from bpy.types import Object, Scene

from ..blender import compat, physics_access
from ..curves import fcurve_arrays
from ..data import references
from ..reading.input_values import EXCITATION

#: an object, by its session uid, and the data path of a number on it that is keyed
Place = tuple[int, str]


def check(scene: Scene, places: Iterable[Place], kinds: Mapping[int, str] | None = None) -> dict[int, str]:
    """What the joints and muscles are, by session uid; ModelError where something cannot be keyed, or is of
    another kind than before, and nothing is changed.
    """
    found = {}
    for uid, path in places:
        called, what = ("muscle", "excitation") if path == EXCITATION else ("joint", "torque")
        item = references.find_in(scene, uid, f"a {called}")
        data, found[uid] = item.animation_data, _kind(item, path)
        if kinds is not None and kinds[uid] != found[uid]:
            raise physics_access.model_error(f"{called} {item.name!r} was changed meanwhile: solve again")
        if item.library is not None or (data and data.action and data.action.library):
            raise physics_access.model_error(
                f"{called} {item.name!r} or its action is linked: make a library override first"
            )
        if data is None:
            continue
        if any(each.data_path == path for each in data.drivers):
            raise physics_access.model_error(
                f"{called} {item.name!r}: a driver sets its {what}: remove the driver first"
            )
        if data.nla_tracks or data.action_influence != 1.0:
            raise physics_access.model_error(
                f"{called} {item.name!r}: strips of the NLA blend its {what}: remove them, or bake to New Action"
            )
    return found


def _kind(item: Object, path: str) -> str:
    """A joint's type; a muscle's law, what excites it, and whether it is in use."""
    joint, muscle = item.condyle.joint, item.condyle.muscle
    return f"{muscle.law.kind} {muscle.excited_by} {muscle.active}" if path == EXCITATION else str(joint.type)


def write(scene: Scene, frames: np.ndarray, found: Mapping[Place, np.ndarray]) -> None:
    """Key numbers (K,) of places at frames (K,), straight between them, in place of the keys that they have."""
    for (uid, path), values in found.items():
        item = references.find_in(scene, uid, "a muscle" if path == EXCITATION else "a joint")
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
        owner, name = path.rsplit(".", 1)
        setattr(item.path_resolve(owner), name, values[0])
