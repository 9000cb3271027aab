"""Value, Jacobian and bias of every constraint, from the kinematics of `outward`."""

from __future__ import annotations

import math

from .. import layout as at
from ..algebra.spatial import column, multiply, rotate, transposed
from ..algebra.vectors import Array, Rotation, Vector, cross, dot3, subtract3
from ..compiler.jit import inline, shared
from ..forces.points import material, reference_of, twist_of
from ..joints.functions import evaluate_function
from . import layout as con
from .rolling import rolling_rows
from .row_pieces import (
    add_column,
    axes_of,
    begin_row,
    cover,
    origin_of,
    point_rows,
    push_row,
    sides_of,
    slide_row,
    turn_row,
)


@inline
def rotation_between(a: Rotation, b: Rotation) -> Vector:
    """Rotation vector of a^T b in the axes of a, for rotations below a half turn."""
    m = multiply(transposed(a), b)
    s = (0.5 * (m[7] - m[5]), 0.5 * (m[2] - m[6]), 0.5 * (m[3] - m[1]))
    sine = math.sqrt(dot3(s, s))
    angle = math.atan2(sine, 0.5 * (m[0] + m[4] + m[8] - 1.0))
    scale = angle / sine if sine > 1e-9 else 1.0
    return scale * s[0], scale * s[1], scale * s[2]


@shared
def frame_rows(
    body_int: Array,
    con_int: Array,
    con_float: Array,
    whole: bool,
    k: int,
    work: Array,
    dof: Array,
    rows: Array,
    jacobian: Array,
) -> None:
    """Rows of the locked components of a frame on a body in a frame on another one (Wang 2022, sec. 3.11.1)."""
    body, other, row = sides_of(con_int, k)
    locks = con_int[k, con.CONSTRAINT_LOCKS]
    p = origin_of(body_int, work, body, con_float, k, con.FRAME_ON_BODY)
    base = axes_of(work, other, con_float, k, con.FRAME_ON_OTHER)
    origin = origin_of(body_int, work, other, con_float, k, con.FRAME_ON_OTHER)
    together = locks & con.POINT_LOCKS == con.POINT_LOCKS
    if whole and together:
        point_rows(body_int, work, dof, body, other, p, base, row, rows, jacobian)
    for j in range(3):
        if locks & (1 << j):
            u = column(base, j)
            if whole and not together:
                rows[row, con.ROW_BIAS] = slide_row(body_int, work, dof, body, other, p, u, row, jacobian)
            rows[row, con.ROW_VALUE] = dot3(u, subtract3(p, origin))
            row += 1
    if locks < 8:
        return
    r = axes_of(work, body, con_float, k, con.FRAME_ON_BODY)
    turned = rotation_between(base, r)
    if locks & 56 == 24:  # a hinge about z: the angle between its axes
        aside = cross((base[2], base[5], base[8]), (r[2], r[5], r[8]))
        turned = rotate(transposed(base), aside)
    for j in range(3):
        if locks & (8 << j):
            u = column(base, j)
            if whole:
                rows[row, con.ROW_BIAS] = turn_row(body_int, work, dof, body, other, u, row, jacobian)
            rows[row, con.ROW_VALUE] = turned[0] if j == 0 else (turned[1] if j == 1 else turned[2])
            row += 1


@shared
def nearest_segment(con_data: Array, record: int, x: float, z: float) -> tuple[float, float, float]:
    """Signed distance from a polyline in the x-z plane, and the normal (x, z) of the nearest segment.

    The distance is that from the segment's whole line; the first and the last segment extend beyond their ends. Among
    equally near segments, the one whose line is farthest away is used.

    A segment in data is its start (x, z), its direction (x, z) and its length (ArtiSynth's guide, sec. 3.4.14).
    """
    count = int(con_data[record])
    best, height, nx, nz = math.inf, 0.0, 0.0, 1.0
    for k in range(count):
        s = record + 1 + 5 * k
        dx, dz = x - con_data[s], z - con_data[s + 1]
        ux, uz, length = con_data[s + 2], con_data[s + 3], con_data[s + 4]
        high = -dx * uz + dz * ux  # the normal u x y of eq. 3.30 is (-u_z, u_x)
        along = dx * ux + dz * uz
        lower = -math.inf if k == 0 else 0.0
        upper = math.inf if k == count - 1 else length
        beyond = along - min(max(along, lower), upper)
        distance = math.sqrt(high * high + beyond * beyond)
        nearer = distance < best * (1.0 - 1e-12)
        if nearer or (distance <= best * (1.0 + 1e-12) and abs(high) > abs(height)):
            best, height, nx, nz = min(distance, best), high, -uz, ux
    return height, nx, nz


@shared
def segment_row(
    body_int: Array,
    constraints: Array,
    whole: bool,
    k: int,
    work: Array,
    dof: Array,
    rows: Array,
    jacobian: Array,
) -> None:
    """Row of a point on a polyline that is extruded along y (ArtiSynth's guide, sec. 3.4.14)."""
    con_int, con_float, con_data, _, _ = constraints
    body, other, row = sides_of(con_int, k)
    p = origin_of(body_int, work, body, con_float, k, con.FRAME_ON_BODY)
    base = axes_of(work, other, con_float, k, con.FRAME_ON_OTHER)
    origin = origin_of(body_int, work, other, con_float, k, con.FRAME_ON_OTHER)
    place = rotate(transposed(base), subtract3(p, origin))
    height, nx, nz = nearest_segment(con_data, con_int[k, con.CONSTRAINT_DATA], place[0], place[2])
    u = rotate(base, (nx, 0.0, nz))
    if whole:
        rows[row, con.ROW_BIAS] = slide_row(body_int, work, dof, body, other, p, u, row, jacobian)
    rows[row, con.ROW_VALUE] = height


