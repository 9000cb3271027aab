"""Contacts as rows: along the normal and, with friction, along two tangents."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.access import load3, load_twist
from ..algebra.vectors import NONE, Array, Vector, add3, cross, dot3, scale_add3, subtract3
from ..compiler.jit import entry, inline, shared
from ..constraints import layout as con
from ..constraints.response import speed_along
from ..constraints.row_pieces import bias_of, point_acceleration, push_row
from ..constraints.rows import system_rows
from ..forces.limits import limit_value
from ..forces.points import reference_of, twist_of
from ..joints.kinematics import kinematics
from . import layout as contact
from .colliding import collide, overflows
from .detection import detect_contacts
from .unilateral import SETTLED, aim_row

# Reach of detection: the distance that bodies could move in this number of steps.
STEPS_AHEAD = 3.0
# Colliders that their speeds would not bring together in this time [s] are far from each other.
AHEAD = 0.1
# A body rests on its carrier if its relative rotation rate is below this share of the carrier's.
ALIKE = 1e-3
# Tangents change their axis at this component of a normal.
TURN = 0.65


@shared
def find_contacts(arrays: Array, contacts: Array, dt: float, work: Array) -> int:
    """Write the contacts that bodies at their speeds could close within the step to found; returns their number."""
    pairs, found, size = contacts[contact.PAIRS], contacts[contact.FOUND], contacts[contact.SIZE]
    if pairs[contact.PAIR_COUNT] == 0.0:
        return collide(arrays, contacts, STEPS_AHEAD * dt, -1.0, work, 0)
    fastest = 0.0
    for i in range(arrays[at.BODY_INT].shape[0]):
        v = load_twist(work, i, at.VELOCITY)
        w = (v[0], v[1], v[2])
        going = add3((v[3], v[4], v[5]), cross(w, load3(work, i, at.ORIGIN)))
        fastest = max(fastest, math.sqrt(dot3(going, going)) + size[contact.FARTHEST] * math.sqrt(dot3(w, w)))
    reach = STEPS_AHEAD * dt * fastest + size[contact.LEAST_REACH]
    count = detect_contacts(arrays, pairs, reach, work, found)
    return count + collide(arrays, contacts, STEPS_AHEAD * dt, -1.0, work, count)


@shared
def note_overlap(touching: int, found: Array, statistics: Array) -> None:
    """Record the deepest penetration so far: impulses cannot prevent one that a prescribed motion causes."""
    for k in range(touching):
        if -found[k, contact.FOUND_GAP] > statistics[con.OVERLAP]:
            statistics[con.OVERLAP], statistics[con.DEEPEST] = (
                -found[k, contact.FOUND_GAP],
                found[k, contact.FOUND_SOURCE],
            )


@inline
def tangents(n: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors perpendicular to a normal and to each other. Where they change their axis no common normal lies:
    impulses are remembered along them.
    """
    t = (0.0, n[2], -n[1]) if abs(n[0]) <= TURN else (-n[2], 0.0, n[0])
    scale = 1.0 / math.sqrt(dot3(t, t))
    t = (scale * t[0], scale * t[1], scale * t[2])
    return t, cross(n, t)


@inline
def how_prescribed(body_int: Array, dof: Array, body: int) -> tuple[bool, bool]:
    """Whether prescribed coordinates affect a body's motion, and whether they alone determine it."""
    some, all_of_them = False, True
    while body >= 0:
        first = body_int[body, at.DOF_START]
        for d in range(first, first + body_int[body, at.DOF_COUNT]):
            some |= dof[d, at.HELD] != 0.0
            all_of_them &= dof[d, at.HELD] != 0.0
        body = body_int[body, at.PARENT]
    return some, some and all_of_them


@shared
def moves_freely(body_int: Array, dof: Array, found: Array, known: int, body: int) -> bool:
    """Whether no prescribed coordinate affects a body's motion, and no known contact joins it with a partly prescribed
    body: the velocities of such a body at a step's end contradict those of fully prescribed ones.
    """
    free = not how_prescribed(body_int, dof, body)[0]
    for c in range(known):
        touching, other = int(found[c, contact.FOUND_BODY]), int(found[c, contact.FOUND_OTHER])
        if free and (touching == body or other == body):
            some, alone = how_prescribed(body_int, dof, other if touching == body else touching)
            free = alone or not some
    return free


