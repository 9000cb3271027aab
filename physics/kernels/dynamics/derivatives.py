"""Exact derivatives of inverse dynamics by coordinates and velocities, in O(n depth).

A change of coordinate e displaces all bodies beyond it as one rigid piece, by the twist S_e. Besides this displacement,
the *relative* change d X - ad_{S_e} X has simple rules there: that of the velocity is the same for all bodies beyond
(M), that of the acceleration at a body i is that of e's own body b and ad_M (V_i - V_b). So the force on all bodies
beyond changes by (I^C P + B^C M), and by its rotation with them, with the composite inertia I^C, the composite
velocity-dependent matrix B^C, and P = dA_b - ad_M V_b. The derivative by a velocity is the same without displacement.
After Carpentier & Mansard 2018; `tangent` has the terms of joints with several coordinates and functions of them.
"""

from .. import layout as at
from ..algebra.access import load3, load6, load9, load_twist, store3, store6, store9
from ..algebra.inertia import add_inertia, load_inertia, momentum
from ..algebra.lanes import numbers_of
from ..algebra.spatial import bracket, rotate
from ..algebra.vectors import STILL, Array, Rotation, Twist, Vector, cross, dot3, dot6, scale_add6
from ..compiler.jit import inline, shared
from ..forces.element_tangents import add_element_slopes
from ..forces.limit_tangents import add_limit_slopes
from ..forces.passive import passive_slopes
from ..joints.factor_tangents import joint_tangent
from ..joints.tangent import (
    BIAS_RATE,
    CARRIED,
    DRAGGED,
    MOVED,
    PUSHED,
    PUSHED_FAST,
    RATE,
    TAKEN,
    TAKEN_FAST,
    columns_of,
    is_screw,
    wrench_turned,
)
from ..muscles.derivatives import add_muscle_slopes
from .rnea import newton_euler

# rows of the bodies' workspace: the two nonzero parts of B^C
TURNED_INERTIA, MOMENTUM = 0, 9
DERIVATIVE_BODY_WIDTH = 12


@inline
def store_drag(bodies: Array, work: Array, i: int) -> None:
    """B_i of a rigid body: the map d -> I ad_d V + d x* I V + V x* I d is ((K d_w), (-2 h x d_w)), with its momentum
    (l, h) and K = dI_w/dt - [l], the rate of its angular inertia by its own motion.
    """
    v = load_twist(work, i, at.VELOCITY)
    inertia = load_inertia(work, i)
    one, other, last = numbers_of(inertia[0][0]), numbers_of(inertia[1][0]), numbers_of(inertia[2][0])
    y, z = numbers_of(inertia[0][1]), numbers_of(inertia[1][1])  # -m [c]
    x = (-z[2], y[2], z[0])
    h = momentum(inertia, v)
    w = (v[0], v[1], v[2])
    first, second, third = cross(w, one), cross(w, other), cross(w, last)  # columns of [w] I_w
    along = 2.0 * (v[3] * x[0] + v[4] * x[1] + v[5] * x[2])
    xy = first[1] + second[0] - (v[3] * x[1] + v[4] * x[0])
    xz = first[2] + third[0] - (v[3] * x[2] + v[5] * x[0])
    yz = second[2] + third[1] - (v[4] * x[2] + v[5] * x[1])
    k = (
        2.0 * (first[0] - v[3] * x[0]) + along, xy + h[2], xz - h[1],
        xy - h[2], 2.0 * (second[1] - v[4] * x[1]) + along, yz + h[0],
        xz + h[1], yz - h[0], 2.0 * (third[2] - v[5] * x[2]) + along,
    )  # fmt: skip
    store9(bodies, i, TURNED_INERTIA, k)
    store3(bodies, i, MOMENTUM, (h[3], h[4], h[5]))


@inline
def drag(k: Rotation, h: Vector, moved: Twist) -> Twist:
    """B^C times a relative change of velocity."""
    w = (moved[0], moved[1], moved[2])
    couple = rotate(k, w)
    force = cross(h, w)
    return couple[0], couple[1], couple[2], -2.0 * force[0], -2.0 * force[1], -2.0 * force[2]


