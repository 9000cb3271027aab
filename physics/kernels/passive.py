"""Forces that a joint brings by itself: spring, damper, one-sided limit springs."""

from __future__ import annotations

from ._jit import inline
from .layout import DAMPING, LIMIT_DAMPING, LIMIT_STIFFNESS, LOWER, REST, STIFFNESS, UPPER
from .spatial import Array


@inline
def passive_force(dof_float: Array, d: int, q: float, qd: float) -> float:
    """Generalized force of coordinate d's spring, damper and limits; a limit only ever pushes."""
    force: float = -dof_float[d, STIFFNESS] * (q - dof_float[d, REST]) - dof_float[d, DAMPING] * qd
    if q < dof_float[d, LOWER]:
        push = dof_float[d, LIMIT_STIFFNESS] * (dof_float[d, LOWER] - q) - dof_float[d, LIMIT_DAMPING] * qd
        force += max(push, 0.0)
    elif q > dof_float[d, UPPER]:
        push = dof_float[d, LIMIT_STIFFNESS] * (q - dof_float[d, UPPER]) + dof_float[d, LIMIT_DAMPING] * qd
        force -= max(push, 0.0)
    return force


@inline
def passive_potential(dof_float: Array, d: int, q: float) -> float:
    """Energy stored in coordinate d's spring and limits."""
    stretch = q - dof_float[d, REST]
    energy: float = 0.5 * dof_float[d, STIFFNESS] * stretch * stretch
    beyond = max(dof_float[d, LOWER] - q, 0.0) + max(q - dof_float[d, UPPER], 0.0)
    energy += 0.5 * dof_float[d, LIMIT_STIFFNESS] * beyond * beyond
    return energy
