"""Force elements: springs between points, wrenches, body damping (Wang 2022, sec. 3.10), deformable ground, mounts.

An element is a record in data (`layout.ELEMENT_KIND` ...) and acts on a body; some apply the opposite wrench to another
one. Wrenches are in world axes about the reference point of the body's tree, like the bodies' bias forces. Tangents are
exact: for a displacement twist eta of a body and a change nu of its velocity twist, both about the tree's fixed
reference point, they give the change of the wrench about that point.
"""

from .. import layout as at
from ..algebra.access import flat3, load_rotation, load_twist, store_twist
from ..algebra.spatial import rotate
from ..algebra.vectors import NONE, STILL, Array, Twist, Vector, add3, cross, dot3, scale_add3, scale_add6
from ..compiler.jit import inline, shared
from .ground import ground_potential, ground_tangent, ground_wrench
from .mount import mount_potential, mount_tangent, mount_wrench
from .points import Moves, carried, material, position, reference_of, twist_of, wrench_at, wrench_change
from .rare import rare_potential, rare_tangent, rare_wrench
from .springs import spring_potential, spring_tangent, spring_wrench


@inline
def magnitude_of(data: Array, tau: Array, nv: int, row: int) -> float:
    """Magnitude of a prescribed wrench: constant, or an input."""
    number = int(data[row + at.WRENCH_INPUT])
    return data[row + at.WRENCH_MAGNITUDE] if number < 0 else tau[nv + number]


@inline
def is_idle(data: Array, tau: Array, nv: int, row: int) -> bool:
    """Whether the element at row is a prescribed wrench that is 0 now."""
    return data[row + at.ELEMENT_KIND] == at.WRENCH_ELEMENT and magnitude_of(data, tau, nv, row) == 0.0


@inline
def given_wrench(data: Array, magnitude: float, row: int, work: Array) -> tuple[Vector, Vector, Vector]:
    """Lever, moment and force in world axes of a wrench that is prescribed in a body's axes or the world's."""
    moment, force = flat3(data, row + at.WRENCH_MOMENT), flat3(data, row + at.WRENCH_FORCE)
    turning = turned_by(data, row)
    if turning >= 0:
        turn = load_rotation(work, turning)
        moment, force = rotate(turn, moment), rotate(turn, force)
    lever = carried(work, int(data[row + at.ELEMENT_BODY]), flat3(data, row + at.WRENCH_POINT))
    return lever, scale_add3(NONE, magnitude, moment), scale_add3(NONE, magnitude, force)


@inline
def turned_by(data: Array, row: int) -> int:
    """The body whose axes a prescribed wrench is given in; -1 for the world's."""
    turns = data[row + at.WRENCH_TURNS]
    if turns == at.WORLD_AXES:
        return -1
    return int(data[row + (at.ELEMENT_BODY if turns == at.BODY_AXES else at.ELEMENT_OTHER)])


@inline
def lever_of_other(body_int: Array, data: Array, row: int, work: Array, lever: Vector) -> Vector:
    """Lever of the same point about the reference point of the other body's tree."""
    x = position(body_int, work, int(data[row + at.ELEMENT_BODY]), lever)
    return scale_add3(x, -1.0, reference_of(body_int, work, int(data[row + at.ELEMENT_OTHER])))


@inline
def given_wrenches(
    body_int: Array, data: Array, magnitude: float, row: int, work: Array
) -> tuple[Twist, Twist]:
    """A prescribed wrench on its body, and the opposite on the other."""
    lever, moment, force = given_wrench(data, magnitude, row, work)
    if data[row + at.ELEMENT_OTHER] < 0.0:
        return wrench_at(lever, moment, force), STILL
    opposite = wrench_at(lever_of_other(body_int, data, row, work, lever), moment, force)
    return wrench_at(lever, moment, force), scale_add6(STILL, -1.0, opposite)


@shared
def element_wrench(
    body_int: Array, data: Array, tau: Array, nv: int, row: int, work: Array
) -> tuple[Twist, Twist]:
    """Wrenches of the element at row on its two bodies; after `kinematics`. Inputs follow nv forces in tau."""
    kind = int(data[row + at.ELEMENT_KIND])
    if kind == at.SPRING_ELEMENT:
        return spring_wrench(body_int, data, row, work)
    if kind == at.GROUND_ELEMENT:
        return ground_wrench(body_int, data, row, work)
    if kind == at.MOUNT_ELEMENT:
        return mount_wrench(body_int, data, row, work)
    if kind >= at.RARE_ELEMENTS:
        return rare_wrench(body_int, data, tau, nv, row, work)
    if kind == at.WRENCH_ELEMENT:
        return given_wrenches(body_int, data, magnitude_of(data, tau, nv, row), row, work)
    body = int(data[row + at.ELEMENT_BODY])
    lever = carried(work, body, flat3(data, row + at.DAMPING_POINT))
    twist = twist_of(work, body)
    moment = scale_add3(NONE, -data[row + at.DAMPING_ANGULAR], (twist[0], twist[1], twist[2]))
    force = scale_add3(NONE, -data[row + at.DAMPING_LINEAR], material(twist, lever))
    return wrench_at(lever, moment, force), STILL


