"""Momentum and kinetic energy along a motion, with their derivatives.

A change of coordinate e displaces all bodies beyond it by its twist S_e, and seen from there changes their velocities
by M_e (see `dynamics.derivatives`). With the inertia I and the momentum H of these bodies about a fixed point, their
momentum changes by S_e x* H + I M_e, its kinetic energy by H . M_e; with the velocity of e, by I S_e and H . S_e.
"""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import load3, load6, load_rotation, load_twist, store_twist
from ..algebra.inertia import add_inertia, load_inertia, momentum
from ..algebra.spatial import bracket, rotate
from ..algebra.vectors import Array, Twist, Vector, add3, cross, dot6, scale_add6
from ..compiler.jit import entry, inline
from ..joints.factor_tangents import joint_tangent
from ..joints.kinematics import outward
from ..joints.tangent import RATE, is_screw, wrench_turned
from . import layout as adjoint


@inline
def about_origin(wrench: Twist, reference: Vector) -> Twist:
    """A wrench about the reference point, about the world's origin."""
    moment = cross(reference, (wrench[3], wrench[4], wrench[5]))
    return scale_add6(wrench, 1.0, (moment[0], moment[1], moment[2], 0.0, 0.0, 0.0))


@entry
def momenta_along(
    arrays: Array,
    q: Array,
    qd: Array,
    found: Array,
    by_q: Array,
    by_qd: Array,
    tangents: tuple[Array, Array, Array, Array],
    spaces: Array,
) -> None:
    """Momentum (see `layout.MOMENTUM_ROWS`) at q and q' (T, nv), and its derivatives (T, rows, nv). All come in as
    zeros.
    """
    body_int, body_float, block_int, _, dof_float = arrays
    (work, dof, flags), (tangent, _, scratch, _), nv = spaces, tangents, q.shape[1]
    for k in range(q.shape[0]):
        outward(arrays, q[k], qd[k], work, dof, flags)
        for i in range(body_int.shape[0]):
            v, reference = load_twist(work, i, at.VELOCITY), load3(work, body_int[i, at.ROOT], at.REFERENCE)
            own = momentum(load_inertia(work, i), v)
            store_twist(work, i, at.FORCE, own)
            found[k, adjoint.KINETIC] += 0.5 * dot6(own, v)
            own = about_origin(own, reference)
            place = rotate(load_rotation(work, i), load3(body_float, i, at.COM))
            place = add3(add3(place, load3(work, i, at.ORIGIN)), reference)
            for j in range(6):
                found[k, j] += own[j]
            for j in range(3):
                found[k, adjoint.MOMENT + j] += body_float[i, at.MASS] * place[j]
        for i in range(body_int.shape[0] - 1, -1, -1):
            parent, first = body_int[i, at.PARENT], body_int[i, at.DOF_START]
            reference = load3(work, body_int[i, at.ROOT], at.REFERENCE)
            inertia, whole = load_inertia(work, i), load_twist(work, i, at.FORCE)
            v, simple = load_twist(work, i, at.VELOCITY), is_screw(body_int, block_int, i)
            if not simple:
                joint_tangent(arrays, i, q[k], qd[k], tangent, scratch, work)
            for e in range(first, first + body_int[i, at.DOF_COUNT]):
                s = load_twist(dof, e, at.SUBSPACE)
                moved = scale_add6((0.0, 0.0, 0.0, 0.0, 0.0, 0.0), -1.0, bracket(s, v))
                if not simple:
                    moved = scale_add6(moved, 1.0, load6(tangent, e, RATE))
                carried = momentum(inertia, s)
                taken = scale_add6(wrench_turned(s, whole), 1.0, momentum(inertia, moved))
                by_q[k, adjoint.KINETIC, e] = dot6(whole, moved)
                by_qd[k, adjoint.KINETIC, e] = dot6(whole, s) + dof_float[e, at.ARMATURE] * qd[k, e]
                carried, taken = about_origin(carried, reference), about_origin(taken, reference)
                for j in range(6):
                    by_q[k, j, e], by_qd[k, j, e] = taken[j], carried[j]
                for j in range(3):
                    by_q[k, adjoint.MOMENT + j, e] = carried[3 + j]
            if parent >= 0:
                add_inertia(work, parent, inertia)
                store_twist(
                    work, parent, at.FORCE, scale_add6(load_twist(work, parent, at.FORCE), 1.0, whole)
                )
        for d in range(nv):
            found[k, adjoint.KINETIC] += 0.5 * dof_float[d, at.ARMATURE] * qd[k, d] * qd[k, d]
