"""Derivatives by coordinates of the speeds of contacts, weighted and summed.

A contact has the point x = c - r n of a body with the centre c and radius r, and the normal n of an obstacle on another
body. Its speeds are those of the points of both bodies at x along n and two tangents; with weights that turn with the
normal, f = l . (v_a(x) - v_b(x)). Coordinate e of one of the bodies displaces it by its twist S_e. With R its rate of
change of the velocity of its own body i (see `joints.tangent`), and the obstacle's curvature H = dn/dc,

    df/de = +-l . (R + ad S_e (V - V_i))(x) + l . (w_a - w_b) x dx + (t x l) . (v_a - v_b)

where e moves a by dc = S_e(c): dn = H dc, dx = dc - r dn, t = n x dn; and where it moves b: dn = S_e x n - H S_e(c),
dx = -r dn, t = S_e's rotation + n x (-H S_e(c)). Coordinates that move both bodies change nothing.
"""

from __future__ import annotations

from .. import layout as at
from ..algebra.access import flat3, flat9, load3, load6, load9, load_rotation, load_twist, store9
from ..algebra.spatial import bracket, multiply, rotate, transposed
from ..algebra.vectors import (
    NONE,
    Array,
    Rotation,
    Vector,
    add3,
    cross,
    dot3,
    scale_add3,
    scale_add6,
    subtract3,
)
from ..compiler.jit import for_colliders, inline, shared
from ..constraints import layout as con
from ..contact import collider_layout as solid
from ..contact import layout as contact
from ..contact.geometry import field_height
from ..contact.rows import tangents
from ..forces.points import carried, material, reference_of, twist_of
from ..joints.factor_tangents import joint_tangent
from ..joints.kinematics import kinematics
from ..joints.tangent import RATE, is_screw
from ..stepping.bundles import Spaces

# of a contact: its body's radius, and H by rows
RADIUS, CURVATURE = 0, 1
SHAPE = 10
SMOOTH, UNKNOWN = 0, 1
FLAT: Rotation = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
# A point nearer to an edge, a corner or a centre [m] has no derivative; components of a normal below it are 0.
NEAREST = 1e-9


@inline
def round_about(normal: Vector, axis: Vector, span: float) -> Rotation:
    """H at a distance from a centre, or from a line along a unit axis (else 0)."""
    x, y, z = normal
    a, b, c = axis
    xy, xz, yz = -(x * y + a * b) / span, -(x * z + a * c) / span, -(y * z + b * c) / span
    one, two, three = x * x + a * a, y * y + b * b, z * z + c * c
    return (1.0 - one) / span, xy, xz, xy, (1.0 - two) / span, yz, xz, yz, (1.0 - three) / span


@shared
def field_curvature(data: Array, obstacle: int, normal: Vector, gap: float, foot: Vector) -> Rotation:
    """H at a distance from the point `foot` of a field: W (1 + gap W)^-1 in the tangent plane, W = dn/dfoot."""
    _, _, _, hxx, hxy, hyy = field_height(data, obstacle, foot[0], foot[1])
    t, u = tangents(normal)
    a = -normal[2] * (hxx * t[0] * t[0] + 2.0 * hxy * t[0] * t[1] + hyy * t[1] * t[1])
    b = -normal[2] * (hxx * t[0] * u[0] + hxy * (t[0] * u[1] + t[1] * u[0]) + hyy * t[1] * u[1])
    c = -normal[2] * (hxx * u[0] * u[0] + 2.0 * hxy * u[0] * u[1] + hyy * u[1] * u[1])
    both = a * c - b * b
    share = 1.0 / (1.0 + gap * (a + c + gap * both))
    a, b, c = share * (a + gap * both), share * b, share * (c + gap * both)
    one, two = scale_add3(scale_add3(NONE, a, t), b, u), scale_add3(scale_add3(NONE, b, t), c, u)
    xx, xy, xz = (one[0] * t[0] + two[0] * u[0], one[0] * t[1] + two[0] * u[1], one[0] * t[2] + two[0] * u[2])
    yy, yz, zz = (one[1] * t[1] + two[1] * u[1], one[1] * t[2] + two[1] * u[2], one[2] * t[2] + two[2] * u[2])
    return xx, xy, xz, xy, yy, yz, xz, yz, zz


