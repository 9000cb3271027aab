"""How the generalized forces of muscles, their inertia among them, change with coordinates and velocities.

By central differences: the exact slopes have third derivatives of the paths in them. Newton's iterations, which these
are for, come to the same end with slopes that are a little off; the forces themselves are exact.
"""

from __future__ import annotations

from ._jit import for_muscles, jit
from .dense import spread_accelerations
from .joint import kinematics
from .layout import (
    CULPRIT,
    DOF_COUNT,
    DOF_START,
    DOF_WORK_WIDTH,
    EXTRA,
    FORCE,
    MUSCLE_MASSIVE,
    PARENT,
    STATUS,
    SUBSPACE,
)
from .muscle_force import muscle_loads
from .muscle_mass import add_muscle_masses
from .spatial import Array, dot6, load6, scale_add6, store6

# Errors of the difference itself (its square) and of round-off (by it) are both about 1e-10 of the forces.
STEP = 1e-5


@jit
def add_difference(
    arrays: Array,
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    weight: float,
    column: int,
    slopes: Array,
    spaces: Array,
) -> None:
    """Add weight times what all muscles ask of the coordinates at (q, qd, qdd) to a column of slopes."""
    body_int = arrays[0]
    work, dof, flags = spaces
    kinematics(arrays, q, qd, work, dof, flags)
    spread_accelerations(arrays, qdd, False, work, dof)
    for d in range(q.shape[0]):
        dof[d, EXTRA] = 0.0
    muscle_loads(arrays, q, qd, qdd, tau, True, False, work, dof)
    for i in range(body_int.shape[0] - 1, -1, -1):
        force, parent = load6(work, i, FORCE), body_int[i, PARENT]
        for d in range(body_int[i, DOF_START], body_int[i, DOF_START] + body_int[i, DOF_COUNT]):
            slopes[d, column] += weight * (dot6(load6(dof, d, SUBSPACE), force) - dof[d, EXTRA])
        if parent >= 0:
            store6(work, parent, FORCE, scale_add6(load6(work, parent, FORCE), 1.0, force))


@for_muscles()
def add_muscle_slopes(
    arrays: Array,
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    slopes: tuple[Array, Array, Array],
    spaces: tuple[Array, Array, Array],
) -> None:
    """Add what all muscles bring to inverse dynamics, in tau, and to its derivatives (nv, nv) by q, by q' and by q''.

    q and qd are displaced on the way and brought back bit for bit.
    """
    by_q, by_qd, mass = slopes
    work, dof, flags = spaces
    status, culprit = flags[STATUS], flags[CULPRIT]
    for e in range(q.shape[0]):
        for way in range(2):
            moved, slope = (q, by_q) if way == 0 else (qd, by_qd)
            kept = moved[e]
            for side in range(2):
                sign = 1.0 if side == 0 else -1.0
                moved[e] = kept + sign * STEP
                add_difference(arrays, q, qd, qdd, tau, sign * 0.5 / STEP, e, slope, spaces)
            moved[e] = kept
    add_difference(arrays, q, qd, qdd, tau, 1.0, 0, tau.reshape(tau.shape[0], 1), spaces)
    kinematics(arrays, q, qd, work, dof, flags)
    flags[STATUS], flags[CULPRIT] = status, culprit  # a joint's end was looked over, not passed
    if arrays[3][MUSCLE_MASSIVE] > 0.0:
        for d in range(q.shape[0]):
            for e in range(d + 1):
                dof[d, DOF_WORK_WIDTH + e] = 0.0
        add_muscle_masses(arrays, q, qd, work, dof)
        for d in range(q.shape[0]):
            for e in range(d + 1):
                mass[d, e] += dof[d, DOF_WORK_WIDTH + e]
                if e < d:
                    mass[e, d] += dof[d, DOF_WORK_WIDTH + e]
