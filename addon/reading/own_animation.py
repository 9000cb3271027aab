"""The animation that things have when no bake is in place: its fingerprints (see `prints`), the channels
that it moves, and whether anything moves objects. No frame is looked at for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import ID, Constraint, Driver, FCurve, NlaStrip, Object, Scene

from ..baked import nla_tracks, renamed_bones, targets, temporarily
from ..blender import compat
from ..data import references
from ..data.references import Body

#: data path -> indices of its numbers, of which the value is that of the frame that is shown
Moved = dict[str, set[int]]

BONE = 'pose.bones["'
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
        uid, is_scene = item.session_uid, isinstance(item, bpy.types.Scene)
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


def own_curves(item: Object | Scene) -> list[Played]:
    """Curves of the action that an object or scene has when no bake is in place."""
    record, data = item.condyle.bake, item.animation_data
    if targets.is_replaced(item):  # what was below the bake is played below that, too
        below = nla_tracks.pushed_strip(data, record)
        played = [] if below is None else compat.curves(below.action, compat.slot_of(below))
        return [_played(curve) for curve in (*compat.curves_in_use(item), *played)]
    action = targets.before(record)
    if action is not None:
        slot = compat.earlier_slot(action, item.id_type, record.previous_slot, record.slot_handle)
        names = renamed_bones.lacking(item, action, renamed_bones.renamed_since(item))
        return [_played(curve, names=names) for curve in compat.curves(action, slot)]
    if record.action is not None or data is None:
        return []
    return [_played(curve) for curve in compat.curves_in_use(item)]


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
            for curve in compat.curves(strip.action, compat.slot_of(strip)):
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
        return name if bone is None else " ".join(f"{each:.6g}" for row in bone.matrix_local for each in row)
    groups = getattr(holder, "vertex_groups", {})
    return str(groups[name].index) if name in groups else name


def moving(items: Iterable[Object], animation: Animation) -> list[Object]:
    """Objects, and all that may move them: carriers, and targets of constraints and drivers; each once."""
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
    for owner in (item, *(item.pose.bones if item.pose is not None else ())):
        for constraint in owner.constraints:
            if _may_act(constraint, moved):
                yield from (target.object for target in references.looked_at(constraint))
    drivers = item.animation_data.drivers if item.animation_data is not None else ()
    targets = (target for each in drivers for row in each.driver.variables for target in row.targets)
    yield from (target.id for target in targets if isinstance(target.id, bpy.types.Object))


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
        left: list[ID] = [references.live(item) for item in items]
        while left:
            item = left.pop()
            number = item.as_pointer()
            if number in seen:
                continue
            seen.add(number)
            if number not in self._known:
                self._known[number] = self._hangs_on(item)
            further = self._known[number]
            if further is None:
                return False
            left += further
        return True

    def _hangs_on(self, item: ID) -> list[ID] | None:
        """Objects that may move an object without keys; None: it has keys, or may be moved in a way not known here."""
        constraints = _constraints(item)
        drivers = _drivers(item)
        if drivers is None or item.rigid_body is not None or not _is_carried_plainly(item):
            return None
        if not all(_is_ours(constraint) for constraint in constraints):
            return None
        variables = [variable for driver in drivers for variable in driver.variables]
        looked = [target.id for variable in variables for target in variable.targets]
        if any(not isinstance(each, bpy.types.Object | None) for each in looked):
            return None
        looked += [item.parent, *(getattr(constraint, "target", None) for constraint in constraints)]
        return [each for each in looked if each is not None]


def _drivers(item: ID) -> list[Driver] | None:
    """Drivers of an object and of its data; None: keys move it too, or a driver that may look at the time."""
    found = []
    for block in (item, item.data):
        data = getattr(block, "animation_data", None)  # an Empty may show an image, which cannot be animated
        if data is None:
            continue
        if data.action is not None or data.nla_tracks:
            return None
        found += [curve.driver for curve in data.drivers]
    for driver in found:
        if any(variable.type == "CONTEXT_PROP" for variable in driver.variables):
            return None
        plain = driver.is_simple_expression and "frame" not in driver.expression
        if driver.type == "SCRIPTED" and not plain:
            return None
    return found


def _constraints(item: ID) -> list[Any]:
    """Constraints of an object and its bones, but for those of sliders that are muted, as bakes alone mute them."""
    owners = (item, *(item.pose.bones if item.pose is not None else ()))
    found = [constraint for owner in owners for constraint in owner.constraints]
    return [each for each in found if not (_is_ours(each) and each.mute)]


def _is_ours(constraint: Constraint) -> bool:
    return bool(constraint.name.startswith("Condyle"))


def _is_carried_plainly(item: ID) -> bool:
    return item.parent is None or (item.parent_type in compat.RIGID_PARENTS and item.parent.type != "CURVE")
