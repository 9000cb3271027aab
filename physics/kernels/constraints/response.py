"""How a tree answers impulses: velocities by O(n) passes over articulated inertias, and the matrix J M^-1 J^T of
rows.
"""

from __future__ import annotations

from ..algebra.cholesky_rows import solve_rows_of
from ..algebra.spatial import Array, Twist, dot6, load_twist, scale_add6, store_twist
from ..compiler.jit import inline, shared
from ..forces.limits import coupled_to
from ..layout import (
    ACCELERATION,
    COUPLED,
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
    ROOT,
    SUBSPACE,
    TREE_END,
)
from .layout import (
    ROW_FORCE,
    SPAN_END,
    SPAN_FIRST,
    SYSTEM_JACOBIAN,
    SYSTEM_MATRIX,
    SYSTEM_RESPONSE,
    SYSTEM_ROWS,
    SYSTEM_SPANS,
)

STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inline
def nothing(x: Twist) -> bool:
    return x[0] == 0.0 and x[1] == 0.0 and x[2] == 0.0 and x[3] == 0.0 and x[4] == 0.0 and x[5] == 0.0


@inline
def pass_inward(body_int: Array, i: int, impulse: Array, work: Array, dof: Array) -> None:
    """What body i's coordinates leave of an impulse, to its parent; nothing where nothing comes."""
    force = load_twist(work, i, FORCE)
    first, count = body_int[i, DOF_START], body_int[i, DOF_COUNT]
    still = nothing(force)
    for d in range(first, first + count):
        still = still and impulse[d] == 0.0
        dof[d, REMAINDER] = 0.0
    if still:
        return
    for d in range(first + count - 1, first - 1, -1):
        rest = dof[d, REMAINDER] + impulse[d] - dot6(load_twist(dof, d, SUBSPACE), force)
        dof[d, REMAINDER] = rest
        for back in (1, 2):  # what limits that are taken implicitly couple (`limits.take_out_coupled`)
            if dof[d, COUPLED + back] != 0.0:
                dof[d - back, REMAINDER] -= dof[d, COUPLED + back] * rest * dof[d, INVERSE]
        force = scale_add6(force, rest * dof[d, INVERSE], load_twist(dof, d, PROJECTED))
    parent = body_int[i, PARENT]
    if parent >= 0:
        store_twist(work, parent, FORCE, scale_add6(load_twist(work, parent, FORCE), 1.0, force))


@inline
def impulse_response(
    body_int: Array, start: int, end: int, impulse: Array, change: Array, work: Array, dof: Array
) -> None:
    """Change of velocity M^-1 impulse (nv,) of the whole trees that the bodies from start to end are, with the
    articulated inertias that `accelerations` left in dof; of a held coordinate the impulse that it takes to keep it.
    """
    for i in range(start, end):
        store_twist(work, i, FORCE, STILL)
    for i in range(end - 1, start - 1, -1):
        pass_inward(body_int, i, impulse, work, dof)
    for i in range(start, end):
        parent = body_int[i, PARENT]
        a = STILL
        if parent >= start:  # else it is of a tree between theirs, which rests
            a = load_twist(work, parent, ACCELERATION)
        moved = not nothing(a)
        first = body_int[i, DOF_START]
        for d in range(first, first + body_int[i, DOF_COUNT]):
            change[d] = 0.0
            if not moved and dof[d, REMAINDER] == 0.0:  # another tree, or a branch that is not reached
                continue
            moved = True
            rest = dof[d, REMAINDER] - dot6(load_twist(dof, d, PROJECTED), a) - coupled_to(change, d, dof)
            if dof[d, HELD] != 0.0:
                change[d] = -rest
            else:
                change[d] = rest * dof[d, INVERSE]
                a = scale_add6(a, change[d], load_twist(dof, d, SUBSPACE))
        store_twist(work, i, ACCELERATION, a)


@inline
def speed_along(row: Array, velocity: Array) -> float:
    """A row of the Jacobian times velocities."""
    total = 0.0
    for d in range(row.shape[0]):
        total += row[d] * velocity[d]
    return total


@inline
def trees_moved(body_int: Array, row: Array) -> tuple[int, int]:
    """The first body of the trees that have coordinates in a row, and one behind the last; bodies of trees may be
    mixed.
    """
    start, end = body_int.shape[0], 0
    for i in range(body_int.shape[0]):
        first, moved = body_int[i, DOF_START], False
        for d in range(first, first + body_int[i, DOF_COUNT]):
            moved |= row[d] != 0.0
        if moved:
            start, end = min(start, body_int[i, ROOT]), max(end, body_int[i, TREE_END])
    return start, end


@inline
def answer(body_int: Array, row: Array, response: Array, span: Array, work: Array, dof: Array) -> None:
    """Answer to a row of the Jacobian, and the coordinates that it spans: all of them where muscles have mass, with
    the factor of `dense`, else those of the trees that the row moves.
    """
    span[SPAN_FIRST], span[SPAN_END] = 0, 0
    if dof.shape[1] > DOF_WORK_WIDTH:
        span[SPAN_END] = dof.shape[0]
        solve_rows_of(row, response, dof)
        return
    for d in range(response.shape[0]):
        response[d] = 0.0
    start, end = trees_moved(body_int, row)
    if start < end:
        span[SPAN_FIRST] = body_int[start, DOF_START]
        span[SPAN_END] = body_int[end - 1, DOF_START] + body_int[end - 1, DOF_COUNT]
        impulse_response(body_int, start, end, row, response, work, dof)


@shared
def respond(body_int: Array, first: int, count: int, work: Array, dof: Array, system: Array) -> None:
    """Answers of rows first..count, and the matrix of all rows up to count; held coordinates leave the Jacobian,
    whose speeds must be known before.
    """
    jacobian, response = system[SYSTEM_JACOBIAN], system[SYSTEM_RESPONSE]
    matrix, spans = system[SYSTEM_MATRIX], system[SYSTEM_SPANS]
    for k in range(first, count):
        answer(body_int, jacobian[k], response[k], spans[k], work, dof)
        begin, end = spans[k, SPAN_FIRST], spans[k, SPAN_END]
        for d in range(begin, end):
            if dof[d, HELD] != 0.0:
                jacobian[k, d] = 0.0
        for j in range(k + 1):
            total = 0.0
            for d in range(max(begin, spans[j, SPAN_FIRST]), min(end, spans[j, SPAN_END])):
                total += jacobian[j, d] * response[k, d]
            matrix[k, j] = total
            matrix[j, k] = total


@shared
def apply_impulses(count: int, impulse: Array, dof: Array, system: Array, velocity: Array) -> None:
    """Add what the impulses bring to the velocities (nv,); held coordinates stay."""
    response, spans = system[SYSTEM_RESPONSE], system[SYSTEM_SPANS]
    for k in range(count):
        if impulse[k] != 0.0:
            for d in range(spans[k, SPAN_FIRST], spans[k, SPAN_END]):
                if dof[d, HELD] == 0.0:
                    velocity[d] += impulse[k] * response[k, d]


@shared
def held_efforts(count: int, dof: Array, system: Array, effort: Array) -> None:
    """Forces (nv,) that held coordinates take: those of the dynamics, and those of the rows' forces."""
    rows, response = system[SYSTEM_ROWS], system[SYSTEM_RESPONSE]
    for d in range(effort.shape[0]):
        effort[d] = 0.0
        if dof[d, HELD] != 0.0:
            effort[d] = dof[d, EFFORT]
            for k in range(count):
                effort[d] += rows[k, ROW_FORCE] * response[k, d]
