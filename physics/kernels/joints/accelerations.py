"""Accelerations of bodies from those of coordinates."""

from .. import layout as at
from ..algebra.access import load_twist, store_twist
from ..algebra.inertia import moving_inertia, store_inertia
from ..algebra.lanes import pair_of, twist_of
from ..algebra.vectors import STILL, Array, scale_add6
from ..compiler.jit import shared


@shared
def spread_accelerations(arrays: Array, qdd: Array, inertia: bool, work: Array, dof: Array) -> None:
    """Accelerations of all bodies, in a world that accelerates upwards by gravity, from those of the coordinates; after
    `kinematics`. With inertia, also the bodies' inertias and the wrenches of their accelerations; else zero wrenches.
    """
    body_int, body_float, _, data, _ = arrays
    for i in range(body_int.shape[0]):
        parent = body_int[i, at.PARENT]
        if parent >= 0:
            a = scale_add6(load_twist(work, parent, at.ACCELERATION), -1.0, load_twist(work, parent, at.BIAS))
        else:
            a = (0.0, 0.0, 0.0, -data[at.GRAVITY], -data[at.GRAVITY + 1], -data[at.GRAVITY + 2])
        a = scale_add6(a, 1.0, load_twist(work, i, at.BIAS))
        for d in range(body_int[i, at.DOF_START], body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]):
            a = scale_add6(a, qdd[d], load_twist(dof, d, at.SUBSPACE))
        store_twist(work, i, at.ACCELERATION, a)
        force = STILL
        if inertia:
            own, wrench = moving_inertia(body_float, i, pair_of(a), work)
            store_inertia(work, i, own)
            force = twist_of(wrench)
        store_twist(work, i, at.FORCE, force)
