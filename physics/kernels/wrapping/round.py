"""The path over one sphere or cylinder: a path past a circle in a plane, and the motion across that plane.

Over a cylinder the plane is its cross-section, and the path climbs at one slope. Over a sphere it is the plane of both
ends and the centre, and it tilts with them.
"""

import math

from ..algebra.access import flat3, flat9
from ..algebra.axes import put3
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import Array, Rotation, Vector, add3, cross, dot3, subtract3
from ..compiler.jit import inline, shared
from . import layout as wrap
from .cylinder_ends import beyond, keep_sense, quadrant_sense
from .planar import Pair, cross2, on_arc, pair, planar_path, planar_point
from .surface import CYLINDER, ELLIPSOID, SPHERE

# Over an ellipsoid no path stays aside of the shorter way and its opposite. OpenSim's does, but is no geodesic: its
# lengths are nearest to the opposite one where the shorter way bulges away from the hint by more than this cosine.
OPPOSITE = 0.8


@inline
def seen_from(r: Rotation, arm: Vector, velocity: Vector, spin: Vector) -> tuple[Vector, Vector, Vector]:
    """A point in the axes of an obstacle (`r` from these to the world's): position, velocity and the part of its
    acceleration without the point's and the obstacle's.

    Args:
        r, arm, velocity: rotation, position and velocity of the point relative to the obstacle's origin, world axes.
        spin: angular velocity in the obstacle's axes.
    """
    t = transposed(r)
    x, v = rotate(t, arm), rotate(t, velocity)
    rate = subtract3(v, cross(spin, x))
    return x, rate, cross(add3(v, rate), spin)  # bias = -spin x (v + rate)


@inline
def wrong_half(data: Array, shape: int, p: Vector, s: Vector) -> bool:
    """Whether both ends lie on the half of the obstacle away from its hint."""
    hint = flat3(data, shape + wrap.SHAPE_HINT)
    return dot3(p, hint) < 0.0 and dot3(s, hint) < 0.0


@inline
def forced(data: Array, shape: int, p: Vector, s: Vector) -> bool:
    """Whether a line that misses the obstacle on its wrong side must go round: with a hint alone, if both ends lie
    there and the obstacle is no sphere or ellipsoid.
    """
    kind, sense = int(data[shape + wrap.SHAPE_KIND]), int(data[shape + wrap.SHAPE_SENSE])
    return sense != wrap.BY_HINT or (kind != SPHERE and kind != ELLIPSOID and wrong_half(data, shape, p, s))


@inline
def all_round(data: Array, shape: int, p: Vector, s: Vector) -> bool:
    """Whether a path goes round a cylinder also where its line is nearest to it before or behind the stretch: towards a
    hint, always, unless both ends lie on that half.
    """
    hint, side = flat3(data, shape + wrap.SHAPE_HINT), int(data[shape + wrap.SHAPE_SENSE])
    cylinder = int(data[shape + wrap.SHAPE_KIND]) == CYLINDER
    return cylinder and side == wrap.ALWAYS and min(dot3(p, hint), dot3(s, hint)) < 0.0


@inline
def lean(data: Array, shape: int, out: Vector) -> float:
    """Cosine between the hint and where a way over a sphere or ellipsoid bulges; 1 or -1 where only its half counts."""
    hint = flat3(data, shape + wrap.SHAPE_HINT)
    if int(data[shape + wrap.SHAPE_KIND]) != ELLIPSOID or int(data[shape + wrap.SHAPE_SENSE]) == wrap.ALWAYS:
        return 1.0 if dot3(out, hint) >= 0.0 else -1.0
    radii = flat3(data, shape + wrap.SHAPE_PARAMETERS)
    x = radii[0] * out[0], radii[1] * out[1], radii[2] * out[2]
    return dot3(x, hint) / math.sqrt(dot3(x, x))


