"""What is checked of every step: that it ends in finite numbers, and that energy comes from somewhere.

A method that has lost its stability multiplies the energy in every few steps. What forces do multiplies it, too,
but not for long: a body set in motion by a constant force gains fourfold in a stretch of steps, then 2.3-fold, then
less. So a step is told to have blown up where kinetic energy has grown fourfold in each of several stretches,
beyond the work of the generalized forces and of given motions, and not from what was stored: a rod that falls from
upright gains exponentially, too, but what its height loses.
"""

from __future__ import annotations

import math

from ._jit import inline, jit
from .inertia import momentum, moving_inertia
from .layout import (
    BLOCK_COUNT,
    BLOCK_START,
    COORDINATE,
    CULPRIT,
    DOF_COUNT,
    DOF_START,
    EFFORT,
    ENERGY_LEAP,
    HELD,
    KIND,
    NOT_FINITE,
    OK,
    ROTATION_VECTOR,
    STATUS,
    SURFACE_ROWS,
    VELOCITY,
)
from .muscle_layout import POWER
from .muscle_mass import muscle_energies
from .muscle_states import has_muscles
from .observe import potential_energy
from .spatial import Array, dot6, load6

LOST_ROTATION = 1e6

# columns of the row that is watched by: steps since the last look, kinetic energy then, whole energy before it began
# to leap, work done since then, stretches in which it leapt
STEPS, KINETIC, BASE, WORK, LEAPS = range(5)
STRETCH = 16
FOURFOLD = 4.0
MOST_LEAPS = 6
NOTHING = 1e-12  # J
FROM_NOWHERE = 0.5  # share of the kinetic energy that must have come from nowhere


@inline
def all_finite(q: Array, qd: Array) -> bool:
    total = 0.0
    for d in range(q.shape[0]):
        total += abs(q[d]) + abs(qd[d])
    return total < math.inf


@jit
def first_not_finite(body_int: Array, q: Array, qd: Array) -> int:
    """Body with the first coordinate or velocity that is not finite, 0 where only their sum overflows."""
    for i in range(body_int.shape[0]):
        for d in range(body_int[i, DOF_START], body_int[i, DOF_START] + body_int[i, DOF_COUNT]):
            if not (abs(q[d]) < math.inf and abs(qd[d]) < math.inf):
                return i
    return 0


@jit
def lost_rotation(arrays: Array, q: Array) -> int:
    """Body with a rotation vector too long to say which way it points (whole turns fill its digits), or -1."""
    body_int, _, block_int, _, _ = arrays
    for i in range(body_int.shape[0]):
        for b in range(body_int[i, BLOCK_START], body_int[i, BLOCK_START] + body_int[i, BLOCK_COUNT]):
            if block_int[b, KIND] == ROTATION_VECTOR:
                d = body_int[i, DOF_START] + block_int[b, COORDINATE]
                if abs(q[d]) + abs(q[d + 1]) + abs(q[d + 2]) > LOST_ROTATION:
                    return i
    return -1


@inline
def check_finite(arrays: Array, has_charts: bool, q: Array, qd: Array, flags: Array) -> None:
    """Flag a step that left the finite numbers, or a rotation vector that lost its direction."""
    culprit = -1
    if not all_finite(q, qd):
        culprit = first_not_finite(arrays[0], q, qd)
    elif has_charts:
        culprit = lost_rotation(arrays, q)
    if culprit >= 0:
        flags[STATUS] = NOT_FINITE
        flags[CULPRIT] = culprit


@jit
def kinetic_energy(arrays: Array, work: Array) -> tuple[float, int]:
    """Kinetic energy of all bodies as `outward` left them, and the body that has most of it."""
    body_int, body_float, _, _, _ = arrays
    total, most, culprit = 0.0, -1.0, 0
    for i in range(body_int.shape[0]):
        v = load6(work, i, VELOCITY)
        own = 0.5 * dot6(v, momentum(moving_inertia(body_float, i, v, work)[0], v))
        total += own
        if own > most:
            most, culprit = own, i
    return total, culprit


@inline
def watch_energy(arrays: Array, dt: float, tau: Array, q: Array, qd: Array, spaces: Array) -> None:
    """Flag a step whose energy has leapt time and again beyond the work that was done."""
    work, dof, flags = spaces
    row = arrays[0].shape[0] + SURFACE_ROWS
    power = 0.0
    for d in range(qd.shape[0]):
        power += (tau[d] + (dof[d, EFFORT] if dof[d, HELD] != 0.0 else 0.0)) * qd[d]
    if has_muscles(arrays):
        power = abs(power) + work[row + 1, POWER]
    work[row, WORK] += dt * abs(power)
    work[row, STEPS] += 1.0
    if work[row, STEPS] >= STRETCH:
        look_at_energy(arrays, q, qd, work, row, flags)


@jit
def look_at_energy(arrays: Array, q: Array, qd: Array, work: Array, index: int, flags: Array) -> None:
    """What `watch_energy` does once in a stretch of steps; index is that of its row."""
    row = work[index]
    row[STEPS] = 0.0
    kinetic, culprit = kinetic_energy(arrays, work)
    potential = potential_energy(arrays, q, work)
    if has_muscles(arrays):
        own, stored = muscle_energies(arrays, q, qd, work)
        kinetic += own
        potential += stored
    energy = kinetic + potential
    if kinetic > FOURFOLD * row[KINETIC] and kinetic > NOTHING:
        row[LEAPS] += 1.0
    else:
        row[LEAPS], row[BASE], row[WORK] = 0.0, energy, 0.0
    row[KINETIC] = kinetic
    if row[LEAPS] >= MOST_LEAPS and energy - row[BASE] > row[WORK] + FROM_NOWHERE * kinetic:
        flags[STATUS], flags[CULPRIT] = ENERGY_LEAP, culprit


@inline
def check_step(
    arrays: Array, has_charts: bool, dt: float, tau: Array, q: Array, qd: Array, spaces: Array
) -> None:
    """Flag a step that left the finite numbers or lost a rotation's direction, or whose energy leaps."""
    flags = spaces[2]
    check_finite(arrays, has_charts, q, qd, flags)
    if flags[STATUS] == OK:
        watch_energy(arrays, dt, tau, q, qd, spaces)
