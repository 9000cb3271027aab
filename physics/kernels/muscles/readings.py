"""Readings of muscles: lengths, moment arms, and mass points."""

from .. import layout as at
from ..algebra.access import flat3, load3
from ..algebra.lanes import flat_from
from ..algebra.vectors import NONE, Array, Vector, add3, scale_add3
from ..compiler.jit import entry, inline, shared
from ..joints.accelerations import spread_accelerations
from ..joints.kinematics import kinematics
from . import layout as muscle
from .bend import Moving, bend_column, bend_point, beside_obstacles, side_point
from .corner import corner_column, corner_columns, corner_point, corner_shares, corner_units, past_corner
from .frames import past, row_at, whole_span
from .mass import point_columns, strand_motion
from .path import share_masses, trace_path
from .strand import find_point, motion_column, next_touch, point_motion, point_of
from .strand_mass import columns_at, inputs_at, strand_inputs


@entry
def muscle_lengths(
    arrays: Array,
    q: Array,
    qd: Array,
    still: Array,
    lengths: Array,
    gradients: Array,
    work: Array,
    dof: Array,
    flags: Array,
) -> None:
    """Lengths, their rates and biases J' q' (muscles, 3), and derivatives of the lengths by the coordinates (muscles,
    nv), which come in as zeros. still (nv,) are zeros.
    """
    body_int, data = arrays[at.BODY_INT], arrays[at.MODEL_DATA]
    gravity = flat3(data, at.GRAVITY)
    kinematics(arrays, q, qd, work, dof, flags)
    spread_accelerations(arrays, still, False, work, dof)
    space = flat_from(work, body_int.shape[0] + at.SCRATCH_ROWS)
    columns = columns_at(dof.shape[0])
    row = int(data[at.MUSCLE_ROWS])
    for k in range(int(data[at.MUSCLE_COUNT])):
        count = trace_path(arrays, row, q, qd, still, gravity, True, work, space)
        lengths[k, 0], lengths[k, 1] = space[muscle.LENGTH], space[muscle.RATE]
        lengths[k, 2] = space[muscle.SECOND]
        point_columns(arrays, whole_span(data, row), count, space, dof)
        for i in range(int(data[row + muscle.MUSCLE_SPAN_COUNT])):
            d = int(data[row + int(data[row + muscle.MUSCLE_SPAN]) + i])
            gradients[k, d] = dof[d, columns + muscle.COLUMN_LENGTH]
        row += int(data[row + muscle.MUSCLE_SIZE])


@inline
def put_point(places: Array, i: int, point: Moving, gravity: Vector) -> None:
    """Place, velocity and bias of mass point i, from its place, velocity and acceleration relative to the accelerated
    world.
    """
    places[i, 0], places[i, 1], places[i, 2] = point[0]
    places[i, 3], places[i, 4], places[i, 5] = point[1]
    places[i, 6], places[i, 7], places[i, 8] = add3(point[2], gravity)


@shared
def straight_points(
    data: Array, row: int, k: int, space: Array, dof: Array, places: Array, jacobian: Array, gravity: Vector
) -> None:
    """Mass points of straight strand k: place, velocity and bias (n, 9), and Jacobian (n, 3, nv)."""
    here, columns = row_at(k), columns_at(dof.shape[0])
    u = flat3(space, here + muscle.STRAND_UNIT)
    masses = row + int(data[row + muscle.MUSCLE_MASSES])
    first = int(space[here + muscle.STRAND_FIRST])
    length = space[here + muscle.STRAND_LENGTH]
    for i in range(first, first + int(space[here + muscle.STRAND_COUNT])):
        s = data[masses + muscle.POINT_WIDTH * i + muscle.POINT_SHARE]
        along = past(data, masses + muscle.POINT_WIDTH * i, space[here + muscle.BEFORE], space)
        c = along / length if length > 0.0 else 0.0
        put_point(places, i, side_point(data, k, s, along, True, space), gravity)
        for j in range(int(data[row + muscle.MUSCLE_SPAN_COUNT])):
            d = int(data[row + int(data[row + muscle.MUSCLE_SPAN]) + j])
            x = load3(dof, d, columns + muscle.COLUMN_MOTION)
            x = scale_add3(x, c, load3(dof, d, columns + muscle.COLUMN_MOTION + 3))
            x = scale_add3(x, s * dof[d, columns + muscle.COLUMN_LENGTH], u)
            jacobian[i, 0, d], jacobian[i, 1, d], jacobian[i, 2, d] = x


