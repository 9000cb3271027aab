"""Whether a scene holds anything to simulate."""

from __future__ import annotations

from bpy.types import Object


def has_work(item: Object) -> bool:
    """Whether an object gives a simulation something to do."""
    data = item.condyle
    if data.joint.enabled or (data.body.enabled and data.body.motion == "FREE"):
        return True
    return item.pose is not None and any(
        bone.condyle.body.enabled and bone.condyle.body.motion == "FREE" for bone in item.pose.bones
    )
