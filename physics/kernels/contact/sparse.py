"""Contacts and one-sided rows of a large island without the matrix of its rows.

Speeds come from velocities of coordinates: the cost of a product is that of the Jacobian's entries. A linear step of
`newton` is M v = J^T s with the chosen states' law s = g - K J v for each contact, so (M + J^T K J) v = J^T g: a matrix
of coordinates with a block for each two trees that touch. Equations of
sticking are softened by SOFT and solved again for what they miss (proximal method of multipliers, Rockafellar 1976),
so that rows that say the same do no harm (as Carpentier, Budhiraja & Mansard 2021 for constraints).
"""

from __future__ import annotations

import math
from typing import TypeAlias

from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from . import impulse_layout as solver
from . import sparse_layout as at
from .cone import project_on_cone, solve_contact
from .impulse_layout import combine, find_speeds
from .newton import PROXIMAL, aim, forget_factors
from .sparse_fronts import factorize_fronts, solve_fronts

# of a contact's equations, see `law_of`
Law: TypeAlias = tuple[float, float, float, float]

SOFT = 1e-6
MOST_REFINEMENTS = 6
SETTLED, STALLED = 1e-15, 0.25  # of the squares' sum before
# A linear step may miss this share of what it began with: less gains nothing before the states are right.
LOOSE = 1e-3


@inline
def drive(i: int, amount: float, sparse: Array) -> None:
    """Add an impulse's effect to the velocities."""
    (response, ranges), motion, k, into = (
        sparse[at.RESPONSE],
        sparse[at.MOTIONS][at.MOTION],
        sparse[at.UNITS][i, at.UNIT_ROW],
        0,
    )
    for side in (0, con.RANGE):
        for d in range(ranges[k, side], ranges[k, side + con.RANGE_END]):
            motion[d] += amount * response[k, into]
            into += 1


@inline
def speed_of(i: int, sparse: Array) -> float:
    """Speed of a row by the velocities."""
    (values, columns, spans), motion, k = (
        sparse[at.JACOBIAN],
        sparse[at.MOTIONS][at.MOTION],
        sparse[at.UNITS][i, at.UNIT_ROW],
    )
    total = 0.0
    for c in range(spans[k, con.SPAN_COUNT]):
        total += values[k, c] * motion[columns[k, c]]
    return total


@inline
def stop_motion(m: int, sparse: Array) -> None:
    """Clear the velocities of the island's trees."""
    (_, ranges), motion, row_of = sparse[at.RESPONSE], sparse[at.MOTIONS][at.MOTION], sparse[at.UNITS]
    for i in range(m):
        for side in (0, con.RANGE):
            for d in range(
                ranges[row_of[i, at.UNIT_ROW], side], ranges[row_of[i, at.UNIT_ROW], side + con.RANGE_END]
            ):
                motion[d] = 0.0


@shared
def multiply(m: int, impulses: int, speeds: int, sparse: Array) -> None:
    """Speeds by impulses alone, both vectors of the island."""
    space = sparse[at.VECTOR_ROWS]
    for i in range(m):
        if space[impulses, i] != 0.0:
            drive(i, space[impulses, i], sparse)
    for i in range(m):
        space[speeds, i] = speed_of(i, sparse)
    stop_motion(m, sparse)


@shared
def prepare_sparse(cones: int, m: int, sparse: Array) -> bool:
    """As `impulses.prepare`, for an island without equalities; also its diagonal blocks."""
    space, blocks, warm, i = sparse[at.VECTOR_ROWS], sparse[at.BLOCKS], False, 0
    while i < m:
        width, mean = 3 if i < cones else 1, 0.0
        for j in range(width):
            drive(i + j, 1.0, sparse)
            for k in range(width):
                blocks[i + k, j] = speed_of(i + k, sparse)
            (_, ranges), row = sparse[at.RESPONSE], sparse[at.UNITS][i + j, at.UNIT_ROW]
            for side in (0, con.RANGE):
                for d in range(ranges[row, side], ranges[row, side + con.RANGE_END]):
                    sparse[at.MOTIONS][at.MOTION][d] = 0.0
            mean += blocks[i + j, j] / width
        x = (space[solver.IMPULSE, i], 0.0, 0.0)
        if width == 3:
            x = (space[solver.IMPULSE, i], space[solver.IMPULSE, i + 1], space[solver.IMPULSE, i + 2])
        x = project_on_cone(x, space[solver.FRICTION, i])
        alive = blocks[i, 0] > 0.0
        for k in range(width):
            space[solver.SCALE, i + k] = 1.0 / mean if alive else 0.0
            space[solver.HOLD, i + k] = PROXIMAL if alive else 0.0
            space[solver.IMPULSE, i + k] = x[k] if alive else 0.0
        warm = warm or space[solver.IMPULSE, i] > 0.0
        i += width
    find_sparse_speeds(m, sparse)
    return warm


