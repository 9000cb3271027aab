"""Dynamics with constraints, and the nearest state that satisfies them."""

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
from ..kernels.contact.layout import FOUND_BODY, FOUND_OTHER, FOUND_POINT
from ..model.checks import check_accelerations, check_flags, check_state, refuse_soft, with_inputs
from ..model.model import Model
from ..soft.states import carried_nodes
from . import articulated, mass_matrix
from .complementarity import ContactForce, axes_of, solve_one_sided
from .workspace import one_sided


class ConstrainedDynamics(NamedTuple):
    """Result of `constrained_dynamics`.

    Attributes:
        qdd: accelerations (nv,).
        forces: multipliers (rows,) of each constraint by name [N, N m; for a coupling dual to its value].
        limits: generalized forces of hard limits (nv,); None for a model with equality constraints only.
        contacts: a `ContactForce` (name, point, force in the world) for each active contact.
    """

    qdd: FloatArray
    forces: dict[str, FloatArray]
    limits: FloatArray | None = None
    contacts: Sequence[ContactForce] = ()


def constrained_dynamics(model: Model, state: State, tau: Any = None) -> ConstrainedDynamics:
    """Accelerations and constraint forces under generalized forces tau (nv,), with all constraints of the model.

    Wang 2022, eq. 4.101, in reduced coordinates; O(n) a row if all constraints are equalities. Redundant rows get no
    force. One-sided constraints, hard limits and contacts are active within 1e-6 m or rad and 1e-6 m/s or rad/s;
    active contacts stick within their friction cone or slide on it.

    Raises:
        ModelError: as `forward_dynamics`; an impact, which has no acceleration; sliding friction for which no forces
            exist.
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
            name,
            contacts[k][FOUND_POINT : FOUND_POINT + 3],
            axes_of(contacts[k])[: len(parts)].T @ parts,
            int(contacts[k][FOUND_BODY]),
            int(contacts[k][FOUND_OTHER]),
        )
        for (name, k), parts in pushed.items()
    ]
    return ConstrainedDynamics(check_accelerations(model, qdd), forces, limits, found)


def constrained_accelerations(
    model: Model,
    state: State,
    tau: FloatArray,
    held: FloatArray | None = None,
    given: FloatArray | None = None,
) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Accelerations (nv,) and the constraint forces by name.

    tau: (nv + num_inputs,). held: mask (nv,) of the coordinates whose accelerations are `given`; None: the prescribed.
    """
    refuse_soft(model)
    nv, rows = model.num_coordinates, model.num_constraint_rows
    qdd = np.zeros(nv)
    spaces = model.workspace().clear()
    if held is not None and given is not None:
        spaces[1][:, tree_layout.HELD], spaces[1][:, tree_layout.GIVEN] = held, given
    q, qd = np.array(state.q), np.array(state.qd)
    tau = np.concatenate([tau, model.carried(state.muscle_states)])
    kernels.dynamics.aba.forward_dynamics(model.arrays, q, qd, tau, qdd, *spaces)
    check_flags(model, spaces[2])
    system = make_system(model.arrays, model.constraint_arrays)
    constrain = kernels.contact.constrained_step.constrain_accelerations
    constrain(model.arrays, model.constraint_arrays, q, qd, qdd, system, spaces)
    impulse = system[layout.SYSTEM_IMPULSE][:rows]
    forces = {name: impulse[where].copy() for name, where in model.constraint_slices.items()}
    return check_accelerations(model, qdd), forces


def require_equalities(model: Model, who: str) -> None:
    """ModelError if the model has a one-sided constraint; who: the function that refuses it."""
    con_int = model.constraint_arrays[0]
    names = list(model.constraints)
    for k in np.flatnonzero(con_int[:, layout.CONSTRAINT_SENSE] != layout.EQUALITY):
        raise ModelError(
            f"{who} does not support the one-sided constraint {names[k]!r}: use symplectic_euler or forward_euler"
        )


