"""Effects of constraints on accelerations, on velocities over a step, and on positions after it.

The bodies' own dynamics stay O(n): articulated inertias give accelerations and responses to impulses along the rows of
the constraints' Jacobian; the rows' own small system J M^-1 J^T l = -u (Wang 2022, eqs. 4.101, 4.102 and 4.108, with
the coordinates eliminated) gives the impulses.
"""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from ..constraints.loops import add_changes, factorize_loops
from ..constraints.response import apply_impulses, forget_responses, respond, speed_along
from ..constraints.rows import system_rows
from ..joints.kinematics import kinematics
from .one_sided import add_violated, find_touching, solve_added
from .row_impulses import settle_equalities, solve_equalities
from .unilateral import aim_row, forget_active, remember

# Tolerance of constraints [m, rad]: far above round-off, far below anything visible.
MET = 1e-12
# A remaining drift beyond this [m, rad] is reported: redundant rows in single precision contradict each other by less.
UNSEEN = 1e-6
MOST_PROJECTIONS = 8
ASTRAY = 1e3  # diverged: times the first error
# Rounds of adding rows that the impulses of others violate: in a falling pile, they are found one by one.
MOST_ROUNDS = 64


@shared
def constrain_accelerations(
    arrays: Array, constraints: Array, q: Array, qd: Array, qdd: Array, system: Array, spaces: Array
) -> tuple[int, int]:
    """Add the effect of the equalities to accelerations qdd without constraints (Wang 2022, eq. 4.101); after
    `accelerations` at (q, qd). Leaves the rows' forces in their impulses; returns the numbers of equalities and of
    their islands.
    """
    work, dof, _ = spaces
    rows, jacobian, right = system[con.SYSTEM_ROWS], system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_RIGHT]
    forget_responses(system)
    count = system_rows(arrays, constraints, True, q, qd, system, spaces)
    for k in range(count):
        right[k] = -rows[k, con.ROW_BIAS] - speed_along(k, qdd, jacobian)
    if not factorize_loops(system, arrays, count, work, dof):
        respond(arrays, 0, count, system, spaces)
    found, _ = settle_equalities(count, arrays[at.BODY_INT], system)
    if not add_changes(system, 1.0, False, qdd):
        apply_impulses(count, system[con.SYSTEM_IMPULSE], dof, system[con.SYSTEM_RESPONSE], qdd)
    return found


@shared
def constrain_velocities(
    arrays: Array,
    constraints: Array,
    contacts: Array,
    dt: float,
    course: tuple[float, float],
    q: Array,
    qd: Array,
    last_qd: Array,
    system: Array,
    memory: Array,
    spaces: Array,
) -> tuple[int, tuple[int, int]]:
    """Impulses of all constraints in a step, added to its velocities qd; returns the number of rows, and those of the
    equalities and of their islands.

    Limits and contacts are added while the step would violate them; all rows are solved together. For `course` see
    `aim_row`.
    """
    work, dof, flags = spaces
    rows, jacobian = system[con.SYSTEM_ROWS], system[con.SYSTEM_JACOBIAN]
    impulse, free, statistics = (
        system[con.SYSTEM_IMPULSE],
        system[con.SYSTEM_FREE],
        system[con.SYSTEM_STATISTICS],
    )
    forget_responses(system)
    count = system_rows(arrays, constraints, True, q, qd, system, spaces)
    for d in range(qd.shape[0]):
        free[d] = qd[d]
    one_sided = False
    for k in range(count):
        rows[k, con.ROW_FREE] = speed_along(k, free, jacobian)
        rows[k, con.ROW_AIM] = 0.0
        system[con.SYSTEM_RESTITUTION][k] = 0.0
        if system[con.SYSTEM_KINDS][k] != con.EQUALITY:
            one_sided = True
            before = speed_along(k, last_qd, jacobian)
            aim_row(k, rows[k, con.ROW_VALUE], dt, before, 0.0, course, system)
        system[con.SYSTEM_RIGHT][k] = -rows[k, con.ROW_FREE]
    found, residual = (0, 0), 0.0
    if count > 0:
        if not factorize_loops(system, arrays, count, work, dof):
            respond(arrays, 0, count, system, spaces)
        found, residual = settle_equalities(count, arrays[at.BODY_INT], system)
        statistics[con.RESIDUAL] = max(statistics[con.RESIDUAL], residual)
    forget_active(memory)
    known, own = 0, count
    touching = find_touching(arrays, contacts, dt, work, statistics)
    for _ in range(MOST_ROUNDS):
        states = q, qd, last_qd
        count += add_violated(arrays, contacts, touching, count, dt, course, states, system, memory, spaces)
        if count == known or flags[at.STATUS] != at.OK:
            break
        if count > own or one_sided:
            residual = solve_added(arrays, contacts, known, own, count, system, spaces)
        known = count
        statistics[con.RESIDUAL] = max(statistics[con.RESIDUAL], residual)
        for d in range(qd.shape[0]):
            qd[d] = free[d]
        if not add_changes(system, 1.0, True, qd):
            apply_impulses(count, impulse, dof, system[con.SYSTEM_RESPONSE], qd)
    if flags[at.STATUS] == at.TOO_MANY_CONTACTS:  # the caller has to provide more room
        for k in range(count):
            impulse[k] = 0.0
        return count, found
    statistics[con.MOST_ROWS] = max(statistics[con.MOST_ROWS], float(count))
    if count > own:
        statistics[con.UNILATERAL_STEPS] += 1.0
    remember(count, system, memory)
    return count, found


