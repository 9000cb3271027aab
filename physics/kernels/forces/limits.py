"""Limits g(q) >= 0 of single joints other than a spring on one coordinate: of rotations, of Euler angles, and hard
ones.

A row in data is kind, body, first coordinate, stiffness, damping, restitution (-1: compliant), six parameters. A
compliant limit pushes by stiffness and damping where g < 0. A hard one stops the motion by an impulse through the whole
tree (Kim, Lee & Park 2014, joint limit analysis); the rebound has the share `restitution` of the speed.
"""

import math

from .. import layout as at
from ..algebra.access import flat3, load_twist, store_twist
from ..algebra.axes import unit
from ..algebra.euler import angles_of
from ..algebra.rotation_vector import exp_coefficients, exp_rotation, spatial_jacobian
from ..algebra.spatial import rotate, transposed
from ..algebra.vectors import STILL, Array, Rotation, Twist, Vector, add3, cross, dot3, dot6, scale_add6
from ..compiler.jit import inline, shared
from .passive import limit_push

ALONG = 1e-12  # below this an axis coincides with its image, and a rotation has no axis
LOCKED = 1e-9


@inline
def cone_limit(m: Rotation, axis: Vector, angle: float) -> tuple[float, Vector]:
    """The angle that remains until an axis reaches its limit under the rotation m, and its gradient by the angular
    velocity.
    """
    moved = rotate(m, axis)
    aside = cross(moved, axis)
    sine = math.sqrt(dot3(aside, aside))
    scale = 1.0 / sine if sine > ALONG else 0.0
    return angle - math.atan2(sine, dot3(moved, axis)), (scale * aside[0], scale * aside[1], scale * aside[2])


@inline
def rotation_limit(r: Vector, most: Vector) -> tuple[float, Vector]:
    """|r_max o u| - theta and its gradient by r (ArtiSynth's guide, eq. 3.27), theta in [0, pi]."""
    length = math.sqrt(dot3(r, r))
    if length < ALONG:
        return min(most[0], min(most[1], most[2])), (0.0, 0.0, 0.0)
    u = (r[0] / length, r[1] / length, r[2] / length)
    turns = math.floor(length / (2.0 * math.pi) + 0.5)
    rest = length - 2.0 * math.pi * turns  # the angle in the chart |theta| <= pi
    sense = 1.0 if rest >= 0.0 else -1.0
    d = (most[0] * most[0] * u[0], most[1] * most[1] * u[1], most[2] * most[2] * u[2])
    along = dot3(u, d)
    reach = math.sqrt(along)
    scale = 1.0 / (reach * length)
    back = scale * along + sense
    return reach - sense * rest, (
        scale * d[0] - back * u[0],
        scale * d[1] - back * u[1],
        scale * d[2] - back * u[2],
    )


@inline
def turning_axes(m: Rotation, axes: tuple[int, int, int]) -> tuple[Vector, Vector, Vector, Vector]:
    """Euler angles of the rotation m, and their axes a, b, c."""
    i, j, last = axes
    angles = angles_of(m, i, j, last)
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    a = unit(i, 1.0)
    b = add3(unit(j, math.cos(angles[0])), unit(3 - i - j, parity * math.sin(angles[0])))
    return angles, a, b, (m[last], m[3 + last], m[6 + last])


@inline
def euler_angle(m: Rotation, axes: tuple[int, int, int], which: int, near: float) -> tuple[float, Vector]:
    """One Euler angle of the rotation m (an outer angle with the whole turns nearest to `near`), and its gradient by
    the angular velocity: the axes a, b, c of the three rotations satisfy w = a alpha' + b beta' + c gamma'.
    """
    angles, a, b, c = turning_axes(m, axes)
    volume = dot3(a, cross(b, c))
    scale = 1.0 / volume if abs(volume) > LOCKED else 0.0  # at gimbal lock the angle has no gradient
    if which == 1:
        value, w = angles[1], cross(c, a)
    else:
        value, w = angles[0], cross(b, c)
        if which == 2:
            value, w = angles[2], cross(a, b)
        value -= 2.0 * math.pi * math.floor((value - near) / (2.0 * math.pi) + 0.5)
    return value, (scale * w[0], scale * w[1], scale * w[2])


@shared
def limit_value(data: Array, row: int, q: Array) -> tuple[float, Vector, int]:
    """g of the limit whose row begins at `row`, its gradient by the one or three coordinates from LIMIT_DOF on, and the
    number of these.
    """
    kind, d = int(data[row + at.LIMIT_KIND]), int(data[row + at.LIMIT_DOF])
    parameters = row + at.LIMIT_PARAMETERS
    if kind == at.LIMIT_LOWER:
        return q[d] - data[parameters], (1.0, 0.0, 0.0), 1
    if kind == at.LIMIT_UPPER:
        return data[parameters] - q[d], (-1.0, 0.0, 0.0), 1
    r = (q[d], q[d + 1], q[d + 2])
    first = flat3(data, parameters)
    if kind == at.LIMIT_ROTATION:
        value, gradient = rotation_limit(r, first)
        return value, gradient, 3
    beta, gamma, _, _, _ = exp_coefficients(dot3(r, r))
    m = exp_rotation(r, beta, gamma)
    if kind == at.LIMIT_CONE:
        value, w = cone_limit(m, first, data[parameters + 3])
    else:  # one side of an Euler angle: axes, which angle, sense, bound
        sense, bound = data[parameters + 4], data[parameters + 5]
        angle, w = euler_angle(
            m, (int(first[0]), int(first[1]), int(first[2])), int(data[parameters + 3]), bound
        )
        value, w = sense * (angle - bound), (sense * w[0], sense * w[1], sense * w[2])
    jacobian = spatial_jacobian(r, beta, gamma)
    return value, rotate(transposed(jacobian), w), 3