@inline
def plane_axes(data: Array, shape: int, p: Vector, s: Vector) -> tuple[bool, Vector, Vector, Vector]:
    """Axes of the path's plane, in the shape's: two in which it runs counterclockwise, and its normal; False where both
    ends are collinear with a sphere's centre.
    """
    e = subtract3(s, p)
    hint, side = flat3(data, shape + wrap.SHAPE_HINT), int(data[shape + wrap.SHAPE_SENSE])
    if int(data[shape + wrap.SHAPE_KIND]) == CYLINDER:
        sense = e[1] * hint[0] - e[0] * hint[1]  # counterclockwise, a path bulges to (e_y, -e_x)
        shorter = p[0] * s[1] - p[1] * s[0]
        if side == wrap.SHORTER:
            sense = shorter
        elif side == wrap.ALWAYS:
            sense = -shorter if wrong_half(data, shape, p, s) else quadrant_sense(data, shape, p, s, sense)
        elif side == wrap.COUNTERCLOCKWISE:
            sense = 1.0
        elif side == wrap.CLOCKWISE:
            sense = -1.0
        return True, (1.0, 0.0, 0.0), (0.0, 1.0 if sense >= 0.0 else -1.0, 0.0), (0.0, 0.0, 1.0)
    m = cross(p, s)
    far, size = math.sqrt(dot3(p, p)), math.sqrt(dot3(m, m))
    if size <= 1e-14 * far * math.sqrt(dot3(s, s)) or far == 0.0:
        return False, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    if (side == wrap.BY_HINT or side == wrap.ALWAYS) and lean(data, shape, cross(e, m)) < -OPPOSITE:
        size = -size
    x, m = (p[0] / far, p[1] / far, p[2] / far), (m[0] / size, m[1] / size, m[2] / size)
    return True, x, cross(m, x), m


@inline
def along(x: Vector, y: Vector, z: Vector, v: Vector) -> Vector:
    return dot3(x, v), dot3(y, v), dot3(z, v)


@shared
def round_path(data: Array, shape: int, width: float, rates: Array, own: Array, gradient: Array) -> int:
    """Length with its derivatives of the path over the one sphere or cylinder with the record at `shape`, and all data
    for its points; whether it is wrapped (else nothing else is written).
    """
    r, origin = flat9(own, wrap.FRAMES), flat3(own, wrap.FRAMES + 9)
    spin, drift = rotate(transposed(r), flat3(rates, 6)), flat3(rates, 9)
    start, stop = subtract3(flat3(own, wrap.ENDS), origin), subtract3(flat3(own, wrap.ENDS + 3), origin)
    p, v, a = seen_from(r, start, subtract3(flat3(rates, 0), drift), spin)
    s, w, b = seen_from(r, stop, subtract3(flat3(rates, 3), drift), spin)
    found, x, y, z = plane_axes(data, shape, p, s)
    if not found:
        return 0
    kept = keep_sense(data, shape, own, y)
    if kept:
        y = (0.0, own[wrap.SENSE], 0.0)
    put3(own, wrap.START, along(x, y, z, p))
    put3(own, wrap.STOP, along(x, y, z, s))
    put3(own, wrap.START_RATE, along(x, y, z, v))
    put3(own, wrap.STOP_RATE, along(x, y, z, w))
    put3(own, wrap.START_SECOND, along(x, y, z, a))
    put3(own, wrap.STOP_SECOND, along(x, y, z, b))
    own[wrap.TILT], own[wrap.TILT + 1] = 0.0, 0.0
    sphere = int(data[shape + wrap.SHAPE_KIND]) == SPHERE
    if sphere:
        tilt_plane(own)
    radius = data[shape + wrap.SHAPE_PARAMETERS]
    required, behind = kept or forced(data, shape, p, s), kept or all_round(data, shape, p, s)
    status = planar_path(own, radius, width, required, behind)
    if (
        status == wrap.WRAPPED
        and not sphere
        and not kept
        and beyond(own, data[shape + wrap.SHAPE_PARAMETERS + 1])
    ):
        status = wrap.STRAIGHT
    x, y, z = rotate(r, x), rotate(r, y), rotate(r, z)
    put3(own, wrap.AXES, x)
    put3(own, wrap.AXES + 3, y)
    put3(own, wrap.AXES + 6, z)
    if status != wrap.WRAPPED:
        return status
    rise, flat = round_length(own, sphere)
    for k in range(3):
        gradient[k] = (
            flat * (own[wrap.PLANE_LENGTH_BY] * x[k] + own[wrap.PLANE_LENGTH_BY + 1] * y[k]) - rise * z[k]
        )
        gradient[3 + k] = (
            flat * (own[wrap.PLANE_LENGTH_BY + 2] * x[k] + own[wrap.PLANE_LENGTH_BY + 3] * y[k]) + rise * z[k]
        )
        gradient[9 + k] = -gradient[k] - gradient[3 + k]
    put3(gradient, 6, add3(cross(flat3(gradient, 0), start), cross(flat3(gradient, 3), stop)))
    return wrap.WRAPPED


