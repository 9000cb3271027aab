"""Deformable ground under points of a body (Ertl et al. 1993, eq. 8).

A point nearer to the plane than its radius deforms the ground by delta. The ground pushes it along the plane's normal
by F = a delta^b + d delta', never pulls, and resists sliding by mu F. Below a given speed v0 friction is mu F (3 - x^2)
x / 2 with x = |v| / v0, which joins mu F smoothly at v0. The plane belongs to the world or to another body, which gets
the opposite wrench; both forces act at the point of contact.
"""

import math

from .. import layout as at
from ..algebra.access import flat3, load_rotation
from ..algebra.spatial import rotate
from ..algebra.vectors import NONE, STILL, Array, Twist, Vector, add3, cross, dot3, scale_add3, scale_add6
from ..compiler.jit import inline, shared
from .points import Moves, carried, material, reference_of, twists_of, wrench_at, wrench_change


@inline
def ground_plane(body_int: Array, data: Array, row: int, work: Array) -> tuple[Vector, Vector, Vector]:
    """Lever of the plane's origin, its normal in the world, and the vector from the plane's reference point to the
    body's.
    """
    body, other = int(data[row + at.ELEMENT_BODY]), int(data[row + at.ELEMENT_OTHER])
    normal = flat3(data, row + at.GROUND_NORMAL)
    if other >= 0:
        normal = rotate(load_rotation(work, other), normal)
    apart = scale_add3(reference_of(body_int, work, body), -1.0, reference_of(body_int, work, other))
    return carried(work, other, flat3(data, row + at.GROUND_ORIGIN)), normal, apart


@inline
def ground_depth(
    data: Array, row: int, work: Array, k: int, origin: Vector, normal: Vector, apart: Vector
) -> tuple[float, Vector]:
    """Deformation under point k, and the point's lever."""
    point = flat3(data, row + at.GROUND_POINTS + 3 * k)
    lever = carried(work, int(data[row + at.ELEMENT_BODY]), point)
    above = dot3(normal, scale_add3(add3(lever, apart), -1.0, origin))
    return data[row + at.GROUND_RADIUS] - above, lever


@inline
def friction_factor(data: Array, row: int, square: float) -> tuple[float, float]:
    """Friction over mu F v for sliding at speed sqrt(square), and its derivative by square."""
    slow = data[row + at.GROUND_SPEED]
    if square < slow * slow:
        return 0.5 * (3.0 - square / (slow * slow)) / slow, -0.5 / (slow * slow * slow)
    factor = 1.0 / math.sqrt(square)
    return factor, -0.5 * factor / square


@inline
def ground_push(data: Array, row: int, depth: float, rate: float) -> float:
    """Force of the ground along the normal."""
    push: float = data[row + at.GROUND_STIFFNESS] * depth ** data[row + at.GROUND_EXPONENT]
    push += data[row + at.GROUND_DAMPING] * rate
    return max(push, 0.0)


@inline
def touching(
    data: Array, row: int, lever: Vector, normal: Vector, apart: Vector, first: Twist, second: Twist
) -> tuple[Vector, Vector, Vector]:
    """Levers for both bodies of a point of contact, and the body's velocity there relative to the plane."""
    a = scale_add3(lever, -data[row + at.GROUND_RADIUS], normal)
    b = add3(a, apart)
    return a, b, scale_add3(material(first, a), -1.0, material(second, b))


@shared
def ground_wrench(body_int: Array, data: Array, row: int, work: Array) -> tuple[Twist, Twist]:
    """Wrenches on the body and on the one that carries the plane."""
    origin, normal, apart = ground_plane(body_int, data, row, work)
    first, second = twists_of(data, row, work)
    total, opposite = STILL, STILL
    for k in range(int(data[row + at.GROUND_COUNT])):
        depth, lever = ground_depth(data, row, work, k, origin, normal, apart)
        if depth <= 0.0:
            continue
        a, b, w = touching(data, row, lever, normal, apart, first, second)
        rising = dot3(normal, w)
        push = ground_push(data, row, depth, -rising)
        slide = scale_add3(w, -rising, normal)
        friction = data[row + at.GROUND_FRICTION] * push * friction_factor(data, row, dot3(slide, slide))[0]
        force = scale_add3(scale_add3(NONE, push, normal), -friction, slide)
        total = scale_add6(total, 1.0, wrench_at(a, NONE, force))
        opposite = scale_add6(opposite, -1.0, wrench_at(b, NONE, force))
    return total, opposite


