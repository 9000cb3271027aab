"""The articulated-body algorithm of four worlds at once: as `aba`, but symmetric parts of inertias are stored once."""

from typing import TypeAlias

from .. import layout as at
from ..algebra.access import flat3, load3
from ..algebra.spatial import MANY_TURNS, rotate
from ..algebra.vectors import (
    Array,
    Rotation,
    Twist,
    Vector,
    add3,
    add6,
    cross,
    dot3,
    dot6,
    scale3,
    scale_add3,
    scale_add6,
    subtract3,
)
from ..algebra.worlds import (
    WIDTH,
    Worlds,
    any_less,
    in_all,
    keep3,
    keep6,
    keep9,
    load_worlds,
    loaded3,
    loaded6,
    loaded9,
    sizes,
    store_worlds,
    where_less,
)
from ..compiler.jit import inline, shared
from ..forces.passive import limit_ahead, limit_force
from ..joints.worlds import (
    ACCUMULATED,
    AHEAD_QD,
    BIAS,
    BODY_WIDTH,
    DOF_WIDTH,
    FORCE,
    INERTIA,
    INVERSE,
    KINETIC,
    ORIGIN,
    POSE,
    POTENTIAL,
    PROJECTED,
    QD,
    QDD,
    REFERENCE,
    REMAINDER,
    STATE_WIDTH,
    SUBSPACE,
    VELOCITY,
    Q,
    advance_factors,
    advance_hinge,
    center_on_root,
    note_bad,
)
from .aba import SINGULAR_SHARE

# angular part and linear part (xx, xy, xz, yy, yz, zz), and the coupling by rows
Inertia: TypeAlias = tuple[Twist, Rotation, Twist]


@inline
def times(m: Twist, x: Vector) -> Vector:
    """A symmetric matrix times a vector."""
    return (
        m[0] * x[0] + m[1] * x[1] + m[2] * x[2],
        m[1] * x[0] + m[3] * x[1] + m[4] * x[2],
        m[2] * x[0] + m[4] * x[1] + m[5] * x[2],
    )


@inline
def momentum(j: Inertia, s: Twist) -> Twist:
    """Inertia times a twist."""
    a, c, m = j
    w, v = s[:3], s[3:]
    back = (
        c[0] * w[0] + c[3] * w[1] + c[6] * w[2],
        c[1] * w[0] + c[4] * w[1] + c[7] * w[2],
        c[2] * w[0] + c[5] * w[1] + c[8] * w[2],
    )
    return add3(times(a, w), rotate(c, v)) + add3(back, times(m, v))


@inline
def less_square(m: Twist, a: Vector, b: Vector) -> Twist:
    """m - a b^T, symmetric."""
    return (
        m[0] - a[0] * b[0], m[1] - a[0] * b[1], m[2] - a[0] * b[2],
        m[3] - a[1] * b[1], m[4] - a[1] * b[2], m[5] - a[2] * b[2],
    )  # fmt: skip


@inline
def less_product(m: Rotation, a: Vector, b: Vector) -> Rotation:
    """m - a b^T."""
    return (
        m[0] - a[0] * b[0], m[1] - a[0] * b[1], m[2] - a[0] * b[2],
        m[3] - a[1] * b[0], m[4] - a[1] * b[1], m[5] - a[1] * b[2],
        m[6] - a[2] * b[0], m[7] - a[2] * b[1], m[8] - a[2] * b[2],
    )  # fmt: skip


@inline
def load_inertia(bodies: Array, i: int) -> Inertia:
    return (
        loaded6(bodies, i * BODY_WIDTH + INERTIA),
        loaded9(bodies, i * BODY_WIDTH + INERTIA + 6),
        loaded6(bodies, i * BODY_WIDTH + INERTIA + 15),
    )


