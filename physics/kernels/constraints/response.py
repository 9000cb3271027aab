"""Response of a tree to impulses: velocities by O(n) passes with articulated inertias, and the matrix J M^-1 J^T."""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import load6, load_twist, store3, store_twist
from ..algebra.vectors import STILL, Array, Twist, dot6, scale_add6
from ..compiler.jit import inline, shared
from ..forces.limits import coupled_to
from . import layout as con
from .couplings import coupled_response
from .dense_response import dense_response


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
def speed_along(k: int, velocity: Array, jacobian: Array) -> float:
    """Row k of the Jacobian times velocities."""
    values, columns, spans = jacobian
    total = 0.0
    for c in range(spans[k, con.SPAN_COUNT]):
        total += values[k, c] * velocity[columns[k, c]]
    return total


@inline
def invert_tree(body_int: Array, span: Array, work: Array, dof: Array, vectors: Array) -> None:
    """Responses to each coordinate of a tree with six of them."""
    first = span[0]
    for d in range(first, span[1]):
        vectors[0, d] = 1.0
        change = vectors[con.INVERSES + d - first]
        impulse_response(body_int, span[2], span[3], vectors[0], change, work, dof)
        vectors[0, d] = 0.0
    vectors[con.KNOWN, first] = 1.0


@inline
def answer_tree(
    body_int: Array,
    k: int,
    span: Array,
    work: Array,
    dof: Array,
    jacobian: Array,
    response: Array,
    into: int,
    vectors: Array,
) -> None:
    """Response to row k of the Jacobian in a tree, from `into` on. span: its coordinates and bodies."""
    values, columns, spans = jacobian
    first, end = span[0], span[1]
    if end - first == con.SIX:
        if vectors[con.KNOWN, first] == 0.0:
            invert_tree(body_int, span, work, dof, vectors)
        change = STILL
        for c in range(spans[k, con.SPAN_COUNT]):
            d = columns[k, c]
            if first <= d < end:
                one = load6(vectors, con.INVERSES + d - first, first)
                change = scale_add6(change, values[k, c], one)
        store3(response, k, into, (change[0], change[1], change[2]))
        store3(response, k, into + 3, (change[3], change[4], change[5]))
        return
    for c in range(spans[k, con.SPAN_COUNT]):
        vectors[0, columns[k, c]] += values[k, c]
    impulse_response(body_int, span[2], span[3], vectors[0], vectors[1], work, dof)
    for c in range(spans[k, con.SPAN_COUNT]):
        vectors[0, columns[k, c]] = 0.0
    for d in range(first, end):
        response[k, into + d - first] = vectors[1, d]
        vectors[1, d] = 0.0


@inline
def answer(
    arrays: Array,
    k: int,
    work: Array,
    dof: Array,
    jacobian: Array,
    responses: Array,
    vectors: Array,
) -> None:
    """Response to row k of the Jacobian in the coordinates of the row's trees, or in all: if muscles have mass, by the
    factors of `couplings`; with soft bodies by those of `dense_response`. Then clears prescribed coordinates from the
    row.
    """
    (values, columns, spans), (response, ranges) = jacobian, responses
    for j in range(con.RANGES_WIDTH):
        ranges[k, j] = 0
    if vectors.shape[0] > con.WORK_VECTORS or dof.shape[1] > at.DOF_WORK_WIDTH:
        ranges[k, con.RANGE_END] = dof.shape[0]
        for c in range(spans[k, con.SPAN_COUNT]):
            vectors[0, columns[k, c]] += values[k, c]
        if vectors.shape[0] > con.WORK_VECTORS:
            dense_response(vectors[con.WORK_VECTORS :], vectors[0], response[k], dof)
        else:
            coupled_response(arrays, vectors[0], response[k], work, dof)
        for c in range(spans[k, con.SPAN_COUNT]):
            vectors[0, columns[k, c]] = 0.0
    else:
        into = 0
        for side in range(2):
            span = spans[k, con.SPAN_FIRST + side * con.SPAN_RANGE :]
            ranges[k, side * con.RANGE], ranges[k, side * con.RANGE + con.RANGE_END] = span[0], span[1]
            if span[0] < span[1]:
                answer_tree(arrays[at.BODY_INT], k, span, work, dof, jacobian, response, into, vectors)
            into += span[1] - span[0]
    for c in range(spans[k, con.SPAN_COUNT]):
        if dof[columns[k, c], at.HELD] != 0.0:
            values[k, c] = 0.0


