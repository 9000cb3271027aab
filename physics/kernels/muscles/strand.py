"""Strands of a muscle's path over obstacles: the interface between a path and `wrapping.strand`.

Their inputs z are the places of both ends, and the pose of each obstacle with a twist (angular velocity, velocity of
its origin, world axes). Derivatives of mass points are by (z', L', a'): L the length of the whole path, a that of all
before the strand (see `force`). A mass point moves by j = (dx/dz, s t, -t), t the tangent, so the dynamics need only
the sums of m j^T j and of m j^T x''.
"""

from .. import layout as at
from ..algebra.access import flat3, flat9, load_rotation, load_twist, store3, store9, store_twist
from ..algebra.axes import put3
from ..algebra.spatial import multiply
from ..algebra.vectors import Array, Vector, add3, cross, dot3, scale_add3, scale_add6
from ..compiler.jit import inline, shared
from ..forces.points import carried, material, position, twist_of, wrench_at
from ..wrapping.network import follow_network
from ..wrapping.strand import wrap_length, wrap_point, wrap_touch
from . import layout as muscle
from .frames import acceleration_of, past


@inline
def obstacle_frame(
    arrays: Array, record: int, obstacle: int, work: Array, frames: Array, levers: int, space: Array
) -> int:
    """World frame of an obstacle into its row of frames, its origin's lever into the workspace; returns its body."""
    body_int, data = arrays[at.BODY_INT], arrays[at.MODEL_DATA]
    count = int(data[record])
    body = int(data[record + 1 + obstacle])
    start = record + 1 + count + 12 * obstacle
    r, lever = flat9(data, start), carried(work, body, flat3(data, start + 9))
    if body >= 0:
        r = multiply(load_rotation(work, body), r)
    store9(frames, obstacle, 0, r)
    store3(frames, obstacle, 9, position(body_int, work, body, lever))
    put3(space, levers + 3 * obstacle, lever)
    return body


@shared
def trace_strand(arrays: Array, here: int, gravity: Vector, quick: bool, work: Array, space: Array) -> None:
    """Length of a strand over obstacles after the point with the row at `here`, with its derivatives."""
    data = arrays[at.MODEL_DATA]
    header = int(space[here + muscle.STRAND_AT])
    count, place = int(data[header + muscle.STRAND_OBSTACLES]), int(data[header + muscle.STRAND_PLACE])
    record, n, to = header + muscle.STRAND_RECORD, 6 + 6 * count, here + muscle.SPACE_ROW
    frames = space[place + muscle.PLACE_FRAMES : place + muscle.PLACE_FRAMES + 12 * count].reshape(count, 12)
    levers = place + muscle.PLACE_FRAMES + 12 * count
    rates, pushes = levers + 3 * count, levers + 3 * count + n
    put3(space, place, flat3(space, here + muscle.AT_PLACE))
    put3(space, place + 3, flat3(space, to + muscle.AT_PLACE))
    put3(space, rates, flat3(space, here + muscle.AT_VELOCITY))
    put3(space, rates + 3, flat3(space, to + muscle.AT_VELOCITY))
    put3(space, pushes, flat3(space, here + muscle.AT_ACCELERATION))
    put3(space, pushes + 3, flat3(space, to + muscle.AT_ACCELERATION))
    for k in range(count):
        body = obstacle_frame(arrays, record, k, work, frames, levers, space)
        lever, twist = flat3(space, levers + 3 * k), twist_of(work, body)
        a = acceleration_of(work, body, quick)
        turn, v, push = (twist[0], twist[1], twist[2]), material(twist, lever), material(a, lever)
        if body < 0:
            push = (-gravity[0], -gravity[1], -gravity[2])
        elif quick:
            push = add3(push, cross(turn, v))
        put3(space, rates + 6 + 6 * k, turn)
        put3(space, rates + 9 + 6 * k, v)
        put3(space, pushes + 6 + 6 * k, (a[0], a[1], a[2]))
        put3(space, pushes + 9 + 6 * k, push)
    own = own_of(data, header)
    length, curvature = wrap_length(
        data,
        record,
        space[place : place + 6],
        frames,
        space[rates : rates + n],
        space[own : own + int(data[header + muscle.STRAND_OWN])],
        space[pushes + n : pushes + 2 * n],
    )
    follow_network(
        arrays,
        record,
        space[rates : rates + n],
        space[own : own + int(data[header + muscle.STRAND_OWN])],
        space[pushes + n : pushes + 2 * n],
    )
    rate, second = 0.0, curvature if quick else 0.0
    for j in range(n):
        rate += space[pushes + n + j] * space[rates + j]
        second += space[pushes + n + j] * space[pushes + j]
    (
        space[here + muscle.STRAND_LENGTH],
        space[here + muscle.STRAND_RATE],
        space[here + muscle.STRAND_SECOND],
    ) = (length, rate, second)


