"""Common parts of force elements: checked values that pack themselves into rows for the kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar, TypeVar

import numpy as np

from .. import registry
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..geometry.immutable import ReadOnlyArrays
from ..kernels import layout
from ..validation import finite_array, number, unit_axis

Made = TypeVar("Made", bound="ForceElement")
# metadata of fields
POINT = {"check": lambda value, name: finite_array(value, (3,), name)}
POSE = {"check": lie.frame_or_identity}  # None: the identity
AXIS = {"check": unit_axis}
POSITIVE = {"check": partial(number, positive=True)}
NOT_NEGATIVE = {"check": partial(number, not_negative=True)}


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
    """Base of forces and controllers, dataclasses whose `body`, and `other` if any, are indices of bodies.

    `make_force` checks the value of each other field by the "check" of its metadata, a function of the value and of its
    name in errors that returns the checked value. Not all numbers that `needs_some` names may be 0.
    """

    what: ClassVar[str] = "force"
    needs_some: ClassVar[tuple[str, ...]] = ()

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """JSON-able description; names are those of the model's bodies."""
        values = registry.to_dict(self) if hasattr(self, "type") else registry.described(self)
        for key in {"body", "other"} & values.keys():
            values[key] = None if values[key] < 0 else names[values[key]]
        return values


def make_force(kind: type[Made], name: Any, index: Mapping[str, int], values: Mapping[str, Any]) -> Made:
    """Check all values and make the force; ModelError names force, thing and value. index: of bodies by name."""
    of = f"of {kind.what} {checked_name(name, kind.what)!r}"
    if "other" in values:
        places = dict(zip(("body", "other"), body_pair(values, index, of, "both ends")))
    else:
        places = {"body": body_index(values["body"], index, f"body {of}")}
    checks = {each.name: each.metadata.get("check") for each in fields(kind)}  # type: ignore[arg-type]
    checked = {key: check(values[key], f"{key} {of}") for key, check in checks.items() if check is not None}
    if kind.needs_some and not any(np.any(checked[key]) for key in kind.needs_some):
        raise ModelError(f"{' and '.join(kind.needs_some)} {of} are both zero: it would do nothing")
    made: Callable[..., Made] = kind
    return made(name=name, **places, **checked).lock()


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
