"""Second derivatives of muscles by their coordinates, from paths that one or two of these move at unit speed.

The velocity-dependent part of the second time derivatives of a path's length and of its mass points is a quadratic form
B(q', q') whose matrix is the second derivative by the coordinates. The kernels of paths compute it exactly, whatever
the obstacles, and polarization

    2 B(d, e) = B(d + e, d + e) - B(d, d) - B(e, e)

for unit speeds d and e gives the matrix exactly, too. Nothing is displaced, so no path is solved again.
"""

from .. import layout as at
from ..algebra.access import flat3, load6, load_twist, store_twist
from ..algebra.axes import put3
from ..algebra.spatial import bracket
from ..algebra.vectors import NONE, STILL, Array, dot3, dot6, scale_add3, scale_add6
from ..compiler.jit import inline, shared
from ..joints.tangent import columns_of, is_screw
from . import layout as muscle
from .corner import corner_point
from .force import clear_loads, hand_over, inertia_loads, pull_points
from .frames import past, row_at, straight_push
from .path import share_masses, trace_path

# columns of the coordinates' workspace: of the current muscle the derivative of its length and the rate of that, and a
# generalized force
SLOPE, SLOPE_RATE, ASKED = at.PROJECTED, at.PROJECTED + 1, at.PROJECTED + 2


@shared
def spread_units(arrays: Array, d: int, e: int, tangent: Array, work: Array, dof: Array) -> None:
    """Velocities and accelerations of all bodies where only the coordinates d and e (possibly the same) move, at
    constant unit speed; `tangent` has the joints' tangents.
    """
    body_int, block_int = arrays[at.BODY_INT], arrays[at.BLOCK_INT]
    columns = columns_of(tangent)
    for i in range(body_int.shape[0]):
        v, a, parent = STILL, STILL, body_int[i, at.PARENT]
        if parent >= 0:
            v, a = load_twist(work, parent, at.VELOCITY), load_twist(work, parent, at.ACCELERATION)
        first = body_int[i, at.DOF_START]
        end = first + body_int[i, at.DOF_COUNT]
        if first <= d < end or first <= e < end:
            w, simple = STILL, is_screw(body_int, block_int, i)
            for x in range(first, end):
                if x not in (d, e):
                    continue
                w = scale_add6(w, 1.0, load_twist(dof, x, at.SUBSPACE))
                for y in range(first, end):
                    if not simple and y in (d, e):
                        a = scale_add6(a, 1.0, load6(tangent, x, columns + 6 * (y - first)))
            a = scale_add6(a, 1.0, bracket(v, w))
            v = scale_add6(v, 1.0, w)
        store_twist(work, i, at.VELOCITY, v)
        store_twist(work, i, at.ACCELERATION, a)


@inline
def clear_forces(work: Array, dof: Array, count: int) -> None:
    """Clear the bias forces of all bodies, and the coordinates' own."""
    for i in range(count):
        store_twist(work, i, at.FORCE, STILL)
    for d in range(dof.shape[0]):
        dof[d, at.EXTRA] = 0.0


@shared
def collect(body_int: Array, work: Array, dof: Array) -> None:
    """Generalized force of the bodies' forces, which are overwritten, and of the coordinates' own, into ASKED."""
    for i in range(body_int.shape[0] - 1, -1, -1):
        force, parent = load_twist(work, i, at.FORCE), body_int[i, at.PARENT]
        for d in range(body_int[i, at.DOF_START], body_int[i, at.DOF_START] + body_int[i, at.DOF_COUNT]):
            dof[d, ASKED] = dot6(load_twist(dof, d, at.SUBSPACE), force) - dof[d, at.EXTRA]
        if parent >= 0:
            store_twist(work, parent, at.FORCE, scale_add6(load_twist(work, parent, at.FORCE), 1.0, force))


@shared
def ask_coordinates(arrays: Array, count: int, work: Array, dof: Array, space: Array) -> None:
    """Generalized force of the inertial forces on the points of a muscle's path, into ASKED."""
    clear_forces(work, dof, arrays[at.BODY_INT].shape[0])
    pull_points(arrays, count, 0.0, True, work, space)
    hand_over(arrays, count, work, dof, space)
    collect(arrays[at.BODY_INT], work, dof)


