"""Applies the scales that simulations refuse: non-uniform and negative ones of objects and their parents."""

from collections.abc import Iterable

import bpy
import numpy as np
from bpy.types import Object

from ..blender.physics_access import model_error
from ..blender.scales import TOLERANCE
from ..data.references import Body
from . import rig_parts


def refused(bodies: Iterable[Body]) -> list[Object]:
    """The objects, also armatures and parents, whose own scales keep bodies from being simulated; not scales of 0,
    which nothing can apply.
    """
    found = {}
    for body in bodies:
        above = body.object
        while above is not None:
            size = np.array(above.scale)
            if size.all() and (np.ptp(size) > TOLERANCE * np.abs(size).max() or size.min() < 0.0):
                found[above.session_uid] = above
            above = above.parent
    return list(found.values())


def apply(items: list[Object]) -> None:
    """Apply the scales of objects as Ctrl+A does, their children stay; joints on them get no scale.

    Raises:
        ModelError: one is linked, or shares its data with others; nothing is changed then.
    """
    for item in items:
        if item.library is not None or (item.data is not None and item.data.library is not None):
            raise model_error(f"{item.name} is linked; apply its scale in its own file")
        if item.data is not None and item.data.users > 1:
            raise model_error(
                f"{item.name} shares its data with other objects; make it a single user first (Object › Relations)"
            )
    posing = bpy.context.mode == "POSE"
    if posing:
        bpy.ops.object.mode_set(mode="OBJECT")
    with bpy.context.temp_override(selected_editable_objects=items, active_object=items[0], object=items[0]):
        bpy.ops.object.transform_apply(location=False, rotation=False, scale=True)
    if posing:
        bpy.ops.object.mode_set(mode="POSE")
    for each in {child for item in items for child in item.children_recursive if child.type == "EMPTY"}:
        if each.condyle.frame_of is not None or rig_parts.owner_of(each) is not None:
            each.scale = (1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
