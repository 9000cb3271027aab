"""A rotation's exponential coordinates r, R = exp([r]): velocities, accelerations, charts and reach cones.

Formulas of Kim, Lee & Park 2014 for batches: vectors are (..., 3), results have the batch shape of their arguments. w_b
and w_s are angular velocities in the body and in the fixed frame. The Jacobians J and G = J^-1 themselves are in `lie`;
here are their products with vectors and the biases from their time derivatives. Everything is exact to round-off from
|r| = 0 on; maps from w to r' grow without bound toward |r| = 2 pi.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..validation import number, unit_axis
from . import lie


class _Coefficients(NamedTuple):
    """alpha, beta, gamma, zeta (eqs. 2, 7, 17) and the factors of <r, r'> in their time derivatives; (..., 1)."""

    alpha: FloatArray
    beta: FloatArray
    gamma: FloatArray
    zeta: FloatArray
    alpha_rate: FloatArray
    beta_rate: FloatArray
    gamma_rate: FloatArray
    delta_rate: FloatArray
    zeta_rate: FloatArray


def _derivative(series: list[float]) -> list[float]:
    """Coefficients of 2 d/dx of a series in x = |r|^2: the factor of <r, r'> in its time derivative."""
    return [2.0 * n * term for n, term in enumerate(series)][1:]


# (2 pi)^2 as the sum of two numbers, good to 32 digits
WHOLE_TURN_SQUARED = (39.47841760435743, 2.5061182034958845e-15)


