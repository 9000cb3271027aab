"""How a tree answers impulses: velocities by O(n) passes over articulated inertias, and the matrix J M^-1 J^T of
rows.
"""

from __future__ import annotations

from ._jit import inline, jit
from .cholesky_rows import solve_rows_of
from .constraint_layout import ROW_FORCE, SYSTEM_JACOBIAN, SYSTEM_MATRIX, SYSTEM_RESPONSE, SYSTEM_ROWS
from .layout import (
    ACCELERATION,
    DOF_COUNT,
    DOF_START,
    DOF_WORK_WIDTH,
    EFFORT,
    FORCE,
    HELD,
    INVERSE,
    PARENT,
    PROJECTED,
    REMAINDER,
    SUBSPACE,
)
from .spatial import Array, Twist, dot6, load6, scale_add6, store6

STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inline
def nothing(x: Twist) -> bool:
    return x[0] == 0.0 and x[1] == 0.0 and x[2] == 0.0 and x[3] == 0.0 and x[4] == 0.0 and x[5] == 0.0


@inline
def pass_inward(body_int: Array, i: int, impulse: Array, work: Array, dof: Array) -> None:
    """What body i's coordinates leave of an impulse, to its parent; nothing where nothing comes."""
    force = load6(work, i, FORCE)
    first, count = body_int[i, DOF_START], body_int[i, DOF_COUNT]
    still = nothing(force)
    for d in range(first, first + count):
        still = still and impulse[d] == 0.0
        dof[d, REMAINDER] = 0.0
    if still:
        return
    for d in range(first + count - 1, first - 1, -1):
        rest = impulse[d] - dot6(load6(dof, d, SUBSPACE), force)
        dof[d, REMAINDER] = rest
        force = scale_add6(force, rest * dof[d, INVERSE], load6(dof, d, PROJECTED))
    parent = body_int[i, PARENT]
    if parent >= 0:
        store6(work, parent, FORCE, scale_add6(load6(work, parent, FORCE), 1.0, force))


@jit
def impulse_response(body_int: Array, impulse: Array, change: Array, work: Array, dof: Array) -> None:
    """Change of velocity M^-1 impulse (nv,), with the articulated inertias that `accelerations` left in dof; of a held
    coordinate the impulse that it takes to keep it. Where muscles have mass, with the factor of `dense`.
    """
    if dof.shape[1] > DOF_WORK_WIDTH:
        solve_rows_of(impulse, change, dof)
        return
    count = body_int.shape[0]
    for i in range(count):
        store6(work, i, FORCE, STILL)
    for i in range(count - 1, -1, -1):
        pass_inward(body_int, i, impulse, work, dof)
    for i in range(count):
        parent = body_int[i, PARENT]
        a = STILL
        if parent >= 0:
            a = load6(work, parent, ACCELERATION)
        moved = not nothing(a)
        first = body_int[i, DOF_START]
        for d in range(first, first + body_int[i, DOF_COUNT]):
            change[d] = 0.0
            if not moved and dof[d, REMAINDER] == 0.0:  # another tree, or a branch that is not reached
                continue
            moved = True
            rest = dof[d, REMAINDER] - dot6(load6(dof, d, PROJECTED), a)
            if dof[d, HELD] != 0.0:
                change[d] = -rest
            else:
                change[d] = rest * dof[d, INVERSE]
                a = scale_add6(a, change[d], load6(dof, d, SUBSPACE))
        store6(work, i, ACCELERATION, a)


@inline
def speed_along(row: Array, velocity: Array) -> float:
    """A row of the Jacobian times velocities."""
    total = 0.0
    for d in range(row.shape[0]):
        total += row[d] * velocity[d]
    return total


@jit
def respond(body_int: Array, first: int, count: int, work: Array, dof: Array, system: Array) -> None:
    """Answers of rows first..count, and the matrix of all rows up to count; held coordinates leave the Jacobian,
    whose speeds must be known before.
    """
    jacobian, response, matrix = system[SYSTEM_JACOBIAN], system[SYSTEM_RESPONSE], system[SYSTEM_MATRIX]
    for k in range(first, count):
        impulse_response(body_int, jacobian[k], response[k], work, dof)
        for d in range(jacobian.shape[1]):
            if dof[d, HELD] != 0.0:
                jacobian[k, d] = 0.0
    for k in range(first, count):
        for j in range(k + 1):
            matrix[k, j] = speed_along(jacobian[j], response[k])
            matrix[j, k] = matrix[k, j]


@jit
def apply_impulses(count: int, impulse: Array, dof: Array, response: Array, velocity: Array) -> None:
    """Add what the impulses bring to the velocities (nv,); held coordinates stay."""
    for k in range(count):
        if impulse[k] != 0.0:
            for d in range(response.shape[1]):
                if dof[d, HELD] == 0.0:
                    velocity[d] += impulse[k] * response[k, d]


@jit
def held_efforts(count: int, dof: Array, system: Array, effort: Array) -> None:
    """Forces (nv,) that held coordinates take: those of the dynamics, and those of the rows' forces."""
    rows, response = system[SYSTEM_ROWS], system[SYSTEM_RESPONSE]
    for d in range(effort.shape[0]):
        effort[d] = 0.0
        if dof[d, HELD] != 0.0:
            effort[d] = dof[d, EFFORT]
            for k in range(count):
                effort[d] += rows[k, ROW_FORCE] * response[k, d]
