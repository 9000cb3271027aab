"""Impulses of contacts that barely slip: Newton's steps with scales that distinguish slip from sticking."""

from __future__ import annotations

from ..algebra.vectors import Array
from ..compiler.jit import shared
from . import impulse_layout as solver
from .impulse_layout import combine
from .newton import choose, clean_step, defect, descend
from .sparse import speeds_of, step_sparse

SHARPER, MOST_SHARPENINGS = 8.0, 12
MOST_TURNS, MOST_ASTRAY = 15, 4
MOST_IDLE = 3  # sharpenings of a large island that come no nearer


@shared
def magnify(first: int, cones: int, space: Array, by: float) -> None:
    """Multiply the scales of all contacts' tangents, and their weights, by a power of two."""
    for i in range(first, cones):
        if (i - first) % 3 > 0:
            space[solver.SCALE, i] *= by
            space[solver.HOLD, i] *= by


@shared
def sharp_turns(
    first: int, cones: int, m: int, space: Array, order: Array, trees: int, sparse: Array
) -> None:
    """Newton's steps with the present scales. If the defect does not shrink, half a step is taken, a few times: the
    defect may grow before a slip changes its direction.
    """
    patience = MOST_ASTRAY
    for _ in range(MOST_TURNS):
        value, size = defect(first, cones, m, space, solver.IMPULSE, solver.SPEED)
        if value <= solver.EXACT * solver.EXACT * size:
            return
        choose(first, cones, m, space, order)
        if sparse is None:
            clean_step(first, cones, m, space, order)
        else:
            step_sparse(trees, cones, m, order, 0.0, sparse)
        if not descend(first, cones, m, space, value):
            if patience == 0:
                return
            patience -= 1
            combine(solver.IMPULSE, solver.IMPULSE, 0.5, solver.STEP, first, m, space)
            combine(solver.SPEED, solver.SPEED, 0.5, solver.RISE, first, m, space)


@shared
def sharpen(first: int, cones: int, m: int, space: Array, order: Array, trees: int, sparse: Array) -> bool:
    """Newton's steps with ever larger scales of the tangents; if none converges, the nearest impulses and False.
    sparse: as of `impulses.approach`.

    Points of one body that reach the ground from different heights hardly slip: no scale of their responses
    distinguishes this from sticking, but their impulses are on the cone's edge. A larger scale detects smaller slip.
    """
    by, idle = 1.0, 0
    nearest, _ = defect(first, cones, m, space, solver.IMPULSE, solver.SPEED)
    for i in range(first, m):
        space[solver.KEPT, i] = space[solver.IMPULSE, i]
    for _ in range(MOST_SHARPENINGS):
        by *= SHARPER
        magnify(first, cones, space, by)
        sharp_turns(first, cones, m, space, order, trees, sparse)
        magnify(first, cones, space, 1.0 / by)
        value, size = defect(first, cones, m, space, solver.IMPULSE, solver.SPEED)
        if value <= solver.ENOUGH * solver.ENOUGH * size:
            return True
        idle += 1
        if value < nearest:
            nearest, idle = value, 0
            for i in range(first, m):
                space[solver.KEPT, i] = space[solver.IMPULSE, i]
        if sparse is not None and idle == MOST_IDLE:
            break
    for i in range(first, m):
        space[solver.IMPULSE, i] = space[solver.KEPT, i]
    speeds_of(first, m, space, sparse)
    return False