@shared
def find_sparse_speeds(m: int, sparse: Array) -> None:
    """Speeds of all rows from their impulses."""
    space = sparse[at.VECTOR_ROWS]
    multiply(m, solver.IMPULSE, solver.SPEED, sparse)
    for i in range(m):
        space[solver.SPEED, i] += space[solver.RIGHT, i]


@shared
def speeds_of(first: int, m: int, space: Array, sparse: Array) -> None:
    """Speeds of all rows from their impulses, with the matrix of rows or without it."""
    if sparse is None:
        find_speeds(first, m, space)
    else:
        find_sparse_speeds(m, sparse)


@shared
def sweep_sparse(cones: int, m: int, times: int, sparse: Array) -> None:
    """As `impulses.sweep`, several times."""
    space, blocks = sparse[at.VECTOR_ROWS], sparse[at.BLOCKS]
    for i in range(m):
        drive(i, space[solver.IMPULSE, i], sparse)
    for _ in range(times):
        for i in range(0, cones, 3):
            if space[solver.SCALE, i] <= 0.0:
                continue
            x = (space[solver.IMPULSE, i], space[solver.IMPULSE, i + 1], space[solver.IMPULSE, i + 2])
            b = (
                space[solver.RIGHT, i] + speed_of(i, sparse),
                space[solver.RIGHT, i + 1] + speed_of(i + 1, sparse),
                space[solver.RIGHT, i + 2] + speed_of(i + 2, sparse),
            )
            for k in range(3):
                b = (
                    b[0] - blocks[i, k] * x[k],
                    b[1] - blocks[i + 1, k] * x[k],
                    b[2] - blocks[i + 2, k] * x[k],
                )
            y = solve_contact(blocks, i, 0, b, space[solver.FRICTION, i])
            for k in range(3):
                drive(i + k, y[k] - x[k], sparse)
                space[solver.IMPULSE, i + k] = y[k]
        for i in range(cones, m):
            if space[solver.SCALE, i] > 0.0:
                speed = space[solver.RIGHT, i] + speed_of(i, sparse)
                y0 = max(space[solver.IMPULSE, i] - space[solver.SCALE, i] * speed, 0.0)
                drive(i, y0 - space[solver.IMPULSE, i], sparse)
                space[solver.IMPULSE, i] = y0
    stop_motion(m, sparse)
    find_sparse_speeds(m, sparse)


