"""What is checked of every step: that it ends in finite numbers, and that energy comes from somewhere.

A method that has lost its stability multiplies the energy in every few steps. What forces do multiplies it, too,
but not for long: a body set in motion by a constant force gains fourfold in a stretch of steps, then 2.3-fold, then
less. So a step is told to have blown up where kinetic energy has grown fourfold in each of several stretches,
beyond the work of the generalized forces and of given motions, and not from what was stored: a rod that falls from
upright gains exponentially, too, but what its height loses.

That misses slow growth and single leaps. Where all energy has a known source (see `integrators.base.watch_closely`),
the whole of it may never exceed what there was and what was done since, up to the method's error: that is a share of
the energy that changes its form, of which the most that kinetic energy could rightly have been is the measure. Of far
more than that it is told only when look after look finds it; of what no method's error comes near, at once.
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.inertia import kinetic_energy_of
from ..algebra.spatial import Array
from ..compiler.jit import inline, shared
from ..dynamics.observe import potential_energy
from ..forces.passive import control_power
from ..joints.kinematics import kinematics
from ..muscles import layout as muscle
from ..muscles.mass import muscle_energies
from ..muscles.states import first_lost_state, has_muscles, has_states

LOST_ROTATION = 1e6

# columns of the row that is watched by: steps since the last look, kinetic energy then, whole energy before it began
# to leap, work done since then, stretches in which it leapt; and where all energy has a known source: whether that is
# so, the energy at the start, work done since then, the most that kinetic energy could be, looks in a row in which
# there was far more, how many looks there were, the most that the squares of all speeds came to in one, and how many
# times what there may be is beyond any error of the method
STEPS, KINETIC, BASE, WORK, LEAPS, CLOSED, FIRST, DONE, MOST, ABOVE, TURN, FASTEST, BEYOND = range(13)
# and for the books that are told behind a run: whether they are kept, work put in (signed), the least of what energy
# there is beside it, the most that this has risen since, the largest kinetic energy of any look, and whether joints
# have controllers, which put energy in, and by how many steps their targets are behind the end of one
BOOKED, PUT_IN, LEAST, GAINED, LIVELIEST, CONTROLLED, BEHIND = range(13, 20)
STRETCH = 16
FOURFOLD = 4.0
MOST_LEAPS = 6
FASTER = 16.0  # times the squares of speeds that any look has seen: this step is looked at, whenever it comes
NOTHING = 1e-12  # J
ROUND_OFF = 1e-13  # of the whole energy, which may be far more than what changes its form
FROM_NOWHERE = 0.5  # share of the kinetic energy that must have come from nowhere
FAR_MORE = 50.0  # symplectic Euler is 43-fold off at 0.955 of the step at which it ceases to be stable
# and as far off within 2e-5 of that step: beyond that one look is enough, as it is sooner for methods that damp
BEYOND_ALL, BEYOND_DAMPING = 1e5, 1e3
MOST_ABOVE = 12  # looks in a row with far more: in one or two an oscillation may just turn round
TURNS = 7.0  # a look comes after 16, 17, ... 22 steps, then again after 16
MOVING = 0.1  # least share of what came from nowhere that is kinetic: it is no shift of what positions store
MOVING_AT_ALL = (
    1e-3  # symplectic Euler has less only beyond 15 times the step at which it ceases to be stable
)


@inline
def sums_of(tau: Array, q: Array, qd: Array, dof: Array) -> tuple[float, float, float]:
    """What is not finite where a coordinate or a velocity is not, the squares of all speeds, and the power of given
    forces and motions.
    """
    places, speeds, squares, power = 0.0, 0.0, 0.0, 0.0  # sums of which none waits for another
    for d in range(qd.shape[0]):
        places += abs(q[d])
        speeds += abs(qd[d])
        squares += qd[d] * qd[d]
        power += (tau[d] + (dof[d, at.EFFORT] if dof[d, at.HELD] != 0.0 else 0.0)) * qd[d]
    return places + speeds, squares, power


@shared
def first_not_finite(body_int: Array, q: Array, qd: Array) -> int:
    """Body with the first coordinate or velocity that is not finite, 0 where only their sum overflows."""
    for i in range(body_int.shape[0]):
        for d in range(body_int[i, at.DOF_START], body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]):
            if not (abs(q[d]) < math.inf and abs(qd[d]) < math.inf):
                return i
    return 0


@shared
def lost_rotation(arrays: Array, q: Array) -> int:
    """Body with a rotation vector too long to say which way it points (whole turns fill its digits), or -1."""
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
    """Kinetic energy of all bodies as `kinematics` left them, and the body that has most of it."""
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
    arrays: Array, dt: float, tau: Array, q: Array, qd: Array, speeds: float, power: float, spaces: Array
) -> None:
    """Flag a step whose energy has leapt time and again beyond the work that was done; speeds and power are of
    `sums_of`.
    """
    work = spaces[at.WORK]
    row = arrays[at.BODY_INT].shape[0] + at.SURFACE_ROWS
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
    # looks that are evenly spaced could see an oscillation in the same phase time and again; the first steps, each of
    # which is looked at, tell how much energy there is in it
    whole = work[row, STEPS] >= STRETCH + work[row, TURN] % TURNS
    # a method that damps what it has made of nothing may have done so by the next look
    early = work[row, TURN] == 0.0 or speeds > FASTER * work[row, FASTEST]
    if whole or (early and (work[row, CLOSED] != 0.0 or work[row, BOOKED] != 0.0)):
        work[row, FASTEST] = max(work[row, FASTEST], speeds)
        look_at_energy(arrays, q, qd, row, whole, spaces)


@shared
def from_nowhere(row: Array, whole: bool, kinetic: float, energy: float) -> bool:
    """Whether there is more energy than any method's error, or has time and again been far more than there may be, and
    it moves the bodies.
    """
    if not kinetic < math.inf:
        return True
    excess = energy - row[FIRST] - row[DONE] - ROUND_OFF * (abs(energy) + abs(row[FIRST]))
    # of what is let go at rest, the first step tells how fast it may become
    first = row[TURN] == 0.0 and row[STEPS] == 1.0
    row[MOST] = max(row[MOST], kinetic if first else kinetic - excess)
    if whole:
        row[ABOVE] = row[ABOVE] + 1.0 if excess > FAR_MORE * row[MOST] + NOTHING else 0.0
    if row[ABOVE] >= MOST_ABOVE and kinetic > MOVING * excess:
        return True
    return bool(excess > row[BEYOND] * row[MOST] + NOTHING and kinetic > MOVING_AT_ALL * excess)


@shared
def look_at_energy(arrays: Array, q: Array, qd: Array, index: int, whole: bool, spaces: Array) -> None:
    """What `watch_energy` does once in a stretch of steps, and the closer part of it in each of the first ones; index
    is that of its row.
    """
    work, dof, flags = spaces
    row = work[index]
    if row[CLOSED] != 0.0 or row[BOOKED] != 0.0:  # a method's last stage is not where the step ends
        kinematics(arrays, q, qd, work, dof, flags)
    kinetic, culprit = kinetic_energy(arrays, work)
    potential = potential_energy(arrays, q, work)
    for d in range(qd.shape[0]):
        kinetic += 0.5 * arrays[at.DOF_FLOAT][d, at.ARMATURE] * qd[d] * qd[d]
    if has_muscles(arrays):
        own, stored = muscle_energies(arrays, q, qd, work)
        kinetic += own
        potential += stored
    energy = kinetic + potential
    rest = energy - row[PUT_IN]
    row[GAINED], row[LEAST] = max(row[GAINED], rest - row[LEAST]), min(row[LEAST], rest)
    row[LIVELIEST] = max(row[LIVELIEST], kinetic)
    if row[CLOSED] != 0.0 and from_nowhere(row, whole, kinetic, energy):
        flags[at.STATUS], flags[at.CULPRIT] = at.ENERGY_LEAP, culprit
    if not whole:
        return
    row[TURN] += 1.0
    row[STEPS] = 0.0
    if kinetic > FOURFOLD * row[KINETIC] and kinetic > NOTHING:
        row[LEAPS] += 1.0
    else:
        row[LEAPS], row[BASE], row[WORK] = 0.0, energy, 0.0
    row[KINETIC] = kinetic
    if row[LEAPS] >= MOST_LEAPS and energy - row[BASE] > row[WORK] + FROM_NOWHERE * kinetic:
        flags[at.STATUS], flags[at.CULPRIT] = at.ENERGY_LEAP, culprit


@inline
def note_efforts(effort: Array, dof: Array) -> None:
    """Have the work of given motions counted with what constraints and contacts ask of them."""
    for d in range(effort.shape[0]):
        if dof[d, at.HELD] != 0.0:
            dof[d, at.EFFORT] = effort[d]


@inline
def check_step(
    arrays: Array, has_charts: bool, first: int, dt: float, tau: Array, q: Array, qd: Array, spaces: Array
) -> None:
    """Flag a step that left the finite numbers or lost a rotation's direction, or whose energy leaps; first is where
    states of muscles begin in tau.
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
        watch_energy(arrays, dt, tau, q, qd, speeds, power, spaces)
