"""Mass points that a body carries along: their inertia as a part of it, and momenta as wrenches on it.

Coordinates that move a muscle's path as a whole (see `frames.inner_span`) need no columns of their own: they move the
mass points as parts of the body that carries the path.
"""

from .. import layout as at
from ..algebra.access import load6, load_twist, store6, store_twist
from ..algebra.inertia import add_inertia, inertia_about
from ..algebra.lanes import diagonal_columns, lanes_of, scale_add_lanes
from ..algebra.vectors import (
    NONE,
    STILL,
    Array,
    Twist,
    Vector,
    add3,
    cross,
    dot3,
    dot6,
    scale_add3,
    scale_add6,
)
from ..compiler.jit import inline, shared
from . import layout as muscle
from .frames import Span
from .strand_mass import columns_at


@inline
def add_wrench(dof: Array, d: int, wrench: Twist) -> None:
    """Add to the momentum of the current muscle's mass points by coordinate d."""
    place = columns_at(dof.shape[0]) + muscle.COLUMN_WRENCH
    store6(dof, d, place, scale_add6(load6(dof, d, place), 1.0, wrench))


@inline
def carry_point(base: int, mass: float, lever: Vector, work: Array) -> None:
    """Add a mass point at a lever to a body's inertia."""
    none = lanes_of(NONE)
    add_inertia(work, base, inertia_about(mass, lanes_of(lever), (none, none, none)))


@inline
def carry_line(
    base: int, mass: float, first: float, second: float, lever: Vector, way: Vector, work: Array
) -> None:
    """Add mass points at lever + c way to a body's inertia; first and second are the sums of m c and m c^2."""
    centre = first / mass
    spread = second - centre * first
    squared, w = spread * dot3(way, way), lanes_of(way)
    first_axis, second_axis, third_axis = diagonal_columns(squared)
    central = (
        scale_add_lanes(first_axis, -spread * way[0], w),
        scale_add_lanes(second_axis, -spread * way[1], w),
        scale_add_lanes(third_axis, -spread * way[2], w),
    )
    add_inertia(work, base, inertia_about(mass, lanes_of(scale_add3(lever, centre, way)), central))


@inline
def line_wrench(lever: Vector, way: Vector, whole: Vector, far: Vector) -> Twist:
    """Wrench of forces at lever + c way, with the sums of the forces and of c times each."""
    moment = add3(cross(lever, whole), cross(way, far))
    return moment[0], moment[1], moment[2], whole[0], whole[1], whole[2]


@shared
def clear_wrenches(data: Array, span: Span, dof: Array) -> None:
    """Clear the momenta of the current muscle."""
    for i in range(span[1]):
        store6(dof, int(data[span[0] + i]), columns_at(dof.shape[0]) + muscle.COLUMN_WRENCH, STILL)


@shared
def couple_wrenches(arrays: Array, span: Span, dof: Array) -> None:
    """Add the current muscle's momenta to those of the coordinates, in `PROJECTED`.

    There a coordinate moves against the twist of its parent body, not of that which carries the muscle: the difference,
    of the coordinates between, is taken from its row.
    """
    body_int, data = arrays[at.BODY_INT], arrays[at.MODEL_DATA]
    for i in range(span[1]):
        d, body = int(data[span[0] + i]), int(data[span[0] + span[1] + i])
        wrench = load6(dof, d, columns_at(dof.shape[0]) + muscle.COLUMN_WRENCH)
        store_twist(dof, d, at.PROJECTED, scale_add6(load_twist(dof, d, at.PROJECTED), 1.0, wrench))
        body = body_int[body, at.PARENT]
        while body > span[2]:
            first = body_int[body, at.DOF_START]
            for e in range(first, first + body_int[body, at.DOF_COUNT]):
                dof[d, at.DOF_WORK_WIDTH + e] -= dot6(load_twist(dof, e, at.SUBSPACE), wrench)
            body = body_int[body, at.PARENT]
