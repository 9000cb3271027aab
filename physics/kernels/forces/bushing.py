"""Bushings: springs and dampers between two frames on the three angles and three displacements between them.

The angles are those about x, then y, then z of the moving frame M that turn the fixed frame F into it; displacements
are of M's origin in F's axes. The force acts at M's origin on both bodies (Sherman, Seth & Delp 2011).
"""

import math

from .. import layout as at
from ..algebra.access import flat3, load_rotation
from ..algebra.euler import angles_of
from ..algebra.spatial import multiply, rotate, transposed
from ..algebra.vectors import NONE, Array, Rotation, Twist, Vector, add3, cross, dot3, scale_add3
from ..compiler.jit import inline, shared
from ..joints.functions import evaluate_function
from .limits import LOCKED
from .points import Moves, carried, material, reference_of, twist_of, wrench_at, wrench_change


@inline
def bushing_ends(data: Array, row: int) -> tuple[int, int, int, int]:
    """Bodies that carry F and M, and the offsets of these frames."""
    body, other = int(data[row + at.ELEMENT_BODY]), int(data[row + at.ELEMENT_OTHER])
    if data[row + at.BUSHING_TURNED] != 0.0:
        return body, other, row + at.BUSHING_FRAME, row + at.BUSHING_OTHER_FRAME
    return other, body, row + at.BUSHING_OTHER_FRAME, row + at.BUSHING_FRAME


@inline
def turned_frame(data: Array, frame: int, work: Array, body: int) -> Rotation:
    """Rotation of a frame of a body, or of the world (-1)."""
    x, y, z = flat3(data, frame), flat3(data, frame + 3), flat3(data, frame + 6)
    own = (x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])
    return own if body < 0 else multiply(load_rotation(work, body), own)


@inline
def bushing_place(
    body_int: Array, data: Array, row: int, work: Array
) -> tuple[Rotation, Rotation, Vector, Vector, Vector]:
    """Rotations of F, and of M in F; levers of M's origin for M's body and F's, and its displacement in F."""
    fixed, moving, fixed_frame, moving_frame = bushing_ends(data, row)
    f, m = turned_frame(data, fixed_frame, work, fixed), turned_frame(data, moving_frame, work, moving)
    a = carried(work, moving, flat3(data, moving_frame + 9))
    b = add3(a, scale_add3(reference_of(body_int, work, moving), -1.0, reference_of(body_int, work, fixed)))
    home = carried(work, fixed, flat3(data, fixed_frame + 9))
    back = transposed(f)
    return f, multiply(back, m), a, b, rotate(back, scale_add3(b, -1.0, home))


@inline
def duals(m: Rotation, angle: float) -> tuple[Vector, Vector, Vector, Vector, Vector, Vector]:
    """Axes of the three angles in F, and the gradients of the angles by the angular velocity of M in F."""
    a, b, c = (1.0, 0.0, 0.0), (0.0, math.cos(angle), math.sin(angle)), (m[2], m[5], m[8])
    volume = dot3(a, cross(b, c))
    scale = 1.0 / volume if abs(volume) > LOCKED else 0.0  # at gimbal lock angles have no gradient
    return (
        a,
        b,
        c,
        scale_add3(NONE, scale, cross(b, c)),
        scale_add3(NONE, scale, cross(c, a)),
        scale_add3(NONE, scale, cross(a, b)),
    )


@inline
def resistance(data: Array, row: int, k: int, x: float, rate: float) -> tuple[float, float]:
    """Force of spring and damper k, three of angles and three of displacements, and its slope by x."""
    _, force, slope = evaluate_function(data, row + int(data[row + at.BUSHING_FUNCTIONS + k]), x)
    return -force - data[row + at.BUSHING_DAMPING + k] * rate, -slope


@inline
def resistances(data: Array, row: int, k: int, x: Vector, rate: Vector) -> tuple[Vector, Vector]:
    """`resistance` of three."""
    first, second, third = (
        resistance(data, row, k, x[0], rate[0]),
        resistance(data, row, k + 1, x[1], rate[1]),
        resistance(data, row, k + 2, x[2], rate[2]),
    )
    return (first[0], second[0], third[0]), (first[1], second[1], third[1])


@inline
def along(a: Vector, b: Vector, c: Vector, x: Vector) -> Vector:
    return dot3(a, x), dot3(b, x), dot3(c, x)


@inline
def combined(a: Vector, b: Vector, c: Vector, x: Vector) -> Vector:
    return scale_add3(scale_add3(scale_add3(NONE, x[0], a), x[1], b), x[2], c)


