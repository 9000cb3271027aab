"""Repairs duplicated and deleted objects soon after objects were added or removed."""

from typing import Any

import bpy
from bpy.types import Depsgraph, Scene

from ..blender import attachments, idle, lazy, session
from ..blender.attachments import Ending, Handler, Timer
from ..making import duplicates, rig_parts

DELAY = 0.1  # seconds from a change to the repair
#: number of objects in the file (key 0), and in each view layer, by its scene's session uid and its name
_counts: dict[Any, int] = {}


def on_update(scene: Scene, depsgraph: Depsgraph = None) -> None:
    """Handler of depsgraph_update_post: notes that objects were added or removed, or that an armature changed.

    A deleted object leaves its scene, but stays in the file while references point to it, as frames do to a joint.
    """
    if depsgraph is None or depsgraph.mode != "VIEWPORT":
        return
    layer = depsgraph.view_layer
    counts = {0: len(bpy.data.objects), (scene.session_uid, layer.name): len(layer.objects)}
    changed = any(_counts.get(key) != count for key, count in counts.items())
    _counts.update(counts)
    if changed or depsgraph.id_type_updated("ARMATURE"):
        look()


def before_saving(*_: Any) -> None:
    """Handler of save_pre: lets rigs point at their joints."""
    if not session.read_only and any(scene.condyle.schema_version for scene in bpy.data.scenes):
        rig_parts.renew()


def before_undo(*_: Any) -> None:
    """Handler of undo_pre and redo_pre: restores references that followed a bone or were added."""
    for each in (duplicates, rig_parts):
        if not lazy.is_waiting(each):  # else nothing was repaired
            each.before_undo()


def forget() -> None:
    """Clear counts and caches: another file was opened, or the add-on is disabled."""
    _counts.clear()
    if not lazy.is_waiting(duplicates):
        duplicates.forget()


def look() -> None:
    """Start the timer of `renew`; not in background mode."""
    if not bpy.app.background:
        attachments.soon(renew, DELAY)


def renew() -> float | None:
    """Timer: repairs, but not while the user drags something, a render runs or the animation plays."""
    if session.read_only:
        return None
    if session.job is not None or idle.is_evaluating() or idle.is_in_hand():
        return idle.WAIT
    duplicates.mend()
    return None


attached = (
    Handler(on_update, "depsgraph_update_post", window=True),
    Handler(before_saving, "save_pre"),
    Handler(before_undo, "undo_pre", "redo_pre"),
    Timer(renew),
    Ending(forget),
)
