"""Forward dynamics in O(n): the articulated-body algorithm in world axes.

Lee & Terzopoulos 2008, appendix A (after Featherstone), with every quantity about the root of its tree, so that parent
and child need no transform between them. Coordinates of a joint are eliminated one at a time, last first: this is the L
D L^T factorization of its Omega = S^T J S, and no small matrix is inverted.
"""

import math

from .. import layout as at
from ..algebra.access import load_twist
from ..algebra.inertia import inertia_times, load_inertia, moving_inertia, store_inertia, sum_of, take_out
from ..algebra.lanes import (
    Pair,
    add_pair,
    dot_pair,
    lanes_of,
    load_pair,
    pair_of,
    scale_add_lanes,
    scale_add_pair,
    store_pair,
    twist_of,
)
from ..algebra.vectors import Array
from ..compiler.jit import entry, inline, shared
from ..forces.elements import element_forces
from ..forces.limits import coupled_share, coupled_to, is_coupled, limit_forces, take_out_coupled
from ..forces.passive import limit_ahead, limit_force, spring_force
from ..joints.kinematics import kinematics
from ..muscles.force import muscle_loads
from ..muscles.states import has_massive, has_muscles
from .coupled import coupled_accelerations

# A coordinate with less than this share of its own inertia is a combination of its joint's others.
SINGULAR_SHARE = 1e-13


@inline
def rigid_bodies(body_int: Array, body_float: Array, data: Array, work: Array) -> None:
    """Inertia of every body, and the wrench of its motion without accelerations of coordinates, in a world that
    accelerates upwards by gravity.
    """
    gravity = lanes_of((data[at.GRAVITY], data[at.GRAVITY + 1], data[at.GRAVITY + 2]))
    for i in range(body_int.shape[0]):
        turn, push = load_pair(work, i, at.BIAS)
        inertia, force = moving_inertia(body_float, i, (turn, scale_add_lanes(push, -1.0, gravity)), work)
        store_inertia(work, i, inertia)
        store_pair(work, i, at.FORCE, force)


@inline
def own_force(
    dof_float: Array, data: Array, tau: Array, d: int, q: float, rate: float, ahead: float, dof: Array
) -> tuple[float, float]:
    """Generalized force on coordinate d besides the bodies' wrenches, and the inertia of its limits in a step of length
    ahead that is implicit in them: 0 if the motion is prescribed.
    """
    force: float = tau[d] + spring_force(dof_float, data, tau, d, q, rate) + dof[d, at.EXTRA]
    then, added = q + ahead * rate, 0.0
    if not (dof_float[d, at.LOWER] <= min(q, then) and max(q, then) <= dof_float[d, at.UPPER]):
        force += limit_force(dof_float, d, q, rate)
        if ahead > 0.0 and dof[d, at.HELD] == 0.0:
            push, added = limit_ahead(dof_float, d, q, rate, ahead)
            force += push
    return force, added


@inline
def own_forces(arrays: Array, q: Array, rate: Array, tau: Array, ahead: float, dof: Array) -> None:
    """Store `own_force` of every coordinate in `REMAINDER`, and its inertia besides the bodies' in `INVERSE`: infinite
    if its motion is prescribed, so that the bodies beyond move with its parent.
    """
    _, _, _, data, dof_float = arrays
    for d in range(dof_float.shape[0]):
        force, added = own_force(dof_float, data, tau, d, q[d], rate[d], ahead, dof)
        dof[d, at.REMAINDER] = force
        dof[d, at.INVERSE] = dof_float[d, at.ARMATURE] + added if dof[d, at.HELD] == 0.0 else math.inf


@inline
def take_coordinate(
    d: int, i: int, diagonal: float, least: float, force: Pair, s: Pair, u: Pair, dof: Array, flags: Array
) -> tuple[float, float]:
    """1 / d of coordinate d of body i with projected inertia u, and its acceleration with the parent at rest."""
    if not diagonal > least:
        flags[at.STATUS] = at.SINGULAR if diagonal <= least else at.NOT_FINITE
        flags[at.CULPRIT] = i
        diagonal = math.inf  # what moves nothing keeps its speed
    inverse = 1.0 / diagonal
    rest = dof[d, at.REMAINDER] - dot_pair(s, force)
    store_pair(dof, d, at.PROJECTED, u)
    dof[d, at.INVERSE] = inverse
    dof[d, at.REMAINDER] = rest
    return inverse, rest * inverse + dof[d, at.GIVEN]


