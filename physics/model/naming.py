"""Coordinates by name: one (``"knee.angle"``), or those of a body's joint (``"knee"``)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import name_of
from ..errors import ModelError
from ..muscles.view import ModelView
from ..validation import finite_array, float_array, near_names


def coordinates_of(model: ModelView, name: Any) -> slice:
    """The coordinates with a name: one (``"body.coordinate"``), or those of a body's joint."""
    if name in model.coordinate_names:
        first = model.coordinate_names.index(name)
        return slice(first, first + 1)
    if name not in model.body_names:
        names = [*model.coordinate_names, *model.body_names]
        raise ModelError(f"no coordinate or body is named {name!r}{near_names(name, names)}")
    return model.coordinate_slice(name)


def single_coordinate(model: ModelView, name: Any) -> int:
    """The index of a coordinate, by its name or that of a body with no other one."""
    where = coordinates_of(model, name)
    if where.stop - where.start != 1:
        raise ModelError(f"{name!r} has {where.stop - where.start} coordinates: name one of them")
    return int(where.start)


def coordinate_values(model: ModelView, given: Any, name: str, default: FloatArray) -> FloatArray:
    """Values (nv,) from as many, or from {coordinate or body: value or values} and the default for all others."""
    if given is None:
        return default
    if not isinstance(given, Mapping):
        return finite_array(given, (model.num_coordinates,), name)
    result, set_before = default.copy(), np.zeros(model.num_coordinates, dtype=np.bool_)
    for key, entry in given.items():
        where, called = coordinates_of(model, name_of(key)), f"{name} of {name_of(key)!r}"
        if set_before[where].any():
            raise ModelError(f"{called} is given twice")
        values = np.atleast_1d(float_array(entry, called))
        result[where] = finite_array(values, (where.stop - where.start,), called)
        set_before[where] = True
    return result
