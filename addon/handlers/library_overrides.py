"""Library overrides of what was made without the add-on: a rig from a library that gets its joints in the shot.

Blender stores an override as its difference to the linked original, group of properties by group. From 5.0 on, where
only one of the two has a group at all, it notes the whole group as exchanged, and cannot bring it back on load. So
before a file is written both have all groups, the original in memory only; they differ in what was changed alone.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..blender.attachments import Handler


def before_saving(*_: Any) -> None:
    """Handler of save_pre."""
    if not any(scene.condyle.schema_version for scene in bpy.data.scenes):
        return
    for item in bpy.data.objects:
        original = None if item.override_library is None else item.override_library.reference
        for each in (item, original) if original is not None else ():
            _store(each.condyle)
            for bone in each.pose.bones if each.pose is not None else ():
                _store(bone.condyle)


def _store(group: Any) -> None:
    """Store a group with all groups within it, empty as they are: reading one does so."""
    for item in group.bl_rna.properties:
        if item.type == "POINTER" and item.identifier != "rna_type":
            value = getattr(group, item.identifier)
            if isinstance(value, bpy.types.PropertyGroup):
                _store(value)


attached = (Handler(before_saving, "save_pre"),)
