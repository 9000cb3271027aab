"""Signed distances of points from obstacles, and their gradients in the obstacle's frame.

Distances are negative inside. Where a distance has no gradient (the middle of a sphere, a box's planes of symmetry
inside it) one of the outward directions is chosen. An obstacle's record is its kind, its pose in the link frame of its
body (rotation by rows, position), and its parameters.
"""

from __future__ import annotations

import math

from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from . import layout as contact

FAR = 1e300
MOST_STEPS = 50
MOST_HALVINGS = 30
ARRIVED = 1e-15
# Shares of a box's least half size: the margin beside a face that still belongs to it, and the preference for a face
# with the body on its outer side.
FLUSH, SHALLOW = 1e-6, 0.1


@inline
def sphere_distance(x: Vector, radius: float) -> tuple[float, Vector]:
    """Distance from the sphere about the origin, and its gradient (upwards in the middle)."""
    length = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    if length == 0.0:
        return -radius, (0.0, 0.0, 1.0)
    return length - radius, (x[0] / length, x[1] / length, x[2] / length)


@inline
def capsule_distance(x: Vector, radius: float, half: float) -> tuple[float, Vector]:
    """Distance from the capsule about the z axis from -half to half, and its gradient."""
    beyond = x[2] - min(max(x[2], -half), half)
    if x[0] == 0.0 and x[1] == 0.0 and beyond == 0.0:
        return -radius, (1.0, 0.0, 0.0)
    return sphere_distance((x[0], x[1], beyond), radius)


@inline
def box_distance(x: Vector, sizes: Vector) -> tuple[float, Vector]:
    """Distance from the box about the origin with these half sizes, and its gradient: outside rounded at edges and
    corners, inside see `box_face`.
    """
    d = (abs(x[0]) - sizes[0], abs(x[1]) - sizes[1], abs(x[2]) - sizes[2])
    sense = (math.copysign(1.0, x[0]), math.copysign(1.0, x[1]), math.copysign(1.0, x[2]))
    out = (sense[0] * max(d[0], 0.0), sense[1] * max(d[1], 0.0), sense[2] * max(d[2], 0.0))
    return sphere_distance(out, 0.0)


@inline
def is_inside(x: Vector, sizes: Vector) -> bool:
    """Whether a point is inside a box or on its surface."""
    edge = FLUSH * min(sizes[0], min(sizes[1], sizes[2]))
    return abs(x[0]) - sizes[0] <= edge and abs(x[1]) - sizes[1] <= edge and abs(x[2]) - sizes[2] <= edge


@inline
def box_face(x: Vector, sizes: Vector, inward: Vector) -> tuple[float, Vector]:
    """Distance from the face of a box through which the point x of a body has entered. It is the nearest face; of
    nearly equally near ones, one that the body is outside of (inward: from x into the body): a corner of a box on a box
    of the same width is as near to side faces as to the top face.
    """
    least = min(sizes[0], min(sizes[1], sizes[2]))
    d = (min(abs(x[0]) - sizes[0], 0.0), min(abs(x[1]) - sizes[1], 0.0), min(abs(x[2]) - sizes[2], 0.0))
    sense = (math.copysign(1.0, x[0]), math.copysign(1.0, x[1]), math.copysign(1.0, x[2]))
    length = math.sqrt(inward[0] ** 2 + inward[1] ** 2 + inward[2] ** 2)
    best, face = -math.inf, 0
    for k in range(3):
        outside = sense[k] * inward[k] > FLUSH * length
        value = d[k] if outside else d[k] - SHALLOW * least
        if value > best:
            best, face = value, k
    found = d[face]
    if face == 0:
        return found, (sense[0], 0.0, 0.0)
    if face == 1:
        return found, (0.0, sense[1], 0.0)
    return found, (0.0, 0.0, sense[2])


@inline
def cubic_weights(t: float) -> tuple[Vector, Vector, Vector, Vector]:
    """Catmull & Rom's (1974) weights of four samples at t in [0, 1] between the middle ones, with first and second
    derivatives.
    """
    s = t * t
    return (
        (0.5 * (2.0 * s - t - s * t), 0.5 * (4.0 * t - 1.0 - 3.0 * s), 2.0 - 3.0 * t),
        (0.5 * (2.0 - 5.0 * s + 3.0 * s * t), 0.5 * (9.0 * s - 10.0 * t), 9.0 * t - 5.0),
        (0.5 * (t + 4.0 * s - 3.0 * s * t), 0.5 * (1.0 + 8.0 * t - 9.0 * s), 4.0 - 9.0 * t),
        (0.5 * (s * t - s), 0.5 * (3.0 * s - 2.0 * t), 3.0 * t - 1.0),
    )


