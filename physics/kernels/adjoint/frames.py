"""Frames of a body along a motion, and its Jacobians."""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import load3, load_twist
from ..algebra.vectors import Array, add3
from ..compiler.jit import entry
from ..dynamics.jacobian import body_frame, in_frame
from ..joints.kinematics import kinematics


@entry
def frames_along(
    arrays: Array,
    q: Array,
    still: Array,
    body: int,
    poses: Array,
    jacobians: Array,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """Poses (T, 12) of the body's frame, rotation by rows and position, and its Jacobians (T, 6, nv) from q' to its
    twist in that frame, at q (T, nv); still (nv,) and jacobians come in as zeros.
    """
    body_int, body_float, _, _, _ = arrays
    for k in range(q.shape[0]):
        kinematics(arrays, q[k], still, work, dof, flags)
        r, p = body_frame(body_float, body, work)
        place = add3(p, load3(work, body_int[body, at.ROOT], at.REFERENCE))
        for j in range(9):
            poses[k, j] = r[j]
        for j in range(3):
            poses[k, 9 + j] = place[j]
        i = body
        while i >= 0:
            for d in range(body_int[i, at.DOF_START], body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]):
                column = in_frame(r, p, load_twist(dof, d, at.SUBSPACE))
                for j in range(6):
                    jacobians[k, j, d] = column[j]
            i = body_int[i, at.PARENT]
