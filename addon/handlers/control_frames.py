"""Updates the slider of a driven joint when the user moves its control frames."""

from typing import Any

import bpy
from bpy.types import Depsgraph, Object, Scene

from ..blender import attachments, idle, session
from ..blender.attachments import Ending, Handler, Timer
from ..data import references
from ..data.joints import shapes
from ..posing import keep_sliders

DELAY = 0.1  # seconds from a move to the update, which covers all moves in between

_moved: set[int] = set()
_seen: dict[str, Any] = {}  # session uid of the active object at the last call of mark_selected


def on_update(_scene: Scene, depsgraph: Depsgraph = None) -> None:
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
    if _moved:
        attachments.soon(renew, DELAY)


def mark_selected() -> None:
    """Mark the control frame whose Empty is active in its joint's list."""
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
        return  # the marked frame was deleted: it stays marked, so that the user can remove it
    for number, frame in enumerate(settings.frames):
        if frame.object == active and settings.active_frame != number:
            settings.active_frame = number


def renew() -> float | None:
    """Update the sliders of the noted joints; frames that only moved with their joint are left alone."""
    if idle.is_evaluating():
        return idle.WAIT
    if session.job is not None and not session.read_only:
        return DELAY  # try again after the job
    moved = set(_moved)
    _moved.clear()
    if session.read_only:
        return None
    scene = bpy.context.scene
    bpy.context.view_layer.update()  # an undo leaves no matrices
    for uid in moved:
        item = references.object_by_session_uid(uid)
        followed = [] if item is None else _driven_by(scene, item)
        if followed:
            keep_sliders.frames_moved(scene, item, followed)
    return None


def _driven_by(scene: Scene, item: Object) -> list[Object]:
    """The driven joints that use an Empty's control frames: its own joint, and others that refer to it."""
    return [
        joint
        for joint in references.joints_of(scene)
        if joint.condyle.joint.driven
        and (joint == item or any(shape.frames_of == item for shape in shapes(joint.condyle.joint)))
    ]


attached = (
    Handler(on_update, "depsgraph_update_post", window=True),
    Timer(renew),
    Ending(_moved.clear),
    Ending(lambda: keep_sliders.forget(), keep_sliders),
)
