"""The path over one curved obstacle: line, geodesic, line, by Newton's method for lines tangent to the geodesic.

The geodesic's beginning varies along itself, aside, and in direction, and its length varies (the natural variations of
Scholz et al. 2016); Jacobi fields propagate these to its end.
"""

import math

from ..algebra.access import flat3
from ..algebra.axes import put3
from ..algebra.vectors import Array, Vector, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .jacobi import (
    ASIDE,
    ENDED,
    FIELDS,
    LINE,
    SLOPES,
    TANGENT,
    fields_by,
    march,
    misses,
    moved_by,
    set_terms,
    solvable,
    turned_tangent,
)
from .surface import TURN, gradient_of, on_level

ZERO = (0.0, 0.0, 0.0)
MOST_ITERATIONS = 25
MOST_HALVINGS = 10
STUCK = 0.99  # a step that leaves so much of the error is the last
LARGEST_TURN = 0.5
COARSE = 1.5  # [rad] a step far from the solution
CLOSE = 1e-3  # of the path: from here on steps are fine
NEAR = 1e-10  # of the path: after a step of Newton's method below this only round-off remains


@shared
def eliminate(space: Array, at: int, n: int, width: int) -> float:
    """Gauss-Jordan with row pivots on n rows of `width` numbers: the right sides after column n become solutions.
    Returns the determinant, 0 where the matrix is singular.
    """
    determinant = 1.0
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(space[at + i * width + k]) > abs(space[at + best * width + k]):
                best = i
        pivot = space[at + best * width + k]
        if pivot == 0.0 or not abs(pivot) < 1e300:
            return 0.0
        determinant *= pivot if best == k else -pivot
        for j in range(width):
            kept = space[at + best * width + j] / pivot
            space[at + best * width + j] = space[at + k * width + j]
            space[at + k * width + j] = kept
        for i in range(n):
            share = space[at + i * width + k]
            if i != k and share != 0.0:
                for j in range(k, width):
                    space[at + i * width + j] -= share * space[at + k * width + j]
    return determinant


@inline
def in_level(kind: int, size: Vector, level: float, x: Vector, t: Vector) -> tuple[Vector, Vector]:
    """The point of the level near x, and the unit tangent there along t."""
    x = on_level(kind, size, level, x)
    g, _, _ = gradient_of(kind, size, x, ZERO, ZERO)
    t = scale_add3(t, -dot3(t, g) / dot3(g, g), g)
    length = math.sqrt(dot3(t, t))
    return x, (t[0] / length, t[1] / length, t[2] / length)


@shared
def shoot(
    kind: int, size: Vector, own: Array, x: Vector, t: Vector, arc: float, turn: float, p: Vector, q: Vector
) -> float:
    """STATE and TERMS of the geodesic of this length from x along t, and by how much both lines miss it; 1e300 where
    that fails.
    """
    if not (abs(arc) < 1e300 and march(kind, size, own, x, t, arc, turn)):
        return 1e300
    end, at = wrap.STATE, wrap.TERMS + ASIDE
    miss = set_terms(kind, size, own, (x, t), (flat3(own, end), flat3(own, end + TANGENT)), p, q)
    own[at], own[at + 1] = own[end + FIELDS], own[end + FIELDS + 1]
    own[at + 2], own[at + 3] = own[end + SLOPES], own[end + SLOPES + 1]
    return miss if miss < 1e300 and solvable(own) else 1e300


@shared
def find_geodesic(kind: int, size: Vector, own: Array, p: Vector, q: Vector) -> bool:
    """Newton's method from BEGINNING, which becomes the solution's."""
    level = own[wrap.LEVEL]
    x, t = in_level(kind, size, level, flat3(own, wrap.BEGINNING), flat3(own, wrap.BEGINNING + 3))
    arc, turning = own[wrap.BEGINNING + 6], COARSE
    error = shoot(kind, size, own, x, t, arc, turning, p, q)
    scale = math.sqrt(dot3(subtract3(q, p), subtract3(q, p)))
    for _ in range(MOST_ITERATIONS):
        if error == 1e300:
            return False
        along, aside, turn, longer = moved_by(own, misses(own))
        side = flat3(own, wrap.BESIDE)
        change = max(abs(along), abs(aside), abs(longer)) / scale
        if not max(change, abs(turn)) < 1e300:
            return False
        if turning == TURN and max(change, abs(turn)) < NEAR:
            settle_geodesic(kind, size, own, x, t, arc, p, q)
            least = min(own[wrap.ARC], own[wrap.TERMS + LINE], own[wrap.TERMS + ENDED + LINE])
            return bool(error < 1e-7 * scale and least > -1e-9 * scale)
        share = 1.0 / max(1.0, 2.0 * change, abs(turn) / LARGEST_TURN)
        close = turning == TURN or max(change, abs(turn)) < CLOSE
        turning = TURN if close else COARSE
        now, y, w, whole = error, x, t, arc
        for _ in range(MOST_HALVINGS):
            moved = scale_add3(scale_add3(x, share * along, t), share * aside, side)
            y, w = in_level(kind, size, level, moved, scale_add3(t, share * turn, side))
            whole = max(arc + share * longer, -0.25 * scale)
            now = shoot(kind, size, own, y, w, whole, turning, p, q)
            if now < error or close:
                break
            share *= 0.5
        if not (close or now < STUCK * error):
            return False
        error, x, t, arc = now, y, w, whole
    return False


@inline
def settle_geodesic(
    kind: int, size: Vector, own: Array, x: Vector, t: Vector, arc: float, p: Vector, q: Vector
) -> None:
    """The last step of Newton's method at both ends: BEGINNING, contacts, ARC and TERMS."""
    along, aside, turn, longer = moved_by(own, misses(own))
    field, slope = fields_by(own, aside, turn)
    level, ahead = own[wrap.LEVEL], along + longer
    y, w = flat3(own, wrap.STATE), flat3(own, wrap.STATE + TANGENT)
    bend, last_bend = turned_tangent(own, 0, along, aside, turn), turned_tangent(own, 1, ahead, field, slope)
    moved = scale_add3(scale_add3(x, along, t), aside, flat3(own, wrap.BESIDE))
    x, t = in_level(kind, size, level, moved, scale_add3(t, 1.0, bend))
    moved = scale_add3(scale_add3(y, ahead, w), field, flat3(own, wrap.LAST_BESIDE))
    y, w = in_level(kind, size, level, moved, scale_add3(w, 1.0, last_bend))
    set_terms(kind, size, own, (x, t), (y, w), p, q)
    own[wrap.ARC] = arc + longer
    put3(own, wrap.BEGINNING, x)
    put3(own, wrap.BEGINNING + 3, t)
    own[wrap.BEGINNING + 6] = own[wrap.ARC]
    put3(own, wrap.FIRST_POINT, x)
    put3(own, wrap.FIRST_DIRECTION, t)
    put3(own, wrap.LAST_POINT, y)
    put3(own, wrap.LAST_DIRECTION, w)
