"""Kinematics of four worlds at once, for joints of screws and rotation vectors; formulas as in `kinematics`."""

from .. import layout as at
from ..algebra.access import flat3, flat9, load3, load9
from ..algebra.rotation_vector import exp_coefficients, exp_rotation, spatial_jacobian, spatial_jacobian_rate
from ..algebra.spatial import MANY_TURNS, bracket, multiply, rotate, twist_through
from ..algebra.vectors import (
    Array,
    Rotation,
    Twist,
    Vector,
    add3,
    add6,
    cross,
    dot3,
    scale3,
    scale_add6,
)
from ..algebra.worlds import (
    WIDTH,
    Worlds,
    in_all,
    keep3,
    keep6,
    keep9,
    load_worlds,
    loaded3,
    loaded6,
    loaded9,
    sines_cosines,
    sizes,
    store_worlds,
    where_less,
)
from ..compiler.jit import inline, shared
from .kinematics import at_point

# numbers of a body: pose (rotation by rows, origin), velocity, velocity-product acceleration, bias force, inertia, and
# of a root its place; a body's acceleration replaces its force. The last body is the world.
POSE, ORIGIN, VELOCITY, BIAS, FORCE, INERTIA, REFERENCE, BODY_WIDTH = 0, 9, 12, 18, 24, 30, 51, 54
ACCUMULATED = REFERENCE - FORCE  # numbers that a body hands over to its parent, from its force on
# numbers of a coordinate, as in `layout`
SUBSPACE, PROJECTED, INVERSE, REMAINDER, DOF_WIDTH = 0, 6, 12, 13, 14
# states of a coordinate: q, q', q'', velocities for inertial forces, and the state before the step
Q, QD, QDD, AHEAD_QD, LAST_Q, LAST_QD, STATE_WIDTH = 0, 1, 2, 3, 4, 5, 6

# notes of a step: sums of squared speeds, power, energies, which worlds' energies are looked at, and which of them
# wholly; then coefficients of a rotation vector
SPEEDS, POWER, KINETIC, POTENTIAL, DUE, WHOLE, COEFFICIENTS, NOTES = 0, 1, 2, 3, 4, 5, 6, 11


@inline
def note_bad(x: Worlds, most: Worlds, bad: Array) -> None:
    """bad gets 1 in the worlds where x < most does not hold."""
    store_worlds(bad, 0, where_less(x, most, load_worlds(bad, 0), in_all(1.0)))


@inline
def turned(r: Rotation, angle: Worlds) -> Rotation:
    """A rotation times one about its own z axis."""
    s, c = sines_cosines(angle)
    return (
        c * r[0] + s * r[1], c * r[1] - s * r[0], r[2],
        c * r[3] + s * r[4], c * r[4] - s * r[3], r[5],
        c * r[6] + s * r[7], c * r[7] - s * r[6], r[8],
    )  # fmt: skip


@inline
def turned_by_vector(
    r: Rotation,
    p: Vector,
    v: Twist,
    c: Twist,
    sign: float,
    d: int,
    speeds: int,
    states: Array,
    dofs: Array,
    notes: Array,
) -> tuple[Rotation, Twist, Twist]:
    """`factors.rotation_factor` of the three coordinates from d on; it stores their columns."""
    x = (
        sign * load_worlds(states, d * STATE_WIDTH + Q),
        sign * load_worlds(states, (d + 1) * STATE_WIDTH + Q),
        sign * load_worlds(states, (d + 2) * STATE_WIDTH + Q),
    )
    rate = (
        sign * load_worlds(states, d * STATE_WIDTH + speeds),
        sign * load_worlds(states, (d + 1) * STATE_WIDTH + speeds),
        sign * load_worlds(states, (d + 2) * STATE_WIDTH + speeds),
    )
    store_worlds(notes, COEFFICIENTS, dot3(x, x))
    for k in range(WIDTH):
        beta, gamma, alpha_rate, beta_rate, gamma_rate = exp_coefficients(notes[COEFFICIENTS, k])
        notes[COEFFICIENTS, k], notes[COEFFICIENTS + 1, k] = beta, gamma
        notes[COEFFICIENTS + 2, k], notes[COEFFICIENTS + 3, k] = alpha_rate, beta_rate
        notes[COEFFICIENTS + 4, k] = gamma_rate
    first, second = load_worlds(notes, COEFFICIENTS), load_worlds(notes, COEFFICIENTS + 1)
    first_rate, second_rate, third_rate = loaded3(notes, COEFFICIENTS + 2)
    m = multiply(r, spatial_jacobian(x, first, second))
    none = in_all(0.0), in_all(0.0), in_all(0.0)
    turn = twist_through(rotate(m, rate), none, p)
    bend = rotate(r, spatial_jacobian_rate(x, rate, first, second, first_rate, second_rate, third_rate))
    c = add6(add6(c, twist_through(bend, none, p)), bracket(v, turn))
    keep6(dofs, d * DOF_WIDTH + SUBSPACE, twist_through(scale3(sign, (m[0], m[3], m[6])), none, p))
    keep6(dofs, (d + 1) * DOF_WIDTH + SUBSPACE, twist_through(scale3(sign, (m[1], m[4], m[7])), none, p))
    keep6(dofs, (d + 2) * DOF_WIDTH + SUBSPACE, twist_through(scale3(sign, (m[2], m[5], m[8])), none, p))
    return multiply(r, exp_rotation(x, first, second)), add6(v, turn), c