@inline
def tilt_plane(own: Array) -> None:
    """Rotation of the plane of a sphere's path with both ends, added to their second derivatives in it."""
    p, s = pair(own, wrap.START), pair(own, wrap.STOP)
    v, w = own[wrap.START_RATE + 2], own[wrap.STOP_RATE + 2]
    area = cross2(p, s)
    t0, t1 = -(v * s[1] - w * p[1]) / area, (v * s[0] - w * p[0]) / area
    own[wrap.TILT], own[wrap.TILT + 1] = t0, t1
    own[wrap.START_SECOND] -= v * t0
    own[wrap.START_SECOND + 1] -= v * t1
    own[wrap.STOP_SECOND] -= w * t0
    own[wrap.STOP_SECOND + 1] -= w * t1


@inline
def round_length(own: Array, sphere: bool) -> Pair:
    """Length with two derivatives in time, from that in the plane; its derivatives by the rise and by the latter."""
    plane, speed, curve = own[wrap.PLANE_LENGTH], own[wrap.PLANE_LENGTH + 1], own[wrap.PLANE_LENGTH + 2]
    if sphere:
        own[wrap.LENGTH], own[wrap.RATE], own[wrap.CURVATURE] = plane, speed, curve
        return 0.0, 1.0
    rise, climb = own[wrap.STOP + 2] - own[wrap.START + 2], own[wrap.STOP_RATE + 2] - own[wrap.START_RATE + 2]
    length = math.sqrt(plane * plane + rise * rise)
    rate = (plane * speed + rise * climb) / length
    second = speed * speed + plane * curve + climb * climb
    second += rise * (own[wrap.STOP_SECOND + 2] - own[wrap.START_SECOND + 2])
    own[wrap.LENGTH], own[wrap.RATE], own[wrap.CURVATURE] = length, rate, (second - rate * rate) / length
    return rise / length, plane / length


