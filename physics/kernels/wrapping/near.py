"""A straight line past an obstacle that it does not touch: its nearest point, and the obstacle's share in the path,
which fades out smoothly with distance.
"""

import math

from ..algebra.access import flat3, flat9
from ..algebra.axes import put3
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import Array, Rotation, Vector, add3, cross, dot3, scale_add3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .convex import chosen
from .level import clearance, deepest, narrowest, shrunk
from .planar import cross2, store_jet
from .round import along, plane_axes, seen_from
from .smooth import smooth_step
from .surface import CYLINDER, ELLIPSOID, TORUS, Moving, gradient_of, level_of, surface_scale, surface_size

SPAN = 3.0  # smoothing lengths, beyond the one within which the path still touches: the range in which the share fades
MARGIN = 0.1  # of the line: the share also fades as the nearest point approaches an end of the line
ZERO = (0.0, 0.0, 0.0)

# of a line past an obstacle: the parameter of the nearest point, the obstacle's share, each with two derivatives in
# time; their derivatives by both ends of the line and the obstacle's frame
PART, SHARE, PART_BY, SHARE_BY = 0, 3, 6, 18
NEAR_SIZE = 30


@inline
def nearest(kind: int, size: Vector, p: Vector, e: Vector) -> float:
    """Parameter of the line from p along e at which it is nearest to the obstacle."""
    if kind == TORUS:
        _, part = narrowest(size[0], p, e)
        return float(part)
    return float(deepest(kind, size, p, e))


@shared
def right_side(data: Array, shape: int, p: Vector, q: Vector, x: Vector) -> bool:
    """Whether a line that is nearest at x passes on the required side of the obstacle."""
    kind = int(data[shape + wrap.SHAPE_KIND])
    e = subtract3(q, p)
    if kind == TORUS:
        major = data[shape + wrap.SHAPE_PARAMETERS]
        far = math.hypot(x[0], x[1])
        gap, _ = clearance(major, x[0] / far, x[1] / far, p, e)
        return bool(gap > 0.0)
    if kind > ELLIPSOID:
        g, _, _ = gradient_of(kind, surface_size(data, shape), x, ZERO, ZERO)
        return bool(chosen(data, shape, e, g) > 0.0)
    if kind == CYLINDER and abs(x[2]) > data[shape + wrap.SHAPE_PARAMETERS + 1]:
        return False
    if kind == ELLIPSOID:
        at = shape + wrap.SHAPE_PARAMETERS
        radii = data[at], data[at + 1], data[at + 2]
        p, q = shrunk(p, radii), shrunk(q, radii)
    found, m, n, o = plane_axes(data, shape, p, q)
    a, b = along(m, n, o, p), along(m, n, o, q)
    return bool(found and cross2((a[0], a[1]), (b[0], b[1])) > 0.0)


@inline
def nearest_in_time(
    kind: int, size: Vector, part: float, p: Moving, e: Moving
) -> tuple[Vector, Vector, Vector, Vector, Vector, Vector]:
    """The parameter of a line's nearest point, and the radius of the level there, each with two derivatives in time;
    the derivatives of both by p and by the line's other end.
    """
    x = scale_add3(p[0], part, e[0])
    v = scale_add3(p[1], part, e[1])
    _, h, _ = gradient_of(kind, size, x, e[0], ZERO)
    g, gv, _ = gradient_of(kind, size, x, v, ZERO)
    bend = dot3(h, e[0])
    slide = -(dot3(gv, e[0]) + dot3(g, e[1])) / bend  # keeps g . e = 0
    u = scale_add3(v, slide, e[0])
    a = scale_add3(scale_add3(p[2], part, e[2]), 2.0 * slide, e[1])
    _, g1, g2 = gradient_of(kind, size, x, u, a)
    second = -(dot3(g2, e[0]) + 2.0 * dot3(g1, e[1]) + dot3(g, e[2])) / bend
    far = math.sqrt(2.0 * level_of(kind, size, x))
    rate = dot3(g, v) / far
    curve = (dot3(g1, u) + dot3(g, a) - rate * rate) / far
    rest, share = 1.0 - part, 1.0 / bend
    part_first = scale_add3((share * g[0], share * g[1], share * g[2]), -share * rest, h)
    part_last = scale_add3((-share * g[0], -share * g[1], -share * g[2]), -share * part, h)
    near, away = rest / far, part / far
    far_first, far_last = (near * g[0], near * g[1], near * g[2]), (away * g[0], away * g[1], away * g[2])
    return (part, slide, second), (far, rate, curve), part_first, part_last, far_first, far_last


