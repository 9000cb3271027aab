"""Rigs with chains, and what a test does to them as an animator would."""

from __future__ import annotations

from typing import Any


def rig_with_tail(make: Any, links: int = 4, length: float = 0.1, connect: bool = True) -> Any:
    """An armature with a bone "Hips" and a tail of some links behind it, level, along -y."""
    bones: dict[str, Any] = {"Hips": ((0, 0.2, 1), (0, 0, 1), None)}
    above = "Hips"
    for number in range(links):
        bones[f"Tail.{number}"] = ((0, -length * number, 1), (0, -length * (number + 1), 1), above)
        above = f"Tail.{number}"
    return make.armature("Rig", bones, connect)


def select_bones(rig: Any, *names: str) -> None:
    """Pose mode with these bones selected, the last one active."""
    import bpy

    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        # Blender 5.0 keeps with the pose what is selected
        (bone if hasattr(bone, "select") else bone.bone).select = bone.name in names
    rig.data.bones.active = rig.data.bones[names[-1]]


def add_chain(rig: Any, *names: str, **options: Any) -> Any:
    """Add a chain on bones, by the operator."""
    import bpy

    select_bones(rig, *names)
    return bpy.ops.condyle.add_chain(**options)


def tail(rig: Any) -> list[str]:
    """Names of the bones of a tail."""
    return [bone.name for bone in rig.data.bones if bone.name.startswith("Tail")]