@shared
def field_height(
    data: Array, obstacle: int, x: float, y: float
) -> tuple[float, float, float, float, float, float]:
    """Height of a field with the record at `obstacle`, and its derivatives by x, y, xx, xy, yy."""
    columns = int(data[obstacle + contact.FIELD_COUNTS + 1])
    px, py = data[obstacle + contact.FIELD_SPACING], data[obstacle + contact.FIELD_SPACING + 1]
    i = min(max(int(x / px), 0), int(data[obstacle + contact.FIELD_COUNTS]) - 2)
    j = min(max(int(y / py), 0), columns - 2)
    wx, wy = cubic_weights(x / px - i), cubic_weights(y / py - j)
    h, hx, hy, hxx, hxy, hyy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(4):
        row = obstacle + contact.FIELD_SAMPLES + (i + k) * (columns + 2) + j
        value, slope, bend = 0.0, 0.0, 0.0
        for n in range(4):
            value += wy[n][0] * data[row + n]
            slope += wy[n][1] * data[row + n]
            bend += wy[n][2] * data[row + n]
        h += wx[k][0] * value
        hx += wx[k][1] * value
        hxx += wx[k][2] * value
        hy += wx[k][0] * slope
        hxy += wx[k][1] * slope
        hyy += wx[k][0] * bend
    return h, hx / px, hy / py, hxx / (px * px), hxy / (px * py), hyy / (py * py)


@shared
def field_distance(data: Array, obstacle: int, p: Vector, reach: float) -> tuple[float, Vector]:
    """Distance from the surface z = h(x, y), solid below, by Newton's method for its nearest point, starting below p.
    FAR if p lies beside the field, or more than reach above its highest sample.
    """
    width = (data[obstacle + contact.FIELD_COUNTS] - 1.0) * data[obstacle + contact.FIELD_SPACING]
    depth = (data[obstacle + contact.FIELD_COUNTS + 1] - 1.0) * data[obstacle + contact.FIELD_SPACING + 1]
    up = (0.0, 0.0, 1.0)
    if (
        not (0.0 <= p[0] <= width and 0.0 <= p[1] <= depth)
        or p[2] - data[obstacle + contact.FIELD_TOP] > reach
    ):
        return FAR, up
    x, y = p[0], p[1]
    h, hx, hy, hxx, hxy, hyy = field_height(data, obstacle, x, y)
    for _ in range(MOST_STEPS):
        rise = h - p[2]
        gx, gy = x - p[0] + rise * hx, y - p[1] + rise * hy
        a, b, c = 1.0 + hx * hx, hx * hy, 1.0 + hy * hy
        d, e, f = a + rise * hxx, b + rise * hxy, c + rise * hyy
        if d > 0.0 and d * f - e * e > 1e-3 * (
            a * c - b * b
        ):  # else the distance exceeds the radius of curvature
            a, b, c = d, e, f
        share = 1.0 / (a * c - b * b)
        sx, sy = -share * (c * gx - b * gy), -share * (a * gy - b * gx)
        value = (x - p[0]) ** 2 + (y - p[1]) ** 2 + rise * rise
        for _ in range(MOST_HALVINGS):
            u, v = min(max(x + sx, 0.0), width), min(max(y + sy, 0.0), depth)
            h, hx, hy, hxx, hxy, hyy = field_height(data, obstacle, u, v)
            if (u - p[0]) ** 2 + (v - p[1]) ** 2 + (h - p[2]) ** 2 <= value * (1.0 + 1e-12):
                break
            sx, sy = 0.5 * sx, 0.5 * sy
        small = abs(u - x) + abs(v - y) <= ARRIVED * (width + depth)
        x, y = u, v
        if small:
            break
    share = 1.0 / math.sqrt(1.0 + hx * hx + hy * hy)
    normal = (-share * hx, -share * hy, share)
    return normal[0] * (p[0] - x) + normal[1] * (p[1] - y) + normal[2] * (p[2] - h), normal


@shared
def obstacle_distance(
    data: Array, obstacle: int, x: Vector, inward: Vector, reach: float
) -> tuple[float, Vector]:
    """Signed distance of the point x from the obstacle with the record at `obstacle`, and its gradient, with inward
    from x into its body; all in the obstacle's frame. Distances beyond reach may be FAR.
    """
    kind, own = int(data[obstacle + contact.OBSTACLE_KIND]), obstacle + contact.OBSTACLE_PARAMETERS
    if kind == contact.PLANE:
        return x[2], (0.0, 0.0, 1.0)
    if kind == contact.SPHERE:
        return sphere_distance(x, data[own])
    if kind == contact.CAPSULE:
        return capsule_distance(x, data[own], data[own + 1])
    if kind == contact.BOX:
        sizes = (data[own], data[own + 1], data[own + 2])
        return box_face(x, sizes, inward) if is_inside(x, sizes) else box_distance(x, sizes)
    return field_distance(data, own, x, reach)
