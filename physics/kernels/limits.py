"""Limits g(q) >= 0 of single joints beyond a spring on one coordinate: of rotations, of Euler angles, and hard ones.

A row in data is kind, body, first coordinate, stiffness, damping, restitution (-1: compliant), six parameters. A
compliant limit pushes by stiffness and damping where g < 0. A hard one stops the motion by an impulse through the whole
tree (Kim, Lee & Park 2014, joint limit analysis), behind which it leaves with the share `restitution` of its speed.
"""

from __future__ import annotations

import math

from ._jit import inline, jit
from .euler import angles_of
from .layout import (
    ACCELERATION,
    DOF_COUNT,
    DOF_START,
    EXTRA,
    FORCE,
    INVERSE,
    LIMIT_CONE,
    LIMIT_COUNT,
    LIMIT_DAMPER,
    LIMIT_DOF,
    LIMIT_KIND,
    LIMIT_LOWER,
    LIMIT_PARAMETERS,
    LIMIT_RESTITUTION,
    LIMIT_ROTATION,
    LIMIT_ROWS,
    LIMIT_SPRING,
    LIMIT_UPPER,
    LIMIT_WIDTH,
    PARENT,
    PROJECTED,
    REMAINDER,
    SUBSPACE,
)
from .rotation_vector import exp_coefficients, exp_rotation, spatial_jacobian
from .spatial import (
    Array,
    Rotation,
    Vector,
    add3,
    cross,
    dot3,
    dot6,
    flat3,
    load6,
    rotate,
    scale_add6,
    store6,
    transposed,
)

STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
# A row of the limits' workspace: whether it acts, whether its response is known, impulse, least speed, speed without
# impulses; the response of velocities (nv) and of limits (rows), and factors (rows).
ACTIVE, KNOWN, IMPULSE, AIM, SPEED, RESPONSE = range(6)
ALONG = 1e-12  # under this an axis has not parted from itself, a rotation has no axis
LOCKED = 1e-9
MOST_PIVOTS = 20
SETTLED = 1e-13
DEPENDENT = 1e-12


@inline
def cone_limit(m: Rotation, axis: Vector, angle: float) -> tuple[float, Vector]:
    """What is left of the angle that an axis may part from itself in the rotation m, and how it changes with the
    angular velocity (along the second result).
    """
    moved = rotate(m, axis)
    aside = cross(moved, axis)
    sine = math.sqrt(dot3(aside, aside))
    scale = 1.0 / sine if sine > ALONG else 0.0
    return angle - math.atan2(sine, dot3(moved, axis)), (scale * aside[0], scale * aside[1], scale * aside[2])


@inline
def rotation_limit(r: Vector, most: Vector) -> tuple[float, Vector]:
    """|r_max o u| - theta and its gradient by r (ArtiSynth's guide, eq. 3.27), theta in [0, pi]."""
    length = math.sqrt(dot3(r, r))
    if length < ALONG:
        return min(most[0], min(most[1], most[2])), (0.0, 0.0, 0.0)
    u = (r[0] / length, r[1] / length, r[2] / length)
    turns = math.floor(length / (2.0 * math.pi) + 0.5)
    rest = length - 2.0 * math.pi * turns  # the angle on the chart |theta| <= pi
    sense = 1.0 if rest >= 0.0 else -1.0
    d = (most[0] * most[0] * u[0], most[1] * most[1] * u[1], most[2] * most[2] * u[2])
    along = dot3(u, d)
    reach = math.sqrt(along)
    scale = 1.0 / (reach * length)
    back = scale * along + sense
    return reach - sense * rest, (
        scale * d[0] - back * u[0],
        scale * d[1] - back * u[1],
        scale * d[2] - back * u[2],
    )


@inline
def unit(axis: int, scale: float) -> Vector:
    """scale times the axis 0, 1 or 2."""
    return (
        scale if axis == 0 else 0.0,
        scale if axis == 1 else 0.0,
        scale if axis == 2 else 0.0,
    )


