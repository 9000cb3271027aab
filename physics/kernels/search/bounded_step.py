"""One damped least-squares step within limits.

Bounds of single coordinates are handled by elimination, limits that are functions of three (of rotations and Euler
angles) by a stiff spring along their gradient; a primal-dual active set finds which of them act.
"""

import math

from .. import layout as at
from ..algebra.access import store3
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..forces.limits import limit_value
from . import layout as search

# step [rad] of the differences for a limit's curvature
DIFFERENCE = 1e-5
# a limit's spring, relative to the largest entry of the normal equations: its error is corrected after each step
STIFF = 1e7
# after this many exchanges nothing leaves the active set any more, so that the loop ends
EXCHANGES = 6
# tolerance [rad] of limits of several coordinates
INSIDE = 1e-12


@shared
def read_limits(data: Array, q: Array, limits: Array) -> float:
    """Values and gradients of the limits of several coordinates; returns the least value."""
    least = math.inf
    for k in range(limits.shape[0]):
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        if data[row + at.LIMIT_KIND] <= at.LIMIT_UPPER:  # included in the bounds of their coordinate
            limits[k, search.VALUE] = math.inf
            continue
        value, gradient, _ = limit_value(data, row, q)
        limits[k, search.VALUE] = value
        store3(limits, k, search.SLOPE, gradient)
        least = min(least, value)
    return least


@shared
def read_bends(data: Array, q: Array, limits: Array) -> None:
    """Size of the second derivative of each active limit, from differences of its gradient."""
    for k in range(limits.shape[0]):
        limits[k, search.BEND] = 0.0
        if limits[k, search.ACTS] == 0.0:
            continue
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        first = int(data[row + at.LIMIT_DOF])
        square = 0.0
        for i in range(3):
            kept = q[first + i]
            q[first + i] = kept + DIFFERENCE
            _, gradient, _ = limit_value(data, row, q)
            q[first + i] = kept
            for j in range(3):
                square += ((gradient[j] - limits[k, search.SLOPE + j]) / DIFFERENCE) ** 2
        limits[k, search.BEND] = math.sqrt(square)


@shared
def bring_inside(data: Array, bounds: Array, q: Array, limits: Array) -> float:
    """Clamp coordinates to their bounds, then move them slightly into the other limits; returns the least value of
    these.
    """
    for d in range(q.shape[0]):
        q[d] = min(max(q[d], bounds[d, search.BOUND_LOWER]), bounds[d, search.BOUND_UPPER])
    if limits.shape[0] == 0:
        return 0.0
    least = 0.0
    for _ in range(20):
        least = min(read_limits(data, q, limits), 0.0)
        if least >= -INSIDE:
            break
        for k in range(limits.shape[0]):
            square = (
                limits[k, search.SLOPE] ** 2
                + limits[k, search.SLOPE + 1] ** 2
                + limits[k, search.SLOPE + 2] ** 2
            )
            if limits[k, search.VALUE] >= 0.0 or square == 0.0:
                continue
            d = int(data[int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH + at.LIMIT_DOF])
            for j in range(3):
                q[d + j] -= limits[k, search.VALUE] * limits[k, search.SLOPE + j] / square
            # of two limits on one rotation, the second is evaluated after the first has moved it
            least = min(read_limits(data, q, limits), 0.0)
    return least


@shared
def damped_system(
    data: Array, damping: float, normal: Array, system: Array, vectors: Array, limits: Array
) -> None:
    """The normal equations with damping and the springs of the active limits."""
    nv = normal.shape[0]
    largest = 0.0
    for d in range(nv):
        for e in range(nv):
            system[d, e] = normal[d, e]
        system[d, d] += damping * vectors[search.SCALE, d]
        vectors[search.RIGHT, d] = vectors[search.GRADIENT, d]
        largest = max(largest, system[d, d])
    spring = STIFF * largest
    for k in range(limits.shape[0]):
        if limits[k, search.ACTS] == 0.0:
            continue
        d = int(data[int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH + at.LIMIT_DOF])
        for i in range(3):
            push = spring * limits[k, search.SLOPE + i]
            vectors[search.RIGHT, d + i] -= push * limits[k, search.VALUE]
            for j in range(3):
                system[d + i, d + j] += push * limits[k, search.SLOPE + j]
            # a long step leaves a curved limit: add damping equal to the limit's force times its curvature
            system[d + i, d + i] += limits[k, search.PUSH] * limits[k, search.BEND]
        limits[k, search.SPRING] = spring


