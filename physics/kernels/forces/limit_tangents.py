"""Exact derivatives of the forces of compliant limits, by second derivatives of their functions."""

import math

from .. import layout as at
from ..algebra.access import flat3
from ..algebra.axes import unit
from ..algebra.rotation_vector import exp_coefficients, exp_rotation, jacobian_slope, spatial_jacobian
from ..algebra.spatial import rotate
from ..algebra.vectors import Array, Rotation, Vector, add3, cross, dot3, scale3
from ..compiler.jit import inline, shared
from .limits import ALONG, LOCKED, limit_value, turning_axes


@inline
def cone_bend(m: Rotation, axis: Vector, w: Vector) -> tuple[Vector, Vector]:
    """Gradient of a cone's g by the angular velocity, and its change under a rotation with w."""
    moved = rotate(m, axis)
    aside = cross(moved, axis)
    sine = math.sqrt(dot3(aside, aside))
    if sine <= ALONG:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    normal = scale3(1.0 / sine, aside)
    change = scale3(1.0 / sine, cross(cross(w, moved), axis))
    return normal, add3(change, scale3(-dot3(normal, change), normal))


@inline
def rotation_bend(r: Vector, most: Vector, a: Vector) -> Vector:
    """Second derivative of `rotation_limit` along a: of sqrt(r.D r) / |r|, D the squares of most, less the angle."""
    length = math.sqrt(dot3(r, r))
    if length < ALONG:
        return 0.0, 0.0, 0.0
    u = scale3(1.0 / length, r)
    dr = (most[0] * most[0] * r[0], most[1] * most[1] * r[1], most[2] * most[2] * r[2])
    da = (most[0] * most[0] * a[0], most[1] * most[1] * a[1], most[2] * most[2] * a[2])
    reach = math.sqrt(dot3(r, dr))
    reach_a, length_a = dot3(dr, a) / reach, dot3(u, a)
    rest = length - 2.0 * math.pi * math.floor(length / (2.0 * math.pi) + 0.5)
    sense = 1.0 if rest >= 0.0 else -1.0
    along_d = -(reach_a / reach + length_a / length) / (reach * length)
    cube = length * length * length
    along_r = (3.0 * reach * length_a / length - reach_a) / cube + sense * length_a / (length * length)
    along_a = -reach / cube - sense / length
    result = add3(scale3(1.0 / (reach * length), da), scale3(along_d, dr))
    return add3(result, add3(scale3(along_r, r), scale3(along_a, a)))


@inline
def euler_bend(m: Rotation, axes: tuple[int, int, int], which: int, w: Vector) -> tuple[Vector, Vector]:
    """Gradient of an Euler angle by the angular velocity, and its change under a rotation with w.

    The three gradients are dual to the axes a, b, c: a is fixed, b rotates about a, c with the body.
    """
    _, a, b, c = turning_axes(m, axes)
    volume = dot3(a, cross(b, c))
    if abs(volume) <= LOCKED:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    dual_a = scale3(1.0 / volume, cross(b, c))
    dual_b = scale3(1.0 / volume, cross(c, a))
    dual_c = scale3(1.0 / volume, cross(a, b))
    own = dual_a
    if which == 1:
        own = dual_b
    elif which == 2:
        own = dual_c
    change_b, change_c = scale3(dot3(dual_a, w), cross(a, b)), cross(w, c)
    return own, add3(scale3(-dot3(own, change_b), dual_b), scale3(-dot3(own, change_c), dual_c))


@shared
def limit_bend(data: Array, row: int, q: Array, a: Vector) -> Vector:
    """Second derivative of the g of a limit of three coordinates, along a and by each of them."""
    kind, d = int(data[row + at.LIMIT_KIND]), int(data[row + at.LIMIT_DOF])
    parameters = row + at.LIMIT_PARAMETERS
    r = (q[d], q[d + 1], q[d + 2])
    first = flat3(data, parameters)
    if kind == at.LIMIT_ROTATION:
        return rotation_bend(r, first, a)
    beta, gamma, _, beta_rate, gamma_rate = exp_coefficients(dot3(r, r))
    m = exp_rotation(r, beta, gamma)
    j = spatial_jacobian(r, beta, gamma)
    w = rotate(j, a)
    if kind == at.LIMIT_CONE:
        normal, change = cone_bend(m, first, w)
    else:
        axes = (int(first[0]), int(first[1]), int(first[2]))
        normal, change = euler_bend(m, axes, int(data[parameters + 3]), w)
        normal, change = scale3(data[parameters + 4], normal), scale3(data[parameters + 4], change)
    coefficients = (beta, gamma, beta_rate, gamma_rate)
    return (
        dot3((j[0], j[3], j[6]), change) + dot3(jacobian_slope(r, a, (1.0, 0.0, 0.0), coefficients), normal),
        dot3((j[1], j[4], j[7]), change) + dot3(jacobian_slope(r, a, (0.0, 1.0, 0.0), coefficients), normal),
        dot3((j[2], j[5], j[8]), change) + dot3(jacobian_slope(r, a, (0.0, 0.0, 1.0), coefficients), normal),
    )


@shared
def add_limit_slopes(data: Array, q: Array, qd: Array, by_q: Array, by_qd: Array) -> None:
    """Subtract the derivatives of `limits.limit_forces` from those of inverse dynamics."""
    for k in range(int(data[at.LIMIT_COUNT])):
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        if data[row + at.LIMIT_RESTITUTION] >= 0.0:
            continue
        value, gradient, count = limit_value(data, row, q)
        if value >= 0.0:
            continue
        d = int(data[row + at.LIMIT_DOF])
        speed = 0.0
        for j in range(count):
            speed += gradient[j] * qd[d + j]
        spring, damper = data[row + at.LIMIT_SPRING], data[row + at.LIMIT_DAMPER]
        push = -spring * value - damper * speed
        if push <= 0.0:
            continue
        for e in range(count):
            bend = (0.0, 0.0, 0.0)
            if count == 3:
                bend = limit_bend(data, row, q, unit(e, 1.0))
            change = -spring * gradient[e]
            for j in range(count):
                change -= damper * bend[j] * qd[d + j]
            for j in range(count):
                by_q[d + j, d + e] -= push * bend[j] + change * gradient[j]
                by_qd[d + j, d + e] += damper * gradient[e] * gradient[j]
