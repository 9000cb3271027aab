"""Force elements whose kernels are compiled for the models alone that have them (see `layout.RARE_BITS`)."""

from .. import layout as at
from ..algebra.vectors import Array, Twist
from ..compiler.jit import for_rare_forces
from .bushing import bushing_potential, bushing_tangent, bushing_wrench
from .field import field_tangent, field_wrench
from .points import Moves
from .sphere_contact import sphere_potential, sphere_tangent, sphere_wrench

NOTHING = ((0.0,) * 6, (0.0,) * 6)


@for_rare_forces(NOTHING)
def rare_wrench(
    body_int: Array, data: Array, tau: Array, nv: int, row: int, work: Array
) -> tuple[Twist, Twist]:
    """Wrenches of a bushing, a contact of a sphere or a field on its two bodies."""
    kind = int(data[row + at.ELEMENT_KIND])
    if kind == at.BUSHING_ELEMENT:
        return bushing_wrench(body_int, data, row, work)
    if kind == at.FIELD_ELEMENT:
        return field_wrench(body_int, data, tau, nv, row, work)
    return sphere_wrench(body_int, data, row, work)


@for_rare_forces(NOTHING)
def rare_tangent(
    body_int: Array, data: Array, tau: Array, nv: int, row: int, work: Array, moves: Moves
) -> tuple[Twist, Twist]:
    """Derivatives of the wrenches, as `elements.element_tangent`."""
    kind = int(data[row + at.ELEMENT_KIND])
    if kind == at.BUSHING_ELEMENT:
        return bushing_tangent(body_int, data, row, work, moves)
    if kind == at.FIELD_ELEMENT:
        return field_tangent(body_int, data, tau, nv, row, work, moves)
    return sphere_tangent(body_int, data, row, work, moves)


@for_rare_forces(0.0)
def rare_potential(body_int: Array, data: Array, row: int, work: Array) -> float:
    """Energy stored in the element."""
    kind = int(data[row + at.ELEMENT_KIND])
    if kind == at.BUSHING_ELEMENT:
        return float(bushing_potential(body_int, data, row, work))
    if kind == at.FIELD_ELEMENT:
        return 0.0
    return float(sphere_potential(body_int, data, row, work))
