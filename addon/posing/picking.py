"""Which body lies under the mouse in a 3D view, and where the mouse points to in space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Context, Object
from bpy_extras import view3d_utils
from mathutils import Vector

from ..data import references
from ..data.references import Body

# A thin body that moves is easily missed, and bones have no surface to hit: what is nearer to the mouse than this
# counts [pixels].
REACH = 25.0
# Where surfaces are looked for about the mouse: on so many rings, in so many directions.
RINGS, DIRECTIONS = 8, 12


def region_under(context: Context, x: int, y: int) -> tuple[Any, Any] | None:
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


def body_at(
    context: Context, region: Any, view: Any, place: Any, wanted: Callable[[Body], bool] | None = None
) -> tuple[Body, np.ndarray] | None:
    """The body at a place (2,) of a region, and the point (3,) of it in the world; None where there is none near.

    A mesh counts as the body that it is, that it is the shape of, or that carries it. Where none lies under the
    place itself, the nearest surface or bone counts; `wanted` says whether a body may, None: every one.
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
    """What rays are cast into, read once for all of them: asking for the bodies takes longer than a ray.

    Attributes:
        bodies: of the scene. roles: whose body an object or bone is, or is the shape of.
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

    def at(self, region: Any, view: Any, place: Any) -> tuple[Body, np.ndarray] | None:
        """The body whose surface is seen at a place (2,) of a region, and that point (3,) of it."""
        origin = view3d_utils.region_2d_to_origin_3d(region, view, place)
        direction = view3d_utils.region_2d_to_vector_3d(region, view, place)
        hit, point, _, _, item, _ = self.scene.ray_cast(self.depsgraph, origin, direction)
        body = self.body_of(item.original) if hit else None
        return None if body is None else (body, np.array(point))

    def body_of(self, item: Object) -> Body | None:
        """The body that an object is, is the shape of, or is carried by; None without one."""
        at: Body | None = Body(item)
        while at is not None:
            body = self.roles.get((at.object, at.bone))
            if body is not None:
                return body
            at = references.blender_parent(at)
        return None


def _nearest_bone(
    bodies: list[Body], region: Any, view: Any, place: Vector, wanted: Callable[[Body], bool] | None
) -> tuple[float, Body, np.ndarray] | None:
    """How far away [pixels] the nearest bone is, it, and its nearest point (3,)."""
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


def point_in_view(region: Any, view: Any, place: Any, depth: Any) -> np.ndarray:
    """The point (3,) under a place (2,) of a region, in the plane across the view through a point `depth` (3,)."""
    return np.array(view3d_utils.region_2d_to_location_3d(region, view, place, Vector(depth)))


def pixels(points: np.ndarray, view: np.ndarray, size: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Where points (m, 3) of the world are seen in a region, in pixels (m, 2), and which are before the eye (m,).

    Args:
        view: the region's perspective matrix (4, 4). size: its width and height.
    """
    clip = np.column_stack([points, np.ones(len(points))]) @ view.T
    ahead = clip[:, 3] > 0.0
    shares = clip[:, :2] / np.where(ahead, clip[:, 3], 1.0)[:, None]
    return 0.5 * (shares + 1.0) * size, ahead


def projection(context: Context) -> Callable[[np.ndarray], np.ndarray]:
    """What gives the pixels (m, 2) at which a context's region shows points (m, 3) of the world."""
    view = np.array(context.region_data.perspective_matrix)
    size = (context.region.width, context.region.height)
    return lambda points: pixels(points, view, size)[0]


def seen_length(context: Context, place: np.ndarray, length: float) -> float | None:
    """How many pixels a length across the view has at a place (3,); None where that is not before the eye."""
    aside = length * np.array(context.region_data.view_matrix)[0, :3]
    view = np.array(context.region_data.perspective_matrix)
    size = (context.region.width, context.region.height)
    ends, ahead = pixels(np.array([place, place + aside]), view, size)
    return float(np.linalg.norm(ends[1] - ends[0])) if ahead.all() else None