@inline
def put_by(
    own: Array, at: int, r: Rotation, first: Vector, last: Vector, start: Vector, stop: Vector
) -> None:
    """Transform derivatives by both ends in the obstacle's axes to those by both ends and its frame in the world."""
    g, h = rotate(r, first), rotate(r, last)
    put3(own, at, g)
    put3(own, at + 3, h)
    put3(own, at + 6, add3(cross(g, start), cross(h, stop)))
    put3(own, at + 9, (-g[0] - h[0], -g[1] - h[1], -g[2] - h[2]))


@inline
def put_share(
    own: Array,
    into: int,
    r: Rotation,
    part: float,
    off: float,
    unit: float,
    moved: tuple[Vector, Vector],
    by: tuple[Vector, Vector, Vector, Vector],
    ends: tuple[Vector, Vector],
) -> None:
    """The share of an obstacle at a distance `off` from the line: from 1 at the surface to 0.

    moved: the nearest point's parameter and its distance, with their derivatives in time; by: both by the first and the
    last end.
    """
    place, gap = moved
    part_first, part_last, far_first, far_last = by
    # distance beyond one smoothing length, in spans; near an end of the line it counts as far
    scale = 1.0 / (SPAN * unit) if off > unit else 0.0
    a = smooth_step(1.0 - 2.0 * part / MARGIN)
    b = smooth_step(1.0 - 2.0 * (1.0 - part) / MARGIN)
    d = 2.0 / MARGIN
    by_part, bend = d * (b[1] - a[1]), d * d * (a[2] + b[2])
    beyond = (off - unit) * scale + a[0] + b[0]
    rate = gap[1] * scale + by_part * place[1]
    second = gap[2] * scale + by_part * place[2] + bend * place[1] * place[1]
    value, slope, curve = smooth_step(1.0 - 2.0 * beyond)
    store_jet(
        own, into + SHARE, (value, -2.0 * slope * rate, 4.0 * curve * rate * rate - 2.0 * slope * second)
    )
    first = scale_add3(
        (scale * far_first[0], scale * far_first[1], scale * far_first[2]), by_part, part_first
    )
    last = scale_add3((scale * far_last[0], scale * far_last[1], scale * far_last[2]), by_part, part_last)
    slope *= -2.0
    first = slope * first[0], slope * first[1], slope * first[2]
    last = slope * last[0], slope * last[1], slope * last[2]
    put_by(own, into + SHARE_BY, r, first, last, ends[0], ends[1])


@shared
def pass_by(
    data: Array,
    shape: int,
    width: float,
    own: Array,
    frame: int,
    into: int,
    ends: tuple[Vector, Vector],
    rates: tuple[Vector, Vector, Vector, Vector],
) -> bool:
    """Data of the line between two points past the obstacle of this shape and frame, from `into` on; False where its
    nearest point is an end of it.

    Args:
        rates: velocities of both ends, angular velocity and velocity of the frame.
    """
    for k in range(NEAR_SIZE):
        own[into + k] = 0.0
    r, origin = flat9(own, frame), flat3(own, frame + 9)
    spin = rotate(transposed(r), rates[2])
    start, stop = subtract3(ends[0], origin), subtract3(ends[1], origin)
    p = seen_from(r, start, subtract3(rates[0], rates[3]), spin)
    q = seen_from(r, stop, subtract3(rates[1], rates[3]), spin)
    e = subtract3(q[0], p[0]), subtract3(q[1], p[1]), subtract3(q[2], p[2])
    kind, size = int(data[shape + wrap.SHAPE_KIND]), surface_size(data, shape)
    radius, longest, _ = surface_scale(data, shape)
    unit = width / longest
    if dot3(e[0], e[0]) == 0.0:
        return False
    part = nearest(kind, size, p[0], e[0])
    x = scale_add3(p[0], part, e[0])
    far = math.sqrt(2.0 * level_of(kind, size, x))
    if not 0.0 < part < 1.0 or far < 0.5 * radius:
        return False
    _, h, _ = gradient_of(kind, size, x, e[0], ZERO)
    if dot3(h, e[0]) <= 0.0:
        return False
    place, gap, part_first, part_last, far_first, far_last = nearest_in_time(kind, size, part, p, e)
    store_jet(own, into + PART, place)
    put_by(own, into + PART_BY, r, part_first, part_last, start, stop)
    if unit == 0.0 or far >= radius + (1.0 + SPAN) * unit or not right_side(data, shape, p[0], q[0], x):
        return True
    put_share(
        own,
        into,
        r,
        part,
        far - radius,
        unit,
        (place, gap),
        (part_first, part_last, far_first, far_last),
        (start, stop),
    )
    return True
