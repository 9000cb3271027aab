"""Joint-space mass matrix: the composite-rigid-body algorithm in world axes."""

from __future__ import annotations

from ._jit import jit
from .inertia import store_rigid_inertia, stored_inertia_times, world_inertia
from .joint import advance_joint
from .layout import ANGULAR, ARMATURE, DOF_COUNT, DOF_START, PARENT, SUBSPACE
from .spatial import Array, dot6, load6


@jit
def mass_matrix(
    arrays: Array, q: Array, qd: Array, matrix: Array, work: Array, dof: Array, flags: Array
) -> None:
    """Mass matrix (nv, nv) at q, armature included; matrix comes in as zeros, qd does not matter."""
    body_int, body_float, _, _, dof_float = arrays
    count = body_int.shape[0]
    for i in range(count):
        advance_joint(arrays, i, q, qd, work, dof, flags)
        mass, com, angular = world_inertia(body_float, i, work)
        store_rigid_inertia(work, i, mass, com, angular)
    for i in range(count - 1, -1, -1):
        first = body_int[i, DOF_START]
        for d in range(first, first + body_int[i, DOF_COUNT]):
            force = stored_inertia_times(work, i, load6(dof, d, SUBSPACE))
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
            for k in range(ANGULAR, ANGULAR + 21):
                work[parent, k] += work[i, k]