def _square_exactly(x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """x^2 as a sum of two numbers (Dekker's product)."""
    high = x * 134217729.0  # 2^27 + 1 cuts the 53 digits in two halves
    high = high - (high - x)
    low = x - high
    square = x * x
    return square, ((high * high - square) + 2.0 * high * low) + low * low


def _short_of_turn(r: FloatArray, angle: FloatArray) -> FloatArray:
    """2 pi - |r| (..., 1) as ((2 pi)^2 - |r|^2) / (2 pi + |r|), which does not cancel near 2 pi."""
    high, low = _square_exactly(r)
    high = np.sort(high, axis=-1)
    terms = np.concatenate(
        [np.broadcast_to(WHOLE_TURN_SQUARED, (*r.shape[:-1], 2))[..., :1], -high[..., ::-1]], axis=-1
    )
    total, rest = terms[..., 0], WHOLE_TURN_SQUARED[1] - low.sum(axis=-1)
    for k in range(1, 4):  # Knuth's sum keeps the round-off of each addition
        following = total + terms[..., k]
        part = following - total
        rest = rest + ((total - (following - part)) + (terms[..., k] - part))
        total = following
    return (total + rest)[..., None] / (2.0 * np.pi + angle)


def _coefficients(r: FloatArray) -> _Coefficients:
    square = (r * r).sum(axis=-1, keepdims=True)
    small = square < lie.SERIES_LIMIT
    angle = np.sqrt(square)
    safe = np.where(small, 1.0, angle)
    # beyond half a turn, use the angle that is missing to a whole turn: its sine keeps all digits near 2 pi
    short = _short_of_turn(r, angle)
    far = angle > np.pi
    half_sine = np.where(far, np.sin(0.5 * short), np.sin(0.5 * angle))
    half_cosine = np.where(far, -np.cos(0.5 * short), np.cos(0.5 * angle))
    sine = 2.0 * half_sine * half_cosine

    def either(series: list[float], closed: FloatArray) -> FloatArray:
        return lie.coefficient(square, series, closed)

    safe_sine = np.where(small, 1.0, half_sine)
    alpha = either(lie.ALPHA, sine / safe)
    beta = either(lie.BETA, 2.0 * (half_sine / safe) ** 2)
    gamma = either(lie.GAMMA, (angle - sine) / safe**3)
    numerator = either(lie.ZETA, np.ones_like(square))
    zeta = np.where(small, numerator / beta, (1.0 - 0.5 * safe * half_cosine / safe_sine) / safe**2)
    beta_rate = either(_derivative(lie.BETA), (alpha - 2.0 * beta) / safe**2)
    gamma_rate = either(_derivative(lie.GAMMA), (beta - 3.0 * gamma) / safe**2)
    numerator_rate = either(_derivative(lie.ZETA), np.ones_like(square))
    zeta_rate = np.where(
        small, (numerator_rate - zeta * beta_rate) / beta, ((alpha + 1.0) / (2.0 * beta) - 2.0) / safe**4
    )
    return _Coefficients(
        alpha, beta, gamma, zeta, gamma - beta, beta_rate, gamma_rate, -0.5 * gamma / beta, zeta_rate
    )


def _arrays(*vectors: Any) -> tuple[FloatArray, ...]:
    arrays = [np.asarray(vector, dtype=np.float64) for vector in vectors]
    for array in arrays:
        if array.shape[-1:] != (3,):
            raise ModelError(f"exponential coordinates must have shape (..., 3), got {array.shape}")
    return tuple(np.broadcast_arrays(*arrays))


def _inner(a: FloatArray, b: FloatArray) -> FloatArray:
    return (a * b).sum(axis=-1, keepdims=True)


def _velocity(r: Any, rd: Any, side: float) -> FloatArray:
    r, rd = _arrays(r, rd)
    k = _coefficients(r)
    return k.alpha * rd + side * k.beta * np.cross(rd, r) + k.gamma * _inner(r, rd) * r


def body_velocity(r: Any, rd: Any) -> FloatArray:
    """w_b = J_b r' (eq. 6)."""
    return _velocity(r, rd, 1.0)


def spatial_velocity(r: Any, rd: Any) -> FloatArray:
    """w_s = J_s r' (eq. 14)."""
    return _velocity(r, rd, -1.0)


def _rate(r: Any, w: Any, side: float) -> FloatArray:
    r, w = _arrays(r, w)
    k = _coefficients(r)
    # delta w + zeta <r, w> r of eq. 15 with delta = 1 - zeta |r|^2, without the difference
    return w + 0.5 * side * np.cross(r, w) + k.zeta * np.cross(r, np.cross(r, w))


def rate_of_body_velocity(r: Any, w: Any) -> FloatArray:
    """r' = G_b w_b (eqs. 15, 22); singular at |r| = 2 pi."""
    return _rate(r, w, 1.0)


def rate_of_spatial_velocity(r: Any, w: Any) -> FloatArray:
    """r' = G_s w_s (eqs. 16, 25); singular at |r| = 2 pi."""
    return _rate(r, w, -1.0)


def _velocity_bias(r: Any, rd: Any, side: float) -> FloatArray:
    r, rd = _arrays(r, rd)
    k = _coefficients(r)
    inner = _inner(r, rd)
    along = k.gamma_rate * inner**2 + k.gamma * _inner(rd, rd)
    turn = side * k.beta_rate * inner * np.cross(rd, r)
    return (k.alpha_rate + k.gamma) * inner * rd + turn + along * r


def body_velocity_bias(r: Any, rd: Any) -> FloatArray:
    """J_b' r', the velocity-dependent part of w_b' = J_b r'' + J_b' r' (left side of eq. 40)."""
    return _velocity_bias(r, rd, 1.0)


def spatial_velocity_bias(r: Any, rd: Any) -> FloatArray:
    """J_s' r', the velocity-dependent part of w_s' = J_s r'' + J_s' r' (eq. 43)."""
    return _velocity_bias(r, rd, -1.0)


def body_acceleration(r: Any, rd: Any, rdd: Any) -> FloatArray:
    """w_b' = J_b r'' + J_b' r' (eq. 35)."""
    return body_velocity(r, rdd) + body_velocity_bias(r, rd)


def spatial_acceleration(r: Any, rd: Any, rdd: Any) -> FloatArray:
    """w_s' = J_s r'' + J_s' r'."""
    return spatial_velocity(r, rdd) + spatial_velocity_bias(r, rd)


def _rate_bias(r: Any, w: Any, side: float) -> FloatArray:
    r, w = _arrays(r, w)
    k = _coefficients(r)
    rd = _rate(r, w, side)
    inner = _inner(r, w)  # = <r, r'>
    along = k.zeta_rate * inner**2 + k.zeta * _inner(rd, w)
    return k.delta_rate * inner * w + 0.5 * side * np.cross(rd, w) + along * r + k.zeta * inner * rd


def body_rate_bias(r: Any, w: Any) -> FloatArray:
    """G_b' w_b, the velocity-dependent part of r'' = G_b w_b' + G_b' w_b (eq. 41)."""
    return _rate_bias(r, w, 1.0)


def spatial_rate_bias(r: Any, w: Any) -> FloatArray:
    """G_s' w_s, the velocity-dependent part of r'' = G_s w_s' + G_s' w_s (eq. 44)."""
    return _rate_bias(r, w, -1.0)


def second_rate_of_body(r: Any, w: Any, wd: Any) -> FloatArray:
    """r'' = G_b w_b' + G_b' w_b (eq. 39)."""
    return rate_of_body_velocity(r, wd) + body_rate_bias(r, w)


def second_rate_of_spatial(r: Any, w: Any, wd: Any) -> FloatArray:
    """r'' = G_s w_s' + G_s' w_s (eq. 42)."""
    return rate_of_spatial_velocity(r, wd) + spatial_rate_bias(r, w)


class Chart(NamedTuple):
    """A motion in one chart: coordinates, their first two time derivatives and the dual torque, each (..., 3)."""

    r: FloatArray
    rd: FloatArray
    rdd: FloatArray
    tau: FloatArray


def reparametrize(r: Any, rd: Any = 0.0, rdd: Any = 0.0, tau: Any = 0.0) -> Chart:
    """Remove whole turns so that |r| <= pi; rotation, velocity, acceleration and power do not change (eqs. 66-70, 78).

    Args:
        r: coordinates (..., 3) of any length except a whole number of turns, where r' is undefined.
        rd, rdd: their time derivatives; tau: the generalized force dual to r'. Zero by default.

    Raises:
        ModelError: |r| is a whole number of turns, and not 0.
    """
    zero = np.zeros(3)
    r, rd, rdd, tau = _arrays(r, zero + rd, zero + rdd, zero + tau)
    angle = np.linalg.norm(r, axis=-1, keepdims=True)
    turns = np.floor((angle / np.pi + 1.0) / 2.0)
    singular = (turns > 0.0) & (np.abs(angle - 2.0 * np.pi * turns) < 1e-12 * angle)
    if singular.any():
        raise ModelError(f"a rotation vector of length {angle[singular][0]:g} is singular (a whole turn)")
    safe = np.where(turns > 0.0, angle, 1.0)
    removed = 2.0 * np.pi * turns
    eta = 1.0 - removed / safe
    inner, cube = _inner(r, rd), safe**3
    along = (_inner(rd, rd) + _inner(r, rdd)) / cube - 3.0 * inner**2 / (cube * safe**2)
    return Chart(
        eta * r,
        eta * rd + removed * inner / cube * r,
        eta * rdd + 2.0 * removed * inner / cube * rd + removed * along * r,
        # inverse of the velocity's map, which is eta across r and 1 along it
        tau - removed / (eta * cube) * np.cross(r, np.cross(r, tau)),
    )


@dataclass(frozen=True)
class ReachCone:
    """Limit of a spherical joint: the angle between an axis of the parent and the same axis of the child (eq. 50).

    Attributes:
        axis: unit vector (3,).
        angle: half opening of the cone [rad], in (0, pi].
    """

    axis: Any
    angle: float

    def __post_init__(self) -> None:
        axis = unit_axis(self.axis, "reach cone axis")
        angle = number(self.angle, "reach cone angle", positive=True)
        if angle > np.pi:
            raise ModelError(f"reach cone angle must be at most pi, got {angle:g}")
        object.__setattr__(self, "axis", tuple(float(x) for x in axis))
        object.__setattr__(self, "angle", angle)

    def value(self, r: Any) -> FloatArray:
        """g(r) (...,), not negative inside: cosine of the axis' deflection minus that of the cone's angle (eq. 52)."""
        (r,) = _arrays(r)
        k = _coefficients(r)
        square = (r * r).sum(axis=-1)
        along = r @ np.asarray(self.axis)
        # cos t - cos angle, with cos t from the half angle
        return (1.0 - k.beta[..., 0] * square) + k.beta[..., 0] * along**2 - np.cos(self.angle)

    def gradient(self, r: Any) -> FloatArray:
        """dg/dr (..., 3), the direction of the limit's impulse (eq. 60)."""
        (r,) = _arrays(r)
        k = _coefficients(r)
        along = (r @ np.asarray(self.axis))[..., None]
        scale = (k.beta**2 - k.alpha * k.gamma) * along**2 + k.alpha
        return 2.0 * k.beta * along * np.asarray(self.axis) - scale * r
