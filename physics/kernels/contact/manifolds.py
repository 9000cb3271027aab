"""Contacts of two shapes: the pairs of features, vertex and face or two edges, whose gap is below a given length.

The face with the greatest separation is the reference. Of the faces at the other core's nearest vertex the one that
turns most towards it is clipped by the planes through its edges (Sutherland & Hodgman 1974). A corner of what remains
is a vertex over the face, a crossing of two edges, or lies over a vertex of the face; each contact has the normal of
its own two features. So the contacts do not depend on which face is the reference, and change continuously as bodies
turn.

A contact is a point of the first core, the unit normal from the second one towards it, and the gap between the cores.
"""

from __future__ import annotations

import math

from ..algebra.access import flat3, load3, store3
from ..algebra.vectors import NONE, Array, Vector, add3, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import collider_layout as solid
from .candidates import EQUAL, add_candidate, keep_above
from .cores import (
    across,
    corner_distance,
    edge_separation,
    face_row,
    face_separation,
    nearest_on_lines,
    segment,
    unit,
    vertex,
)

# Shares of the size of the smaller shape: contacts nearer to each other are one; contacts may be deeper by this than
# the two shapes are, because bodies tilt.
TOGETHER, TILTED = 1e-4, 1e-3
# Edges cross if their nearest points are off by less from the normal, as a share of the size: the round-off of edges
# that are almost parallel (PARALLEL) is smaller.
CROSSED = 1e-7
# Edges that cross at a smaller angle (its sine) take the normal of the face: their own would be round-off.
GRAZING = 0.05


@inline
def put_corner(
    space: Array, row: int, point: Vector, leaving: float, kind: int, edge: float, side: int
) -> None:
    store3(space, row, 0, point)
    space[row, solid.LEAVING], space[row, solid.CORNER_KIND] = leaving, kind
    space[row, solid.CROSSED_EDGE], space[row, solid.CROSSED_SIDE] = edge, side


@shared
def clip(
    space: Array,
    source: int,
    target: int,
    count: int,
    start: Vector,
    outward: Vector,
    side: int,
    slack: float,
) -> int:
    """Clip a polygon of so many corners, in rows from source on, by a plane through start; returns the new number."""
    kept = 0
    for j in range(count):
        row = source + j
        following = source + (j + 1 if j + 1 < count else 0)
        here, there = load3(space, row, 0), load3(space, following, 0)
        mine = dot3(outward, subtract3(here, start)) - slack
        yours = dot3(outward, subtract3(there, start)) - slack
        leaving = space[row, solid.LEAVING]
        if mine <= 0.0:
            for c in range(solid.CROSSED_SIDE + 1):
                space[target + kept, c] = space[row, c]
            kept += 1
        if (mine <= 0.0) != (yours <= 0.0):
            point = scale_add3(here, mine / (mine - yours), subtract3(there, here))
            kind = solid.CROSSING if leaving >= 0.0 else solid.OTHER_VERTEX
            onward = leaving if yours <= 0.0 else -1.0 - side
            put_corner(space, target + kept, point, onward, kind, leaving, side)
            kept += 1
    return kept


@inline
def loop_entry(shapes: Array, row: int, k: int) -> int:
    """Offset of an entry of the loop of the face at row; they repeat after the last one."""
    count = int(shapes[row + solid.FACE_COUNT])
    return int(shapes[row + solid.FACE_LOOP]) + (k if k < count else k - count) * solid.LOOP_WIDTH


@inline
def loop_vertex(shapes: Array, posed: Array, core: int, row: int, k: int) -> Vector:
    """Vertex k of the loop of the face at row."""
    return vertex(posed, core, int(shapes[loop_entry(shapes, row, k)]))


@inline
def face_beyond(shapes: Array, posed: Array, core: int, row: int, k: int) -> Vector:
    """Normal of the face beyond edge k of the face at row."""
    return flat3(posed, face_row(shapes, core, int(shapes[loop_entry(shapes, row, k) + 1])))


@inline
def in_arc(x: Vector, normal: Vector, along: Vector, beyond: Vector) -> bool:
    """Whether x, across an edge along the loop of a face, is between the normals of the faces beside it."""
    side = cross(along, normal)
    turn = dot3(beyond, side) * dot3(x, normal) - dot3(beyond, normal) * dot3(x, side)
    return dot3(x, side) >= 0.0 and turn >= 0.0


