"""Pieces of a constraint's rows: speeds of points and rotation rates of one body relative to another.

A row's speed is that of a point along a direction, or of rotation about it: u = w_a . V_a - w_b . V_b with wrenches w
about the reference points of the bodies' trees (Wang 2022, eqs. 3.36 and 4.98); its row of the Jacobian by the
coordinates is w_a . S_d over the ancestors of a, less w_b . S_d over those of b.
"""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import load3, load9, load_rotation, load_twist
from ..algebra.spatial import column, multiply, rotate
from ..algebra.vectors import (
    NONE,
    STILL,
    Array,
    Rotation,
    Twist,
    Vector,
    add3,
    cross,
    dot3,
    dot6,
    scale_add3,
    subtract3,
)
from ..compiler.jit import inline, shared
from ..forces.points import material, reference_of, twist_of
from . import layout as con


@inline
def bias_of(work: Array, body: int) -> Twist:
    """Acceleration of a body without accelerations of coordinates and without gravity."""
    if body < 0:
        return STILL
    return load_twist(work, body, at.BIAS)


# A share below this fraction of its bound is round-off and must be dropped: a row that no coordinate moves, such as one
# across the plane of a linkage, would otherwise demand a huge impulse.
ROUND_OFF = 1e-14
# A whole row below this fraction of its bound is dropped too: frames given with seven digits have such errors.
FLAT = 3e-6


@inline
def cover(body_int: Array, body: int, row: Array) -> None:
    """Add the tree of a body to the ranges of a row of spans. Ranges that touch are merged."""
    if body < 0:
        return
    root = body_int[body, at.ROOT]
    last = body_int[root, at.TREE_END]
    first = body_int[root, at.DOF_START]
    end = body_int[last - 1, at.DOF_START] + body_int[last - 1, at.DOF_COUNT]
    if first == end:
        return
    side = con.SPAN_FIRST
    if row[con.SPAN_END] > 0:
        for known in (con.SPAN_FIRST, con.SPAN_SECOND):
            if row[known] <= first and end <= row[known + 1]:
                return
        apart = end <= row[con.SPAN_FIRST] or row[con.SPAN_END] <= first
        if apart and row[con.SPAN_SECOND + 1] == 0:
            side = con.SPAN_SECOND
        else:
            for other in (con.SPAN_FIRST, con.SPAN_SECOND):
                if row[other + 1] > 0:
                    first, end = min(first, row[other]), max(end, row[other + 1])
                    root, last = min(root, row[other + 2]), max(last, row[other + 3])
            for j in range(con.SPAN_RANGE):
                row[con.SPAN_SECOND + j] = 0
    row[side], row[side + 1], row[side + 2], row[side + 3] = first, end, root, last


@inline
def begin_row(body_int: Array, body: int, other: int, k: int, jacobian: Array) -> None:
    """Clear row k, which moves the trees of two bodies."""
    row = jacobian[con.SPANS][k]
    row[con.SPAN_COUNT], row[con.SPAN_END] = 0, 0
    for j in range(con.SPAN_RANGE):
        row[con.SPAN_SECOND + j] = 0
    cover(body_int, body, row)
    if other >= 0:
        cover(body_int, other, row)


@inline
def add_column(d: int, value: float, k: int, jacobian: Array) -> None:
    """Add a coordinate's share to row k; several for one coordinate sum up."""
    values, columns, spans = jacobian
    count = spans[k, con.SPAN_COUNT]
    values[k, count], columns[k, count], spans[k, con.SPAN_COUNT] = value, d, count + 1


@inline
def drop_flat(k: int, total: float, most: float, jacobian: Array) -> None:
    """Clear row k, of which the squares sum up to a total, if the coordinates hardly move it."""
    values, _, spans = jacobian
    if total <= FLAT * FLAT * most:
        for c in range(spans[k, con.SPAN_COUNT]):
            values[k, c] = 0.0


@inline
def squares_of(wrench: Twist) -> tuple[float, float]:
    """Squares of a wrench's moment and force."""
    moment = wrench[0] * wrench[0] + wrench[1] * wrench[1] + wrench[2] * wrench[2]
    return moment, wrench[3] * wrench[3] + wrench[4] * wrench[4] + wrench[5] * wrench[5]


