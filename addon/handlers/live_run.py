"""What watches over live runs from the moment the add-on is there: saving, loading, undo, and the line to the mouse."""

from __future__ import annotations

from typing import Any

import bpy

from ..blender import session
from ..blender.attachments import Drawing, Ending, Handler
from ..live import display, drag


def before_saving(*_: Any) -> None:
    """Handler of save_pre: files never hold a live run's poses."""
    _put_back()


def after_undo(*_: Any) -> None:
    """Handler of undo_post and redo_post: a moment within a run that is over shows the user's own poses, and one that
    goes on looks whether all that it moves is still there.
    """
    if session.live is None:
        _put_back()
    else:
        session.live.look()


def after_loading(*_: Any) -> None:
    """Handler of load_post: what Blender has saved by itself within a run shows the user's own poses."""
    if not session.read_only:
        _put_back()


def _put_back() -> None:
    if any(scene.condyle.live for scene in bpy.data.scenes):
        display.put_back()


def draw() -> None:
    """The spring between a body and the mouse, in the 3D views."""
    if session.live is not None and session.live.grip is not None:
        drag.draw(session.live)


def close() -> None:
    """A run that goes on ends."""
    if session.live is not None:
        session.live.close()
        session.live = None


attached = (
    Handler(before_saving, "save_pre"),
    Handler(after_loading, "load_post"),
    Handler(after_undo, "undo_post", "redo_post"),
    Drawing(draw, "POST_VIEW"),
    Ending(close),
)