@inline
def law_of(i: int, cones: int, space: Array, order: Array) -> tuple[bool, Vector, Law]:
    """Whether a contact slides; direction of its aim and the ratio of the cone's radius to it; scale, coefficient of
    friction, and weight and scale of its sliding across the aim.
    """
    r = space[solver.SCALE, i]
    if i >= cones or order[order.shape[0] // 3 + i] != solver.SLIDE:
        return False, (1.0, 0.0, 1.0), (r, 0.0, 1.0, r)
    x, length = aim(i, space, solver.IMPULSE, solver.SPEED)
    mu = space[solver.FRICTION, i]
    share = mu * x[0] / length
    weight, across = share * SOFT + 1.0 - share, share * space[solver.SCALE, i + 1]
    return True, (x[1] / length, x[2] / length, share), (r, mu, weight, across)


@inline
def miss_of(slides: bool, along: Vector, law: Law, x: Vector, u: Vector) -> Vector:
    """Residual of a contact's equations at impulses x and speeds u (see `newton.newton_step` and `newton.slide`)."""
    (d, e, share), (r, mu, _, scale) = along, law
    if not slides:
        return -r * u[0], -r * u[1], -r * u[2]
    across = scale * (d * u[2] - e * u[1]) + (1.0 - share) * (d * x[2] - e * x[1])
    return -r * u[0], mu * x[0] - d * x[1] - e * x[2], -across


@inline
def give_way(slides: bool, along: Vector, law: Law, miss: Vector) -> Vector:
    """Impulses that the softened equations of a contact ask for what they miss."""
    if not slides:
        return miss[0] / SOFT, miss[1] / SOFT, miss[2] / SOFT
    (d, e, _), (_, mu, weight, _) = along, law
    normal = miss[0] / SOFT
    a, b = mu * normal + miss[1], miss[2] / weight
    return normal, a * d - b * e, a * e + b * d


@inline
def answer_of(slides: bool, along: Vector, law: Law, u: Vector) -> Vector:
    """K u: the part of the softened equations' impulses that speeds take away."""
    (d, e, _), (r, mu, weight, across) = along, law
    stiff = r / SOFT
    if not slides:
        return stiff * u[0], stiff * u[1], stiff * u[2]
    a, b = mu * stiff * u[0], across / weight * (d * u[2] - e * u[1])
    return stiff * u[0], a * d - b * e, a * e + b * d


@inline
def triple(row: int, i: int, width: int, space: Array) -> Vector:
    """A contact's entries in a vector, or a single row's."""
    if width == 1:
        return space[row, i], 0.0, 0.0
    return space[row, i], space[row, i + 1], space[row, i + 2]


@shared
def add_unit(i: int, width: int, first: Vector, one: Vector, two: Vector, sparse: Array) -> None:
    """Add J^T K J of a contact or a single row to a front, by runs of columns that follow each other; first, one, two:
    columns of K.
    """
    (values, columns, spans), units, trees = sparse[at.JACOBIAN], sparse[at.UNITS], sparse[at.TREES]
    front, k, last, home = sparse[at.FRONTS], units[i, at.UNIT_ROW], width - 1, units[i, at.UNIT_FRONT]
    second, third = units[i + min(1, last), at.UNIT_ROW], units[i + last, at.UNIT_ROW]
    tree, other, keep = units[i, at.UNIT_TREE], units[i, at.UNIT_TREE + 1], 1.0 if width == 3 else 0.0
    stop, end = trees[tree, at.TREE_STOP], trees[other, at.TREE_STOP] if other >= 0 else -1
    own, far = units[i, at.UNIT_PLACE] - tree, units[i, at.UNIT_PLACE + 1] - other
    begin, stride, count, e = (
        trees[home, at.TREE_FRONT],
        trees[home, at.TREE_STRIDE],
        spans[k, con.SPAN_COUNT],
        0,
    )
    while e < count:
        d, upto = columns[k, e], e + 1
        here, there = tree <= d < stop, other <= d < end
        limit, place = stop if here else (end if there else d), begin - e + d + (own if here else far)
        while upto < count and columns[k, upto] == d + upto - e and d + upto - e < limit:
            upto += 1
        for c in range(count if here or there else 0):
            i0, j0, k0 = values[k, c], keep * values[second, c], keep * values[third, c]
            if i0 == 0.0 and j0 == 0.0 and k0 == 0.0:
                continue
            a = first[0] * i0 + first[1] * j0 + first[2] * k0
            b = keep * (one[0] * i0 + one[1] * j0 + one[2] * k0)
            g = keep * (two[0] * i0 + two[1] * j0 + two[2] * k0)
            row = place + (columns[k, c] + (own if tree <= columns[k, c] < stop else far)) * stride
            for j in range(e, upto):
                front[row + j] += a * values[k, j] + b * values[second, j] + g * values[third, j]
        e = upto


@shared
def load_masses(count: int, sparse: Array) -> None:
    """Fronts with the trees' mass matrices alone."""
    front, trees = sparse[at.FRONTS], sparse[at.TREES]
    for number in range(count):
        first = trees[number, at.QUEUE]
        own, mass = trees[first, at.TREE_STOP] - first, trees[first, at.TREE_MASS]
        begin, rows, stride = (
            trees[first, at.TREE_FRONT],
            trees[first, at.TREE_ROWS],
            trees[first, at.TREE_STRIDE],
        )
        for j in range(begin, begin + (rows * rows if stride == rows else 0)):
            front[j] = 0.0
        for j in range(own):
            for k in range(own):
                front[begin + j * stride + k] = front[mass + j * own + k]


@shared
def factorize_step(count: int, cones: int, m: int, order: Array, sparse: Array) -> bool:
    """Factors of M + J^T K J for the chosen states, noted in order; False if they cannot be found."""
    space = sparse[at.VECTOR_ROWS]
    load_masses(count, sparse)
    i, states = 0, order.shape[0] // 3
    for j in range(m):
        order[2 * states + j] = order[states + j]
    while i < m:
        width = 3 if i < cones else 1
        if order[states + i] != solver.OPEN and space[solver.SCALE, i] > 0.0:
            slides, along, law = law_of(i, cones, space, order)
            first, one, two = (
                answer_of(slides, along, law, (1.0, 0.0, 0.0)),
                answer_of(slides, along, law, (0.0, 1.0, 0.0)),
                answer_of(slides, along, law, (0.0, 0.0, 1.0)),
            )
            add_unit(i, width, first, one, two, sparse)
        i += width
    solvable: bool = factorize_fronts(
        count, sparse[at.TREES], sparse[at.LISTS], sparse[at.FRONTS], sparse[at.MOTIONS][at.SIDE]
    )
    if not solvable:
        forget_factors(order)
    return solvable


@shared
def step_sparse(count: int, cones: int, m: int, order: Array, centred: float, sparse: Array) -> None:
    """As `newton.newton_step`, without the matrix of rows; no step where its linear system cannot be solved. A centred
    one takes the last factors, from near by: what directions of slip have changed since costs turns of refinement.
    """
    space, trees, side = sparse[at.VECTOR_ROWS], sparse[at.TREES], sparse[at.MOTIONS][at.SIDE]
    values, columns, spans = sparse[at.JACOBIAN]
    states, row_of, last, begun = order.shape[0] // 3, sparse[at.UNITS], math.inf, 0.0
    solvable = centred != 0.0 or factorize_step(count, cones, m, order, sparse)
    for i in range(m):
        gone = order[states + i] == solver.OPEN or centred != 0.0
        space[solver.STEP, i] = -space[solver.IMPULSE, i] if gone and solvable else 0.0
        space[solver.DUAL, i] = 0.0
    for turn in range(MOST_REFINEMENTS + 1):
        multiply(m, solver.STEP, solver.RISE, sparse)
        if turn == MOST_REFINEMENTS or not solvable:
            return
        missed, whole, i = 0.0, 0.0, 0
        for number in range(count):
            for j in range(trees[number, at.QUEUE], trees[trees[number, at.QUEUE], at.TREE_STOP]):
                side[j] = 0.0
        while i < m:
            width = 3 if i < cones else 1
            if order[states + i] != solver.OPEN and space[solver.SCALE, i] > 0.0:
                slides, along, law = law_of(i, cones, space, order)
                x, s = triple(solver.IMPULSE, i, width, space), triple(solver.STEP, i, width, space)
                u, w = triple(solver.SPEED, i, width, space), triple(solver.RISE, i, width, space)
                x = (x[0] + s[0], x[1] + s[1], x[2] + s[2])
                u = (u[0] + w[0], u[1] + w[1], u[2] + w[2])
                miss = miss_of(slides, along, law, x, u)
                g = give_way(slides, along, law, miss)
                for j in range(width):
                    k = row_of[i + j, at.UNIT_ROW]
                    space[solver.DUAL, i + j] = g[j]
                    missed += miss[j] * miss[j]
                    whole += x[j] * x[j]
                    for c in range(spans[k, con.SPAN_COUNT]):
                        side[columns[k, c]] += values[k, c] * g[j]
            i += width
        begun = missed if turn == 0 else begun
        loose = LOOSE if centred == 0.0 and turn > 0 else 0.0
        if missed <= max(SETTLED * SETTLED * whole, loose * loose * begun):
            return
        if missed > STALLED * last:
            # the remaining equations contradict one another; each turn added the same impulses without effect
            combine(solver.STEP, solver.STEP, -float(turn), solver.DUAL, 0, m, space)
            multiply(m, solver.STEP, solver.RISE, sparse)
            return
        last = missed
        solve_fronts(count, trees, sparse[at.LISTS], sparse[at.FRONTS], side)
        take_answers(cones, m, order, sparse)


@shared
def side_speeds(i: int, width: int, sparse: Array) -> Vector:
    """Speeds of a contact, or a single row, by the solution of the coordinates."""
    side, row_of, (values, columns, spans) = (
        sparse[at.MOTIONS][at.SIDE],
        sparse[at.UNITS],
        sparse[at.JACOBIAN],
    )
    k, u = row_of[i, at.UNIT_ROW], (0.0, 0.0, 0.0)
    for c in range(spans[k, con.SPAN_COUNT]):
        v = side[columns[k, c]]
        if width == 3:
            u = (
                u[0] + values[k, c] * v,
                u[1] + values[row_of[i + 1, at.UNIT_ROW], c] * v,
                u[2] + values[row_of[i + 2, at.UNIT_ROW], c] * v,
            )
        else:
            u = (u[0] + values[k, c] * v, 0.0, 0.0)
    return u


@shared
def take_answers(cones: int, m: int, order: Array, sparse: Array) -> None:
    """Add to the step what the answer of the coordinates to its miss is worth."""
    space, states, i = sparse[at.VECTOR_ROWS], order.shape[0] // 3, 0
    while i < m:
        width = 3 if i < cones else 1
        if order[states + i] != solver.OPEN and space[solver.SCALE, i] > 0.0:
            slides, along, law = law_of(i, cones, space, order)
            taken = answer_of(slides, along, law, side_speeds(i, width, sparse))
            for j in range(width):
                space[solver.DUAL, i + j] -= taken[j]
                space[solver.STEP, i + j] += space[solver.DUAL, i + j]
        i += width
