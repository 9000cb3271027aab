"""Handlers of live runs: playback, saving, loading, undo, and the line to the mouse."""

from typing import Any

import bpy
from bpy.types import Scene

from ..blender import session
from ..blender.attachments import Drawing, Ending, Handler
from ..live import display, drag, playback


def before_playing(scene: Scene, *_: Any) -> None:
    """Handler of animation_playback_pre: Play ends a live run, and begins one where chains are to swing."""
    if session.live is not None or playback.wanted(scene):
        playback.soon()


def after_playing(*_: Any) -> None:
    """Handler of animation_playback_post: a live run that is still being prepared is wanted no more."""
    runs = session.live is not None and bool(session.live.figures)
    if session.job is not None and session.job.endless and not runs:
        session.job.cancel_wanted = True


def before_saving(*_: Any) -> None:
    """Handler of save_pre: restores the user's poses, so that no file stores those of a live run."""
    _put_back()


def after_undo(*_: Any) -> None:
    """Handler of undo_post and redo_post: a running live run checks that its bodies still exist; an undo step from an
    ended run shows the user's own poses.
    """
    if session.live is None:
        _put_back()
    else:
        session.live.look()


def after_loading(*_: Any) -> None:
    """Handler of load_post: files that Blender autosaved during a run show the user's own poses."""
    if not session.read_only:
        _put_back()


def _put_back() -> None:
    if any(scene.condyle.live for scene in bpy.data.scenes):
        display.put_back()


def draw() -> None:
    """Draw the spring between a body and the mouse in the 3D views."""
    if session.live is not None and session.live.grip is not None:
        drag.draw(session.live)


def close() -> None:
    """End the running live run, if any."""
    if session.live is not None:
        session.live.close()
        session.live = None


attached = (
    Handler(before_playing, "animation_playback_pre", window=True),
    Handler(after_playing, "animation_playback_post", window=True),
    Handler(before_saving, "save_pre"),
    Handler(after_loading, "load_post"),
    Handler(after_undo, "undo_post", "redo_post"),
    Drawing(draw, "POST_VIEW"),
    Ending(close),
)
