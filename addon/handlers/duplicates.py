"""Copies and what was deleted are mended soon after objects came or went."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Scene

from ..blender import attachments, idle, lazy, session
from ..blender.attachments import Ending, Handler, Timer
from ..making import duplicates

DELAY = 0.1  # seconds from a change to a look at what is to be mended
#: how many objects there were in the file (key 0), and in each view layer, by its scene's session uid and its name
_counts: dict[Any, int] = {}


def on_update(scene: Scene, depsgraph: Any = None) -> None:
    """Handler of depsgraph_update_post: notes that objects came or went, or that an armature changed.

    What was deleted goes from its scene, but stays in the file as long as references mean it, as frames do a joint.
    """
    if depsgraph is None or depsgraph.mode != "VIEWPORT":
        return
    layer = depsgraph.view_layer
    counts = {0: len(bpy.data.objects), (scene.session_uid, layer.name): len(layer.objects)}
    changed = any(_counts.get(key) != count for key, count in counts.items())
    _counts.update(counts)
    if changed or depsgraph.id_type_updated("ARMATURE"):
        look()


def before_undo(*_: Any) -> None:
    """Handler of undo_pre and redo_pre."""
    if not lazy.is_waiting(duplicates):  # else nothing was mended
        duplicates.before_undo()


def forget() -> None:
    """Another file was opened, or the add-on is disabled."""
    _counts.clear()
    if not lazy.is_waiting(duplicates):
        duplicates.forget()


def look() -> None:
    """See soon whether something is to be mended; not where no window shows it."""
    if not bpy.app.background:
        attachments.soon(renew, DELAY)


def renew() -> float | None:
    """Timer: mends, but never while the user drags something, the file is rendered or the playhead runs."""
    if session.read_only:
        return None
    if session.job is not None or idle.is_evaluating() or idle.is_in_hand():
        return idle.WAIT
    duplicates.mend()
    return None


attached = (
    Handler(on_update, "depsgraph_update_post", window=True),
    Handler(before_undo, "undo_pre", "redo_pre", window=True),
    Timer(renew),
    Ending(forget),
)
