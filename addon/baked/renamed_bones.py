"""Bones that are renamed while a bake is in place.

Blender gives the new name to the paths of actions in use and on tracks, not to those of an action that was put aside,
of a copy, or of a list of what was keyed. So a bake notes the uid, which stays with a bone for good, of every bone that
these name, and they follow later.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import bpy
from bpy.types import Action, Object, Scene

from ..blender import compat
from ..data import stored_texts

if TYPE_CHECKING:
    from bpy.types import ActionSlot

_BONE = re.compile(r'^pose\.bones\["((?:[^"\\]|\\.)*)"\]')


def follow(item: Object | Scene) -> None:
    """Give all that is noted of an object's bake the names that its bones have now."""
    record = item.condyle.bake
    renamed = renamed_since(item)
    if not renamed:
        return
    for action in (record.previous_action, record.backup):
        if action is None or action.library is not None:
            continue
        slot = compat.earlier_slot(action, item.id_type, record.previous_slot, record.slot_handle)
        _rename(action, slot, lacking(item, compat.is_used(action, item), renamed))
    _follow_baked(item, renamed)
    paths = stored_texts.names(record.paths)
    if paths is not None:
        record.paths = json.dumps([with_names(path, renamed) for path in paths])
    noted = stored_texts.called(record.bones) or {}
    record.bones = json.dumps({renamed.get(name, name): uid for name, uid in noted.items()})


def _follow_baked(item: Object | Scene, renamed: Mapping[str, str]) -> None:
    """Give the bake's own action those names if it has been put aside, so that `free` knows all of it for baked."""
    record = item.condyle.bake
    action = record.action
    if action is None or action.library is not None or record.backup is not None:
        return
    if compat.is_used(action, item):
        return
    slot = compat.find_slot(action, record.previous_slot, record.slot_handle)
    if slot is None and compat.has_slots(action) and action.slots:
        slot = action.slots[-1]  # the bake made it
    _rename(action, slot, renamed)


def renamed_since(item: Object | Scene) -> dict[str, str]:
    """The bones of an object that have other names than its bake noted: their names now by those."""
    noted = stored_texts.called(item.condyle.bake.bones) or {}
    now = {name: _name_now(item, name, uid) for name, uid in noted.items()}
    return {old: new for old, new in now.items() if old != new}


def lacking(item: Object | Scene, follows: bool, renamed: dict[str, str]) -> dict[str, str]:
    """Those of the new names that an action from before the bake has not yet; follows: Blender gives it new names."""
    if not renamed or not follows:
        return renamed
    # where names were exchanged, one that is played has them already
    return {old: new for old, new in renamed.items() if old not in item.pose.bones}


def bone_of(path: str) -> str:
    """The name of the bone that a data path leads to; empty: to none."""
    found = _BONE.match(path)
    return bpy.utils.unescape_identifier(found[1]) if found else ""


def with_names(path: str, renamed: Mapping[str, str]) -> str:
    """A data path with the new name of the bone that it leads to."""
    old = bone_of(path)
    if old not in renamed:
        return path
    return _BONE.sub(lambda _: f'pose.bones["{bpy.utils.escape_identifier(renamed[old])}"]', path)


def _name_now(item: Object | Scene, name: str, uid: str) -> str:
    """Present name of the bone that had that name; of copies with its uid the first counts, as in `duplicates`."""
    bone = item.pose.bones.get(name)
    if bone is not None and bone.condyle.uid == uid:
        return name
    return next((bone.name for bone in item.pose.bones if bone.condyle.uid == uid), name)


def _rename(action: Action, slot: ActionSlot | None, renamed: Mapping[str, str]) -> None:
    """Give an action's curves, and their groups, the new names of bones, unless a curve has that name already."""
    paths = [(curve, with_names(curve.data_path, renamed)) for curve in compat.curves(action, slot)]
    taken = {(path, curve.array_index) for curve, path in paths if path == curve.data_path}
    groups = {}
    for curve, path in paths:
        if path == curve.data_path or (path, curve.array_index) in taken:
            continue
        old, curve.data_path = bone_of(curve.data_path), path
        if curve.group is not None and curve.group.name == old:
            groups[old] = curve.group
    for old, group in groups.items():
        group.name = renamed[old]
