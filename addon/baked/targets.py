"""Where a bake's curves go, and back: a new action, the action in use, or a strip of the NLA.

What was there before is noted in a `BakeRecord` on the object or scene, and `free` puts it back exactly.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
from bpy.types import Action, AnimData, FCurve, Object, Scene

from ..blender import compat
from ..blender.physics_access import model_error
from ..curves import fcurve_arrays
from ..curves.fcurve_arrays import KeyedPath
from ..data import schema, stored_texts
from ..data.simulation import BakeRecord
from . import nla_tracks, renamed_bones
from .nla_tracks import IN_PLACE

if TYPE_CHECKING:
    from bpy.types import ActionSlot

BLENDING = ("action_blend_type", "action_extrapolation", "action_influence")


def check_tweaked(item: Object | Scene, name: str) -> None:
    """ModelError where an object or scene, by that name, is in the NLA's tweak mode: its action stays put then."""
    data = item.animation_data
    if data is not None and data.use_tweak_mode:
        raise model_error(f"{name}: leave the NLA's tweak mode first (Tab in the NLA editor)")


def check(item: Object | Scene, target: str) -> None:
    """ModelError where a bake to that target would change what is not its own, or not be seen."""
    check_tweaked(item, repr(item.name))
    data = item.animation_data
    if target == "STRIP":
        if data is not None and not data.use_nla:
            raise model_error(
                f"{item.name!r}: its NLA is switched off, so a strip would do nothing; switch it on in the NLA "
                "editor, or bake to an action"
            )
        return
    action = data.action if data is not None else None
    if target not in IN_PLACE or action is None:
        return
    name = f"{item.name!r}: its action {action.name!r}"
    if action.library is not None or action.override_library is not None:
        raise model_error(f"{name} is linked, so a bake cannot change it; bake to a new action")
    if data.nla_tracks and (data.action_blend_type, data.action_influence) != ("REPLACE", 1.0):
        raise model_error(
            f"{name} is blended with the NLA below it ({data.action_blend_type.lower()}, influence "
            f"{data.action_influence:g}), so baked keys would not decide the pose; bake to a new action"
        )
    _check_alone(item, action, compat.slot_of(data), name)


def _check_alone(item: Object | Scene, action: Action, slot: Any, name: str) -> None:
    """ModelError where something else than an object or scene, or a strip, plays the slot of an action in use."""
    for other in (*bpy.data.objects, *bpy.data.scenes):
        used = other.animation_data
        if used is None:
            continue
        if other != item and used.action == action and compat.slot_of(used) == slot:
            raise model_error(f"{name} also moves {other.name!r}; bake to a new action")
        # the bake before goes with its tracks
        own = nla_tracks.tracks(used, item.condyle.bake) if other == item else []
        others = [track for track in used.nla_tracks if track not in own]
        for strip in (strip for track in others for strip in compat.flat_strips(track.strips)):
            if strip.action == action and compat.slot_of(strip) == slot:
                raise model_error(
                    f"{name} is also played by the NLA strip {strip.name!r} of {other.name!r}; bake to a new action"
                )


def put(item: Object | Scene, paths: Sequence[KeyedPath], target: str) -> Action:
    """Put curves in place on an object or scene, and note what was there; returns the action that has them."""
    record = item.condyle.bake
    record.had_animation_data = item.animation_data is not None
    data = item.animation_data or item.animation_data_create()
    old = data.action
    record.previous_action = old
    record.previous_slot = compat.slot_name(data)
    record.slot_handle = compat.slot_handle(compat.slot_of(data))
    record.blend_type, record.extrapolation = data.action_blend_type, data.action_extrapolation
    record.influence = data.action_influence
    record.target = "NEW" if old is None and target in IN_PLACE else target
    record.paths = json.dumps([entry.path for entry in paths])
    renamed_bones.note(item, record, [entry.path for entry in paths])
    if record.target in IN_PLACE:
        record.action = _put_in_place(data, record, paths)
    elif record.target == "STRIP":
        record.action = _put_strip(item, data, record, paths)
    elif old is not None and _is_layered(data):
        record.action = _put_over(item, data, record, paths)
    else:
        record.action = _put_new(item, data, record, paths)
    schema.stamp(item.condyle)
    return record.action


