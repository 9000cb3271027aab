"""Joint-space mass matrix: the composite-rigid-body algorithm in world axes."""

from __future__ import annotations

from ._jit import jit
from .inertia import add_inertia, load_inertia, momentum
from .joint import outward
from .layout import ARMATURE, DOF_COUNT, DOF_START, PARENT, SUBSPACE
from .spatial import Array, dot6, load6


@jit
def mass_matrix(
    arrays: Array, q: Array, qd: Array, matrix: Array, work: Array, dof: Array, flags: Array
) -> None:
    """Mass matrix (nv, nv) at q, armature included; matrix comes in as zeros, qd does not matter."""
    body_int, _, _, _, dof_float = arrays
    outward(arrays, q, qd, work, dof, flags)
    for i in range(body_int.shape[0] - 1, -1, -1):
        inertia = load_inertia(work, i)
        first = body_int[i, DOF_START]
        for d in range(first, first + body_int[i, DOF_COUNT]):
            force = momentum(inertia, load6(dof, d, SUBSPACE))
            for e in range(first, d + 1):
                matrix[d, e] = dot6(load6(dof, e, SUBSPACE), force)
                matrix[e, d] = matrix[d, e]
            matrix[d, d] += dof_float[d, ARMATURE]
            ancestor = body_int[i, PARENT]
            while ancestor >= 0:
                start = body_int[ancestor, DOF_START]
                for e in range(start, start + body_int[ancestor, DOF_COUNT]):
                    matrix[d, e] = dot6(load6(dof, e, SUBSPACE), force)
                    matrix[e, d] = matrix[d, e]
                ancestor = body_int[ancestor, PARENT]
        parent = body_int[i, PARENT]
        if parent >= 0:
            add_inertia(work, parent, inertia)