@shared
def relative_changes(
    arrays: tuple[Array, Array, Array, Array, Array],
    i: int,
    qd: Array,
    qdd: Array,
    tangent: Array,
    work: Array,
    dof: Array,
) -> None:
    """MOVED, PUSHED and PUSHED_FAST of the joint's coordinates, from `joint_tangent`."""
    body_int, block_int = arrays[at.BODY_INT], arrays[at.BLOCK_INT]
    first, count, parent = body_int[i, at.DOF_START], body_int[i, at.DOF_COUNT], body_int[i, at.PARENT]
    v, a = load_twist(work, i, at.VELOCITY), load_twist(work, i, at.ACCELERATION)
    outer = load_twist(work, parent, at.VELOCITY) if parent >= 0 else STILL
    columns = columns_of(tangent)
    simple = is_screw(body_int, block_int, i)
    for e in range(first, first + count):
        s = load_twist(dof, e, at.SUBSPACE)
        rate, push, fast = STILL, STILL, scale_add6(bracket(outer, s), 1.0, bracket(v, s))
        if not simple:
            rate, push = load6(tangent, e, RATE), load6(tangent, e, BIAS_RATE)
            fast = scale_add6(fast, 1.0, rate)
            for j in range(count):
                push = scale_add6(push, qdd[first + j], load6(tangent, e, columns + 6 * j))
                fast = scale_add6(fast, qd[first + j], load6(tangent, first + j, columns + 6 * (e - first)))
        moved = scale_add6(rate, -1.0, bracket(s, v))
        push = scale_add6(scale_add6(push, -1.0, bracket(s, a)), -1.0, bracket(moved, v))
        store6(tangent, e, MOVED, moved)
        store6(tangent, e, PUSHED, push)
        store6(tangent, e, PUSHED_FAST, fast)


@shared
def forces_beyond(
    i: int, first: int, count: int, tangent: Array, bodies: Array, work: Array, dof: Array
) -> None:
    """Derivatives by the joint's coordinates of the force on body i and all beyond it, and the response of that force
    to any change nearer to the root; work has composite inertias and forces.
    """
    inertia, force = load_inertia(work, i), load_twist(work, i, at.FORCE)
    k, h = load9(bodies, i, TURNED_INERTIA), load3(bodies, i, MOMENTUM)
    for d in range(first, first + count):
        s, moved = load_twist(dof, d, at.SUBSPACE), load6(tangent, d, MOVED)
        taken = scale_add6(momentum(inertia, load6(tangent, d, PUSHED)), 1.0, drag(k, h, moved))
        store6(tangent, d, TAKEN, scale_add6(taken, 1.0, wrench_turned(s, force)))
        taken = scale_add6(momentum(inertia, load6(tangent, d, PUSHED_FAST)), 1.0, drag(k, h, s))
        store6(tangent, d, TAKEN_FAST, taken)
        store6(tangent, d, CARRIED, momentum(inertia, s))
        aside = cross(h, (s[3], s[4], s[5]))
        store3(
            tangent,
            d,
            DRAGGED,
            (
                k[0] * s[0] + k[3] * s[1] + k[6] * s[2] + 2.0 * aside[0],
                k[1] * s[0] + k[4] * s[1] + k[7] * s[2] + 2.0 * aside[1],
                k[2] * s[0] + k[5] * s[1] + k[8] * s[2] + 2.0 * aside[2],
            ),
        )


@shared
def fill_rows(
    body_int: Array,
    i: int,
    simple: bool,
    tangent: Array,
    work: Array,
    dof: Array,
    slopes: tuple[Array, Array, Array],
) -> None:
    """Rows and columns of the joint's coordinates with each other and with all those nearer to the root."""
    by_q, by_qd, mass = slopes
    first, end = body_int[i, at.DOF_START], body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]
    columns = columns_of(tangent)
    for d in range(first, end):
        taken, fast = load6(tangent, d, TAKEN), load6(tangent, d, TAKEN_FAST)
        carried, dragged = load6(tangent, d, CARRIED), load3(tangent, d, DRAGGED)
        for e in range(first, end):
            column = load_twist(dof, e, at.SUBSPACE)
            by_q[e, d] = dot6(column, taken)
            by_qd[e, d] = dot6(column, fast)
            mass[e, d] = dot6(column, carried)
            if not simple:
                by_q[e, d] += dot6(
                    load6(tangent, d, columns + 6 * (e - first)), load_twist(work, i, at.FORCE)
                )
        ancestor = body_int[i, at.PARENT]
        while ancestor >= 0:
            start = body_int[ancestor, at.DOF_START]
            for e in range(start, start + body_int[ancestor, at.DOF_COUNT]):
                column = load_twist(dof, e, at.SUBSPACE)
                by_q[e, d] = dot6(column, taken)
                by_qd[e, d] = dot6(column, fast)
                mass[e, d] = dot6(column, carried)
                mass[d, e] = mass[e, d]
                by_q[d, e] = dot6(carried, load6(tangent, e, PUSHED)) + dot3(
                    dragged, load3(tangent, e, MOVED)
                )
                by_qd[d, e] = dot6(carried, load6(tangent, e, PUSHED_FAST))
                by_qd[d, e] += dragged[0] * column[0] + dragged[1] * column[1] + dragged[2] * column[2]
            ancestor = body_int[ancestor, at.PARENT]


