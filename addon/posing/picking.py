"""Finds the body under the mouse in a 3D view, and converts between pixels and points in the world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Context, Object, Region, RegionView3D
from bpy_extras import view3d_utils
from mathutils import Vector

from ..data import references
from ..data.references import Body

# Largest distance [pixels] of a picked body from the mouse: thin moving bodies are easily missed, and bones have no
# surface to hit.
REACH = 25.0
# Rings and directions of the rays around the mouse.
RINGS, DIRECTIONS = 8, 12


def region_under(context: Context, x: int, y: int) -> tuple[Region, RegionView3D] | None:
    """The window region of a 3D view and its RegionView3D at a place in the window; None elsewhere."""
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


def _inside(region: Region, x: int, y: int) -> bool:
    return 0 <= x - region.x < region.width and 0 <= y - region.y < region.height


def body_at(
    context: Context,
    region: Region,
    view: RegionView3D,
    place: Sequence[float],
    wanted: Callable[[Body], bool] | None = None,
) -> tuple[Body, np.ndarray] | None:
    """The body at a place (2,) of a region, and its point (3,) there in the world; None if no body is near.

    A mesh belongs to the body that it is, whose shape it is, or that carries it. If no surface lies under the place
    itself, the nearest surface or bone is used. `wanted` selects bodies; None: all.
    """
    seen = _Seen.of(context)
    found = seen.at(region, view, place)
    if found is not None and (wanted is None or wanted(found[0])):
        return found
    bone = _nearest_bone(seen.bodies, region, view, Vector(place), wanted)
    for radius in np.linspace(0.0, REACH, RINGS + 1)[1:]:
        if bone is not None and bone[0] < radius:
            break
        for angle in np.linspace(0.0, 2.0 * np.pi, DIRECTIONS, endpoint=False):
            beside = place[0] + radius * np.cos(angle), place[1] + radius * np.sin(angle)
            found = seen.at(region, view, beside)
            if found is not None and (wanted is None or wanted(found[0])):
                return found
    return None if bone is None else bone[1:]


@dataclass(frozen=True, eq=False)
class _Seen:
    """The scene for ray casts, read once for all rays, since listing its bodies takes longer than a ray.

    Attributes:
        bodies: of the scene. roles: body of each object or bone that is one, or is the shape of one.
    """

    scene: Any
    depsgraph: Any
    bodies: list[Body]
    roles: dict[tuple[Any, str], Body]

    @classmethod
    def of(cls, context: Context) -> _Seen:
        bodies = references.bodies_of(context.scene)
        roles: dict[tuple[Any, str], Body] = {}
        for body in bodies:
            roles.setdefault((body.object, body.bone), body)
            shape = body.data.body.shape
            if shape is not None:
                roles.setdefault((shape, ""), body)
        return cls(context.scene, context.evaluated_depsgraph_get(), bodies, roles)

    def at(
        self, region: Region, view: RegionView3D, place: Sequence[float]
    ) -> tuple[Body, np.ndarray] | None:
        """The body whose surface is visible at a place (2,) of a region, and the point (3,) there."""
        origin = view3d_utils.region_2d_to_origin_3d(region, view, place)
        direction = view3d_utils.region_2d_to_vector_3d(region, view, place)
        hit, point, _, _, item, _ = self.scene.ray_cast(self.depsgraph, origin, direction)
        body = self.body_of(item.original) if hit else None
        return None if body is None else (body, np.array(point))

    def body_of(self, item: Object) -> Body | None:
        """The body that an object belongs to (see `body_at`); None without one."""
        at: Body | None = Body(item)
        while at is not None:
            body = self.roles.get((at.object, at.bone))
            if body is not None:
                return body
            at = references.blender_parent(at)
        return None


def _nearest_bone(
    bodies: list[Body],
    region: Region,
    view: RegionView3D,
    place: Vector,
    wanted: Callable[[Body], bool] | None,
) -> tuple[float, Body, np.ndarray] | None:
    """Distance [pixels] of the nearest bone, the bone, and its nearest point (3,)."""
    best, found = REACH, None
    for body in bodies:
        if not body.bone or body.object.hide_get() or (wanted is not None and not wanted(body)):
            continue
        head, tail = (body.object.matrix_world @ end for end in (body.pose_bone.head, body.pose_bone.tail))
        ends = [view3d_utils.location_3d_to_region_2d(region, view, end) for end in (head, tail)]
        if None in ends:
            continue
        along = ends[1] - ends[0]
        share = min(max((place - ends[0]).dot(along) / max(along.length_squared, 1e-9), 0.0), 1.0)
        away = (ends[0] + share * along - place).length
        if away < best:
            best, found = away, (away, body, np.array(head + share * (tail - head)))
    return found


def point_in_view(region: Region, view: RegionView3D, place: Sequence[float], depth: Vector) -> np.ndarray:
    """The point (3,) under a place (2,) of a region, at the depth of the point `depth` (3,)."""
    return np.array(view3d_utils.region_2d_to_location_3d(region, view, place, Vector(depth)))


def pixels(points: np.ndarray, view: np.ndarray, size: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Pixels (m, 2) of points (m, 3) of the world in a region, and which are in front of the viewer (m,).

    Args:
        view: the region's perspective matrix (4, 4). size: its width and height.
    """
    clip = np.column_stack([points, np.ones(len(points))]) @ view.T
    in_front = clip[:, 3] > 0.0
    shares = clip[:, :2] / np.where(in_front, clip[:, 3], 1.0)[:, None]
    return 0.5 * (shares + 1.0) * size, in_front


def projection(context: Context) -> Callable[[np.ndarray], np.ndarray]:
    """A function from points (m, 3) of the world to pixels (m, 2) of a context's region."""
    view = np.array(context.region_data.perspective_matrix)
    size = (context.region.width, context.region.height)
    return lambda points: pixels(points, view, size)[0]


def seen_length(context: Context, place: np.ndarray, length: float) -> float | None:
    """Pixels of a length across the view at a place (3,); None if that is not in front of the viewer."""
    aside = length * np.array(context.region_data.view_matrix)[0, :3]
    view = np.array(context.region_data.perspective_matrix)
    size = (context.region.width, context.region.height)
    ends, in_front = pixels(np.array([place, place + aside]), view, size)
    return float(np.linalg.norm(ends[1] - ends[0])) if in_front.all() else None