@inline
def rigid_body(body_float: Array, i: int, gravity: Vector, bodies: Array) -> None:
    """`aba.rigid_bodies` of body i."""
    row, mass, least = i * BODY_WIDTH, body_float[i, at.MASS], body_float[i, at.INERTIA]
    r = loaded9(bodies, row + POSE)
    c = add3(loaded3(bodies, row + ORIGIN), rotate(r, load3(body_float, i, at.COM)))
    e, f = rotate(r, load3(body_float, i, at.INERTIA + 1)), rotate(r, load3(body_float, i, at.INERTIA + 4))
    central = (
        least + e[0] * e[0] + f[0] * f[0], e[0] * e[1] + f[0] * f[1], e[0] * e[2] + f[0] * f[2],
        least + e[1] * e[1] + f[1] * f[1], e[1] * e[2] + f[1] * f[2],
        least + e[2] * e[2] + f[2] * f[2],
    )  # fmt: skip
    m = scale3(mass, c)
    angular = (
        central[0] + m[1] * c[1] + m[2] * c[2], central[1] - m[0] * c[1], central[2] - m[0] * c[2],
        central[3] + m[0] * c[0] + m[2] * c[2], central[4] - m[1] * c[2],
        central[5] + m[0] * c[0] + m[1] * c[1],
    )  # fmt: skip
    none, whole = in_all(0.0), in_all(mass)
    keep6(bodies, row + INERTIA, angular)
    keep9(bodies, row + INERTIA + 6, (none, -m[2], m[1], m[2], none, -m[0], -m[1], m[0], none))
    keep6(bodies, row + INERTIA + 15, (whole, none, none, whole, none, whole))
    w, u = loaded3(bodies, row + VELOCITY), loaded3(bodies, row + VELOCITY + 3)
    turn, push = loaded3(bodies, row + BIAS), subtract3(loaded3(bodies, row + BIAS + 3), gravity)
    force = scale3(mass, add3(push, add3(cross(turn, c), cross(w, add3(u, cross(w, c))))))
    couple = add3(times(central, turn), add3(cross(w, times(central, w)), cross(c, force)))
    keep6(bodies, row + FORCE, couple + force)


@shared
def worlds_outward(
    arrays: Array, states: Array, speeds: int, bodies: Array, dofs: Array, bad: Array, notes: Array
) -> None:
    """Pose, velocity, bias, rigid inertia and force of every body, and the motion subspaces; speeds: which of the
    states' velocities. bad gets 1 in the worlds with a hinge that made too many turns.
    """
    body_int, body_float, _, data, _ = arrays
    nb = body_int.shape[0]
    most = in_all(0.0)
    for i in range(nb):
        parent, first = body_int[i, at.PARENT], body_int[i, at.DOF_START]
        outer = (nb if parent < 0 else parent) * BODY_WIDTH
        if body_int[i, at.WAY] == at.HINGE_WAY:
            angle = sizes(advance_hinge(body_float, i, outer, first, speeds, states, bodies, dofs))
            most = where_less(angle, most, most, angle)
        else:
            advance_factors(arrays, i, outer, speeds, states, bodies, dofs, bad, notes)
        if parent < 0:
            center_on_root(i, first, body_int[i, at.DOF_COUNT], bodies, dofs)
    note_bad(most, in_all(MANY_TURNS), bad)
    for i in range(nb):  # again from memory: both together need more than all registers
        rigid_body(body_float, i, flat3(data, at.GRAVITY), bodies)


@inline
def worlds_own_forces(dof_float: Array, tau: Array, states: Array, ahead: float, dofs: Array) -> None:
    """`aba.own_forces`."""
    for d in range(dof_float.shape[0]):
        q, rate = load_worlds(states, d * STATE_WIDTH + Q), load_worlds(states, d * STATE_WIDTH + QD)
        force = (
            tau[d]
            - dof_float[d, at.STIFFNESS] * (q - dof_float[d, at.REST])
            - dof_float[d, at.DAMPING] * rate
        )
        store_worlds(dofs, d * DOF_WIDTH + REMAINDER, force)
        store_worlds(dofs, d * DOF_WIDTH + INVERSE, in_all(dof_float[d, at.ARMATURE]))
        then, lower, upper = q + ahead * rate, in_all(dof_float[d, at.LOWER]), in_all(dof_float[d, at.UPPER])
        if any_less(where_less(q, then, q, then), lower) or any_less(upper, where_less(q, then, then, q)):
            for k in range(WIDTH):
                place, speed = states[d * STATE_WIDTH + Q, k], states[d * STATE_WIDTH + QD, k]
                push, added = limit_ahead(dof_float, d, place, speed, ahead)
                dofs[d * DOF_WIDTH + REMAINDER, k] += limit_force(dof_float, d, place, speed) + push
                dofs[d * DOF_WIDTH + INVERSE, k] += added


