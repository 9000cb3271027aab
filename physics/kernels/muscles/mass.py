"""Moment arms of a muscle, and the mass matrix of its mass points.

Everything is over the coordinates that move the muscle, for its mass without those that move all of it (see
`carrying`). For each of them there are the velocities of the path's points, and for each strand seven numbers for all
its mass points (see `force`): the mass matrix is their product with the seven momenta from six sums over the mass
points, without a loop over points.
"""

from .. import layout as at
from ..algebra.access import flat3, load3, load_twist, store3, store_twist
from ..algebra.inertia import clear_inertia
from ..algebra.lanes import flat_from
from ..algebra.vectors import NONE, STILL, Array, Vector, add3, dot3, dot6, scale_add3, subtract3
from ..compiler.jit import for_muscles, inline, shared
from ..forces.points import material
from ..joints.composite import add_composite
from . import layout as muscle
from .bend import add_bend_mass, beside_obstacles
from .carrying import add_wrench, carry_line, clear_wrenches, couple_wrenches, line_wrench
from .corner import add_corner_mass, corner_energies
from .frames import Span, inner_span, row_at
from .law import is_constant
from .path import share_masses, trace_path
from .strand_mass import add_wrapped_mass, along_gradient, columns_at, obstacle_columns


@shared
def point_columns(arrays: Array, whole: Span, count: int, space: Array, dof: Array) -> None:
    """Derivatives of the path's points and length by each coordinate of a span; after `trace_path`."""
    body_int, data = arrays[at.BODY_INT], arrays[at.MODEL_DATA]
    columns = columns_at(dof.shape[0])
    span, number, base = whole
    for k in range(count):
        here, place = row_at(k), columns + muscle.COLUMN_POINTS + 3 * k
        body, lever = int(space[here + muscle.AT_BODY]), flat3(space, here + muscle.AT_LEVER)
        ancestor, moving = body, 0
        while ancestor > base:
            moving += body_int[ancestor, at.DOF_COUNT]
            ancestor = body_int[ancestor, at.PARENT]
        if moving < number:
            for i in range(number):
                store3(dof, int(data[span + i]), place, NONE)
        while body > base:
            first = body_int[body, at.DOF_START]
            for d in range(first, first + body_int[body, at.DOF_COUNT]):
                store3(dof, d, place, material(load_twist(dof, d, at.SUBSPACE), lever))
            body = body_int[body, at.PARENT]
        via = int(space[here + muscle.AT_RECORD])
        if data[via + muscle.VIA_MOVES] != 0.0:
            for j in range(3):
                d = int(data[via + muscle.VIA_COORDINATES + j])
                if d >= 0:
                    slide = flat3(space, here + muscle.AT_SLIDES + 3 * j)
                    store3(dof, d, place, add3(load3(dof, d, place), slide))
    for k in range(count - 1):
        if space[row_at(k) + muscle.STRAND_AT] != 0.0:
            obstacle_columns(arrays, whole, k, space, dof)
    for i in range(number):
        d = int(data[span + i])
        total = 0.0
        for k in range(count - 1):
            if space[row_at(k) + muscle.STRAND_AT] != 0.0:
                total += along_gradient(data, k, space, dof, d)
                continue
            place = columns + muscle.COLUMN_POINTS + 3 * k
            way = subtract3(load3(dof, d, place + 3), load3(dof, d, place))
            total += dot3(flat3(space, row_at(k) + muscle.STRAND_UNIT), way)
        dof[d, columns + muscle.COLUMN_LENGTH] = total
        dof[d, columns + muscle.COLUMN_BEFORE] = 0.0


@inline
def strand_motion(k: int, space: Array, dof: Array, d: int, columns: int) -> tuple[Vector, Vector]:
    """Velocities of the mass points of strand k by coordinate d: x' = first + c second + s third u, where third is its
    `COLUMN_LENGTH` before the strand.
    """
    u = flat3(space, row_at(k) + muscle.STRAND_UNIT)
    place = columns + muscle.COLUMN_POINTS + 3 * k
    start = load3(dof, d, place)
    way = subtract3(load3(dof, d, place + 3), start)
    along = dot3(u, way)
    first, second = scale_add3(start, -dof[d, columns + muscle.COLUMN_BEFORE], u), scale_add3(way, -along, u)
    store3(dof, d, columns + muscle.COLUMN_MOTION, first)
    store3(dof, d, columns + muscle.COLUMN_MOTION + 3, second)
    dof[d, columns + muscle.COLUMN_BEFORE] += along
    return first, second