@shared
def fill_row(
    body_int: Array, dof: Array, body: int, other: int, mine: Twist, theirs: Twist, k: int, jacobian: Array
) -> None:
    """Row k: the shares of a wrench on a body, and of one on another, in the coordinates that move one of them.

    Those that move both feel nothing of such a pair.
    """
    begin_row(body_int, body, other, k, jacobian)
    own, counter = squares_of(mine), squares_of(theirs)
    total, most = 0.0, 0.0
    while body != other:
        ahead = body > other
        i = body if ahead else other
        wrench, squares = (mine, own) if ahead else (theirs, counter)
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            s = load_twist(dof, d, at.SUBSPACE)
            share = dot6(s, wrench)
            bound = squares[0] * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
            bound += squares[1] * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5])
            if share * share <= ROUND_OFF * ROUND_OFF * bound:
                share = 0.0
            add_column(d, share, k, jacobian)
            total += share * share
            most += bound
        if ahead:
            body = body_int[i, at.PARENT]
        else:
            other = body_int[i, at.PARENT]
    drop_flat(k, total, most, jacobian)


@inline
def sides_of(con_int: Array, k: int) -> tuple[int, int, int]:
    """Both bodies of constraint k, and the first of its rows."""
    return con_int[k, con.CONSTRAINT_BODY], con_int[k, con.CONSTRAINT_OTHER], con_int[k, con.CONSTRAINT_ROW]


@inline
def axes_of(work: Array, body: int, con_float: Array, k: int, frame: int) -> Rotation:
    """World axes of a frame on a body."""
    r = load9(con_float, k, frame)
    return r if body < 0 else multiply(load_rotation(work, body), r)


@inline
def origin_of(body_int: Array, work: Array, body: int, con_float: Array, k: int, frame: int) -> Vector:
    """Origin of a frame on a body in the world."""
    p = load3(con_float, k, frame + 9)
    if body < 0:
        return p
    place = add3(load3(work, body, at.ORIGIN), rotate(load_rotation(work, body), p))
    return add3(place, load3(work, body_int[body, at.ROOT], at.REFERENCE))


@inline
def point_acceleration(a: Twist, v: Twist, lever: Vector) -> Vector:
    """Acceleration of the material point at a lever from the reference point."""
    w = (v[0], v[1], v[2])
    return add3(material(a, lever), cross(w, material(v, lever)))


@inline
def wrench_at(lever: Vector, u: Vector, sign: float) -> Twist:
    """Wrench of a force sign u at a lever."""
    m = cross(lever, u)
    return sign * m[0], sign * m[1], sign * m[2], sign * u[0], sign * u[1], sign * u[2]


@shared
def push_row(
    body_int: Array,
    work: Array,
    dof: Array,
    body: int,
    other: int,
    place: Vector,
    over: Vector,
    u: Vector,
    k: int,
    jacobian: Array,
) -> float:
    """Row k of the Jacobian, of the speed along u of the body's point `place` relative to the other's point `over`, and
    its bias for fixed u; both points in the world. If they differ, u is along the line between them.
    """
    lever = subtract3(place, reference_of(body_int, work, body))
    mine, theirs = wrench_at(lever, u, 1.0), STILL
    bias = dot3(u, point_acceleration(bias_of(work, body), twist_of(work, body), lever))
    if other >= 0:
        lever = subtract3(over, reference_of(body_int, work, other))
        theirs = wrench_at(lever, u, -1.0)
        bias -= dot3(u, point_acceleration(bias_of(work, other), twist_of(work, other), lever))
    fill_row(body_int, dof, body, other, mine, theirs, k, jacobian)
    return bias


@shared
def turn_row(
    body_int: Array, work: Array, dof: Array, body: int, other: int, u: Vector, k: int, jacobian: Array
) -> float:
    """Row k of the Jacobian, of the relative rotation about u, an axis of the other body, and its bias."""
    wrench, counter = (u[0], u[1], u[2], 0.0, 0.0, 0.0), (-u[0], -u[1], -u[2], 0.0, 0.0, 0.0)
    fill_row(body_int, dof, body, other, wrench, counter, k, jacobian)
    bias = dot6(wrench, bias_of(work, body))
    if other >= 0:
        bias -= dot6(wrench, bias_of(work, other))
        v, drag = load_twist(work, body, at.VELOCITY), load_twist(work, other, at.VELOCITY)
        turning = (drag[0], drag[1], drag[2])
        bias += dot3((v[0] - drag[0], v[1] - drag[1], v[2] - drag[2]), cross(turning, u))
    return bias


