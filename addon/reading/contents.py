"""Whether a scene has anything to simulate."""

from __future__ import annotations

from bpy.types import Object


def has_work(item: Object) -> bool:
    """Whether an object is a joint, a free body, or an armature with free bodies."""
    data = item.condyle
    if data.joint.enabled or (data.body.enabled and data.body.motion == "FREE"):
        return True
    return item.pose is not None and any(
        bone.condyle.body.enabled and bone.condyle.body.motion == "FREE" for bone in item.pose.bones
    )
