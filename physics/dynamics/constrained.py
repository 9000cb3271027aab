"""Constraints of a state: how far it is from them, accelerations and forces with them, and the nearest state that
meets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..constraints.packing import System, make_system
from ..errors import ModelError
from ..kernels import layout as tree_layout
from ..kernels.constraints import layout
from ..kernels.contact.layout import FOUND_POINT
from ..model.checks import check_accelerations, check_flags, check_state, with_inputs
from ..model.model import Model
from . import articulated, mass_matrix
from .complementarity import ContactForce, axes_of, solve_one_sided


class ConstrainedDynamics(NamedTuple):
    """What `constrained_dynamics` finds.

    Attributes:
        qdd: accelerations (nv,).
        forces: of each constraint's rows (rows,) by name [N, N m; of a coupling dual to its value].
        limits: generalized forces of hard limits (nv,), None of a model with equalities alone.
        contacts: what touches, one `ContactForce` (name, point, force in the world) each.
    """

    qdd: FloatArray
    forces: dict[str, FloatArray]
    limits: FloatArray | None = None
    contacts: Sequence[ContactForce] = ()


def constrained_dynamics(model: Model, state: State, tau: Any = None) -> ConstrainedDynamics:
    """Accelerations under generalized forces tau (nv,) and all that constrains the model, and what that takes.

    Wang 2022, eq. 4.101, with the coordinates eliminated: in O(n) a row where there are equalities alone. Where rows
    say the same twice the dependent ones get no force. What pushes in one sense only, constraints, hard limits and
    contacts, takes part where it touches (within 1e-6 m or rad, and m/s or rad/s), and pushes or parts; contacts
    stick within the cone of their friction, or slide on it.

    Raises:
        ModelError: as `forward_dynamics`; something is being hit, which has no acceleration; the friction of what
            slides finds no forces.
    """
    state = check_state(model, state)
    model.check_dynamics()
    complete = with_inputs(model, tau, "tau")
    if not one_sided(model):
        return ConstrainedDynamics(*constrained_accelerations(model, state, complete))
    free = articulated(model, state, complete)[0]
    qdd, rowed, rows, contacts = solve_one_sided(model, state, free, mass_matrix(model, state))
    forces = {name: np.zeros(where.stop - where.start) for name, where in model.constraint_slices.items()}
    limits = np.zeros(len(qdd))
    pushed: dict[tuple[str, int], list[float]] = {}
    for row, force in zip(rows, rowed):
        name, k = row.owner
        if name in forces:
            forces[name][k] = force
        elif not name:
            limits += row.jacobian * force
        else:
            pushed.setdefault((name, k), []).append(force)
    found = [
        ContactForce(
            name, contacts[k][FOUND_POINT : FOUND_POINT + 3], axes_of(contacts[k])[: len(parts)].T @ parts
        )
        for (name, k), parts in pushed.items()
    ]
    return ConstrainedDynamics(check_accelerations(model, qdd), forces, limits, found)


def one_sided(model: Model) -> bool:
    """Whether a model has constraints, hard limits or contacts that push in one sense only."""
    senses = model.constraint_arrays[0][:, layout.CONSTRAINT_SENSE]
    return bool((senses != layout.EQUALITY).any()) or model.has_hard_limits or bool(model.contacts)


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
    nv, rows = model.num_coordinates, model.num_constraint_rows
    qdd = np.zeros(nv)
    spaces = model.workspace().clear()
    if held is not None and given is not None:
        spaces[1][:, tree_layout.HELD], spaces[1][:, tree_layout.GIVEN] = held, given
    q, qd = np.array(state.q), np.array(state.qd)
    tau = np.concatenate([tau, model.carried(state.muscle_states)])
    kernels.dynamics.aba.forward_dynamics(model.arrays, q, qd, tau, qdd, *spaces)
    check_flags(model, spaces[2])
    system = make_system(rows, nv)
    constrain = kernels.contact.constrained_step.constrain_accelerations
    constrain(model.arrays, model.constraint_arrays, q, qd, qdd, system, spaces)
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
    state = check_state(model, state)
    model.check_dynamics()
    if not model.constraints:
        return state
    nv, step = model.num_coordinates, kernels.contact.constrained_step
    q, qd = np.array(state.q), np.array(state.qd)
    system = make_system(model.num_constraint_rows, nv)
    worst = np.inf

    def factors() -> tuple[tuple[int, int], Any]:
        """Of the rows where q is now."""
        spaces = model.workspace().clear()
        forces = np.concatenate([model.with_inputs(None), model.carried(state.muscle_states)])
        kernels.dynamics.aba.forward_dynamics(model.arrays, q, qd, forces, np.zeros(nv), *spaces)
        check_flags(model, spaces[2])
        known = model.arrays, model.constraint_arrays, q, qd, np.zeros(nv), system, spaces
        return step.constrain_accelerations(*known), spaces

    for _ in range(MOST_STEPS):
        last = worst
        found, spaces = factors()
        count = step.project(model.arrays, model.constraint_arrays, found, 0.0, q, qd, system, spaces)
        worst = float(np.abs(_equality_values(system, count)).max(initial=0.0))
        if worst <= NEAR or (worst <= MET and worst > 0.5 * last):
            found, spaces = factors()  # those from where the last step began may be far off
            step.project_velocities(model.arrays, model.constraint_arrays, found, q, qd, system, spaces)
            result = State(q, qd, state.time, state.chart, state.muscle_states)
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