@shared
def bushing_wrench(body_int: Array, data: Array, row: int, work: Array) -> tuple[Twist, Twist]:
    """Wrenches on the element's body and on the other."""
    f, m, a, b, t = bushing_place(body_int, data, row, work)
    fixed, moving, _, _ = bushing_ends(data, row)
    angles = angles_of(m, 0, 1, 2)
    _, _, _, da, db, dc = duals(m, angles[0])
    first, second = twist_of(work, fixed), twist_of(work, moving)
    back = transposed(f)
    w = rotate(back, (second[0] - first[0], second[1] - first[1], second[2] - first[2]))
    v = rotate(back, scale_add3(material(second, a), -1.0, material(first, b)))
    turning, _ = resistances(data, row, 0, angles, along(da, db, dc, w))
    pushing, _ = resistances(data, row, 3, t, v)
    moment, force = rotate(f, combined(da, db, dc, turning)), rotate(f, pushing)
    on_moving = wrench_at(a, moment, force)
    on_fixed = wrench_at(b, scale_add3(NONE, -1.0, moment), scale_add3(NONE, -1.0, force))
    return (on_fixed, on_moving) if data[row + at.BUSHING_TURNED] != 0.0 else (on_moving, on_fixed)


@shared
def bushing_tangent(body_int: Array, data: Array, row: int, work: Array, moves: Moves) -> tuple[Twist, Twist]:
    """Derivatives of the wrenches, as `elements.element_tangent`."""
    eta, nu, fixed_eta, fixed_nu = moves
    if data[row + at.BUSHING_TURNED] != 0.0:
        fixed_eta, fixed_nu, eta, nu = moves
    f, m, a, b, t = bushing_place(body_int, data, row, work)
    fixed, moving, _, _ = bushing_ends(data, row)
    first, second = twist_of(work, fixed), twist_of(work, moving)
    back, turn = transposed(f), (fixed_eta[0], fixed_eta[1], fixed_eta[2])
    spin = (second[0] - first[0], second[1] - first[1], second[2] - first[2])
    slide = scale_add3(material(second, a), -1.0, material(first, b))
    shift = material(eta, a)
    d_angle = rotate(back, (eta[0] - turn[0], eta[1] - turn[1], eta[2] - turn[2]))
    d_t = rotate(back, scale_add3(shift, -1.0, material(fixed_eta, b)))
    d_spin = (nu[0] - fixed_nu[0], nu[1] - fixed_nu[1], nu[2] - fixed_nu[2])
    d_slide = add3(scale_add3(material(nu, a), -1.0, material(fixed_nu, b)), cross(spin, shift))
    w, dw = rotate(back, spin), rotate(back, scale_add3(d_spin, -1.0, cross(turn, spin)))
    v, dv = rotate(back, slide), rotate(back, scale_add3(d_slide, -1.0, cross(turn, slide)))
    angles = angles_of(m, 0, 1, 2)
    x, y, z, da, db, dc = duals(m, angles[0])
    dy, dz = scale_add3(NONE, dot3(da, d_angle), cross(x, y)), cross(d_angle, z)
    dda = scale_add3(scale_add3(NONE, -dot3(da, dy), db), -dot3(da, dz), dc)
    ddb = scale_add3(scale_add3(NONE, -dot3(db, dy), db), -dot3(db, dz), dc)
    ddc = scale_add3(scale_add3(NONE, -dot3(dc, dy), db), -dot3(dc, dz), dc)
    turning, turn_slopes = resistances(data, row, 0, angles, along(da, db, dc, w))
    pushing, push_slopes = resistances(data, row, 3, t, v)
    d_turning = changes(
        data,
        row,
        0,
        turn_slopes,
        along(da, db, dc, d_angle),
        add3(along(dda, ddb, ddc, w), along(da, db, dc, dw)),
    )
    d_pushing = changes(data, row, 3, push_slopes, d_t, dv)
    d_moment = add3(combined(da, db, dc, d_turning), combined(dda, ddb, ddc, turning))
    moment, force = rotate(f, combined(da, db, dc, turning)), rotate(f, pushing)
    d_moment, d_force = (
        add3(rotate(f, d_moment), cross(turn, moment)),
        add3(rotate(f, d_pushing), cross(turn, force)),
    )
    on_moving = wrench_change(a, shift, force, d_moment, d_force)
    minus = scale_add3(NONE, -1.0, force)
    on_fixed = wrench_change(
        b, shift, minus, scale_add3(NONE, -1.0, d_moment), scale_add3(NONE, -1.0, d_force)
    )
    return (on_fixed, on_moving) if data[row + at.BUSHING_TURNED] != 0.0 else (on_moving, on_fixed)


@inline
def changes(data: Array, row: int, k: int, slopes: Vector, dx: Vector, d_rate: Vector) -> Vector:
    """Changes of three `resistance`s."""
    damping = row + at.BUSHING_DAMPING + k
    return (
        slopes[0] * dx[0] - data[damping] * d_rate[0],
        slopes[1] * dx[1] - data[damping + 1] * d_rate[1],
        slopes[2] * dx[2] - data[damping + 2] * d_rate[2],
    )


@shared
def bushing_potential(body_int: Array, data: Array, row: int, work: Array) -> float:
    """Energy stored in the springs."""
    _, m, _, _, t = bushing_place(body_int, data, row, work)
    angles = angles_of(m, 0, 1, 2)
    energy = 0.0
    for k in range(3):
        energy += evaluate_function(data, row + int(data[row + at.BUSHING_FUNCTIONS + k]), angles[k])[0]
        energy += evaluate_function(data, row + int(data[row + at.BUSHING_FUNCTIONS + 3 + k]), t[k])[0]
    return energy
