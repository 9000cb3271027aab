"""The animation that the things of a snapshot have when no bake is in place: its fingerprints (see `prints`), the
channels that it moves, and whether anything moves objects. No frame is looked at for it.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Constraint, FCurve, NlaStrip, Object, Scene

from ..baked import nla_tracks, renamed_bones, targets, temporarily
from ..blender import compat
from ..data import references
from ..data.references import Body

#: data path -> indices of its numbers, of which the value is that of the frame that is shown
Moved = dict[str, set[int]]

BONE = 'pose.bones["'
REST = " ".join(["%.6g"] * 16)  # a matrix
#: how paths on an object or bone begin that have a part in where it is, or in what is simulated: colours have none
PLACING = (
    *("location", "rotation_", "scale", "delta_", "constraints[", "modifiers[", "condyle.", '["'),
    *("ik_", "lock_ik", "use_ik"),
)


class Played(NamedTuple):
    """A curve or driver: its data path, the part of that which leads to a bone, and what tells of the strip of the NLA
    that plays it.
    """

    curve: Any
    path: str
    bone: str
    how: str = ""


class Animation:
    """The curves, strips and drivers that objects and scenes have when no bake is in place."""

    def __init__(self, bodies: Iterable[Body]) -> None:
        self._bones = {(body.object.session_uid, body.path_prefix) for body in bodies if body.bone}
        self._found: dict[int, list[Played]] = {}
        self._keyed: dict[int, dict[str, list[Played]]] = {}
        self._moved: dict[int, Moved] = {}
        self._called: dict[tuple[int, str], str] = {}

    def keys(self, item: Object | Scene, prefix: str = "") -> str:
        """Fingerprint of what places the bone with that beginning of its paths, without one of what places all but the
        bones that are bodies; empty: nothing does.
        """
        uid = item.session_uid
        if uid not in self._keyed:
            self._keyed[uid] = self._grouped(item, self._all(item))
        own = self._keyed[uid].get(prefix, [])
        return _hash(
            _numbers(each.curve) + f"{self._nameless(item, prefix, each)}{each.how}".encode() for each in own
        )

    def drivers(self, item: Object | Scene, prefix: str = "") -> str:
        """Fingerprint of drivers, as of `keys`."""
        data = item.animation_data
        if data is None or not data.drivers:
            return ""
        own = self._grouped(item, map(_played, data.drivers)).get(prefix, [])
        told = [f"{self._nameless(item, prefix, each)} {each.curve.driver.expression}" for each in own]
        return _hash(text.encode() for text in sorted(told))

    def moved(self, item: Object | Scene) -> Moved:
        """What curves of its own, drivers or strips of the NLA move on an item, its bones among it; what a bake moves
        is not.
        """
        uid = item.session_uid
        if uid not in self._moved:
            found = self._moved[uid] = {}
            data = item.animation_data
            drivers = map(_played, data.drivers if data is not None else ())
            for each in (*self._all(item), *drivers):
                if targets.plays(each.curve):
                    found.setdefault(each.path, set()).add(each.curve.array_index)
        return self._moved[uid]

    def _all(self, item: Object | Scene) -> list[Played]:
        uid = item.session_uid
        if uid not in self._found:
            self._found[uid] = [*own_curves(item), *_of_strips(item)]
        return self._found[uid]

    def _grouped(self, item: Object | Scene, played: Iterable[Played]) -> dict[str, list[Played]]:
        """Those that have a part in a simulation, by the bones that are bodies; of a scene only its settings have."""
        uid, is_scene = item.session_uid, hasattr(item, "objects")
        found: dict[str, list[Played]] = {}
        for each in played:
            places = (
                each.path.startswith("condyle.")
                if is_scene
                else each.path.startswith(PLACING, len(each.bone))
            )
            if places and not each.path.startswith("condyle.simulation.output."):
                found.setdefault(each.bone if (uid, each.bone) in self._bones else "", []).append(each)
        return found

    def _nameless(self, item: Object | Scene, prefix: str, played: Played) -> str:
        """What a curve moves, whatever the bone is called; prefix: of the bone that is known."""
        curve, bone = played.curve, played.bone
        rest = f"{played.path[len(bone) :]}{curve.array_index}{curve.mute}"
        if bone == prefix:
            return rest
        key = item.session_uid, bone
        if key not in self._called:
            name = bpy.utils.unescape_identifier(bone[len(BONE) : -3])
            self._called[key] = identity(item, name)
        return f"{self._called[key]}.{rest}"


def still(value: Any, moved: set[int] | None) -> Any:
    """A value without those of its numbers that are moved; None: all are."""
    if not moved:
        return value
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return None
    return tuple(each for index, each in enumerate(value) if index not in moved) or None


def own_curves(item: Any) -> list[Played]:
    """Curves of the action that the record of an object or scene has when no bake is in place."""
    record, data, before = item.condyle.bake, item.animation_data, item.before_bake
    if targets.is_replaced(item):  # what was below the bake is played below that, too
        below = nla_tracks.pushed_strip(data, record)
        pushed = () if below is None or below.action is None else below.action.fcurves
        return [_played(curve) for curve in (*compat.curves_in_use(item), *pushed)]
    if before is not None:
        names = renamed_bones.lacking(item, before.follows, renamed_bones.renamed_since(item))
        return [_played(curve, names=names) for curve in before.fcurves]
    return [] if record.action is not None else [_played(curve) for curve in compat.curves_in_use(item)]


def _of_strips(item: Object | Scene) -> Iterator[Played]:
    """Curves that tracks of the NLA play, but for those that a bake made."""
    data = item.animation_data
    if data is None or not data.use_nla or not data.nla_tracks:
        return
    record = item.condyle.bake
    baked, added = nla_tracks.tracks(data, record), nla_tracks.strips(data, record)
    own = [track for track in data.nla_tracks if track not in baked]
    solo = any(track.is_solo for track in own)
    for track in own:
        if track.is_solo if solo else not track.mute:
            yield from _of_each(track.strips, "solo " if solo else "", added)


def _of_each(strips: Iterable[NlaStrip], how: str, added: list[Any]) -> Iterator[Played]:
    """Curves that strips play, and strips within meta strips, but for those that were added."""
    for strip in strips:
        if not strip.mute and strip not in added:
            told = f"{how}{_told(strip)} "
            for curve in strip.action.fcurves if strip.action is not None else ():
                yield _played(curve, told)
            yield from _of_each(strip.strips, told, added)


def _told(strip: NlaStrip) -> str:
    """What changes how a strip plays. Blender itself chooses between the two ways to hold, by what else there is."""
    values = [strip.frame_start, strip.frame_end, strip.action_frame_start, strip.action_frame_end]
    values += [strip.scale, strip.repeat]
    if not strip.use_animated_influence:
        values.append(strip.influence)
    if not strip.use_auto_blend:
        values += [strip.blend_in, strip.blend_out]
    ways = [strip.blend_type, strip.extrapolation == "NOTHING", strip.use_reverse]
    ways += [strip.use_animated_influence, strip.use_animated_time]
    keys = _hash(_numbers(curve) + curve.data_path.encode() for curve in strip.fcurves)
    return " ".join([*(f"{value:.7g}" for value in values), *map(str, ways), keys])


def _played(curve: FCurve, how: str = "", names: dict[str, str] | None = None) -> Played:
    """A curve; names: those that bones have now, by those that it has for them."""
    path = renamed_bones.with_names(curve.data_path, names) if names else curve.data_path
    bone = path[: path.find('"].') + 3] if path.startswith(BONE) else ""
    return Played(curve, path, bone, how)


def _numbers(curve: FCurve) -> bytes:
    points = curve.keyframe_points
    values = np.empty(6 * len(points), dtype=np.float32)
    for column, name in enumerate(("co", "handle_left", "handle_right")):
        points.foreach_get(name, values[2 * column * len(points) : 2 * (column + 1) * len(points)])
    return values.tobytes()


def _hash(parts: Iterable[bytes]) -> str:
    """Fingerprint of parts; empty where there is none."""
    made, some = hashlib.sha1(usedforsecurity=False), False
    for each in parts:
        made.update(each)
        some = True
    return made.hexdigest()[:12] if some else ""


def identity(holder: Object | Scene | None, name: str) -> str:
    """What tells a bone from others, or a vertex group, whatever it is called: its rest pose, or its number."""
    if not name or holder is None:
        return name
    if holder.type == "ARMATURE":
        bone = holder.data.bones.get(name)
        return name if bone is None else REST % tuple(chain.from_iterable(bone.matrix_local))
    return str(getattr(holder, "vertex_groups", {}).get(name, name))


def moving(items: Iterable[Object], animation: Animation) -> list[Object]:
    """Objects, and all that may move them: carriers, targets of constraints and drivers; each once."""
    found: dict[int, Object] = {}
    waiting = list(items)
    while waiting:
        item = waiting.pop()
        if item.session_uid not in found:
            found[item.session_uid] = item
            waiting += _behind(item, animation.moved(item))
    return list(found.values())


def _behind(item: Object, moved: Moved) -> Iterator[Object]:
    """The parent of an object, and the targets of its constraints, of its bones' and of its drivers."""
    if item.parent is not None:
        yield item.parent
    for constraint in _constraints(item):
        if _may_act(constraint, moved):
            yield from (target.object for target in references.looked_at(constraint))
    drivers = item.animation_data.drivers if item.animation_data is not None else ()
    yield from filter(_is_object, _looked_at(each.driver for each in drivers))