@shared
def take_joint(i: int, first: int, count: int, foreseen: bool, work: Array, dof: Array, flags: Array) -> None:
    """Eliminate the coordinates of body i's joint, last first."""
    inertia, force = load_inertia(work, i), load_pair(work, i, at.FORCE)
    whole = inertia
    coupled = foreseen and count > 2 and is_coupled(dof, first, count)
    for d in range(first + count - 1, first - 1, -1):
        t = load_twist(dof, d, at.SUBSPACE)
        s, u = load_pair(dof, d, at.SUBSPACE), inertia_times(inertia, t)
        diagonal = dot_pair(s, u) + dof[d, at.INVERSE]
        if coupled:
            left_over, more = coupled_share(dof, first, d, t)
            u, diagonal = add_pair(u, pair_of(left_over)), diagonal + more
        # up to round-off, a combination of the joint's other coordinates
        least = SINGULAR_SHARE * dot_pair(s, inertia_times(whole, t))
        inverse, gained = take_coordinate(d, i, diagonal, least, force, s, u, dof, flags)
        if coupled:
            take_out_coupled(dof, d, twist_of(u), inverse, gained)
        inertia, force = take_out(inertia, u, inverse), scale_add_pair(force, gained, u)
    store_inertia(work, i, inertia)
    store_pair(work, i, at.FORCE, force)


@inline
def inward(arrays: Array, q: Array, rate: Array, tau: Array, work: Array, dof: Array, flags: Array) -> None:
    """Articulated inertias and bias forces with gravity, tips first."""
    body_int, body_float, _, data, dof_float = arrays
    rigid_bodies(body_int, body_float, data, work)
    ahead = work[body_int.shape[0] + at.SURFACE_ROWS, at.AHEAD]
    foreseen = data[at.LIMIT_COUNT] > 0.0 and ahead > 0.0
    if data[at.LIMIT_COUNT] > 0.0:
        limit_forces(data, q, rate, ahead, dof)
    if data[at.ELEMENT_COUNT] > 0.0:
        element_forces(body_int, data, tau, dof_float.shape[0], work)
    if has_muscles(arrays):
        muscle_loads(arrays, q, rate, rate, tau, False, False, work, dof)
    own_forces(arrays, q, rate, tau, ahead, dof)
    for k in range(body_int.shape[0] - 1, -1, -1):
        i = body_int[k, at.VISITED]
        parent, d, count = body_int[i, at.PARENT], body_int[i, at.DOF_START], body_int[i, at.DOF_COUNT]
        if count > 1:
            take_joint(i, d, count, foreseen, work, dof, flags)
        inertia, force = load_inertia(work, i), load_pair(work, i, at.FORCE)
        u, inverse, gained = force, 0.0, 0.0
        if count == 1:
            s, u = load_pair(dof, d, at.SUBSPACE), inertia_times(inertia, load_twist(dof, d, at.SUBSPACE))
            diagonal = dot_pair(s, u) + dof[d, at.INVERSE]
            inverse, gained = take_coordinate(d, i, diagonal, 0.0, force, s, u, dof, flags)
        if parent >= 0:  # the sum does not depend on the elimination
            inertia = sum_of(inertia, load_inertia(work, parent))
            force = add_pair(force, load_pair(work, parent, at.FORCE))
            if count == 1:
                inertia, force = take_out(inertia, u, inverse), scale_add_pair(force, gained, u)
            store_inertia(work, parent, inertia)
            store_pair(work, parent, at.FORCE, force)


@inline
def tree_accelerations(arrays: Array, qdd: Array, work: Array, dof: Array) -> None:
    """Accelerations (nv,) from the roots outward, after `inward`."""
    body_int, _, _, data, dof_float = arrays
    foreseen = data[at.LIMIT_COUNT] > 0.0
    none = lanes_of((0.0, 0.0, 0.0))
    a, last = (none, none), -1
    for k in range(body_int.shape[0]):
        i = body_int[k, at.VISITED]
        parent = body_int[i, at.PARENT]
        if parent < 0:
            a = none, none
        elif parent != last:
            a = load_pair(work, parent, at.ACCELERATION)
        last = i
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            u = load_pair(dof, d, at.PROJECTED)
            rest = dof[d, at.REMAINDER] - dot_pair(u, a)
            if foreseen:
                rest -= coupled_to(qdd, d, dof)
            qdd[d] = rest * dof[d, at.INVERSE] + dof[d, at.GIVEN]
            a = scale_add_pair(a, qdd[d], load_pair(dof, d, at.SUBSPACE))
            if dof[d, at.HELD] != 0.0:
                dof[d, at.EFFORT] = dot_pair(u, a) + dof_float[d, at.ARMATURE] * qdd[d] - dof[d, at.REMAINDER]
        store_pair(work, i, at.ACCELERATION, a)


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
    flags are workspaces.

    qd are the velocities for inertial forces, rate those for dampers: the same array, unless an integrator predicts
    one.
    """
    kinematics(arrays, q, qd, work, dof, flags)
    if has_massive(arrays):
        coupled_accelerations(arrays, q, qd, rate, tau, qdd, work, dof, flags)
    else:
        inward(arrays, q, rate, tau, work, dof, flags)
        tree_accelerations(arrays, qdd, work, dof)


@entry
def forward_dynamics(
    arrays: Array, q: Array, qd: Array, tau: Array, qdd: Array, work: Array, dof: Array, flags: Array
) -> None:
    """`accelerations` for Python to call."""
    accelerations(arrays, q, qd, qd, tau, qdd, work, dof, flags)
