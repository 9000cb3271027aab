"""Library overrides of objects made without the add-on: a linked rig that gets its joints in the shot.

Blender stores an override as its difference to the linked original, one property group at a time. From 5.0 on it cannot
load a group that only one of the two has. So both get all groups before a file is saved, the original in memory only.
"""

from typing import Any

import bpy
from bpy.types import PropertyGroup

from ..blender.attachments import Handler


def before_saving(*_: Any) -> None:
    """Handler of save_pre: stores all groups of library overrides and their originals."""
    if not any(scene.condyle.schema_version for scene in bpy.data.scenes):
        return
    for item in bpy.data.objects:
        original = None if item.override_library is None else item.override_library.reference
        for each in (item, original) if original is not None else ():
            _store(each.condyle)
            for bone in each.pose.bones if each.pose is not None else ():
                _store(bone.condyle)


def _store(group: PropertyGroup) -> None:
    """Store a group and all groups within it; reading a group creates it."""
    for item in group.bl_rna.properties:
        if item.type == "POINTER" and item.identifier != "rna_type":
            value = getattr(group, item.identifier)
            if isinstance(value, bpy.types.PropertyGroup):
                _store(value)


attached = (Handler(before_saving, "save_pre"),)
