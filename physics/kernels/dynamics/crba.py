"""Joint-space mass matrix: the composite-rigid-body algorithm in world axes."""

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import entry, shared
from ..joints.composite import add_composite
from ..joints.kinematics import outward
from ..muscles.mass import add_masses


@entry
def mass_matrix(
    arrays: Array, q: Array, qd: Array, matrix: Array, work: Array, dof: Array, flags: Array
) -> None:
    """Mass matrix (nv, nv) at q, armature included; matrix comes in as zeros, qd does not matter."""
    outward(arrays, q, qd, work, dof, flags)
    composite_mass(arrays, q, qd, matrix, work, dof)


@shared
def composite_mass(arrays: Array, q: Array, qd: Array, matrix: Array, work: Array, dof: Array) -> None:
    """As `mass_matrix`, after `outward`."""
    body_int, _, _, _, dof_float = arrays
    add_composite(body_int, matrix, work, dof)
    for d in range(q.shape[0]):
        matrix[d, d] += dof_float[d, at.ARMATURE]
    if arrays[at.MODEL_DATA][at.MUSCLE_MASSIVE] > 0.0:
        add_masses(arrays, q, qd, matrix, work, dof)