@inline
def weigh_motion(
    k: int, space: Array, first: Vector, second: Vector, third: float
) -> tuple[Vector, Vector, float]:
    """The momentum of the strand's mass points in the same seven numbers."""
    here = row_at(k)
    u, sums = flat3(space, here + muscle.STRAND_UNIT), here + muscle.SUMS
    m0, mc, ms = space[sums], space[sums + 1], space[sums + 2]
    mcc, mss = space[sums + 3], space[sums + 5]
    whole = scale_add3(scale_add3(scale_add3(NONE, m0, first), mc, second), ms * third, u)
    far = scale_add3(scale_add3(NONE, mc, first), mcc, second)
    return whole, far, ms * dot3(u, first) + mss * third


@shared
def add_strand_mass(data: Array, whole_span: Span, k: int, space: Array, work: Array, dof: Array) -> None:
    """Mass of a straight strand's mass points, as `add_muscle_masses`."""
    columns, here = columns_at(dof.shape[0]), row_at(k)
    span, number, base = whole_span
    massive = space[here + muscle.STRAND_COUNT] > 0.0
    lever = flat3(space, here + muscle.AT_LEVER)
    way = scale_add3(NONE, space[here + muscle.STRAND_LENGTH], flat3(space, here + muscle.STRAND_UNIT))
    if massive and base >= 0:
        sums = here + muscle.SUMS
        carry_line(base, space[sums], space[sums + 1], space[sums + 3], lever, way, work)
    for i in range(number):
        d = int(data[span + i])
        first, second = strand_motion(k, space, dof, d, columns)
        if not massive:
            continue
        third = dof[d, columns + muscle.COLUMN_LENGTH]
        whole, far, end = weigh_motion(k, space, first, second, third)
        for j in range(i):
            e = int(data[span + j])
            total = dot3(whole, load3(dof, e, columns + muscle.COLUMN_MOTION))
            total += dot3(far, load3(dof, e, columns + muscle.COLUMN_MOTION + 3))
            dof[d, at.DOF_WORK_WIDTH + e] += total + end * dof[e, columns + muscle.COLUMN_LENGTH]
        dof[d, at.DOF_WORK_WIDTH + d] += dot3(whole, first) + dot3(far, second) + end * third
        if base >= 0:
            add_wrench(dof, d, line_wrench(lever, way, whole, far))


@shared
def add_armature(data: Array, row: int, whole: Span, dof: Array) -> None:
    """Mass matrix of the inertia of a muscle's length, added to the coordinates' rows; after `point_columns`."""
    armature = data[row + muscle.MUSCLE_ARMATURE]
    if armature == 0.0:
        return
    length = columns_at(dof.shape[0]) + muscle.COLUMN_LENGTH
    span, number, _ = whole
    for i in range(number):
        d = int(data[span + i])
        for j in range(i + 1):
            e = int(data[span + j])
            dof[d, at.DOF_WORK_WIDTH + e] += armature * dof[d, length] * dof[e, length]


@shared
def add_muscle_mass(arrays: Array, row: int, count: int, space: Array, work: Array, dof: Array) -> None:
    """Mass of a muscle, as `add_muscle_masses`; after `share_masses` if it has mass."""
    data = arrays[at.MODEL_DATA]
    span = inner_span(data, row)
    point_columns(arrays, span, count, space, dof)
    add_armature(data, row, span, dof)
    if data[row + muscle.MUSCLE_MASS_COUNT] == 0.0:
        return
    if span[2] >= 0:
        clear_wrenches(data, span, dof)
    for k in range(count - 1):
        if space[row_at(k) + muscle.CORNER_COUNT] > 0.0:
            if beside_obstacles(k, space):
                add_bend_mass(data, row, k, space, dof)
            else:
                add_corner_mass(data, row, k, space, work, dof)
        if space[row_at(k) + muscle.STRAND_AT] == 0.0:
            add_strand_mass(data, span, k, space, work, dof)
        else:
            add_wrapped_mass(data, span, k, space, dof)
    if span[2] >= 0:
        couple_wrenches(arrays, span, dof)


@for_muscles()
def add_muscle_masses(arrays: Array, q: Array, qd: Array, work: Array, dof: Array) -> None:
    """Mass of all muscles: of parts that move against each other to the coordinates' rows, and against the bodies that
    carry them to `PROJECTED`; of muscles as parts of these bodies to their inertias. After `kinematics`.
    """
    body_int, _, _, data, _ = arrays
    space = flat_from(work, body_int.shape[0] + at.SCRATCH_ROWS)
    row = int(data[at.MUSCLE_ROWS])
    for _ in range(int(data[at.MUSCLE_COUNT])):
        massive = data[row + muscle.MUSCLE_MASS_COUNT] > 0.0
        if massive or data[row + muscle.MUSCLE_ARMATURE] > 0.0:
            count = trace_path(arrays, row, q, qd, qd, NONE, True, work, space)
            if massive:
                share_masses(data, row, count, False, True, space)
            add_muscle_mass(arrays, row, count, space, work, dof)
        row += int(data[row + muscle.MUSCLE_SIZE])


