"""Response of a tree to impulses: velocities by O(n) passes with articulated inertias, and the matrix J M^-1 J^T."""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import load_twist, store_twist
from ..algebra.cholesky_rows import solve_rows_of
from ..algebra.vectors import STILL, Array, Twist, dot6, scale_add6
from ..compiler.jit import inline, shared
from ..forces.limits import coupled_to
from . import layout as con


@inline
def nothing(x: Twist) -> bool:
    return x[0] == 0.0 and x[1] == 0.0 and x[2] == 0.0 and x[3] == 0.0 and x[4] == 0.0 and x[5] == 0.0


@inline
def pass_inward(body_int: Array, i: int, impulse: Array, work: Array, dof: Array) -> None:
    """Propagate an impulse through body i's coordinates to its parent; skips bodies without any."""
    force = load_twist(work, i, at.FORCE)
    first, count = body_int[i, at.DOF_START], body_int[i, at.DOF_COUNT]
    still = nothing(force)
    for d in range(first, first + count):
        still = still and impulse[d] == 0.0
        dof[d, at.REMAINDER] = 0.0
    if still:
        return
    for d in range(first + count - 1, first - 1, -1):
        rest = dof[d, at.REMAINDER] + impulse[d] - dot6(load_twist(dof, d, at.SUBSPACE), force)
        dof[d, at.REMAINDER] = rest
        for back in (1, 2):  # coupling of implicit limits (`limits.take_out_coupled`)
            if dof[d, at.COUPLED + back] != 0.0:
                dof[d - back, at.REMAINDER] -= dof[d, at.COUPLED + back] * rest * dof[d, at.INVERSE]
        force = scale_add6(force, rest * dof[d, at.INVERSE], load_twist(dof, d, at.PROJECTED))
    parent = body_int[i, at.PARENT]
    if parent >= 0:
        store_twist(work, parent, at.FORCE, scale_add6(load_twist(work, parent, at.FORCE), 1.0, force))


@inline
def impulse_response(
    body_int: Array, start: int, end: int, impulse: Array, change: Array, work: Array, dof: Array
) -> None:
    """Change of velocity M^-1 impulse (nv,) of whole trees, bodies start to end, with the articulated inertias that
    `accelerations` stored in dof; at prescribed coordinates the constraint impulse.
    """
    for i in range(start, end):
        store_twist(work, i, at.FORCE, STILL)
    for i in range(end - 1, start - 1, -1):
        pass_inward(body_int, i, impulse, work, dof)
    for i in range(start, end):
        parent = body_int[i, at.PARENT]
        a = STILL
        if parent >= start:  # otherwise the parent belongs to a tree outside of these, at rest
            a = load_twist(work, parent, at.ACCELERATION)
        moved = not nothing(a)
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            change[d] = 0.0
            if not moved and dof[d, at.REMAINDER] == 0.0:  # another tree, or a branch without impulse
                continue
            moved = True
            rest = (
                dof[d, at.REMAINDER] - dot6(load_twist(dof, d, at.PROJECTED), a) - coupled_to(change, d, dof)
            )
            if dof[d, at.HELD] != 0.0:
                change[d] = -rest
            else:
                change[d] = rest * dof[d, at.INVERSE]
                a = scale_add6(a, change[d], load_twist(dof, d, at.SUBSPACE))
        store_twist(work, i, at.ACCELERATION, a)


@inline
def speed_along(row: Array, velocity: Array) -> float:
    """A row of the Jacobian times velocities."""
    total = 0.0
    for d in range(row.shape[0]):
        total += row[d] * velocity[d]
    return total


@inline
def trees_moved(body_int: Array, row: Array) -> tuple[int, int]:
    """First body of the trees with coordinates in a row, and one past the last; bodies of trees may be interleaved."""
    start, end = body_int.shape[0], 0
    for i in range(body_int.shape[0]):
        first, moved = body_int[i, at.DOF_START], False
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            moved |= row[d] != 0.0
        if moved:
            start, end = min(start, body_int[i, at.ROOT]), max(end, body_int[i, at.TREE_END])
    return start, end


@inline
def answer(body_int: Array, row: Array, response: Array, span: Array, work: Array, dof: Array) -> None:
    """Response to a row of the Jacobian, and the span of its coordinates: those of the row's trees, or, if muscles have
    mass, all, by the factor of `dense`.
    """
    span[con.SPAN_FIRST], span[con.SPAN_END] = 0, 0
    if dof.shape[1] > at.DOF_WORK_WIDTH:
        span[con.SPAN_END] = dof.shape[0]
        solve_rows_of(row, response, dof)
        return
    for d in range(response.shape[0]):
        response[d] = 0.0
    start, end = trees_moved(body_int, row)
    if start < end:
        span[con.SPAN_FIRST] = body_int[start, at.DOF_START]
        span[con.SPAN_END] = body_int[end - 1, at.DOF_START] + body_int[end - 1, at.DOF_COUNT]
        impulse_response(body_int, start, end, row, response, work, dof)


@shared
def respond(body_int: Array, first: int, count: int, work: Array, dof: Array, system: Array) -> None:
    """Responses of rows first..count, and the matrix of all rows up to count. Clears prescribed coordinates from the
    Jacobian, after their speeds were used.
    """
    jacobian, response = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_RESPONSE]
    matrix, spans = system[con.SYSTEM_MATRIX], system[con.SYSTEM_SPANS]
    for k in range(first, count):
        answer(body_int, jacobian[k], response[k], spans[k], work, dof)
        begin, end = spans[k, con.SPAN_FIRST], spans[k, con.SPAN_END]
        for d in range(begin, end):
            if dof[d, at.HELD] != 0.0:
                jacobian[k, d] = 0.0
        for j in range(k + 1):
            total = 0.0
            for d in range(max(begin, spans[j, con.SPAN_FIRST]), min(end, spans[j, con.SPAN_END])):
                total += jacobian[j, d] * response[k, d]
            matrix[k, j] = total
            matrix[j, k] = total


@shared
def apply_impulses(count: int, impulse: Array, dof: Array, system: Array, velocity: Array) -> None:
    """Add the impulses' effect to the velocities (nv,), except to prescribed ones."""
    response, spans = system[con.SYSTEM_RESPONSE], system[con.SYSTEM_SPANS]
    for k in range(count):
        if impulse[k] != 0.0:
            for d in range(spans[k, con.SPAN_FIRST], spans[k, con.SPAN_END]):
                if dof[d, at.HELD] == 0.0:
                    velocity[d] += impulse[k] * response[k, d]


@shared
def held_efforts(count: int, dof: Array, system: Array, effort: Array) -> None:
    """Forces (nv,) on prescribed coordinates: those of the dynamics, and those of the rows' forces."""
    rows, response = system[con.SYSTEM_ROWS], system[con.SYSTEM_RESPONSE]
    for d in range(effort.shape[0]):
        effort[d] = 0.0
        if dof[d, at.HELD] != 0.0:
            effort[d] = dof[d, at.EFFORT]
            for k in range(count):
                effort[d] += rows[k, con.ROW_FORCE] * response[k, d]
