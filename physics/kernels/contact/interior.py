"""Central path to the impulses of contacts with friction: slower on small problems, but robust.

Acary, Armand, Nguyen & Shpakovych (2023): u + mu |u_t| n in the dual cone is a separate variable, the term |u_t| is
linearized with the rest, cones are scaled after Nesterov & Todd (1998). Normal impulses are measured in mu, so that all
cones are |x_t| <= x_n. A weight that shrinks with the gap bounds impulses that oppose each other (bodies wedged between
others).
"""

from __future__ import annotations

import math

from ..algebra.linear import solve_square
from ..algebra.vectors import Array, Vector, dot3
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from . import impulse_layout as solver
from . import sparse_layout as at
from .impulse_layout import combine, push
from .sparse import STALLED, add_unit, load_masses, multiply, side_speeds, speeds_of, triple
from .sparse_fronts import factorize_fronts, solve_fronts

MOST_STEPS = 100
CENTERING, MOST_CENTERING = 0.05, 0.9
CLOSED = 1e-13  # share of the first gap
WEIGHT = 0.01
NEAREST = 1e-4  # share of a cone's determinant that a step preserves; for a single number its root
SHORTER = 0.85
SHORTEST = 1e-4
REFINED = 8  # times a step is solved for without the matrix of rows


@shared
def determinant(x: Vector) -> float:
    """x_n^2 - |x_t|^2, positive inside the cone."""
    length = math.sqrt(x[1] * x[1] + x[2] * x[2])
    return (x[0] - length) * (x[0] + length)


@shared
def moved(row: int, step: int, share: float, mu: float, i: int, space: Array) -> Vector:
    """A contact's triple in a row of space after a share of a step, its normal entry times mu."""
    return (
        mu * (space[row, i] + share * space[step, i]),
        space[row, i + 1] + share * space[step, i + 1],
        space[row, i + 2] + share * space[step, i + 2],
    )


@inline
def direction(x: Vector) -> tuple[float, float]:
    """Direction of the tangential part."""
    length = math.sqrt(x[1] * x[1] + x[2] * x[2])
    if length == 0.0:
        return 0.0, 0.0
    return x[1] / length, x[2] / length


@shared
def start(first: int, cones: int, m: int, space: Array, sparse: Array) -> float:
    """Set equal impulses along the cones' axes, and their duals; returns their size."""
    size = 0.0
    for i in range(first, m):
        size = max(size, abs(space[solver.RIGHT, i]) * space[solver.SCALE, i])
    for i in range(first, m):
        space[solver.IMPULSE, i] = space[solver.DUAL, i] = 0.0
        space[solver.STEP, i] = space[solver.RISE, i] = space[solver.DUAL_STEP, i] = 0.0
        if space[solver.SCALE, i] > 0.0 and (i >= cones or (i - first) % 3 == 0):
            space[solver.IMPULSE, i] = size / space[solver.FRICTION, i] if i < cones else size
            space[solver.DUAL, i] = size / space[solver.SCALE, i]
    speeds_of(first, m, space, sparse)
    return size


@shared
def scaling(i: int, space: Array) -> tuple[float, Vector]:
    """h and w, of determinant 1, of the matrix h (2 w w^T - J), J = diag(1, -1, -1), that scales a contact's cone."""
    mu = space[solver.FRICTION, i]
    x, z = (
        moved(solver.IMPULSE, solver.STEP, 0.0, mu, i, space),
        moved(solver.DUAL, solver.DUAL_STEP, 0.0, 1.0, i, space),
    )
    a, b = 1.0 / math.sqrt(determinant(x)), 1.0 / math.sqrt(determinant(z))
    half = 1.0 / math.sqrt(2.0 * (1.0 + a * b * (x[0] * z[0] + x[1] * z[1] + x[2] * z[2])))
    w = half * (a * x[0] + b * z[0]), half * (b * z[1] - a * x[1]), half * (b * z[2] - a * x[2])
    return a / b, w


@shared
def slip_direction(i: int, space: Array) -> tuple[float, float]:
    """Direction in which a contact's dual says that it slips."""
    return direction(moved(solver.DUAL, solver.DUAL, 0.0, 1.0, i, space))