@shared
def round_point(own: Array, sphere: bool, sigma: float, sigma_rate: float, rates: Array, out: Array) -> None:
    """The point at length sigma of a wrapped path from `round_path`: position, tangent, bias, Jacobian, as from
    `strand.wrap_point`, by the rates of this piece alone (see `layout`).
    """
    length, speed = own[wrap.LENGTH], own[wrap.RATE]
    t = sigma / length
    t_rate = (sigma_rate - t * speed) / length
    t_second = -(2.0 * t_rate * speed + t * own[wrap.CURVATURE]) / length
    plane, plane_speed = own[wrap.PLANE_LENGTH], own[wrap.PLANE_LENGTH + 1]
    s_rate = t_rate * plane + t * plane_speed
    s_second = t_second * plane + 2.0 * t_rate * plane_speed + t * own[wrap.PLANE_LENGTH + 2]
    by = own[wrap.ROUND_SIZE : wrap.ROUND_SIZE + 8]
    x, v, a, ahead = planar_point(own, (t * plane, s_rate, s_second), by)
    jx, jy, jz = flat3(own, wrap.AXES), flat3(own, wrap.AXES + 3), flat3(own, wrap.AXES + 6)
    scale = plane / length
    if sphere:
        height, slope = 0.0, 0.0
        climb, lift, a = tilted(own, x, v, a)
    else:
        rise, rise_rate = (
            own[wrap.STOP + 2] - own[wrap.START + 2],
            own[wrap.STOP_RATE + 2] - own[wrap.START_RATE + 2],
        )
        height, slope = own[wrap.START + 2] + t * rise, rise / length
        climb = own[wrap.START_RATE + 2] + t_rate * rise + t * rise_rate
        lift = (1.0 - t) * own[wrap.START_SECOND + 2] + t * own[wrap.STOP_SECOND + 2]
        lift += t_second * rise + 2.0 * t_rate * rise_rate
    across = own[wrap.ROUND_SIZE + 8 : wrap.ROUND_SIZE + 26]
    ends_map(own, by, sphere, t, x, ahead, across)
    for k in range(3):
        out[wrap.OUT_TANGENT + k] = scale * (ahead[0] * jx[k] + ahead[1] * jy[k]) + slope * jz[k]
    arm = combine(jx, jy, jz, (x[0], x[1], height))
    velocity = combine(jx, jy, jz, (v[0], v[1], climb))
    own_bias = combine(jx, jy, jz, (a[0], a[1], lift))
    into_world(own, rates, across, arm, velocity, own_bias, out)


@inline
def combine(x: Vector, y: Vector, z: Vector, v: Vector) -> Vector:
    return (
        x[0] * v[0] + y[0] * v[1] + z[0] * v[2],
        x[1] * v[0] + y[1] * v[1] + z[1] * v[2],
        x[2] * v[0] + y[2] * v[1] + z[2] * v[2],
    )


@inline
def shares(own: Array, x: Pair) -> Pair:
    """The shares A, B of both ends in a point of the plane, x = A p + B s."""
    p, s = pair(own, wrap.START), pair(own, wrap.STOP)
    area = cross2(p, s)
    return cross2(x, s) / area, cross2(p, x) / area


@inline
def tilted(own: Array, x: Pair, v: Pair, a: Pair) -> tuple[float, float, Pair]:
    """Velocity and acceleration, across a tilting plane, of a point with these in it; its acceleration in it."""
    p, s = pair(own, wrap.START_RATE), pair(own, wrap.STOP_RATE)
    t0, t1 = own[wrap.TILT], own[wrap.TILT + 1]
    first, last = shares(own, x)
    d0, d1 = v[0] - first * p[0] - last * s[0], v[1] - first * p[1] - last * s[1]
    first_rate, last_rate = shares(own, (d0, d1))
    climb = first * own[wrap.START_RATE + 2] + last * own[wrap.STOP_RATE + 2]
    lift = first_rate * own[wrap.START_RATE + 2] + last_rate * own[wrap.STOP_RATE + 2]
    lift += first * (own[wrap.START_SECOND + 2] + t0 * p[0] + t1 * p[1])
    lift += last * (own[wrap.STOP_SECOND + 2] + t0 * s[0] + t1 * s[1])
    lift -= t0 * v[0] + t1 * v[1]
    return climb, lift, (a[0] + climb * t0, a[1] + climb * t1)


