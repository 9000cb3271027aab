"""Coordinates at rest on hard limits: Runge-Kutta steps prescribe them, so that the limits do not reduce the order."""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import shared
from ..constraints import layout as con
from ..forces.limits import limit_value

# A coordinate this near its limit [m, rad] that would move so little in a step rests.
AT_REST = 1e-12


@shared
def hold_resting(data: Array, memory: Array, dof: Array) -> None:
    """Prescribe coordinates that rest on limits."""
    for k in range(int(data[at.LIMIT_COUNT])):
        d = int(data[int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH + at.LIMIT_DOF])
        if memory[k, con.RESTS] != 0.0:
            if dof[d, at.HELD] == 0.0:
                dof[d, at.HELD], dof[d, at.GIVEN] = 1.0, 0.0
            else:  # prescribed by a motion
                memory[k, con.RESTS] = 0.0


@shared
def let_move(data: Array, memory: Array, effort: Array, dof: Array) -> None:
    """Free coordinates that rest on limits for now; their forces are not those of prescribed motions."""
    for k in range(int(data[at.LIMIT_COUNT])):
        if memory[k, con.RESTS] != 0.0:
            d = int(data[int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH + at.LIMIT_DOF])
            dof[d, at.HELD], effort[d] = 0.0, 0.0


@shared
def release_pulled(data: Array, q: Array, effort: Array, memory: Array, dof: Array) -> bool:
    """Release coordinates that a limit would have to pull; whether there were any."""
    found = False
    for k in range(int(data[at.LIMIT_COUNT])):
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        d = int(data[row + at.LIMIT_DOF])
        if memory[k, con.RESTS] != 0.0 and not limit_value(data, row, q)[1][0] * effort[d] > 0.0:
            memory[k, con.RESTS], dof[d, at.HELD], effort[d] = 0.0, 0.0, 0.0
            found = True
    return found


@shared
def come_to_rest(data: Array, dt: float, q: Array, qd: Array, memory: Array) -> None:
    """Find coordinates that rest on a limit after an impulse."""
    for k in range(int(data[at.LIMIT_COUNT])):
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        pushed = memory[k, con.RESTS] != 0.0 or memory[k, con.WARM] != 0.0
        memory[k, con.RESTS] = 0.0
        if not pushed or data[row + at.LIMIT_RESTITUTION] < 0.0:
            continue
        value, _, width = limit_value(data, row, q)
        speed = abs(qd[int(data[row + at.LIMIT_DOF])])
        if width == 1 and abs(value) <= AT_REST and dt * speed <= AT_REST:
            memory[k, con.RESTS], memory[k, con.WARM] = 1.0, 0.0
