"""Forward dynamics in O(n): the articulated-body algorithm in world axes.

Lee & Terzopoulos 2008, appendix A (after Featherstone), with every quantity about the root of its tree, so that
parent and child need no transform between them. A joint of several coordinates is taken apart one coordinate at a
time, last first: that is the L D L^T factorization of its Omega = S^T J S, and no small matrix has to be inverted.
"""

from __future__ import annotations

from ._jit import inline, jit
from .dense import dense_accelerations
from .elements import element_forces
from .inertia import add_inertia, load_inertia, momentum, moving_inertia, store_inertia, sum_of, take_out
from .joint import kinematics
from .layout import (
    ACCELERATION,
    AHEAD,
    ARMATURE,
    BIAS,
    CULPRIT,
    DOF_COUNT,
    DOF_START,
    EFFORT,
    ELEMENT_COUNT,
    EXTRA,
    FORCE,
    FORKED,
    GIVEN,
    GRAVITY,
    HELD,
    INVERSE,
    LIMIT_COUNT,
    NOT_FINITE,
    PARENT,
    PROJECTED,
    REMAINDER,
    SINGULAR,
    STATUS,
    SUBSPACE,
    SURFACE_ROWS,
)
from .limits import coupled_share, coupled_to, is_coupled, limit_forces, take_out_coupled
from .muscle_force import muscle_loads
from .muscle_states import has_massive, has_muscles
from .passive import limit_ahead, passive_force
from .spatial import Array, dot6, load6, scale_add6, store6

# A coordinate whose inertia falls under this share of what it moves alone is a combination of its joint's others.
SINGULAR_SHARE = 1e-13


@inline
def clear_gathered(body_int: Array, everywhere: bool, work: Array) -> None:
    """Nothing is handed over yet to bodies that do not get all by their only child, the body that comes next."""
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(body_int.shape[0]):
        if everywhere or body_int[i, FORKED] != 0:
            store_inertia(work, i, (nothing, (*nothing, 0.0, 0.0, 0.0), nothing))
            store6(work, i, FORCE, nothing)


@inline
def own_force(
    dof_float: Array, data: Array, tau: Array, d: int, q: float, rate: float, ahead: float, dof: Array
) -> tuple[float, float]:
    """Generalized force on coordinate d beside the bodies' wrenches, and the inertia that its limits add where a step
    of length ahead takes them implicitly: not where its motion is given.
    """
    force: float = tau[d] + passive_force(dof_float, data, tau, d, q, rate) + dof[d, EXTRA]
    if ahead > 0.0 and dof[d, HELD] == 0.0:
        push, held_back = limit_ahead(dof_float, d, q, rate, ahead)
        return force + push, held_back
    return force, 0.0


