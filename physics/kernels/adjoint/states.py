"""Muscles in a stage backwards: their inputs, and their states (activation, fibre length).

The states x of a muscle with the path length L end a stage of length s at b + s f(x, u, L), b their known part, u the
excitation. With w the derivatives of a loss by x, those by q also have (1 - s f_x)^-T w . s f_L dL/dq, before the
solution y of the stage's equations (see `stage`). For T the muscle's pull and r = y . dL/dq,

    z = (1 - s f_x)^-T (w - r T_x)   are those by b,   and s z . f_u - r T_u   those by u.
"""

from __future__ import annotations

from typing import TypeAlias

from .. import layout as at
from ..algebra.access import flat3
from ..algebra.lanes import flat_from
from ..algebra.vectors import Array
from ..compiler.jit import entry, for_muscles, shared
from ..joints.kinematics import kinematics
from ..muscles import hill_layout as hill
from ..muscles import layout as muscle
from ..muscles.force import clear_loads, hand_over, pull_points
from ..muscles.hill_tangents import muscle_force_tangent, muscle_rates_tangent
from ..muscles.pairs import ASKED, clear_forces, collect
from ..muscles.path import trace_path
from ..stepping.bundles import Spaces
from . import layout as adjoint

Motion: TypeAlias = tuple[Array, Array, Array]

# s along a motion: differences of arms have an error of AHEAD^4, and one of round-off over AHEAD
AHEAD = 1e-4


@shared
def states_of(data: Array, row: int) -> int:
    """Number of states of the muscle with the record at row."""
    law = int(data[row + muscle.MUSCLE_LAW])
    return int(data[row + law + hill.LAW_STATES]) if law > 0 else 0


@shared
def law_arguments(data: Array, row: int, step: float, nv: int, tau: Array) -> tuple[float, float, float]:
    """Excitation, and activation and fibre length at the end of a stage, whose rates are in tau."""
    number, state = int(data[row + muscle.MUSCLE_INPUT]), int(data[row + muscle.MUSCLE_STATE])
    count, own = int(data[at.MUSCLE_STATES]), states_of(data, row)
    excitation = data[row + muscle.MUSCLE_TENSION] if number < 0 else tau[nv + number]
    activation = tau[state] + step * tau[state + count] if own > 0 else 0.0
    fibre = tau[state + 1] + step * tau[state + 1 + count] if own == 2 else 0.0
    return excitation, activation, fibre


@shared
def take_arms(
    arrays: Array, row: int, q: Array, qd: Array, still: Array, spaces: Spaces
) -> tuple[float, float]:
    """Length and speed of the path of the muscle with the record at row; dL/dq in ASKED."""
    (work, dof, flags), gravity = spaces, flat3(arrays[at.MODEL_DATA], at.GRAVITY)
    space = flat_from(work, arrays[at.BODY_INT].shape[0] + at.SCRATCH_ROWS)
    kinematics(arrays, q, qd, work, dof, flags)
    clear_forces(work, dof, arrays[at.BODY_INT].shape[0])
    count = trace_path(arrays, row, q, qd, still, gravity, False, work, space)
    clear_loads(count, space)
    pull_points(arrays, count, 1.0, False, work, space)
    hand_over(arrays, count, work, dof, space)
    collect(arrays[at.BODY_INT], work, dof)
    return space[muscle.LENGTH], space[muscle.RATE]


@entry
def forces_along(
    arrays: Array,
    index: int,
    q: Array,
    qd: Array,
    tau: Array,
    found: Array,
    by_q: Array,
    by_qd: Array,
    lent: tuple[Array, Array],
    spaces: Spaces,
) -> None:
    """Force of a muscle with a law and its derivatives by excitation, activation and fibre length (T, 4), by q and by
    q' (T, nv), for tau (T, nv + inputs + states twice). lent: zeros (nv,), and scratch (nv,).

    Derivatives of the speed by q are those of the arms along the motion, since second derivatives are symmetric.
    """
    data, (_, dof, flags), (still, place), nv = arrays[at.MODEL_DATA], spaces, lent, q.shape[1]
    row = int(data[at.MUSCLE_ROWS])
    for _ in range(index):
        row += int(data[row + muscle.MUSCLE_SIZE])
    law = row + int(data[row + muscle.MUSCLE_LAW])
    for k in range(q.shape[0]):
        length, speed = take_arms(arrays, row, q[k], qd[k], still, spaces)
        u, a, fibre = law_arguments(data, row, 0.0, nv, tau[k])
        found[k, 0], by = muscle_force_tangent(data, law, length, speed, u, a, fibre)
        found[k, 1], found[k, 2], found[k, 3] = by[2], by[3], by[4]
        fastest, status = 1.0, flags[at.STATUS]
        for d in range(nv):
            by_q[k, d], by_qd[k, d] = by[0] * dof[d, ASKED], by[1] * dof[d, ASKED]
            fastest = max(fastest, abs(qd[k, d]))
        for side in range(len(adjoint.WAYS) if by[1] != 0.0 else 0):
            for d in range(nv):
                place[d] = q[k, d] + adjoint.WAYS[side] * AHEAD / fastest * qd[k, d]
            take_arms(arrays, row, place, qd[k], still, spaces)
            for d in range(nv):
                by_q[k, d] += by[1] * adjoint.WEIGHTS[side] * fastest / AHEAD * dof[d, ASKED]
        flags[at.STATUS] = status  # places beside the motion may be out of range


