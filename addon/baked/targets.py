"""Where a bake's curves go, and back: a new action, a copy of the action in use, or a strip of the NLA.

A `BakeRecord` on the object or scene notes the action that was in use; `free` puts it back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import Action, AnimData, FCurve, Object, PoseBone, Scene

from ..blender import compat
from ..curves import fcurve_arrays
from ..curves.fcurve_arrays import KeyedPath
from ..data import body_reference, schema, stored_texts
from ..data.simulation import BakeRecord
from . import nla_tracks, renamed_bones

if TYPE_CHECKING:
    from bpy.types import ActionSlot

BLENDING = ("action_blend_type", "action_extrapolation", "action_influence")


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
    record.target = "NEW" if old is None and target == "CURRENT" else target
    record.paths = json.dumps([entry.path for entry in paths])
    _note_bones(item, record, [entry.path for entry in paths])
    if record.target == "STRIP":
        record.action = _put_strip(item, data, record, paths)
    elif record.target == "NEW" and old is not None and _is_layered(data):
        record.action = _put_over(item, data, record, paths)
    else:
        record.action = _put_copy(item, data, record, paths)
    schema.stamp(item.condyle)
    return record.action


def _note_bones(item: Object | Scene, record: BakeRecord, paths: Sequence[str]) -> None:
    """Note the bones of an object that its action in use and these data paths name."""
    pose = getattr(item, "pose", None)
    if pose is None:
        return
    used = {curve.data_path for curve in compat.curves_in_use(item)}
    bones = {name: pose.bones.get(name) for name in map(renamed_bones.bone_of, (*used, *paths)) if name}
    noted = {name: uid_of(bone) for name, bone in bones.items() if bone is not None}
    record.bones = json.dumps(noted)


def uid_of(bone: PoseBone) -> str:
    """The uid of a bone, which it has from now on."""
    bone.condyle.uid = bone.condyle.uid or body_reference.new_uid()
    return str(bone.condyle.uid)


def _put_copy(item: Object | Scene, data: AnimData, record: BakeRecord, paths: Sequence[KeyedPath]) -> Action:
    """A copy of the action in use, or a new one, with our channels: replaced, or of CURRENT in the range of frames."""
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
    if record.target == "CURRENT":
        _fill(action, slot, paths)
        return action
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
    return not compat.is_alone(data) and blending != ("REPLACE", "HOLD", 1.0)


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
    for entry, columns in zip(paths, fcurve_arrays.of_paths(paths), strict=True):
        curves = compat.new_curves(action, slot, entry.path, range(entry.values.shape[1]), entry.group)
        for curve, keys in zip(curves, columns, strict=True):
            compat.give(curve, keys)
    for curve in curves[-1:]:
        curve.update()


def _fill(action: Action, slot: ActionSlot, paths: Sequence[KeyedPath]) -> None:
    """Our keys in the range of frames; those before and after it stay."""
    found = {(curve.data_path, curve.array_index): curve for curve in compat.curves(action, slot)}
    for entry, columns in zip(paths, fcurve_arrays.of_paths(paths), strict=True):
        curves = []
        for index in range(entry.values.shape[1]):
            curve = found.get((entry.path, index))
            if curve is None:
                (curve,) = compat.new_curves(action, slot, entry.path, [index], entry.group)
            curve.mute = False
            for modifier in curve.modifiers:
                modifier.mute = True
            curves.append(curve)
        for curve, keys in zip(curves, columns, strict=True):
            _fill_range(curve, keys)
        curves[-1].update()


def _fill_range(curve: FCurve, made: compat.Keys) -> None:
    """Replace the keys of a curve from the first to the last of these.

    Keys outside are kept. Neighbours of the range keep the shape beyond them: their handles no longer move
    automatically.
    """
    old = compat.taken(curve)
    frames, inside = fcurve_arrays.times(old), fcurve_arrays.times(made)
    before, after = frames < inside[0], frames > inside[-1]
    curve.keyframe_points.clear()
    if not (before.any() or after.any()):
        compat.give(curve, made)
        return
    for near in (np.flatnonzero(before)[-1:], np.flatnonzero(after)[:1]):
        old["handle_left_type"][near] = old["handle_right_type"][near] = fcurve_arrays.FREE
    curve.keyframe_points.add(1)  # a key with Blender's defaults
    usual = {name: np.repeat(numbers, len(inside), axis=0) for name, numbers in compat.taken(curve).items()}
    chosen = fcurve_arrays.chosen
    compat.give(curve, fcurve_arrays.joined(chosen(old, before), usual | made, chosen(old, after)))
    curve.update()


def _put_strip(
    item: Object | Scene, data: AnimData, record: BakeRecord, paths: Sequence[KeyedPath]
) -> Action:
    """A strip on a track above all others; the action in use goes to a track of its own below it."""
    action = bpy.data.actions.new(f"{item.name} Condyle")
    slot = compat.new_slot(action, item)
    _write(action, slot, paths)
    nla_tracks.add(data, record, action, slot, nla_tracks.ends(paths))
    return action


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


def before(record: BakeRecord) -> Action | None:
    """The action from before a bake. Earlier versions baked into the action in use, and kept a copy of it."""
    return record.backup or record.previous_action


def free(item: Object | Scene) -> None:
    """Put back what was; an action that the user has put in use meanwhile stays, and the earlier one on its track. The
    bake's own is kept where it has been edited since.
    """
    renamed_bones.follow(item)
    record, data = item.condyle.bake, item.animation_data
    action, previous = record.action, before(record)
    if data is None and previous is not None:
        data = item.animation_data_create()
    replaced = is_replaced(item)
    nla_tracks.remove(data, record, pushed=not replaced)
    edited = action is not None and _has_more(action, previous, record)
    if record.backup is not None:
        _take_back(action, record.backup)
    record.action = record.previous_action = record.backup = None
    if replaced:
        if previous is not None and not previous.users:
            previous.use_fake_user = True  # nothing else may use it, and it is the user's
    elif data is not None:
        _blend_as_before(data, record)
        compat.reassign(data, previous, record.previous_slot, record.slot_handle)
        if not record.had_animation_data and not data.drivers and not data.nla_tracks:
            item.animation_data_clear()
    for name in stored_texts.names(record.figures) or ():
        if name in item:
            del item[name]
    if edited:
        action.use_fake_user = True
    elif action is not None and action.users == 0:
        bpy.data.actions.remove(action)
    item.condyle.property_unset("bake")


def _take_back(action: Action | None, backup: Action) -> None:
    """Let the copy that earlier versions kept take the place of the action that they changed (None: it was deleted)."""
    backup.name = backup.name.removesuffix(" before Condyle")
    if action is None:
        return
    name, backup.use_fake_user = action.name, action.use_fake_user
    action.name, action.use_fake_user = f"{name} edited", False
    backup.name = name
    action.user_remap(backup)


def _blend_as_before(data: AnimData, record: BakeRecord) -> None:
    """Let animation data blend the action in use as it did before a bake."""
    if record.blend_type:
        stored_texts.put_back(data, "action_blend_type", record.blend_type)
        stored_texts.put_back(data, "action_extrapolation", record.extrapolation)
        data.action_influence = record.influence


def keyed_since(item: Object | Scene) -> str:
    """Name of the action of a bake, where it has keys by now that the next bake does not read."""
    record = item.condyle.bake
    if record.action is None or not record.paths:  # the first bakes did not say which channels are theirs
        return ""
    return record.action.name if _has_more(record.action, before(record), record) else ""


def _has_more(action: Action, previous: Action | None, record: BakeRecord) -> bool:
    """Whether an action that a bake made has keys that are neither ours nor those of the action before; so it may have
    where it is not known which are ours.
    """
    ours = stored_texts.names(record.paths)
    if ours is None:
        return True
    for slot in action.slots if compat.has_slots(action) else (None,):
        known = compat.curves(previous, compat.same_slot(previous, slot))
        earlier = {(curve.data_path, curve.array_index): curve for curve in known}
        for curve in compat.curves(action, slot):
            old = earlier.get((curve.data_path, curve.array_index))
            if curve.data_path not in ours and (old is None or not compat.same_keys(curve, old)):
                return True
    return False


def hold_off(item: Object) -> Callable[[], None]:
    """Make an object's animation what `free` would leave, to be looked at; returns what brings the bake back."""
    renamed_bones.follow(item)
    record, data = item.condyle.bake, item.animation_data
    gone = data is None and record.previous_action is not None
    data = item.animation_data_create() if gone else data
    replaced = is_replaced(item)
    play = nla_tracks.mute(data, record, pushed=not replaced)
    put_back = None if replaced or data is None else _hold_off_action(item, data)

    def bring_back() -> None:
        if put_back is not None:
            put_back()
        play()
        if gone:
            item.animation_data_clear()

    return bring_back


def _hold_off_action(item: Object, data: AnimData) -> Callable[[], None]:
    """Put the earlier action in use; returns what puts back the one that is in use now."""
    record, action, slot = item.condyle.bake, data.action, compat.slot_name(data)
    blending = [getattr(data, name) for name in BLENDING]
    _blend_as_before(data, record)
    compat.reassign(data, before(record), record.previous_slot, record.slot_handle)

    def put_back() -> None:
        compat.reassign(data, action, slot)
        for name, value in zip(BLENDING, blending):
            setattr(data, name, value)

    return put_back
