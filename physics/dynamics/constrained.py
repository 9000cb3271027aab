"""Constraints of a state: how far it is from them, accelerations and forces with them, and the nearest state that
meets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..constraints.base import Constraint
from ..constraints.packing import make_system, pack_constraints
from ..errors import ModelError
from ..kernels import constraint_layout as layout
from ..kernels import layout as tree_layout
from ..model import Model, State

if TYPE_CHECKING:
    from ..constraints.packing import System


class ConstrainedDynamics(NamedTuple):
    """Accelerations (nv,) and the forces of each constraint's rows (rows,) by name [N, N m; of a coupling dual to its
    value].
    """

    qdd: FloatArray
    forces: dict[str, FloatArray]


def evaluate_constraints(
    model: Model, state: State, constraints: Sequence[Constraint]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values (rows,), Jacobian (rows, nv) and bias (rows,) of constraints, which need not be the model's own."""
    from ..kernels.constraint_rows import constraint_rows
    from ..kernels.joint import kinematics
    from . import check_flags, check_state

    state = check_state(model, state)
    packed = [constraint.packed(model) for constraint in constraints]
    arrays = pack_constraints(packed, model.arrays, model.body_frames)
    system = make_system(sum(constraint.rows for constraint in packed), model.num_coordinates)
    work, dof, flags = model.workspace().clear()
    q, qd = np.array(state.q), np.array(state.qd)
    kinematics(model.arrays, q, qd, work, dof, flags)
    check_flags(model, flags)
    count = constraint_rows(model.arrays[0], arrays, True, q, qd, work, dof, system)
    rows = system[layout.SYSTEM_ROWS][:count]
    jacobian = system[layout.SYSTEM_JACOBIAN][:count].copy()
    return rows[:, layout.ROW_VALUE].copy(), jacobian, rows[:, layout.ROW_BIAS].copy()


def constrained_dynamics(model: Model, state: State, tau: Any = None) -> ConstrainedDynamics:
    """Accelerations under generalized forces tau (nv,) and the constraints of the model, and the constraints' forces.

    Wang 2022, eq. 4.101, with the coordinates eliminated in O(n) a row. Where rows say the same twice the dependent
    ones get no force. Constraints that push in one sense only, limits and contacts are not among them.

    Raises:
        ModelError: as `forward_dynamics`; a constraint that pushes in one sense only.
    """
    from . import check_state, with_inputs

    state = check_state(model, state)
    model.check_dynamics()
    require_equalities(model, "constrained_dynamics")
    return ConstrainedDynamics(*constrained_accelerations(model, state, with_inputs(model, tau, "tau")))


def constrained_accelerations(
    model: Model,
    state: State,
    tau: FloatArray,
    held: FloatArray | None = None,
    given: FloatArray | None = None,
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Accelerations (nv,) and the constraints' forces by name.

    tau: (nv + num_inputs,). held: which coordinates have the accelerations given (nv,), the prescribed ones if None.
    """
    from ..kernels.aba import forward_dynamics as kernel
    from ..kernels.constrained import constrain_accelerations
    from . import check_accelerations, check_flags

    nv, rows = model.num_coordinates, model.num_constraint_rows
    qdd = np.zeros(nv)
    spaces = model.workspace().clear()
    if held is not None and given is not None:
        spaces[1][:, tree_layout.HELD], spaces[1][:, tree_layout.GIVEN] = held, given
    q, qd = np.array(state.q), np.array(state.qd)
    kernel(model.arrays, q, qd, tau, qdd, *spaces)
    check_flags(model, spaces[2])
    system = make_system(rows, nv)
    constrain_accelerations(model.arrays, model.constraint_arrays, q, qd, qdd, system, spaces)
    impulse = system[layout.SYSTEM_IMPULSE][:rows]
    forces = {name: impulse[where].copy() for name, where in model.constraint_slices.items()}
    return check_accelerations(model, qdd), forces


def require_equalities(model: Model, who: str) -> None:
    """ModelError where the model has constraints, limits or contacts that push in one sense only."""
    con_int = model.constraint_arrays[0]
    names = list(model.constraints)
    for k in np.flatnonzero(con_int[:, layout.CONSTRAINT_SENSE] != layout.EQUALITY):
        raise ModelError(
            f"{who} cannot have constraint {names[k]!r}, which pushes in one sense only: "
            "take symplectic_euler or forward_euler"
        )


# Newton's method: what is farther than this from the constraints is not a matter of finding the way back
MOST_STEPS = 50
NEAR = 1e-10
# Constraints that say the same twice, in numbers of few digits, contradict each other by so much [m, rad].
MET = 1e-5


def assemble(model: Model, state: State) -> State:
    """The state near by that meets the model's constraints that are equalities, in coordinates and in velocities.

    Steps are least in the metric of the mass matrix; the velocities lose what leaves the constraints, as by an impact
    without restitution.

    Raises:
        ModelError: no such state was found; names the constraint that is met least, and by how much.
    """
    from ..kernels.aba import forward_dynamics as kernel
    from ..kernels.constrained import constrain_accelerations, project, project_velocities
    from . import check_flags, check_state

    state = check_state(model, state)
    model.check_dynamics()
    if not model.constraints:
        return state
    nv = model.num_coordinates
    q, qd = np.array(state.q), np.array(state.qd)
    system = make_system(model.num_constraint_rows, nv)
    worst = np.inf
    for _ in range(MOST_STEPS):
        last = worst
        spaces = model.workspace().clear()
        kernel(model.arrays, q, qd, model.with_inputs(None), np.zeros(nv), *spaces)
        check_flags(model, spaces[2])
        found = constrain_accelerations(
            model.arrays, model.constraint_arrays, q, qd, np.zeros(nv), system, spaces
        )
        count = project(model.arrays, model.constraint_arrays, found, 0.0, q, qd, system, spaces)
        worst = float(np.abs(_equality_values(system, count)).max(initial=0.0))
        if worst <= NEAR or (worst <= MET and worst > 0.5 * last):
            project_velocities(model.arrays, model.constraint_arrays, found, q, qd, system, spaces)
            result = State(q, qd, state.time, state.chart)
            for array in (q, qd):
                array.flags.writeable = False
            return result
        if not np.isfinite(q).all():
            break
    name, _, off = unmet(model, system)
    raise ModelError(f"constraint {name!r} cannot be met: it is {off:.3g} m or rad off")


def _equality_values(system: System, count: int) -> FloatArray:
    equal = system[layout.SYSTEM_KINDS][:count] == layout.EQUALITY
    values: FloatArray = np.where(equal, system[layout.SYSTEM_ROWS][:count, layout.ROW_VALUE], 0.0)
    return values


def unmet(model: Model, system: System) -> tuple[str, int, float]:
    """The constraint whose rows are off the most, which row, and by how much."""
    values = np.abs(_equality_values(system, model.num_constraint_rows))
    row = int(np.argmax(values))
    name = next(name for name, where in model.constraint_slices.items() if where.start <= row < where.stop)
    return name, row, float(values[row])