@shared
def rounded_points(
    data: Array, row: int, k: int, space: Array, dof: Array, places: Array, jacobian: Array, gravity: Vector
) -> None:
    """As `straight_points`, for those near the corner at point k; before the columns advance to strand k."""
    here, columns = row_at(k), columns_at(dof.shape[0])
    masses = row + int(data[row + muscle.MUSCLE_MASSES])
    first = int(space[here + muscle.CORNER_FIRST])
    units = corner_units(k, space)
    corner_columns(data, whole_span(data, row), k, units, dof, columns)
    for i in range(first, first + int(space[here + muscle.CORNER_COUNT])):
        point = masses + muscle.POINT_WIDTH * i
        put_point(places, i, corner_point(data, point, k, True, space), gravity)
        shares = corner_shares(k, past_corner(data, point, k, space), space)
        for j in range(int(data[row + muscle.MUSCLE_SPAN_COUNT])):
            d = int(data[row + int(data[row + muscle.MUSCLE_SPAN]) + j])
            x = corner_column(data[point + muscle.POINT_SHARE], shares, units, dof, d, columns)
            jacobian[i, 0, d], jacobian[i, 1, d], jacobian[i, 2, d] = x


@shared
def bent_points(
    data: Array, row: int, k: int, space: Array, dof: Array, places: Array, jacobian: Array, gravity: Vector
) -> None:
    """As `rounded_points`, if a strand at point k runs over obstacles."""
    masses = row + int(data[row + muscle.MUSCLE_MASSES])
    first = int(space[row_at(k) + muscle.CORNER_FIRST])
    for i in range(first, first + int(space[row_at(k) + muscle.CORNER_COUNT])):
        point = masses + muscle.POINT_WIDTH * i
        x, v, push, way, by = bend_point(data, point, k, True, space)
        put_point(places, i, (x, v, push), gravity)
        for j in range(int(data[row + muscle.MUSCLE_SPAN_COUNT])):
            d = int(data[row + int(data[row + muscle.MUSCLE_SPAN]) + j])
            x = bend_column(data, k, point, way, by, space, dof, d)
            jacobian[i, 0, d], jacobian[i, 1, d], jacobian[i, 2, d] = x


@shared
def wrapped_points(
    data: Array, row: int, k: int, space: Array, dof: Array, places: Array, jacobian: Array, gravity: Vector
) -> None:
    """As `straight_points`, for strand k over obstacles."""
    here, inputs = row_at(k), inputs_at(space, dof.shape[0])
    header = int(space[here + muscle.STRAND_AT])
    n, point = 6 + 6 * int(data[header]), point_of(data, header)
    masses = row + int(data[row + muscle.MUSCLE_MASSES])
    first = int(space[here + muscle.STRAND_FIRST])
    for j in range(int(data[row + muscle.MUSCLE_SPAN_COUNT])):
        strand_inputs(data, k, space, dof, int(data[row + int(data[row + muscle.MUSCLE_SPAN]) + j]))
    for i in range(first, first + int(space[here + muscle.STRAND_COUNT])):
        s = data[masses + muscle.POINT_WIDTH * i + muscle.POINT_SHARE]
        sigma = past(data, masses + muscle.POINT_WIDTH * i, space[here + muscle.BEFORE], space)
        put_point(places, i, point_motion(data, header, here, s, sigma, True, space), gravity)
        for j in range(int(data[row + muscle.MUSCLE_SPAN_COUNT])):
            d = int(data[row + int(data[row + muscle.MUSCLE_SPAN]) + j])
            total = NONE
            for h in range(n + 2):
                total = scale_add3(total, dof[d, inputs + h], motion_column(n, h, s, point, space))
            jacobian[i, 0, d], jacobian[i, 1, d], jacobian[i, 2, d] = total


