"""Keeps sliders and poses consistent when joints are added or change shape."""

from contextlib import suppress

import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, session, units
from ..data import references
from ..data import stored_joints as joints
from ..data.joints import PROPERTY, match_coordinates, shapes, slider_names
from ..data.references import Body
from ..reading import keyed_poses
from ..sliders import sliders
from . import project_poses

#: control frames (m, 4, 4) at the last update of the sliders, by session uid of the joint
_known: dict[int, np.ndarray] = {}


def join_chain(scene: Scene, item: Object) -> None:
    """Drive the child of a new joint by sliders if sliders move its parent, so that it follows at once.

    Incomplete joints (a curve without frames) are not changed, nor joints with coordinates whose child already follows
    as a Blender child, or has keys, which sliders would hide.
    """
    settings = item.condyle.joint
    child, parent = references.resolve(settings.child), references.resolve(settings.parent)
    if settings.driven or settings.to_world or not sliders.can_drive(settings) or child is None:
        return
    if not _goes_along(scene, parent):
        return
    if settings.coordinates and (_goes_along(scene, child) or len(keyed_poses.keyed_frames(child))):
        return
    with suppress(physics_access.physics().CondyleError):
        sliders.set_driven(scene, item, True)


def _goes_along(scene: Scene, body: Body | None) -> bool:
    """Whether sliders move a body: those of its own joint, or of the joint of an ancestor in Blender."""
    while body is not None:
        item = references.joint_of(scene, body)
        if item is not None and item.condyle.joint.driven:
            return True
        body = references.blender_parent(body)
    return False


def shape_changed(scene: Scene, item: Object) -> None:
    """Update coordinates and sliders after a change of a joint's type, parts or curve, also of joints that use its
    control frames."""
    affected = [item]
    if item.condyle.joint.frames:
        affected += [
            other
            for other in references.joints_of(scene)
            if other != item and any(each.frames_of == item for each in shapes(other.condyle.joint))
        ]
    for joint in affected:
        match_coordinates(joint.condyle.joint)
        _follow_shape(scene, joint)


def _follow_shape(scene: Scene, item: Object) -> None:
    """Update or remove the sliders of a driven joint after a change of its type or parts.

    An incomplete shape (a curve without frames) is reported and keeps the old slider. A composite joint without parts
    is not reported: the panel shows it where parts are added.
    """
    settings = item.condyle.joint
    if not settings.driven:
        return
    if not sliders.can_drive(settings):
        sliders.set_driven(scene, item, False)
        return
    if settings.type == "composite" and not settings.parts:
        return
    try:
        if all(name in item for name in slider_names(settings)):
            sliders.refresh(scene, item)
        else:
            _refresh_in_place(scene, item)
    except physics_access.physics().CondyleError as error:
        session.tell(str(error), "ERROR")


def _refresh_in_place(scene: Scene, item: Object) -> None:
    """Update a joint that gets new sliders, and set these so that the child stays in place, if possible."""
    settings = item.condyle.joint
    names = slider_names(settings)
    new = [name not in item for name in names]
    # the former only coordinate is now the first of several
    if new[0] and isinstance(item.get(PROPERTY), float):
        item[names[0]] = item[PROPERTY]
    here = project_poses.readings_here(scene, item)
    sliders.refresh(scene, item)
    if here is not None:
        project_poses.set_readings(scene, item, here)
    length = units.length_scale(scene)
    for row, name, is_new in zip(settings.coordinates, names, new):
        if is_new:
            row.start = item[name] * (length if row.unit == "m" else 1.0)


def frames_moved(scene: Scene, item: Object, followed: list[Object]) -> None:
    """Update the sliders of driven joints after a move of the control frames that they use."""
    try:
        frames = joints.control_frames(scene, item)
        known = _known.get(item.session_uid)
        # frames that move with their joint keep their places in it, up to the rounding of float32
        if (
            known is not None
            and known.shape == frames.shape
            and np.allclose(known, frames, rtol=1e-5, atol=1e-5)
        ):
            return
        for joint in followed:
            sliders.refresh(scene, joint)
        _known[item.session_uid] = frames
    except physics_access.physics().CondyleError as error:
        session.tell(str(error), "ERROR")


def forget() -> None:
    """Drop stored control frames; called when the add-on is disabled."""
    _known.clear()
