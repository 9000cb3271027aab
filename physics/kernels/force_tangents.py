"""Derivatives of the forces of elements between bodies by coordinates and velocities."""

from __future__ import annotations

from ._jit import jit
from .layout import (
    DAMPING,
    DOF_COUNT,
    DOF_START,
    LIMIT_DAMPING,
    LIMIT_STIFFNESS,
    LOWER,
    PARENT,
    SPRING_COUNT,
    SPRING_DAMPING,
    SPRING_OTHER,
    SPRING_REST,
    SPRING_ROWS,
    SPRING_STIFFNESS,
    SPRING_WIDTH,
    STIFFNESS,
    SUBSPACE,
    UPPER,
    VELOCITY,
)
from .spatial import Array, Twist, Vector, add3, bracket, cross, dot3, dot6, load6, scale_add6
from .springs import ALONE, end_of_spring, spring_length
from .tangent import MOVED, wrench_turned

STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@jit
def passive_slopes(dof_float: Array, d: int, q: float, qd: float) -> tuple[float, float]:
    """Derivatives of `passive.passive_force` by the coordinate and its velocity."""
    by_q, by_qd = -dof_float[d, STIFFNESS], -dof_float[d, DAMPING]
    k, c, push = dof_float[d, LIMIT_STIFFNESS], dof_float[d, LIMIT_DAMPING], 0.0
    if q < dof_float[d, LOWER]:
        push = k * (dof_float[d, LOWER] - q) - c * qd
    elif q > dof_float[d, UPPER]:
        push = k * (q - dof_float[d, UPPER]) + c * qd
    if push > 0.0:
        by_q -= k
        by_qd -= c
    return by_q, by_qd


@jit
def shifted_end(work: Array, body: int, lever: Vector, shift: Twist, rate: Twist) -> tuple[Vector, Vector]:
    """Changes of a body point's position and velocity."""
    if body < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    x = add3((shift[3], shift[4], shift[5]), cross((shift[0], shift[1], shift[2]), lever))
    v = add3((rate[3], rate[4], rate[5]), cross((rate[0], rate[1], rate[2]), lever))
    twist = load6(work, body, VELOCITY)
    return x, add3(v, cross((twist[0], twist[1], twist[2]), x))


@jit
def wrench_at(lever: Vector, x: Vector, f: Vector, df: Vector) -> tuple[Twist, Twist]:
    """Wrench of a force at a lever, and its change where the lever moves by x and the force changes by df."""
    m, dm = cross(lever, f), add3(cross(x, f), cross(lever, df))
    return (m[0], m[1], m[2], f[0], f[1], f[2]), (dm[0], dm[1], dm[2], df[0], df[1], df[2])


@jit
def element_tangent(
    body_int: Array,
    data: Array,
    row: int,
    work: Array,
    first: tuple[Twist, Twist],
    second: tuple[Twist, Twist],
) -> tuple[Twist, Twist, Twist, Twist]:
    """Wrenches on both bodies, and their changes by (displacement, change of velocity) of each."""
    body, other = int(data[row]), int(data[row + SPRING_OTHER])
    a, lever_a, va = end_of_spring(data, row, body_int, work)
    b, lever_b, vb = end_of_spring(data, row + SPRING_OTHER, body_int, work)
    length, u = spring_length(a, b)
    xa, ya = shifted_end(work, body, lever_a, first[0], first[1])
    xb, yb = shifted_end(work, other, lever_b, second[0], second[1])
    x = (xb[0] - xa[0], xb[1] - xa[1], xb[2] - xa[2])
    y = (yb[0] - ya[0], yb[1] - ya[1], yb[2] - ya[2])
    v = (vb[0] - va[0], vb[1] - va[1], vb[2] - va[2])
    along = dot3(u, x)
    inverse = 1.0 / length if length >= ALONE else 0.0
    du = (inverse * (x[0] - along * u[0]), inverse * (x[1] - along * u[1]), inverse * (x[2] - along * u[2]))
    stiffness, damping = data[row + SPRING_STIFFNESS], data[row + SPRING_DAMPING]
    tension = stiffness * (length - data[row + SPRING_REST]) + damping * dot3(u, v)
    change = stiffness * along + damping * (dot3(du, v) + dot3(u, y))
    f = (tension * u[0], tension * u[1], tension * u[2])
    df = (change * u[0] + tension * du[0], change * u[1] + tension * du[1], change * u[2] + tension * du[2])
    wa, dwa = wrench_at(lever_a, xa, f, df)
    wb, dwb = wrench_at(lever_b, xb, (-f[0], -f[1], -f[2]), (-df[0], -df[1], -df[2]))
    return wa, dwa, wb, dwb


@jit
def take_along(body_int: Array, body: int, change: Twist, e: int, slopes: Array, dof: Array) -> None:
    """Take a wrench's change from column e of all coordinates that carry the body."""
    while body >= 0:
        first = body_int[body, DOF_START]
        for d in range(first, first + body_int[body, DOF_COUNT]):
            slopes[d, e] -= dot6(load6(dof, d, SUBSPACE), change)
        body = body_int[body, PARENT]


@jit
def add_element_slopes(
    arrays: tuple[Array, Array, Array, Array, Array],
    by_q: Array,
    by_qd: Array,
    tangent: Array,
    work: Array,
    dof: Array,
) -> None:
    """Take what all elements bring from the derivatives of inverse dynamics, beside their wrenches' turning with the
    bodies, which is there already.

    A coordinate that carries both ends of an element only turns its wrenches with them.
    """
    body_int, _, _, data, _ = arrays
    for k in range(int(data[SPRING_COUNT])):
        row = int(data[SPRING_ROWS]) + k * SPRING_WIDTH
        body, other = int(data[row]), int(data[row + SPRING_OTHER])
        a, b = body, other
        while a != b:
            moving_a = a > b  # parents come first: the later one cannot carry the other
            i = a if moving_a else b
            end = body if moving_a else other
            first = body_int[i, DOF_START]
            for e in range(first, first + body_int[i, DOF_COUNT]):
                s = load6(dof, e, SUBSPACE)
                rate = scale_add6(load6(tangent, e, MOVED), 1.0, bracket(s, load6(work, end, VELOCITY)))
                for way in range(2):
                    motion = (s, rate) if way == 0 else (STILL, s)
                    slopes = by_q if way == 0 else by_qd
                    first_motion = motion if moving_a else (STILL, STILL)
                    second_motion = (STILL, STILL) if moving_a else motion
                    wa, dwa, wb, dwb = element_tangent(body_int, data, row, work, first_motion, second_motion)
                    if moving_a:
                        dwa = scale_add6(dwa, -1.0, wrench_turned(motion[0], wa))
                    else:
                        dwb = scale_add6(dwb, -1.0, wrench_turned(motion[0], wb))
                    take_along(body_int, body, dwa, e, slopes, dof)
                    take_along(body_int, other, dwb, e, slopes, dof)
            if moving_a:
                a = body_int[a, PARENT]
            else:
                b = body_int[b, PARENT]
