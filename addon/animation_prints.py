"""Fingerprints of the animation that things have when no bake is in place, and what it moves; see `staleness`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

import bpy
import numpy as np

from . import bake_targets, bake_tracks, compat, constraint_prints
from .references import Body

#: data path -> indices of its numbers, of which the value is that of the frame that is shown
Moved = dict[str, set[int]]
#: a curve, and what tells of the strip of the NLA that plays it
Played = tuple[Any, str]

BONE = 'pose.bones["'
#: how paths on an object or bone begin that have a part in where it is, or in what is simulated: colours have none
PLACING = (
    *("location", "rotation_", "scale", "delta_", "constraints[", "modifiers[", "condyle.", '["'),
    *("ik_", "lock_ik", "use_ik"),
)


class Animation:
    """The curves, strips and drivers that objects and scenes have when no bake is in place."""

    def __init__(self, bodies: Iterable[Body]) -> None:
        self._bones = {(body.object.session_uid, body.path_prefix) for body in bodies if body.bone}
        self._found: dict[int, list[Played]] = {}
        self._keyed: dict[int, dict[str, list[Played]]] = {}
        self._moved: dict[int, Moved] = {}
        self._called: dict[tuple[int, str], str] = {}

    def keys(self, item: Any, prefix: str = "") -> str:
        """Fingerprint of what places the bone with that beginning of its paths, without one of what places all but the
        bones that are bodies; empty: nothing does.
        """
        uid = item.session_uid
        if uid not in self._keyed:
            self._keyed[uid] = {}
            for played in self._all(item):
                if _places(item, played[0].data_path):
                    group = self._group(item, played[0].data_path)
                    self._keyed[uid].setdefault(group, []).append(played)
        own = self._keyed[uid].get(prefix, [])
        return _hash(_numbers(curve, f"{self._nameless(item, prefix, curve)}{how}") for curve, how in own)

    def drivers(self, item: Any, prefix: str = "") -> str:
        """Fingerprint of drivers, as of `keys`."""
        data = item.animation_data
        own = [
            f"{self._nameless(item, prefix, each)} {each.driver.expression}"
            for each in (data.drivers if data is not None else ())
            if _places(item, each.data_path) and self._group(item, each.data_path) == prefix
        ]
        return _hash(text.encode() for text in sorted(own))

    def moved(self, item: Any) -> Moved:
        """What curves of its own, drivers or strips of the NLA move on an item, its bones among it; what a bake moves
        is not.
        """
        uid = item.session_uid
        if uid not in self._moved:
            found = self._moved[uid] = {}
            drivers = item.animation_data.drivers if item.animation_data is not None else ()
            for curve in (*(curve for curve, _ in self._all(item)), *drivers):
                if _plays(curve):
                    found.setdefault(curve.data_path, set()).add(curve.array_index)
        return self._moved[uid]

    def _all(self, item: Any) -> list[Played]:
        uid = item.session_uid
        if uid not in self._found:
            self._found[uid] = [*((curve, "") for curve in own_curves(item)), *_of_strips(item)]
        return self._found[uid]

    def _nameless(self, item: Any, prefix: str, curve: Any) -> str:
        """What a curve moves, whatever the bone is called; prefix: of the bone that is known."""
        bone = _bone_part(curve.data_path)
        rest = f"{curve.data_path[len(bone) :]}{curve.array_index}{_plays(curve)}"
        if bone == prefix:
            return rest
        key = item.session_uid, bone
        if key not in self._called:
            name = bpy.utils.unescape_identifier(bone[len(BONE) : -3])
            self._called[key] = constraint_prints.identity(item, name)
        return f"{self._called[key]}.{rest}"

    def _group(self, item: Any, path: str) -> str:
        bone = _bone_part(path)
        return bone if (item.session_uid, bone) in self._bones else ""


def still(value: Any, moved: set[int] | None) -> Any:
    """A value without those of its numbers that are moved; None: all are."""
    if not moved:
        return value
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return None
    return tuple(each for index, each in enumerate(value) if index not in moved) or None


def own_curves(item: Any) -> list[Any]:
    """Curves of the action that an object or scene has when no bake is in place."""
    record, data = item.condyle.bake, item.animation_data
    if bake_targets.is_replaced(item):  # where another action has taken the bake's place, that counts
        return list(compat.curves_in_use(item))
    if record.backup is not None or record.previous_action is not None:
        action = record.backup or record.previous_action
        slot = _slot(item, action)
        curves = list(compat.curves(action, slot))
        if record.backup is None or record.action is None:
            return curves
        ours = set(json.loads(record.paths or "[]"))
        used = compat.curves(record.action, compat.same_slot(record.action, slot))
        other = {(each.data_path, each.array_index): each for each in used if each.data_path not in ours}
        # all but the baked channels is as the user has it now
        kept = [(each, other.pop((each.data_path, each.array_index), None)) for each in curves]
        found = [now or each for each, now in kept if now is not None or each.data_path in ours]
        return [*found, *other.values()]
    if record.action is not None or data is None:
        return []
    return list(compat.curves_in_use(item))


def _slot(item: Any, action: Any) -> Any:
    """The slot that `compat.reassign` would choose when a bake is freed; it may have another name by now."""
    name = item.condyle.bake.previous_slot
    slot = compat.find_slot(action, name)
    if slot is None and name != compat.NO_SLOT and compat.has_slots(action):
        suitable = [each for each in action.slots if each.target_id_type in (item.id_type, "UNSPECIFIED")]
        slot = suitable[0] if suitable and (not name or len(suitable) == 1) else None
    return slot


def _of_strips(item: Any) -> Iterator[Played]:
    """Curves that tracks of the NLA play, but for those that a bake made."""
    data = item.animation_data
    if data is None or not data.use_nla or not data.nla_tracks:
        return
    baked = bake_tracks.tracks(data, item.condyle.bake)
    own = [track for track in data.nla_tracks if track not in baked]
    solo = any(track.is_solo for track in own)
    for track in own:
        if track.is_solo if solo else not track.mute:
            yield from _played(track.strips, "solo " if solo else "")


def _played(strips: Iterable[Any], how: str) -> Iterator[Played]:
    """Curves that strips play, and strips within meta strips."""
    for strip in strips:
        if not strip.mute:
            told = f"{how}{_told(strip)} "
            for curve in compat.curves(strip.action, compat.slot_of(strip)):
                yield curve, told
            yield from _played(strip.strips, told)


def _told(strip: Any) -> str:
    """What changes how a strip plays. Blender itself chooses between the two ways to hold, by what else there is."""
    values = [strip.frame_start, strip.frame_end, strip.action_frame_start, strip.action_frame_end]
    values += [strip.scale, strip.repeat]
    if not strip.use_animated_influence:
        values.append(strip.influence)
    if not strip.use_auto_blend:
        values += [strip.blend_in, strip.blend_out]
    ways = [strip.blend_type, strip.extrapolation == "NOTHING", strip.use_reverse]
    ways += [strip.use_animated_influence, strip.use_animated_time]
    keys = _hash(_numbers(curve, curve.data_path) for curve in strip.fcurves)
    return " ".join([*(f"{value:.7g}" for value in values), *map(str, ways), keys])


def _places(item: Any, path: str) -> bool:
    """Whether what a path moves has a part in a simulation; of a scene only its settings have."""
    if path.startswith("condyle.simulation.output."):
        return False
    if isinstance(item, bpy.types.Scene):
        return path.startswith("condyle.")
    return path[len(_bone_part(path)) :].startswith(PLACING)


def _bone_part(path: str) -> str:
    """The beginning of a path that leads to a bone; empty: it leads elsewhere."""
    return path[: path.find('"].') + 3] if path.startswith(BONE) else ""


def _plays(curve: Any) -> bool:
    """Whether Blender takes notice of a curve."""
    # that its group is muted makes no difference to Blender
    return not curve.mute and (curve.driver is not None or not curve.is_empty)


def _numbers(curve: Any, called: str) -> bytes:
    points = curve.keyframe_points
    values = np.empty(6 * len(points), dtype=np.float32)
    for column, name in enumerate(("co", "handle_left", "handle_right")):
        points.foreach_get(name, values[2 * column * len(points) : 2 * (column + 1) * len(points)])
    return values.tobytes() + called.encode()


def _hash(parts: Iterable[bytes]) -> str:
    """Fingerprint of parts; empty where there is none."""
    made, some = hashlib.sha1(usedforsecurity=False), False
    for each in parts:
        made.update(each)
        some = True
    return made.hexdigest()[:12] if some else ""