@inline
def lag_of_turning(body_int: Array, dof: Array, body: int) -> Vector:
    """Angular velocity at a step's end of a prescribed body, less its mean over the step."""
    turning = NONE
    while body >= 0:
        first = body_int[body, at.DOF_START]
        for d in range(first, first + body_int[body, at.DOF_COUNT]):
            s = load_twist(dof, d, at.SUBSPACE)
            turning = scale_add3(turning, dof[d, at.LAG], (s[0], s[1], s[2]))
        body = body_int[body, at.PARENT]
    return turning


@shared
def carried_drift(
    arrays: Array, half: float, work: Array, dof: Array, body: int, other: int, point: Vector
) -> Vector:
    """Slip speed at a step's beginning of a body on a rotating prescribed body for which the slip over the step (half:
    half of it) vanishes: otherwise it would move along tangents and creep outwards.

    Both rotate alike, except for their lag (`lag_along`), so the drift is the same everywhere on the body. It is zero
    for bodies that roll or slide, and for bodies on free ones, whose links use velocities at the step's beginning,
    which contradict it.
    """
    drag = twist_of(work, other)
    twist = twist_of(work, body)
    spin = (twist[0] - drag[0], twist[1] - drag[1], twist[2] - drag[2])
    turning, late = (drag[0], drag[1], drag[2]), lag_of_turning(arrays[at.BODY_INT], dof, other)
    alike = ALIKE * math.sqrt(dot3(turning, turning)) + 2.0 * math.sqrt(dot3(late, late))
    if not math.sqrt(dot3(spin, spin)) < alike:
        return NONE
    lever = subtract3(point, reference_of(arrays[at.BODY_INT], work, body))
    under = subtract3(point, reference_of(arrays[at.BODY_INT], work, other))
    mine = point_acceleration(bias_of(work, body), twist, lever)
    return scale_add3(NONE, -half, subtract3(mine, point_acceleration(bias_of(work, other), drag, under)))


@inline
def lag_along(k: int, jacobian: Array, dof: Array) -> float:
    """Excess along row k's direction of prescribed velocities at a step's end over their mean: a body that moves with
    them covers the same distance over the step.
    """
    values, columns, spans = jacobian
    speed = 0.0
    for c in range(spans[k, con.SPAN_COUNT]):
        if dof[columns[k, c], at.HELD] != 0.0:
            speed += values[k, c] * dof[columns[k, c], at.LAG]
    return speed


@inline
def add_tangents(
    body_int: Array,
    bodies: tuple[int, int],
    point: Vector,
    normal: Vector,
    row: int,
    prescribed: bool,
    drift: Vector,
    system: Array,
    spaces: Array,
) -> None:
    """The two rows of sliding of a contact with friction, from `row` on. drift: slip speed at the step's beginning that
    gives no slip over the step. prescribed: whether the body moves as far as a prescribed obstacle.
    """
    rows, jacobian = system[con.SYSTEM_ROWS], system[con.SYSTEM_JACOBIAN]
    axes = tangents(normal)
    for j in range(2):
        push_row(
            body_int,
            spaces[at.WORK],
            spaces[at.DOF],
            bodies[0],
            bodies[1],
            point,
            point,
            axes[j],
            row + j,
            jacobian,
        )
        rows[row + j, con.ROW_FREE] = speed_along(row + j, system[con.SYSTEM_FREE], jacobian)
        rows[row + j, con.ROW_AIM] = dot3(axes[j], drift)
        if prescribed:
            rows[row + j, con.ROW_AIM] += lag_along(row + j, jacobian, spaces[at.DOF])
        rows[row + j, con.ROW_VALUE] = 0.0
        system[con.SYSTEM_RESTITUTION][row + j] = 0.0
        system[con.SYSTEM_FRICTION][row + j] = 0.0
        system[con.SYSTEM_KINDS][row + j] = con.TANGENT