@shared
def motion_changes(
    arrays: tuple[Array, Array, Array, Array, Array],
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    tangents: tuple[Array, Array, Array, Array],
    spaces: tuple[Array, Array, Array],
) -> None:
    """`newton_euler` without muscles, which add their own rotation terms; then the relative changes of all joints and
    the velocity-dependent matrices of all bodies.
    """
    body_int, _, block_int, _, _ = arrays
    (work, dof, flags), (tangent, bodies, scratch, _) = spaces, tangents
    newton_euler(arrays, q, qd, qdd, tau, False, work, dof, flags)
    for i in range(body_int.shape[0]):
        if not is_screw(body_int, block_int, i):
            joint_tangent(arrays, i, q, qd, tangent, scratch, work)
        relative_changes(arrays, i, qd, qdd, tangent, work, dof)
        store_drag(bodies, work, i)


@shared
def inverse_dynamics_derivatives(
    arrays: tuple[Array, Array, Array, Array, Array],
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    slopes: tuple[Array, Array, Array],
    tangents: tuple[Array, Array, Array, Array],
    spaces: tuple[Array, Array, Array],
) -> None:
    """`inverse_dynamics` into tau, and slopes: its derivatives (nv, nv) by q, by q' and by q'' (the mass matrix).

    tau (nv + inputs,) has the inputs; tangents is a workspace (coordinates, bodies, scratch, zeros), spaces is (work,
    dof, flags).
    """
    body_int, _, block_int, _, dof_float = arrays
    work, dof, _ = spaces
    tangent, bodies, _, _ = tangents
    by_q, by_qd, mass = slopes
    nv = q.shape[0]
    motion_changes(arrays, q, qd, qdd, tau, tangents, spaces)
    for d in range(nv):
        for e in range(nv):
            by_q[d, e] = 0.0
            by_qd[d, e] = 0.0
            mass[d, e] = 0.0
    for i in range(body_int.shape[0] - 1, -1, -1):
        forces_beyond(i, body_int[i, at.DOF_START], body_int[i, at.DOF_COUNT], tangent, bodies, work, dof)
        fill_rows(body_int, i, is_screw(body_int, block_int, i), tangent, work, dof, slopes)
        parent = body_int[i, at.PARENT]
        if parent >= 0:
            add_inertia(work, parent, load_inertia(work, i))
            for k in range(DERIVATIVE_BODY_WIDTH):
                bodies[parent, k] += bodies[i, k]
    for d in range(nv):
        mass[d, d] += dof_float[d, at.ARMATURE]
    add_force_slopes(arrays, q, qd, qdd, tau, slopes, tangents, spaces)


@shared
def add_force_slopes(
    arrays: tuple[Array, Array, Array, Array, Array],
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    slopes: tuple[Array, Array, Array],
    tangents: tuple[Array, Array, Array, Array],
    spaces: tuple[Array, Array, Array],
) -> None:
    """The part of `inverse_dynamics_derivatives` by springs, dampers, limits, elements and muscles, as these move with
    the bodies; called last in that function.
    """
    _, _, _, data, dof_float = arrays
    (work, dof, _), (by_q, by_qd, _), tangent = spaces, slopes, tangents[0]
    for d in range(q.shape[0]):
        by_position, by_velocity = passive_slopes(dof_float, data, tau, d, q[d], qd[d])
        by_q[d, d] -= by_position
        by_qd[d, d] -= by_velocity
    if data[at.LIMIT_COUNT] > 0.0:
        add_limit_slopes(data, q, qd, by_q, by_qd)
    if data[at.ELEMENT_COUNT] > 0.0:
        add_element_slopes(arrays, tau, by_q, by_qd, tangent, work, dof)
    if data[at.MUSCLE_COUNT] > 0.0:
        add_muscle_slopes(arrays, q, qd, qdd, tau, slopes, tangents, spaces)
