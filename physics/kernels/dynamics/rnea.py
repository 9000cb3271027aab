"""Inverse dynamics: the recursive Newton-Euler algorithm in world axes (Lee & Terzopoulos 2008, eqs. 14-16)."""

from .. import layout as at
from ..algebra.access import load_twist, store_twist
from ..algebra.inertia import load_inertia, momentum
from ..algebra.vectors import Array, dot6, scale_add6
from ..compiler.jit import shared
from ..forces.elements import element_forces
from ..forces.limits import limit_forces
from ..forces.passive import passive_force
from ..joints.kinematics import outward
from ..muscles.force import muscle_loads


@shared
def newton_euler(
    arrays: Array,
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    muscles: bool,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """Generalized forces tau[:nv] for the accelerations qdd, besides springs, dampers, limits, force elements and
    muscles; tau (nv + inputs,) has the inputs. `muscles`: whether to include those.
    """
    body_int, _, _, data, dof_float = arrays
    count = body_int.shape[0]
    outward(arrays, q, qd, work, dof, flags)
    if data[at.LIMIT_COUNT] > 0.0:
        limit_forces(data, q, qd, 0.0, dof)
    elif not muscles:  # clear the muscles' forces
        for d in range(dof_float.shape[0]):
            dof[d, at.EXTRA] = 0.0
    if data[at.ELEMENT_COUNT] > 0.0:
        element_forces(body_int, data, tau, dof_float.shape[0], work)
    for i in range(count):
        parent = body_int[i, at.PARENT]
        if parent >= 0:
            a = scale_add6(load_twist(work, parent, at.ACCELERATION), -1.0, load_twist(work, parent, at.BIAS))
        else:
            a = (0.0, 0.0, 0.0, -data[at.GRAVITY], -data[at.GRAVITY + 1], -data[at.GRAVITY + 2])
        a = scale_add6(a, 1.0, load_twist(work, i, at.BIAS))
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            a = scale_add6(a, qdd[d], load_twist(dof, d, at.SUBSPACE))
        store_twist(work, i, at.ACCELERATION, a)
        force = momentum(load_inertia(work, i), a)
        store_twist(work, i, at.FORCE, scale_add6(load_twist(work, i, at.FORCE), 1.0, force))
    if muscles and data[at.MUSCLE_COUNT] > 0.0:
        muscle_loads(arrays, q, qd, qdd, tau, True, False, work, dof)
    for i in range(count - 1, -1, -1):
        force = load_twist(work, i, at.FORCE)
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            own = passive_force(dof_float, data, tau, d, q[d], qd[d]) + dof[d, at.EXTRA]
            tau[d] = dot6(load_twist(dof, d, at.SUBSPACE), force) + dof_float[d, at.ARMATURE] * qdd[d] - own
        parent = body_int[i, at.PARENT]
        if parent >= 0:
            store_twist(work, parent, at.FORCE, scale_add6(load_twist(work, parent, at.FORCE), 1.0, force))


@shared
def inverse_dynamics(
    arrays: Array, q: Array, qd: Array, qdd: Array, tau: Array, work: Array, dof: Array, flags: Array
) -> None:
    """`newton_euler` with everything."""
    newton_euler(arrays, q, qd, qdd, tau, True, work, dof, flags)
