"""Copies what plays on a data-block into records with Blender's names: actions, drivers, strips of the NLA.

An f-curve has its keys as arrays, and the address at which `Evaluated` asks Blender for its values between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import ID, Action, AnimData, FCurve, FModifier, NlaStrip, Object, Scene

from ..blender import compat, physics_access
from ..data.records import Block, Numbers, Record, Rows

if TYPE_CHECKING:
    from bpy.types import ActionSlot

#: what is copied of animation data, of tracks and strips of the NLA, of drivers, and of a curve's cycles
ANIMATION = ("action_influence", "action_blend_type", "use_nla", "use_tweak_mode")
TRACK = ("name", "mute", "is_solo")
STRIP = (
    *("name", "type", "mute", "scale", "repeat", "use_reverse", "blend_type", "blend_in", "blend_out"),
    *("action_frame_start", "action_frame_end", "frame_start", "frame_end", "influence", "extrapolation"),
    *("use_animated_influence", "use_animated_time", "use_auto_blend"),
)
DRIVER = ("type", "expression", "is_simple_expression")
CYCLES = (
    *("mode_before", "mode_after", "cycles_before", "cycles_after", "use_influence", "influence"),
    *("use_restricted_range", "frame_start", "frame_end", "blend_in", "blend_out"),
)
KEYS = ("co", "handle_left", "handle_right")


def copied(owner: Any, names: Iterable[str]) -> dict[str, Any]:
    """Attributes of these names."""
    return {name: getattr(owner, name) for name in names}


def animation(block: ID | None, pointed: Callable[[Any], Record | None]) -> Record | None:
    """What plays on a data-block; pointed: gives the record of what a driver looks at."""
    data = getattr(block, "animation_data", None)
    if data is None:
        return None
    return Record(
        **copied(data, ANIMATION),
        action=_action(data.action, data),
        nla_tracks=Rows(
            Record(**copied(each, TRACK), strips=_strips(each.strips)) for each in data.nla_tracks
        ),
        drivers=Rows(_driver(each, pointed) for each in data.drivers),
    )


def before_bake(item: Object | Scene) -> Record | None:
    """The action that a bake has put aside; `follows`: Blender gives it new names of bones itself."""
    record = item.condyle.bake
    action = record.backup or record.previous_action
    if action is None:
        return None
    slot = compat.earlier_slot(action, item.id_type, record.previous_slot, record.slot_handle)
    follows = bool(record.bones) and compat.is_used(action, item)
    return Record(fcurves=_curves(action, slot), follows=follows)


def block_of(action: Action | None) -> Block | None:
    """An action, to be compared with others."""
    if action is None:
        return None
    return Block(name=action.name, name_full=action.name_full, session_uid=action.session_uid)


def _action(action: Action | None, player: AnimData | NlaStrip) -> Block | None:
    if action is None:
        return None
    own = {"name_full": action.name_full, "session_uid": action.session_uid}
    return Block(name=action.name, fcurves=_curves(action, compat.slot_of(player)), **own)


def _strips(strips: Iterable[NlaStrip]) -> Rows:
    return Rows(
        Record(
            **copied(each, STRIP),
            action=_action(each.action, each),
            fcurves=Rows(_fcurve(curve, None) for curve in each.fcurves),
            strips=_strips(each.strips),
            modifiers=tuple(modifier.type for modifier in each.modifiers),
        )
        for each in strips
    )


def _driver(curve: FCurve, pointed: Callable[[Any], Record | None]) -> Record:
    variables = []
    for each in curve.driver.variables:
        values = ("data_path", "bone_target", "transform_space")
        targets = [Record(id=pointed(one.id), **copied(one, values)) for one in each.targets]
        variables.append(Record(type=each.type, targets=targets))
    own = copied(curve, ("data_path", "array_index", "mute"))
    return Record(name="", driver=Record(**copied(curve.driver, DRIVER), variables=variables), **own)


def _curves(action: Action, slot: ActionSlot | None) -> Rows:
    return Rows(
        _fcurve(
            curve, Evaluated(action.session_uid, compat.slot_handle(slot), curve.data_path, curve.array_index)
        )
        for curve in compat.curves(action, slot)
    )


def _fcurve(curve: FCurve, evaluate: Evaluated | None) -> Record:
    points = curve.keyframe_points
    values = {name: np.empty(2 * len(points), dtype=np.float32) for name in KEYS}
    for name, numbers in values.items():
        points.foreach_get(name, numbers)
    return Record(
        **copied(curve, ("data_path", "array_index", "mute", "is_empty")),
        name="",
        driver=None,
        evaluate=evaluate,
        modifiers=tuple(map(_modifier, curve.modifiers)),
        keyframe_points=Points(len(points), values),
    )


def _modifier(modifier: FModifier) -> Record:
    names = CYCLES if modifier.type == "CYCLES" else ()
    return Record(type=modifier.type, mute=modifier.mute, **copied(modifier, names))


class Points(Numbers):
    """Points with coordinates, as Blender's collections of them."""

    def __iter__(self) -> Any:
        places = self._arrays["co"].reshape(len(self), -1)
        return (Record(co=tuple(place)) for place in places.tolist())


class Evaluated:
    """Values of an f-curve, by the session uid of its action, the handle of the slot, path and index."""

    def __init__(self, action: int, slot: int, path: str, index: int) -> None:
        self._address = action, slot, path, index

    def __call__(self, frame: float) -> float:
        return self.many([frame])[0]

    def many(self, frames: Sequence[float]) -> list[float]:
        """Values at frames, as Blender evaluates the curve now; ModelError: it has been removed since."""
        uid, handle, path, index = self._address
        action = next((each for each in bpy.data.actions if each.session_uid == uid), None)
        slots = action.slots if compat.has_slots(action) else ()
        slot = next((each for each in slots if each.handle == handle), None)
        curves = compat.curves(action, slot)
        curve = curves.find(path, index=index) if curves else None
        if curve is None:
            raise physics_access.model_error(
                f"the f-curve of {path} was removed while it was read; try again"
            )
        return [curve.evaluate(frame) for frame in frames]
