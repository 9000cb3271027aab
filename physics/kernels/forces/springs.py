"""Springs with dampers between points of two bodies, or of a body and the world (Wang 2022, sec. 3.10.3)."""

import math

from .. import layout as at
from ..algebra.access import flat3
from ..algebra.vectors import NONE, Array, Twist, Vector, add3, cross, dot3, scale_add3
from ..compiler.jit import inline, shared
from .points import Moves, carried, material, position, twists_of, wrench_at, wrench_change

ALONE = 1e-12  # m: ends that coincide have no direction


@inline
def spring_levers(data: Array, row: int, work: Array) -> tuple[Vector, Vector]:
    """Levers of both ends."""
    a = carried(work, int(data[row + at.ELEMENT_BODY]), flat3(data, row + at.SPRING_POINT))
    b = carried(work, int(data[row + at.ELEMENT_OTHER]), flat3(data, row + at.SPRING_OTHER_POINT))
    return a, b


@inline
def spring_direction(
    body_int: Array, data: Array, row: int, work: Array, a: Vector, b: Vector
) -> tuple[float, Vector]:
    """Length, and unit vector from the end with lever a to that with lever b."""
    start = position(body_int, work, int(data[row + at.ELEMENT_BODY]), a)
    end = position(body_int, work, int(data[row + at.ELEMENT_OTHER]), b)
    x = scale_add3(end, -1.0, start)
    length = math.sqrt(dot3(x, x))
    if length < ALONE:
        return length, NONE
    return length, scale_add3(NONE, 1.0 / length, x)


@inline
def spring_tension(data: Array, row: int, length: float, rate: float) -> float:
    stretch = length - data[row + at.SPRING_REST]
    return data[row + at.SPRING_STIFFNESS] * stretch + data[row + at.SPRING_DAMPING] * rate


@shared
def spring_wrench(body_int: Array, data: Array, row: int, work: Array) -> tuple[Twist, Twist]:
    """Wrenches on both bodies."""
    a, b = spring_levers(data, row, work)
    length, u = spring_direction(body_int, data, row, work, a, b)
    first, second = twists_of(data, row, work)
    w = scale_add3(material(second, b), -1.0, material(first, a))
    tension = spring_tension(data, row, length, dot3(u, w))
    pull = scale_add3(NONE, tension, u)
    return wrench_at(a, NONE, pull), wrench_at(b, NONE, scale_add3(NONE, -1.0, pull))


@inline
def end_change(twist: Twist, lever: Vector, eta: Twist, nu: Twist) -> tuple[Vector, Vector]:
    """Displacement of a material point, and the change of its velocity."""
    shift = material(eta, lever)
    return shift, add3(material(nu, lever), cross((twist[0], twist[1], twist[2]), shift))


@shared
def spring_tangent(body_int: Array, data: Array, row: int, work: Array, moves: Moves) -> tuple[Twist, Twist]:
    """Derivatives of the wrenches, as `elements.element_tangent`."""
    eta, nu, other_eta, other_nu = moves
    a, b = spring_levers(data, row, work)
    length, u = spring_direction(body_int, data, row, work, a, b)
    first, second = twists_of(data, row, work)
    w = scale_add3(material(second, b), -1.0, material(first, a))
    shift_a, speed_a = end_change(first, a, eta, nu)
    shift_b, speed_b = end_change(second, b, other_eta, other_nu)
    dx, dw = scale_add3(shift_b, -1.0, shift_a), scale_add3(speed_b, -1.0, speed_a)
    tension = spring_tension(data, row, length, dot3(u, w))
    if length < ALONE:  # only without a rest length the force has a slope here
        along = data[row + at.SPRING_STIFFNESS] if data[row + at.SPRING_REST] == 0.0 else 0.0
        change = scale_add3(NONE, along, dx)
    else:
        stretch = dot3(u, dx)
        turn = scale_add3(NONE, 1.0 / length, scale_add3(dx, -stretch, u))
        rise = data[row + at.SPRING_STIFFNESS] * stretch
        rise += data[row + at.SPRING_DAMPING] * (dot3(turn, w) + dot3(u, dw))
        change = scale_add3(scale_add3(NONE, rise, u), tension, turn)
    pull = scale_add3(NONE, tension, u)
    return (
        wrench_change(a, shift_a, pull, NONE, change),
        wrench_change(b, shift_b, scale_add3(NONE, -1.0, pull), NONE, scale_add3(NONE, -1.0, change)),
    )


@shared
def spring_potential(body_int: Array, data: Array, row: int, work: Array) -> float:
    """Energy stored in the spring."""
    a, b = spring_levers(data, row, work)
    stretch = spring_direction(body_int, data, row, work, a, b)[0] - data[row + at.SPRING_REST]
    return 0.5 * data[row + at.SPRING_STIFFNESS] * stretch * stretch