@shared
def add_contacts(
    arrays: Array,
    contacts: Array,
    known: int,
    count: int,
    dt: float,
    course: tuple[float, float],
    qd: Array,
    last_qd: Array,
    system: Array,
    memory: Array,
    spaces: Array,
) -> int:
    """Append the known contacts that the velocities qd would close, or that were active in the last step; returns the
    new number of rows.
    """
    body_int, first, found = (
        arrays[at.BODY_INT],
        int(arrays[at.MODEL_DATA][at.LIMIT_COUNT]),
        contacts[contact.FOUND],
    )
    work, dof, flags = spaces
    if overflows(arrays, contacts) != 0:
        flags[at.STATUS], flags[at.CULPRIT] = at.TOO_MANY_CONTACTS, int(found[0, contact.FOUND_BODY])
        return count
    rows, jacobian = system[con.SYSTEM_ROWS], system[con.SYSTEM_JACOBIAN]
    kinds, friction, impulse = (
        system[con.SYSTEM_KINDS],
        system[con.SYSTEM_FRICTION],
        system[con.SYSTEM_IMPULSE],
    )
    for c in range(known):
        pair = first + int(found[c, contact.FOUND_PAIR])
        if memory[pair, con.ACTIVE] != 0.0:
            continue
        body, other = int(found[c, contact.FOUND_BODY]), int(found[c, contact.FOUND_OTHER])
        if count + 3 + first > rows.shape[0]:  # space for the limits remains
            flags[at.STATUS], flags[at.CULPRIT] = at.TOO_MANY_CONTACTS, body
            return count
        point, normal = load3(found, c, contact.FOUND_POINT), load3(found, c, contact.FOUND_NORMAL)
        push_row(body_int, work, dof, body, other, point, point, normal, count, jacobian)
        before = speed_along(count, last_qd, jacobian)
        value = found[c, contact.FOUND_GAP]
        aim_row(count, value, dt, before, found[c, contact.FOUND_RESTITUTION], course, system)
        speed, reach = speed_along(count, qd, jacobian), rows[count, con.ROW_AIM]
        impact = system[con.SYSTEM_RESTITUTION][count] > 0.0 and speed < 0.0
        warm = memory[pair, con.WARM] != 0.0
        if not warm and not impact and speed - reach >= -SETTLED * (abs(speed) + abs(reach)):
            continue
        rows[count, con.ROW_VALUE] = value
        width = 3 if found[c, contact.FOUND_FRICTION] > 0.0 else 1
        kinds[count] = con.NORMAL if width == 3 else con.UNILATERAL
        friction[count] = found[c, contact.FOUND_FRICTION]
        if width == 3:
            drift, prescribed = NONE, warm and not impact and how_prescribed(body_int, dof, other)[1]
            if prescribed:
                drift = carried_drift(arrays, 0.5 * dt, work, dof, body, other, point)
                prescribed = moves_freely(body_int, dof, found, known, body)
            add_tangents(body_int, (body, other), point, normal, count + 1, prescribed, drift, system, spaces)
        for j in range(width):
            rows[count + j, con.ROW_OWNER] = -1.0 - pair
            impulse[count + j] = memory[pair, con.WARM + j]
        memory[pair, con.ACTIVE] = 1.0
        count += width
    return count


@entry
def least_gap(
    arrays: Array, constraints: Array, contacts: Array, q: Array, qd: Array, system: Array, spaces: Array
) -> float:
    """The smallest gap of all contacts, or value of all hard limits and one-sided constraints, at coordinates q."""
    data = arrays[at.MODEL_DATA]
    pairs, found = contacts[contact.PAIRS], contacts[contact.FOUND]
    work, dof, flags = spaces
    kinematics(arrays, q, qd, work, dof, flags)
    least = math.inf
    for k in range(system_rows(arrays, constraints, False, q, qd, system, spaces)):
        if system[con.SYSTEM_KINDS][k] != con.EQUALITY:
            least = min(least, system[con.SYSTEM_ROWS][k, con.ROW_VALUE])
    count = detect_contacts(arrays, pairs, math.inf, work, found) if pairs[contact.PAIR_COUNT] > 0.0 else 0
    count += collide(arrays, contacts, AHEAD, -1.0, work, count)
    for c in range(count):
        least = min(least, found[c, contact.FOUND_GAP])
    for k in range(int(data[at.LIMIT_COUNT])):
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        if data[row + at.LIMIT_RESTITUTION] >= 0.0:
            least = min(least, limit_value(data, row, q)[0])
    return least