def _constraints(item: Object) -> list[Any]:
    """Constraints of an object and its bones."""
    owners = (item, *(item.pose.bones if item.pose is not None else ()))
    return [constraint for owner in owners for constraint in owner.constraints]


def _looked_at(drivers: Iterable[Any]) -> list[Any]:
    """The data-blocks that drivers look at, or None."""
    return [target.id for driver in drivers for row in driver.variables for target in row.targets]


def _is_object(block: Any) -> bool:
    return hasattr(block, "parent_type")


def _may_act(constraint: Constraint, moved: Moved) -> bool:
    """Whether a constraint does anything, now or, by what is animated, at another frame."""
    off = {"influence"} if constraint.influence == 0.0 else set()
    if temporarily.is_muted(constraint):
        off = {"mute", "enabled"}
    return not off or any(f"{constraint.path_from_id()}.{name}" in moved for name in off)


class Stillness:
    """Tells whether objects stand still, which whatever has keys does not; each is looked at once, so nothing may be
    changed meanwhile.
    """

    def __init__(self) -> None:
        self._known: dict[int, list[Any] | None] = {}

    def holds(self, items: Iterable[Object]) -> bool:
        """Whether nothing that moves objects with time can be found: on them, on what carries them, and on what their
        constraints and drivers look at.
        """
        seen: set[int] = set()
        left: list[Any] = list(items)
        while left:
            item = left.pop()
            uid = item.session_uid
            if uid in seen:
                continue
            seen.add(uid)
            if uid not in self._known:
                self._known[uid] = _hangs_on(item)
            further = self._known[uid]
            if further is None:
                return False
            left += further
        return True