@shared
def weigh_pushes(data: Array, row: int, count: int, quick: bool, keep: bool, space: Array) -> float:
    """Store the inertial forces of all mass points, or sum the products of stored ones with the present accelerations;
    includes `share_masses`.
    """
    masses, kept = row + int(data[row + muscle.MUSCLE_MASSES]), int(data[row + muscle.MUSCLE_KEPT])
    space[muscle.KEPT] = -kept if keep else kept
    share_masses(data, row, count, quick, False, space)
    space[muscle.KEPT] = 0.0
    total, i = 0.0, 0
    for k in range(count - 1):
        here = row_at(k)
        after = int(space[here + muscle.STRAND_FIRST])  # the corner's mass points come first
        end = after + int(space[here + muscle.STRAND_COUNT])
        wrapped = space[here + muscle.STRAND_AT] != 0.0
        if wrapped:
            total += space[here + muscle.SUMS + muscle.SUM_WORKED]
        while i < (after if wrapped else end):
            point = masses + muscle.POINT_WIDTH * i
            if i < after:
                _, _, push = corner_point(data, point, k, quick, space)
            else:
                along = past(data, point, space[here + muscle.BEFORE], space)
                push = straight_push(data[point + muscle.POINT_SHARE], along, here, space)
            if keep:
                put3(space, kept + 3 * i, scale_add3(NONE, data[point + muscle.POINT_MASS], push))
            else:
                total += dot3(flat3(space, kept + 3 * i), push)
            i += 1
        i = end
    return total


@shared
def path_asks(
    arrays: Array, row: int, q: Array, qd: Array, qdd: Array, work: Array, dof: Array, space: Array
) -> float:
    """The muscle's path for the bodies' motion in `work`, without gravity. If it has mass, ASKED gets the generalized
    force of its mass points, and the product of their stored forces and accelerations is returned.
    """
    data, worked = arrays[at.MODEL_DATA], 0.0
    count = trace_path(arrays, row, q, qd, qdd, NONE, True, work, space)
    if data[row + muscle.MUSCLE_MASS_COUNT] > 0.0:
        clear_loads(count, space)
        worked = weigh_pushes(data, row, count, True, False, space)
        inertia_loads(data, row, count, True, space)
        ask_coordinates(arrays, count, work, dof, space)
    return worked


@shared
def add_pair(
    x: int,
    y: int,
    given: tuple[float, float, float, float],
    motion: tuple[Array, Array, Array],
    asked: tuple[Array, int, int],
    slopes: tuple[Array, Array, Array],
    dof: Array,
) -> None:
    """Add a second derivative by coordinates x and y to the slopes by y.

    Args:
        given: the length's second derivative; its force and that of stored forces on x; the shares of the changes of J
            with q'' and with q'. motion: q, q' and q''.
        asked: coordinates with an ASKED force: model's data, where their numbers begin, how many there are.
    """
    data, span, number = asked
    _, qd, qdd = motion
    by_q, by_qd, _ = slopes
    curve, own, share, twice = given
    dof[y, SLOPE_RATE] += curve * qd[x]
    by_q[x, y] += own
    for i in range(number):
        k = int(data[span + i])
        by_q[k, y] += share * dof[k, ASKED] * qdd[x]
        by_qd[k, y] += twice * dof[k, ASKED] * qd[x]


@shared
def add_pairs(
    arrays: Array,
    row: int,
    pull: float,
    exact: bool,
    motion: tuple[Array, Array, Array],
    slopes: tuple[Array, Array, Array],
    tangents: tuple[Array, Array, Array, Array],
    work: Array,
    dof: Array,
    space: Array,
) -> None:
    """Add the second derivatives of a muscle's path to slopes, and compute SLOPE and SLOPE_RATE. exact: whether the
    slopes include the change of the mass points' accelerations with q''. motion: q, q' and q''.
    """
    data, (tangent, _, _, zeros), (q, _, _) = arrays[at.MODEL_DATA], tangents, motion
    units, still = zeros[0], zeros[1]
    span, number = row + int(data[row + muscle.MUSCLE_ACTING]), int(data[row + muscle.MUSCLE_ACTING_COUNT])
    asked = data, span, number if data[row + muscle.MUSCLE_MASS_COUNT] > 0.0 else 0
    twice = 2.0 if data[row + muscle.MUSCLE_VELOCITY_TERMS] != 0.0 else 0.0
    for i in range(number):
        dof[int(data[span + i]), SLOPE_RATE] = 0.0
    for i in range(number):
        d = int(data[span + i])
        for j in range(i + 1):
            e = int(data[span + j])
            spread_units(arrays, d, e, tangent, work, dof)
            units[d] = 1.0
            units[e] = 1.0
            worked = path_asks(arrays, row, q, units, still, work, dof, space)
            units[d] = 0.0
            units[e] = 0.0
            if d == e:
                dof[d, SLOPE] = space[muscle.RATE]
            # from one coordinate alone B(d, d), and the part of it in the polarization of all pairs
            for h in range(number if d == e else 1):
                x = int(data[span + h]) if d == e else e
                weight = 0.5 if d != e else (1.0 if x == d else -0.5)
                curve, own = weight * space[muscle.SECOND], weight * (pull * space[muscle.SECOND] + worked)
                given = curve, own, 0.0 if exact else weight, twice * weight
                add_pair(d, x, given, motion, asked, slopes, dof)
                if x != d:
                    add_pair(x, d, given, motion, asked, slopes, dof)
