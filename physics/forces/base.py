"""Common parts of force elements: checked values that pack themselves into rows for the kernels."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from .. import registry
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..geometry.immutable import ReadOnlyArrays
from ..kernels import layout
from ..validation import check_fields, unit_axis, vector

Made = TypeVar("Made", bound="ForceElement")


def checked_name(name: Any, what: str) -> str:
    if not isinstance(name, str) or not name:
        raise ModelError(f"a {what}'s name must be a string that is not empty, got {name!r}")
    return name


def new_name(name: Any, what: str, *known: Container[str]) -> str:
    """A checked name that nothing known has."""
    if any(checked_name(name, what) in names for names in known):
        raise ModelError(f"there is {'an' if what[0] in 'aeiou' else 'a'} {what} named {name!r} already")
    return str(name)


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


def link_points(points: FloatArray, body: int, body_frames: Sequence[FloatArray]) -> FloatArray:
    """Points (..., 3) of a body's frame, or of the world (-1), in its link frame."""
    if body < 0:
        return points
    frame = body_frames[body]
    return points @ frame[:3, :3].T + frame[:3, 3]


def link_axes(axes: FloatArray, body: int, body_frames: Sequence[FloatArray]) -> FloatArray:
    """Directions (..., 3) of a body's frame, or of the world (-1), in its link frame."""
    if body < 0:
        return axes
    return axes @ body_frames[body][:3, :3].T


def link_plane(pose: FloatArray, body: int, body_frames: Sequence[FloatArray]) -> FloatArray:
    """Origin and normal (6,) of the x-y plane of a pose (4, 4), likewise."""
    origin, normal = pose[:3, 3], pose[:3, 2]
    return np.concatenate([link_points(origin, body, body_frames), link_axes(normal, body, body_frames)])


# metadata of fields: their check, and what carries them into the link frame of the body or of the other one
VECTOR = vector(3)
POINT: dict[str, Any] = {**VECTOR, "link": ("body", link_points)}
OTHER_POINT: dict[str, Any] = {**VECTOR, "link": ("other", link_points)}
OTHER_AXIS: dict[str, Any] = {"check": unit_axis, "link": ("other", link_axes)}
POSE: dict[str, Any] = {"check": lie.frame_or_identity}  # None: the identity
PLANE: dict[str, Any] = {**POSE, "link": ("other", link_plane)}


@dataclass(frozen=True, eq=False)
class ForceElement(ReadOnlyArrays):
    """Base of forces, controllers and colliders, dataclasses of checked values that pack themselves for the kernels.

    Attributes:
        name: unique among the model's springs and forces. body: index of the body that it acts on.
        other: of the one that gets the opposite wrench, -1 for the world; forces against the world alone have none.
        element: the kernels' number of its kind. row: its numbers in their order; (): all fields in theirs.
        needs_some: numbers that must not all be 0.
    """

    name: str
    body: int
    what: ClassVar[str] = "force"
    element: ClassVar[int]
    row: ClassVar[tuple[str, ...]] = ()
    needs_some: ClassVar[tuple[str, ...]] = ()

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """JSON-able description; names are those of the model's bodies."""
        values = registry.to_dict(self)
        for key in {"body", "other"} & values.keys():
            values[key] = None if values[key] < 0 else names[values[key]]
        return values

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``): a header, then numbers, with places in the link frames."""
        known = {each.name: each.metadata for each in fields(self)}
        ends = {"body": self.body, "other": getattr(self, "other", -1)}
        parts = []
        for key in self.row or [key for key in known if key not in ("name", *ends)]:
            part = getattr(self, key)
            if "link" in known.get(key, ()):
                end, link = known[key]["link"]
                part = link(part, ends[end], body_frames)
            parts.append(part)
        return element_row(self.element, *ends.values(), *parts)


def make_force(
    kind: type[Made], name: Any, index: Mapping[str, int], values: Mapping[str, Any], world: bool = False
) -> Made:
    """Check all values and make the force; ModelError names force, thing and value.

    index: of bodies by name. world: whether its body may be the world.
    """
    of = f"of {kind.what} {checked_name(name, kind.what)!r}"
    if "other" in values:
        places = dict(zip(("body", "other"), body_pair(values, index, of, "both ends")))
    else:
        places = {"body": body_index(values["body"], index, f"body {of}", world=world)}
    given = {each.name: values[each.name] for each in fields(kind)}
    made = kind(**(given | places))
    check_fields(made, f" {of}")
    if kind.needs_some and not any(np.any(getattr(made, key)) for key in kind.needs_some):
        raise ModelError(f"{' and '.join(kind.needs_some)} {of} are both zero: it would do nothing")
    return made.lock()


def element_row(kind: int, body: int, other: int, *parts: Any) -> FloatArray:
    """The row of an element: its header, then its numbers."""
    numbers = np.concatenate([np.ravel(np.asarray(part, dtype=np.float64)) for part in parts])
    return np.concatenate([[kind, body, other, layout.ELEMENT_HEADER + len(numbers)], numbers])
