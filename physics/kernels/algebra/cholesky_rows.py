"""Cholesky's factor of the mass matrix of free coordinates, kept in the coordinates' workspace (see `dense`)."""

from __future__ import annotations

import math

from .. import layout as at
from ..compiler.jit import shared
from .vectors import Array

# As in `aba`: a coordinate with less than this share of its inertia remaining is a combination of others.
SINGULAR_SHARE = 1e-13


@shared
def factorize_rows(dof: Array) -> int:
    """Store Cholesky's factor of the free coordinates' mass matrix after its rows; returns the first coordinate without
    inertia, or -1.
    """
    nv = dof.shape[0]
    mass, factor = at.DOF_WORK_WIDTH, at.DOF_WORK_WIDTH + nv
    for d in range(nv):
        if dof[d, at.HELD] != 0.0:
            continue
        for e in range(d + 1):
            if dof[e, at.HELD] != 0.0:
                continue
            total = dof[d, mass + e]
            for k in range(e):
                if dof[k, at.HELD] == 0.0:
                    total -= dof[d, factor + k] * dof[e, factor + k]
            if e < d:
                dof[d, factor + e] = total / dof[e, factor + e]
            elif total > SINGULAR_SHARE * dof[d, mass + d]:
                dof[d, factor + d] = math.sqrt(total)
            else:
                return d
    return -1


@shared
def solve_rows_of(right: Array, result: Array, dof: Array) -> None:
    """Solve M result = right for the free coordinates; prescribed ones get the constraint force, M result - right.

    Both may be the same array.
    """
    nv = dof.shape[0]
    mass, factor = at.DOF_WORK_WIDTH, at.DOF_WORK_WIDTH + nv
    for d in range(nv):
        total = right[d]
        if dof[d, at.HELD] == 0.0:
            for k in range(d):
                if dof[k, at.HELD] == 0.0:
                    total -= dof[d, factor + k] * result[k]
            total /= dof[d, factor + d]
        result[d] = total
    for d in range(nv - 1, -1, -1):
        if dof[d, at.HELD] == 0.0:
            total = result[d]
            for k in range(d + 1, nv):
                if dof[k, at.HELD] == 0.0:
                    total -= dof[k, factor + d] * result[k]
            result[d] = total / dof[d, factor + d]
    for d in range(nv):
        if dof[d, at.HELD] != 0.0:
            total = -right[d]
            for e in range(nv):
                if dof[e, at.HELD] == 0.0:
                    total += dof[max(d, e), mass + min(d, e)] * result[e]
            result[d] = total
