"""Mass points near a point of the path next to a strand over obstacles: they pass the bend there smoothly.

The curve is that between two straight strands (see `corner`), written as

    x = (1 - h) y + h z,   h = step(s / w),

y and z are the points at the length s past the bend on the strand before it and on the one after. A strand is extended
by straight lines beyond its ends, as it is straight just before them: so y and z have exact derivatives on both sides
of the bend.
"""

from typing import TypeAlias

from .. import layout as at
from ..algebra.access import flat3, load3, store3
from ..algebra.vectors import NONE, Array, Twist, Vector, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from ..wrapping.smooth import smooth_step
from . import layout as muscle
from .frames import along_strand, inner_span, past, row_at, sizes_of, straight_push, take_force, width_curve
from .strand import loads_of, motion_column, point_motion, point_of
from .strand_mass import along_gradient, columns_at, twists_at

Quad: TypeAlias = tuple[float, float, float, float]
Moving: TypeAlias = tuple[Vector, Vector, Vector]


@inline
def beside_obstacles(k: int, space: Array) -> bool:
    """Whether a strand at an inner point k of a path runs over obstacles."""
    return bool(space[row_at(k - 1) + muscle.STRAND_AT] != 0.0 or space[row_at(k) + muscle.STRAND_AT] != 0.0)


@shared
def side_point(data: Array, k: int, share: float, along: float, quick: bool, space: Array) -> Moving:
    """Place, velocity and acceleration of the mass point of a share on strand k or its straight extensions; its
    Jacobian is left in the record of a strand over obstacles.
    """
    here = row_at(k)
    if space[here + muscle.STRAND_AT] != 0.0:
        return point_motion(data, int(space[here + muscle.STRAND_AT]), here, share, along, quick, space)
    u, length = flat3(space, here + muscle.STRAND_UNIT), space[here + muscle.STRAND_LENGTH]
    c = along / length if length > 0.0 else 0.0
    rate = (
        share * space[muscle.RATE] - space[here + muscle.BEFORE_RATE] - c * space[here + muscle.STRAND_RATE]
    )
    x, v = along_strand(space, here, muscle.AT_PLACE, c), along_strand(space, here, muscle.AT_VELOCITY, c)
    return x, scale_add3(v, rate, u), straight_push(share, along, here, space)


@inline
def step_jet(k: int, share: float, s: float, sizes: Twist, quick: bool, space: Array) -> tuple[Vector, Quad]:
    """The step h at the length s past the bend with two time derivatives; its derivatives by s, by the lengths of both
    strands, and the step itself.
    """
    here, before = row_at(k), row_at(k - 1)
    v = s * sizes[3]
    value, slope, curve = smooth_step(v)
    wider = sizes[4] * space[before + muscle.STRAND_RATE] + sizes[5] * space[here + muscle.STRAND_RATE]
    second = sizes[4] * space[before + muscle.STRAND_SECOND] + sizes[5] * space[here + muscle.STRAND_SECOND]
    rate = (share * space[muscle.RATE] - space[here + muscle.BEFORE_RATE] - v * wider) * sizes[3]
    push = (share * space[muscle.SECOND] - space[here + muscle.BEFORE_SECOND] - v * second) * sizes[3]
    bias = 0.0
    if quick:
        push -= (v * width_curve(k, sizes, space) + 2.0 * rate * wider) * sizes[3]
        bias = curve * rate * rate
    by = slope * sizes[3]
    return (value, slope * rate, slope * push + bias), (by, -by * v * sizes[4], -by * v * sizes[5], value)


@shared
def bend_point(
    data: Array, point: int, k: int, quick: bool, space: Array
) -> tuple[Vector, Vector, Vector, Vector, Quad]:
    """Place, velocity and acceleration of the mass point whose numbers begin at point, near the bend at point k; the
    vector from y to z there, and the derivatives of `step_jet`. Jacobians of y and z are left in their strands'
    records.
    """
    share, s = data[point + muscle.POINT_SHARE], past(data, point, space[row_at(k) + muscle.BEFORE], space)
    h, by = step_jet(k, share, s, sizes_of(k, space), quick, space)
    x, v, push = side_point(data, k - 1, share, s + space[row_at(k - 1) + muscle.STRAND_LENGTH], quick, space)
    z, z_rate, z_push = side_point(data, k, share, s, quick, space)
    way, speed = subtract3(z, x), subtract3(z_rate, v)
    push = scale_add3(scale_add3(push, h[0], subtract3(z_push, push)), h[2], way)
    if quick:
        push = scale_add3(push, 2.0 * h[1], speed)
    return scale_add3(x, h[0], way), scale_add3(scale_add3(v, h[0], speed), h[1], way), push, way, by


@shared
def take_from_side(data: Array, k: int, share: float, along: float, force: Vector, space: Array) -> None:
    """Subtract the force of a mass point on strand k, after `side_point`: from its ends or its loads, and along the
    path.
    """
    here = row_at(k)
    header = int(space[here + muscle.STRAND_AT])
    if header != 0:
        n = 6 + 6 * int(data[header + muscle.STRAND_OBSTACLES])
        loads, point = loads_of(data, header), point_of(data, header)
        for j in range(n):
            space[loads + j] += dot3(motion_column(n, j, share, point, space), force)
        level = dot3(flat3(space, point + 3), force)
    else:
        u, c = flat3(space, here + muscle.STRAND_UNIT), along / space[here + muscle.STRAND_LENGTH]
        level = dot3(u, force)
        far = scale_add3(NONE, c, scale_add3(force, -level, u))
        take_force(space, here, subtract3(force, far))
        take_force(space, here + muscle.SPACE_ROW, far)
    space[here + muscle.ALONG_BEFORE] += level
    space[here + muscle.ALONG_PATH] += share * level