@shared
def element_tangent(
    body_int: Array, data: Array, tau: Array, nv: int, row: int, work: Array, moves: Moves
) -> tuple[Twist, Twist]:
    """Derivatives of the wrenches of the element at row by displacements and velocity changes of its bodies.

    The other body's are zeros for the world; after `kinematics`.
    """
    kind = int(data[row + at.ELEMENT_KIND])
    if kind == at.SPRING_ELEMENT:
        return spring_tangent(body_int, data, row, work, moves)
    if kind == at.GROUND_ELEMENT:
        return ground_tangent(body_int, data, row, work, moves)
    if kind == at.MOUNT_ELEMENT:
        return mount_tangent(body_int, data, row, work, moves)
    if kind >= at.RARE_ELEMENTS:
        return rare_tangent(body_int, data, tau, nv, row, work, moves)
    eta, nu, other_eta, _ = moves
    body = int(data[row + at.ELEMENT_BODY])
    if kind == at.WRENCH_ELEMENT:
        lever, moment, force = given_wrench(data, magnitude_of(data, tau, nv, row), row, work)
        turns = data[row + at.WRENCH_TURNS]
        turn = NONE if turns == at.WORLD_AXES else (eta if turns == at.BODY_AXES else other_eta)[:3]
        d_moment, d_force, shift = cross(turn, moment), cross(turn, force), material(eta, lever)
        change = wrench_change(lever, shift, force, d_moment, d_force)
        if data[row + at.ELEMENT_OTHER] < 0.0:
            return change, STILL
        lever = lever_of_other(body_int, data, row, work, lever)
        return change, scale_add6(STILL, -1.0, wrench_change(lever, shift, force, d_moment, d_force))
    lever = carried(work, body, flat3(data, row + at.DAMPING_POINT))
    twist = twist_of(work, body)
    shift = material(eta, lever)
    speed = add3(material(nu, lever), cross((twist[0], twist[1], twist[2]), shift))
    linear = -data[row + at.DAMPING_LINEAR]
    force = scale_add3(NONE, linear, material(twist, lever))
    d_moment = scale_add3(NONE, -data[row + at.DAMPING_ANGULAR], (nu[0], nu[1], nu[2]))
    return wrench_change(lever, shift, force, d_moment, scale_add3(NONE, linear, speed)), STILL


@shared
def element_forces(body_int: Array, data: Array, tau: Array, nv: int, work: Array) -> None:
    """Wrenches of all elements, subtracted from the bodies' bias forces; after `outward`."""
    row = int(data[at.ELEMENT_ROWS])
    for _ in range(int(data[at.ELEMENT_COUNT])):
        if is_idle(data, tau, nv, row):
            row += int(data[row + at.ELEMENT_SIZE])
            continue
        wrench, opposite = element_wrench(body_int, data, tau, nv, row, work)
        body, other = int(data[row + at.ELEMENT_BODY]), int(data[row + at.ELEMENT_OTHER])
        store_twist(work, body, at.FORCE, scale_add6(load_twist(work, body, at.FORCE), -1.0, wrench))
        if other >= 0:
            store_twist(work, other, at.FORCE, scale_add6(load_twist(work, other, at.FORCE), -1.0, opposite))
        row += int(data[row + at.ELEMENT_SIZE])


@shared
def element_potential(body_int: Array, data: Array, work: Array) -> float:
    """Energy stored in all elements; after `kinematics`.

    A force of constant magnitude and world direction stores -f.x (Wang 2022, eq. 3.30); one that rotates with its body
    or follows an input does work but stores none.
    """
    energy = 0.0
    row = int(data[at.ELEMENT_ROWS])
    for _ in range(int(data[at.ELEMENT_COUNT])):
        kind = int(data[row + at.ELEMENT_KIND])
        if kind == at.SPRING_ELEMENT:
            energy += spring_potential(body_int, data, row, work)
        elif kind == at.GROUND_ELEMENT:
            energy += ground_potential(body_int, data, row, work)
        elif kind == at.MOUNT_ELEMENT:
            energy += mount_potential(body_int, data, row, work)
        elif kind >= at.RARE_ELEMENTS:
            energy += rare_potential(body_int, data, row, work)
        elif (
            kind != at.DAMPING_ELEMENT
            and data[row + at.WRENCH_INPUT] < 0.0
            and data[row + at.WRENCH_TURNS] == at.WORLD_AXES
        ):
            body = int(data[row + at.ELEMENT_BODY])
            x = position(body_int, work, body, carried(work, body, flat3(data, row + at.WRENCH_POINT)))
            energy -= data[row + at.WRENCH_MAGNITUDE] * dot3(flat3(data, row + at.WRENCH_FORCE), x)
        row += int(data[row + at.ELEMENT_SIZE])
    return energy