@inline
def curvature_of(
    pairs: Array, obstacle: int, normal: Vector, reach: float, foot: Vector
) -> tuple[int, Rotation]:
    """Whether an obstacle has a curvature at its point nearest to a centre, `foot`, and H; all in its frame. reach is
    the distance of the centre.
    """
    kind, own = int(pairs[obstacle + contact.OBSTACLE_KIND]), obstacle + contact.OBSTACLE_PARAMETERS
    span, axis, level = reach, NONE, 0.0
    if kind == contact.HEIGHT_FIELD:
        return SMOOTH, field_curvature(pairs, own, normal, reach, foot)
    if kind == contact.SPHERE or kind == contact.CAPSULE:
        span += pairs[own]
    if kind == contact.CAPSULE and abs(normal[2]) < NEAREST:
        axis = 0.0, 0.0, 1.0
    if kind == contact.BOX:
        x = 1.0 if abs(normal[0]) < NEAREST else 0.0
        y = 1.0 if abs(normal[1]) < NEAREST else 0.0
        z = 1.0 if abs(normal[2]) < NEAREST else 0.0
        level = x + y + z
        axis = (x, y, z) if level == 1.0 else NONE
    if kind == contact.PLANE or level == 2.0:
        return SMOOTH, FLAT
    return SMOOTH if span > NEAREST else UNKNOWN, round_about(normal, axis, span)


@for_colliders
def shape_of_colliders(arrays: Array, contacts: Array, c: int, shape: Array) -> int:
    """As `shape_of`, of colliders: of a core on a half-space, or of two spheres."""
    if len(contacts) <= contact.COLLIDERS:
        return UNKNOWN
    found, colliders = contacts[contact.FOUND], contacts[contact.COLLIDERS]
    ints, floats, shapes = colliders[solid.INTS], colliders[solid.FLOATS], colliders[solid.SHAPES]
    number = int(-1.0 - found[c, contact.FOUND_SOURCE])
    a, b = number // ints.shape[0], number % ints.shape[0]
    first = ints[a, solid.SOLID_BODY] == int(found[c, contact.FOUND_BODY])
    shape[0, RADIUS] = floats[a, solid.SOLID_RADIUS] if first else floats[b, solid.SOLID_RADIUS]
    if ints[b, solid.SOLID_KIND] == solid.HALF_SPACE:
        return SMOOTH if first else UNKNOWN
    span = found[c, contact.FOUND_GAP] + floats[a, solid.SOLID_RADIUS] + floats[b, solid.SOLID_RADIUS]
    alone = span > NEAREST
    for i in (a, b):
        alone = alone and ints[i, solid.SOLID_KIND] == solid.CORE
        alone = alone and shapes[ints[i, solid.SOLID_SHAPE] + solid.CORE_VERTICES] == 1.0
    if not alone:
        return UNKNOWN
    store9(shape, 0, CURVATURE, round_about(load3(found, c, contact.FOUND_NORMAL), NONE, span))
    return SMOOTH


@shared
def shape_of(arrays: Array, contacts: Array, c: int, work: Array, shape: Array) -> int:
    """Radius and curvature, in the world, of the contact in row c of those found into shape (1, 10); whether these are
    known.
    """
    pairs, found = contacts[contact.PAIRS], contacts[contact.FOUND]
    store9(shape, 0, CURVATURE, FLAT)
    if found[c, contact.FOUND_SOURCE] < 0.0:
        return int(shape_of_colliders(arrays, contacts, c, shape))
    row = 1 + int(found[c, contact.FOUND_SOURCE]) * contact.PAIR_WIDTH
    obstacle, other = int(pairs[row + contact.PAIR_OBSTACLE]), int(pairs[row + contact.PAIR_OTHER])
    turn, normal = flat9(pairs, obstacle + contact.OBSTACLE_ROTATION), load3(found, c, contact.FOUND_NORMAL)
    place = carried(work, other, flat3(pairs, obstacle + contact.OBSTACLE_POSITION))
    place = add3(place, reference_of(arrays[at.BODY_INT], work, other))
    if other >= 0:
        turn = multiply(load_rotation(work, other), turn)
    gap, back = found[c, contact.FOUND_GAP], transposed(turn)
    foot = scale_add3(subtract3(load3(found, c, contact.FOUND_POINT), place), -gap, normal)
    shape[0, RADIUS] = pairs[row + contact.PAIR_RADIUS]
    known, bend = curvature_of(
        pairs, obstacle, rotate(back, normal), gap + shape[0, RADIUS], rotate(back, foot)
    )
    store9(shape, 0, CURVATURE, multiply(multiply(turn, bend), back))
    return known