@shared
def right_side(i: int, width: int, target: float, weight: float, space: Array) -> Vector:
    """Right side of a contact's three equations, or of a single row's."""
    base = -space[solver.SPEED, i] - weight * space[solver.IMPULSE, i]
    if width == 1:
        return base + target / space[solver.IMPULSE, i], 0.0, 0.0
    mu = space[solver.FRICTION, i]
    x = moved(solver.IMPULSE, solver.STEP, 0.0, mu, i, space)
    dx = determinant(x)
    c, d = slip_direction(i, space)
    slip = c * space[solver.SPEED, i + 1] + d * space[solver.SPEED, i + 2]
    return (
        base + mu * (target * x[0] / dx - slip),
        -space[solver.SPEED, i + 1] - weight * space[solver.IMPULSE, i + 1] - target * x[1] / dx,
        -space[solver.SPEED, i + 2] - weight * space[solver.IMPULSE, i + 2] - target * x[2] / dx,
    )


@shared
def add_cone(i: int, k: int, n: int, space: Array, top: int) -> None:
    """Add the cone of the contact at row i to the linear system, at its rows from k on."""
    mu = space[solver.FRICTION, i]
    h, (w0, w1, w2) = scaling(i, space)
    space[top + k, k] += h * mu * mu * (2.0 * w0 * w0 - 1.0)
    space[top + k, k + 1] += 2.0 * h * mu * w0 * w1
    space[top + k, k + 2] += 2.0 * h * mu * w0 * w2
    space[top + k + 1, k] += 2.0 * h * mu * w0 * w1
    space[top + k + 2, k] += 2.0 * h * mu * w0 * w2
    space[top + k + 1, k + 1] += h * (2.0 * w1 * w1 + 1.0)
    space[top + k + 1, k + 2] += 2.0 * h * w1 * w2
    space[top + k + 2, k + 1] += 2.0 * h * w1 * w2
    space[top + k + 2, k + 2] += h * (2.0 * w2 * w2 + 1.0)
    c, d = slip_direction(i, space)
    for j in range(n):
        space[top + k, j] += mu * (
            c * space[solver.VECTORS + i + 1, i - k + j] + d * space[solver.VECTORS + i + 2, i - k + j]
        )


@shared
def full_step(first: int, cones: int, m: int, target: float, weight: float, space: Array) -> None:
    """Changes of impulses and of speeds by the matrix of rows."""
    top, n, i = solver.VECTORS + m, m - first, first
    for i in range(first, m):
        alive = space[solver.SCALE, i] > 0.0
        for j in range(n):
            space[top + i - first, j] = space[solver.VECTORS + i, first + j] if alive else 0.0
        space[top + i - first, i - first] += weight if alive else 1.0
        space[solver.TRIAL, i - first] = space[solver.RISE, i] = 0.0
    i = first
    while i < m:
        width = 3 if i < cones else 1
        if space[solver.SCALE, i] > 0.0:
            right, k = right_side(i, width, target, weight, space), i - first
            for j in range(width):
                space[solver.TRIAL, k + j] = right[j]
            if width == 3:
                add_cone(i, k, n, space, top)
            else:
                space[top + k, k] += space[solver.DUAL, i] / space[solver.IMPULSE, i]
        i += width
    solve_square(space, top, n, space[solver.TRIAL])
    for i in range(first, m):
        space[solver.STEP, i] = space[solver.TRIAL, i - first]
        push(i, space[solver.STEP, i], first, m, space, solver.RISE)


@shared
def impulses_of(i: int, width: int, weight: float, right: Vector, space: Array) -> Vector:
    """Impulses of a contact, or a single row, with these right sides of its equations, and no speeds: (H + weight)^-1,
    with G = H^-1 as (1 + weight G)^-1 G, since H is large where G is small and the other way round.
    """
    if width == 1:
        return right[0] / (weight + space[solver.DUAL, i] / space[solver.IMPULSE, i]), 0.0, 0.0
    h, (a, b, c) = scaling(i, space)
    mu = space[solver.FRICTION, i]
    u, v, w = (2.0 * a * a - 1.0) / (h * mu * mu), -2.0 * a * b / (h * mu), -2.0 * a * c / (h * mu)
    x, y, z = (2.0 * b * b + 1.0) / h, 2.0 * b * c / h, (2.0 * c * c + 1.0) / h
    first = u * right[0] + v * right[1] + w * right[2]
    second = v * right[0] + x * right[1] + y * right[2]
    third = w * right[0] + y * right[1] + z * right[2]
    u, v, w = 1.0 + weight * u, weight * v, weight * w
    x, y, z = 1.0 + weight * x, weight * y, 1.0 + weight * z
    p, q, r = x * z - y * y, w * y - v * z, v * y - w * x
    whole = 1.0 / (u * p + v * q + w * r)
    s, t, o = u * z - w * w, v * w - u * y, u * x - v * v
    return (
        whole * (p * first + q * second + r * third),
        whole * (q * first + s * second + t * third),
        whole * (r * first + t * second + o * third),
    )


