"""Offsets in the workspaces of the impulse solver (see `impulses`)."""

from __future__ import annotations

from ..algebra.vectors import Array
from ..compiler.jit import shared

# rows of space: vectors, then the responses W (without the equalities), then the matrix of a linear step, then the
# equalities' factor with the other rows' response to them
(
    RIGHT,
    IMPULSE,
    SPEED,
    STEP,
    RISE,  # change of speeds by a step
    SCALE,
    FRICTION,
    TRIAL,
    TRIAL_SPEED,
    DUAL,
    DUAL_STEP,
    KEPT,
    HOLD,  # weights of impulses in directions without motion
) = range(13)
VECTORS = 13

EXACT = 1e-14  # relative residual at round-off
CLOSE = 1e-11  # that of large islands, where last step's impulses are mostly so good
ENOUGH = (
    1e-10  # relative residual beyond which Newton's steps gain little, because of round-off or redundant rows
)

# thirds of order: rows of the problem, their states, active rows
OPEN, STICK, SLIDE = 0, 1, 2


def impulse_space(rows: int) -> tuple[tuple[int, int], int]:
    """Shape of `space` and length of `order` for problems of at most `rows` rows."""
    return (VECTORS + 3 * rows, rows), 3 * rows


@shared
def push(i: int, change: float, first: int, m: int, space: Array, into: int) -> None:
    """Add the effect of a change of impulse i to the speeds in a vector of space."""
    if change != 0.0:
        for j in range(first, m):
            space[into, j] += change * space[VECTORS + i, j]


@shared
def combine(into: int, base: int, share: float, step: int, first: int, m: int, space: Array) -> None:
    """A vector of space as another plus a share of a third."""
    for i in range(first, m):
        space[into, i] = space[base, i] + share * space[step, i]


@shared
def find_speeds(first: int, m: int, space: Array) -> None:
    """Speeds of all rows from their impulses."""
    for i in range(first, m):
        space[SPEED, i] = space[RIGHT, i]
    for i in range(first, m):
        push(i, space[IMPULSE, i], first, m, space, SPEED)