@inline
def worst_value(
    arrays: Array, constraints: Array, q: Array, qd: Array, system: Array, spaces: Array
) -> tuple[int, float]:
    """Values of the rows at q, their number, and the largest error of an equality."""
    work, dof, flags = spaces
    kinematics(arrays, q, qd, work, dof, flags)
    count = system_rows(arrays, constraints, False, q, qd, system, spaces)
    worst = 0.0
    for k in range(count):
        system[con.SYSTEM_RIGHT][k] = -system[con.SYSTEM_ROWS][k, con.ROW_VALUE]
        if system[con.SYSTEM_KINDS][k] == con.EQUALITY:
            worst = max(worst, abs(system[con.SYSTEM_ROWS][k, con.ROW_VALUE]))
    return count, worst


@inline
def shift(
    body_int: Array,
    count: int,
    found: tuple[int, int],
    pace: float,
    q: Array,
    qd: Array,
    system: Array,
    dof: Array,
) -> None:
    """One step of `project`; the right side is minus the rows' values."""
    impulse, rows = system[con.SYSTEM_IMPULSE], system[con.SYSTEM_ROWS]
    solve_equalities(found, body_int, system)
    if not add_changes(system, 1.0, False, q):
        apply_impulses(count, impulse, dof, system[con.SYSTEM_RESPONSE], q)
    if pace != 0.0:
        for k in range(count):
            impulse[k] *= pace
            rows[k, con.ROW_FORCE] += pace * impulse[k]
        if not add_changes(system, pace, True, qd):
            apply_impulses(count, impulse, dof, system[con.SYSTEM_RESPONSE], qd)


@shared
def foresee(
    body_int: Array,
    constraints: Array,
    count: int,
    found: tuple[int, int],
    dt: float,
    q: Array,
    qd: Array,
    system: Array,
    dof: Array,
) -> None:
    """First step of `project` without evaluation: a step whose velocities meet the equalities at its beginning drifts
    by the bias of their rows, up to third order.
    """
    rows, right, statistics = system[con.SYSTEM_ROWS], system[con.SYSTEM_RIGHT], system[con.SYSTEM_STATISTICS]
    for k in range(count):
        right[k] = 0.0
        owner = int(rows[k, con.ROW_OWNER])
        if owner >= 0 and constraints[con.CON_INT][owner, con.CONSTRAINT_KIND] != con.ROLLING:
            right[k] = -(rows[k, con.ROW_VALUE] + 0.5 * dt * dt * rows[k, con.ROW_BIAS])
            if system[con.SYSTEM_KINDS][k] == con.EQUALITY:
                statistics[con.DRIFT] = max(statistics[con.DRIFT], abs(right[k]))
    shift(body_int, count, found, 1.0 / dt, q, qd, system, dof)