@inline
def turning_axes(m: Rotation, axes: tuple[int, int, int]) -> tuple[Vector, Vector, Vector, Vector]:
    """Euler angles of the rotation m, and the axes a, b, c about which they turn it."""
    i, j, last = axes
    angles = angles_of(m, i, j, last)
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    a = unit(i, 1.0)
    b = add3(unit(j, math.cos(angles[0])), unit(3 - i - j, parity * math.sin(angles[0])))
    return angles, a, b, (m[last], m[3 + last], m[6 + last])


@inline
def euler_angle(m: Rotation, axes: tuple[int, int, int], which: int, near: float) -> tuple[float, Vector]:
    """One Euler angle of the rotation m, the turn nearest to `near` where it is an outer one, and how it changes with
    the angular velocity: the axes a, b, c of the three turns carry it as w = a alpha' + b beta' + c gamma'.
    """
    angles, a, b, c = turning_axes(m, axes)
    volume = dot3(a, cross(b, c))
    scale = 1.0 / volume if abs(volume) > LOCKED else 0.0  # at gimbal lock the angle has no direction
    if which == 1:
        value, w = angles[1], cross(c, a)
    else:
        value, w = angles[0], cross(b, c)
        if which == 2:
            value, w = angles[2], cross(a, b)
        value -= 2.0 * math.pi * math.floor((value - near) / (2.0 * math.pi) + 0.5)
    return value, (scale * w[0], scale * w[1], scale * w[2])


@jit
def limit_value(data: Array, row: int, q: Array) -> tuple[float, Vector, int]:
    """g of the limit whose row begins at `row`, its gradient by the one or three coordinates from LIMIT_DOF on, and
    how many they are.
    """
    kind, d = int(data[row + LIMIT_KIND]), int(data[row + LIMIT_DOF])
    at = row + LIMIT_PARAMETERS
    if kind == LIMIT_LOWER:
        return q[d] - data[at], (1.0, 0.0, 0.0), 1
    if kind == LIMIT_UPPER:
        return data[at] - q[d], (-1.0, 0.0, 0.0), 1
    r = (q[d], q[d + 1], q[d + 2])
    first = flat3(data, at)
    if kind == LIMIT_ROTATION:
        value, gradient = rotation_limit(r, first)
        return value, gradient, 3
    beta, gamma, _, _, _ = exp_coefficients(dot3(r, r))
    m = exp_rotation(r, beta, gamma)
    if kind == LIMIT_CONE:
        value, w = cone_limit(m, first, data[at + 3])
    else:  # one side of an Euler angle: axes, which angle, sense, bound
        sense, bound = data[at + 4], data[at + 5]
        angle, w = euler_angle(m, (int(first[0]), int(first[1]), int(first[2])), int(data[at + 3]), bound)
        value, w = sense * (angle - bound), (sense * w[0], sense * w[1], sense * w[2])
    jacobian = spatial_jacobian(r, beta, gamma)
    return value, rotate(transposed(jacobian), w), 3


@jit
def limit_forces(data: Array, q: Array, rate: Array, dof: Array) -> None:
    """Generalized forces of the compliant limits, into a column of the coordinates' workspace."""
    for d in range(q.shape[0]):
        dof[d, EXTRA] = 0.0
    for k in range(int(data[LIMIT_COUNT])):
        row = int(data[LIMIT_ROWS]) + k * LIMIT_WIDTH
        if data[row + LIMIT_RESTITUTION] >= 0.0:
            continue
        value, gradient, count = limit_value(data, row, q)
        if value >= 0.0:
            continue
        d = int(data[row + LIMIT_DOF])
        speed = 0.0
        for j in range(count):
            speed += gradient[j] * rate[d + j]
        push = max(-data[row + LIMIT_SPRING] * value - data[row + LIMIT_DAMPER] * speed, 0.0)
        for j in range(count):
            dof[d + j, EXTRA] += push * gradient[j]


@jit
def limit_potential(data: Array, q: Array) -> float:
    """Energy stored in the compliant limits."""
    energy = 0.0
    for k in range(int(data[LIMIT_COUNT])):
        row = int(data[LIMIT_ROWS]) + k * LIMIT_WIDTH
        if data[row + LIMIT_RESTITUTION] < 0.0:
            value, _, _ = limit_value(data, row, q)
            beyond = min(value, 0.0)
            energy += 0.5 * data[row + LIMIT_SPRING] * beyond * beyond
    return energy


