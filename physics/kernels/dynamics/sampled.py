"""Inverse dynamics of a sampled motion with forces from outside."""

import math

from .. import layout as at
from ..algebra.access import load3, load_twist
from ..algebra.vectors import Array, Twist, Vector, cross, dot6, subtract3
from ..compiler.jit import entry, inline
from .jacobian import body_frame
from .rnea import newton_euler

# A force from outside: where in the world (NaN: at the origin of the body's frame), force and free moment
POINT, FORCE, MOMENT = 0, 3, 6


@entry
def inverse_dynamics_of_rows(
    arrays: Array,
    motion: Array,
    tau: Array,
    pushed: Array,
    pushes: Array,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """Generalized forces tau[:, :nv] of q, q' and q'' (3, T, nv).

    tau (T, nv + inputs + muscle states) has the inputs and states. pushed (k,): bodies with forces pushes (T, k, 9).
    """
    body_int, body_float, _, _, _ = arrays
    for sample in range(tau.shape[0]):
        q, qd, qdd, row = motion[0, sample], motion[1, sample], motion[2, sample], tau[sample]
        newton_euler(arrays, q, qd, qdd, row, True, work, dof, flags)
        for k in range(pushed.shape[0]):
            body = pushed[k]
            reference = load3(work, body_int[body, at.ROOT], at.REFERENCE)
            point = subtract3(load3(pushes[sample], k, POINT), reference)
            if math.isnan(point[0]):
                point = body_frame(body_float, body, work)[1]
            wrench = about_reference(load3(pushes[sample], k, FORCE), load3(pushes[sample], k, MOMENT), point)
            while body >= 0:
                first = body_int[body, at.DOF_START]
                for d in range(first, first + body_int[body, at.DOF_COUNT]):
                    row[d] -= dot6(load_twist(dof, d, at.SUBSPACE), wrench)
                body = body_int[body, at.PARENT]


@inline
def about_reference(force: Vector, moment: Vector, point: Vector) -> Twist:
    """The wrench of a force at a point and a moment."""
    m = cross(point, force)
    return moment[0] + m[0], moment[1] + m[1], moment[2] + m[2], force[0], force[1], force[2]