@shared
def crossing_normal(
    shapes: Array, posed: Array, core: int, face: int, side: int, other: int, turned: int, edge: int
) -> Vector:
    """Normal, away from the face at row `face`, of an edge of its loop and one of the other core's, of the face at row
    `turned` (-1: of its segment). The face's own where the two edges are no contact, or almost parallel.
    """
    normal = flat3(posed, face)
    start = loop_vertex(shapes, posed, core, face, side)
    along = subtract3(loop_vertex(shapes, posed, core, face, side + 1), start)
    if turned < 0:
        _, direction = segment(shapes, posed, other, 0)
    else:
        start = loop_vertex(shapes, posed, other, turned, edge)
        direction = subtract3(loop_vertex(shapes, posed, other, turned, edge + 1), start)
    found = cross(along, direction)
    square = dot3(found, found)
    if square <= GRAZING * GRAZING * dot3(along, along) * dot3(direction, direction):
        return normal
    found = scale_add3(NONE, math.copysign(1.0 / math.sqrt(square), dot3(found, normal)), found)
    if not in_arc(found, normal, along, face_beyond(shapes, posed, core, face, side)):
        return normal
    back = scale_add3(NONE, -1.0, found)
    if turned >= 0 and not in_arc(
        back, flat3(posed, turned), direction, face_beyond(shapes, posed, other, turned, edge)
    ):
        return normal
    return found


@shared
def load_polygon(
    shapes: Array, posed: Array, other: int, shift: Vector, normal: Vector, space: Array, first: int
) -> tuple[int, int]:
    """Of the faces at the other core's vertex that is deepest below a plane with this normal the one that turns most
    towards the plane, or all of a core without faces, as a polygon in rows from first on; its number of corners and the
    face's row, -1 for none.
    """
    deepest, least = 0, math.inf
    for k in range(int(shapes[other + solid.CORE_VERTICES])):
        height = dot3(normal, vertex(posed, other, k))
        if height < least:
            deepest, least = k, height
    turned, least = -1, math.inf
    for f in range(int(shapes[other + solid.CORE_FACES])):
        row = face_row(shapes, other, f)
        along = dot3(normal, flat3(posed, row))
        if along >= least:
            continue
        for k in range(int(shapes[row + solid.FACE_COUNT])):
            if int(shapes[loop_entry(shapes, row, k)]) == deepest:
                turned, least = row, along
    count = int(shapes[other + solid.CORE_VERTICES] if turned < 0 else shapes[turned + solid.FACE_COUNT])
    for k in range(count):
        at = vertex(posed, other, k) if turned < 0 else loop_vertex(shapes, posed, other, turned, k)
        put_corner(space, first + k, add3(at, shift), float(k), solid.OWN_VERTEX, 0.0, 0)
    return count, turned


@shared
def face_contacts(
    shapes: Array,
    posed: Array,
    core: int,
    other: int,
    face: int,
    shift: Vector,
    first: bool,
    limits: tuple[float, float],
    size: float,
    count: int,
    space: Array,
) -> int:
    """Append the contacts over a face of a core, which is the first of the pair or not; returns their number. limits:
    least and greatest gap. shift leads to the other core.
    """
    part = space.shape[0] // 4
    source, target = part, 2 * part
    row = face_row(shapes, core, face)
    normal = flat3(posed, row)
    corners, turned = load_polygon(shapes, posed, other, shift, normal, space, source)
    for side in range(int(shapes[row + solid.FACE_COUNT])):
        start = loop_vertex(shapes, posed, core, row, side)
        along = subtract3(loop_vertex(shapes, posed, core, row, side + 1), start)
        outward = unit(cross(along, normal))
        corners = clip(space, source, target, corners, start, outward, side, EQUAL * size)
        source, target = target, source
    for k in range(source, source + corners):
        point, kind, own = load3(space, k, 0), int(space[k, solid.CORNER_KIND]), normal
        if kind == solid.CROSSING:
            side, edge = int(space[k, solid.CROSSED_SIDE]), int(space[k, solid.CROSSED_EDGE])
            own = crossing_normal(shapes, posed, core, row, side, other, turned, edge)
        elif kind == solid.OTHER_VERTEX:
            own = scale_add3(NONE, -1.0, flat3(posed, turned))
        height = dot3(normal, point) - shapes[row + solid.FACE_OFFSET]
        gap = height * dot3(own, normal)
        if not limits[0] <= gap < limits[1]:
            continue
        if first:
            point, own = scale_add3(point, -gap, own), scale_add3(NONE, -1.0, own)
        else:
            point = subtract3(point, shift)
        count = add_candidate(space, count, point, own, gap, kind == solid.OWN_VERTEX, TOGETHER * size)
    return count


