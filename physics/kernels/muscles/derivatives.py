"""Derivatives of the generalized forces of muscles, including inertia, by coordinates and velocities.

The generalized force of a pull T(L, L') is T dL/dq, with the slopes

    T d2L/dq2 + dL/dq (dT/dL dL/dq + dT/dL' (d2L/dq2 q'))  by q,   dL/dq dT/dL' dL/dq  by q',

from the exact slopes of its law and second derivatives of its path (see `pairs`). That of mass points at x is J^T m
(x'' - g) with x'' = J q'' + J' q'. Its slopes need the same second derivatives, except for those by q of J' q', which
need third derivatives of x. Without obstacles these are exact, too (see `accelerations`). Only over obstacles J^T m J'
q' is differentiated by differences along the coordinates: exact slopes would double the kernels of wrapped paths and
their compile time. So is L'' of an armature A, whose force is A L'' dL/dq. Differences are accurate to about 1e-10, but
not within 1e-4 of clamped joints or switching conditions, which they step over. Solutions of Newton's methods do not
depend on them, those of the linearly implicit method do.
"""

from .. import layout as at
from ..algebra.access import flat3, load6, load_twist, store6, store_twist
from ..algebra.lanes import flat_from
from ..algebra.vectors import Array
from ..compiler.jit import for_muscles, shared
from ..joints.accelerations import spread_accelerations
from ..joints.kinematics import kinematics
from . import layout as muscle
from .accelerations import add_thirds
from .force import muscle_loads
from .law import tension_slopes
from .mass import add_masses
from .pairs import ASKED, SLOPE, SLOPE_RATE, add_pairs, collect, path_asks, weigh_pushes
from .path import trace_path

# a body's velocity and acceleration are saved in its row of the derivatives' workspace
KEPT_VELOCITY, KEPT_ACCELERATION = 0, 6
# [rad, m] of fourth-order differences: smoothed paths change over some millimetres, and the round-off of geodesics,
# 1e-13, is divided by it
STEP = 5e-5


@shared
def carry_motion(out: bool, bodies: Array, work: Array) -> None:
    """Save the bodies' velocities and accelerations, or restore them."""
    for i in range(bodies.shape[0]):
        if out:
            store6(bodies, i, KEPT_VELOCITY, load_twist(work, i, at.VELOCITY))
            store6(bodies, i, KEPT_ACCELERATION, load_twist(work, i, at.ACCELERATION))
        else:
            store_twist(work, i, at.VELOCITY, load6(bodies, i, KEPT_VELOCITY))
            store_twist(work, i, at.ACCELERATION, load6(bodies, i, KEPT_ACCELERATION))


@shared
def over_obstacles(data: Array, row: int) -> bool:
    """Whether a strand of the muscle runs over obstacles."""
    for k in range(int(data[row + muscle.MUSCLE_VIA_COUNT])):
        if data[row + int(data[row + muscle.MUSCLE_VIAS]) + muscle.VIA_WIDTH * k + muscle.VIA_STRAND] != 0.0:
            return True
    return False


@shared
def add_differences(
    arrays: Array,
    row: int,
    q: Array,
    qd: Array,
    by_q: Array,
    still: Array,
    spaces: tuple[Array, Array, Array],
    space: Array,
) -> None:
    """Add the derivative of J' q' of a muscle's mass points in its generalized force, by differences; still: zeros."""
    work, dof, flags = spaces
    data = arrays[at.MODEL_DATA]
    span, number = row + int(data[row + muscle.MUSCLE_ACTING]), int(data[row + muscle.MUSCLE_ACTING_COUNT])
    status, culprit = flags[at.STATUS], flags[at.CULPRIT]
    for j in range(number):
        e = int(data[span + j])
        kept = q[e]
        for side in (-2, -1, 1, 2):
            q[e] = kept + side * STEP
            weight = side * (2.0 / 3.0 if abs(side) == 1 else -1.0 / 24.0) / STEP
            kinematics(arrays, q, qd, work, dof, flags)
            for i in range(arrays[at.BODY_INT].shape[0]):
                store_twist(work, i, at.ACCELERATION, load_twist(work, i, at.BIAS))
            path_asks(arrays, row, q, qd, still, work, dof, space)
            for i in range(number):
                d = int(data[span + i])
                by_q[d, e] += weight * dof[d, ASKED]
        q[e] = kept
    kinematics(arrays, q, qd, work, dof, flags)
    # differences may pass a joint's end, its state does not
    flags[at.STATUS], flags[at.CULPRIT] = (status, culprit)