@shared
def draw_path(data: Array, count: int, samples: int, space: Array, corners: Array) -> int:
    """Places of the path's points, and of samples along its strands over obstacles, evenly spaced but for those where
    the path attaches and leaves; returns their number.
    """
    filled = 0
    for k in range(count):
        here = row_at(k)
        corners[filled, 0], corners[filled, 1], corners[filled, 2] = flat3(space, here + muscle.AT_PLACE)
        filled += 1
        if k < count - 1 and space[here + muscle.STRAND_AT] != 0.0:
            header = int(space[here + muscle.STRAND_AT])
            whole = space[here + muscle.STRAND_LENGTH]
            step = whole / (samples + 1.0)
            index, sigma, touches = 0, 0.0, 0  # of the last vertex that is given
            following, touch = 0, 0.0  # of the next one
            for i in range(samples):
                while following <= index:
                    touch = next_touch(data, header, touches, space)
                    # no steps on an obstacle are longer than the even ones
                    following = int(touch / step) + touches % 2
                    touches += 1
                    if touch < 0.0 or following > samples:
                        following, touch = samples + 1, whole
                sigma += (touch - sigma) / (following - index)
                index = i + 1
                find_point(data, header, sigma, 0.0, space)
                x = flat3(space, point_of(data, header))
                corners[filled, 0], corners[filled, 1], corners[filled, 2] = x
                filled += 1
    return filled


@entry
def muscle_points(
    arrays: Array,
    q: Array,
    qd: Array,
    still: Array,
    number: int,
    samples: int,
    places: Array,
    jacobian: Array,
    corners: Array,
    spaces: tuple[Array, Array, Array],
) -> int:
    """Mass points of muscle `number`: place, velocity and bias J' q' (n, 9) and Jacobian (n, 3, nv), which comes in as
    zeros; the drawn path, with samples on each strand over obstacles, into corners (points, 3); returns the number of
    its points.

    still (nv,) are zeros.
    """
    (body_int, _, _, data, _), (work, dof, flags) = arrays, spaces
    gravity = flat3(data, at.GRAVITY)
    kinematics(arrays, q, qd, work, dof, flags)
    spread_accelerations(arrays, still, False, work, dof)
    space = flat_from(work, body_int.shape[0] + at.SCRATCH_ROWS)
    row = int(data[at.MUSCLE_ROWS])
    for _ in range(number):
        row += int(data[row + muscle.MUSCLE_SIZE])
    count = trace_path(arrays, row, q, qd, still, gravity, True, work, space)
    share_masses(data, row, count, True, False, space)
    point_columns(arrays, whole_span(data, row), count, space, dof)
    columns = columns_at(dof.shape[0])
    for k in range(count - 1):
        if space[row_at(k) + muscle.CORNER_COUNT] > 0.0:
            if beside_obstacles(k, space):
                bent_points(data, row, k, space, dof, places, jacobian, gravity)
            else:
                rounded_points(data, row, k, space, dof, places, jacobian, gravity)
        if space[row_at(k) + muscle.STRAND_AT] != 0.0:
            wrapped_points(data, row, k, space, dof, places, jacobian, gravity)
            continue
        for j in range(int(data[row + muscle.MUSCLE_SPAN_COUNT])):
            strand_motion(k, space, dof, int(data[row + int(data[row + muscle.MUSCLE_SPAN]) + j]), columns)
        straight_points(data, row, k, space, dof, places, jacobian, gravity)
    return draw_path(data, count, samples, space, corners)