@shared
def with_slip(i: int, width: int, u: Vector, space: Array) -> Vector:
    """Speeds u of a contact, its normal one with mu times the slip."""
    if width == 1:
        return u
    c, d = slip_direction(i, space)
    return u[0] + space[solver.FRICTION, i] * (c * u[1] + d * u[2]), u[1], u[2]


@shared
def misses(i: int, width: int, target: float, weight: float, space: Array) -> Vector:
    """What a contact's equations miss at the present step and its rise of speeds."""
    right = right_side(i, width, target, weight, space)
    s = triple(solver.STEP, i, width, space)
    u = with_slip(i, width, triple(solver.RISE, i, width, space), space)
    if width == 1:
        own = (weight + space[solver.DUAL, i] / space[solver.IMPULSE, i]) * s[0]
        return right[0] - u[0] - own, 0.0, 0.0
    h, (a, b, c) = scaling(i, space)
    mu = space[solver.FRICTION, i]
    along = 2.0 * h * (a * mu * s[0] + b * s[1] + c * s[2])
    return (
        right[0] - u[0] - weight * s[0] - mu * (a * along - h * mu * s[0]),
        right[1] - u[1] - weight * s[1] - b * along - h * s[1],
        right[2] - u[2] - weight * s[2] - c * along - h * s[2],
    )


@shared
def sparse_step(count: int, cones: int, m: int, target: float, weight: float, sparse: Array) -> bool:
    """As `full_step`, without the matrix of rows: with a contact's equations E J v + B s = r for speeds v of the
    coordinates, (M + J^T B^-1 E J) v = J^T B^-1 r and s = B^-1 (r - E J v). False where the system cannot be solved.
    """
    space, side, (values, columns, spans) = (
        sparse[at.VECTOR_ROWS],
        sparse[at.MOTIONS][at.SIDE],
        sparse[at.JACOBIAN],
    )
    load_masses(count, sparse)
    i, trees, row_of = 0, sparse[at.TREES], sparse[at.UNITS]
    while i < m:
        width = 3 if i < cones else 1
        if space[solver.SCALE, i] > 0.0:
            columns_of = (
                impulses_of(i, width, weight, with_slip(i, width, (1.0, 0.0, 0.0), space), space),
                impulses_of(i, width, weight, with_slip(i, width, (0.0, 1.0, 0.0), space), space),
                impulses_of(i, width, weight, with_slip(i, width, (0.0, 0.0, 1.0), space), space),
            )
            add_unit(i, width, columns_of[0], columns_of[1], columns_of[2], sparse)
        i += width
    if not factorize_fronts(count, trees, sparse[at.LISTS], sparse[at.FRONTS], side):
        return False
    for j in range(m):
        space[solver.STEP, j] = space[solver.RISE, j] = 0.0
    last = math.inf
    for _ in range(REFINED):
        total = 0.0
        for number in range(count):
            for j in range(trees[number, at.QUEUE], trees[trees[number, at.QUEUE], at.TREE_STOP]):
                side[j] = 0.0
        i = 0
        while i < m:
            width = 3 if i < cones else 1
            if space[solver.SCALE, i] > 0.0:
                off = misses(i, width, target, weight, space)
                total += space[solver.SCALE, i] ** 2 * dot3(off, off)
                g = impulses_of(i, width, weight, off, space)
                for j in range(width):
                    k = row_of[i + j, at.UNIT_ROW]
                    space[solver.TRIAL, i + j] = g[j]
                    for c in range(spans[k, con.SPAN_COUNT]):
                        side[columns[k, c]] += values[k, c] * g[j]
            i += width
        if not total <= last:  # the last answer made it worse
            combine(solver.STEP, solver.STEP, -1.0, solver.DUAL_STEP, 0, m, space)
            multiply(m, solver.STEP, solver.RISE, sparse)
        if not total <= STALLED * last:
            return True
        last = total
        solve_fronts(count, trees, sparse[at.LISTS], sparse[at.FRONTS], side)
        i = 0
        while i < m:
            width = 3 if i < cones else 1
            if space[solver.SCALE, i] > 0.0:
                u = with_slip(i, width, side_speeds(i, width, sparse), space)
                taken = impulses_of(i, width, weight, u, space)
                for j in range(width):
                    space[solver.DUAL_STEP, i + j] = space[solver.TRIAL, i + j] - taken[j]
                    space[solver.STEP, i + j] += space[solver.DUAL_STEP, i + j]
            i += width
        multiply(m, solver.STEP, solver.RISE, sparse)
    return True