@inline
def ground_force_change(
    data: Array,
    row: int,
    depth: float,
    normal: Vector,
    w: Vector,
    d_depth: float,
    d_normal: Vector,
    dw: Vector,
) -> tuple[Vector, Vector]:
    """Force at one point of contact, and its change with depth, normal and velocity."""
    rising = dot3(normal, w)
    push = ground_push(data, row, depth, -rising)
    if push <= 0.0:
        return NONE, NONE
    slide = scale_add3(w, -rising, normal)
    factor, bend = friction_factor(data, row, dot3(slide, slide))
    mu = data[row + at.GROUND_FRICTION]
    force = scale_add3(scale_add3(NONE, push, normal), -mu * push * factor, slide)
    d_rising = dot3(d_normal, w) + dot3(normal, dw)
    b = data[row + at.GROUND_EXPONENT]
    d_push = data[row + at.GROUND_STIFFNESS] * b * depth ** (b - 1.0) * d_depth
    d_push -= data[row + at.GROUND_DAMPING] * d_rising
    d_slide = scale_add3(scale_add3(dw, -d_rising, normal), -rising, d_normal)
    d_factor = 2.0 * bend * dot3(slide, d_slide)
    change = scale_add3(scale_add3(NONE, d_push, normal), push, d_normal)
    change = scale_add3(change, -mu * (d_push * factor + push * d_factor), slide)
    return force, scale_add3(change, -mu * push * factor, d_slide)


@shared
def ground_tangent(body_int: Array, data: Array, row: int, work: Array, moves: Moves) -> tuple[Twist, Twist]:
    """Derivatives of the wrenches, as `elements.element_tangent`."""
    eta, nu, other_eta, other_nu = moves
    origin, normal, apart = ground_plane(body_int, data, row, work)
    first, second = twists_of(data, row, work)
    d_normal = cross((other_eta[0], other_eta[1], other_eta[2]), normal)
    d_origin = material(other_eta, origin)
    total, opposite = STILL, STILL
    for k in range(int(data[row + at.GROUND_COUNT])):
        depth, lever = ground_depth(data, row, work, k, origin, normal, apart)
        if depth <= 0.0:
            continue
        a, b, w = touching(data, row, lever, normal, apart, first, second)
        shift = material(eta, lever)
        above = scale_add3(add3(lever, apart), -1.0, origin)
        d_depth = -dot3(d_normal, above) - dot3(normal, scale_add3(shift, -1.0, d_origin))
        touch = scale_add3(shift, -data[row + at.GROUND_RADIUS], d_normal)
        speed = add3(material(nu, a), cross((first[0], first[1], first[2]), touch))
        other_speed = add3(material(other_nu, b), cross((second[0], second[1], second[2]), touch))
        dw = scale_add3(speed, -1.0, other_speed)
        force, change = ground_force_change(data, row, depth, normal, w, d_depth, d_normal, dw)
        total = scale_add6(total, 1.0, wrench_change(a, touch, force, NONE, change))
        opposite = scale_add6(opposite, -1.0, wrench_change(b, touch, force, NONE, change))
    return total, opposite


@shared
def ground_potential(body_int: Array, data: Array, row: int, work: Array) -> float:
    """Energy stored in the deformed ground: a delta^(b + 1) / (b + 1)."""
    origin, normal, apart = ground_plane(body_int, data, row, work)
    energy = 0.0
    for k in range(int(data[row + at.GROUND_COUNT])):
        depth, _ = ground_depth(data, row, work, k, origin, normal, apart)
        if depth > 0.0:
            power = data[row + at.GROUND_EXPONENT] + 1.0
            energy += data[row + at.GROUND_STIFFNESS] * depth**power / power
    return energy
