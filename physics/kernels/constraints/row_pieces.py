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


@shared
def add_wrench(body_int: Array, dof: Array, body: int, wrench: Twist, sign: float, row: Array) -> float:
    """Add sign times the wrench's share in every coordinate that moves a body; returns the sum of the squared upper
    bounds of these shares.
    """
    total = 0.0
    moment = wrench[0] * wrench[0] + wrench[1] * wrench[1] + wrench[2] * wrench[2]
    force = wrench[3] * wrench[3] + wrench[4] * wrench[4] + wrench[5] * wrench[5]
    while body >= 0:
        first = body_int[body, at.DOF_START]
        for d in range(first, first + body_int[body, at.DOF_COUNT]):
            s = load_twist(dof, d, at.SUBSPACE)
            share = dot6(s, wrench)
            most = moment * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
            most += force * (s[3] * s[3] + s[4] * s[4] + s[5] * s[5])
            if share * share > ROUND_OFF * ROUND_OFF * most:
                row[d] += sign * share
            total += most
        body = body_int[body, at.PARENT]
    return total


@inline
def drop_flat(row: Array, most: float) -> None:
    """Clear a row that the coordinates hardly move."""
    total = 0.0
    for d in range(row.shape[0]):
        total += row[d] * row[d]
    if total <= FLAT * FLAT * most:
        for d in range(row.shape[0]):
            row[d] = 0.0


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
    row: Array,
) -> float:
    """Row of the Jacobian of the speed along u of the body's point `place` relative to the other's point `over`, and
    its bias for fixed u; both points in the world.
    """
    lever = subtract3(place, reference_of(body_int, work, body))
    m = cross(lever, u)
    most = add_wrench(body_int, dof, body, (m[0], m[1], m[2], u[0], u[1], u[2]), 1.0, row)
    bias = dot3(u, point_acceleration(bias_of(work, body), twist_of(work, body), lever))
    if other >= 0:
        lever = subtract3(over, reference_of(body_int, work, other))
        m = cross(lever, u)
        most += add_wrench(body_int, dof, other, (m[0], m[1], m[2], u[0], u[1], u[2]), -1.0, row)
        bias -= dot3(u, point_acceleration(bias_of(work, other), twist_of(work, other), lever))
    drop_flat(row, most)
    return bias


@shared
def turn_row(body_int: Array, work: Array, dof: Array, body: int, other: int, u: Vector, row: Array) -> float:
    """Row of the Jacobian of the relative rotation about u, an axis of the other body, and its bias."""
    wrench = (u[0], u[1], u[2], 0.0, 0.0, 0.0)
    most = add_wrench(body_int, dof, body, wrench, 1.0, row)
    bias = dot6(wrench, bias_of(work, body))
    if other >= 0:
        most += add_wrench(body_int, dof, other, wrench, -1.0, row)
        bias -= dot6(wrench, bias_of(work, other))
        v, drag = load_twist(work, body, at.VELOCITY), load_twist(work, other, at.VELOCITY)
        turning = (drag[0], drag[1], drag[2])
        bias += dot3((v[0] - drag[0], v[1] - drag[1], v[2] - drag[2]), cross(turning, u))
    drop_flat(row, most)
    return bias


@inline
def velocity_between(body_int: Array, work: Array, body: int, other: int, place: Vector) -> Vector:
    """Velocity of the body's point relative to the other's at the same place."""
    v = material(twist_of(work, body), subtract3(place, reference_of(body_int, work, body)))
    drag = material(twist_of(work, other), subtract3(place, reference_of(body_int, work, other)))
    return subtract3(v, drag)


@inline
def slide_row(
    body_int: Array, work: Array, dof: Array, body: int, other: int, place: Vector, u: Vector, row: Array
) -> float:
    """As `push_row` for one place, with u fixed in the other body, whose rotation is in the bias."""
    bias = push_row(body_int, work, dof, body, other, place, place, u, row)
    if other >= 0:
        drag = load_twist(work, other, at.VELOCITY)
        slip = velocity_between(body_int, work, body, other, place)
        bias -= 2.0 * dot3(u, cross((drag[0], drag[1], drag[2]), slip))
    return bias


@inline
def add_point(
    body_int: Array, dof: Array, body: int, lever: Vector, axes: Rotation, sign: float, rows: Array
) -> Vector:
    """`add_wrench` for three rows at once: forces along three axes at a lever."""
    x, y, z = column(axes, 0), column(axes, 1), column(axes, 2)
    m, n, o = cross(lever, x), cross(lever, y), cross(lever, z)
    moments = dot3(m, m), dot3(n, n), dot3(o, o)
    most = (0.0, 0.0, 0.0)
    while body >= 0:
        first = body_int[body, at.DOF_START]
        for d in range(first, first + body_int[body, at.DOF_COUNT]):
            s = load_twist(dof, d, at.SUBSPACE)
            w, v = (s[0], s[1], s[2]), (s[3], s[4], s[5])
            shares = dot3(m, w) + dot3(x, v), dot3(n, w) + dot3(y, v), dot3(o, w) + dot3(z, v)
            turn, push = dot3(w, w), dot3(v, v)
            own = (moments[0] * turn + push, moments[1] * turn + push, moments[2] * turn + push)
            most = add3(most, own)
            for j in range(3):
                if shares[j] * shares[j] > ROUND_OFF * ROUND_OFF * own[j]:
                    rows[j, d] += sign * shares[j]
        body = body_int[body, at.PARENT]
    return most


@shared
def point_rows(
    body_int: Array,
    work: Array,
    dof: Array,
    body: int,
    other: int,
    place: Vector,
    axes: Rotation,
    rows: Array,
    jacobian: Array,
) -> None:
    """`slide_row` along the three axes of a frame on the other body, into the first rows of `rows` and `jacobian`."""
    lever = subtract3(place, reference_of(body_int, work, body))
    most = add_point(body_int, dof, body, lever, axes, 1.0, jacobian)
    a = point_acceleration(bias_of(work, body), twist_of(work, body), lever)
    if other >= 0:
        lever = subtract3(place, reference_of(body_int, work, other))
        most = add3(most, add_point(body_int, dof, other, lever, axes, -1.0, jacobian))
        drag = twist_of(work, other)
        slip = velocity_between(body_int, work, body, other, place)
        a = subtract3(a, point_acceleration(bias_of(work, other), drag, lever))
        a = scale_add3(a, -2.0, cross((drag[0], drag[1], drag[2]), slip))
    for j in range(3):
        rows[j, con.ROW_BIAS] = dot3(column(axes, j), a)
        drop_flat(jacobian[j], most[j])
