"""Rows that push in one sense only, as a step needs them: hard limits of joints, and contacts with friction.

A row comes in when the velocities would lead a limit or a contact beyond zero within the step; the rest is left out.
"""

from __future__ import annotations

from ._jit import inline, jit
from .constraint_layout import (
    NORMAL,
    ROW_AIM,
    ROW_FREE,
    ROW_OWNER,
    ROW_VALUE,
    SYSTEM_FREE,
    SYSTEM_FRICTION,
    SYSTEM_IMPULSE,
    SYSTEM_JACOBIAN,
    SYSTEM_KINDS,
    SYSTEM_RESTITUTION,
    SYSTEM_ROWS,
    TANGENT,
    UNILATERAL,
)
from .layout import (
    LIMIT_COUNT,
    LIMIT_DOF,
    LIMIT_RESTITUTION,
    LIMIT_ROWS,
    LIMIT_WIDTH,
)
from .limits import limit_value
from .spatial import Array, Vector

# memory of a limit or a contact: whether it is among the rows of the step, and its impulses in the last one
ACTIVE, WARM = 0, 1
MEMORY_WIDTH = 4
# A speed that is wanted is reached to this share of what it is made of.
SETTLED = 1e-12
# Approaching no faster than the step's own forces make it, a body rests on what it touches.
RESTING = 2.0


@inline
def least_speed(value: float, dt: float, speed: float, before: float, restitution: float) -> float:
    """The speed that a limit or a contact wants at least, from what it has without impulses and had before the step.

    Before the limit as much as leads to it and no further; behind it, where curved limits are left at second order,
    what leads back, never faster than an elastic impact. Newton's restitution is of the speed before or behind the
    step's forces, whichever is less: what rests does not bounce, and energy does not grow.
    """
    reach = -value / dt
    if value < 0.0:
        reach = min(reach, max(-speed, 0.0))
    if speed < reach:
        reach = max(reach, restitution * min(-speed, -before))
    return reach


@inline
def slope_along(gradient: Vector, count: int, d: int, velocity: Array) -> float:
    """Rate of a limit's value: its gradient times velocities."""
    total = 0.0
    for n in range(count):
        total += gradient[n] * velocity[d + n]
    return total


@jit
def add_limits(
    data: Array,
    count: int,
    dt: float,
    ahead: float,
    q: Array,
    qd: Array,
    last_qd: Array,
    system: Array,
    memory: Array,
) -> int:
    """Append the hard limits that the velocities qd would pass; returns the number of rows with them."""
    rows, jacobian, free = system[SYSTEM_ROWS], system[SYSTEM_JACOBIAN], system[SYSTEM_FREE]
    for k in range(int(data[LIMIT_COUNT])):
        at = int(data[LIMIT_ROWS]) + k * LIMIT_WIDTH
        if memory[k, ACTIVE] != 0.0 or data[at + LIMIT_RESTITUTION] < 0.0:
            continue
        value, gradient, width = limit_value(data, at, q)
        d = int(data[at + LIMIT_DOF])
        before = slope_along(gradient, width, d, last_qd)
        value += ahead * before
        unhindered = slope_along(gradient, width, d, free)
        reach = least_speed(value, dt, unhindered, before, data[at + LIMIT_RESTITUTION])
        speed = slope_along(gradient, width, d, qd)
        if speed - reach >= -SETTLED * (abs(speed) + abs(reach)):
            continue
        for j in range(jacobian.shape[1]):
            jacobian[count, j] = 0.0
        for j in range(width):
            jacobian[count, d + j] = gradient[j]
        rows[count, ROW_VALUE] = value
        rows[count, ROW_FREE] = unhindered
        rows[count, ROW_AIM] = reach
        rows[count, ROW_OWNER] = -1.0 - k
        system[SYSTEM_KINDS][count] = UNILATERAL
        system[SYSTEM_FRICTION][count] = 0.0
        system[SYSTEM_RESTITUTION][count] = 0.0
        system[SYSTEM_IMPULSE][count] = memory[k, WARM]
        memory[k, ACTIVE] = 1.0
        count += 1
    return count


@jit
def forget_active(memory: Array) -> None:
    """No limit and no contact is among the rows yet."""
    for k in range(memory.shape[0]):
        memory[k, ACTIVE] = 0.0


@jit
def remember(count: int, system: Array, memory: Array) -> None:
    """Keep the impulses of limits and contacts as a start for the next step."""
    rows, kinds, impulse = system[SYSTEM_ROWS], system[SYSTEM_KINDS], system[SYSTEM_IMPULSE]
    for k in range(memory.shape[0]):
        if memory[k, ACTIVE] == 0.0:
            for j in range(3):
                memory[k, WARM + j] = 0.0
    for k in range(count):
        owner = int(rows[k, ROW_OWNER])
        if owner < 0 and kinds[k] != TANGENT:
            memory[-1 - owner, WARM] = impulse[k]
            if kinds[k] == NORMAL:
                memory[-1 - owner, WARM + 1] = impulse[k + 1]
                memory[-1 - owner, WARM + 2] = impulse[k + 2]
