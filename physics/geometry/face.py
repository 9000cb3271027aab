"""Public face of `lie`, `splines` and `exponential_coordinates`: their functions with checks of all arguments.

Inside the package the functions are called without them.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..validation import all_finite, finite_array, float_array, instance, number, rising, truth, whole_number
from . import exponential_coordinates as plain_coordinates
from . import lie as plain_lie
from . import splines as plain_splines

Check = Callable[[Any, str], Any]
MOST_CONTROL, MOST_ORDER = 10**6, 64  # beyond any use; tables of more might not fit into memory


def _ending(*tail: int, rows: bool = False) -> Check:
    """A check of arrays (..., *tail), or with rows (n, ..., *tail), n > 0."""

    def check(value: Any, name: str) -> FloatArray:
        array = float_array(value, name)
        given, least = array.shape[array.ndim - len(tail) :], len(tail) + rows
        if given != tail or array.ndim < least or (rows and not array.size):
            shape = ", ".join([*(["n"] if rows else []), "...", *map(str, tail)])
            raise ModelError(f"{name} must have shape ({shape}), got {array.shape}")
        return all_finite(array, name)

    return check


def _row(value: Any, name: str) -> FloatArray:
    """A check of arrays (n,) with n > 0."""
    return finite_array(_ending(rows=True)(value, name), (np.size(value),), name)


def _quaternions(value: Any, name: str) -> FloatArray:
    array: FloatArray = _ending(4)(value, name)
    if not array.any(axis=-1).all():
        raise ModelError(f"{name} must not be 0: it is no rotation")
    return array


def _whole(least: int, most: int) -> Check:
    return lambda value, name: whole_number(value, name, least, most)


def _text(value: Any, name: str) -> str:
    return instance(value, str, name)


VECTOR, TWIST, POSE, ROTATION = _ending(3), _ending(6), _ending(4, 4), _ending(3, 3)
LIE: dict[str, Check] = {
    **dict.fromkeys(("w", "r", "com"), VECTOR),
    **dict.fromkeys(("matrix", "rotation", "inertia"), ROTATION),
    "twist": TWIST,
    "pose": POSE,
    "quaternion": _quaternions,
    "quaternions": _ending(4, rows=True),
    "vectors": _ending(3, rows=True),
    "mass": _ending(),
    "name": _text,
}
SPLINES: dict[str, Check] = {
    "num_control": _whole(1, MOST_CONTROL),
    "order": _whole(2, MOST_ORDER),
    "derivative": _whole(0, MOST_ORDER),
    **dict.fromkeys(("start", "end", "period"), number),
    **dict.fromkeys(("knots", "q"), _row),
    "parameters": rising,
    "periodic": truth,
    "name": _text,
}
COORDINATES: dict[str, Check] = dict.fromkeys(("r", "rd", "rdd", "w", "wd", "tau"), VECTOR)


def _fit_together(name: str, given: Mapping[str, Any]) -> None:
    """ModelError if arguments do not suit each other, each of which is valid by itself."""
    if "knots" in given and len(given["knots"]) < 2 * given["order"]:
        least, count = 2 * given["order"], len(given["knots"])
        raise ModelError(f"knots of order {given['order']} must be at least {least}, got {count}")
    if "knots" in given and name != "check_knots":
        plain_splines.check_knots(given["knots"], given["order"], False, "knots")
    if "order" in given:
        return
    tails = {"mass": 0, "inertia": 2}
    arrays = {key: value for key, value in given.items() if isinstance(value, np.ndarray)}
    batches = [value.shape[: value.ndim - tails.get(key, 1)] for key, value in arrays.items()]
    try:
        np.broadcast_shapes(*batches)
    except ValueError as error:
        raise ModelError(f"arguments of {name} must have batches of one shape, got {batches}") from error


def _checked(function: Callable[..., Any], checks: Mapping[str, Check]) -> Callable[..., Any]:
    """The function with a check of each argument."""
    signature = inspect.signature(function)

    @wraps(function)
    def checked(*positional: Any, **named: Any) -> Any:
        bound = signature.bind(*positional, **named)
        for name, value in bound.arguments.items():
            if name in checks:
                bound.arguments[name] = checks[name](value, name)
        _fit_together(function.__name__, bound.arguments)
        return function(*bound.args, **bound.kwargs)

    return checked


def _face(module: ModuleType, checks: Mapping[str, Check]) -> ModuleType:
    face = ModuleType(module.__name__, module.__doc__)
    for name, value in vars(module).items():
        own = inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_")
        if name not in vars(face):
            setattr(face, name, _checked(value, checks) if own else value)
    return face


lie = _face(plain_lie, LIE)
splines = _face(plain_splines, SPLINES)
exponential_coordinates = _face(plain_coordinates, COORDINATES)