@inline
def ends_map(own: Array, by: Array, sphere: bool, t: float, x: Pair, ahead: Pair, across: Array) -> None:
    """Derivatives of a point by both ends at fixed length, two 3x3 blocks in the plane's axes."""
    length, plane = own[wrap.LENGTH], own[wrap.PLANE_LENGTH]
    rise = 0.0 if sphere else own[wrap.STOP + 2] - own[wrap.START + 2]
    share, steep = t * rise * rise / (length * length), t * plane * rise / (length * length)
    for end in range(2):
        block, sign = 9 * end, 2.0 * end - 1.0
        for k in range(2):
            longer = own[wrap.PLANE_LENGTH_BY + 2 * end + k]
            across[block + k] = by[2 * end + k] + ahead[0] * share * longer
            across[block + 3 + k] = by[4 + 2 * end + k] + ahead[1] * share * longer
            across[block + 6 + k] = -steep * longer
        across[block + 2] = -sign * ahead[0] * steep
        across[block + 5] = -sign * ahead[1] * steep
    if sphere:
        across[8], across[17] = shares(own, x)
    else:
        across[8], across[17] = 1.0 - t + share, t - share


@shared
def into_world(
    own: Array, rates: Array, across: Array, arm: Vector, velocity: Vector, own_bias: Vector, out: Array
) -> None:
    """Transform a point relative to the obstacle's origin (arm, velocity and bias in the obstacle, all in world axes),
    and its derivatives `across` by both ends in the path's axes, to the world: position, Jacobian, bias.
    """
    origin, spin = flat3(own, wrap.FRAMES + 9), flat3(rates, 6)
    turned = cross(spin, arm)
    twice = turned[0] + 2.0 * velocity[0], turned[1] + 2.0 * velocity[1], turned[2] + 2.0 * velocity[2]
    fictitious = cross(spin, twice)
    jx, jy, jz = flat3(own, wrap.AXES), flat3(own, wrap.AXES + 3), flat3(own, wrap.AXES + 6)
    for i in range(3):
        out[i] = origin[i] + arm[i]
        out[wrap.OUT_BIAS + i] = own_bias[i] + fictitious[i]
        for end in range(2):
            block = 9 * end
            row0 = jx[i] * across[block] + jy[i] * across[block + 3] + jz[i] * across[block + 6]
            row1 = jx[i] * across[block + 1] + jy[i] * across[block + 4] + jz[i] * across[block + 7]
            row2 = jx[i] * across[block + 2] + jy[i] * across[block + 5] + jz[i] * across[block + 8]
            for j in range(3):
                out[wrap.OUT_JACOBIAN + 12 * i + 3 * end + j] = row0 * jx[j] + row1 * jy[j] + row2 * jz[j]
    turn_with(own, arm, out)


@inline
def turn_with(own: Array, arm: Vector, out: Array) -> None:
    """The columns of the obstacle's twist, from those of both ends: the path moves with all of them together."""
    origin = flat3(own, wrap.FRAMES + 9)
    start, stop = subtract3(flat3(own, wrap.ENDS), origin), subtract3(flat3(own, wrap.ENDS + 3), origin)
    for i in range(3):
        row = wrap.OUT_JACOBIAN + 12 * i
        p, s = flat3(out, row), flat3(out, row + 3)
        first, last = cross(p, start), cross(s, stop)
        for j in range(3):
            out[row + 6 + j] = first[j] + last[j]
            out[row + 9 + j] = (1.0 if i == j else 0.0) - p[j] - s[j]
    row = wrap.OUT_JACOBIAN + 6
    out[row + 1] += arm[2]
    out[row + 2] -= arm[1]
    out[row + 12] -= arm[2]
    out[row + 14] += arm[0]
    out[row + 24] += arm[1]
    out[row + 25] -= arm[0]


@inline
def round_place(own: Array, sphere: bool, last: bool) -> Vector:
    """Position of the first or last contact, in the path's axes."""
    rho, n = own[wrap.RADIUS], pair(own, wrap.NORMALS + 2 if last else wrap.NORMALS)
    if sphere:
        return rho * n[0], rho * n[1], 0.0
    share = own[wrap.LAST_LENGTH if last else wrap.FIRST_LENGTH] / own[wrap.PLANE_LENGTH]
    low, high = own[wrap.START + 2], own[wrap.STOP + 2]
    height = high + share * (low - high) if last else low + share * (high - low)
    return rho * n[0], rho * n[1], height