def _put_new(item: Object | Scene, data: AnimData, record: BakeRecord, paths: Sequence[KeyedPath]) -> Action:
    """A new action in use: all that the old one had for the item, with our channels replaced."""
    old = data.action
    name = f"{item.name} Condyle"
    if old is None:
        action = bpy.data.actions.new(name)
        slot = compat.new_slot(action, item)
    else:
        action = old.copy()
        action.name = name
        action.use_fake_user = False
        slot = compat.find_slot(action, record.previous_slot) or compat.new_slot(action, item)
    compat.assign(data, action, slot)
    data.action_blend_type, data.action_extrapolation, data.action_influence = "REPLACE", "HOLD", 1.0
    curves = compat.curves(action, slot, ensure=True)
    ours = {entry.path for entry in paths}
    for curve in [curve for curve in curves if curve.data_path in ours]:
        curves.remove(curve)
    _write(action, slot, paths)
    return action


def _is_layered(data: AnimData) -> bool:
    """Whether the action in use lies over the NLA in another way than its copy, which is to decide the pose, could."""
    blending = (data.action_blend_type, data.action_extrapolation, data.action_influence)
    return not nla_tracks.is_alone(data) and blending != ("REPLACE", "HOLD", 1.0)


def _put_over(item: Object | Scene, data: AnimData, record: BakeRecord, paths: Sequence[KeyedPath]) -> Action:
    """A new action in use with our channels alone; the old one plays on below it."""
    action = bpy.data.actions.new(f"{item.name} Condyle")
    slot = compat.new_slot(action, item)
    _write(action, slot, paths)
    nla_tracks.push_down(data, record, nla_tracks.ends(paths))
    compat.assign(data, action, slot)
    data.action_blend_type, data.action_extrapolation, data.action_influence = "REPLACE", "HOLD", 1.0
    return action


def _write(action: Action, slot: ActionSlot, paths: Sequence[KeyedPath]) -> None:
    """New curves in an action that has none at these paths."""
    curves: list[Any] = []
    for entry in paths:
        curves = compat.new_curves(action, slot, entry.path, range(entry.values.shape[1]), entry.group)
        fcurve_arrays.fill(curves, entry.positions, entry.values, entry.slopes)
    for curve in curves[-1:]:
        curve.update()


def _put_in_place(data: AnimData, record: BakeRecord, paths: Sequence[KeyedPath]) -> Action:
    """Our channels in the action in use, in the range of frames or all along; a copy is kept."""
    action = data.action
    record.backup = action.copy()
    record.backup.name = f"{action.name} before Condyle"
    record.backup.use_fake_user = False
    slot = compat.slot_of(data)
    if slot is None and compat.has_slots(action):
        slot = action.slots.new(id_type=data.id_data.id_type, name=data.id_data.name)
        data.action_slot = slot
        record.made_slot, record.slot_handle = slot.identifier, slot.handle
    fill = fcurve_arrays.fill_range if record.target == "CURRENT" else fcurve_arrays.fill
    found = {(curve.data_path, curve.array_index): curve for curve in compat.curves(action, slot)}
    for entry in paths:
        curves = []
        for index in range(entry.values.shape[1]):
            curve = found.get((entry.path, index))
            if curve is None:
                (curve,) = compat.new_curves(action, slot, entry.path, [index], entry.group)
            if record.target == "OVERWRITE":
                curve.keyframe_points.clear()
            curve.mute = False
            for modifier in curve.modifiers:
                modifier.mute = True
            curves.append(curve)
        fill(curves, entry.positions, entry.values, entry.slopes)
        curves[-1].update()
    return action


def _put_strip(
    item: Object | Scene, data: AnimData, record: BakeRecord, paths: Sequence[KeyedPath]
) -> Action:
    """A strip on a track above all others; the action in use goes to a track of its own below it."""
    action = bpy.data.actions.new(f"{item.name} Condyle")
    slot = compat.new_slot(action, item)
    _write(action, slot, paths)
    nla_tracks.add(data, record, action, slot, nla_tracks.ends(paths))
    return action