def _hangs_on(item: Any) -> list[Any] | None:
    """Objects that may move an object without keys; None: it has keys, or may be moved in a way not known here.

    Of constraints only those of sliders are known, which bakes alone mute.
    """
    # an Empty may show an image, which cannot be animated
    blocks = [getattr(block, "animation_data", None) for block in (item, item.data)]
    if any(block is not None and (block.action is not None or block.nla_tracks) for block in blocks):
        return None
    drivers = [curve.driver for block in blocks if block is not None for curve in block.drivers]
    ours = [each.name.startswith("Condyle") for each in _constraints(item)]
    if not all(ours) or item.rigid_body is not None or not _is_carried_plainly(item):
        return None
    looked = _looked_at(drivers)
    if not all(map(_is_plain, drivers)) or not all(each is None or _is_object(each) for each in looked):
        return None
    aims = [getattr(each, "target", None) for each in _constraints(item) if not each.mute]
    return [each for each in (*looked, item.parent, *aims) if each is not None]


def _is_plain(driver: Any) -> bool:
    """Whether a driver cannot look at the time."""
    if any(variable.type == "CONTEXT_PROP" for variable in driver.variables):
        return False
    return driver.type != "SCRIPTED" or (driver.is_simple_expression and "frame" not in driver.expression)


def _is_carried_plainly(item: Any) -> bool:
    return item.parent is None or (item.parent_type in compat.RIGID_PARENTS and item.parent.type != "CURVE")
