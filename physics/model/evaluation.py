"""Values, Jacobian and bias of constraints at a state."""

from collections.abc import Sequence

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..constraints.base import Constraint
from ..constraints.packing import jacobian_of, make_system, pack_constraints
from ..kernels.constraints import layout
from ..muscles.view import ModelView
from .checks import check_flags, check_state


def evaluate_constraints(
    model: ModelView, state: State, constraints: Sequence[Constraint]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values (rows,), Jacobian (rows, nv) and bias (rows,) of constraints, which need not belong to the model."""
    state = check_state(model, state)
    packed = [constraint.packed(model) for constraint in constraints]
    arrays = pack_constraints(packed, model.arrays, model.body_frames)
    system = make_system(model.arrays, arrays)
    work, dof, flags = model.workspace().clear()
    q, qd = np.array(state.q), np.array(state.qd)
    kernels.joints.kinematics.kinematics(model.arrays, q, qd, work, dof, flags)
    check_flags(model, flags)
    count = kernels.constraints.rows.constraint_rows(
        model.arrays[0],
        arrays,
        True,
        q,
        qd,
        work,
        dof,
        system[layout.SYSTEM_ROWS],
        system[layout.SYSTEM_KINDS],
        system[layout.SYSTEM_JACOBIAN],
    )
    rows = system[layout.SYSTEM_ROWS][:count]
    return rows[:, layout.ROW_VALUE].copy(), jacobian_of(system, count), rows[:, layout.ROW_BIAS].copy()
