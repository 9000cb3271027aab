"""Shapes of muscles along a motion: paths with a constant number of points, and a tube of constant volume."""

import math
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import CancelledError, ModelError
from ..model.checks import check_flags
from ..model.model import Model
from ..validation import finite_array, float_array, number, whole_number
from .muscle_readings import DRAWN

#: least length of a belly, as a share of that at rest
SHORTEST = 0.2
#: radius of the tendons, as a share of the belly's radius at rest
TENDON = 0.3
# Sampling keeps corners of a path that are sharper than this [rad].
SHARP = math.radians(3.0)


def muscle_curves(
    model: Model, q: Any, count: int = 48, progress: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Points along the paths of all muscles during a motion, a constant number each; corners are included.

    Args:
        q: coordinates (T, nv). count: points of each path, at least 2.
        progress: called with the completed fraction; returning False cancels.

    Returns:
        World points (T, muscles, count, 3) [m], evenly spaced except at corners, and lengths (T, muscles) [m] of the
        polylines, which are chords over obstacles (`muscle_lengths` gives the exact ones).

    Raises:
        ModelError: bad q. CancelledError: `progress` returned False.
    """
    nv, number_of = model.num_coordinates, len(model.muscles)
    rows = float_array(q, "q")
    rows = finite_array(q, (len(rows) if rows.ndim else 0, nv), "q")
    if whole_number(count, "count") < 2:
        raise ModelError(f"count of points of a muscle must be at least 2, got {count}")
    points, lengths = np.zeros((len(rows), number_of, count, 3)), np.zeros((len(rows), number_of))
    still, spaces = np.zeros(nv), model.workspace(moment_arms=True).clear()
    for m, muscle in enumerate(model.muscles):
        places, jacobian = np.zeros((muscle.num_points, 9)), np.zeros((muscle.num_points, 3, nv))
        corners = np.zeros((len(muscle.points) + DRAWN * len(muscle.strands), 3))
        for t, row in enumerate(rows):
            jacobian[:] = 0.0
            found = kernels.muscles.readings.muscle_points(
                model.arrays, row.copy(), still, still, m, DRAWN, places, jacobian, corners, spaces
            )
            points[t, m], lengths[t, m] = sampled(corners[:found], count)
            if progress is not None and t % 64 == 0 and progress((m + t / len(rows)) / number_of) is False:
                raise CancelledError()
    check_flags(model, spaces[2])
    return points, lengths


def sampled(corners: FloatArray, count: int) -> tuple[FloatArray, float]:
    """Points (count, 3) along a polyline (n, 3), including its sharp corners, and its length."""
    steps = np.diff(corners, axis=0)
    sizes = np.linalg.norm(steps, axis=1)
    along = np.concatenate([[0.0], np.cumsum(sizes)])
    length = float(along[-1])
    wanted = np.linspace(0.0, length, count)
    if length > 0.0 and count > 2 and len(corners) > 2:
        units = steps / np.maximum(sizes, 1e-300)[:, None]
        sharp = 1 + np.flatnonzero((units[:-1] * units[1:]).sum(axis=1) < math.cos(SHARP))
        nearest = np.rint(along[sharp] / length * (count - 1)).astype(int)
        inside = (nearest > 0) & (nearest < count - 1)
        wanted[nearest[inside]] = along[sharp][inside]
    found = np.stack([np.interp(wanted, along, corners[:, k]) for k in range(3)], axis=1)
    return found, length


def tube_radii(fractions: Any, lengths: Any, rest_length: float, tendons: Any = (0.15, 0.15)) -> FloatArray:
    """Radii along a muscle with a belly of constant volume, between tendons of constant length and thickness.

    The belly is never shorter than a fifth of its length at rest (fibres shorten to half): on a shorter path it takes
    part of the tendons, and its radius grows by at most 2.4.

    Args:
        fractions: of the length (T, n), at which radii are evaluated. lengths: (T,) [m].
        rest_length: at which the belly's largest radius is 1 [m].
        tendons: their shares of the rest length, at origin and insertion.

    Returns:
        (T, n), in units of the belly's radius at rest.

    Raises:
        ModelError: a length is not positive, or the tendons leave no belly.
    """
    u = float_array(fractions, "fractions")
    lengths = finite_array(lengths, (len(u),), "lengths of a muscle")
    rest = number(rest_length, "rest length of a muscle", positive=True)
    shares = finite_array(tendons, (2,), "shares of the tendons")
    if shares.min() < 0.0 or not shares.sum() < 1.0:
        raise ModelError(f"tendons must leave room for a belly, got shares {shares.tolist()}")
    if not lengths.min() > 0.0:
        raise ModelError(f"lengths of a muscle must be positive, got {lengths.min():g}")
    full = rest * (1.0 - shares.sum())
    belly = np.minimum(np.maximum(lengths - rest * shares.sum(), SHORTEST * full), lengths)[:, None]
    begin = (lengths[:, None] - belly) * (shares[0] / max(shares.sum(), 1e-9))
    v = np.clip((u * lengths[:, None] - begin) / belly, 0.0, 1.0)
    return TENDON + _bulge(np.minimum(full / belly, 1.0 / SHORTEST)) * np.sin(np.pi * v)


def _mean_square() -> float:
    """Mean of the belly's squared radius t + (1 - t) sin(pi v) over v, at rest."""
    t = TENDON
    return t**2 + 4.0 * t * (1.0 - t) / math.pi + 0.5 * (1.0 - t) ** 2


def _bulge(ratio: FloatArray) -> FloatArray:
    """k >= 0 for which the integral of (t + k sin(pi v))^2 over v is `ratio` times that for k = 1 - t."""
    t = TENDON
    wanted = ratio * _mean_square()
    half = 4.0 * t / math.pi
    found: FloatArray = -half + np.sqrt(np.maximum(half**2 - 2.0 * (t**2 - wanted), 0.0))
    return np.maximum(found, 0.0)


def tube_volume(rest_length: float, tendons: Any = (0.15, 0.15)) -> float:
    """Volume of the tube of `tube_radii` at rest [m^3], for a belly with a radius of 1 m."""
    tendon = float(np.sum(tendons))
    return math.pi * rest_length * (tendon * TENDON**2 + (1.0 - tendon) * _mean_square())