@inline
def rates_of(data: Array, header: int) -> int:
    """Offset of the rates of a strand's inputs."""
    return (
        int(data[header + muscle.STRAND_PLACE])
        + muscle.PLACE_FRAMES
        + 15 * int(data[header + muscle.STRAND_OBSTACLES])
    )


@inline
def gradient_of(data: Array, header: int) -> int:
    """Offset of the gradient of a strand's length."""
    return rates_of(data, header) + 2 * (6 + 6 * int(data[header + muscle.STRAND_OBSTACLES]))


@inline
def loads_of(data: Array, header: int) -> int:
    """Offset of the mass points' forces on (z', L', a'); their mass matrix follows."""
    return rates_of(data, header) + 3 * (6 + 6 * int(data[header + muscle.STRAND_OBSTACLES]))


@inline
def point_of(data: Array, header: int) -> int:
    """Offset of a mass point, its tangent, its bias and its Jacobian."""
    n = 6 + 6 * int(data[header + muscle.STRAND_OBSTACLES])
    return loads_of(data, header) + (n + 2) + (n + 2) * (n + 2)


@inline
def own_of(data: Array, header: int) -> int:
    """Offset of the strand's memory between steps."""
    return point_of(data, header) + 9 + 3 * (6 + 6 * int(data[header + muscle.STRAND_OBSTACLES]))


@shared
def find_point(data: Array, header: int, sigma: float, sigma_rate: float, space: Array) -> None:
    """The point of a strand at the arc length sigma, as from `wrap_point`, into the strand's record."""
    n = 6 + 6 * int(data[header + muscle.STRAND_OBSTACLES])
    rates, point, own = rates_of(data, header), point_of(data, header), own_of(data, header)
    wrap_point(
        data,
        header + muscle.STRAND_RECORD,
        sigma,
        sigma_rate,
        space[rates : rates + n],
        space[own : own + int(data[header + muscle.STRAND_OWN])],
        space[point : point + 3],
        space[point + 3 : point + 6],
        space[point + 9 : point + 9 + 3 * n].reshape(3, n),
        space[point + 6 : point + 9],
    )


@inline
def strand_obstacles(data: Array, here: int, space: Array) -> int:
    """Number of obstacles of the strand after the point with the row at `here`."""
    header = int(space[here + muscle.STRAND_AT])
    return int(data[header + muscle.STRAND_OBSTACLES]) if header > 0 else 0


@inline
def memory_of(data: Array, here: int, space: Array) -> tuple[int, Array]:
    """Offset of the record of the strand after the point with the row at `here`, and its memory."""
    header = int(space[here + muscle.STRAND_AT])
    own = own_of(data, header)
    return header + muscle.STRAND_RECORD, space[own : own + int(data[header + muscle.STRAND_OWN])]


@inline
def next_touch(data: Array, header: int, number: int, space: Array) -> float:
    """As `wrapping.strand.wrap_touch`, of a muscle's strand."""
    own = own_of(data, header)
    memory = space[own : own + int(data[header + muscle.STRAND_OWN])]
    return wrap_touch(data, header + muscle.STRAND_RECORD, memory, number)


@inline
def times_inputs(n: int, jacobian: int, inputs: int, space: Array) -> Vector:
    """A mass point's Jacobian times n numbers of the workspace."""
    x, y, z = 0.0, 0.0, 0.0
    for j in range(n):
        x += space[jacobian + j] * space[inputs + j]
        y += space[jacobian + n + j] * space[inputs + j]
        z += space[jacobian + 2 * n + j] * space[inputs + j]
    return x, y, z


@inline
def point_motion(
    data: Array, header: int, here: int, s: float, sigma: float, quick: bool, space: Array
) -> tuple[Vector, Vector, Vector]:
    """Place, velocity and acceleration of the mass point of share s at sigma; its Jacobian is left in the strand's
    record.
    """
    n = 6 + 6 * int(data[header + muscle.STRAND_OBSTACLES])
    rate = s * space[muscle.RATE] - space[here + muscle.BEFORE_RATE]
    second = s * space[muscle.SECOND] - space[here + muscle.BEFORE_SECOND]
    find_point(data, header, sigma, rate, space)
    point, rates = point_of(data, header), rates_of(data, header)
    tangent, jacobian = flat3(space, point + 3), point + 9
    v = scale_add3(times_inputs(n, jacobian, rates, space), rate, tangent)
    push = scale_add3(times_inputs(n, jacobian, rates + n, space), second, tangent)
    if quick:
        push = add3(push, flat3(space, point + 6))
    return flat3(space, point), v, push


