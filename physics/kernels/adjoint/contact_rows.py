"""Equations of contacts and hard limits at the end of a step, backwards (see `stepping.stopping.stop_within`).

The stages end with velocities v, and the step with v1 = v + M^-1 J^T p and q1 = q0 + h v1, with M, J and the gaps at
q0. Each contact is open, sticks or slides, and remains so: p = 0; J_n v1 = a and J_t v1 = 0; or J_n v1 = a and
p_t = -mu p_n s with s = J_t v1 / |J_t v1|. The normal speed is a = -gap / h, at most -J_n v where the gap is negative.
A limit has only the first equation. With S = (1 - s s^T) / |J_t v1|, derivatives n, m of a loss by q1 and v1, and m' =
m + h n, the solution of

    (M + sum mu p_n J_t^T S J_t) y + J^T z = m',    J_n y = 0 and J_t y = 0,  or sliding (J_n - mu s^T J_t) y = 0

with z of these equations gives the derivatives by v, M y, and by q0, n - d(y^T M (v1 - v)) + d(y^T J^T p - z^T J v1)
- z_n J_n / h, with z_t = mu p_n S J_t y of sliding contacts. Where equations depend on others, as those of two corners
of a body that stick, z is not unique and y is: a small compliance c and a few steps of refinement find it.
"""

import math
from typing import TypeAlias

from .. import layout as at
from ..algebra.lu import lu_factorize, lu_solve
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from ..contact.unilateral import FLUSH
from ..stepping.bundles import Implicit
from ..stepping.rollout import copy
from .rows import fill_row

# `stepping.bundles.More` and workspace of the steps, matrix and its pivots (nv + r,), J (r, nv), vectors (see below;
# nv + r), shape of a contact, notes (see below), and of each turn of the step where its stages end, q* and v*, and the
# effect E of its impulses (turns, 3, nv)
Touching: TypeAlias = tuple[Array, Implicit, Array, Array, Array, Array, Array, Array, Array]
# vectors: y and z, the step of refinement, compliances, and the weights of rows in slopes: of p, of v1, and of v
ANSWER, STEP, COMPLIANCE, OF_IMPULSE, OF_END, OF_TRIAL, STATE = range(7)
# and over turns: derivatives by the state before the step, by what the stages of the turn at hand end with, by the
# forces of impulses in all stages so far, and by those in the last ones
SUM_Q, SUM_QD, BY_FREE, BY_PUSHES, BY_PUSH = range(7, 12)
VECTORS = 12
# states of rows: no equation, one of its own, that of a sliding contact
OPEN, SHUT, SLIDING = 0.0, 1.0, 2.0
# notes: how often a step was at the edge of another set; the row of found of a contact without derivative, plus 1
EDGE, ROUGH = range(2)
NOTES = 2
# of a turn
TRIAL_Q, TRIAL_QD, EFFECT = range(3)

# Compliance of equations, relative to their response, and how often the answer is refined.
DEPENDENT, REFINED = 1e-8, 3
# Shares of the largest impulse, and of the cone's width, that are round-off; speeds [m/s] of 1 m/s that are.
NO_IMPULSE, ON_CONE, STILL = 1e-9, 1e-6, 1e-9
# Share of velocities by which those of impulses that were solved for twice differ.
FOUND_AGAIN = 1e-6


@inline
def along(jacobian: Array, k: int, x: Array) -> float:
    """Row k of J times x."""
    total = 0.0
    for d in range(jacobian.shape[1]):
        total += jacobian[k, d] * x[d]
    return total