@jit
def impulse_response(body_int: Array, impulse: Array, change: Array, work: Array, dof: Array) -> None:
    """Change of velocity M^-1 impulse (nv,), with the articulated inertias that `accelerations` left in dof."""
    count = body_int.shape[0]
    for i in range(count):
        store6(work, i, FORCE, STILL)
    for i in range(count - 1, -1, -1):
        force = load6(work, i, FORCE)
        first = body_int[i, DOF_START]
        for d in range(first + body_int[i, DOF_COUNT] - 1, first - 1, -1):
            rest = impulse[d] - dot6(load6(dof, d, SUBSPACE), force)
            dof[d, REMAINDER] = rest
            force = scale_add6(force, rest * dof[d, INVERSE], load6(dof, d, PROJECTED))
        parent = body_int[i, PARENT]
        if parent >= 0:
            store6(work, parent, FORCE, scale_add6(load6(work, parent, FORCE), 1.0, force))
    for i in range(count):
        parent = body_int[i, PARENT]
        a = STILL
        if parent >= 0:
            a = load6(work, parent, ACCELERATION)
        first = body_int[i, DOF_START]
        for d in range(first, first + body_int[i, DOF_COUNT]):
            change[d] = (dof[d, REMAINDER] - dot6(load6(dof, d, PROJECTED), a)) * dof[d, INVERSE]
            a = scale_add6(a, change[d], load6(dof, d, SUBSPACE))
        store6(work, i, ACCELERATION, a)


@inline
def slope_along(gradient: Vector, count: int, d: int, velocity: Array) -> float:
    """Rate of a limit's value: its gradient times velocities."""
    total = 0.0
    for n in range(count):
        total += gradient[n] * velocity[d + n]
    return total


@jit
def aim_limits(data: Array, dt: float, q: Array, qd: Array, last_qd: Array, space: Array) -> bool:
    """The speed that each hard limit wants at least, into its row of space; whether one has less.

    Newton's restitution of the speed before or behind the step's forces, whichever is less: what rests does not bounce,
    and energy does not grow. Before the limit as much as leads to it and no further; behind it, where curved limits are
    left at second order, what leads back, never faster than an elastic impact.
    """
    missed = False
    for k in range(space.shape[0]):
        row = int(data[LIMIT_ROWS]) + k * LIMIT_WIDTH
        space[k, ACTIVE], space[k, KNOWN], space[k, IMPULSE], space[k, AIM] = 0.0, 0.0, 0.0, -math.inf
        if data[row + LIMIT_RESTITUTION] < 0.0:
            continue
        value, gradient, count = limit_value(data, row, q)
        d = int(data[row + LIMIT_DOF])
        speed = slope_along(gradient, count, d, qd)
        reach = -value / dt
        if value < 0.0:
            reach = min(reach, max(-speed, 0.0))
        if speed < reach:  # it would go beyond
            approach = min(-speed, -slope_along(gradient, count, d, last_qd))
            reach = max(reach, data[row + LIMIT_RESTITUTION] * approach)
            missed = True
        space[k, AIM] = reach
    return missed


@jit
def respond(arrays: Array, k: int, q: Array, spare: Array, work: Array, dof: Array, space: Array) -> None:
    """Velocities that a unit impulse along limit k brings, and the speeds that it gives to all limits, kept in k's
    row.
    """
    body_int, data = arrays[0], arrays[3]
    impulse, change, nv = spare[0], spare[1], q.shape[0]
    row = int(data[LIMIT_ROWS]) + k * LIMIT_WIDTH
    _, gradient, count = limit_value(data, row, q)
    for d in range(nv):
        impulse[d] = 0.0
    for j in range(count):
        impulse[int(data[row + LIMIT_DOF]) + j] = gradient[j]
    impulse_response(body_int, impulse, change, work, dof)
    for d in range(nv):
        space[k, RESPONSE + d] = change[d]
    for other in range(space.shape[0]):
        row = int(data[LIMIT_ROWS]) + other * LIMIT_WIDTH
        if space[other, AIM] > -math.inf:
            _, gradient, count = limit_value(data, row, q)
            give = slope_along(gradient, count, int(data[row + LIMIT_DOF]), change)
            space[k, RESPONSE + nv + other] = give
    space[k, KNOWN] = 1.0


