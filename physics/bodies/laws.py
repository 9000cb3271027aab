"""Elastic and damping laws of coordinates: functions of their values and velocities."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..joints import Joint
from ..joints.functions import Function, function_from_dict

Laws = tuple[Function | None, ...]
LAWS = ("elastic", "damper", "viscosity")  # a body's fields

# Velocities at which a damper without a table is checked [m/s, rad/s]: from creep to faster than joints move.
LOOKS = np.outer((1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0), (-1.0, 1.0)).ravel()
BETWEEN = np.linspace(0.0, 1.0, 8, endpoint=False)  # shares of the interval between two breaks of a table


def coordinate_functions(value: Any, joint: Joint, name: str) -> Laws:
    """One function or None for each coordinate of a joint; entries may be descriptions of functions.

    Given as one function (joints with one coordinate), {name or index of a coordinate: function}, or a list.
    """
    n = joint.num_coordinates
    result: list[Function | None] = [None] * n
    if value is None:
        return tuple(result)
    if isinstance(value, Function) or (isinstance(value, Mapping) and "type" in value):
        if n != 1:
            raise ModelError(f"{name} must name a coordinate: {', '.join(joint.coordinate_names) or 'none'}")
        value = [value]
    if isinstance(value, Mapping):
        for key, entry in value.items():
            result[_coordinate(key, joint, name)] = _function(entry, f"{name}, coordinate {key!r},")
        return tuple(result)
    if not isinstance(value, list | tuple) or len(value) != n:
        raise ModelError(f"{name} must be functions, one for each of {n} coordinates, got {value!r:.80}")
    return tuple(
        None if entry is None else _function(entry, f"{name}, coordinate {d},")
        for d, entry in enumerate(value)
    )


def _coordinate(key: Any, joint: Joint, name: str) -> int:
    if isinstance(key, str) and key in joint.coordinate_names:
        return joint.coordinate_names.index(key)
    if isinstance(key, int) and not isinstance(key, bool) and 0 <= key < joint.num_coordinates:
        return key
    known = ", ".join(joint.coordinate_names) or "none"
    raise ModelError(f"{name} names an unknown coordinate {key!r}; there are {known}")


def _function(entry: Any, name: str) -> Function:
    if isinstance(entry, Mapping):
        return function_from_dict(dict(entry))
    if not isinstance(entry, Function):
        raise ModelError(f"{name} must be a function of physics.joints, got {entry!r:.80}")
    return entry


def check_elastic(laws: Laws, name: str) -> None:
    """ModelError if the energy of a function has no closed form."""
    for law in laws:
        if law is not None:
            law.integral(name)


def check_dampers(laws: Laws, name: str) -> None:
    """ModelError if a damper has a force at rest, or a force along the motion at a sampled velocity.

    A table is sampled at its breaks and between them, but not beyond its ends.
    """
    for law in laws:
        if law is None:
            continue
        at_rest = float(law(0.0))
        if abs(at_rest) > 1e-12:
            raise ModelError(f"{name} must be 0 at velocity 0, got {at_rest:g}")
        looks = _looks(law)
        for x, y in zip(looks, law(looks)):
            if x * y < -1e-12 * abs(x):
                raise ModelError(f"{name} must resist the motion, got {y:g} at velocity {x:g}")


def check_viscosities(laws: Laws, name: str) -> None:
    """ModelError if a damping coefficient is negative where it is sampled (as for `check_dampers`)."""
    for law in laws:
        if law is not None:
            looks = _looks(law)
            values = law(looks)
            least = int(np.argmin(values))
            if values[least] < -1e-12 * np.abs(values).max():
                raise ModelError(f"{name} must not be negative, got {values[least]:g} at {looks[least]:g}")


def _looks(law: Function) -> FloatArray:
    """Where a law is sampled: a table at its breaks and between them."""
    if not hasattr(law, "x"):
        return LOOKS
    x = np.array(law.x)
    return np.concatenate([x[:-1] + share * np.diff(x) for share in BETWEEN] + [x[-1:]])