@shared
def find_states(count: int, v1: Array, system: Array, touching: Touching) -> None:
    """J, and of each row whether it has an equation; notes where another set of them is as near."""
    _, _, _, _, jacobian, vectors, _, notes, _ = touching
    kinds = system[con.SYSTEM_KINDS]
    impulse, friction, most, fastest = system[con.SYSTEM_IMPULSE], system[con.SYSTEM_FRICTION], 0.0, 1.0
    for d in range(v1.shape[0]):
        fastest = max(fastest, abs(v1[d]))
    for k in range(count):
        most = max(most, abs(impulse[k]))
        vectors[STATE, k] = OPEN
        fill_row(k, True, system, jacobian)
    for k in range(count):
        if kinds[k] == con.TANGENT or not impulse[k] > NO_IMPULSE * most:
            continue
        vectors[STATE, k] = SHUT
        if kinds[k] == con.NORMAL:
            width = friction[k] * impulse[k]
            pull = math.sqrt(impulse[k + 1] ** 2 + impulse[k + 2] ** 2)
            slip = math.sqrt(along(jacobian, k + 1, v1) ** 2 + along(jacobian, k + 2, v1) ** 2)
            inside = pull < (1.0 - ON_CONE) * width
            sliding = not inside and slip > STILL * fastest
            notes[EDGE] += 0.0 if inside or sliding else 1.0
            vectors[STATE, k] = SLIDING if sliding else SHUT
            vectors[STATE, k + 1] = vectors[STATE, k + 2] = OPEN if sliding else SHUT


@inline
def slip_of(k: int, v1: Array, jacobian: Array) -> tuple[float, float, float]:
    """Direction of a sliding contact's slip, and its speed."""
    one, other = along(jacobian, k + 1, v1), along(jacobian, k + 2, v1)
    speed = math.sqrt(one * one + other * other)
    return one / speed, other / speed, speed


@shared
def fill_matrix(count: int, v1: Array, mass: Array, system: Array, touching: Touching, dof: Array) -> int:
    """The matrix of y and z, and its right side after the nv numbers of m'; returns the number of equations."""
    _, _, matrix, _, jacobian, vectors, _, _, _ = touching
    impulse, friction, nv = system[con.SYSTEM_IMPULSE], system[con.SYSTEM_FRICTION], dof.shape[0]
    right = vectors[ANSWER]
    for d in range(nv):
        held = dof[d, at.HELD] != 0.0
        for e in range(nv):
            apart = held or dof[e, at.HELD] != 0.0
            matrix[d, e] = (1.0 if d == e else 0.0) if apart else mass[d, e]
        if held:
            right[d] = 0.0
    n = nv
    for k in range(count):
        if vectors[STATE, k] == OPEN:
            continue
        sliding, one, other, speed, share = vectors[STATE, k] == SLIDING, 0.0, 0.0, 1.0, 0.0
        if sliding:
            one, other, speed = slip_of(k, v1, jacobian)
            share = friction[k] * impulse[k] / speed
        answer = 0.0
        for d in range(nv):
            row = jacobian[k, d]
            if sliding:
                across = one * jacobian[k + 2, d] - other * jacobian[k + 1, d]
                row -= friction[k] * (one * jacobian[k + 1, d] + other * jacobian[k + 2, d])
                for e in range(nv):
                    matrix[d, e] += share * across * (one * jacobian[k + 2, e] - other * jacobian[k + 1, e])
            matrix[n, d], matrix[d, n] = row, jacobian[k, d]
            answer += jacobian[k, d] * jacobian[k, d] / mass[d, d]
        for j in range(n):
            if j >= nv:
                matrix[n, j] = matrix[j, n] = 0.0
        vectors[COMPLIANCE, n] = DEPENDENT * answer if answer > 0.0 else 1.0
        matrix[n, n], right[n] = -vectors[COMPLIANCE, n], 0.0
        n += 1
    return n


