"""Forward and inverse dynamics, mass matrix, poses and energy of one state: thin wrappers around the kernels."""

from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..kernels import layout
from ..model.checks import (
    check_accelerations,
    check_flags,
    check_state,
    inputs_alone,
    refuse_soft,
    vector,
    with_inputs,
)
from ..model.model import Model
from ..model.observation import observe
from ..validation import chosen
from .maximal import maximal_coordinates


class Energy(NamedTuple):
    """Energies [J]; potential counts gravity (0 at the world's origin), springs, limits and force elements."""

    kinetic: float
    potential: float
    total: float


ROADS = ("auto", "recursive", "dense")


def forward_dynamics(model: Model, state: State, tau: Any = None, *, road: str = "auto") -> FloatArray:
    """Accelerations (nv,) of the tree under generalized forces, gravity, springs, dampers, limits and force elements.

    Constraints of the model are ignored; `constrained_dynamics` includes them.

    Args:
        model, state: the tree and its state. tau: generalized forces (nv,), zero if not given; inputs may follow them
            or be given by name (`Model.with_inputs`).
        road: ``"recursive"``: the articulated-body algorithm in O(n) (Lee & Terzopoulos 2008, appendix A).
            ``"dense"``: M_r q'' = f_r of the reduced coordinates (Wang 2022, eq. 4.18) in O(n^3), with the matrices
            of `maximal_coordinates`. ``"auto"``: the recursive one.

    Raises:
        ModelError: bad shapes or numbers; a joint for kinematics only; a coordinate that moves no inertia; soft
            bodies.
        JointRangeError: a coordinate outside the range of a joint whose policy is ``"error"``.
    """
    chosen(road, ROADS, "road")
    state = check_state(model, state)
    model.check_dynamics()
    tau = with_inputs(model, tau, "tau")
    if road == "dense":
        nv = model.num_coordinates
        maximal = maximal_coordinates(model, state, tau[nv:])
        return check_accelerations(model, maximal.accelerations(tau[:nv]))
    return check_accelerations(model, articulated(model, state, tau)[0])


def articulated(
    model: Model,
    state: State,
    tau: FloatArray,
    held: FloatArray | None = None,
    given: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Accelerations (nv,) in O(n), and generalized forces (nv,) that prescribed coordinates need in addition to tau.

    tau: generalized forces followed by the inputs (nv + num_inputs,).
    held: mask (nv,) of the coordinates whose accelerations are `given` (nv,); None: the model's prescribed coordinates,
        without acceleration.
    """
    refuse_soft(model)
    qdd = np.zeros(model.num_coordinates)
    spaces = model.workspace().clear()
    dof = spaces[1]
    if held is not None and given is not None:
        dof[:, layout.HELD], dof[:, layout.GIVEN] = held, given
    tau = np.concatenate([tau, model.carried(state.muscle_states)])
    kernels.dynamics.aba.forward_dynamics(
        model.arrays, np.array(state.q), np.array(state.qd), tau, qdd, *spaces
    )
    check_flags(model, spaces[2])
    return qdd, dof[:, layout.EFFORT] * dof[:, layout.HELD]


def inverse_dynamics(model: Model, state: State, qdd: Any = None, inputs: Any = None) -> FloatArray:
    """Generalized forces (nv,) that produce accelerations qdd, in addition to those of `forward_dynamics`; O(n).

    qdd: (nv,) or {coordinate or body: value or values}; 0 if not given.
    Lee & Terzopoulos 2008, eqs. 14-16. Inverse of `forward_dynamics`, with the same errors.
    inputs: (num_inputs,) or {name: number}; the model's values if None.
    """
    state = check_state(model, state)
    model.check_dynamics()
    return newton_euler(model, state, vector(model, qdd, "qdd"), inputs)[0]


def newton_euler(
    model: Model, state: State, qdd: FloatArray, inputs: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Generalized forces (nv,) for accelerations, and the wrench (nb, 6) transmitted by each joint.

    Wrenches are in world axes about the reference point of the tree. inputs: as in `inverse_dynamics`.
    """
    refuse_soft(model)
    tau = np.concatenate([inputs_alone(model, inputs), model.carried(state.muscle_states)])
    spaces = model.workspace().clear()
    kernels.dynamics.rnea.inverse_dynamics(
        model.arrays, np.array(state.q), np.array(state.qd), qdd, tau, *spaces
    )
    check_flags(model, spaces[2])
    return tau[: model.num_coordinates], spaces[0][: model.num_bodies, layout.FORCE + np.array(layout.TWIST)]


def mass_matrix(model: Model, state: State) -> FloatArray:
    """Mass matrix (nv, nv) at the state's coordinates, with armature and the attached nodes of soft bodies."""
    state = check_state(model, state)
    nv = model.num_coordinates
    matrix = np.zeros((nv, nv))
    spaces = model.workspace().clear()
    kernels.dynamics.crba.mass_matrix(model.arrays, np.array(state.q), np.zeros(nv), matrix, *spaces)
    check_flags(model, spaces[2])
    return matrix


def body_poses(model: Model, state: State) -> FloatArray:
    """World poses (nb, 4, 4) of the body frames."""
    state = check_state(model, state)
    return observe(model, state.q[None].copy(), state.qd[None].copy(), muscles=False)[0][0]


def energy(model: Model, state: State) -> Energy:
    """Kinetic, potential and total energy of a state, with soft bodies."""
    state = check_state(model, state)
    kinetic, potential, _ = observe(model, state.q[None].copy(), state.qd[None].copy())[1][0]
    if state.soft_states is not None:
        at = model.arrays, state.q[None], model.gravity, state.soft_states[None]
        moving, weight, elastic = model.soft_mesh.energies(*at)[0].sum(axis=0)
        pressed, _ = model.soft_mesh.pressed(model.arrays, state.q[None], state.soft_states[None])
        kinetic, potential = kinetic + moving, potential + weight + elastic + pressed.sum()
    return Energy(float(kinetic), float(potential), float(kinetic + potential))
