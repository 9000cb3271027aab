"""What the workspaces of the impulses' solver hold (see `impulses`)."""

from __future__ import annotations

from ..algebra.spatial import Array
from ..compiler.jit import shared

# rows of space: vectors, then the responses W (without the equalities), then the matrix of a linear step,
# then the equalities' factor with the other rows' answers to it
(
    RIGHT,
    IMPULSE,
    SPEED,
    STEP,
    RISE,  # change of speeds that a step brings
    SCALE,
    FRICTION,
    TRIAL,
    TRIAL_SPEED,
    DUAL,
    DUAL_STEP,
    KEPT,
    HOLD,  # weights that keep impulses where they are along what makes no motion
) = range(13)
VECTORS = 13

EXACT = 1e-14  # share of the impulses that a defect is round-off at
ENOUGH = 1e-10  # where round-off, or rows that say the same, let Newton's steps win little more

# thirds of order: rows of the problem, what they do, those that act
OPEN, STICK, SLIDE = 0, 1, 2


def impulse_space(rows: int) -> tuple[tuple[int, int], int]:
    """Shape of `space` and length of `order` for problems of at most so many rows."""
    return (VECTORS + 3 * rows, rows), 3 * rows


@shared
def push(i: int, change: float, first: int, m: int, space: Array, into: int) -> None:
    """Add to the speeds in a vector of space what a change of impulse i brings."""
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
    """Of all rows, from their impulses."""
    for i in range(first, m):
        space[SPEED, i] = space[RIGHT, i]
    for i in range(first, m):
        push(i, space[IMPULSE, i], first, m, space, SPEED)
