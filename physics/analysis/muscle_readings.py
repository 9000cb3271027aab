"""Readings of muscles in a state: lengths, moment arms, and the motion of mass points."""

from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..errors import ModelError
from ..model.checks import check_flags, check_state
from ..model.model import Model
from ..muscles.states import check_tendons
from ..validation import whole_number

# points drawn along each strand over obstacles, in addition to its ends
DRAWN = 30


class MuscleLengths(NamedTuple):
    """Readings of all muscles of a model, in its order.

    Attributes:
        lengths: (muscles,) [m]. rates: of the lengths (muscles,) [m/s].
        gradients: derivatives of the lengths by the coordinates (muscles, nv).
    """

    lengths: FloatArray
    rates: FloatArray
    gradients: FloatArray

    @property
    def moment_arms(self) -> FloatArray:
        """(muscles, nv): -dL/dq; times the tension it is the generalized force."""
        return -self.gradients


class MusclePoints(NamedTuple):
    """Readings of the n mass points of a muscle, from origin to insertion; world axes.

    Attributes:
        positions: (n, 3) [m]. velocities: (n, 3).
        jacobians: (n, 3, nv), velocity = J q'. biases: J' q' (n, 3) [m/s^2].
    """

    positions: FloatArray
    velocities: FloatArray
    jacobians: FloatArray
    biases: FloatArray


def muscle_lengths(model: Model, state: State) -> MuscleLengths:
    """Lengths of all muscles, their rates and their exact derivatives by the coordinates.

    Raises:
        ModelError, JointRangeError: as `forward_dynamics`.
    """
    lengths, gradients = _lengths(model, state)
    return MuscleLengths(lengths[:, 0].copy(), lengths[:, 1].copy(), gradients)


def muscle_length_biases(model: Model, state: State) -> FloatArray:
    """J' q' of all muscles' lengths (muscles,) [m/s^2]: their second derivatives are J q'' plus these; exact.

    J is `gradients` of `muscle_lengths`.

    Raises:
        ModelError, JointRangeError: as `forward_dynamics`.
    """
    lengths, _ = _lengths(model, state)
    return lengths[:, 2].copy()


def _lengths(model: Model, state: State) -> tuple[FloatArray, FloatArray]:
    """Lengths, rates and biases (muscles, 3), and gradients (muscles, nv)."""
    state = check_state(model, state)
    still = np.zeros(model.num_coordinates)
    lengths, gradients = np.zeros((len(model.muscles), 3)), np.zeros((len(model.muscles), len(still)))
    spaces = model.workspace(moment_arms=True).clear()
    if model.muscles:
        kernels.muscles.readings.muscle_lengths(
            model.arrays, np.array(state.q), np.array(state.qd), still, lengths, gradients, *spaces
        )
        check_flags(model, spaces[2])
    return lengths, gradients


def muscle_points(model: Model, state: State, muscle: str) -> MusclePoints:
    """Positions, velocities, Jacobians and biases of a muscle's mass points (Wang 2022, eqs. 5.5, 5.20-5.28); exact.

    Raises:
        ModelError: an unknown muscle, one without mass, or a path shorter than its tendons.
        JointRangeError: as `forward_dynamics`.
    """
    state = check_state(model, state)
    number = muscle_number(model, muscle)
    if not model.muscles[number].num_points:
        raise ModelError(f"muscle {muscle!r} has no mass")
    check_tendons(model, state.q, number)
    places, jacobian, _ = _points(model, state, number)
    return MusclePoints(places[:, :3].copy(), places[:, 3:6].copy(), jacobian, places[:, 6:].copy())


def muscle_polyline(model: Model, state: State, muscle: str) -> FloatArray:
    """World points (n, 3) of a muscle's path from its origin to its insertion, for drawing.

    Raises:
        ModelError, JointRangeError: as `muscle_points`.
    """
    state = check_state(model, state)
    return _points(model, state, muscle_number(model, muscle))[2]


def muscle_number(model: Model, muscle: Any) -> int:
    """Index of a muscle by name; ModelError if there is none."""
    names = [known.name for known in model.muscles]
    if not isinstance(muscle, str) or muscle not in names:
        raise ModelError(f"no muscle is named {muscle!r}; there are {', '.join(names)}")
    return whole_number(names.index(muscle), "muscle")


def _points(model: Model, state: State, number: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    muscle, nv = model.muscles[number], model.num_coordinates
    places, jacobian = np.zeros((muscle.num_points, 9)), np.zeros((muscle.num_points, 3, nv))
    corners = np.zeros((len(muscle.points) + DRAWN * len(muscle.strands), 3))
    spaces = model.workspace(moment_arms=True).clear()
    count = kernels.muscles.readings.muscle_points(
        model.arrays,
        np.array(state.q),
        np.array(state.qd),
        np.zeros(nv),
        number,
        DRAWN,
        places,
        jacobian,
        corners,
        spaces,
    )
    check_flags(model, spaces[2])
    return places, jacobian, corners[:count]
