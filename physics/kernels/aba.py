"""Forward dynamics in O(n): the articulated-body algorithm in world axes.

Lee & Terzopoulos 2008, appendix A (after Featherstone), with every quantity about the root of its tree, so that parent and
child need no transform between them. A joint of several coordinates is taken apart one coordinate at a time, last first:
that is the L D L^T factorization of its Omega = S^T J S, and no small matrix has to be inverted.
"""

from __future__ import annotations

from ._jit import jit
from .inertia import (
    momentum,
    store_rigid_inertia,
    stored_inertia_times,
    velocity_cross_momentum,
    world_inertia,
)
from .joint import advance_joint
from .layout import (
    ACCELERATION,
    ANGULAR,
    ARMATURE,
    BIAS,
    COUPLING,
    CULPRIT,
    DOF_COUNT,
    DOF_START,
    FORCE,
    GRAVITY,
    INVERSE,
    LINEAR,
    PARENT,
    PROJECTED,
    REMAINDER,
    SINGULAR,
    STATUS,
    SUBSPACE,
    VELOCITY,
)
from .passive import passive_force
from .spatial import Array, Twist, dot6, load6, scale_add6, store6


@jit
def take_out(work: Array, i: int, u: Twist, inverse: float) -> None:
    """Articulated inertia of body i without the motion whose projected inertia is u: subtract u u^T / d."""
    a0, a1, a2 = inverse * u[0], inverse * u[1], inverse * u[2]
    b3, b4, b5 = inverse * u[3], inverse * u[4], inverse * u[5]
    work[i, ANGULAR] -= a0 * u[0]
    work[i, ANGULAR + 1] -= a0 * u[1]
    work[i, ANGULAR + 2] -= a0 * u[2]
    work[i, ANGULAR + 3] -= a1 * u[1]
    work[i, ANGULAR + 4] -= a1 * u[2]
    work[i, ANGULAR + 5] -= a2 * u[2]
    work[i, COUPLING] -= a0 * u[3]
    work[i, COUPLING + 1] -= a0 * u[4]
    work[i, COUPLING + 2] -= a0 * u[5]
    work[i, COUPLING + 3] -= a1 * u[3]
    work[i, COUPLING + 4] -= a1 * u[4]
    work[i, COUPLING + 5] -= a1 * u[5]
    work[i, COUPLING + 6] -= a2 * u[3]
    work[i, COUPLING + 7] -= a2 * u[4]
    work[i, COUPLING + 8] -= a2 * u[5]
    work[i, LINEAR] -= b3 * u[3]
    work[i, LINEAR + 1] -= b3 * u[4]
    work[i, LINEAR + 2] -= b3 * u[5]
    work[i, LINEAR + 3] -= b4 * u[4]
    work[i, LINEAR + 4] -= b4 * u[5]
    work[i, LINEAR + 5] -= b5 * u[5]


@jit
def add_to_parent(work: Array, i: int, parent: int) -> None:
    """Hand articulated inertia and bias force on: J_parent += J_i, b_parent += b_i + J_i c_i."""
    carried = stored_inertia_times(work, i, load6(work, i, BIAS))
    force = scale_add6(load6(work, i, FORCE), 1.0, carried)
    store6(work, parent, FORCE, scale_add6(load6(work, parent, FORCE), 1.0, force))
    for k in range(ANGULAR, ANGULAR + 21):
        work[parent, k] += work[i, k]


@jit
def articulate(arrays: Array, q: Array, qd: Array, tau: Array, work: Array, dof: Array, flags: Array) -> None:
    """Outward pass (kinematics, rigid inertia, bias force), then the inward pass of articulated inertias."""
    body_int, body_float, _, _, dof_float = arrays
    count = body_int.shape[0]
    for i in range(count):
        advance_joint(arrays, i, q, qd, work, dof, flags)
        mass, com, angular = world_inertia(body_float, i, work)
        store_rigid_inertia(work, i, mass, com, angular)
        v = load6(work, i, VELOCITY)
        store6(work, i, FORCE, velocity_cross_momentum(v, momentum(mass, com, angular, v)))
    for i in range(count - 1, -1, -1):
        first = body_int[i, DOF_START]
        parent = body_int[i, PARENT]
        for d in range(first + body_int[i, DOF_COUNT] - 1, first - 1, -1):
            s = load6(dof, d, SUBSPACE)
            u = stored_inertia_times(work, i, s)
            diagonal = dot6(s, u) + dof_float[d, ARMATURE]
            if not diagonal > 0.0:
                flags[STATUS] = SINGULAR
                flags[CULPRIT] = i
            inverse = 1.0 / diagonal
            force = load6(work, i, FORCE)
            rest = tau[d] + passive_force(dof_float, d, q[d], qd[d]) - dot6(s, force)
            store6(dof, d, PROJECTED, u)
            dof[d, INVERSE] = inverse
            dof[d, REMAINDER] = rest
            if parent >= 0 or d > first:  # nobody asks for what is left of a root
                take_out(work, i, u, inverse)
                store6(work, i, FORCE, scale_add6(force, rest * inverse, u))
        if parent >= 0:
            add_to_parent(work, i, parent)


@jit
def forward_dynamics(
    arrays: Array, q: Array, qd: Array, tau: Array, qdd: Array, work: Array, dof: Array, flags: Array
) -> None:
    """Accelerations qdd (nv,) of the coordinates; work, dof and flags are workspaces that it overwrites."""
    body_int, _, _, data, _ = arrays
    articulate(arrays, q, qd, tau, work, dof, flags)
    for i in range(body_int.shape[0]):
        parent = body_int[i, PARENT]
        if parent >= 0:
            a = load6(work, parent, ACCELERATION)
        else:
            a = (0.0, 0.0, 0.0, -data[GRAVITY], -data[GRAVITY + 1], -data[GRAVITY + 2])
        a = scale_add6(a, 1.0, load6(work, i, BIAS))
        first = body_int[i, DOF_START]
        for d in range(first, first + body_int[i, DOF_COUNT]):
            qdd[d] = (dof[d, REMAINDER] - dot6(load6(dof, d, PROJECTED), a)) * dof[d, INVERSE]
            a = scale_add6(a, qdd[d], load6(dof, d, SUBSPACE))
        store6(work, i, ACCELERATION, a)
