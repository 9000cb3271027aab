"""Checks of input, shared by joints and models: one clear error that names the thing and its value."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import FloatArray
from .errors import ModelError


def finite_array(value: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    """float64 copy of value with exactly this shape; ModelError naming shape or the first entry that is not
    finite.
    """
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{name} must be {shape or 'a number'}, got {value!r}") from error
    if array.shape != shape:
        raise ModelError(f"{name} must have shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        index = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ModelError(f"{name} must be finite, got {array[index]} at {list(index)}")
    return array


def number(value: Any, name: str, *, positive: bool = False, not_negative: bool = False) -> float:
    """A finite float, if asked for positive or not negative; ModelError otherwise."""
    result = float(finite_array(value, (), name))
    if positive and not result > 0.0:
        raise ModelError(f"{name} must be positive, got {result:g}")
    if not_negative and result < 0.0:
        raise ModelError(f"{name} must not be negative, got {result:g}")
    return result


def unit_axis(value: Any, name: str) -> FloatArray:
    """A direction as a unit vector (3,); ModelError where it is zero or not finite."""
    axis = finite_array(value, (3,), name)
    length = float(np.linalg.norm(axis))
    if not length > 1e-12:
        raise ModelError(f"{name} must not be the zero vector, got {axis.tolist()}")
    # a unit vector stays bit for bit, so that files and copies give the same joint again
    return axis if abs(length - 1.0) < 1e-15 else axis / length


def inertia_matrix(value: Any, name: str) -> FloatArray:
    """Rotational inertia (3, 3) about the centre of mass: symmetric, positive definite, within the triangle
    inequality.

    The principal moments of a real body obey a + b >= c; round-off of 1e-9 of the largest is forgiven.
    """
    inertia = finite_array(value, (3, 3), name)
    largest = float(np.abs(inertia).max())
    if float(np.abs(inertia - inertia.T).max()) > 1e-9 * largest:
        raise ModelError(f"{name} must be symmetric, got {inertia.tolist()}")
    moments = np.linalg.eigvalsh(inertia)
    if not moments[0] > 0.0:
        raise ModelError(f"{name} must be positive definite, its principal moments are {moments.tolist()}")
    if moments[0] + moments[1] < moments[2] * (1.0 - 1e-9):
        raise ModelError(
            f"{name} breaks the triangle inequality (a + b >= c), its principal moments are {moments.tolist()}"
        )
    return 0.5 * (inertia + inertia.T)
