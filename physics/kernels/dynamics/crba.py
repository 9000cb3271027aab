"""Joint-space mass matrix: the composite-rigid-body algorithm in world axes."""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import load_twist
from ..algebra.inertia import add_inertia, load_inertia, momentum
from ..algebra.vectors import Array, dot6
from ..compiler.jit import entry
from ..joints.kinematics import outward
from ..muscles.mass import add_masses


@entry
def mass_matrix(
    arrays: Array, q: Array, qd: Array, matrix: Array, work: Array, dof: Array, flags: Array
) -> None:
    """Mass matrix (nv, nv) at q, armature included; matrix comes in as zeros, qd does not matter."""
    body_int, _, _, _, dof_float = arrays
    outward(arrays, q, qd, work, dof, flags)
    for i in range(body_int.shape[0] - 1, -1, -1):
        inertia = load_inertia(work, i)
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            force = momentum(inertia, load_twist(dof, d, at.SUBSPACE))
            for e in range(first, d + 1):
                matrix[d, e] = dot6(load_twist(dof, e, at.SUBSPACE), force)
                matrix[e, d] = matrix[d, e]
            matrix[d, d] += dof_float[d, at.ARMATURE]
            ancestor = body_int[i, at.PARENT]
            while ancestor >= 0:
                start = body_int[ancestor, at.DOF_START]
                for e in range(start, start + body_int[ancestor, at.DOF_COUNT]):
                    matrix[d, e] = dot6(load_twist(dof, e, at.SUBSPACE), force)
                    matrix[e, d] = matrix[d, e]
                ancestor = body_int[ancestor, at.PARENT]
        parent = body_int[i, at.PARENT]
        if parent >= 0:
            add_inertia(work, parent, inertia)
    if arrays[at.MODEL_DATA][at.MUSCLE_MASSIVE] > 0.0:
        add_masses(arrays, q, qd, matrix, work, dof)
