"""Forces of muscles on a tree: their tension along the path, and the inertia of their mass points.

Both are forces on the points of the path, passed to the bodies as wrenches, with no loop over coordinates. A mass point
at the share c of a straight strand and s of the path moves with

    x' = p' + c (d' - u l') + u (s L' - a'),

p the strand's beginning, d the vector to its end, u and l its direction and length, a the length before it and L that
of the path. So six sums over its mass points suffice for a strand (Wang 2022, eqs. 5.5 to 5.7).
"""

from .. import layout as at
from ..algebra.access import flat3, load_twist, store_twist
from ..algebra.axes import put3
from ..algebra.lanes import flat_from
from ..algebra.vectors import NONE, Array, Vector, add3, dot3, scale_add3, scale_add6, subtract3
from ..compiler.jit import for_muscles, inline, shared
from ..forces.points import wrench_at
from . import layout as muscle
from .bend import bend_inertia, beside_obstacles
from .corner import corner_inertia
from .frames import row_at
from .law import is_constant, tension_of
from .mass import add_muscle_mass
from .path import share_masses, trace_path
from .strand import pull_strand


@inline
def add_force(space: Array, here: int, force: Vector) -> None:
    put3(space, here + muscle.AT_FORCE, add3(flat3(space, here + muscle.AT_FORCE), force))


@inline
def take_inertia(space: Array, here: int, base: Vector, slope: Vector, tail: Vector) -> None:
    """Inertial forces of a straight strand's mass points with accelerations base + c slope + s tail."""
    u = flat3(space, here + muscle.STRAND_UNIT)
    m0, mc, ms, mcc, mcs, mss = (
        space[here + muscle.SUMS], space[here + muscle.SUMS + 1], space[here + muscle.SUMS + 2],
        space[here + muscle.SUMS + 3], space[here + muscle.SUMS + 4], space[here + muscle.SUMS + 5],
    )  # fmt: skip
    whole = scale_add3(scale_add3(scale_add3(NONE, m0, base), mc, slope), ms, tail)
    far = scale_add3(scale_add3(scale_add3(NONE, mc, base), mcc, slope), mcs, tail)
    space[here + muscle.ALONG_BEFORE] = dot3(u, whole)
    space[here + muscle.ALONG_PATH] = ms * dot3(u, base) + mcs * dot3(u, slope) + mss * dot3(u, tail)
    across = scale_add3(far, -dot3(u, far), u)
    add_force(space, here, subtract3(across, whole))
    add_force(space, here + muscle.SPACE_ROW, scale_add3(NONE, -1.0, across))


@shared
def strand_inertia(space: Array, here: int, rate: float, second: float) -> None:
    """Inertial forces of a straight strand's mass points on its ends, along it, before it and along the whole path;
    rate and second are those of the path's length.
    """
    to = here + muscle.SPACE_ROW
    u, turning = flat3(space, here + muscle.STRAND_UNIT), flat3(space, here + muscle.STRAND_UNIT_RATE)
    start = flat3(space, here + muscle.AT_ACCELERATION)
    way = subtract3(flat3(space, to + muscle.AT_ACCELERATION), start)
    # a point's acceleration is base + c slope + s tail
    base = scale_add3(start, -space[here + muscle.BEFORE_SECOND], u)
    base = scale_add3(base, -2.0 * space[here + muscle.BEFORE_RATE], turning)
    slope = scale_add3(way, -space[here + muscle.STRAND_SECOND], u)
    slope = scale_add3(slope, -2.0 * space[here + muscle.STRAND_RATE], turning)
    tail = scale_add3(scale_add3(NONE, second, u), 2.0 * rate, turning)
    take_inertia(space, here, base, slope, tail)


@inline
def clear_loads(count: int, space: Array) -> None:
    """Clear the loads on the points of a path."""
    for k in range(count):
        here = row_at(k)
        put3(space, here + muscle.AT_FORCE, NONE)
        space[here + muscle.ALONG_PATH], space[here + muscle.ALONG_BEFORE] = 0.0, 0.0


@shared
def inertia_loads(data: Array, row: int, count: int, quick: bool, space: Array) -> None:
    """Inertial forces of all mass points of a muscle on its path, after `share_masses`."""
    for k in range(count - 1):
        if space[row_at(k) + muscle.STRAND_AT] == 0.0:
            strand_inertia(space, row_at(k), space[muscle.RATE], space[muscle.SECOND])
        if space[row_at(k) + muscle.CORNER_COUNT] > 0.0 and not beside_obstacles(k, space):
            corner_inertia(data, row, k, quick, space)
    for k in range(count - 1):
        if space[row_at(k) + muscle.CORNER_COUNT] > 0.0 and beside_obstacles(k, space):
            bend_inertia(data, row, k, quick, space)