@shared
def line_contacts(
    shapes: Array, posed: Array, core: int, other: int, shift: Vector, most: float, size: float, space: Array
) -> int:
    """Contacts of two cores without faces: of the ends of each segment, and where two cross."""
    p, u = segment(shapes, posed, core, 0)
    q, v = segment(shapes, posed, other, 0)
    q = add3(q, shift)
    count, least = 0, math.inf
    nearest, _ = nearest_on_lines(p, u, q, v)
    both = dot3(u, u) > 0.0 and dot3(v, v) > 0.0
    for k in range(0 if both else 4, 5):
        if k < 2:
            x = scale_add3(p, float(k), u)
            y = scale_add3(q, nearest_on_lines(x, NONE, q, v)[1], v)
        elif k < 4:
            y = scale_add3(q, float(k - 2), v)
            x = scale_add3(p, nearest_on_lines(p, u, y, NONE)[0], u)
        else:
            x = scale_add3(p, nearest, u)
            y = scale_add3(q, nearest_on_lines(x, NONE, q, v)[1], v)
        way = subtract3(x, y)
        gap = math.sqrt(dot3(way, way))
        if not gap < most or (k == 4 and gap >= least - EQUAL * size):
            continue
        least = min(least, gap)
        normal = unit(way)
        if gap <= EQUAL * size:  # the cores cross: out across both, on the side of the centre
            normal = cross(u, v)
            if dot3(normal, normal) <= EQUAL * EQUAL * dot3(u, u) * dot3(v, v):
                normal = (
                    across(u if dot3(u, u) > dot3(v, v) else v)
                    if dot3(add3(u, v), add3(u, v)) > 0.0
                    else (0.0, 0.0, 1.0)
                )
            centre = subtract3(scale_add3(p, 0.5, u), scale_add3(q, 0.5, v))
            normal = scale_add3(NONE, math.copysign(1.0, dot3(normal, centre)), unit(normal))
        count = add_candidate(space, count, x, normal, gap, True, TOGETHER * size)
    return count


@shared
def edge_contact(
    shapes: Array,
    posed: Array,
    core: int,
    other: int,
    shift: Vector,
    rows: tuple[int, int],
    normal: Vector,
    gap: float,
    size: float,
    space: Array,
) -> int:
    """The contact of two edges across a normal towards the other core, if they cross; returns how many there are."""
    p = vertex(posed, core, int(shapes[rows[0] + solid.EDGE_FROM]))
    u = subtract3(vertex(posed, core, int(shapes[rows[0] + solid.EDGE_TO])), p)
    q = add3(vertex(posed, other, int(shapes[rows[1] + solid.EDGE_FROM])), shift)
    v = subtract3(add3(vertex(posed, other, int(shapes[rows[1] + solid.EDGE_TO])), shift), q)
    s, t = nearest_on_lines(p, u, q, v)
    point = scale_add3(p, s, u)
    off = subtract3(scale_add3(scale_add3(q, t, v), -gap, normal), point)
    if dot3(off, off) > (CROSSED * size) ** 2:
        return 0
    return add_candidate(space, 0, point, scale_add3(NONE, -1.0, normal), gap, True, 0.0)


@shared
def core_contacts(
    shapes: Array, posed: Array, core: int, other: int, shift: Vector, most: float, size: float, space: Array
) -> int:
    """Contacts of two cores with a gap below most, into space; returns their number."""
    if shapes[core + solid.CORE_FACES] == 0.0 and shapes[other + solid.CORE_FACES] == 0.0:
        return line_contacts(shapes, posed, core, other, shift, most, size, space)
    back = scale_add3(NONE, -1.0, shift)
    mine, face = face_separation(shapes, posed, core, other, shift, most)
    if mine >= most:
        return 0
    yours, other_face = face_separation(shapes, posed, other, core, back, most)
    if yours >= most:
        return 0
    between, row, other_row, normal = edge_separation(shapes, posed, core, other, shift, most)
    if between >= most:
        return 0
    over, best, equal = max(mine, yours), max(mine, yours, between), EQUAL * size
    count = 0
    if between > over + equal:
        count = edge_contact(
            shapes, posed, core, other, shift, (row, other_row), normal, between, size, space
        )
    limits = best - TILTED * size, most
    if yours > mine + equal:
        count = face_contacts(shapes, posed, other, core, other_face, back, False, limits, size, count, space)
    else:
        count = face_contacts(shapes, posed, core, other, face, shift, True, limits, size, count, space)
    least = best
    if best > equal:
        least = math.inf
        for k in range(count):
            if space[k, solid.EXACT] != 0.0:
                least = min(least, space[k, solid.GAP])
        if least > best + equal:
            gap, point, way = corner_distance(shapes, posed, core, other, shift)
            reverse, place, to = corner_distance(shapes, posed, other, core, back)
            if reverse < gap:
                gap, point, way = reverse, add3(add3(place, to), shift), scale_add3(NONE, -1.0, to)
            if gap < least:
                least = gap
                if gap < most:
                    normal = scale_add3(NONE, -1.0, unit(way))
                    count = add_candidate(space, count, point, normal, gap, True, 0.0)
    return keep_above(space, count, least, TILTED * size)


@shared
def plane_contacts(
    shapes: Array, posed: Array, core: int, plane: int, shift: Vector, most: float, space: Array
) -> int:
    """Contacts of a core's vertices with a half-space, which shift leads to."""
    normal, count = flat3(posed, plane), 0
    for k in range(int(shapes[core + solid.CORE_VERTICES])):
        point = vertex(posed, core, k)
        gap = dot3(normal, subtract3(point, shift)) - shapes[plane + solid.FACE_OFFSET]
        if gap < most:
            count = add_candidate(space, count, point, normal, gap, True, 0.0)
    return count