@shared
def add_slopes(
    arrays: Array,
    found: Array,
    c: int,
    weight: Vector,
    shape: Array,
    tangent: Array,
    by_q: Array,
    spaces: Spaces,
) -> None:
    """Add df/dq of the contact in row c of those found, with the world vector l; after `kinematics` and the tangents of
    joints that are not screws.
    """
    body_int, block_int, (work, dof, _) = arrays[at.BODY_INT], arrays[at.BLOCK_INT], spaces
    a, b = int(found[c, contact.FOUND_BODY]), int(found[c, contact.FOUND_OTHER])
    point, normal = load3(found, c, contact.FOUND_POINT), load3(found, c, contact.FOUND_NORMAL)
    mine, theirs, radius = twist_of(work, a), twist_of(work, b), shape[0, RADIUS]
    lever = subtract3(point, reference_of(body_int, work, a))
    counter = subtract3(point, reference_of(body_int, work, b))
    apart = subtract3(material(mine, lever), material(theirs, counter))
    spin = (mine[0] - theirs[0], mine[1] - theirs[1], mine[2] - theirs[2])
    while a != b:
        ahead = a > b  # parents come first: the body with the larger number cannot carry the other
        i = a if ahead else b
        twist, arm = (mine, lever) if ahead else (theirs, counter)
        beyond, sense = scale_add6(twist, -1.0, load_twist(work, i, at.VELOCITY)), 1.0 if ahead else -1.0
        first = body_int[i, at.DOF_START]
        for e in range(first, first + body_int[i, at.DOF_COUNT]):
            s = load_twist(dof, e, at.SUBSPACE)
            rate = bracket(s, beyond)
            if not is_screw(body_int, block_int, i):
                rate = scale_add6(rate, 1.0, load6(tangent, e, RATE))
            way = material(s, scale_add3(arm, radius, normal))
            curved = rotate(load9(shape, 0, CURVATURE), way)
            if ahead:
                turn = cross(normal, curved)
                shift = scale_add3(way, -radius, curved)
            else:
                turning = (s[0], s[1], s[2])
                turn = subtract3(turning, cross(normal, curved))
                shift = scale_add3(NONE, -radius, subtract3(cross(turning, normal), curved))
            total = sense * dot3(weight, material(rate, arm)) + dot3(weight, cross(spin, shift))
            by_q[e] += total + dot3(cross(turn, weight), apart)
        if ahead:
            a = body_int[i, at.PARENT]
        else:
            b = body_int[i, at.PARENT]


@inline
def found_row(found: Array, pair: int) -> int:
    """The row of found with the contact of a number; it has one."""
    c = 0
    while int(found[c, contact.FOUND_PAIR]) != pair:
        c += 1
    return c


@shared
def contact_slopes(
    arrays: Array,
    contacts: Array,
    count: int,
    weights: Array,
    motion: tuple[Array, Array],
    tangents_of: tuple[Array, Array, Array, Array],
    system: Array,
    shape: Array,
    by_q: Array,
    spaces: Spaces,
) -> int:
    """Add df/dq of all contacts among the first rows of a system, with a weight of each (count,), at the coordinates of
    their detection and any velocities; returns -1, or the row of found of a contact without derivative.
    """
    body_int, (work, dof, flags), found = arrays[at.BODY_INT], spaces, contacts[contact.FOUND]
    (q, qd), (tangent, _, scratch, _) = motion, tangents_of
    first, kinds = int(arrays[at.MODEL_DATA][at.LIMIT_COUNT]), system[con.SYSTEM_KINDS]
    kinematics(arrays, q, qd, work, dof, flags)
    for i in range(body_int.shape[0]):
        if not is_screw(body_int, arrays[at.BLOCK_INT], i):
            joint_tangent(arrays, i, q, qd, tangent, scratch, work)
    for k in range(count):
        pair = -1 - int(system[con.SYSTEM_ROWS][k, con.ROW_OWNER]) - first
        if pair < 0 or kinds[k] == con.TANGENT:
            continue
        c = found_row(found, pair)
        normal = load3(found, c, contact.FOUND_NORMAL)
        weight = scale_add3(NONE, weights[k], normal)
        if kinds[k] == con.NORMAL:
            one, other = tangents(normal)
            weight = scale_add3(scale_add3(weight, weights[k + 1], one), weights[k + 2], other)
        if dot3(weight, weight) == 0.0:
            continue
        if shape_of(arrays, contacts, c, work, shape) != SMOOTH:
            return c
        add_slopes(arrays, found, c, weight, shape, tangent, by_q, spaces)
    return -1