@inline
def take_out(bodies: Array, i: int, u: Twist, inverse: Worlds, gained: Worlds) -> None:
    """`inertia.take_out` of a body's inertia, and the force that a coordinate's acceleration adds."""
    row, n, f = i * BODY_WIDTH, u[:3], u[3:]
    a, c, m = load_inertia(bodies, i)
    keep6(bodies, row + FORCE, scale_add6(loaded6(bodies, row + FORCE), gained, u))
    keep6(bodies, row + INERTIA, less_square(a, scale3(inverse, n), n))
    keep9(bodies, row + INERTIA + 6, less_product(c, scale3(inverse, n), f))
    keep6(bodies, row + INERTIA + 15, less_square(m, scale3(inverse, f), f))


@inline
def hand_over(bodies: Array, i: int, parent: int) -> None:
    """Add a body's inertia and force to its parent's."""
    for k in range(ACCUMULATED):
        own = load_worlds(bodies, i * BODY_WIDTH + FORCE + k)
        row = parent * BODY_WIDTH + FORCE + k
        store_worlds(bodies, row, load_worlds(bodies, row) + own)


@inline
def hand_over_without(bodies: Array, i: int, parent: int, u: Twist, inverse: Worlds, gained: Worlds) -> None:
    """`take_out` and `hand_over` in one."""
    row, outer, n, f = i * BODY_WIDTH, parent * BODY_WIDTH, u[:3], u[3:]
    force = add6(loaded6(bodies, outer + FORCE), loaded6(bodies, row + FORCE))
    keep6(bodies, outer + FORCE, scale_add6(force, gained, u))
    t = scale3(inverse, n)
    a = add6(loaded6(bodies, outer + INERTIA), loaded6(bodies, row + INERTIA))
    keep6(bodies, outer + INERTIA, less_square(a, t, n))
    for k in range(3):
        here, there = row + INERTIA + 6 + 3 * k, outer + INERTIA + 6 + 3 * k
        c = add3(loaded3(bodies, there), loaded3(bodies, here))
        x = t[k]
        keep3(bodies, there, (c[0] - x * f[0], c[1] - x * f[1], c[2] - x * f[2]))
    m = add6(loaded6(bodies, outer + INERTIA + 15), loaded6(bodies, row + INERTIA + 15))
    keep6(bodies, outer + INERTIA + 15, less_square(m, scale3(inverse, f), f))


@inline
def worlds_inward(body_int: Array, bodies: Array, dofs: Array, bad: Array) -> None:
    """`aba.inward`; bad gets 1 in the worlds where a coordinate has no inertia."""
    for i in range(body_int.shape[0] - 1, -1, -1):
        parent, first, count = body_int[i, at.PARENT], body_int[i, at.DOF_START], body_int[i, at.DOF_COUNT]
        for d in range(first, first + count):
            least = in_all(0.0)
            if count > 1:
                s = loaded6(dofs, d * DOF_WIDTH + SUBSPACE)
                least = SINGULAR_SHARE * dot6(s, momentum(load_inertia(bodies, i), s))
            store_worlds(dofs, d * DOF_WIDTH + PROJECTED, least)
        for d in range(first + count - 1, first - 1, -1):
            s = loaded6(dofs, d * DOF_WIDTH + SUBSPACE)
            u = momentum(load_inertia(bodies, i), s)
            diagonal = dot6(s, u) + load_worlds(dofs, d * DOF_WIDTH + INVERSE)
            note_bad(load_worlds(dofs, d * DOF_WIDTH + PROJECTED), diagonal, bad)
            inverse = 1.0 / diagonal
            rest = load_worlds(dofs, d * DOF_WIDTH + REMAINDER) - dot6(
                s, loaded6(bodies, i * BODY_WIDTH + FORCE)
            )
            keep6(dofs, d * DOF_WIDTH + PROJECTED, u)
            store_worlds(dofs, d * DOF_WIDTH + INVERSE, inverse)
            store_worlds(dofs, d * DOF_WIDTH + REMAINDER, rest)
            if d > first:
                take_out(bodies, i, u, inverse, rest * inverse)
            elif parent >= 0:
                hand_over_without(bodies, i, parent, u, inverse, rest * inverse)
        if count == 0 and parent >= 0:
            hand_over(bodies, i, parent)


