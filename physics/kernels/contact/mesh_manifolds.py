"""Contacts of a core with the triangles of a surface that is solid behind."""

from __future__ import annotations

import math

from ..algebra.access import flat3, load3
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import Array, Rotation, Vector, cross, dot3, subtract3
from ..compiler.jit import inline, shared
from . import collider_layout as solid
from .candidates import foot, take, thin_out
from .cores import face_row, turn_core, unit, vertex
from .manifolds import TOGETHER, core_contacts, face_beyond, loop_entry, loop_vertex

# A triangle may rise above the plane of a contact at it by this sine of an angle: bodies that rest on it tilt.
LEANING = 0.03


@inline
def on_triangle(shapes: Array, triangle: int, point: Vector, apart: float) -> bool:
    """Whether a point is on a triangle, both in the link frame."""
    row = face_row(shapes, triangle, 0)
    normal, found = flat3(shapes, row), True
    for k in range(3):
        start = loop_vertex(shapes, shapes, triangle, row, k)
        along = subtract3(loop_vertex(shapes, shapes, triangle, row, k + 1), start)
        way = subtract3(point, start)
        found &= abs(dot3(normal, way)) <= apart and dot3(unit(cross(along, normal)), way) <= apart
    return found


@shared
def is_summit(shapes: Array, mesh: int, point: Vector, normal: Vector, apart: float) -> bool:
    """Whether no triangle at a point of the mesh rises above the plane through it with this normal, in the link frame:
    else the contact is one of an inner edge, beyond which the surface continues.
    """
    tree, rows = int(shapes[mesh + solid.CORE_FACE_ROWS]), int(shapes[mesh + solid.CORE_EDGE_ROWS])
    node, count = 0, int(shapes[tree])
    while node < count:
        at_node = tree + 1 + node * solid.NODE_WIDTH
        if is_apart(shapes, at_node, point, point, apart):
            node = int(shapes[at_node + solid.NODE_SKIP])
            continue
        first = int(shapes[at_node + solid.NODE_FIRST])
        for t in range(first, first + int(shapes[at_node + solid.NODE_COUNT])):
            triangle = rows + t * solid.TRIANGLE_WIDTH
            if on_triangle(shapes, triangle, point, apart):
                for k in range(3):
                    way = subtract3(vertex(shapes, triangle, k), point)
                    if dot3(normal, way) > LEANING * math.sqrt(dot3(way, way)) + apart:
                        return False
        node += 1
    return True


@inline
def is_apart(shapes: Array, at_node: int, lower: Vector, upper: Vector, most: float) -> bool:
    """Whether bounds are farther than most from those of a node."""
    found = False
    for c in range(3):
        found |= shapes[at_node + solid.NODE_LOWER + c] > upper[c] + most
        found |= shapes[at_node + solid.NODE_UPPER + c] < lower[c] - most
    return found


@inline
def nearer_beyond(shapes: Array, posed: Array, triangle: int, point: Vector, gap: float) -> bool:
    """Whether a point behind a triangle is less deep behind the one beyond a convex edge, or before it."""
    row, found = face_row(shapes, triangle, 0), False
    for k in range(3):
        if shapes[loop_entry(shapes, row, k) + 1] != 0.0:
            start = loop_vertex(shapes, posed, triangle, row, k)
            found |= dot3(face_beyond(shapes, posed, triangle, row, k), subtract3(point, start)) > gap
    return found


@shared
def gather(
    shapes: Array,
    posed: Array,
    mesh: int,
    triangle: int,
    shift: Vector,
    back: Rotation,
    near: int,
    kept: int,
    size: float,
    space: Array,
) -> int:
    """Append contacts of a triangle to those of its mesh; returns how many there are. back: from world axes to those of
    the link.
    """
    part, apart = space.shape[0] // 4, TOGETHER * size
    front = flat3(posed, face_row(shapes, triangle, 0))
    for k in range(near):
        point, normal, gap = load3(space, k, solid.POINT), load3(space, k, solid.NORMAL), space[k, solid.GAP]
        if gap <= -size or (
            gap < 0.0 and nearer_beyond(shapes, posed, triangle, subtract3(point, shift), gap)
        ):
            continue
        again = False
        for j in range(3 * part, 3 * part + kept):
            way = subtract3(foot(space, j), foot(space, k))
            again |= dot3(way, way) <= apart * apart
        if again:
            continue
        place, turned = rotate(back, subtract3(foot(space, k), shift)), rotate(back, normal)
        if dot3(normal, front) < 1.0 - LEANING * LEANING and not is_summit(
            shapes, mesh, place, turned, apart
        ):
            continue
        if kept == part:  # make room
            thin_out(space, 3 * part, kept, size)
            kept = take(space, 3 * part, kept, 3 * part)
        for c in range(solid.SPACE_WIDTH):
            space[3 * part + kept, c] = space[k, c]
        kept += 1
    return kept


@shared
def mesh_contacts(
    shapes: Array,
    posed: Array,
    core: int,
    mesh: int,
    shift: Vector,
    turn: Rotation,
    most: float,
    size: float,
    space: Array,
) -> int:
    """Contacts of a core with the triangles of a mesh near to it, at turn and shift, into space; returns how many."""
    back = transposed(turn)
    lower, upper = (math.inf, math.inf, math.inf), (-math.inf, -math.inf, -math.inf)
    for k in range(int(shapes[core + solid.CORE_VERTICES])):
        x = rotate(back, subtract3(vertex(posed, core, k), shift))
        lower = min(lower[0], x[0]), min(lower[1], x[1]), min(lower[2], x[2])
        upper = max(upper[0], x[0]), max(upper[1], x[1]), max(upper[2], x[2])
    tree, rows = int(shapes[mesh + solid.CORE_FACE_ROWS]), int(shapes[mesh + solid.CORE_EDGE_ROWS])
    node, count, kept = 0, int(shapes[tree]), 0
    while node < count:
        at_node = tree + 1 + node * solid.NODE_WIDTH
        if is_apart(shapes, at_node, lower, upper, most):
            node = int(shapes[at_node + solid.NODE_SKIP])
            continue
        first = int(shapes[at_node + solid.NODE_FIRST])
        for t in range(first, first + int(shapes[at_node + solid.NODE_COUNT])):
            triangle = rows + t * solid.TRIANGLE_WIDTH
            turn_core(shapes, triangle, solid.TRIANGLE_NORMALS, turn, posed)
            near = core_contacts(shapes, posed, core, triangle, shift, most, size, space)
            kept = gather(shapes, posed, mesh, triangle, shift, back, near, kept, size, space)
        node += 1
    for k in range(kept):
        for c in range(solid.SPACE_WIDTH):
            space[k, c] = space[3 * (space.shape[0] // 4) + k, c]
    return kept
