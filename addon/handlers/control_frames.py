"""The slider of a driven joint follows its control frames when the user moves them."""

from __future__ import annotations

from typing import Any

import bpy

from ..blender import idle
from ..data import references

DELAY = 0.1  # seconds from a move to the renewed slider, while moves that follow are taken together

_moved: set[int] = set()
_known: dict[int, Any] = {}
_seen: dict[str, Any] = {}  # the object that was active when marks were looked at last


@bpy.app.handlers.persistent
def on_update(_scene: Any, depsgraph: Any = None) -> None:
    """Handler of depsgraph_update_post: notes driven joints whose control frames may have moved."""
    if depsgraph is None or depsgraph.mode != "VIEWPORT":
        return
    for update in depsgraph.updates:
        if not update.is_updated_transform or not isinstance(update.id, bpy.types.Object):
            continue
        joint = update.id.original.condyle.frame_of if update.id.type == "EMPTY" else None
        if joint is not None:
            _moved.add(joint.session_uid)
    mark_selected()
    if _moved and not bpy.app.timers.is_registered(renew):
        bpy.app.timers.register(renew, first_interval=DELAY)


def mark_selected() -> None:
    """The list of control frames marks the one whose Empty is active."""
    active = bpy.context.view_layer.objects.active
    joint = active.condyle.frame_of if active is not None and active.type == "EMPTY" else None
    before, _seen["active"] = _seen.get("active"), None if active is None else active.session_uid
    if joint is None or not joint.condyle.joint.enabled:
        return
    settings = joint.condyle.joint
    chosen = [frame.object for frame in settings.frames[settings.active_frame :][:1]]
    if before == active.session_uid and not all(
        references.in_scene(bpy.context.scene, each) for each in chosen
    ):
        return  # a deleted one is marked in the list, to be removed
    for number, frame in enumerate(settings.frames):
        if frame.object == active and settings.active_frame != number:
            settings.active_frame = number


def renew() -> float | None:
    """Bring the sliders of the noted joints up to date; a joint that was only carried along is left alone."""
    if idle.is_evaluating():
        return idle.WAIT
    import numpy as np

    from ..blender import physics_access, session
    from ..reading import joints
    from ..sliders import sliders

    if session.job is not None and not session.read_only:
        return DELAY  # what was moved meanwhile is taken up when it is over
    moved = set(_moved)
    _moved.clear()
    if session.read_only:
        return None
    scene = bpy.context.scene
    bpy.context.view_layer.update()  # an undo leaves no matrices
    for uid in moved:
        item = references.object_by_session_uid(uid)
        followed = [] if item is None else _driven_by(scene, item)
        if not followed:
            continue
        try:
            frames = joints.control_frames(scene, item)
            known = _known.get(uid)
            # carried along, frames keep their places in the joint but for the rounding of float32
            if (
                known is not None
                and known.shape == frames.shape
                and np.allclose(known, frames, rtol=1e-5, atol=1e-5)
            ):
                continue
            for joint in followed:
                sliders.refresh(scene, joint)
            _known[uid] = frames
        except physics_access.physics().CondyleError as error:
            session.tell(str(error), "ERROR")
    return None


def _driven_by(scene: Any, item: Any) -> list[Any]:
    """The driven joints that use an Empty's control frames: itself, and those that take theirs from it."""
    from ..data.joints import shapes

    return [
        joint
        for joint in references.joints_of(scene)
        if joint.condyle.joint.driven
        and (joint == item or any(shape.frames_of == item for shape in shapes(joint.condyle.joint)))
    ]


def start() -> None:
    """Begin to watch; nothing where there is no user who moves things."""
    if not bpy.app.background:
        bpy.app.handlers.depsgraph_update_post.append(on_update)


def stop() -> None:
    """Watch no more."""
    if on_update in bpy.app.handlers.depsgraph_update_post:
        bpy.app.handlers.depsgraph_update_post.remove(on_update)
    if bpy.app.timers.is_registered(renew):
        bpy.app.timers.unregister(renew)
    _moved.clear()
    _known.clear()
