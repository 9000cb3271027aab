"""Exact derivatives of inverse and forward dynamics with respect to coordinates, velocities and forces."""

from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..joints.packing import TangentSpace
from ..model.checks import check_flags, check_state, inputs_alone, refuse_soft, vector, with_inputs
from ..model.model import Model
from . import forward_dynamics


class InverseDerivatives(NamedTuple):
    """Derivatives (nv, nv) of the generalized forces: [d, e] is that of force d by coordinate e, or by its velocity."""

    dq: FloatArray
    dqd: FloatArray


class ForwardDerivatives(NamedTuple):
    """Derivatives (nv, nv) of the accelerations by coordinates, velocities and generalized forces."""

    dq: FloatArray
    dqd: FloatArray
    dtau: FloatArray


def _evaluate(
    model: Model, state: State, qdd: FloatArray, inputs: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Derivatives by q, by q' and by q'' (the mass matrix)."""
    refuse_soft(model)
    nv = model.num_coordinates
    slopes = (np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((nv, nv)))
    spaces = model.workspace().clear()
    tangents = TangentSpace(model.arrays[0]).arrays
    kernels.dynamics.derivatives.inverse_dynamics_derivatives(
        model.arrays,
        np.array(state.q),
        np.array(state.qd),
        qdd,
        np.concatenate([inputs_alone(model, inputs), model.carried(state.muscle_states)]),
        slopes,
        tangents,
        spaces,
    )
    check_flags(model, spaces[2])
    return slopes


def inverse_dynamics_derivatives(
    model: Model, state: State, qdd: Any = None, inputs: Any = None
) -> InverseDerivatives:
    """Derivatives of the forces of `inverse_dynamics` by coordinates and velocities; exact, O(n depth).

    Includes inertial and gyroscopic terms, the motion of joint axes, gravity, springs, dampers and compliant limits
    with their geometric terms. At a kink of a force (the edge of a one-sided spring) the derivative is that of the
    state's side. The derivative by q'' is `mass_matrix`. After Carpentier & Mansard 2018; joints of several
    coordinates after Singh, Russo & Wensing 2022.
    For muscles with mass that wrap, the change of J^T m J' q' of their mass points with q contains third derivatives
    of the path; it comes from central differences, with a relative error of about 1e-10.

    Args:
        qdd: accelerations (nv,) or {coordinate or body: value or values}; 0 if not given.
        inputs: of the model, (num_inputs,) or {name: number}; the model's values if None.

    Raises:
        ModelError: bad shapes or numbers; a joint for kinematics only.
        JointRangeError: a coordinate outside the range of a joint whose policy is ``"error"``.
    """
    state = check_state(model, state)
    model.check_dynamics()
    qdd = vector(model, qdd, "qdd")
    by_q, by_qd, _ = _evaluate(model, state, qdd, inputs)
    return InverseDerivatives(by_q, by_qd)


def forward_dynamics_derivatives(model: Model, state: State, tau: Any = None) -> ForwardDerivatives:
    """Derivatives of the accelerations of `forward_dynamics`: M^-1, and -M^-1 times those of inverse dynamics.

    The accelerations of prescribed coordinates have zero derivatives. Raises as `forward_dynamics` does.
    """
    qdd = forward_dynamics(model, state, tau)
    state = check_state(model, state)
    inputs = with_inputs(model, tau, "tau")[model.num_coordinates :]
    by_q, by_qd, mass = _evaluate(model, state, qdd, inputs)
    free = np.flatnonzero(~model.prescribed)
    nv = model.num_coordinates
    result = ForwardDerivatives(np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((nv, nv)))
    if len(free):
        inverse = np.linalg.inv(mass[np.ix_(free, free)])
        result.dq[free] = -inverse @ by_q[free]
        result.dqd[free] = -inverse @ by_qd[free]
        result.dtau[np.ix_(free, free)] = inverse
    return result
