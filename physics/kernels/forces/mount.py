"""Soft mount of a point of a body in another body or the world, cubic along an axis of the latter and across it.

The coupling of a wobbling mass (Ertl et al. 1993, eqs. 16b, 16c): along the axis the force is -(c sign(s) |s|^3 + d s')
for the displacement s, across it -(c |t|^2 t + d t') for the displacement t, both in the frame of the body with the
axis. That body gets the opposite force at the same place.
"""

from .. import layout as at
from ..algebra.access import flat3, load_rotation
from ..algebra.spatial import rotate
from ..algebra.vectors import NONE, Array, Twist, Vector, add3, cross, dot3, scale_add3
from ..compiler.jit import inline, shared
from .points import Moves, carried, material, reference_of, twists_of, wrench_at, wrench_change


@inline
def mount_place(body_int: Array, data: Array, row: int, work: Array) -> tuple[Vector, Vector, Vector, Vector]:
    """Levers of the point for both bodies, the axis in the world, and the displacement from the rest position."""
    body, other = int(data[row + at.ELEMENT_BODY]), int(data[row + at.ELEMENT_OTHER])
    a = carried(work, body, flat3(data, row + at.MOUNT_POINT))
    apart = scale_add3(reference_of(body_int, work, body), -1.0, reference_of(body_int, work, other))
    b = add3(a, apart)
    axis = flat3(data, row + at.MOUNT_AXIS)
    if other >= 0:
        axis = rotate(load_rotation(work, other), axis)
    home = carried(work, other, flat3(data, row + at.MOUNT_OTHER_POINT))
    return a, b, axis, scale_add3(b, -1.0, home)


@inline
def parted(axis: Vector, x: Vector) -> tuple[float, Vector]:
    """A vector's component along the axis, and the remainder."""
    along = dot3(axis, x)
    return along, scale_add3(x, -along, axis)


@inline
def mount_force(data: Array, row: int, axis: Vector, x: Vector, w: Vector) -> Vector:
    """Force on the body for displacement x and its rate w in the frame of the body with the axis."""
    s, t = parted(axis, x)
    s_rate, t_rate = parted(axis, w)
    along = data[row + at.MOUNT_ALONG] * s * s * s + data[row + at.MOUNT_ALONG_DAMPING] * s_rate
    force = scale_add3(NONE, -along, axis)
    force = scale_add3(force, -data[row + at.MOUNT_ACROSS] * dot3(t, t), t)
    return scale_add3(force, -data[row + at.MOUNT_ACROSS_DAMPING], t_rate)


@shared
def mount_wrench(body_int: Array, data: Array, row: int, work: Array) -> tuple[Twist, Twist]:
    """Wrenches on the body and on the one with the axis."""
    a, b, axis, x = mount_place(body_int, data, row, work)
    first, second = twists_of(data, row, work)
    w = scale_add3(material(first, a), -1.0, material(second, b))
    force = mount_force(data, row, axis, x, w)
    return wrench_at(a, NONE, force), wrench_at(b, NONE, scale_add3(NONE, -1.0, force))


@shared
def mount_tangent(body_int: Array, data: Array, row: int, work: Array, moves: Moves) -> tuple[Twist, Twist]:
    """Derivatives of the wrenches, as `elements.element_tangent`."""
    eta, nu, other_eta, other_nu = moves
    a, b, axis, x = mount_place(body_int, data, row, work)
    first, second = twists_of(data, row, work)
    w = scale_add3(material(first, a), -1.0, material(second, b))
    shift = material(eta, a)
    d_axis = cross((other_eta[0], other_eta[1], other_eta[2]), axis)
    dx = scale_add3(shift, -1.0, material(other_eta, scale_add3(b, -1.0, x)))
    speed = add3(material(nu, a), cross((first[0], first[1], first[2]), shift))
    other_speed = add3(material(other_nu, b), cross((second[0], second[1], second[2]), shift))
    dw = scale_add3(speed, -1.0, other_speed)
    s, t = parted(axis, x)
    s_rate = dot3(axis, w)
    ds, ds_rate = dot3(d_axis, x) + dot3(axis, dx), dot3(d_axis, w) + dot3(axis, dw)
    dt = scale_add3(scale_add3(dx, -ds, axis), -s, d_axis)
    dt_rate = scale_add3(scale_add3(dw, -ds_rate, axis), -s_rate, d_axis)
    stiff, damp = data[row + at.MOUNT_ALONG], data[row + at.MOUNT_ALONG_DAMPING]
    change = scale_add3(NONE, -(3.0 * stiff * s * s * ds + damp * ds_rate), axis)
    change = scale_add3(change, -(stiff * s * s * s + damp * s_rate), d_axis)
    stiff, damp = data[row + at.MOUNT_ACROSS], data[row + at.MOUNT_ACROSS_DAMPING]
    change = scale_add3(change, -2.0 * stiff * dot3(t, dt), t)
    change = scale_add3(scale_add3(change, -stiff * dot3(t, t), dt), -damp, dt_rate)
    force = mount_force(data, row, axis, x, w)
    back, back_change = scale_add3(NONE, -1.0, force), scale_add3(NONE, -1.0, change)
    return wrench_change(a, shift, force, NONE, change), wrench_change(b, shift, back, NONE, back_change)


@shared
def mount_potential(body_int: Array, data: Array, row: int, work: Array) -> float:
    """Energy stored in the mount."""
    _, _, axis, x = mount_place(body_int, data, row, work)
    s, t = parted(axis, x)
    square = dot3(t, t)
    energy: float = data[row + at.MOUNT_ALONG] * s * s * s * s + data[row + at.MOUNT_ACROSS] * square * square
    return 0.25 * energy
