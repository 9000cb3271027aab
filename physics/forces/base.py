"""Common parts of force elements: checked values that pack themselves into rows for the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import registry
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.immutable import ReadOnlyArrays
from ..kernels import layout

AXES = ("world", "body")


def checked_name(name: Any, what: str) -> str:
    if not isinstance(name, str) or not name:
        raise ModelError(f"a {what}'s name must be a string that is not empty, got {name!r}")
    return name


def body_index(value: Any, index: Mapping[str, int], name: str, *, world: bool = False) -> int:
    """Index of a body by its name; -1 for None if `world` is allowed."""
    if value is None and world:
        return -1
    if not isinstance(value, str) or value not in index:
        raise ModelError(f"{name} is missing: {value!r}; add bodies first")
    return index[value]


def body_pair(values: Mapping[str, Any], index: Mapping[str, int], of: str, ends: str) -> tuple[int, int]:
    """Indices of `body` and `other`, -1 for the world; ModelError if they are missing or one: it would move nothing."""
    body = body_index(values["body"], index, f"body {of}")
    other = body_index(values["other"], index, f"other {of}", world=True)
    if body == other:
        raise ModelError(f"{ends} {of} are on one body {values['body']!r}: it would move nothing")
    return body, other


class ForceElement(ReadOnlyArrays):
    """Base of forces and controllers, dataclasses whose `body`, and `other` if any, are indices of bodies."""

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """JSON-able description; names are those of the model's bodies."""
        values = registry.to_dict(self) if hasattr(self, "type") else registry.described(self)
        for key in {"body", "other"} & values.keys():
            values[key] = None if values[key] < 0 else names[values[key]]
        return values


def link_points(points: FloatArray, body: int, body_frames: Sequence[FloatArray]) -> FloatArray:
    """Points (..., 3) of a body's frame, or of the world (-1), in its link frame."""
    if body < 0:
        return points
    frame = body_frames[body]
    carried: FloatArray = points @ frame[:3, :3].T + frame[:3, 3]
    return carried


def link_axes(axes: FloatArray, body: int, body_frames: Sequence[FloatArray]) -> FloatArray:
    """Directions (..., 3) of a body's frame, or of the world (-1), in its link frame."""
    if body < 0:
        return axes
    turned: FloatArray = axes @ body_frames[body][:3, :3].T
    return turned


def element_row(kind: int, body: int, other: int, *parts: Any) -> FloatArray:
    """The row of an element: its header, then its numbers."""
    numbers = np.concatenate([np.ravel(np.asarray(part, dtype=np.float64)) for part in parts])
    size = layout.ELEMENT_HEADER + len(numbers)
    return np.concatenate([[kind, body, other, size], numbers])
