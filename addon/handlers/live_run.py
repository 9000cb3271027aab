"""What watches over live runs from the moment the add-on is there: saving, loading, undo, and the line to the mouse.

All of it is loaded when it is first needed.
"""

from __future__ import annotations

from typing import Any

import bpy

from ..blender import session

_handles: list[Any] = []


@bpy.app.handlers.persistent
def before_saving(*_: Any) -> None:
    """Handler of save_pre: files never hold a live run's poses."""
    _put_back()


@bpy.app.handlers.persistent
def after_undo(*_: Any) -> None:
    """Handler of undo_post and redo_post: a moment within a run that is over shows the user's own poses, and one that
    goes on looks whether all that it moves is still there.
    """
    if session.live is None:
        _put_back()
    else:
        session.live.look()


@bpy.app.handlers.persistent
def after_loading(*_: Any) -> None:
    """Handler of load_post: what Blender has saved by itself within a run shows the user's own poses."""
    if not session.read_only:
        _put_back()


def _put_back() -> None:
    if any(scene.condyle.live for scene in bpy.data.scenes):
        from ..live import display

        display.put_back()


def draw() -> None:
    """The spring between a body and the mouse, in the 3D views."""
    if session.live is not None and session.live.grip is not None:
        from ..live import drag

        drag.draw(session.live)


def start() -> None:
    """Watch saving, loading and undo; draw where Blender has a window."""
    bpy.app.handlers.save_pre.append(before_saving)
    bpy.app.handlers.load_post.append(after_loading)
    for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        handlers.append(after_undo)
    if not bpy.app.background:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))


def stop() -> None:
    """Watch no more; a run that goes on ends."""
    if session.live is not None:
        session.live.close()
        session.live = None
    bpy.app.handlers.save_pre.remove(before_saving)
    bpy.app.handlers.load_post.remove(after_loading)
    for handlers in (bpy.app.handlers.undo_post, bpy.app.handlers.redo_post):
        handlers.remove(after_undo)
    while _handles:
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