@shared
def add_armature_slopes(
    arrays: Array,
    row: int,
    armature: float,
    motion: tuple[Array, Array, Array],
    by_q: Array,
    by_qd: Array,
    spaces: tuple[Array, Array, Array],
    space: Array,
) -> None:
    """Add A dL/dq times the slopes of the length's second derivative L'': by q' exact, by q from differences."""
    work, dof, flags = spaces
    (q, qd, qdd), data = motion, arrays[at.MODEL_DATA]
    quick = data[row + muscle.MUSCLE_VELOCITY_TERMS] != 0.0
    gravity, status, culprit = flat3(data, at.GRAVITY), flags[at.STATUS], flags[at.CULPRIT]
    span, number = row + int(data[row + muscle.MUSCLE_ACTING]), int(data[row + muscle.MUSCLE_ACTING_COUNT])
    for j in range(number):
        e = int(data[span + j])
        kept, change = q[e], 0.0
        for side in (-2, -1, 1, 2):
            q[e] = kept + side * STEP
            kinematics(arrays, q, qd, work, dof, flags)
            spread_accelerations(arrays, qdd, False, work, dof)
            trace_path(arrays, row, q, qd, qdd, gravity, quick, work, space)
            change += side * (2.0 / 3.0 if abs(side) == 1 else -1.0 / 24.0) / STEP * space[muscle.SECOND]
        q[e] = kept
        for i in range(number):
            d = int(data[span + i])
            by_q[d, e] += armature * dof[d, SLOPE] * change
            if quick:
                by_qd[d, e] += armature * dof[d, SLOPE] * 2.0 * dof[e, SLOPE_RATE]
    kinematics(arrays, q, qd, work, dof, flags)
    flags[at.STATUS], flags[at.CULPRIT] = status, culprit  # as in `add_differences`


@shared
def add_slopes_of(
    arrays: Array,
    row: int,
    motion: tuple[Array, Array, Array],
    tau: Array,
    slopes: tuple[Array, Array, Array],
    tangents: tuple[Array, Array, Array, Array],
    spaces: tuple[Array, Array, Array],
) -> None:
    """Add the slopes of one muscle. motion: q, q' and q''."""
    work, dof, _ = spaces
    data = arrays[at.MODEL_DATA]
    space = flat_from(work, arrays[at.BODY_INT].shape[0] + at.SCRATCH_ROWS)
    q, qd, qdd = motion
    (by_q, by_qd, _), (tangent, bodies, _, zeros) = slopes, tangents
    massive, quick = (
        data[row + muscle.MUSCLE_MASS_COUNT] > 0.0,
        data[row + muscle.MUSCLE_VELOCITY_TERMS] != 0.0,
    )
    exact = massive and quick and not over_obstacles(data, row)
    carry_motion(False, bodies, work)
    armature, inertial = data[row + muscle.MUSCLE_ARMATURE], 0.0
    if armature > 0.0:
        trace_path(arrays, row, q, qd, qdd, flat3(data, at.GRAVITY), quick, work, space)
        inertial = armature * space[muscle.SECOND]
    count = trace_path(arrays, row, q, qd, qdd, flat3(data, at.GRAVITY), exact, work, space)
    pull, by_length, by_speed = tension_slopes(
        data, row, tau, dof.shape[0], space[muscle.LENGTH], space[muscle.RATE]
    )
    pull += inertial
    if massive:
        weigh_pushes(data, row, count, exact, True, space)
    if exact:
        add_thirds(arrays, row, count, motion, by_q, tangent, work, dof, space)
    elif massive and quick:
        add_differences(arrays, row, q, qd, by_q, zeros[1], spaces, space)
    add_pairs(arrays, row, pull, exact, motion, slopes, tangents, work, dof, space)
    span, number = row + int(data[row + muscle.MUSCLE_ACTING]), int(data[row + muscle.MUSCLE_ACTING_COUNT])
    for i in range(number):
        d = int(data[span + i])
        for j in range(number):
            e = int(data[span + j])
            change = by_length * dof[e, SLOPE] + by_speed * dof[e, SLOPE_RATE]
            by_q[d, e] += dof[d, SLOPE] * change
            by_qd[d, e] += dof[d, SLOPE] * by_speed * dof[e, SLOPE]
    if armature > 0.0:
        add_armature_slopes(arrays, row, armature, motion, by_q, by_qd, spaces, space)


@for_muscles()
def add_muscle_slopes(
    arrays: Array,
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    slopes: tuple[Array, Array, Array],
    tangents: tuple[Array, Array, Array, Array],
    spaces: tuple[Array, Array, Array],
) -> None:
    """Add all muscles to inverse dynamics, in tau, and to its derivatives (nv, nv) by q, by q' and by q''.

    After the derivatives of the tree, with its tangents in the workspace. q is changed and restored to the bit.
    """
    data, (_, _, mass), (_, bodies, _, _), (work, dof, _) = arrays[at.MODEL_DATA], slopes, tangents, spaces
    spread_accelerations(arrays, qdd, False, work, dof)
    for d in range(q.shape[0]):
        dof[d, at.EXTRA] = 0.0
    muscle_loads(arrays, q, qd, qdd, tau, True, False, work, dof)
    collect(arrays[at.BODY_INT], work, dof)
    for d in range(q.shape[0]):
        tau[d] += dof[d, ASKED]
    carry_motion(True, bodies, work)
    if data[at.MUSCLE_MASSIVE] > 0.0:
        add_masses(arrays, q, qd, mass, work, dof)
    row = int(data[at.MUSCLE_ROWS])
    for _ in range(int(data[at.MUSCLE_COUNT])):
        add_slopes_of(arrays, row, (q, qd, qdd), tau, slopes, tangents, spaces)
        row += int(data[row + muscle.MUSCLE_SIZE])
    carry_motion(False, bodies, work)