def is_put(item: Object | Scene) -> bool:
    """Whether there is a bake to be freed, even if its action has been deleted."""
    record = item.condyle.bake
    return record.action is not None or record.previous_action is not None or record.backup is not None


def is_replaced(item: Object | Scene) -> bool:
    """Whether the action in use is one that the user has put there since, by choosing it or by keying something."""
    record, data = item.condyle.bake, item.animation_data
    return data is not None and data.action not in (None, record.action, record.previous_action)


def moved_since(item: Object) -> set[tuple[str, int]]:
    """Path and index of what an action moves that the user has put in use since the bake, and that stays in use."""
    if not is_replaced(item):
        return set()
    return {(curve.data_path, curve.array_index) for curve in compat.curves_in_use(item) if plays(curve)}


def plays(curve: FCurve) -> bool:
    """Whether Blender takes notice of a curve."""
    # that its group is muted makes no difference to Blender
    return not curve.mute and (curve.driver is not None or not curve.is_empty)


def free(item: Object | Scene) -> None:
    """Put back what was; an action that the user has put in use meanwhile stays, and the earlier one on its track."""
    renamed_bones.follow(item)
    record, data = item.condyle.bake, item.animation_data
    action, previous, backup = record.action, record.previous_action, record.backup
    if data is None and previous is not None:
        data = item.animation_data_create()
    replaced = is_replaced(item)
    doubled = nla_tracks.is_doubled(data, record)
    nla_tracks.remove(data, record, pushed=not replaced)
    if backup is not None:
        previous = _restore_in_place(item)
    record.action = record.previous_action = record.backup = None
    if replaced:
        if previous is not None and not previous.users:
            previous.use_fake_user = True  # nothing else may use it, and it is the user's
    elif data is not None:
        _blend_as_before(data, record)
        before = None if doubled else previous
        compat.reassign(data, before, record.previous_slot, record.slot_handle)
        if not record.had_animation_data and not data.drivers and not data.nla_tracks:
            item.animation_data_clear()
    for name in stored_texts.names(record.figures) or ():
        if name in item:
            del item[name]
    if action is not None and action != previous and _has_more(action, previous, record):
        action.use_fake_user = True  # the user has worked on other channels of it meanwhile
    for made in (action, backup):
        if made is not None and made != previous and made.users == 0:
            bpy.data.actions.remove(made)
    item.condyle.property_unset("bake")


def _blend_as_before(data: AnimData, record: BakeRecord) -> None:
    """Let animation data blend the action in use as it did before a bake."""
    if record.blend_type:
        stored_texts.put_back(data, "action_blend_type", record.blend_type)
        stored_texts.put_back(data, "action_extrapolation", record.extrapolation)
        data.action_influence = record.influence


def keyed_since(item: Object) -> str:
    """Name of the new action of an object's bake, where it has keys by now that the next bake does not read."""
    record = item.condyle.bake
    # the first bakes did not say which channels are theirs
    if record.target != "NEW" or record.action is None or record.backup is not None or not record.paths:
        return ""
    return record.action.name if _has_more(record.action, record.previous_action, record) else ""


def _has_more(action: Action, previous: Action | None, record: BakeRecord) -> bool:
    """Whether an action that a bake made has keys that are neither ours nor those of the action before; so it may have
    where it is not known which are ours.
    """
    ours = stored_texts.names(record.paths)
    if ours is None:
        return True
    for slot in action.slots if compat.has_slots(action) else (None,):
        known = compat.curves(previous, compat.same_slot(previous, slot))
        before = {(curve.data_path, curve.array_index): curve for curve in known}
        for curve in compat.curves(action, slot):
            old = before.get((curve.data_path, curve.array_index))
            if curve.data_path not in ours and (old is None or not fcurve_arrays.equal(curve, old)):
                return True
    return False


def _restore_in_place(item: Object | Scene) -> Action:
    """The action that a bake changed, with our channels as its copy has them; the copy where action or slot is gone."""
    record = item.condyle.bake
    action, backup = record.action, record.backup
    slot = None if action is None else _give_back(item, action)
    if slot is not None:
        record.slot_handle = slot
        return action
    if action is not None:
        action.use_fake_user = True  # nothing else may use what is left of it, and it is the user's
    backup.name = backup.name.removesuffix(" before Condyle")
    return backup