@inline
def placed(body_float: Array, i: int, outer: int, bodies: Array) -> tuple[Rotation, Vector]:
    """Pose of the fixed frame of joint i; outer is where its parent begins."""
    r, p = loaded9(bodies, outer + POSE), loaded3(bodies, outer + ORIGIN)
    p = add3(p, rotate(r, load3(body_float, i, at.PLACEMENT + 9)))
    return multiply(r, load9(body_float, i, at.PLACEMENT)), p


@inline
def advance_hinge(
    body_float: Array, i: int, outer: int, d: int, speeds: int, states: Array, bodies: Array, dofs: Array
) -> Worlds:
    """Motion of body i after a single hinge, and its angle; in an order that needs few registers."""
    angle = load_worlds(states, d * STATE_WIDTH + Q)
    r, p = placed(body_float, i, outer, bodies)
    z = r[2], r[5], r[8]
    keep3(bodies, i * BODY_WIDTH + ORIGIN, p)
    keep9(bodies, i * BODY_WIDTH + POSE, turned(r, angle))
    s = z + cross(p, z)
    keep6(dofs, d * DOF_WIDTH + SUBSPACE, s)
    v, speed = loaded6(bodies, outer + VELOCITY), load_worlds(states, d * STATE_WIDTH + speeds)
    keep6(bodies, i * BODY_WIDTH + VELOCITY, scale_add6(v, speed, s))
    keep6(bodies, i * BODY_WIDTH + BIAS, scale_add6(loaded6(bodies, outer + BIAS), speed, bracket(v, s)))
    return angle


@shared
def advance_factors(
    arrays: Array,
    i: int,
    outer: int,
    speeds: int,
    states: Array,
    bodies: Array,
    dofs: Array,
    bad: Array,
    notes: Array,
) -> None:
    """Motion of body i after any number of screws and rotation vectors."""
    body_int, body_float, block_int, data, _ = arrays
    r, p = placed(body_float, i, outer, bodies)
    v, c = loaded6(bodies, outer + VELOCITY), loaded6(bodies, outer + BIAS)
    for b in range(body_int[i, at.BLOCK_START], body_int[i, at.BLOCK_START] + body_int[i, at.BLOCK_COUNT]):
        d = body_int[i, at.DOF_START] + block_int[b, at.COORDINATE]
        offset, frame = block_int[b, at.DATA], block_int[b, at.FRAME]
        if frame >= 0:
            p = add3(p, rotate(r, flat3(data, frame + 9)))
            r = multiply(r, flat9(data, frame))
        if block_int[b, at.KIND] == at.ROTATION_VECTOR:
            r, v, c = turned_by_vector(r, p, v, c, data[offset], d, speeds, states, dofs, notes)
            continue
        rate, lead, z = data[offset], data[offset + 1], (r[2], r[5], r[8])
        s = twist_through(scale3(rate, z), scale3(lead, z), p)
        speed = load_worlds(states, d * STATE_WIDTH + speeds)
        c, v = scale_add6(c, speed, bracket(v, s)), scale_add6(v, speed, s)
        keep6(dofs, d * DOF_WIDTH + SUBSPACE, s)
        if rate != 0.0:
            angle = rate * load_worlds(states, d * STATE_WIDTH + Q)
            r = turned(r, angle)
            note_bad(sizes(angle), in_all(MANY_TURNS), bad)
        if lead != 0.0:
            p = add3(p, scale3(lead * load_worlds(states, d * STATE_WIDTH + Q), z))
    keep9(bodies, i * BODY_WIDTH + POSE, r)
    keep3(bodies, i * BODY_WIDTH + ORIGIN, p)
    keep6(bodies, i * BODY_WIDTH + VELOCITY, v)
    keep6(bodies, i * BODY_WIDTH + BIAS, c)


@shared
def center_on_root(i: int, first: int, count: int, bodies: Array, dofs: Array) -> None:
    """Make the origin of root i the reference point of its tree."""
    row = i * BODY_WIDTH
    p, none = loaded3(bodies, row + ORIGIN), in_all(0.0)
    keep3(bodies, row + REFERENCE, p)
    keep3(bodies, row + ORIGIN, (none, none, none))
    keep6(bodies, row + VELOCITY, at_point(loaded6(bodies, row + VELOCITY), p))
    keep6(bodies, row + BIAS, at_point(loaded6(bodies, row + BIAS), p))
    for d in range(first * DOF_WIDTH, (first + count) * DOF_WIDTH, DOF_WIDTH):
        keep6(dofs, d + SUBSPACE, at_point(loaded6(dofs, d + SUBSPACE), p))
