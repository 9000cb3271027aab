"""Points of bodies in world axes, for force elements; the world is body -1, at rest."""

from typing import TypeAlias

from .. import layout as at
from ..algebra.access import load3, load_rotation, load_twist
from ..algebra.spatial import rotate
from ..algebra.vectors import STILL, Array, Twist, Vector, add3, cross
from ..compiler.jit import inline

# displacement and change of velocity of a body, then those of another
Moves: TypeAlias = tuple[Twist, Twist, Twist, Twist]


@inline
def reference_of(body_int: Array, work: Array, body: int) -> Vector:
    """Reference point of a body's levers: that of its tree, or the world's origin."""
    if body < 0:
        return 0.0, 0.0, 0.0
    return load3(work, body_int[body, at.ROOT], at.REFERENCE)


@inline
def carried(work: Array, body: int, point: Vector) -> Vector:
    """Lever of a point of the link frame."""
    if body < 0:
        return point
    return add3(load3(work, body, at.ORIGIN), rotate(load_rotation(work, body), point))


@inline
def position(body_int: Array, work: Array, body: int, lever: Vector) -> Vector:
    """World position of the point with this lever."""
    return add3(lever, reference_of(body_int, work, body))


@inline
def twist_of(work: Array, body: int) -> Twist:
    if body < 0:
        return STILL
    return load_twist(work, body, at.VELOCITY)


@inline
def twists_of(data: Array, row: int, work: Array) -> tuple[Twist, Twist]:
    """Twists of both bodies of the force element at row."""
    return twist_of(work, int(data[row + at.ELEMENT_BODY])), twist_of(work, int(data[row + at.ELEMENT_OTHER]))


@inline
def material(twist: Twist, lever: Vector) -> Vector:
    """Velocity, or displacement, of the material point at a lever under a twist."""
    return add3((twist[3], twist[4], twist[5]), cross((twist[0], twist[1], twist[2]), lever))


@inline
def wrench_at(lever: Vector, moment: Vector, force: Vector) -> Twist:
    """Wrench about the reference point of a force at a lever and a moment."""
    m = add3(moment, cross(lever, force))
    return m[0], m[1], m[2], force[0], force[1], force[2]


@inline
def wrench_change(lever: Vector, shift: Vector, force: Vector, d_moment: Vector, d_force: Vector) -> Twist:
    """Change of `wrench_at` for a shift of its lever and changes of moment and force."""
    return wrench_at(lever, add3(d_moment, cross(shift, force)), d_force)