@shared
def path_step(
    first: int, cones: int, m: int, target: float, weight: float, space: Array, trees: int, sparse: Array
) -> bool:
    """Changes of impulses, speeds and duals towards the point of the path where impulse times dual is target; False
    where there are none.
    """
    if sparse is None:
        full_step(first, cones, m, target, weight, space)
    elif not sparse_step(trees, cones, m, target, weight, sparse):
        return False
    for i in range(first, m):
        after = (
            space[solver.SPEED, i]
            + space[solver.RISE, i]
            + weight * (space[solver.IMPULSE, i] + space[solver.STEP, i])
        )
        space[solver.DUAL_STEP, i] = after - space[solver.DUAL, i]
        if i < cones and (i - first) % 3 == 0:
            c, d = slip_direction(i, space)
            slip = c * (space[solver.SPEED, i + 1] + space[solver.RISE, i + 1])
            slip += d * (space[solver.SPEED, i + 2] + space[solver.RISE, i + 2])
            space[solver.DUAL_STEP, i] = after / space[solver.FRICTION, i] + slip - space[solver.DUAL, i]
    return True


@shared
def stays_inside(first: int, cones: int, m: int, share: float, space: Array) -> bool:
    """Whether impulses and duals stay inside their cones for a share of their step."""
    for i in range(first, cones, 3):
        if space[solver.SCALE, i] > 0.0:
            mu = space[solver.FRICTION, i]
            x, z = (
                moved(solver.IMPULSE, solver.STEP, share, mu, i, space),
                moved(solver.DUAL, solver.DUAL_STEP, share, 1.0, i, space),
            )
            least_x = NEAREST * determinant(moved(solver.IMPULSE, solver.STEP, 0.0, mu, i, space))
            least_z = NEAREST * determinant(moved(solver.DUAL, solver.DUAL_STEP, 0.0, 1.0, i, space))
            if not (x[0] > 0.0 and z[0] > 0.0 and determinant(x) > least_x and determinant(z) > least_z):
                return False
    root = math.sqrt(NEAREST)
    for i in range(cones, m):
        if space[solver.SCALE, i] > 0.0:
            if not (
                space[solver.IMPULSE, i] + share * space[solver.STEP, i] > root * space[solver.IMPULSE, i]
            ):
                return False
            if not (
                space[solver.DUAL, i] + share * space[solver.DUAL_STEP, i] > root * space[solver.DUAL, i]
            ):
                return False
    return True


@shared
def follow_path(first: int, cones: int, m: int, space: Array, trees: int, sparse: Array) -> None:
    """Follow the path from zero to impulses and speeds as near to its end as round-off allows; sparse: as of
    `impulses.approach`.
    """
    size = start(first, cones, m, space, sparse)
    widest, centering = 0.0, CENTERING
    for _ in range(MOST_STEPS):
        gap, blocks = 0.0, 0
        for i in range(first, m):
            normal = i < cones and (i - first) % 3 == 0
            gap += (
                space[solver.IMPULSE, i]
                * space[solver.DUAL, i]
                * (space[solver.FRICTION, i] if normal else 1.0)
            )
            if space[solver.SCALE, i] > 0.0 and (normal or i >= cones):
                blocks += 1
        gap /= max(blocks, 1)
        widest = max(widest, gap)
        if gap <= CLOSED * widest:
            return
        weight, share = WEIGHT * gap / (size * size), 1.0
        if not path_step(first, cones, m, centering * gap, weight, space, trees, sparse):
            return
        while share > SHORTEST and not stays_inside(first, cones, m, share, space):
            share *= SHORTER
        if share <= SHORTEST:
            return
        centering = max(CENTERING, min(MOST_CENTERING, 1.0 - share))
        combine(solver.IMPULSE, solver.IMPULSE, share, solver.STEP, first, m, space)
        combine(solver.SPEED, solver.SPEED, share, solver.RISE, first, m, space)
        combine(solver.DUAL, solver.DUAL, share, solver.DUAL_STEP, first, m, space)
