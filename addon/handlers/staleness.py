"""Checks on a timer after changes whether the bake is out of date, never while drawing."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Scene

from ..baking import restoring
from ..blender import redraw, session
from ..blender.attachments import Ending, Handler, Timer
from ..data import findings, stored_texts
from ..reading import prints
from ..staleness import compare

WAIT = 0.5  # seconds between two checks

#: length of Blender's operator history, and the address of its last entry
_ended: tuple[int, int] = (0, 0)


def on_change(_scene: Scene | str = None, *_rest: Any) -> None:
    """Handler of changes of any kind: has the timer check again."""
    session.stale_unknown = True
    session.changes += 1


def _look_at_operators() -> None:
    """Check again after each operator: scripts and other add-ons can change settings without calling a handler."""
    global _ended
    done = bpy.context.window_manager.operators
    ended = (len(done), done[-1].as_pointer()) if len(done) else (0, 0)
    if ended != _ended:
        _ended, session.stale_unknown = ended, True


def look() -> float:
    """The timer: check the scenes shown in windows after a change, and newly shown ones; seconds to the next check."""
    windows = bpy.context.window_manager.windows
    playing = any(window.screen.is_animation_playing for window in windows)
    scenes = {window.scene for window in windows if window.scene.condyle.simulation.output.read}
    _look_at_operators()
    unknown = session.stale_unknown or any(scene.session_uid not in session.stale for scene in scenes)
    if not unknown or session.job is not None or playing:
        return WAIT
    session.stale_unknown = False
    found = {}
    for scene in scenes:
        found[scene.session_uid] = changes(scene)
    if found != session.stale:
        session.stale = found
        redraw.views()
    return WAIT


def changes(scene: Scene) -> list[findings.Finding]:
    """What has changed since the bake that is in place, one for each thing; empty: it is up to date, or none is."""
    kept = scene.condyle.simulation.output.read
    if not kept or not restoring.is_baked(scene):
        return []
    broken, old = [*restoring.gone(scene), *restoring.broken(scene)], stored_texts.prints(kept)
    if old is None:
        return broken
    now = prints.prints(scene), prints.data_names(), prints.titles(scene)
    return [*broken, *compare.changes(old, *now)]


def forget() -> None:
    """Clear the results; called when the add-on is disabled."""
    session.stale, session.stale_unknown = {}, False


attached = (
    Handler(on_change, "depsgraph_update_post", "load_post", "undo_post", "redo_post"),
    Timer(look, every=WAIT),
    Ending(forget),
)
