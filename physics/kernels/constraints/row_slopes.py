"""Exact derivatives of the rows' forces and speeds by coordinates: T = d(J^T l)/dq and B = d(J q')/dq at fixed l, q'.

The rows of a constraint push a body with a wrench w_a and another with w_b (see `row_pieces`): J^T l is w_a . S_d over
the coordinates d of one and w_b . S_d over those of the other, and J q' is w_a . V_a + w_b . V_b. Coordinate e of a
displaces all that is beyond it by its twist S_e. The wrenches change by dw_a and dw_b, S_d beyond e by ad S_e S_d, and
V_a, with the velocity V of e's own body and its change R with the parent at rest, by R + ad S_e (V_a - V):

    T_de = S_d . (dw_a - S_e x* w_a) beyond e,   S_d . dw_a before it,   S_d . dw_b on the other body,
    B_e = dw_a . V_a + dw_b . V_b + w_a . (R + ad S_e (V_a - V)),

and within e's own joint, T_de = S_d . dw_a + w_a . dS_d/de. Coordinates that move both bodies change nothing.
"""

from typing import TypeAlias

from .. import layout as at
from ..algebra.access import load6, load_twist
from ..algebra.spatial import bracket, column, rotate, transposed
from ..algebra.vectors import (
    NONE,
    STILL,
    Array,
    Twist,
    Vector,
    cross,
    dot3,
    dot6,
    scale_add3,
    scale_add6,
    subtract3,
)
from ..compiler.jit import inline, shared
from ..forces.points import material, reference_of, twist_of, wrench_at, wrench_change
from ..joints.factor_tangents import joint_tangent
from ..joints.functions import evaluate_function
from ..joints.tangent import RATE, columns_of, is_screw, wrench_turned
from . import layout as con
from .row_pieces import axes_of, origin_of, sides_of
from .rows import nearest_segment

# a moment and a force, fixed in the other body; or moment 0, and a force along the line between two points, with the
# force over their distance, 0 in the first case
Load: TypeAlias = tuple[Vector, Vector, float]
# both bodies, and the levers of the points at which the load acts on them
Ends: TypeAlias = tuple[int, int, Vector, Vector]


@inline
def wrenches(load: Load, ends: Ends) -> tuple[Twist, Twist]:
    """w_a and w_b."""
    (moment, force, _), (_, _, lever, other_lever) = load, ends
    return wrench_at(lever, moment, force), scale_add6(STILL, -1.0, wrench_at(other_lever, moment, force))


@inline
def wrench_changes(load: Load, ends: Ends, s: Twist, on_body: bool) -> tuple[Twist, Twist]:
    """dw_a and dw_b where the twist s displaces one of the bodies."""
    (moment, force, tension), (_, _, lever, other_lever) = load, ends
    shift = over = material(s, lever) if on_body else NONE
    turn = NONE if on_body else (s[0], s[1], s[2])
    d_moment, d_force = cross(turn, moment), cross(turn, force)
    if tension != 0.0:
        over = NONE if on_body else material(s, other_lever)
        apart = subtract3(shift, over)
        along = dot3(force, apart) / dot3(force, force)
        d_force = scale_add3(scale_add3(NONE, tension, apart), -tension * along, force)
    mine = wrench_change(lever, shift, force, d_moment, d_force)
    return mine, scale_add6(STILL, -1.0, wrench_change(other_lever, over, force, d_moment, d_force))


@shared
def add_force_slopes(
    arrays: Array, ends: Ends, load: Load, tangent: Array, dof: Array, slopes: Array
) -> None:
    """Add the T (nv, nv) of a load."""
    body_int, block_int, columns = arrays[at.BODY_INT], arrays[at.BLOCK_INT], columns_of(tangent)
    both = wrenches(load, ends)
    a, b = ends[0], ends[1]
    while a != b:
        on_body = a > b  # parents come first: the body with the larger number cannot carry the other
        i = a if on_body else b
        wrench = both[0] if on_body else both[1]
        first = body_int[i, at.DOF_START]
        end = first + body_int[i, at.DOF_COUNT]
        for e in range(first, end):
            s = load_twist(dof, e, at.SUBSPACE)
            changes = wrench_changes(load, ends, s, on_body)
            turned = scale_add6(changes[0] if on_body else changes[1], -1.0, wrench_turned(s, wrench))
            c, d = ends[0], ends[1]
            while c != d:
                mine = c > d
                j = c if mine else d
                change = changes[0] if mine else changes[1]
                if mine == on_body and j > i:
                    change = turned
                start = body_int[j, at.DOF_START]
                for k in range(start, start + body_int[j, at.DOF_COUNT]):
                    slopes[k, e] += dot6(load_twist(dof, k, at.SUBSPACE), change)
                if mine:
                    c = body_int[j, at.PARENT]
                else:
                    d = body_int[j, at.PARENT]
            if not is_screw(body_int, block_int, i):
                for k in range(first, end):
                    slopes[k, e] += dot6(load6(tangent, e, columns + 6 * (k - first)), wrench)
        if on_body:
            a = body_int[i, at.PARENT]
        else:
            b = body_int[i, at.PARENT]