@for_muscles()
def push_lengths(
    arrays: Array, step: float, motion: Motion, tau: Array, by_states: Array, by_q: Array, spaces: Spaces
) -> None:
    """Add to the derivatives by q those that come by the fibres' rates; after inverse dynamics of the stage."""
    data, (work, dof, _), (q, qd, qdd) = arrays[at.MODEL_DATA], spaces, motion
    if data[at.MUSCLE_STATES] == 0.0 or step == 0.0:
        return
    nv, gravity = q.shape[0], flat3(data, at.GRAVITY)
    space = flat_from(work, arrays[at.BODY_INT].shape[0] + at.SCRATCH_ROWS)
    clear_forces(work, dof, arrays[at.BODY_INT].shape[0])
    row = int(data[at.MUSCLE_ROWS])
    for _ in range(int(data[at.MUSCLE_COUNT])):
        if states_of(data, row) == 2:
            count = trace_path(arrays, row, q, qd, qdd, gravity, False, work, space)
            u, a, fibre = law_arguments(data, row, step, nv, tau)
            law, state = row + int(data[row + muscle.MUSCLE_LAW]), int(data[row + muscle.MUSCLE_STATE])
            _, _, _, by = muscle_rates_tangent(
                data, law, space[muscle.LENGTH], space[muscle.RATE], u, a, fibre
            )
            clear_loads(count, space)
            weight = step * by[0] * by_states[state + 1] / (1.0 - step * by[4])
            pull_points(arrays, count, weight, False, work, space)
            hand_over(arrays, count, work, dof, space)
        row += int(data[row + muscle.MUSCLE_SIZE])
    collect(arrays[at.BODY_INT], work, dof)
    for d in range(nv):
        by_q[d] += dof[d, ASKED]


@shared
def take_pull(
    data: Array,
    row: int,
    step: float,
    path: tuple[float, float, float],
    tau: Array,
    by_tau: Array,
    by_states: Array,
    nv: int,
) -> None:
    """z into by_states, and the derivative by the input to by_tau; path: L, L' and r."""
    (length, speed, r), number = path, int(data[row + muscle.MUSCLE_INPUT])
    if data[row + muscle.MUSCLE_LAW] == 0.0:
        by_tau[nv + number] -= r
        return
    law, state = row + int(data[row + muscle.MUSCLE_LAW]), int(data[row + muscle.MUSCLE_STATE])
    u, a, fibre = law_arguments(data, row, step, nv, tau)
    _, by = muscle_force_tangent(data, law, length, speed, u, a, fibre)
    by_input, own = -r * by[2], states_of(data, row)
    if own > 0 and step > 0.0:
        _, _, first_by, second_by = muscle_rates_tangent(data, law, length, speed, u, a, fibre)
        z = 0.0
        if own == 2:
            z = (by_states[state + 1] - r * by[4]) / (1.0 - step * second_by[4])
            by_states[state + 1] = z
        # the activation does not depend on the fibre
        by_states[state] += step * second_by[3] * z - r * by[3]
        by_states[state] /= 1.0 - step * first_by[3]
        by_input += step * (first_by[2] * by_states[state] + second_by[2] * z)
    if number >= 0:
        by_tau[nv + number] += by_input


@for_muscles()
def add_pulls(
    arrays: Array,
    step: float,
    motion: Motion,
    tau: Array,
    y: Array,
    by_tau: Array,
    by_states: Array,
    muscles: Array,
    spaces: Spaces,
) -> None:
    """Inputs of muscles to by_tau, and their states' derivatives in by_states to those by their known part: r is the
    rate of L where the coordinates move with y. tau has the stage's inputs, known states and rates.
    """
    data, (work, dof, flags), (q, qd, qdd) = arrays[at.MODEL_DATA], spaces, motion
    nv, gravity = q.shape[0], flat3(data, at.GRAVITY)
    space = flat_from(work, arrays[at.BODY_INT].shape[0] + at.SCRATCH_ROWS)
    for way in range(2):
        speed = qd if way == 0 else y
        kinematics(arrays, q, speed, work, dof, flags)
        row = int(data[at.MUSCLE_ROWS])
        for k in range(muscles.shape[0]):
            if data[row + muscle.MUSCLE_INPUT] >= 0.0 or states_of(data, row) > 0:
                trace_path(arrays, row, q, speed, qdd, gravity, False, work, space)
                if way == 0:
                    muscles[k, adjoint.PATH_SPEED] = space[muscle.RATE]
                else:
                    path = space[muscle.LENGTH], muscles[k, adjoint.PATH_SPEED], space[muscle.RATE]
                    take_pull(data, row, step, path, tau, by_tau, by_states, nv)
            row += int(data[row + muscle.MUSCLE_SIZE])