@shared
def solve_free(q: Array, bounds: Array, system: Array, factor: Array, vectors: Array, indices: Array) -> None:
    """The step: bound coordinates go to their bound, the free ones are solved for (Cholesky's factors)."""
    count = 0
    for d in range(q.shape[0]):
        if indices[search.BINDING, d] == search.FREE:
            indices[search.INVOLVED, count] = d
            count += 1
        elif indices[search.BINDING, d] == search.AT_LOWER:
            vectors[search.STEP, d] = bounds[d, search.BOUND_LOWER] - q[d]
        else:
            vectors[search.STEP, d] = bounds[d, search.BOUND_UPPER] - q[d]
    for a in range(count):
        d = indices[search.INVOLVED, a]
        x = vectors[search.RIGHT, d]
        for e in range(q.shape[0]):
            if indices[search.BINDING, e] != search.FREE:
                x -= system[d, e] * vectors[search.STEP, e]
        for b in range(a):
            entry = system[d, indices[search.INVOLVED, b]]
            for c in range(b):
                entry -= factor[a, c] * factor[b, c]
            factor[a, b] = entry / factor[b, b]
            x -= factor[a, b] * vectors[search.STEP, indices[search.INVOLVED, b]]
        entry = system[d, d]
        for c in range(a):
            entry -= factor[a, c] * factor[a, c]
        # damping keeps this positive up to round-off
        factor[a, a] = math.sqrt(max(entry, 1e-15 * system[d, d] + 1e-300))
        vectors[search.STEP, d] = x / factor[a, a]
    for a in range(count - 1, -1, -1):
        x = vectors[search.STEP, indices[search.INVOLVED, a]]
        for b in range(a + 1, count):
            x -= factor[b, a] * vectors[search.STEP, indices[search.INVOLVED, b]]
        vectors[search.STEP, indices[search.INVOLVED, a]] = x / factor[a, a]


@shared
def exchange_bounds(
    q: Array, bounds: Array, system: Array, vectors: Array, indices: Array, release: bool
) -> bool:
    """Bind coordinates that the step takes out of their bounds, release those that it would move inside."""
    changed = False
    for d in range(q.shape[0]):
        lower, upper = bounds[d, search.BOUND_LOWER], bounds[d, search.BOUND_UPPER]
        if indices[search.BINDING, d] == search.FREE:
            there = q[d] + vectors[search.STEP, d]
            if there < lower:
                indices[search.BINDING, d] = search.AT_LOWER
                changed = True
            elif there > upper:
                indices[search.BINDING, d] = search.AT_UPPER
                changed = True
        elif release and lower < upper:
            push = vectors[search.RIGHT, d]
            for e in range(q.shape[0]):
                push -= system[d, e] * vectors[search.STEP, e]
            if (indices[search.BINDING, d] == search.AT_LOWER and push > 0.0) or (
                indices[search.BINDING, d] == search.AT_UPPER and push < 0.0
            ):
                indices[search.BINDING, d] = search.FREE
                changed = True
    return changed


@shared
def exchange_limits(data: Array, vectors: Array, limits: Array, release: bool) -> bool:
    """Activate limits that the step would violate, and deactivate those that would pull."""
    changed = False
    for k in range(limits.shape[0]):
        if limits[k, search.VALUE] == math.inf:
            continue
        d = int(data[int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH + at.LIMIT_DOF])
        value = limits[k, search.VALUE]
        for j in range(3):
            value += limits[k, search.SLOPE + j] * vectors[search.STEP, d + j]
        limits[k, search.PUSH] = max(-limits[k, search.ACTS] * limits[k, search.SPRING] * value, 0.0)
        if limits[k, search.ACTS] == 0.0 and value < -INSIDE:
            limits[k, search.ACTS] = 1.0
            changed = True
        elif limits[k, search.ACTS] == 1.0 and value > 0.0 and release:
            limits[k, search.ACTS] = 0.0
            changed = True
    return changed


@shared
def bounded_step(
    data: Array,
    damping: float,
    q: Array,
    bounds: Array,
    normal: Array,
    system: Array,
    factor: Array,
    vectors: Array,
    indices: Array,
    limits: Array,
) -> None:
    """The damped step within bounds and linearized limits, shortened to the largest step of each coordinate."""
    most = EXCHANGES + 2 * (q.shape[0] + limits.shape[0])
    for k in range(most):
        damped_system(data, damping, normal, system, vectors, limits)
        solve_free(q, bounds, system, factor, vectors, indices)
        release = k < EXCHANGES
        bound = exchange_bounds(q, bounds, system, vectors, indices, release)
        limited = exchange_limits(data, vectors, limits, release)
        if not (bound or limited):
            break
    share = 1.0
    for d in range(q.shape[0]):
        if abs(vectors[search.STEP, d]) * share > bounds[d, search.MOST_STEP]:
            share = bounds[d, search.MOST_STEP] / abs(vectors[search.STEP, d])
    for d in range(q.shape[0]):
        vectors[search.STEP, d] *= share


@shared
def expected_decrease(normal: Array, vectors: Array) -> float:
    """Decrease of the cost for the step in the linear model."""
    decrease = 0.0
    for d in range(normal.shape[0]):
        bent = 0.0
        for e in range(normal.shape[0]):
            bent += normal[d, e] * vectors[search.STEP, e]
        decrease += vectors[search.STEP, d] * (vectors[search.GRADIENT, d] - 0.5 * bent)
    return decrease
