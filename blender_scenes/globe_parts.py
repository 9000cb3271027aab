"""The toy globe's parts as meshes: plates of land cut along the coasts, an aeroplane, the stand."""

import bpy  # noqa: F401  (must come before mathutils: it sets up the module paths)
import numpy as np
from mathutils import Vector
from mathutils.geometry import delaunay_2d_cdt
from numpy.typing import NDArray

from physics._typing import FloatArray

from .anatomy.implicit import ellipsoid, union
from .anatomy.surface import Mesh
from .gallery_parts import Solid, together
from .globe_model import RADIUS, TILT, curve_poses
from .shapes import banded, revolved, solid

LAND_RISE = 0.0025  # m, of a plate of land above the sea
CELL = np.radians(2.2)  # of a plate's triangles
INSIDE = 1  # delaunay_2d_cdt: only triangles within the outline
SPAN = 0.052  # m, of an aeroplane's wings


def land_plate(land: str) -> tuple[FloatArray, list[list[int]]]:
    """Vertices (n, 3) and faces of the land within a coast: a plate on the globe with a rim down to the sea."""
    rim = curve_poses(land, max(60, 3 * int(np.ceil(len(curve_poses(land, 400)) / 4))))[:, :3, 3] / RADIUS
    middle = rim.mean(axis=0) / np.linalg.norm(rim.mean(axis=0))
    flat = flattened(rim, middle)
    if np.sum(np.cross(flat, np.roll(flat, -1, axis=0))) < 0.0:
        rim, flat = rim[::-1], flat[::-1]
    low, high = flat.min(axis=0), flat.max(axis=0)
    grid = np.stack(np.meshgrid(*(np.arange(low[k], high[k], CELL) for k in (0, 1))), axis=-1).reshape(-1, 2)
    inner = grid[within(grid, flat) & (clearance(grid, flat) > 0.5 * CELL)]
    points = [Vector(point) for point in np.vstack([flat, inner]).tolist()]
    found = delaunay_2d_cdt(points, [], [list(range(len(flat)))], INSIDE, 1e-9)
    top = raised(np.array([list(point) for point in found[0]]), middle) * (RADIUS + LAND_RISE)
    count = len(flat)
    foot = rim * (RADIUS - LAND_RISE)
    shift = len(top)
    origin = {place: number for number, places in enumerate(found[3]) for place in places}
    edge = [origin[place] for place in range(count)]
    faces = [list(face) for face in found[2]]
    faces += [[edge[k], shift + k, shift + (k + 1) % count, edge[(k + 1) % count]] for k in range(count)]
    return np.vstack([top, foot]), faces


def tangents(middle: FloatArray) -> FloatArray:
    """Two unit vectors (2, 3) square to `middle` and to each other, so that the three are right-handed."""
    side = np.cross(middle, np.eye(3)[np.argmin(np.abs(middle))])
    side /= np.linalg.norm(side)
    return np.stack([side, np.cross(middle, side)])


def flattened(points: FloatArray, middle: FloatArray) -> FloatArray:
    """Unit vectors (n, 3) in the tangent plane at `middle` (n, 2); distances from there are those along the sphere."""
    aside = points @ tangents(middle).T
    length = np.linalg.norm(aside, axis=1, keepdims=True)
    angle = np.arctan2(length, (points @ middle)[:, None])
    return np.asarray(aside / np.maximum(length, 1e-12) * angle)


def raised(flat: FloatArray, middle: FloatArray) -> FloatArray:
    """The unit vectors (n, 3) that `flattened` maps to (n, 2)."""
    angle = np.linalg.norm(flat, axis=1, keepdims=True)
    aside = flat / np.maximum(angle, 1e-12) @ tangents(middle)
    return np.asarray(np.cos(angle) * middle + np.sin(angle) * aside)


def within(points: FloatArray, outline: FloatArray) -> NDArray[np.bool_]:
    """Whether points (n, 2) lie within a closed outline (m, 2): whether a ray leaves it an odd number of times."""
    after = np.roll(outline, -1, axis=0)
    x, y = points[:, :1], points[:, 1:]
    crosses = (outline[:, 1] > y) != (after[:, 1] > y)
    rise = np.where(after[:, 1] == outline[:, 1], 1.0, after[:, 1] - outline[:, 1])
    where = outline[:, 0] + (y - outline[:, 1]) / rise * (after[:, 0] - outline[:, 0])
    return np.asarray(np.count_nonzero(crosses & (x < where), axis=1) % 2 == 1)


def clearance(points: FloatArray, outline: FloatArray) -> FloatArray:
    """Distance (n,) of points (n, 2) from the nearest point of an outline (m, 2)."""
    away = points[:, None] - outline
    return np.asarray(np.sqrt(np.einsum("nmi,nmi->nm", away, away).min(axis=1)))


def aeroplane() -> Mesh:
    """A stubby aeroplane, its nose along x, its mast along z, with its keel a little below the middle."""
    half = 0.5 * SPAN
    parts = (
        ellipsoid((0.0, 0.0, 0.0), (0.024, 0.0048, 0.0052)),
        ellipsoid((0.004, 0.0, -0.001), (0.0065, half, 0.0016)),
        ellipsoid((-0.020, 0.0, 0.001), (0.0038, 0.010, 0.0012)),
        ellipsoid((-0.021, 0.0, 0.006), (0.0036, 0.0012, 0.0075)),
    )
    return solid(union(parts, 0.0012), 1.15 * half, 6e-4)


def ring_stand(floor: float, sides: int = 12, steps: int = 64) -> Solid:
    """Half a ring that holds the axle at both ends, and a foot on the floor: vertices (n, 3) and faces."""
    turn = np.linspace(-0.5 * np.pi, 0.5 * np.pi, steps) - TILT
    around = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    reach, thick = 1.13 * RADIUS, 0.006
    out = np.column_stack([np.cos(turn), np.zeros(steps), np.sin(turn)])
    rings = (reach + thick * np.cos(around)[:, None]) * out[:, None]
    rings[..., 1] += thick * np.sin(around)
    foot = ((0.0, 0.0), (0.13, 0.0), (0.13, 0.012), (0.02, 0.022), (0.011, 0.04))
    profile = [*((radius, floor + height) for radius, height in foot), (0.009, -reach)]
    circle = np.linspace(0.0, 2.0 * np.pi, 4 * sides, endpoint=False)
    pole = np.array([np.sin(TILT), 0.0, np.cos(TILT)])
    across = np.stack([np.cross([0.0, 1.0, 0.0], pole), [0.0, 1.0, 0.0]])
    pin = 0.004 * np.column_stack([np.cos(circle), np.sin(circle)]) @ across
    ends = [pin + height * pole for height in (-1.06 * reach, -0.98 * RADIUS, 0.98 * RADIUS, 1.06 * reach)]
    return together(banded(rings), revolved(profile, 4 * sides), banded(ends[:2]), banded(ends[2:]))
