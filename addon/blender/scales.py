"""Who gives a body its scale: an object, a bone, a constraint; and who may change it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import compat, physics_access

if TYPE_CHECKING:
    from bpy.types import Constraint, Object, PoseBone
    from mathutils import Matrix

# Matrices of Blender are products in float32: 1e-4 distinguishes rounding from a real deformation.
TOLERANCE = 1e-4
UNEVEN, ZERO = "non-uniform scale", "a scale of zero"
#: constraints that may change a scale
SCALING = {
    *("COPY_SCALE", "COPY_TRANSFORMS", "LIMIT_SCALE", "MAINTAIN_VOLUME", "STRETCH_TO", "SPLINE_IK"),
    *("CHILD_OF", "ARMATURE", "ACTION", "TRANSFORM_CACHE"),
}


def check_own_scale(body: Any) -> None:
    """ModelError where a `Body` is a bone with a non-uniform scale of its own, which would move its children."""
    if body.bone and unevenness(np.array(body.pose_bone.scale)):
        shown = ", ".join(f"{length:.4g}" for length in body.pose_bone.scale)
        raise physics_access.model_error(f"{body.name}: non-uniform scale ({shown}); clear it (Alt+S) first")


def blame(name: str, carrier: Object | PoseBone, what: str, badness: Callable[[np.ndarray], float]) -> None:
    """ModelError naming the parent or constraint that gives an object or pose bone a wrong scale. Returns if its own
    channels do so, or no cause is found.

    Args:
        what: the scale, e.g. "non-uniform scale". badness: error of a scale (3,); 0: none.
    """
    found = list(wrong(carrier, what, badness))
    if not found:
        return
    _, each, size, constraint = max(found, key=lambda entry: entry[0])
    if each == carrier and constraint is None:
        return
    shown = ", ".join(f"{length:.4g}" for length in size)
    is_bone = each.id_data != each
    called = f"{each.id_data.name}/{each.name}" if is_bone else each.name
    if constraint is not None:
        owner = (
            "its constraint"
            if each == carrier
            else f"its parent {called} has {what} ({shown}): the constraint"
        )
        given = f" gives it {what} ({shown})" if each == carrier else " gives it that"
        raise physics_access.model_error(
            f"{name}: {owner} {constraint.name!r}{given}; mute it, or let it keep the scale"
        )
    remedy = "clear that scale (Alt+S)" if is_bone else "apply that scale (Ctrl+A)"
    if what == ZERO:  # applying it is impossible
        remedy = "make it greater"
    raise physics_access.model_error(f"{name}: its parent {called} has {what} ({shown}); {remedy} first")


def wrong(
    carrier: Object | PoseBone, what: str, badness: Callable[[np.ndarray], float]
) -> Iterator[tuple[float, Object | PoseBone, np.ndarray, Constraint | None]]:
    """The sources of a wrong scale with how bad it is; of a non-uniform one the channels of objects alone: these can be
    applied, the stretch of bones and constraints cannot.
    """
    for each, size, by in _scales(carrier, what):
        if badness(size) and (what != UNEVEN or (each.id_data == each and by is None)):
            yield badness(size), each, size, by


def _scales(
    carrier: Object | PoseBone, what: str
) -> Iterator[tuple[Object | PoseBone, np.ndarray, Constraint | None]]:
    """Sources of the scale of an object or pose bone, outward: each with its scale (3,), and the constraint that sets
    it, if any.
    """
    chain = list(_scaled_by(carrier, what))
    for each, above in zip(chain, [*chain[1:], None]):
        size = np.array(each.scale) * np.array(getattr(each, "delta_scale", 1.0))
        by = next((one for one in reversed(each.constraints) if _sets_scale(one)), None)
        if by is not None:
            linear, outer = (np.array(_world(one))[:3, :3] for one in (each, above))
            if np.linalg.det(outer) == 0.0:
                by = None
            else:
                made = np.linalg.solve(outer, linear)
                size = np.linalg.norm(made, axis=0)
                size[0] = np.copysign(size[0], np.linalg.det(made))
        yield each, size, by


def is_scaled(item: Object | PoseBone) -> bool:
    """Whether a constraint of an object or pose bone may scale it."""
    return any(map(_sets_scale, item.constraints))


def may_stretch(bone: PoseBone | None) -> bool:
    """Whether a constraint or keys may scale a pose bone, or one above of which it inherits all scale."""
    for each in () if bone is None else _scaled_by(bone, UNEVEN):
        is_bone = each.id_data != each
        if is_bone and is_scaled(each):
            return True
        if is_bone and compat.is_played(each.id_data, f"{each.path_from_id()}.scale"):
            return True
    return False


def _scaled_by(item: Object | PoseBone, what: str) -> Iterator[Object | PoseBone]:
    """The `carriers` that pass on scale: a bone may inherit no scale from its parent, or only its volume."""
    for_itself = {"NONE", "NONE_LEGACY"} | ({"AVERAGE"} if what == UNEVEN else set())
    hidden = None
    for each in carriers(item):
        is_bone = each.id_data != each
        if not (is_bone and each.id_data == hidden):
            yield each
            hidden = each.id_data if is_bone and each.bone.inherit_scale in for_itself else None


def _sets_scale(constraint: Constraint) -> bool:
    """Whether an active constraint may change the scale of its owner."""
    if constraint.mute or constraint.influence == 0.0:
        return False
    kind = constraint.type
    return kind in SCALING or (kind == "TRANSFORM" and constraint.map_to == "SCALE")


def _world(item: Object | PoseBone | None) -> Matrix | np.ndarray:
    """World matrix of an object or pose bone; of None the identity."""
    if item is None:
        return np.eye(4)
    return item.matrix_world if item.id_data == item else item.id_data.matrix_world @ item.matrix


def unevenness(size: np.ndarray) -> float:
    away = float(np.ptp(np.abs(size)) / max(np.abs(size).mean(), 1e-30))
    return away if away > TOLERANCE else 0.0


def carriers(item: Object | PoseBone) -> Iterator[Object | PoseBone]:
    """An object or pose bone, and its ancestors by Blender's parenting, bone by bone, outward."""
    while item is not None:
        yield item
        if item.id_data != item:  # a bone
            item = item.parent or item.id_data
        elif item.parent_type == "BONE" and item.parent is not None:
            item = item.parent.pose.bones.get(item.parent_bone, item.parent)
        else:
            item = item.parent