def _give_back(item: Object | Scene, action: Action) -> int | None:
    """Give the action that a bake changed, or a copy of it, our channels as they were before.

    Returns the handle of the slot to be used; None: it is gone, or what the copy has for it, or it is not known which
    channels are ours, and nothing was changed.
    """
    record = item.condyle.bake
    backup, name, handle = record.backup, record.previous_slot, record.slot_handle
    kept = compat.earlier_slot(backup, item.id_type, name, handle)
    if record.made_slot:
        slot = compat.find_slot(action, record.made_slot, handle)
    else:
        slot = compat.same_slot(action, kept)
    ours = stored_texts.names(record.paths)
    if ours is None or (slot is None and compat.has_slots(action) and not record.made_slot):
        return None
    lost = [curve for curve in compat.curves(backup, kept) if curve.data_path in ours]
    missing = {(curve.data_path, curve.array_index): curve for curve in lost}
    for curve in [curve for curve in compat.curves(action, slot) if curve.data_path in ours]:
        before = missing.pop((curve.data_path, curve.array_index), None)
        if before is None:
            compat.remove_curve(action, slot, curve)
        else:
            _restore_curve(curve, before)
    for (path, index), before in missing.items():  # the user has taken the baked curve away
        group = before.group.name if before.group is not None else "Object Transforms"
        (curve,) = compat.new_curves(action, slot, path, [index], group)
        curve.extrapolation = before.extrapolation
        _restore_curve(curve, before)
        backup.use_fake_user = backup.use_fake_user or bool(before.modifiers)  # it alone has these still
    if record.made_slot and slot is not None:
        action.slots.remove(slot)
        return 0
    return compat.slot_handle(slot)


def _restore_curve(curve: FCurve, before: FCurve) -> None:
    curve.mute = before.mute
    for modifier, was in zip(curve.modifiers, before.modifiers):
        modifier.mute = was.mute
    # last, for handles of keys lie otherwise where a modifier repeats them; of a copy Blender does not see to that
    fcurve_arrays.put(curve, fcurve_arrays.taken(before))


def hold_off(item: Object) -> Callable[[], None]:
    """Make an object's animation what `free` would leave, to be looked at; returns what brings the bake back."""
    renamed_bones.follow(item)
    record, data = item.condyle.bake, item.animation_data
    gone = data is None and record.previous_action is not None
    data = item.animation_data_create() if gone else data
    replaced = is_replaced(item)
    play = nla_tracks.mute(data, record, pushed=not replaced)
    made, slot = _restored_copy(item)
    if made is not None:
        nla_tracks.replace(data, record.action, made)
    put_back = None if replaced or data is None else _hold_off_action(item, data, made, slot)

    def bring_back() -> None:
        if put_back is not None:
            put_back()
        if made is not None:
            nla_tracks.replace(data, made, record.action)
            bpy.data.actions.remove(made)
        play()
        if gone:
            item.animation_data_clear()

    return bring_back


def _restored_copy(item: Object) -> tuple[Action | None, int]:
    """A copy of the action that a bake in place changed as it will be without, and its slot's handle; else None."""
    record = item.condyle.bake
    if record.backup is None or record.action is None:
        return None, 0
    made = record.action.copy()  # the user may have keyed other channels of it since
    slot = _give_back(item, made)
    if slot is None:
        bpy.data.actions.remove(made)
        return None, 0
    return made, slot


def _hold_off_action(item: Object, data: AnimData, made: Action | None, handle: int) -> Callable[[], None]:
    """Put the earlier action in use, or that copy of it; returns what puts back the one that is in use now."""
    record, action, slot = item.condyle.bake, data.action, compat.slot_name(data)
    blending = [getattr(data, name) for name in BLENDING]
    _blend_as_before(data, record)
    before = made or record.backup or record.previous_action
    before = None if nla_tracks.is_doubled(data, record) else before
    compat.reassign(data, before, record.previous_slot, handle or record.slot_handle)

    def put_back() -> None:
        compat.reassign(data, action, slot)
        for name, value in zip(BLENDING, blending):
            setattr(data, name, value)

    return put_back
