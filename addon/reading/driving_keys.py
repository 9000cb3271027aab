"""Keys of all that animates a joint where its own curves do not say it all: of what drives its sliders, or of what
moves its child in its parent; of nothing else that is keyed in a rig.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Constraint, DriverTarget, DriverVariable, FCurve, Object

from ..blender import compat
from ..curves import fcurve_values
from ..data import references
from ..data.joints import slider_names
from ..data.references import Body

CHANNELS = ("location", "rotation_", "scale", "delta_", "constraints[")
BONE = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]\.?(.*)')
# One of a path's numbers.
NUMBER = re.compile(r"\[(\d+)\]|\.([wxyz])")
# What Blender computes of an object, or of a bone.
COMPUTED = ("matrix", "head", "tail")


class _Part(NamedTuple):
    """What animates something: where there is no path the transform of an object, or of its bone, with what carries it
    (`carried`) or by itself; else what a data-block has at that path, or, where it ends with a dot, below it.
    """

    block: Any
    bone: str = ""
    path: str = ""
    carried: bool = True

    @property
    def key(self) -> tuple[int, str, str, bool]:
        return self.block.session_uid, self.bone, self.path, self.carried


def of_joint(item: Object | None, child: Body, parent: Body | None, frames: np.ndarray) -> list[np.ndarray]:
    """Rising frames (k,) of the keys of each curve that has a say in what a joint follows, its Empty (None: it has
    none) and what moves in what given: of those of their cycles from the first to the last of rising frames (F,), too.
    """
    if item is not None and item.condyle.joint.driven:
        names = slider_names(item.condyle.joint)
        return of([_Part(item, path=f'["{name}"]') for name in names], frames)
    moved = [_part(body) for body in (child, parent) if body is not None]
    # what carries both moves neither in the other, unless something else leads one of them in the world
    both = _carriers(child) & _carriers(parent) if parent is not None else set()
    parts, rooted = _parts(moved, both)
    if both and rooted:
        parts, _ = _parts(moved, set())
    return [keys for part in parts for keys in _keys(part, frames)]


def of(parts: Iterable[Any], frames: np.ndarray) -> list[np.ndarray]:
    """As `of_joint`, of some parts and of what animates these."""
    return [keys for part in _parts(list(parts), set())[0] for keys in _keys(part, frames)]


def _part(body: Body) -> _Part:
    return _Part(body.object, body.bone)


def _carriers(body: Body | None) -> set[tuple[int, str, str, bool]]:
    """Keys of a body and of all that carries it."""
    found = set()
    part = None if body is None else _part(body)
    while part is not None and part.key not in found:
        found.add(part.key)
        part = _carrier(part)
    return found


def _carrier(part: _Part) -> _Part | None:
    """What carries a body: its parent, of a bone without one its armature; None: nothing does."""
    above = references.carrier(Body(part.block, part.bone))
    return None if above is None else _part(above)


def _parts(begun: list[_Part], both: set[tuple[int, str, str, bool]]) -> tuple[list[_Part], bool]:
    """Parts and all that leads them, each once, but what is in `both` and leads them there by carrying them; whether
    something stands in the world that is not carried by these.
    """
    found: dict[tuple[Any, ...], _Part] = {}
    waiting = [(part, both) for part in begun]
    rooted = False
    while waiting:
        part, left = waiting.pop()
        if part.key in found or part.key in left:
            continue
        found[part.key] = part
        if not part.path:
            constraints = _constraints(part)
            above = _carrier(part) if part.carried else None
            rooted |= bool(left) and part.carried and above is None
            waiting += [(each, left) for each in (above, *constraints) if each is not None]
        waiting += [(each, set()) for each in _driven_by(part)]
    return list(found.values()), rooted


def _constraints(part: _Part) -> Iterator[_Part]:
    """What the constraints of a body look at, and those of inverse kinematics that bend it."""
    owner = Body(part.block, part.bone).owner
    for constraint in getattr(owner, "constraints", ()):
        yield from _targets(constraint)
    if part.bone:
        for _, constraint, chain in compat.ik_chains(part.block):
            if part.bone in [bone.name for bone in chain] and not constraint.mute:
                yield _Part(part.block, path=f"{constraint.path_from_id()}.")
                yield from _targets(constraint)


def _targets(constraint: Constraint) -> Iterator[_Part]:
    if constraint.mute:
        return
    for target in references.looked_at(constraint):
        yield _part(target)
        if target.object.type == "CURVE":
            yield _Part(target.object.data, path="eval_time")


def _driven_by(part: _Part) -> Iterator[_Part]:
    """What the drivers of a part look at."""
    data = getattr(part.block, "animation_data", None)
    for driver in data.drivers if data is not None else ():
        if _leads(driver, part):
            for variable in driver.driver.variables:
                for target in variable.targets:
                    if target.id is not None:
                        yield _looked_at(variable, target)


def _looked_at(variable: DriverVariable, target: DriverTarget) -> _Part:
    """What one target of a variable of a driver is."""
    if variable.type == "SINGLE_PROP":
        bone = BONE.fullmatch(target.data_path)
        within = bone[2] if bone else target.data_path
        if hasattr(target.id, "pose") and within.startswith(COMPUTED):
            return _Part(target.id, bpy.utils.unescape_identifier(bone[1]) if bone else "")
        return _Part(target.id, path=target.data_path)
    bones = getattr(getattr(target.id, "pose", None), "bones", ())
    named = target.bone_target if target.bone_target in bones else ""
    alone = variable.type == "TRANSFORMS" and target.transform_space != "WORLD_SPACE"
    return _Part(target.id, named, carried=not alone)


def _leads(curve: FCurve, part: _Part) -> bool:
    """Whether a curve, or a driver, of a part's data-block is one of that part."""
    path = curve.data_path
    if not part.path:
        prefix = Body(part.block, part.bone).path_prefix
        return path.startswith(prefix) and path[len(prefix) :].startswith(CHANNELS)
    if part.path.endswith("."):
        return bool(path.startswith(part.path))
    if not part.path.startswith(path):
        return False
    rest = part.path[len(path) :]
    number = NUMBER.fullmatch(rest)
    if number is None:
        return not rest
    wanted = int(number[1]) if number[1] else "wxyz".index(number[2]) - ("rotation_q" not in path)
    return bool(curve.array_index == wanted)


def _keys(part: _Part, frames: np.ndarray) -> Iterator[np.ndarray]:
    """Frames of the keys of each curve of a part that is played."""
    data = getattr(part.block, "animation_data", None)
    if data is None:
        return
    for curve in compat.curves_in_use(part.block):
        if _leads(curve, part):
            yield fcurve_values.keys_of(curve, float(frames[0]), float(frames[-1]))
    if not data.use_nla:
        return
    for track in data.nla_tracks:
        for strip in compat.flat_strips(() if track.mute else track.strips):
            if not strip.mute and strip.type == "CLIP" and strip.action is not None:
                for curve in compat.curves(strip.action, compat.slot_of(strip)):
                    if _leads(curve, part):
                        yield fcurve_values.played_keys([(strip, curve)])
