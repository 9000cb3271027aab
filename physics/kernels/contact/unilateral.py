"""One-sided rows of a step: hard limits of joints, and contacts with friction.

A row is added if the velocities would take a limit or a contact beyond zero within the step, or if it was active in the
last step, so that all rows of stacked bodies are included at once.
"""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from ..constraints.response import speed_along
from ..constraints.row_pieces import add_column, begin_row
from ..forces.limits import limit_value

# Relative tolerance of a target speed.
SETTLED = 1e-12
# A gap below this [m, rad] counts as closed: correcting round-off would demand speeds between resting points of one
# body that no motion of the body has.
FLUSH = 1e-13
# Relative change of an impulse from step to step up to which its bodies rest.
RESTING = 1e-6


@inline
def share_until_hit(value: float, before: float, gain: float, dt: float) -> float:
    """The share of a step after which a gap closes. The gap is `value` at the beginning, changes at the speed `before`
    < 0, which falls by `gain` over the step: the first root of value + before t - gain t^2 / (2 dt) within the step.

    At rest both gap and speed are round-off, so only gain counts.
    """
    speed = math.sqrt(max(before * before + 2.0 * gain * value / dt, 0.0))
    return min(max(2.0 * value / (dt * (speed - before)), 0.0), 1.0)


@inline
def aim_row(
    k: int,
    value: float,
    dt: float,
    before: float,
    restitution: float,
    course: tuple[float, float],
    system: Array,
) -> None:
    """Least target speed of row k, a limit or a contact, from its speeds without impulses and before the step; its
    restitution if it is an impact.

    Before the limit it is the speed that just reaches it; beyond it (errors of second order carry curved ones there)
    the speed that returns within a whole step, never faster than an elastic impact. course is (hit, whole), whole the
    length of the whole step: in a short part of it, tiny impulses could not undo the errors of the step before.

    Restitution applies to the speed at the instant of impact, after the share `hit` of the step's forces; the rest acts
    after it. It is 0 if the step's forces add more speed than there was: neither a resting body bounces, nor one that
    an accelerating platform lifts. For methods of second order (hit < 0) the instant follows from the trajectory;
    otherwise energy would grow or fall with every impact.
    """
    row = system[con.SYSTEM_ROWS][k]
    speed = speed_along(k, system[con.SYSTEM_FREE], system[con.SYSTEM_JACOBIAN])
    hit, whole = course
    reach = -value / (dt if value > 0.0 else whole) if abs(value) > FLUSH else 0.0
    if value < 0.0:
        reach = min(reach, max(-speed, 0.0))
    row[con.ROW_FREE] = speed
    row[con.ROW_AIM] = reach
    system[con.SYSTEM_RESTITUTION][k] = 0.0
    gain = before - speed
    if hit < 0.0 and before < 0.0:
        hit = share_until_hit(value, before, gain, dt)
    elif before >= 0.0 or gain >= -before:
        restitution = 0.0
    back = restitution * (gain * hit - before) - gain * (1.0 - hit)
    # an impact that rebounds faster than its target; without restitution not by round-off either
    if restitution > 0.0 and speed < reach and back > max(reach, 0.0):
        row[con.ROW_AIM] = 0.0
        system[con.SYSTEM_RESTITUTION][k] = back / -speed


@shared
def add_limits(
    body_int: Array,
    data: Array,
    count: int,
    dt: float,
    course: tuple[float, float],
    q: Array,
    qd: Array,
    last_qd: Array,
    system: Array,
    memory: Array,
) -> int:
    """Append the hard limits that the velocities qd would pass, or that were active in the last step; returns the new
    number of rows.
    """
    rows, jacobian = system[con.SYSTEM_ROWS], system[con.SYSTEM_JACOBIAN]
    for k in range(int(data[at.LIMIT_COUNT])):
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        if memory[k, con.ACTIVE] != 0.0 or data[row + at.LIMIT_RESTITUTION] < 0.0:
            continue
        value, gradient, width = limit_value(data, row, q)
        d = int(data[row + at.LIMIT_DOF])
        begin_row(body_int, int(data[row + at.LIMIT_BODY]), -1, count, jacobian)
        add_column(d, gradient[0], count, jacobian)
        if width == 3:
            add_column(d + 1, gradient[1], count, jacobian)
            add_column(d + 2, gradient[2], count, jacobian)
        before = speed_along(count, last_qd, jacobian)
        aim_row(count, value, dt, before, data[row + at.LIMIT_RESTITUTION], course, system)
        speed, reach = speed_along(count, qd, jacobian), rows[count, con.ROW_AIM]
        impact = system[con.SYSTEM_RESTITUTION][count] > 0.0 and speed < 0.0
        warm = memory[k, con.WARM] != 0.0
        if not warm and not impact and speed - reach >= -SETTLED * (abs(speed) + abs(reach)):
            continue
        rows[count, con.ROW_VALUE] = value
        rows[count, con.ROW_OWNER] = -1.0 - k
        system[con.SYSTEM_KINDS][count] = con.UNILATERAL
        system[con.SYSTEM_FRICTION][count] = 0.0
        system[con.SYSTEM_IMPULSE][count] = memory[k, con.WARM]
        memory[k, con.ACTIVE] = 1.0
        count += 1
    return count


@shared
def forget_active(memory: Array) -> None:
    """Mark all limits and contacts as inactive."""
    for k in range(memory.shape[0]):
        memory[k, con.ACTIVE] = 0.0


@shared
def remember(count: int, system: Array, memory: Array) -> None:
    """Store the impulses of limits and contacts as a warm start, at rest their mean with those before: each step also
    undoes the speeds that the last one left, and the next one would redo that.
    """
    rows, kinds, impulse = system[con.SYSTEM_ROWS], system[con.SYSTEM_KINDS], system[con.SYSTEM_IMPULSE]
    for k in range(memory.shape[0]):
        if memory[k, con.ACTIVE] == 0.0:
            for j in range(3):
                memory[k, con.WARM + j] = 0.0
    for k in range(count):
        owner = int(rows[k, con.ROW_OWNER])
        if owner < 0 and kinds[k] != con.TANGENT:
            last = memory[-1 - owner, con.WARM]
            share = 0.5 if abs(impulse[k] - last) <= RESTING * impulse[k] else 0.0
            for j in range(3 if kinds[k] == con.NORMAL else 1):
                at_last = memory[-1 - owner, con.WARM + j]
                memory[-1 - owner, con.WARM + j] = impulse[k + j] + share * (at_last - impulse[k + j])