@shared
def distance_row(
    body_int: Array,
    constraints: Array,
    whole: bool,
    k: int,
    work: Array,
    dof: Array,
    rows: Array,
    jacobian: Array,
) -> None:
    """Row of two points at a distance: of a rod, or, with a sense, of a rope or a strut."""
    con_int, con_float, con_data, _, _ = constraints
    body, other, row = sides_of(con_int, k)
    p = origin_of(body_int, work, body, con_float, k, con.FRAME_ON_BODY)
    o = origin_of(body_int, work, other, con_float, k, con.FRAME_ON_OTHER)
    sense = con_data[con_int[k, con.CONSTRAINT_DATA]]  # -1: at most this long
    span = subtract3(p, o)
    length = math.sqrt(dot3(span, span))
    rows[row, con.ROW_VALUE] = sense * (length - con_float[k, con.CONSTRAINT_LENGTH])
    if not whole:
        return
    scale = sense / length if length > 1e-12 else 0.0
    u = (scale * span[0], scale * span[1], scale * span[2])
    bias = push_row(body_int, work, dof, body, other, p, o, u, row, jacobian)
    v = material(twist_of(work, body), subtract3(p, reference_of(body_int, work, body)))
    drag = material(twist_of(work, other), subtract3(o, reference_of(body_int, work, other)))
    v = subtract3(v, drag)
    along = dot3(u, v)
    if length > 1e-12:
        bias += sense * (dot3(v, v) - along * along) / length
    rows[row, con.ROW_BIAS] = bias


@inline
def body_of(body_int: Array, coordinate: int) -> int:
    """The body whose joint has this coordinate."""
    low, high = 0, body_int.shape[0]
    while high - low > 1:
        middle = (low + high) // 2
        if body_int[middle, at.DOF_START] <= coordinate:
            low = middle
        else:
            high = middle
    return low


@shared
def coupling_row(
    body_int: Array,
    constraints: Array,
    whole: bool,
    k: int,
    q: Array,
    qd: Array,
    rows: Array,
    jacobian: Array,
) -> None:
    """Row of a coordinate that is a sum of functions of weighted sums of others (Wang 2022, sec. 4.6.2)."""
    con_int, _, con_data, _, _ = constraints
    row, first, d = (
        con_int[k, con.CONSTRAINT_ROW],
        con_int[k, con.CONSTRAINT_DATA] + 1,
        con_int[k, con.CONSTRAINT_BODY],
    )
    end = place = first + 2 * int(con_data[first - 1])
    if whole:
        begin_row(body_int, body_of(body_int, d), -1, row, jacobian)
        add_column(d, 1.0, row, jacobian)
    total, bias = q[d], 0.0
    while first < end:  # terms, each with its own part of the weights
        after = first + 2 * int(con_data[place])
        u, rate = 0.0, 0.0
        for j in range(first, after, 2):
            u += con_data[j + 1] * q[int(con_data[j])]
            rate += con_data[j + 1] * qd[int(con_data[j])]
        value, slope, curve = evaluate_function(con_data, place + 2, u)
        total -= value
        bias -= curve * rate * rate
        if whole:
            for j in range(first, after, 2):
                master = int(con_data[j])
                cover(body_int, body_of(body_int, master), jacobian[con.SPANS][row])
                add_column(master, -slope * con_data[j + 1], row, jacobian)
        first, place = after, place + 2 + int(con_data[place + 1])
    rows[row, con.ROW_VALUE] = total
    if whole:
        rows[row, con.ROW_BIAS] = bias


@shared
def constraint_rows(
    body_int: Array,
    constraints: Array,
    whole: bool,
    q: Array,
    qd: Array,
    work: Array,
    dof: Array,
    rows: Array,
    kinds: Array,
    jacobian: Array,
) -> int:
    """Value and kind of every constraint's rows, and if `whole` also bias and Jacobian; after `kinematics` at (q, qd).
    Returns the number of rows.
    """
    con_int, con_float, _, _, _ = constraints
    count = 0
    for k in range(con_int.shape[0]):
        kind, first = con_int[k, con.CONSTRAINT_KIND], con_int[k, con.CONSTRAINT_ROW]
        count = first + con_int[k, con.CONSTRAINT_ROWS]
        for row in range(first, count):
            kinds[row] = con_int[k, con.CONSTRAINT_SENSE]
            rows[row, con.ROW_OWNER] = k
        if kind == con.FRAMES:
            frame_rows(body_int, con_int, con_float, whole, k, work, dof, rows, jacobian)
        elif kind == con.SEGMENTS:
            segment_row(body_int, constraints, whole, k, work, dof, rows, jacobian)
        elif kind == con.DISTANCE:
            distance_row(body_int, constraints, whole, k, work, dof, rows, jacobian)
        elif kind == con.COUPLING:
            coupling_row(body_int, constraints, whole, k, q, qd, rows, jacobian)
        elif whole:  # rows on velocities alone: their values stay 0
            rolling_rows(body_int, constraints, k, q, qd, work, dof, rows, jacobian)
    return count


@inline
def system_rows(
    arrays: Array, constraints: Array, whole: bool, q: Array, qd: Array, system: Array, spaces: Array
) -> int:
    """`constraint_rows` into the rows of a system."""
    rows, kinds, jacobian = system[con.SYSTEM_ROWS], system[con.SYSTEM_KINDS], system[con.SYSTEM_JACOBIAN]
    work, dof, _ = spaces
    return constraint_rows(arrays[at.BODY_INT], constraints, whole, q, qd, work, dof, rows, kinds, jacobian)