@shared
def add_masses(arrays: Array, q: Array, qd: Array, matrix: Array, work: Array, dof: Array) -> None:
    """Add the mass matrix of all muscles; after `outward`, overwrites the bodies' inertias."""
    body_int = arrays[at.BODY_INT]
    for i in range(body_int.shape[0]):
        clear_inertia(work, i)
    for d in range(q.shape[0]):
        store_twist(dof, d, at.PROJECTED, STILL)
        for e in range(q.shape[0]):
            dof[d, at.DOF_WORK_WIDTH + e] = 0.0
    add_muscle_masses(arrays, q, qd, work, dof)
    add_composite(body_int, matrix, work, dof)
    for i in range(body_int.shape[0]):
        for d in range(body_int[i, at.DOF_START], body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]):
            ancestor = body_int[i, at.PARENT]
            while ancestor >= 0:
                first = body_int[ancestor, at.DOF_START]
                for e in range(first, first + body_int[ancestor, at.DOF_COUNT]):
                    dof[d, at.DOF_WORK_WIDTH + e] += dot6(
                        load_twist(dof, e, at.SUBSPACE), load_twist(dof, d, at.PROJECTED)
                    )
                ancestor = body_int[ancestor, at.PARENT]
    for d in range(q.shape[0]):
        for e in range(q.shape[0]):
            matrix[d, e] += dof[d, at.DOF_WORK_WIDTH + e]
            if e != d:
                matrix[e, d] += dof[d, at.DOF_WORK_WIDTH + e]


@inline
def strand_kinetic(space: Array, here: int, rate: float) -> float:
    """Kinetic energy of a straight strand's mass points."""
    u, sums = flat3(space, here + muscle.STRAND_UNIT), here + muscle.SUMS
    start = flat3(space, here + muscle.AT_VELOCITY)
    way = subtract3(flat3(space, here + muscle.SPACE_ROW + muscle.AT_VELOCITY), start)
    first = scale_add3(start, -space[here + muscle.BEFORE_RATE], u)
    second = scale_add3(way, -space[here + muscle.STRAND_RATE], u)
    total = space[sums] * dot3(first, first) + 2.0 * space[sums + 1] * dot3(first, second)
    total += 2.0 * space[sums + 2] * rate * dot3(first, u) + space[sums + 3] * dot3(second, second)
    return float(0.5 * (total + space[sums + 5] * rate * rate))


@inline
def strand_height(space: Array, here: int, gravity: Vector) -> float:
    """Sum over a straight strand's mass points of their mass times their place along gravity."""
    start = flat3(space, here + muscle.AT_PLACE)
    way = subtract3(flat3(space, here + muscle.SPACE_ROW + muscle.AT_PLACE), start)
    return float(
        space[here + muscle.SUMS] * dot3(gravity, start) + space[here + muscle.SUMS + 1] * dot3(gravity, way)
    )


@for_muscles((0.0, 0.0))
def muscle_energies(arrays: Array, q: Array, qd: Array, work: Array) -> tuple[float, float]:
    """Kinetic and potential energy of all muscles: of their mass points and armature, and of constant tensions, which
    store energy as the path lengthens; after `kinematics`.
    """
    body_int, _, _, data, _ = arrays
    space = flat_from(work, body_int.shape[0] + at.SCRATCH_ROWS)
    gravity = flat3(data, at.GRAVITY)
    kinetic, potential = 0.0, 0.0
    row = int(data[at.MUSCLE_ROWS])
    for _ in range(int(data[at.MUSCLE_COUNT])):
        count = trace_path(arrays, row, q, qd, qd, NONE, True, work, space)
        kinetic += 0.5 * data[row + muscle.MUSCLE_ARMATURE] * space[muscle.RATE] ** 2
        if data[row + muscle.MUSCLE_MASS_COUNT] > 0.0:
            share_masses(data, row, count, False, False, space)
            for k in range(count - 1):
                here = row_at(k)
                if space[here + muscle.CORNER_COUNT] > 0.0:
                    moving, height = corner_energies(data, row, k, gravity, space)
                    kinetic += moving
                    potential -= height
                if space[here + muscle.STRAND_AT] == 0.0:
                    kinetic += strand_kinetic(space, here, space[muscle.RATE])
                    potential -= strand_height(space, here, gravity)
                else:
                    kinetic += space[here + muscle.SUMS + muscle.SUM_KINETIC]
                    potential -= dot3(gravity, flat3(space, here + muscle.SUMS + muscle.SUM_MOMENT))
        if is_constant(data, row):
            potential += data[row + muscle.MUSCLE_TENSION] * space[muscle.LENGTH]
        row += int(data[row + muscle.MUSCLE_SIZE])
    return kinetic, potential