# Newton's method converges when no equality is violated by more than NEAR.
MOST_STEPS = 200
# A step turns no joint further than this [rad], beyond which the constraints' slopes at its beginning say little.
REACH = 0.5
NEAR = 1e-10
# Redundant constraints given with few digits contradict each other by up to this [m, rad].
MET = 1e-5


def assemble(model: Model, state: State) -> State:
    """The nearby state whose coordinates and velocities satisfy the model's equality constraints.

    Each step is the shortest in the metric of the mass matrix, and turns no joint by more than 0.5 rad. Velocities lose
    their component off the constraints, as in an impact without restitution. Nodes of soft bodies move with the bodies
    (`Model.state`).

    Raises:
        ModelError: no such state was found; names the constraint that is violated most, and by how much.
    """
    state = check_state(model, state)
    model.check_dynamics()
    if not model.constraints:
        return state
    nv, step = model.num_coordinates, kernels.contact.constrained_step
    q, qd = np.array(state.q), np.array(state.qd)
    system = make_system(model.arrays, model.constraint_arrays)
    turning, worst = model.coordinate_table.angles, np.inf

    def factors() -> tuple[tuple[int, int], Any]:
        """Factors of the rows at the current q."""
        spaces = model.workspace().clear()
        forces = np.concatenate([model.with_inputs(None), model.carried(state.muscle_states)])
        kernels.dynamics.aba.forward_dynamics(model.arrays, q, qd, forces, np.zeros(nv), *spaces)
        check_flags(model, spaces[2])
        known = model.arrays, model.constraint_arrays, q, qd, np.zeros(nv), system, spaces
        return step.constrain_accelerations(*known), spaces

    for _ in range(MOST_STEPS):
        last = worst
        found, spaces = factors()
        before = q.copy()
        count = step.project(model.arrays, model.constraint_arrays, found, 0.0, q, qd, system, spaces)
        if not np.abs((q - before)[turning]).max(initial=0.0) <= REACH:  # one Newton step, as far as REACH
            q[:], body_int = before, model.arrays[tree_layout.BODY_INT]
            step.worst_value(model.arrays, model.constraint_arrays, q, qd, system, spaces)
            step.shift(body_int, count, found, 0.0, q, qd, system, spaces[tree_layout.DOF])
            turned = np.abs((q - before)[turning]).max(initial=0.0)
            q[:], worst = before + (q - before) * (REACH / max(REACH, turned)), np.inf
            if not np.isfinite(q).all():
                break
            continue
        worst = float(np.abs(_equality_values(system, count)).max(initial=0.0))
        if worst <= NEAR or (worst <= MET and worst > 0.5 * last):
            found, spaces = factors()  # the last step may have started far from here
            step.project_velocities(model.arrays, model.constraint_arrays, found, q, qd, system, spaces)
            soft = carried_nodes(model, state, q, qd)
            result = State(q, qd, state.time, state.chart, state.muscle_states, soft)
            for array in (q, qd):
                array.flags.writeable = False
            return result
        if not np.isfinite(q).all():
            break
    name, _, off = unmet(model, system)
    raise ModelError(f"constraint {name!r} cannot be satisfied: it is violated by {off:.3g} m or rad")


def _equality_values(system: System, count: int) -> FloatArray:
    equal = system[layout.SYSTEM_KINDS][:count] == layout.EQUALITY
    return np.where(equal, system[layout.SYSTEM_ROWS][:count, layout.ROW_VALUE], 0.0)


def unmet(model: Model, system: System) -> tuple[str, int, float]:
    """The equality constraint that is violated most, its row in the system, and by how much."""
    values = np.abs(_equality_values(system, model.num_constraint_rows))
    row = int(np.argmax(values))
    name = next(name for name, where in model.constraint_slices.items() if where.start <= row < where.stop)
    return name, row, float(values[row])
