"""Moves bodies to their targets while the user moves these."""

import bpy
from bpy.types import Depsgraph, Scene

from ..blender import attachments, idle, session
from ..blender.attachments import Handler, Timer
from ..posing import ik_targets


def on_update(scene: Scene, depsgraph: Depsgraph = None) -> None:
    """Handler of depsgraph_update_post: notes that a target may have moved."""
    if depsgraph is None or depsgraph.mode != "VIEWPORT" or not scene.condyle.reach.live:
        return
    for update in depsgraph.updates:
        if update.is_updated_transform and isinstance(update.id, bpy.types.Object):
            item = update.id.original
            if item.type == "EMPTY" and item.condyle.target.enabled:
                follow_soon()
                return


def follow() -> float | None:
    """Timer: move the bodies towards their targets; seconds to the next call while they get nearer, else None."""
    if idle.is_evaluating():
        return idle.WAIT
    scene = bpy.context.scene
    if session.read_only or session.job is not None or not scene.condyle.reach.live:
        return None
    return ik_targets.follow(scene)


def follow_soon() -> None:
    """Start the timer of `follow`."""
    attachments.soon(follow, 0.0)


attached = (Handler(on_update, "depsgraph_update_post", window=True), Timer(follow))
