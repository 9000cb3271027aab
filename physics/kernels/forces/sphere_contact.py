"""Contact of a sphere with a half-space by Hertz, Hunt and Crossley, with Stribeck friction, sharp or smoothed.

At depth delta with rate v the sphere is pushed along the normal by P(delta) Q(v) with P = K delta^1.5 and Q = 1 + 1.5 c
v, not negative, and rubbed by that force times phi(s) times the sliding velocity, s its square (Sherman, Seth & Delp
2011). With an offset w delta^2 and s become delta^2 + w and s + w, and P and Q fade out by hyperbolic tangents instead
of ending (Serrancoli et al. 2019). Geometry is stored as that of `ground` with one point.
"""

import math

from .. import layout as at
from ..algebra.vectors import NONE, STILL, Array, Twist, Vector, add3, cross, dot3, scale_add3
from ..compiler.jit import inline, shared
from .ground import ground_depth, ground_plane
from .points import Moves, material, twists_of, wrench_at, wrench_change


@inline
def pressing(data: Array, row: int, depth: float) -> tuple[float, float]:
    """P and its slope."""
    k, offset = data[row + at.SPHERE_STIFFNESS], data[row + at.SPHERE_OFFSET]
    if offset == 0.0:
        if depth <= 0.0:
            return 0.0, 0.0
        root = math.sqrt(depth)
        return k * depth * root, 1.5 * k * root
    steep = data[row + at.SPHERE_DEPTH_STEEPNESS]
    level = math.tanh(steep * depth)
    square = depth * depth + offset
    base = k * square**0.75
    share = 0.5 + 0.5 * level
    return base * share, 1.5 * base * depth / square * share + 0.5 * base * steep * (1.0 - level * level)


@inline
def hastening(data: Array, row: int, rate: float) -> tuple[float, float]:
    """Q and its slope."""
    c = 1.5 * data[row + at.SPHERE_DISSIPATION]
    plain = 1.0 + c * rate
    if data[row + at.SPHERE_OFFSET] == 0.0:
        return (plain, c) if plain > 0.0 else (0.0, 0.0)
    if c == 0.0:
        return 1.0, 0.0
    steep = data[row + at.SPHERE_SPEED_STEEPNESS]
    level = math.tanh(steep * (rate + 1.0 / c))
    share = 0.5 + 0.5 * level
    return plain * share, c * share + 0.5 * plain * steep * (1.0 - level * level)


@inline
def rubbing(data: Array, row: int, square: float) -> tuple[float, float]:
    """phi and its slope by the square of the sliding speed."""
    slow, s = data[row + at.SPHERE_SPEED], square + data[row + at.SPHERE_OFFSET]
    excess = 2.0 * (data[row + at.SPHERE_STATIC] - data[row + at.SPHERE_DYNAMIC])
    below = 1.0 + s / (slow * slow)
    mu, bend = data[row + at.SPHERE_DYNAMIC] + excess / below, -excess / (below * below * slow * slow)
    if s < slow * slow:
        return mu / slow + data[row + at.SPHERE_VISCOUS], bend / slow
    speed = math.sqrt(s)
    return mu / speed + data[row + at.SPHERE_VISCOUS], (bend - 0.5 * mu / s) / speed


@inline
def contact_place(
    data: Array, row: int, work: Array, depth: float, lever: Vector, normal: Vector, apart: Vector
) -> tuple[Vector, Vector, Vector]:
    """Levers of the point of contact for both bodies, and the sphere's velocity there relative to the half-space."""
    first, second = twists_of(data, row, work)
    inward = data[row + at.SPHERE_SHARE] * depth - data[row + at.GROUND_RADIUS]
    a = scale_add3(lever, inward, normal)
    b = add3(a, apart)
    return a, b, scale_add3(material(first, a), -1.0, material(second, b))


@shared
def sphere_wrench(body_int: Array, data: Array, row: int, work: Array) -> tuple[Twist, Twist]:
    """Wrenches on the sphere's body and on that of the half-space."""
    origin, normal, apart = ground_plane(body_int, data, row, work)
    depth, lever = ground_depth(data, row, work, 0, origin, normal, apart)
    press, _ = pressing(data, row, depth)
    if press == 0.0:
        return STILL, STILL
    a, b, w = contact_place(data, row, work, depth, lever, normal, apart)
    rising = dot3(normal, w)
    push = press * hastening(data, row, -rising)[0]
    slide = scale_add3(w, -rising, normal)
    phi, _ = rubbing(data, row, dot3(slide, slide))
    force = scale_add3(scale_add3(NONE, push, normal), -push * phi, slide)
    return wrench_at(a, NONE, force), wrench_at(b, NONE, scale_add3(NONE, -1.0, force))


@shared
def sphere_tangent(body_int: Array, data: Array, row: int, work: Array, moves: Moves) -> tuple[Twist, Twist]:
    """Derivatives of the wrenches, as `elements.element_tangent`."""
    eta, nu, other_eta, other_nu = moves
    origin, normal, apart = ground_plane(body_int, data, row, work)
    depth, lever = ground_depth(data, row, work, 0, origin, normal, apart)
    press, press_slope = pressing(data, row, depth)
    if press == 0.0:
        return STILL, STILL
    first, second = twists_of(data, row, work)
    a, b, w = contact_place(data, row, work, depth, lever, normal, apart)
    d_normal = cross((other_eta[0], other_eta[1], other_eta[2]), normal)
    shift = material(eta, lever)
    above = scale_add3(add3(lever, apart), -1.0, origin)
    d_depth = -dot3(d_normal, above) - dot3(normal, scale_add3(shift, -1.0, material(other_eta, origin)))
    share = data[row + at.SPHERE_SHARE]
    touch = scale_add3(shift, share * depth - data[row + at.GROUND_RADIUS], d_normal)
    touch = scale_add3(touch, share * d_depth, normal)
    speed = add3(material(nu, a), cross((first[0], first[1], first[2]), touch))
    other_speed = add3(material(other_nu, b), cross((second[0], second[1], second[2]), touch))
    dw = scale_add3(speed, -1.0, other_speed)
    rising = dot3(normal, w)
    d_rising = dot3(d_normal, w) + dot3(normal, dw)
    haste, haste_slope = hastening(data, row, -rising)
    push, d_push = press * haste, press_slope * d_depth * haste - press * haste_slope * d_rising
    slide = scale_add3(w, -rising, normal)
    d_slide = scale_add3(scale_add3(dw, -d_rising, normal), -rising, d_normal)
    phi, bend = rubbing(data, row, dot3(slide, slide))
    d_phi = 2.0 * bend * dot3(slide, d_slide)
    force = scale_add3(scale_add3(NONE, push, normal), -push * phi, slide)
    change = scale_add3(scale_add3(NONE, d_push, normal), push, d_normal)
    change = scale_add3(scale_add3(change, -d_push * phi - push * d_phi, slide), -push * phi, d_slide)
    minus, back = scale_add3(NONE, -1.0, force), scale_add3(NONE, -1.0, change)
    return wrench_change(a, touch, force, NONE, change), wrench_change(b, touch, minus, NONE, back)


@shared
def sphere_potential(body_int: Array, data: Array, row: int, work: Array) -> float:
    """Energy stored by P: 0.4 delta P, which is exact without smoothing."""
    origin, normal, apart = ground_plane(body_int, data, row, work)
    depth, _ = ground_depth(data, row, work, 0, origin, normal, apart)
    return 0.4 * depth * pressing(data, row, depth)[0]
