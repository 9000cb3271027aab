"""What muscles do to a tree: their tension along the path, and the inertia of their mass points.

Both are forces on the points of the path, handed to the bodies as wrenches: nothing here is done for each coordinate.
A mass point at the share c of a straight strand and s of the path moves with

    x' = p' + c (d' - u l') + u (s L' - a'),

p the strand's beginning, d the way to its end, u and l its direction and length, a the length before it and L that of
the path. So all that its strand's mass points bring is in six sums over them (Wang 2022, eqs. 5.5 to 5.7).
"""

from __future__ import annotations

from ..algebra.axes import put3
from ..algebra.lanes import flat_from
from ..algebra.spatial import (
    NONE,
    Array,
    Vector,
    add3,
    dot3,
    flat3,
    load_twist,
    scale_add3,
    scale_add6,
    store_twist,
    subtract3,
)
from ..compiler.jit import for_muscles, inline, shared
from ..forces.points import wrench_at
from ..layout import EXTRA, FORCE, GRAVITY, LIMIT_COUNT, MUSCLE_COUNT, MUSCLE_ROWS, SCRATCH_ROWS
from .bend import bend_inertia, beside_obstacles
from .corner import corner_inertia
from .frames import row_at
from .law import is_constant, tension_of
from .layout import (
    ALONG_BEFORE,
    ALONG_PATH,
    AT_ACCELERATION,
    AT_BODY,
    AT_FORCE,
    AT_LEVER,
    AT_RECORD,
    AT_SLIDES,
    BEFORE_RATE,
    BEFORE_SECOND,
    CORNER_COUNT,
    LENGTH,
    MUSCLE_MASS_COUNT,
    MUSCLE_SIZE,
    MUSCLE_VELOCITY_TERMS,
    POWER,
    PUT_IN_BY_MUSCLES,
    RATE,
    ROOM_ROW,
    SECOND,
    STRAND_AT,
    STRAND_RATE,
    STRAND_SECOND,
    STRAND_UNIT,
    STRAND_UNIT_RATE,
    SUMS,
    VIA_COORDINATES,
    VIA_MOVES,
)
from .mass import add_muscle_mass
from .path import share_masses, trace_path
from .strand import pull_strand


@inline
def add_force(room: Array, at: int, force: Vector) -> None:
    put3(room, at + AT_FORCE, add3(flat3(room, at + AT_FORCE), force))


@inline
def take_inertia(room: Array, at: int, base: Vector, slope: Vector, tail: Vector) -> None:
    """Forces that accelerations base + c slope + s tail of a straight strand's mass points take."""
    u = flat3(room, at + STRAND_UNIT)
    m0, mc, ms, mcc, mcs, mss = (
        room[at + SUMS],
        room[at + SUMS + 1],
        room[at + SUMS + 2],
        room[at + SUMS + 3],
        room[at + SUMS + 4],
        room[at + SUMS + 5],
    )
    whole = scale_add3(scale_add3(scale_add3(NONE, m0, base), mc, slope), ms, tail)
    far = scale_add3(scale_add3(scale_add3(NONE, mc, base), mcc, slope), mcs, tail)
    room[at + ALONG_BEFORE] = dot3(u, whole)
    room[at + ALONG_PATH] = ms * dot3(u, base) + mcs * dot3(u, slope) + mss * dot3(u, tail)
    across = scale_add3(far, -dot3(u, far), u)
    add_force(room, at, subtract3(across, whole))
    add_force(room, at + ROOM_ROW, scale_add3(NONE, -1.0, across))


@shared
def strand_inertia(room: Array, at: int, rate: float, second: float) -> None:
    """Forces that the accelerations of a straight strand's mass points take, from its ends, from what lies along it,
    before it and along the whole path; rate and second are those of the path's length.
    """
    to = at + ROOM_ROW
    u, turning = flat3(room, at + STRAND_UNIT), flat3(room, at + STRAND_UNIT_RATE)
    start = flat3(room, at + AT_ACCELERATION)
    way = subtract3(flat3(room, to + AT_ACCELERATION), start)
    # a point's acceleration is base + c slope + s tail
    base = scale_add3(start, -room[at + BEFORE_SECOND], u)
    base = scale_add3(base, -2.0 * room[at + BEFORE_RATE], turning)
    slope = scale_add3(way, -room[at + STRAND_SECOND], u)
    slope = scale_add3(slope, -2.0 * room[at + STRAND_RATE], turning)
    tail = scale_add3(scale_add3(NONE, second, u), 2.0 * rate, turning)
    take_inertia(room, at, base, slope, tail)