@inline
def inward(arrays: Array, q: Array, rate: Array, tau: Array, work: Array, dof: Array, flags: Array) -> None:
    """Articulated inertias and forces, tips first: parents get what their children leave of J_i and of the wrenches
    that the motion without accelerations of coordinates takes, gravity among them. Along a chain that does not go
    through memory.
    """
    body_int, body_float, _, data, dof_float = arrays
    everywhere = data[ELEMENT_COUNT] > 0.0 or has_muscles(arrays)
    clear_gathered(body_int, everywhere, work)
    ahead = work[body_int.shape[0] + SURFACE_ROWS, AHEAD]
    foreseen = data[LIMIT_COUNT] > 0.0 and ahead > 0.0
    if data[LIMIT_COUNT] > 0.0:
        limit_forces(data, q, rate, ahead, dof)
    if data[ELEMENT_COUNT] > 0.0:
        element_forces(body_int, data, tau, dof_float.shape[0], work)
    if has_muscles(arrays):
        muscle_loads(arrays, q, rate, rate, tau, False, False, work, dof)
    follows = False
    nothing = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    left, pull = (nothing, (*nothing, 0.0, 0.0, 0.0), nothing), nothing
    for i in range(body_int.shape[0] - 1, -1, -1):
        a = load6(work, i, BIAS)
        a = (a[0], a[1], a[2], a[3] - data[GRAVITY], a[4] - data[GRAVITY + 1], a[5] - data[GRAVITY + 2])
        inertia, force = moving_inertia(body_float, i, a, work)
        if follows:
            inertia, force = sum_of(inertia, left), scale_add6(force, 1.0, pull)
        if everywhere or body_int[i, FORKED] != 0:
            inertia = sum_of(inertia, load_inertia(work, i))
            force = scale_add6(force, 1.0, load6(work, i, FORCE))
        first = body_int[i, DOF_START]
        count = body_int[i, DOF_COUNT]
        if count > 1:
            store_inertia(work, i, inertia)
        coupled = foreseen and count > 2 and is_coupled(dof, first, count)
        for d in range(first + count - 1, first - 1, -1):
            s = load6(dof, d, SUBSPACE)
            u = momentum(inertia, s)
            own, held_back = own_force(dof_float, data, tau, d, q[d], rate[d], ahead, dof)
            diagonal = dot6(s, u) + dof_float[d, ARMATURE] + held_back
            if coupled:
                left_over, more = coupled_share(dof, first, d, s)
                u, diagonal = scale_add6(u, 1.0, left_over), diagonal + more
            least = 0.0
            if count > 1:  # what the joint's other coordinates have not left but round-off
                least = SINGULAR_SHARE * dot6(s, momentum(load_inertia(work, i), s))
            if not diagonal > least and dof[d, HELD] == 0.0:
                flags[STATUS] = SINGULAR if diagonal <= least else NOT_FINITE
                flags[CULPRIT] = i
            # a held coordinate is not taken out: what it carries moves with its parent, beside what is given
            inverse = 1.0 / diagonal if dof[d, HELD] == 0.0 else 0.0
            rest = own - dot6(s, force)
            store6(dof, d, PROJECTED, u)
            dof[d, INVERSE] = inverse
            dof[d, REMAINDER] = rest
            if coupled:
                take_out_coupled(dof, d, u, inverse, rest * inverse + dof[d, GIVEN])
            inertia = take_out(inertia, u, inverse)
            force = scale_add6(force, rest * inverse + dof[d, GIVEN], u)
        parent = body_int[i, PARENT]
        follows = parent >= 0 and parent == i - 1
        left, pull = inertia, force
        if parent >= 0 and not follows:
            store6(work, parent, FORCE, scale_add6(load6(work, parent, FORCE), 1.0, pull))
            add_inertia(work, parent, left)


@inline
def tree_accelerations(arrays: Array, qdd: Array, work: Array, dof: Array) -> None:
    """Accelerations (nv,) from the roots outward, behind `inward`."""
    body_int, _, _, data, dof_float = arrays
    foreseen = data[LIMIT_COUNT] > 0.0
    a = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for i in range(body_int.shape[0]):
        parent = body_int[i, PARENT]
        if parent < 0:
            a = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        elif parent != i - 1:
            a = load6(work, parent, ACCELERATION)
        first = body_int[i, DOF_START]
        for d in range(first, first + body_int[i, DOF_COUNT]):
            u = load6(dof, d, PROJECTED)
            rest = dof[d, REMAINDER] - dot6(u, a)
            if foreseen:
                rest -= coupled_to(qdd, d, dof)
            qdd[d] = rest * dof[d, INVERSE] + dof[d, GIVEN]
            a = scale_add6(a, qdd[d], load6(dof, d, SUBSPACE))
            if dof[d, HELD] != 0.0:
                dof[d, EFFORT] = dot6(u, a) + dof_float[d, ARMATURE] * qdd[d] - dof[d, REMAINDER]
        store6(work, i, ACCELERATION, a)


@inline
def accelerations(
    arrays: Array,
    q: Array,
    qd: Array,
    rate: Array,
    tau: Array,
    qdd: Array,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """Accelerations qdd (nv,) of the coordinates under generalized forces and inputs tau (nv + inputs,); work, dof and
    flags are workspaces that it overwrites.

    qd are the velocities that inertial forces see, rate those that dampers see: the same array but for an integrator
    that predicts one of them.
    """
    kinematics(arrays, q, qd, work, dof, flags)
    if has_massive(arrays):
        dense_accelerations(arrays, q, qd, rate, tau, qdd, work, dof, flags)
    else:
        inward(arrays, q, rate, tau, work, dof, flags)
        tree_accelerations(arrays, qdd, work, dof)


@jit
def forward_dynamics(
    arrays: Array, q: Array, qd: Array, tau: Array, qdd: Array, work: Array, dof: Array, flags: Array
) -> None:
    """`accelerations` as a kernel of its own, to be called from Python."""
    accelerations(arrays, q, qd, qd, tau, qdd, work, dof, flags)