@inline
def worlds_tree(body_int: Array, states: Array, bodies: Array, dofs: Array) -> None:
    """`aba.tree_accelerations`."""
    nb = body_int.shape[0]
    for i in range(nb):
        parent, first = body_int[i, at.PARENT], body_int[i, at.DOF_START]
        a = loaded6(bodies, (nb if parent < 0 else parent) * BODY_WIDTH + FORCE)
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            rest = load_worlds(dofs, d * DOF_WIDTH + REMAINDER) - dot6(
                loaded6(dofs, d * DOF_WIDTH + PROJECTED), a
            )
            qdd = rest * load_worlds(dofs, d * DOF_WIDTH + INVERSE)
            store_worlds(states, d * STATE_WIDTH + QDD, qdd)
            a = scale_add6(a, qdd, loaded6(dofs, d * DOF_WIDTH + SUBSPACE))
        keep6(bodies, i * BODY_WIDTH + FORCE, a)


@shared
def worlds_accelerations(
    arrays: Array, tau: Array, dt: float, states: Array, bodies: Array, dofs: Array, bad: Array, notes: Array
) -> None:
    """`aba.accelerations` in a step dt of symplectic Euler."""
    worlds_outward(arrays, states, AHEAD_QD, bodies, dofs, bad, notes)
    worlds_own_forces(arrays[at.DOF_FLOAT], tau, states, dt, dofs)
    worlds_inward(arrays[at.BODY_INT], bodies, dofs, bad)
    worlds_tree(arrays[at.BODY_INT], states, bodies, dofs)


@shared
def worlds_energies(
    arrays: Array, states: Array, bodies: Array, dofs: Array, bad: Array, notes: Array
) -> None:
    """Kinetic and potential energy at (q, q'), into the notes."""
    body_int, body_float, _, data, dof_float = arrays
    worlds_outward(arrays, states, QD, bodies, dofs, bad, notes)
    gravity = flat3(data, at.GRAVITY)
    kinetic, potential, none = in_all(0.0), in_all(0.0), in_all(0.0)
    for i in range(body_int.shape[0]):
        v, (a, c, m) = loaded6(bodies, i * BODY_WIDTH + VELOCITY), load_inertia(bodies, i)
        kinetic = kinetic + 0.5 * dot6(v, momentum((a, c, m), v))
        place = loaded3(bodies, body_int[i, at.ROOT] * BODY_WIDTH + REFERENCE)
        potential = potential - dot3(scale_add3((c[7], c[2], c[3]), body_float[i, at.MASS], place), gravity)
    for d in range(dof_float.shape[0]):
        q, qd = load_worlds(states, d * STATE_WIDTH + Q), load_worlds(states, d * STATE_WIDTH + QD)
        kinetic = kinetic + 0.5 * dof_float[d, at.ARMATURE] * qd * qd
        stretch, low, high = q - dof_float[d, at.REST], dof_float[d, at.LOWER] - q, q - dof_float[d, at.UPPER]
        beyond = where_less(none, low, low, none) + where_less(none, high, high, none)
        potential = potential + 0.5 * dof_float[d, at.STIFFNESS] * stretch * stretch
        potential = potential + 0.5 * dof_float[d, at.LIMIT_STIFFNESS] * beyond * beyond
    store_worlds(notes, KINETIC, kinetic)
    store_worlds(notes, POTENTIAL, potential)