@shared
def limit_forces(data: Array, q: Array, rate: Array, ahead: float, dof: Array) -> None:
    """Generalized forces of the compliant limits, into a column of the coordinates' workspace, and the inertia that
    they add in a step of length ahead that is implicit in them (0: none). This couples a joint's coordinates: it
    resists motion along the gradient, not across it.
    """
    for d in range(q.shape[0]):
        dof[d, at.EXTRA], dof[d, at.COUPLED], dof[d, at.COUPLED + 1], dof[d, at.COUPLED + 2] = (
            0.0,
            0.0,
            0.0,
            0.0,
        )
    for k in range(int(data[at.LIMIT_COUNT])):
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        if data[row + at.LIMIT_RESTITUTION] >= 0.0:
            continue
        value, gradient, count = limit_value(data, row, q)
        d = int(data[row + at.LIMIT_DOF])
        speed, free = 0.0, True
        for j in range(count):
            speed += gradient[j] * rate[d + j]
            free = free and dof[d + j, at.HELD] == 0.0
        # prescribed motion needs no implicit limits
        foreseen = ahead if free else 0.0
        push, inertia = limit_push(
            data[row + at.LIMIT_SPRING], data[row + at.LIMIT_DAMPER], -value, speed, foreseen
        )
        for j in range(count):
            dof[d + j, at.EXTRA] += push * gradient[j]
            for back in range(j + 1):
                dof[d + j, at.COUPLED + back] += inertia * gradient[j] * gradient[j - back]


@shared
def is_coupled(dof: Array, first: int, count: int) -> bool:
    """Whether limits add inertia to the joint whose coordinates begin at first; if so, clears the remaining coupling
    between each coordinate and the bodies in its column `PROJECTED`.
    """
    found = False
    for d in range(first, first + count):
        found = found or dof[d, at.COUPLED] != 0.0
    if found:
        for d in range(first, first + count):
            store_twist(dof, d, at.PROJECTED, STILL)
    return found


@shared
def coupled_share(dof: Array, first: int, d: int, s: Twist) -> tuple[Twist, float]:
    """Inertia of implicit limits on coordinate d: its coupling with the bodies, and its own; its joint's coordinates
    begin at first.

    A joint's coordinates are eliminated one at a time, last first, from the bodies' inertias; with limits they are
    eliminated from both together, as if each moved the bodies by s and a separate point by 1. The coupling of that
    point and the bodies that remains after later coordinates is in `PROJECTED` until it is overwritten.
    """
    left = load_twist(dof, d, at.PROJECTED)
    along = dot6(s, left)
    dof[d, at.COUPLED] += along
    for back in (1, 2):
        if d - back >= first:
            dof[d, at.COUPLED + back] += dot6(s, load_twist(dof, d - back, at.PROJECTED))
    return left, along + dof[d, at.COUPLED]


@inline
def coupled_to(change: Array, d: int, dof: Array) -> float:
    """Force on coordinate d from the limits' inertia and the changes of the coordinates before it in its joint."""
    total = 0.0
    for back in (1, 2):
        if dof[d, at.COUPLED + back] != 0.0:
            total += dof[d, at.COUPLED + back] * change[d - back]
    return total


@shared
def take_out_coupled(dof: Array, d: int, u: Twist, inverse: float, gained: float) -> None:
    """Eliminate coordinate d, with projected inertia u and acceleration gained, from the limits' inertia of those
    before it in its joint.
    """
    first, second = dof[d, at.COUPLED + 1], dof[d, at.COUPLED + 2]
    for back in (1, 2):
        share = dof[d, at.COUPLED + back]
        if share != 0.0:
            e = d - back
            store_twist(
                dof, e, at.PROJECTED, scale_add6(load_twist(dof, e, at.PROJECTED), -share * inverse, u)
            )
            dof[e, at.COUPLED] -= share * share * inverse
            dof[e, at.REMAINDER] -= share * gained
    if first != 0.0 and second != 0.0:
        dof[d - 1, at.COUPLED + 1] -= first * second * inverse


@shared
def limit_potential(data: Array, q: Array) -> float:
    """Energy stored in the compliant limits."""
    energy = 0.0
    for k in range(int(data[at.LIMIT_COUNT])):
        row = int(data[at.LIMIT_ROWS]) + k * at.LIMIT_WIDTH
        if data[row + at.LIMIT_RESTITUTION] < 0.0:
            value, _, _ = limit_value(data, row, q)
            beyond = min(value, 0.0)
            energy += 0.5 * data[row + at.LIMIT_SPRING] * beyond * beyond
    return energy