@shared
def turns_corner(
    arrays: Array,
    constraints: Array,
    count: int,
    dt: float,
    q: Array,
    qd: Array,
    system: Array,
    spaces: Array,
) -> bool:
    """Whether a step took a point over a corner of its segments, after `foresee`: their error then exceeds the drift
    from the bias. The correction is not a force of a step, and must not become velocity.
    """
    rows, expected, has_corners = system[con.SYSTEM_ROWS], 0.0, False
    for k in range(count):
        owner = int(rows[k, con.ROW_OWNER])
        if owner >= 0 and constraints[con.CON_INT][owner, con.CONSTRAINT_KIND] == con.SEGMENTS:
            has_corners = True
            expected = max(expected, abs(0.5 * dt * dt * rows[k, con.ROW_BIAS]))
    if not has_corners:
        return False
    worst_value(arrays, constraints, q, qd, system, spaces)
    for k in range(count):
        owner = int(rows[k, con.ROW_OWNER])
        if owner >= 0 and constraints[con.CON_INT][owner, con.CONSTRAINT_KIND] == con.SEGMENTS:
            off = abs(system[con.SYSTEM_RIGHT][k])
            if system[con.SYSTEM_KINDS][k] == con.EQUALITY and off > expected + MET:
                return True
    return False


@shared
def project(
    arrays: Array,
    constraints: Array,
    found: tuple[int, int],
    pace: float,
    q: Array,
    qd: Array,
    system: Array,
    spaces: Array,
) -> int:
    """Project q onto the constraints in the metric of the mass matrix; returns the number of rows.

    Newton's method with responses and factors from the step's beginning. pace times the shift is added to the
    velocities, and its share to the rows' forces, as of constraint forces at the step's end (SHAKE); 0: to neither.
    """
    statistics = system[con.SYSTEM_STATISTICS]
    count, worst, before, first = 0, 0.0, 0.0, 0.0
    for turn in range(MOST_PROJECTIONS):
        count, worst = worst_value(arrays, constraints, q, qd, system, spaces)
        if turn == 0:
            statistics[con.DRIFT], first = max(statistics[con.DRIFT], worst), worst
        if worst <= MET or (turn > 1 and worst > 0.5 * before) or not worst < ASTRAY * first:
            break
        before = worst
        shift(arrays[at.BODY_INT], count, found, pace, q, qd, system, spaces[at.DOF])
    statistics[con.DRIFT_LEFT], statistics[con.LEFT_NOW] = max(statistics[con.DRIFT_LEFT], worst), worst
    if not worst <= UNSEEN:
        statistics[con.UNMET] += 1.0
    return count


@inline
def note_contradiction(system: Array, flags: Array) -> None:
    """Flag a step after which equalities are violated, even where another flag is set, except lack of room."""
    torn = system[con.SYSTEM_STATISTICS][con.LEFT_NOW] > con.TORN
    if torn and flags[at.STATUS] != at.TOO_MANY_CONTACTS:
        flags[at.STATUS] = at.CONTRADICTION


@shared
def project_velocities(
    arrays: Array,
    constraints: Array,
    found: tuple[int, int],
    q: Array,
    qd: Array,
    system: Array,
    spaces: Array,
) -> None:
    """Project velocities onto the equalities at q, after `project`."""
    dof = spaces[at.DOF]
    jacobian, right = system[con.SYSTEM_JACOBIAN], system[con.SYSTEM_RIGHT]
    count = system_rows(arrays, constraints, True, q, qd, system, spaces)
    for _ in range(3):  # the responses are those of the step's beginning
        for k in range(count):
            right[k] = -speed_along(k, qd, jacobian)
        solve_equalities(found, arrays[at.BODY_INT], system)
        if not add_changes(system, 1.0, False, qd):
            apply_impulses(count, system[con.SYSTEM_IMPULSE], dof, system[con.SYSTEM_RESPONSE], qd)