@inline
def along_joint(body_int: Array, i: int, weights: Array, dof: Array) -> Twist:
    """The twist of body i against its parent for velocities weights (nv,)."""
    total, first = STILL, body_int[i, at.DOF_START]
    for d in range(first, first + body_int[i, at.DOF_COUNT]):
        total = scale_add6(total, weights[d], load_twist(dof, d, at.SUBSPACE))
    return total


@shared
def pull_force_slopes(
    arrays: Array, ends: Ends, load: Load, tangent: Array, dof: Array, weights: Array, pulled: Array
) -> None:
    """Add weights^T T (nv,) of a load, in time linear in the bodies."""
    body_int, block_int, columns = arrays[at.BODY_INT], arrays[at.BLOCK_INT], columns_of(tangent)
    both, mine, theirs = wrenches(load, ends), STILL, STILL  # twists of both bodies for velocities weights
    a, b = ends[0], ends[1]
    while a != b:
        if a > b:
            mine, a = scale_add6(mine, 1.0, along_joint(body_int, a, weights, dof)), body_int[a, at.PARENT]
        else:
            theirs, b = (
                scale_add6(theirs, 1.0, along_joint(body_int, b, weights, dof)),
                body_int[b, at.PARENT],
            )
    beyond, other_beyond = STILL, STILL
    a, b = ends[0], ends[1]
    while a != b:
        on_body = a > b
        i = a if on_body else b
        wrench, out = (both[0], beyond) if on_body else (both[1], other_beyond)
        first = body_int[i, at.DOF_START]
        end = first + body_int[i, at.DOF_COUNT]
        for e in range(first, end):
            s = load_twist(dof, e, at.SUBSPACE)
            changes = wrench_changes(load, ends, s, on_body)
            pulled[e] += (
                dot6(mine, changes[0]) + dot6(theirs, changes[1]) - dot6(out, wrench_turned(s, wrench))
            )
            if not is_screw(body_int, block_int, i):
                for k in range(first, end):
                    pulled[e] += weights[k] * dot6(load6(tangent, e, columns + 6 * (k - first)), wrench)
        out = scale_add6(out, 1.0, along_joint(body_int, i, weights, dof))
        if on_body:
            beyond, a = out, body_int[i, at.PARENT]
        else:
            other_beyond, b = out, body_int[i, at.PARENT]


@shared
def take_speed_slopes(
    arrays: Array, ends: Ends, load: Load, tangent: Array, spaces: Array, slopes: Array
) -> None:
    """Set the B (nv,) of a row whose force 1 is a load, where coordinates change it."""
    body_int, block_int, (work, dof, _) = arrays[at.BODY_INT], arrays[at.BLOCK_INT], spaces
    both, (a, b, _, _) = wrenches(load, ends), ends
    mine, theirs = twist_of(work, a), twist_of(work, b)
    while a != b:
        on_body = a > b
        i = a if on_body else b
        beyond = scale_add6(mine if on_body else theirs, -1.0, load_twist(work, i, at.VELOCITY))
        first = body_int[i, at.DOF_START]
        for e in range(first, first + body_int[i, at.DOF_COUNT]):
            s = load_twist(dof, e, at.SUBSPACE)
            rate = bracket(s, beyond)
            if not is_screw(body_int, block_int, i):
                rate = scale_add6(rate, 1.0, load6(tangent, e, RATE))
            changes = wrench_changes(load, ends, s, on_body)
            slopes[e] = dot6(changes[0], mine) + dot6(changes[1], theirs)
            slopes[e] += dot6(both[0] if on_body else both[1], rate)
        if on_body:
            a = body_int[i, at.PARENT]
        else:
            b = body_int[i, at.PARENT]