@shared
def solve_refined(nv: int, n: int, touching: Touching) -> int:
    """y and z in ANSWER from their right side, in place, and in STEP what the equations lack; returns a coordinate
    without a pivot, or -1.
    """
    _, _, whole, pivots, _, vectors, _, _, _ = touching
    matrix, answer, step = whole[:n], vectors[ANSWER, :n], vectors[STEP, :n]
    bad = lu_factorize(matrix, pivots)
    if bad >= 0:
        return min(bad, nv - 1)
    lu_solve(matrix, pivots, answer)
    copy(answer, step)
    for _ in range(REFINED):
        for i in range(n):
            step[i] = 0.0 if i < nv else -vectors[COMPLIANCE, i] * step[i]
        lu_solve(matrix, pivots, step)
        for i in range(n):
            answer[i] += step[i]
    for i in range(nv, n):
        step[i] *= vectors[COMPLIANCE, i]
    return -1


@shared
def weigh_rows(
    count: int, h: float, v1: Array, system: Array, touching: Touching, by_q: Array, by_qd: Array
) -> bool:
    """Weights of the rows in slopes, and derivatives by the normal speeds' targets; whether one depends on v."""
    _, _, _, _, jacobian, vectors, _, _, _ = touching
    rows, impulse, friction = system[con.SYSTEM_ROWS], system[con.SYSTEM_IMPULSE], system[con.SYSTEM_FRICTION]
    n, nv, capped = v1.shape[0], v1.shape[0], False
    y = vectors[ANSWER, :nv]
    for k in range(count):
        vectors[OF_END, k] = vectors[OF_TRIAL, k] = vectors[OF_IMPULSE, k] = 0.0
    for k in range(count):
        state = vectors[STATE, k]
        if state == OPEN:
            continue
        z = vectors[ANSWER, n]
        n += 1
        vectors[OF_IMPULSE, k], vectors[OF_END, k] = impulse[k], -z
        if system[con.SYSTEM_KINDS][k] == con.TANGENT:
            continue
        if state == SLIDING:
            one, other, speed = slip_of(k, v1, jacobian)
            across = one * along(jacobian, k + 2, y) - other * along(jacobian, k + 1, y)
            across *= friction[k] * impulse[k] / speed
            vectors[OF_IMPULSE, k + 1], vectors[OF_IMPULSE, k + 2] = impulse[k + 1], impulse[k + 2]
            vectors[OF_END, k + 1], vectors[OF_END, k + 2] = other * across, -one * across
        value, aim = rows[k, con.ROW_VALUE], rows[k, con.ROW_AIM]
        reached = along(jacobian, k, v1)
        stopped = aim > 0.0 and abs(reached - aim) > FOUND_AGAIN * aim and abs(reached) < abs(reached - aim)
        if value < -FLUSH and (stopped or -value / h > aim):
            if not stopped and aim > 0.0:
                capped = True
                vectors[OF_TRIAL, k] = -z
                for d in range(nv):
                    by_qd[d] -= z * jacobian[k, d]
        else:
            for d in range(nv):
                by_q[d] -= z / h * jacobian[k, d]
    return capped


@shared
def note_edges(count: int, v1: Array, system: Array, touching: Touching) -> None:
    """Note contacts and limits without impulse that the step just reaches, if they would change y, and equations that
    contradict others: there the motion depends on how a simulation shares the weight among contacts.
    """
    _, _, _, _, jacobian, vectors, _, notes, _ = touching
    y, fastest = vectors[ANSWER, : v1.shape[0]], 1.0
    for d in range(v1.shape[0]):
        fastest = max(fastest, abs(v1[d]))
    n = v1.shape[0]
    for k in range(count):
        size = 0.0
        for d in range(v1.shape[0]):
            size += abs(jacobian[k, d] * y[d])
        if vectors[STATE, k] != OPEN:
            notes[EDGE] += 1.0 if abs(vectors[STEP, n]) > ON_CONE * size else 0.0
            n += 1
            continue
        if system[con.SYSTEM_KINDS][k] == con.TANGENT:
            continue
        beyond = along(jacobian, k, v1) - system[con.SYSTEM_ROWS][k, con.ROW_AIM]
        if beyond <= STILL * fastest and abs(along(jacobian, k, y)) > ON_CONE * size:
            notes[EDGE] += 1.0
