"""Checks of every step: that it ends in finite numbers, and that its energy has a source.

An unstable method multiplies the energy every few steps. Forces also multiply it, but not for long: a body accelerated
by a constant force gains fourfold in a stretch of steps, then 2.3-fold, then less. So a step is flagged where kinetic
energy has grown fourfold in each of several stretches, beyond the work of generalized forces and prescribed motions,
and not from stored energy: a rod that falls from upright gains exponentially, too, but loses height.

That misses slow growth and single jumps. Where all energy has a known source (see `integrators.base.watch_closely`),
the total may never exceed the initial energy and the work since then by more than the method's error, which is a share
of the energy in exchange, bounded by the largest legitimate kinetic energy. A large excess is flagged after several
checks in a row; one beyond any method's error, at once.
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.inertia import kinetic_energy_of
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..dynamics.observe import potential_energy
from ..forces.passive import control_power
from ..joints.kinematics import kinematics
from ..muscles import layout as muscle
from ..muscles.mass import muscle_energies
from ..muscles.states import first_lost_state, has_muscles, has_states

LOST_ROTATION = 1e6

# columns of the row of checks: steps since the last check, kinetic energy then, total energy before it began to jump,
# work done since then, stretches with a jump; and where all energy has a known source: whether that is so, the energy
# at the start, work done since then, the largest legitimate kinetic energy, consecutive checks with a large excess,
# number of checks, the largest sum of squared speeds in one, and the excess that is beyond any error of the method
STEPS, KINETIC, BASE, WORK, LEAPS, CLOSED, FIRST, DONE, MOST, ABOVE, TURN, FASTEST, BEYOND = range(13)
# and for the energy balance after a run: whether there is one, work put in (signed), the least energy besides it, the
# largest rise of that since, the largest kinetic energy of any check, whether joints have controllers, which add
# energy, and by how many steps their targets lag behind the end of one
BOOKED, PUT_IN, LEAST, GAINED, LIVELIEST, CONTROLLED, BEHIND = range(13, 20)
STRETCH = 16
FOURFOLD = 4.0
MOST_LEAPS = 6
FASTER = 16.0  # times the largest sum of squared speeds of any check: such a step is checked at once
FAR = 0.1  # rad or m: a step in which the coordinates move farther is checked, too
NOTHING = 1e-12  # J
ROUND_OFF = 1e-13  # of the total energy, which may far exceed the energy in exchange
FROM_NOWHERE = 0.5  # share of the kinetic energy that must lack a source
FAR_MORE = 50.0  # symplectic Euler has a 43-fold excess at 0.955 of its largest stable step
# and this within 2e-5 of that step: beyond it one check is enough; methods with damping have smaller errors
BEYOND_ALL, BEYOND_DAMPING = 1e5, 1e3
MOST_ABOVE = 12  # consecutive checks with a large excess: an oscillation may turn round in one or two
TURNS = 7  # checks come after 16, 17, ... 22 steps, then again after 16
# An implicit step in which a coordinate would move that far [rad, m] is repeated in parts if it gains such a share of
# its kinetic energy: where inertias change within a step, methods of low order do not have their work right.
QUICK, LEAP = 0.02, 0.02
MOVING = 0.1  # least kinetic share of the excess: it is no shift of potential energy
MOVING_AT_ALL = 1e-3  # symplectic Euler has less only beyond 15 times its largest stable step


@inline
def sums_of(tau: Array, q: Array, qd: Array, dof: Array) -> tuple[float, float, float]:
    """A sum that is finite only where all coordinates and velocities are, the sum of squared speeds, and the power of
    given forces and prescribed motions.
    """
    places, speeds, squares, power = 0.0, 0.0, 0.0, 0.0  # independent sums
    for d in range(qd.shape[0]):
        places += abs(q[d])
        speeds += abs(qd[d])
        squares += qd[d] * qd[d]
        power += (tau[d] + (dof[d, at.EFFORT] if dof[d, at.HELD] != 0.0 else 0.0)) * qd[d]
    return places + speeds, squares, power


@shared
def first_not_finite(body_int: Array, q: Array, qd: Array) -> int:
    """Body with the first non-finite coordinate or velocity, 0 where only their sum overflows."""
    for i in range(body_int.shape[0]):
        for d in range(body_int[i, at.DOF_START], body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]):
            if not (abs(q[d]) < math.inf and abs(qd[d]) < math.inf):
                return i
    return 0


@shared
def lost_rotation(arrays: Array, q: Array) -> int:
    """Body with a rotation vector too long to determine its direction (whole turns fill its digits), or -1."""
    body_int, _, block_int, _, _ = arrays
    for i in range(body_int.shape[0]):
        for b in range(
            body_int[i, at.BLOCK_START], body_int[i, at.BLOCK_START] + body_int[i, at.BLOCK_COUNT]
        ):
            if block_int[b, at.KIND] == at.ROTATION_VECTOR:
                d = body_int[i, at.DOF_START] + block_int[b, at.COORDINATE]
                if abs(q[d]) + abs(q[d + 1]) + abs(q[d + 2]) > LOST_ROTATION:
                    return i
    return -1


@shared
def kinetic_energy(arrays: Array, work: Array) -> tuple[float, int]:
    """Kinetic energy of all bodies after `kinematics`, and the body with most of it."""
    body_int, body_float, _, _, _ = arrays
    total, most, culprit = 0.0, -1.0, 0
    for i in range(body_int.shape[0]):
        own = kinetic_energy_of(body_float, i, work)
        total += own
        if own > most:
            most, culprit = own, i
    return total, culprit


@inline
def watch_energy(
    arrays: Array,
    dt: float,
    tau: Array,
    q: Array,
    qd: Array,
    speeds: float,
    power: float,
    work: Array,
    row: int,
) -> tuple[bool, bool]:
    """Note the work done in a step in a row of checks; whether its energy is looked at, and whether this is the
    periodic look. speeds and power are from `sums_of`.
    """
    size = abs(power)
    if has_muscles(arrays):
        power += work[row + 1, muscle.PUT_IN_BY_MUSCLES]
        size += work[row + 1, muscle.POWER]
    if work[row, CONTROLLED] != 0.0:
        own = control_power(arrays[at.DOF_FLOAT], arrays[at.MODEL_DATA], tau, work[row, BEHIND] * dt, q, qd)
        power += own
        size += abs(own)
    work[row, PUT_IN] += dt * power
    work[row, WORK] += dt * size
    work[row, DONE] += dt * size
    work[row, STEPS] += 1.0
    # evenly spaced checks could see an oscillation in the same phase each time; the first steps, which are all checked,
    # show how much energy it has
    whole = work[row, STEPS] >= STRETCH + int(work[row, TURN]) % TURNS
    # a method with damping may have lost spurious energy by the next check, and so may one of steps so long that energy
    # comes and goes with every swing
    early = work[row, TURN] == 0.0 or speeds > min(FASTER * work[row, FASTEST], (FAR / dt) ** 2)
    due = whole or (early and (work[row, CLOSED] != 0.0 or work[row, BOOKED] != 0.0))
    if due:
        work[row, FASTEST] = max(work[row, FASTEST], speeds)
    return due, whole


@shared
def leaps(row: Array, whole: bool, kinetic: float, potential: float) -> bool:
    """Note energies in a row of checks; whether they exceed any method's error, or have repeatedly been far too large,
    and are kinetic.
    """
    energy = kinetic + potential
    rest = energy - row[PUT_IN]
    row[GAINED], row[LEAST] = max(row[GAINED], rest - row[LEAST]), min(row[LEAST], rest)
    row[LIVELIEST] = max(row[LIVELIEST], kinetic)
    found = False
    if row[CLOSED] != 0.0:
        excess = energy - row[FIRST] - row[DONE] - ROUND_OFF * (abs(energy) + abs(row[FIRST]))
        # the first step shows how fast a body released at rest may become
        first = row[TURN] == 0.0 and row[STEPS] == 1.0
        row[MOST] = max(row[MOST], kinetic if first else kinetic - excess)
        if whole:
            row[ABOVE] = row[ABOVE] + 1.0 if excess > FAR_MORE * row[MOST] + NOTHING else 0.0
        found = (
            not kinetic < math.inf
            or (row[ABOVE] >= MOST_ABOVE and kinetic > MOVING * excess)
            or (excess > row[BEYOND] * row[MOST] + NOTHING and kinetic > MOVING_AT_ALL * excess)
        )
    if not whole:
        return found
    row[TURN] += 1.0
    row[STEPS] = 0.0
    if kinetic > FOURFOLD * row[KINETIC] and kinetic > NOTHING:
        row[LEAPS] += 1.0
    else:
        row[LEAPS], row[BASE], row[WORK] = 0.0, energy, 0.0
    row[KINETIC] = kinetic
    return found or (row[LEAPS] >= MOST_LEAPS and energy - row[BASE] > row[WORK] + FROM_NOWHERE * kinetic)


@shared
def look_at_energy(arrays: Array, q: Array, qd: Array, index: int, whole: bool, spaces: Array) -> None:
    """Flag a step whose energy has repeatedly jumped beyond the work done; index is that of the row of checks."""
    work, dof, flags = spaces
    row = work[index]
    if row[CLOSED] != 0.0 or row[BOOKED] != 0.0:  # a method's last stage is not the step's end
        kinematics(arrays, q, qd, work, dof, flags)
    kinetic, culprit = kinetic_energy(arrays, work)
    potential = potential_energy(arrays, q, work)
    for d in range(qd.shape[0]):
        kinetic += 0.5 * arrays[at.DOF_FLOAT][d, at.ARMATURE] * qd[d] * qd[d]
    if has_muscles(arrays):
        own, stored = muscle_energies(arrays, q, qd, work)
        kinetic += own
        potential += stored
    if leaps(row, whole, kinetic, potential):
        flags[at.STATUS], flags[at.CULPRIT] = at.ENERGY_LEAP, culprit


@shared
def energy_leaps(
    arrays: Array,
    share: float,
    dt: float,
    tau: Array,
    last: tuple[Array, Array],
    now: tuple[Array, Array],
    spaces: Array,
) -> bool:
    """Whether `share` of a step dt of a model whose energy has a known source, no muscle or controller, gains too much
    energy beyond the work done. Not asked where speeds are so low that bodies hardly move in a step.
    """
    work, dof, flags = spaces
    (q, qd), row = now, work[arrays[at.BODY_INT].shape[0] + at.SURFACE_ROWS]
    fastest, done = 0.0, 0.0
    for d in range(q.shape[0]):
        fastest = max(fastest, abs(qd[d]))
        done += abs((tau[d] + (dof[d, at.EFFORT] if dof[d, at.HELD] != 0.0 else 0.0)) * qd[d])
    known = row[CLOSED] != 0.0 and row[CONTROLLED] == 0.0 and not has_muscles(arrays)
    if not known or dt * fastest < QUICK:
        return False
    gained, most = -share * dt * done, 0.0
    for side in range(2):
        at_q, at_qd = last if side == 0 else now
        kinematics(arrays, at_q, at_qd, work, dof, flags)
        kinetic, _ = kinetic_energy(arrays, work)
        for d in range(q.shape[0]):
            kinetic += 0.5 * arrays[at.DOF_FLOAT][d, at.ARMATURE] * at_qd[d] * at_qd[d]
        energy, most = kinetic + potential_energy(arrays, at_q, work), max(most, kinetic)
        gained += energy if side == 1 else -energy
    return bool(not gained <= share * LEAP * most + NOTHING)


@inline
def note_efforts(effort: Array, dof: Array) -> None:
    """Include the forces of constraints and contacts in the work of prescribed motions."""
    for d in range(effort.shape[0]):
        if dof[d, at.HELD] != 0.0:
            dof[d, at.EFFORT] = effort[d]


@inline
def check_step(
    arrays: Array, has_charts: bool, first: int, dt: float, tau: Array, q: Array, qd: Array, spaces: Array
) -> None:
    """Flag a step with non-finite numbers, a rotation without direction, or an energy jump; muscle states begin at
    first in tau.
    """
    flags, culprit = spaces[at.FLAGS], -1
    if has_states(arrays):
        lost = first_lost_state(arrays[at.MODEL_DATA], first, tau)
        if lost >= 0:
            flags[at.STATUS], flags[at.CULPRIT] = at.LOST_STATE, lost
            return
    total, speeds, power = sums_of(tau, q, qd, spaces[at.DOF])
    if not total < math.inf:
        culprit = first_not_finite(arrays[at.BODY_INT], q, qd)
    elif has_charts:
        culprit = lost_rotation(arrays, q)
    if culprit >= 0:
        flags[at.STATUS], flags[at.CULPRIT] = at.NOT_FINITE, culprit
    else:
        row = arrays[at.BODY_INT].shape[0] + at.SURFACE_ROWS
        due, whole = watch_energy(arrays, dt, tau, q, qd, speeds, power, spaces[at.WORK], row)
        if due:
            look_at_energy(arrays, q, qd, row, whole, spaces)