@shared
def coupling_slopes(
    constraints: Array, k: int, force: float, q: Array, qd: Array, turned: Array, swung: Array
) -> None:
    """Add T and B of coupling k (see `rows.coupling_row`)."""
    con_int, _, data, _, _ = constraints
    first = con_int[k, con.CONSTRAINT_DATA] + 1
    end = place = first + 2 * int(data[first - 1])
    while first < end:
        after, u, rate = first + 2 * int(data[place]), 0.0, 0.0
        for j in range(first, after, 2):
            u += data[j + 1] * q[int(data[j])]
            rate += data[j + 1] * qd[int(data[j])]
        curve = evaluate_function(data, place + 2, u)[2]
        for j in range(first, after, 2):
            bent = curve * data[j + 1]
            swung[int(data[j])] -= bent * rate
            for i in range(first, after, 2):
                turned[int(data[i]), int(data[j])] -= force * bent * data[i + 1]
        first, place = after, place + 2 + int(data[place + 1])


@shared
def row_slopes(
    arrays: Array,
    constraints: Array,
    forces: Array,
    q: Array,
    qd: Array,
    tangents: tuple[Array, Array, Array, Array],
    spaces: Array,
    turned: Array,
    swung: Array,
    weights: Array,
    pulled: Array,
) -> None:
    """T (nv, nv) of forces (rows,) and B (rows, nv), of rows without rolling ones; after `kinematics` at (q, q').

    Where there are weights (nv,), add weights^T T to pulled (nv,) instead; T and B are lost.
    """
    body_int, (con_int, con_float, con_data, _, _) = arrays[at.BODY_INT], constraints
    (work, dof, _), (tangent, _, scratch, _), whole = spaces, tangents, weights.shape[0] == 0
    turned[:] = 0.0
    swung[:] = 0.0
    for i in range(body_int.shape[0]):
        if not is_screw(body_int, arrays[at.BLOCK_INT], i):
            joint_tangent(arrays, i, q, qd, tangent, scratch, work)
    coupled = False
    for k in range(con_int.shape[0]):
        kind = con_int[k, con.CONSTRAINT_KIND]
        body, other, row = sides_of(con_int, k)
        if kind == con.COUPLING:
            coupling_slopes(constraints, k, forces[row], q, qd, turned, swung[row])
            coupled = True
            continue
        p = origin_of(body_int, work, body, con_float, k, con.FRAME_ON_BODY)
        o = origin_of(body_int, work, other, con_float, k, con.FRAME_ON_OTHER)
        base = axes_of(work, other, con_float, k, con.FRAME_ON_OTHER)
        span, over, length = subtract3(p, o), p, 0.0
        if kind == con.DISTANCE:
            over, length = o, dot3(span, span) ** 0.5
        lever = subtract3(p, reference_of(body_int, work, body))
        ends = body, other, lever, subtract3(over, reference_of(body_int, work, other))
        moment, force, tension, own = NONE, NONE, 0.0, 0.0
        for j in range(6 if kind == con.FRAMES else 1):
            u = column(base, j % 3)
            if kind == con.FRAMES and con_int[k, con.CONSTRAINT_LOCKS] & (1 << j) == 0:
                continue
            if kind == con.SEGMENTS:
                place = rotate(transposed(base), span)
                _, x, z = nearest_segment(con_data, con_int[k, con.CONSTRAINT_DATA], place[0], place[2])
                u = rotate(base, (x, 0.0, z))
            elif kind == con.DISTANCE:
                if not length > 1e-12:
                    continue
                own = con_data[con_int[k, con.CONSTRAINT_DATA]] / length
                u = scale_add3(NONE, own, span)
            load = (NONE, u, own) if j < 3 else (u, NONE, 0.0)
            if whole:
                take_speed_slopes(arrays, ends, load, tangent, spaces, swung[row])
            moment = scale_add3(moment, forces[row], load[0])
            force = scale_add3(force, forces[row], load[1])
            tension += forces[row] * load[2]
            row += 1
        if not dot3(moment, moment) + dot3(force, force) > 0.0:
            continue
        if whole:
            add_force_slopes(arrays, ends, (moment, force, tension), tangent, dof, turned)
        else:
            pull_force_slopes(arrays, ends, (moment, force, tension), tangent, dof, weights, pulled)
    if coupled and not whole:
        for d in range(weights.shape[0]):
            for e in range(weights.shape[0]):
                pulled[e] += weights[d] * turned[d, e]