@shared
def round_contact(own: Array, sphere: bool, last: bool, rates: Array, out: Array) -> None:
    """First or last contact of the path, as a point from `round_point`; without a tangent."""
    n = pair(own, wrap.NORMALS + 2) if last else pair(own, wrap.NORMALS)
    angle, angle_by = (
        (wrap.LAST_ANGLE, wrap.LAST_ANGLE_BY) if last else (wrap.FIRST_ANGLE, wrap.FIRST_ANGLE_BY)
    )
    rho = own[wrap.RADIUS], own[wrap.RADIUS + 1], own[wrap.RADIUS + 2]
    x, v, a = on_arc(n, rho, own[angle + 1], own[angle + 2])
    across = own[wrap.ROUND_SIZE + 8 : wrap.ROUND_SIZE + 26]
    for k in range(18):
        across[k] = 0.0
    for k in range(4):
        block, spin = 9 * (k // 2) + k % 2, rho[0] * own[angle_by + k]
        across[block] = own[wrap.RADIUS_BY + k] * n[0] - spin * n[1]
        across[block + 3] = own[wrap.RADIUS_BY + k] * n[1] + spin * n[0]
    height = 0.0
    if sphere:
        climb, lift, a = tilted(own, x, v, a)
        across[8], across[17] = shares(own, x)
    else:
        height, climb, lift = contact_height(own, last, across)
    jx, jy, jz = flat3(own, wrap.AXES), flat3(own, wrap.AXES + 3), flat3(own, wrap.AXES + 6)
    arm, velocity = combine(jx, jy, jz, (x[0], x[1], height)), combine(jx, jy, jz, (v[0], v[1], climb))
    into_world(own, rates, across, arm, velocity, combine(jx, jy, jz, (a[0], a[1], lift)), out)


@inline
def contact_height(own: Array, last: bool, across: Array) -> Vector:
    """Height of the first or last contact on a cylinder with two derivatives in time; `across`: by both ends."""
    plane, speed, second = own[wrap.PLANE_LENGTH], own[wrap.PLANE_LENGTH + 1], own[wrap.PLANE_LENGTH + 2]
    s, s1, s2 = own[wrap.FIRST_LENGTH], own[wrap.FIRST_LENGTH + 1], own[wrap.FIRST_LENGTH + 2]
    if last:
        s, s1 = plane - own[wrap.LAST_LENGTH], speed - own[wrap.LAST_LENGTH + 1]
        s2 = second - own[wrap.LAST_LENGTH + 2]
    t = s / plane
    t1 = (s1 - t * speed) / plane
    t2 = (s2 - 2.0 * t1 * speed - t * second) / plane
    rise, rise1 = own[wrap.STOP + 2] - own[wrap.START + 2], own[wrap.STOP_RATE + 2] - own[wrap.START_RATE + 2]
    rise2 = own[wrap.STOP_SECOND + 2] - own[wrap.START_SECOND + 2]
    across[8], across[17] = 1.0 - t, t
    for k in range(4):
        longer = own[wrap.PLANE_LENGTH_BY + k]
        by = own[wrap.FIRST_LENGTH_BY + k]
        if last:
            by += own[wrap.WRAP] * own[wrap.RADIUS_BY + k]
            by += own[wrap.RADIUS] * (own[wrap.LAST_ANGLE_BY + k] - own[wrap.FIRST_ANGLE_BY + k])
        across[9 * (k // 2) + 6 + k % 2] = rise * (by - t * longer) / plane
    return (
        own[wrap.START + 2] + t * rise,
        own[wrap.START_RATE + 2] + t1 * rise + t * rise1,
        own[wrap.START_SECOND + 2] + t2 * rise + 2.0 * t1 * rise1 + t * rise2,
    )