@inline
def velocity_between(body_int: Array, work: Array, body: int, other: int, place: Vector) -> Vector:
    """Velocity of the body's point relative to the other's at the same place."""
    v = material(twist_of(work, body), subtract3(place, reference_of(body_int, work, body)))
    drag = material(twist_of(work, other), subtract3(place, reference_of(body_int, work, other)))
    return subtract3(v, drag)


@inline
def slide_row(
    body_int: Array,
    work: Array,
    dof: Array,
    body: int,
    other: int,
    place: Vector,
    u: Vector,
    k: int,
    jacobian: Array,
) -> float:
    """As `push_row` for one place, with u fixed in the other body, whose rotation is in the bias."""
    bias = push_row(body_int, work, dof, body, other, place, place, u, k, jacobian)
    if other >= 0:
        drag = load_twist(work, other, at.VELOCITY)
        slip = velocity_between(body_int, work, body, other, place)
        bias -= 2.0 * dot3(u, cross((drag[0], drag[1], drag[2]), slip))
    return bias


@inline
def fill_point(
    body_int: Array,
    dof: Array,
    body: int,
    other: int,
    lever: Vector,
    counter: Vector,
    axes: Rotation,
    k: int,
    jacobian: Array,
) -> None:
    """`fill_row` for three rows from k on: forces along three axes at levers on either body."""
    x, y, z = column(axes, 0), column(axes, 1), column(axes, 2)
    mine = cross(lever, x), cross(lever, y), cross(lever, z)
    theirs = cross(counter, x), cross(counter, y), cross(counter, z)
    most, total = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(3):
        begin_row(body_int, body, other, k + j, jacobian)
    while body != other:
        ahead = body > other
        i, sign = (body, 1.0) if ahead else (other, -1.0)
        m, n, o = mine if ahead else theirs
        first = body_int[i, at.DOF_START]
        for d in range(first, first + body_int[i, at.DOF_COUNT]):
            s = load_twist(dof, d, at.SUBSPACE)
            w, v = (s[0], s[1], s[2]), (s[3], s[4], s[5])
            shares = dot3(m, w) + dot3(x, v), dot3(n, w) + dot3(y, v), dot3(o, w) + dot3(z, v)
            turn, push = dot3(w, w), dot3(v, v)
            own = (dot3(m, m) * turn + push, dot3(n, n) * turn + push, dot3(o, o) * turn + push)
            squares = (shares[0] * shares[0], shares[1] * shares[1], shares[2] * shares[2])
            most = add3(most, own)
            for j in range(3):
                small = squares[j] <= ROUND_OFF * ROUND_OFF * own[j]
                add_column(d, 0.0 if small else sign * shares[j], k + j, jacobian)
            total = add3(total, squares)
        if ahead:
            body = body_int[i, at.PARENT]
        else:
            other = body_int[i, at.PARENT]
    for j in range(3):
        drop_flat(k + j, total[j], most[j], jacobian)


@shared
def point_rows(
    body_int: Array,
    work: Array,
    dof: Array,
    body: int,
    other: int,
    place: Vector,
    axes: Rotation,
    k: int,
    rows: Array,
    jacobian: Array,
) -> None:
    """`slide_row` along the three axes of a frame on the other body, into the rows from k on."""
    lever, counter = subtract3(place, reference_of(body_int, work, body)), NONE
    a = point_acceleration(bias_of(work, body), twist_of(work, body), lever)
    if other >= 0:
        counter = subtract3(place, reference_of(body_int, work, other))
        drag = twist_of(work, other)
        slip = velocity_between(body_int, work, body, other, place)
        a = subtract3(a, point_acceleration(bias_of(work, other), drag, counter))
        a = scale_add3(a, -2.0, cross((drag[0], drag[1], drag[2]), slip))
    fill_point(body_int, dof, body, other, lever, counter, axes, k, jacobian)
    for j in range(3):
        rows[k + j, con.ROW_BIAS] = dot3(column(axes, j), a)