@inline
def forget_responses(system: Array) -> None:
    """Note that the trees' inertias have changed."""
    known = system[con.SYSTEM_VECTORS][con.KNOWN]
    for d in range(known.shape[0]):
        known[d] = 0.0


@shared
def respond(arrays: Array, first: int, count: int, system: Array, spaces: Array) -> None:
    """Responses of rows first..count. Clears prescribed coordinates from the Jacobian, after their speeds were used."""
    work, dof, _ = spaces
    jacobian, responses = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_RESPONSE]
    for k in range(first, count):
        answer(arrays, k, work, dof, jacobian, responses, system[con.SYSTEM_VECTORS])


@shared
def assemble(
    first: int,
    end: int,
    islands: Array,
    member: int,
    jacobian: Array,
    responses: Array,
    answers: Array,
    matrix: Array,
) -> None:
    """The matrix J M^-1 J^T of an island's rows, in a column of islands from first to end, numbered from 0. answers
    (nv,): zero.
    """
    (values, columns, spans), (response, ranges) = jacobian, responses
    for i in range(end - first):
        k, into = islands[first + i, member], 0
        for side in (0, con.RANGE):
            for d in range(ranges[k, side], ranges[k, side + con.RANGE_END]):
                answers[d] = response[k, into]
                into += 1
        for j in range(i + 1):
            row, total = islands[first + j, member], 0.0
            for c in range(spans[row, con.SPAN_COUNT]):
                total += values[row, c] * answers[columns[row, c]]
            matrix[i, j] = total
            matrix[j, i] = total
        for side in (0, con.RANGE):
            for d in range(ranges[k, side], ranges[k, side + con.RANGE_END]):
                answers[d] = 0.0


@inline
def own_response(k: int, system: Array) -> float:
    """Speed of row k by a unit of its own impulse."""
    values, columns, spans = system[con.SYSTEM_JACOBIAN]
    response, ranges = system[con.SYSTEM_RESPONSE]
    total, before = 0.0, ranges[k, con.RANGE_END] - ranges[k, 0]
    for c in range(spans[k, con.SPAN_COUNT]):
        d = columns[k, c]
        if ranges[k, 0] <= d < ranges[k, con.RANGE_END]:
            total += values[k, c] * response[k, d - ranges[k, 0]]
        else:
            total += values[k, c] * response[k, before + d - ranges[k, con.RANGE]]
    return total


@inline
def add_response(k: int, amount: float, held: bool, dof: Array, responses: Array, vector: Array) -> None:
    """Add an amount of row k's response to a vector (nv,), in the coordinates that are, or are not, prescribed."""
    (response, ranges), into = responses, 0
    for side in (0, con.RANGE):
        for d in range(ranges[k, side], ranges[k, side + con.RANGE_END]):
            if (dof[d, at.HELD] != 0.0) == held:
                vector[d] += amount * response[k, into]
            into += 1


@shared
def apply_impulses(count: int, impulse: Array, dof: Array, responses: Array, velocity: Array) -> None:
    """Add the impulses' effect to the velocities (nv,), except to prescribed ones."""
    for k in range(count):
        if impulse[k] != 0.0:
            add_response(k, impulse[k], False, dof, responses, velocity)


@shared
def held_efforts(count: int, rows: Array, dof: Array, responses: Array, effort: Array) -> None:
    """Forces (nv,) on prescribed coordinates: those of the dynamics, and those of the rows' forces."""
    some = False
    for d in range(effort.shape[0]):
        effort[d] = 0.0
        if dof[d, at.HELD] != 0.0:
            effort[d], some = dof[d, at.EFFORT], True
    for k in range(count if some else 0):
        add_response(k, rows[k, con.ROW_FORCE], True, dof, responses, effort)