@shared
def bend_inertia(data: Array, row: int, k: int, quick: bool, space: Array) -> None:
    """Inertial forces of a bend's mass points; after those of all strands, since part of them acts along the strands
    before, at and after the bend.
    """
    before, here, after = row_at(k - 1), row_at(k), row_at(k + 1)
    masses, first = row + int(data[row + muscle.MUSCLE_MASSES]), int(space[here + muscle.CORNER_FIRST])
    for i in range(first, first + int(space[here + muscle.CORNER_COUNT])):
        point = masses + muscle.POINT_WIDTH * i
        share, s = data[point + muscle.POINT_SHARE], past(data, point, space[here + muscle.BEFORE], space)
        _, _, push, way, by = bend_point(data, point, k, quick, space)
        force = scale_add3(NONE, data[point + muscle.POINT_MASS], push)
        along, across = s + space[before + muscle.STRAND_LENGTH], dot3(way, force)
        take_from_side(data, k - 1, share, along, scale_add3(NONE, 1.0 - by[3], force), space)
        take_from_side(data, k, share, s, scale_add3(NONE, by[3], force), space)
        # a strand's length: the path's length before the next strand, less that before the strand itself
        space[here + muscle.ALONG_PATH] += share * by[0] * across
        space[before + muscle.ALONG_BEFORE] += by[1] * across
        space[here + muscle.ALONG_BEFORE] += (by[0] - by[1] + by[2]) * across
        space[after + muscle.ALONG_BEFORE] -= by[2] * across


@inline
def longer_by(data: Array, k: int, space: Array, dof: Array, d: int) -> float:
    """Derivative by coordinate d of the length of strand k."""
    if space[row_at(k) + muscle.STRAND_AT] != 0.0:
        return float(along_gradient(data, k, space, dof, d))
    place = columns_at(dof.shape[0]) + muscle.COLUMN_POINTS + 3 * k
    way = subtract3(load3(dof, d, place + 3), load3(dof, d, place))
    return float(dot3(flat3(space, row_at(k) + muscle.STRAND_UNIT), way))


@shared
def side_column(
    data: Array, k: int, along: float, ds: float, longer: float, space: Array, dof: Array, d: int
) -> Vector:
    """Derivative by coordinate d of the mass point from `side_point` on strand k; ds and longer: of its length past the
    strand's beginning, and of the strand's length.
    """
    here, nv = row_at(k), dof.shape[0]
    header, place = int(space[here + muscle.STRAND_AT]), columns_at(nv) + muscle.COLUMN_POINTS + 3 * k
    if header == 0:
        u, c, x = (
            flat3(space, here + muscle.STRAND_UNIT),
            along / space[here + muscle.STRAND_LENGTH],
            load3(dof, d, place),
        )
        x = scale_add3(x, c, subtract3(load3(dof, d, place + 3), x))
        return scale_add3(x, ds - c * longer, u)
    n, point = 6 + 6 * int(data[header + muscle.STRAND_OBSTACLES]), point_of(data, header)
    twists = twists_at(space, nv) + 6 * int(space[here + muscle.STRAND_BEFORE]) - 6
    x = scale_add3(NONE, ds, flat3(space, point + 3))
    for j in range(n):
        x = scale_add3(x, dof[d, (place if j < 6 else twists) + j], motion_column(n, j, 0.0, point, space))
    return x


@shared
def bend_column(
    data: Array, k: int, point: int, way: Vector, by: Quad, space: Array, dof: Array, d: int
) -> Vector:
    """Derivative by coordinate d of a mass point near the bend at point k, after `bend_point`; before the columns
    advance to strand k.
    """
    columns, share = columns_at(dof.shape[0]), data[point + muscle.POINT_SHARE]
    s, length = (
        past(data, point, space[row_at(k) + muscle.BEFORE], space),
        space[row_at(k - 1) + muscle.STRAND_LENGTH],
    )
    first, last = longer_by(data, k - 1, space, dof, d), longer_by(data, k, space, dof, d)
    ds = share * dof[d, columns + muscle.COLUMN_LENGTH] - dof[d, columns + muscle.COLUMN_BEFORE]
    x = side_column(data, k - 1, s + length, ds + first, first, space, dof, d)
    z = side_column(data, k, s, ds, last, space, dof, d)
    x = scale_add3(x, by[3], subtract3(z, x))
    return scale_add3(x, by[0] * ds + by[1] * first + by[2] * last, way)


@shared
def add_bend_mass(data: Array, row: int, k: int, space: Array, dof: Array) -> None:
    """Mass matrix of a bend's mass points, added to the coordinates' rows."""
    here, columns, masses = row_at(k), columns_at(dof.shape[0]), row + int(data[row + muscle.MUSCLE_MASSES])
    span, number, _ = inner_span(data, row)
    first = int(space[here + muscle.CORNER_FIRST])
    for n in range(first, first + int(space[here + muscle.CORNER_COUNT])):
        point = masses + muscle.POINT_WIDTH * n
        _, _, _, way, by = bend_point(data, point, k, False, space)
        for i in range(number):
            d = int(data[span + i])
            x = bend_column(data, k, point, way, by, space, dof, d)
            store3(dof, d, columns + muscle.COLUMN_WEIGHED, x)
            x = scale_add3(NONE, data[point + muscle.POINT_MASS], x)
            for j in range(i + 1):
                e = int(data[span + j])
                dof[d, at.DOF_WORK_WIDTH + e] += dot3(x, load3(dof, e, columns + muscle.COLUMN_WEIGHED))