@jit
def solve_active(nv: int, space: Array) -> None:
    """Impulses with which all active limits meet their aims exactly, by Cholesky factors in place."""
    rows = space.shape[0]
    table, factor = RESPONSE + nv, RESPONSE + nv + rows
    for k in range(rows):
        space[k, IMPULSE] = 0.0
        if space[k, ACTIVE] == 0.0:
            continue
        right = space[k, AIM] - space[k, SPEED]
        for j in range(k + 1):
            if space[j, ACTIVE] == 0.0:
                continue
            total = space[k, table + j]
            for i in range(j):
                if space[i, ACTIVE] != 0.0:
                    total -= space[k, factor + i] * space[j, factor + i]
            if j < k:
                space[k, factor + j] = total / space[j, factor + j]
                right -= space[k, factor + j] * space[j, IMPULSE]
            else:  # limits that say the same share what one would do
                space[k, factor + k] = math.sqrt(max(total, DEPENDENT * space[k, table + k]))
        space[k, IMPULSE] = right / space[k, factor + k]
    for k in range(rows - 1, -1, -1):
        if space[k, ACTIVE] == 0.0:
            continue
        total = space[k, IMPULSE]
        for j in range(k + 1, rows):
            if space[j, ACTIVE] != 0.0:
                total -= space[j, factor + k] * space[j, IMPULSE]
        space[k, IMPULSE] = total / space[k, factor + k]


@jit
def stop_at_limits(
    arrays: Array,
    dt: float,
    q: Array,
    qd: Array,
    last_qd: Array,
    spare: Array,
    work: Array,
    dof: Array,
    space: Array,
) -> None:
    """Impulses of the hard limits that a step of dt from (q, qd) would pass: 0 <= impulse, speed >= aim, and one of
    them with equality, for all together. qd is changed; spare (2, nv) and space (rows, LIMIT_SPACE + nv + 2 rows) are
    workspaces.

    Along the gradients only, through the tree (Kim, Lee & Park 2014, joint limit analysis): energy never grows. Which
    limits act is found by principal pivoting with the least index (Murty 1974), which ends on any mass matrix.
    """
    data, nv, rows = arrays[3], q.shape[0], space.shape[0]
    if not aim_limits(data, dt, q, qd, last_qd, space):
        return
    for k in range(rows):
        row = int(data[LIMIT_ROWS]) + k * LIMIT_WIDTH
        if space[k, AIM] > -math.inf:
            _, gradient, count = limit_value(data, row, q)
            space[k, SPEED] = slope_along(gradient, count, int(data[row + LIMIT_DOF]), qd)
    for _ in range(MOST_PIVOTS * rows):
        solve_active(nv, space)
        pivot = -1
        for k in range(rows):
            if space[k, AIM] == -math.inf:
                continue
            speed, scale = space[k, SPEED], abs(space[k, SPEED]) + abs(space[k, AIM])
            for j in range(rows):
                if space[j, ACTIVE] != 0.0:
                    part = space[j, IMPULSE] * space[j, RESPONSE + nv + k]
                    speed += part
                    scale += abs(part)
            wrong = speed - space[k, AIM] < -SETTLED * scale
            if space[k, ACTIVE] != 0.0:
                wrong = space[k, IMPULSE] < 0.0
            if wrong:
                pivot = k
                break
        if pivot < 0:
            break
        space[pivot, ACTIVE] = 1.0 - space[pivot, ACTIVE]
        if space[pivot, KNOWN] == 0.0:
            respond(arrays, pivot, q, spare, work, dof, space)
    for k in range(rows):
        if space[k, ACTIVE] != 0.0 and space[k, IMPULSE] > 0.0:
            for d in range(nv):
                qd[d] += space[k, IMPULSE] * space[k, RESPONSE + d]
