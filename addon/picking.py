"""Which body lies under the mouse in a 3D view, and where the mouse points to in space."""

from __future__ import annotations

from typing import Any

import numpy as np
from mathutils import Vector

from . import references
from .references import Body

# Bones have no surface to hit: one counts that is nearer to the mouse than this [pixels].
BONE_REACH = 25.0


def region_under(context: Any, x: int, y: int) -> tuple[Any, Any] | None:
    """The region of a 3D view and its view (RegionView3D) at a place in the window; None elsewhere."""
    for area in context.window.screen.areas:
        if area.type != "VIEW_3D":
            continue
        over = [
            each for each in area.regions if each.type != "WINDOW" and each.width > 1 and _inside(each, x, y)
        ]
        for region in area.regions:
            if region.type == "WINDOW" and _inside(region, x, y) and not over:
                return region, area.spaces.active.region_3d
    return None


def _inside(region: Any, x: int, y: int) -> bool:
    return 0 <= x - region.x < region.width and 0 <= y - region.y < region.height


def body_at(context: Any, region: Any, view: Any, place: Any) -> tuple[Body, np.ndarray] | None:
    """The body under a place (2,) of a region, and the point (3,) of it in the world; None where there is none.

    A mesh counts as the body that it is, that it is the shape of, or that carries it; else the nearest bone.
    """
    from bpy_extras import view3d_utils

    origin = view3d_utils.region_2d_to_origin_3d(region, view, place)
    direction = view3d_utils.region_2d_to_vector_3d(region, view, place)
    hit, point, _, _, item, _ = context.scene.ray_cast(context.evaluated_depsgraph_get(), origin, direction)
    body = body_of_object(context.scene, item.original) if hit else None
    if body is not None:
        return body, np.array(point)
    return _nearest_bone(context.scene, region, view, Vector(place))


def body_of_object(scene: Any, item: Any) -> Body | None:
    """The body that an object is, is the shape of, or is carried by; None without one."""
    bodies = references.bodies_of(scene)
    at = Body(item)
    while at is not None:
        for body in bodies:
            if references.same(body, at) or (not at.bone and body.data.body.shape == at.object):
                return body
        at = references.blender_parent(at)
    return None


def _nearest_bone(scene: Any, region: Any, view: Any, place: Vector) -> tuple[Body, np.ndarray] | None:
    from bpy_extras import view3d_utils

    best, found = BONE_REACH, None
    for body in references.bodies_of(scene):
        if not body.bone or body.object.hide_get():
            continue
        head, tail = (body.object.matrix_world @ end for end in (body.pose_bone.head, body.pose_bone.tail))
        ends = [view3d_utils.location_3d_to_region_2d(region, view, end) for end in (head, tail)]
        if None in ends:
            continue
        along = ends[1] - ends[0]
        share = min(max((place - ends[0]).dot(along) / max(along.length_squared, 1e-9), 0.0), 1.0)
        away = (ends[0] + share * along - place).length
        if away < best:
            best, found = away, (body, np.array(head + share * (tail - head)))
    return found


def point_in_view(region: Any, view: Any, place: Any, depth: Any) -> np.ndarray:
    """The point (3,) under a place (2,) of a region, in the plane across the view through a point `depth` (3,)."""
    from bpy_extras import view3d_utils

    return np.array(view3d_utils.region_2d_to_location_3d(region, view, place, Vector(depth)))
