"""Inverse dynamics of a sampled motion with external forces such as those of the ground."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.body import Body
from ..errors import ModelError
from ..geometry import exponential_coordinates, lie
from ..geometry.immutable import ReadOnlyArrays
from ..geometry.smoothing import DEGREES, check_times, spline_derivatives, weight_of_cutoff
from ..model.checks import check_flags, inputs_alone, refuse_soft
from ..model.coordinates import rotation_coordinates
from ..model.model import Model
from ..model.result import rotation_quaternions
from ..muscles.states import check_tendons_of_samples, initial_states
from ..processors import slices
from ..validation import all_finite, finite_array, float_array, instance, instances, number, whole_number


@dataclass(frozen=True, eq=False)
class ExternalForce(ReadOnlyArrays):
    """A sampled external force on a body, such as one measured by a force plate; all in world axes.

    Interpolated linearly between samples.

    Attributes:
        body: the body, or its name.
        times: increasing (T,) [s].
        force: (T, 3) [N].
        point: of application in the world (T, 3) [m]; None: the origin of the body's frame.
        moment: an additional free moment (T, 3) [N m]; None: none.
    """

    body: str
    times: Any
    force: Any
    point: Any = None
    moment: Any = None

    def __post_init__(self) -> None:
        name = self.body.name if isinstance(self.body, Body) else self.body
        if not isinstance(name, str):
            raise ModelError(f"an external force needs a body or its name, got {name!r:.80}")
        times = check_times(self.times, 2)
        object.__setattr__(self, "body", name)
        object.__setattr__(self, "times", times)
        for part in ("force", "point", "moment"):
            value = getattr(self, part)
            if part == "force" or value is not None:
                text = f"{part} of the external force on {name!r}"
                object.__setattr__(self, part, finite_array(value, (len(times), 3), text))
        self.lock()

    def at(self, times: FloatArray) -> tuple[FloatArray, FloatArray | None, FloatArray]:
        """Force, point (None for the body's origin) and moment, (T, 3) each.

        Raises:
            ModelError: times outside the samples.
        """
        span = float(self.times[-1] - self.times[0])
        for end in (times[0], times[-1]):
            if not self.times[0] - 1e-9 * span <= end <= self.times[-1] + 1e-9 * span:
                raise ModelError(
                    f"the external force on {self.body!r} is given from {self.times[0]:g} to {self.times[-1]:g} s, "
                    f"but the motion needs it at {end:g} s"
                )

        def between(values: FloatArray) -> FloatArray:
            return np.stack([np.interp(times, self.times, column) for column in values.T], axis=1)

        moment = np.zeros((len(times), 3)) if self.moment is None else between(self.moment)
        return between(self.force), None if self.point is None else between(self.point), moment


class SampledDynamics(NamedTuple):
    """Result of `inverse_dynamics_of_samples`; all arrays but times are (T, nv).

    Attributes:
        tau: generalized forces in addition to those of springs, dampers and limits. Those of an undriven root are
            residuals: the mismatch of motion, masses and external forces.
        q, qd, qdd: the smoothed coordinates, their velocities and accelerations; rotation vectors no longer than pi.
        times: (T,) [s].
    """

    tau: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    times: FloatArray


def inverse_dynamics_of_samples(
    model: Model,
    times: Any,
    q: Any,
    *,
    cutoff: Any = None,
    smoothing: float = 0.0,
    degree: int = 5,
    external_forces: Sequence[ExternalForce] = (),
) -> SampledDynamics:
    """Generalized forces of a sampled motion, from splines through or near its samples (Woltring 1985).

    Rotation vectors are splined as quaternions, so changes of chart and whole turns in the samples do not matter.
    Their rates and torques belong to the chart |r| <= pi (Kim, Lee & Park 2014, eq. 39).

    Args:
        model: a tree; its constraints and contacts exert no forces here: include theirs in external_forces.
        times: increasing (T,) [s], T > degree. q: coordinates (T, nv).
        cutoff: frequency [Hz] at which the splines lose 3 dB, a number or (nv,); equal within a rotation vector.
            Measured data need one: noise in accelerations grows with the square of the sampling rate, most at the ends.
        smoothing: instead of a cutoff, the weight [s^degree] of the integral of the squared derivative of order (degree
            + 1) / 2 against the sum of squared distances from the samples; 0 interpolates the samples.
        degree: of the splines: 3, 5 or 7.
        external_forces: on bodies, sampled over the whole motion.

    Raises:
        ModelError: bad shapes or numbers, times that do not increase, an unknown body, forces that do not cover the
            motion, a muscle's path shorter than its tendons.
        JointRangeError: a coordinate outside the range of a joint whose policy is ``"error"``.
    """
    instance(model, Model, "model").check_dynamics()
    refuse_soft(model)
    if whole_number(degree, "degree") not in DEGREES:
        raise ModelError(f"degree must be one of {DEGREES}, got {degree}")
    times = check_times(times, degree + 1)
    q = finite_array(q, (len(times), model.num_coordinates), "samples of the coordinates")
    weights = _weights(model, times, cutoff, smoothing, degree)
    motion = _smooth_motion(model, times, q, weights, degree)
    check_tendons_of_samples(model, motion[0])
    tau = _generalized_forces(model, np.stack(motion), _forces(external_forces), times)
    return SampledDynamics(tau, *motion, times)


def _generalized_forces(
    model: Model, motion: FloatArray, forces: Sequence[ExternalForce], times: FloatArray
) -> FloatArray:
    """Forces (T, nv) of q, q' and q'' (3, T, nv), whose muscles are at rest in each sample."""
    pushed = np.array([model.index(force.body) for force in forces], dtype=np.int64)
    pushes = np.zeros((len(times), len(forces), 9))  # point, force, moment
    for row, each in zip(pushes.swapaxes(0, 1), forces):
        force, point, moment = each.at(times)
        row[:] = np.concatenate(
            [np.full_like(force, np.nan) if point is None else point, force, moment], axis=1
        )
    tau = np.tile(inputs_alone(model, None), (len(times), 1))
    if model.num_muscle_states:
        states = [model.carried(initial_states(model, q, None)) for q in motion[0]]
        tau = np.concatenate([tau, states], axis=1)
    spaces = model.workspace().clear()
    for part in slices(len(times)):
        kernels.dynamics.sampled.inverse_dynamics_of_rows(
            model.arrays, motion[:, part].copy(), tau[part], pushed, pushes[part], *spaces
        )
        check_flags(model, spaces[2])
    return tau[:, : model.num_coordinates].copy()


def _forces(external_forces: Any) -> tuple[ExternalForce, ...]:
    if isinstance(external_forces, ExternalForce):
        return (external_forces,)
    return instances(external_forces, ExternalForce, "external_forces")


def _weights(model: Model, times: FloatArray, cutoff: Any, smoothing: Any, degree: int) -> FloatArray:
    """Smoothing weight of each coordinate (nv,), equal within a rotation vector."""
    nv = model.num_coordinates
    weight = number(smoothing, "smoothing", not_negative=True)
    if cutoff is None:
        return np.full(nv, weight)
    if weight > 0.0:
        raise ModelError(f"give a cutoff or smoothing, not both: got {cutoff!r:.40} and {weight:g}")
    frequencies = float_array(cutoff, "cutoff")
    frequencies = finite_array(
        np.full(nv, frequencies) if frequencies.ndim == 0 else frequencies, (nv,), "cutoff"
    )
    if (frequencies <= 0.0).any():
        raise ModelError(f"cutoff must be positive, got {frequencies.min():g}")
    for first in rotation_coordinates(model)[::3]:
        three = frequencies[first : first + 3]
        if np.ptp(three) > 0.0:
            name = model.coordinate_names[first]
            raise ModelError(f"cutoff must be one for the rotation vector of {name}, got {three.tolist()}")
    weights = np.array([weight_of_cutoff(times, frequency, degree) for frequency in frequencies])
    return all_finite(weights, f"weight of the cutoff {cutoff!r:.40}")


def _smooth_motion(
    model: Model, times: FloatArray, q: FloatArray, weights: FloatArray, degree: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Coordinates, velocities and accelerations (T, nv) of the splines."""
    vectors = rotation_coordinates(model)
    plain = np.ones(model.num_coordinates, dtype=np.bool_)
    plain[vectors] = False
    motion = np.empty((3, *q.shape))
    for weight in np.unique(weights[plain]):
        columns = np.nonzero(plain & (weights == weight))[0]
        motion[:, :, columns] = spline_derivatives(times, q[:, columns], degree, float(weight))
    for first in vectors[::3]:
        where = slice(first, first + 3)
        quaternions = rotation_quaternions(q[:, where])
        splined = spline_derivatives(times, quaternions, degree, float(weights[first]))
        motion[:, :, where] = _rotation_rates(*splined)
    return motion[0], motion[1], motion[2]


def _rotation_rates(p: FloatArray, pd: FloatArray, pdd: FloatArray) -> FloatArray:
    """r, r', r'' (3, T, 3) of the rotation p / |p|, a quaternion wxyz (T, 4), from p, p' and p''."""
    square = (p * p).sum(axis=1, keepdims=True)

    def turning(rate: FloatArray) -> FloatArray:
        """2 vec(p* rate) / |p|^2; for p' the angular velocity in the body frame."""
        vector = p[:, :1] * rate[:, 1:] - rate[:, :1] * p[:, 1:] - np.cross(p[:, 1:], rate[:, 1:])
        return np.asarray(2.0 * vector / square, dtype=np.float64)

    w = turning(pd)
    wd = turning(pdd) - 2.0 * (p * pd).sum(axis=1, keepdims=True) / square * w
    r = lie.so3_log(lie.matrix_from_quaternion(p / np.sqrt(square)))
    return np.stack(
        [
            r,
            exponential_coordinates.rate_of_body_velocity(r, w),
            exponential_coordinates.second_rate_of_body(r, w, wd),
        ]
    )