@shared
def pull_points(arrays: Array, count: int, pull: float, massive: bool, work: Array, space: Array) -> None:
    """Forces of the strands' tensions on the points: the muscle's tension less the mass points' inertial forces."""
    whole = 0.0
    for k in range(count - 1):
        whole += space[row_at(k) + muscle.ALONG_PATH]
    after = space[row_at(count - 1) + muscle.ALONG_BEFORE]
    for k in range(count - 2, -1, -1):
        here = row_at(k)
        along = pull + whole - after
        after += space[here + muscle.ALONG_BEFORE]
        if space[here + muscle.STRAND_AT] != 0.0:
            pull_strand(arrays, here, along, massive, work, space)
            continue
        force = scale_add3(NONE, along, flat3(space, here + muscle.STRAND_UNIT))
        add_force(space, here, force)
        add_force(space, here + muscle.SPACE_ROW, scale_add3(NONE, -1.0, force))


@shared
def hand_over(arrays: Array, count: int, work: Array, dof: Array, space: Array) -> None:
    """Add forces on the path's points to the bodies' bias forces, and to the coordinates that move points."""
    data = arrays[at.MODEL_DATA]
    for k in range(count):
        here = row_at(k)
        body, via = int(space[here + muscle.AT_BODY]), int(space[here + muscle.AT_RECORD])
        force = flat3(space, here + muscle.AT_FORCE)
        if body >= 0:
            wrench = wrench_at(flat3(space, here + muscle.AT_LEVER), NONE, force)
            store_twist(work, body, at.FORCE, scale_add6(load_twist(work, body, at.FORCE), -1.0, wrench))
        if data[via + muscle.VIA_MOVES] != 0.0:
            for j in range(3):
                d = int(data[via + muscle.VIA_COORDINATES + j])
                if d >= 0:
                    dof[d, at.EXTRA] += dot3(force, flat3(space, here + muscle.AT_SLIDES + 3 * j))


@for_muscles()
def muscle_loads(
    arrays: Array,
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    inertia: bool,
    columns: bool,
    work: Array,
    dof: Array,
) -> None:
    """Forces of all muscles, subtracted from the bodies' bias forces and added to the coordinates' other forces.

    With inertia, also inertial forces of armatures and mass points, and the gravity of these: the bodies'
    accelerations, in work, are those of a world that accelerates upwards, and qdd are the coordinates' own. With
    columns, the mass of both is added as by `add_muscle_masses`. tau (nv + inputs,) has the inputs.
    """
    body_int, _, _, data, dof_float = arrays
    space = flat_from(work, body_int.shape[0] + at.SCRATCH_ROWS)
    gravity = flat3(data, at.GRAVITY)
    if data[at.LIMIT_COUNT] == 0.0:  # else `limit_forces` has set them
        for d in range(q.shape[0]):
            dof[d, at.EXTRA] = 0.0
    power, put_in = 0.0, 0.0
    row = int(data[at.MUSCLE_ROWS])
    for _ in range(int(data[at.MUSCLE_COUNT])):
        massive = inertia and data[row + muscle.MUSCLE_MASS_COUNT] > 0.0
        quick = data[row + muscle.MUSCLE_VELOCITY_TERMS] != 0.0
        count = trace_path(arrays, row, q, qd, qdd, gravity, quick, work, space)
        clear_loads(count, space)
        if massive:
            share_masses(data, row, count, quick, columns, space)
            inertia_loads(data, row, count, quick, space)
        armature = data[row + muscle.MUSCLE_ARMATURE] if inertia else 0.0
        if columns and (massive or armature > 0.0):
            add_muscle_mass(arrays, row, count, space, work, dof)
        pull = tension_of(data, row, tau, dof_float.shape[0], space[muscle.LENGTH], space[muscle.RATE])
        power += abs(pull * space[muscle.RATE])
        put_in -= 0.0 if is_constant(data, row) else pull * space[muscle.RATE]
        pull_points(arrays, count, pull + armature * space[muscle.SECOND], massive, work, space)
        hand_over(arrays, count, work, dof, space)
        row += int(data[row + muscle.MUSCLE_SIZE])
    space[muscle.POWER], space[muscle.PUT_IN_BY_MUSCLES] = power, put_in