@inline
def clear_loads(count: int, room: Array) -> None:
    """No loads on the points of a path."""
    for k in range(count):
        at = row_at(k)
        put3(room, at + AT_FORCE, NONE)
        room[at + ALONG_PATH], room[at + ALONG_BEFORE] = 0.0, 0.0


@shared
def inertia_loads(data: Array, row: int, count: int, quick: bool, room: Array) -> None:
    """What the accelerations of all mass points of a muscle take from its path, after `share_masses`."""
    for k in range(count - 1):
        if room[row_at(k) + STRAND_AT] == 0.0:
            strand_inertia(room, row_at(k), room[RATE], room[SECOND])
        if room[row_at(k) + CORNER_COUNT] > 0.0 and not beside_obstacles(k, room):
            corner_inertia(data, row, k, quick, room)
    for k in range(count - 1):
        if room[row_at(k) + CORNER_COUNT] > 0.0 and beside_obstacles(k, room):
            bend_inertia(data, row, k, quick, room)


@shared
def pull_points(arrays: Array, count: int, pull: float, massive: bool, work: Array, room: Array) -> None:
    """Forces of tensions along the strands: that of the muscle, less what the mass points' inertia takes."""
    whole = 0.0
    for k in range(count - 1):
        whole += room[row_at(k) + ALONG_PATH]
    behind = room[row_at(count - 1) + ALONG_BEFORE]
    for k in range(count - 2, -1, -1):
        at = row_at(k)
        along = pull + whole - behind
        behind += room[at + ALONG_BEFORE]
        if room[at + STRAND_AT] != 0.0:
            pull_strand(arrays, at, along, massive, work, room)
            continue
        force = scale_add3(NONE, along, flat3(room, at + STRAND_UNIT))
        add_force(room, at, force)
        add_force(room, at + ROOM_ROW, scale_add3(NONE, -1.0, force))


@shared
def hand_over(arrays: Array, count: int, work: Array, dof: Array, room: Array) -> None:
    """Forces on the path's points to the bodies' bias forces, and to the coordinates along which points move."""
    data = arrays[3]
    for k in range(count):
        at = row_at(k)
        body, via = int(room[at + AT_BODY]), int(room[at + AT_RECORD])
        force = flat3(room, at + AT_FORCE)
        if body >= 0:
            wrench = wrench_at(flat3(room, at + AT_LEVER), NONE, force)
            store_twist(work, body, FORCE, scale_add6(load_twist(work, body, FORCE), -1.0, wrench))
        if data[via + VIA_MOVES] != 0.0:
            for j in range(3):
                d = int(data[via + VIA_COORDINATES + j])
                if d >= 0:
                    dof[d, EXTRA] += dot3(force, flat3(room, at + AT_SLIDES + 3 * j))


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
    """Forces of all muscles, taken from the bodies' bias forces and added to the coordinates' other forces.

    With inertia, also what the mass points' accelerations take, gravity among them: those of the bodies, in work, are
    of a world that falls up, and qdd are the coordinates' own. With columns, the mass matrix of the mass points is
    added to the coordinates' rows. tau (nv + inputs,) brings the inputs.
    """
    body_int, _, _, data, dof_float = arrays
    room = flat_from(work, body_int.shape[0] + SCRATCH_ROWS)
    gravity = flat3(data, GRAVITY)
    if data[LIMIT_COUNT] == 0.0:  # else they are there already
        for d in range(q.shape[0]):
            dof[d, EXTRA] = 0.0
    power, put_in = 0.0, 0.0
    row = int(data[MUSCLE_ROWS])
    for _ in range(int(data[MUSCLE_COUNT])):
        massive = inertia and data[row + MUSCLE_MASS_COUNT] > 0.0
        quick = data[row + MUSCLE_VELOCITY_TERMS] != 0.0
        count = trace_path(arrays, row, q, qd, qdd, gravity, quick, work, room)
        clear_loads(count, room)
        if massive:
            share_masses(data, row, count, quick, columns, room)
            inertia_loads(data, row, count, quick, room)
            if columns:
                add_muscle_mass(arrays, row, count, room, dof)
        pull = tension_of(data, row, tau, dof_float.shape[0], room[LENGTH], room[RATE])
        power += abs(pull * room[RATE])
        put_in -= 0.0 if is_constant(data, row) else pull * room[RATE]
        pull_points(arrays, count, pull, massive, work, room)
        hand_over(arrays, count, work, dof, room)
        row += int(data[row + MUSCLE_SIZE])
    room[POWER], room[PUT_IN_BY_MUSCLES] = power, put_in
