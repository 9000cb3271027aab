"""Separation of two convex cores along normals of faces, across edges, and between vertices and edges.

Of two polytopes the greatest separation over the normals of faces and the products of edges that form a face of their
Minkowski difference (Gregorius, GDC 2013: the arcs of their faces' normals cross on the unit sphere) is minus the depth
of the least translation that parts them. Where they are apart it is their distance if a vertex faces a face or two
edges cross; otherwise a vertex is nearest to an edge or a vertex.

All vectors are in world axes, points from the first core's link origin; `shift` leads to that of the other.
"""

from __future__ import annotations

import math

from ..algebra.access import flat3
from ..algebra.spatial import rotate
from ..algebra.vectors import NONE, Array, Rotation, Vector, add3, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import collider_layout as solid

# Edges whose directions differ by less than this [rad] have no common normal.
PARALLEL = 1e-3


@inline
def vertex(posed: Array, core: int, k: int) -> Vector:
    return flat3(posed, core + solid.CORE_POINTS + 3 * k)


@inline
def face_row(shapes: Array, core: int, f: int) -> int:
    """Offset of a face's row."""
    return int(shapes[core + solid.CORE_FACE_ROWS]) + f * solid.FACE_WIDTH


@inline
def is_zero(x: Vector) -> bool:
    return x[0] == 0.0 and x[1] == 0.0 and x[2] == 0.0


@inline
def unit(x: Vector) -> Vector:
    """x of length one; zero stays."""
    length = math.sqrt(dot3(x, x))
    return scale_add3(NONE, 1.0 / length if length > 0.0 else 0.0, x)


@inline
def across(x: Vector) -> Vector:
    """A unit vector perpendicular to x."""
    if abs(x[0]) <= abs(x[1]) and abs(x[0]) <= abs(x[2]):
        return unit((0.0, x[2], -x[1]))
    return unit((-x[2], 0.0, x[0])) if abs(x[1]) <= abs(x[2]) else unit((x[1], -x[0], 0.0))


@shared
def turn_core(shapes: Array, shape: int, normals: int, turn: Rotation, posed: Array) -> tuple[Vector, Vector]:
    """Turn vertices and so many normals of a core to world axes; returns the corners of its bounds from the link's
    origin.
    """
    lower, upper = (math.inf, math.inf, math.inf), (-math.inf, -math.inf, -math.inf)
    for k in range(int(shapes[shape + solid.CORE_VERTICES])):
        row = shape + solid.CORE_POINTS + 3 * k
        x = rotate(turn, flat3(shapes, row))
        posed[row], posed[row + 1], posed[row + 2] = x[0], x[1], x[2]
        lower = min(lower[0], x[0]), min(lower[1], x[1]), min(lower[2], x[2])
        upper = max(upper[0], x[0]), max(upper[1], x[1]), max(upper[2], x[2])
    for f in range(normals):
        row = int(shapes[shape + solid.CORE_FACE_ROWS]) + f * solid.FACE_WIDTH
        n = rotate(turn, flat3(shapes, row))
        posed[row], posed[row + 1], posed[row + 2] = n[0], n[1], n[2]
    return lower, upper


@shared
def face_separation(
    shapes: Array, posed: Array, core: int, other: int, shift: Vector, most: float
) -> tuple[float, int]:
    """Greatest separation of the other core from a face, and the face; -inf and -1 without faces. Stops above most."""
    best, found = -math.inf, -1
    count = int(shapes[other + solid.CORE_VERTICES])
    for f in range(int(shapes[core + solid.CORE_FACES])):
        row = face_row(shapes, core, f)
        normal, least = flat3(posed, row), math.inf
        for k in range(count):
            least = min(least, dot3(normal, vertex(posed, other, k)))
        gap = least + dot3(normal, shift) - shapes[row + solid.FACE_OFFSET]
        if gap > best:
            best, found = gap, f
            if best >= most:
                break
    return best, found


@inline
def normals_beside(shapes: Array, posed: Array, core: int, row: int) -> tuple[Vector, Vector]:
    """Normals of the faces beside the edge at row; zero for a lone segment."""
    if shapes[row + solid.EDGE_FACE] < 0.0:
        return NONE, NONE
    return (
        flat3(posed, face_row(shapes, core, int(shapes[row + solid.EDGE_FACE]))),
        flat3(posed, face_row(shapes, core, int(shapes[row + solid.EDGE_BESIDE]))),
    )


@inline
def arcs_cross(along: Vector, a: Vector, b: Vector, other: Vector, c: Vector, d: Vector) -> bool:
    """Whether the arc of normals a to b of an edge meets that of -c to -d of another one; a lone segment, whose c and d
    are zero, has the whole circle across it.
    """
    ca, da = -dot3(c, along), -dot3(d, along)
    ac, bc = dot3(a, other), dot3(b, other)
    if is_zero(c):
        return ac * bc < 0.0
    if is_zero(a):
        return ca * da < 0.0
    return ca * da < 0.0 and ac * bc < 0.0 and ca * bc > 0.0


