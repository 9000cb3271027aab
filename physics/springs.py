"""A spring with a damper between a point of a body and a point of another, or of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._typing import FloatArray
from .errors import ModelError
from .immutable import ReadOnlyArrays
from .validation import finite_array, number


@dataclass(frozen=True, eq=False)
class Spring(ReadOnlyArrays):
    """Pulls its ends together with stiffness (length - rest_length) + damping d(length)/dt (Wang 2022, sec. 3.10.3).

    Attributes:
        name: unique among the model's springs.
        body, other: indices of the bodies that it joins; other is -1 for the world.
        point, other_point: its ends in their body frames (3,) [m].
        stiffness: [N/m], not negative. damping: [N s/m], not negative. rest_length: [m], not negative.
    """

    name: str
    body: int
    point: FloatArray
    other: int
    other_point: FloatArray
    stiffness: float
    damping: float
    rest_length: float

    def to_dict(self, names: tuple[str, ...]) -> dict[str, Any]:
        """JSON-able description; names are those of the model's bodies."""
        return {
            "name": self.name,
            "body": names[self.body],
            "point": self.point.tolist(),
            "other": None if self.other < 0 else names[self.other],
            "other_point": self.other_point.tolist(),
            "stiffness": self.stiffness,
            "damping": self.damping,
            "rest_length": self.rest_length,
        }

    def packed(self, body_frames: list[FloatArray]) -> FloatArray:
        """The row that the kernels read, its points carried to the link frames (see ``kernels.springs``)."""

        def end(body: int, point: FloatArray) -> list[float]:
            if body >= 0:
                point = body_frames[body][:3, :3] @ point + body_frames[body][:3, 3]
            return [body, *point]

        row = [
            *end(self.body, self.point),
            *end(self.other, self.other_point),
            self.stiffness,
            self.damping,
            self.rest_length,
        ]
        return np.array(row, dtype=np.float64)


SPRING_KEYS = ("name", "body", "point", "other", "other_point", "stiffness", "damping", "rest_length")


def make_spring(name: Any, index: Mapping[str, int], values: Mapping[str, Any]) -> Spring:
    """Check everything and make the spring; ModelError names spring, thing and value."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"a spring's name must be a string that is not empty, got {name!r}")
    of = f"of spring {name!r}"
    ends = {}
    for key in ("body", "other"):
        body = values[key]
        if body is None and key == "other":
            ends[key] = -1
        elif not isinstance(body, str) or body not in index:
            raise ModelError(f"{key} {of} is missing: {body!r}; add bodies first")
        else:
            ends[key] = index[body]
    if ends["body"] == ends["other"]:
        raise ModelError(f"both ends {of} are on body {values['body']!r}: it would move nothing")
    numbers = {}
    for key in ("stiffness", "damping", "rest_length"):
        numbers[key] = number(values[key], f"{key} {of}")
        if numbers[key] < 0.0:
            raise ModelError(f"{key} {of} must not be negative, got {numbers[key]:g}")
    points = {key: finite_array(values[key], (3,), f"{key} {of}") for key in ("point", "other_point")}
    spring = Spring(name, ends["body"], points["point"], ends["other"], points["other_point"], **numbers)
    spring.lock()
    return spring