@shared
def sum_wrapped(data: Array, masses: int, here: int, quick: bool, columns: bool, space: Array) -> None:
    """Sums over the mass points of a strand over obstacles: mass, first moment, kinetic energy, stored forces times
    accelerations, inertial forces on (z', L', a'), and with columns their mass matrix (its lower triangle).
    """
    header = int(space[here + muscle.STRAND_AT])
    n = 6 + 6 * int(data[header + muscle.STRAND_OBSTACLES])
    point, loads = point_of(data, header), loads_of(data, header)
    matrix, sums = loads + n + 2, here + muscle.SUMS
    for j in range(n + 2 + (n + 2) * (n + 2)):
        space[loads + j] = 0.0
    whole, moment, kinetic, worked = 0.0, (0.0, 0.0, 0.0), 0.0, 0.0
    first = int(space[here + muscle.STRAND_FIRST])
    for i in range(first, first + int(space[here + muscle.STRAND_COUNT])):
        mass = masses + muscle.POINT_WIDTH * i
        m, s = data[mass + muscle.POINT_MASS], data[mass + muscle.POINT_SHARE]
        sigma = past(data, mass, space[here + muscle.BEFORE], space)
        x, v, push = point_motion(data, header, here, s, sigma, quick, space)
        whole += m
        moment = scale_add3(moment, m, x)
        kinetic += 0.5 * m * dot3(v, v)
        if space[muscle.KEPT] > 0.0:
            worked += dot3(flat3(space, int(space[muscle.KEPT]) + 3 * i), push)
        elif space[muscle.KEPT] < 0.0:
            put3(space, 3 * i - int(space[muscle.KEPT]), scale_add3((0.0, 0.0, 0.0), m, push))
        for j in range(n + 2):
            column = motion_column(n, j, s, point, space)
            space[loads + j] += m * dot3(column, push)
            if columns:
                for k in range(j + 1):
                    other = motion_column(n, k, s, point, space)
                    space[matrix + (n + 2) * j + k] += m * dot3(column, other)
    space[sums + muscle.SUM_MASS], space[sums + muscle.SUM_KINETIC], space[sums + muscle.SUM_WORKED] = (
        whole,
        kinetic,
        worked,
    )
    put3(space, sums + muscle.SUM_MOMENT, moment)
    space[here + muscle.ALONG_PATH], space[here + muscle.ALONG_BEFORE] = (
        space[loads + n],
        -space[loads + n + 1],
    )


@inline
def motion_column(n: int, j: int, s: float, point: int, space: Array) -> Vector:
    """Derivative by number j of (z', L', a') of the current mass point, of share s."""
    if j < n:
        start = point + 9 + j
        return space[start], space[start + n], space[start + 2 * n]
    scale = s if j == n else -1.0
    return scale * space[point + 3], scale * space[point + 4], scale * space[point + 5]


@shared
def pull_strand(arrays: Array, here: int, pull: float, massive: bool, work: Array, space: Array) -> None:
    """Forces of a strand over obstacles, on its ends into their rows and on its obstacles' bodies: of the tension and,
    if massive, of its mass points' inertia.
    """
    data = arrays[at.MODEL_DATA]
    header = int(space[here + muscle.STRAND_AT])
    count = int(data[header + muscle.STRAND_OBSTACLES])
    gradient, loads = gradient_of(data, header), loads_of(data, header)
    levers = rates_of(data, header) - 3 * count
    for j in range(6 + 6 * count):
        taken = space[loads + j] if massive else 0.0
        space[loads + j] = -pull * space[gradient + j] - taken
    put3(space, here + muscle.AT_FORCE, add3(flat3(space, here + muscle.AT_FORCE), flat3(space, loads)))
    to = here + muscle.SPACE_ROW + muscle.AT_FORCE
    put3(space, to, add3(flat3(space, to), flat3(space, loads + 3)))
    for k in range(count):
        body = int(data[header + muscle.STRAND_RECORD + 1 + k])
        if body >= 0:
            moment, force = flat3(space, loads + 6 + 6 * k), flat3(space, loads + 9 + 6 * k)
            wrench = wrench_at(flat3(space, levers + 3 * k), moment, force)
            store_twist(work, body, at.FORCE, scale_add6(load_twist(work, body, at.FORCE), -1.0, wrench))