@shared
def edge_separation(
    shapes: Array, posed: Array, core: int, other: int, shift: Vector, most: float
) -> tuple[float, int, int, Vector]:
    """Greatest separation across two edges, their rows, and the normal towards the other core; -inf without such
    edges. Stops above most. One of the cores has faces.
    """
    best, mine, yours, towards = -math.inf, -1, -1, NONE
    rows, others = int(shapes[core + solid.CORE_EDGE_ROWS]), int(shapes[other + solid.CORE_EDGE_ROWS])
    for i in range(int(shapes[core + solid.CORE_EDGES])):
        row = rows + i * solid.EDGE_WIDTH
        start = vertex(posed, core, int(shapes[row + solid.EDGE_FROM]))
        along = subtract3(vertex(posed, core, int(shapes[row + solid.EDGE_TO])), start)
        a, b = normals_beside(shapes, posed, core, row)
        size = dot3(along, along)
        for j in range(int(shapes[other + solid.CORE_EDGES])):
            edge = others + j * solid.EDGE_WIDTH
            place = vertex(posed, other, int(shapes[edge + solid.EDGE_FROM]))
            direction = subtract3(vertex(posed, other, int(shapes[edge + solid.EDGE_TO])), place)
            c, d = normals_beside(shapes, posed, other, edge)
            if not arcs_cross(along, a, b, direction, c, d):
                continue
            normal = cross(along, direction)
            square = dot3(normal, normal)
            if square <= PARALLEL * PARALLEL * size * dot3(direction, direction):
                continue
            outward = dot3(normal, add3(a, b)) if not is_zero(a) else -dot3(normal, add3(c, d))
            normal = scale_add3(NONE, math.copysign(1.0 / math.sqrt(square), outward), normal)
            gap = dot3(normal, subtract3(add3(place, shift), start))
            if gap > best:
                best, mine, yours, towards = gap, row, edge, normal
                if best >= most:
                    return best, mine, yours, towards
    return best, mine, yours, towards


@inline
def nearest_on_lines(p: Vector, u: Vector, q: Vector, v: Vector) -> tuple[float, float]:
    """Parameters in [0, 1] of the nearest points of the segments p + s u and q + t v (Ericson 2005, sec. 5.1.9)."""
    r = subtract3(p, q)
    a, e, f = dot3(u, u), dot3(v, v), dot3(v, r)
    if a == 0.0 and e == 0.0:
        return 0.0, 0.0
    if a == 0.0:
        return 0.0, min(max(f / e, 0.0), 1.0)
    c = dot3(u, r)
    if e == 0.0:
        return min(max(-c / a, 0.0), 1.0), 0.0
    b = dot3(u, v)
    part = a * e - b * b
    s = min(max((b * f - c * e) / part, 0.0), 1.0) if part > 1e-14 * a * e else 0.5
    t = (b * s + f) / e
    if t < 0.0:
        return min(max(-c / a, 0.0), 1.0), 0.0
    if t > 1.0:
        return min(max((b - c) / a, 0.0), 1.0), 1.0
    return s, t


@inline
def segment(shapes: Array, posed: Array, core: int, k: int) -> tuple[Vector, Vector]:
    """Start and extent of edge k; of a core without edges its only vertex, and zero."""
    if shapes[core + solid.CORE_EDGES] == 0.0:
        return vertex(posed, core, 0), NONE
    row = int(shapes[core + solid.CORE_EDGE_ROWS]) + k * solid.EDGE_WIDTH
    start = vertex(posed, core, int(shapes[row + solid.EDGE_FROM]))
    return start, subtract3(vertex(posed, core, int(shapes[row + solid.EDGE_TO])), start)


@shared
def corner_distance(
    shapes: Array, posed: Array, core: int, other: int, shift: Vector
) -> tuple[float, Vector, Vector]:
    """Least distance of a vertex of a core from the edges of the other one, the vertex, and the way to the edge."""
    best, point, way = math.inf, NONE, NONE
    for k in range(int(shapes[core + solid.CORE_VERTICES])):
        x = vertex(posed, core, k)
        for j in range(max(int(shapes[other + solid.CORE_EDGES]), 1)):
            start, along = segment(shapes, posed, other, j)
            start = add3(start, shift)
            _, t = nearest_on_lines(x, NONE, start, along)
            to = subtract3(scale_add3(start, t, along), x)
            square = dot3(to, to)
            if square < best:
                best, point, way = square, x, to
    return math.sqrt(best), point, way
