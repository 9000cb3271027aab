"""Play (Space) lets chains swing and ragdolls fall: a live run in place of playback, where nothing is baked."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Scene

from ..baking import restoring
from ..blender import attachments, session
from ..data import references
from ..making import chains


def wanted(scene: Scene) -> bool:
    """Whether Play is to begin a live run of a scene."""
    if session.job is not None or session.read_only or not scene.condyle.play_live:
        return False
    joints = (item.condyle.joint for item in references.carrying_joints(scene))
    children = [references.resolve(joint.child) for joint in joints if not joint.prescribed]
    links = [child for child in children if child is not None]
    figures = {
        body.object for body in references.bodies_of(scene) if body.bone and body.data.body.motion == "FREE"
    }
    moves = chains.sprung(links) or any(link.object in figures for link in links)
    return bool(moves) and not restoring.is_baked(scene)


def soon() -> None:
    """Begin a live run when Blender is free, or end the one there is: a handler cannot stop playback."""
    attachments.soon(_begin if session.live is None else _end, 0.0)


def _begin() -> None:
    operators: Any = bpy.ops.condyle  # type: ignore[attr-defined]  # unknown to Blender's stubs
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        try:
            operators.live("INVOKE_DEFAULT", play=True)
        except RuntimeError:
            return  # the panel says why; the animation plays as it is keyed


def _end() -> None:
    """End the run, which may have ended meanwhile: its record is not to be played over by another run."""
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        stop()
    if session.live is not None:
        session.live.stop()


def stop() -> None:
    """Stop Blender's playback, if it plays, where it is."""
    if not bpy.app.background and bpy.context.screen.is_animation_playing:
        bpy.ops.screen.animation_cancel(restore_frame=False)
