"""The composite-rigid-body algorithm in world axes."""

from .. import layout as at
from ..algebra.access import load_twist
from ..algebra.inertia import add_inertia, load_inertia, momentum
from ..algebra.vectors import Array, dot6
from ..compiler.jit import shared


@shared
def add_composite(body_int: Array, matrix: Array, work: Array, dof: Array) -> None:
    """Add the mass matrix (nv, nv) of the bodies' inertias in work, which become composite ones."""
    for i in range(body_int.shape[0] - 1, -1, -1):
        inertia = load_inertia(work, i)
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            force = momentum(inertia, load_twist(dof, d, at.SUBSPACE))
            for e in range(first, d):
                matrix[d, e] += dot6(load_twist(dof, e, at.SUBSPACE), force)
                matrix[e, d] = matrix[d, e]
            matrix[d, d] += dot6(load_twist(dof, d, at.SUBSPACE), force)
            ancestor = body_int[i, at.PARENT]
            while ancestor >= 0:
                start = body_int[ancestor, at.DOF_START]
                for e in range(start, start + body_int[ancestor, at.DOF_COUNT]):
                    matrix[d, e] += dot6(load_twist(dof, e, at.SUBSPACE), force)
                    matrix[e, d] = matrix[d, e]
                ancestor = body_int[ancestor, at.PARENT]
        parent = body_int[i, at.PARENT]
        if parent >= 0:
            add_inertia(work, parent, inertia)
