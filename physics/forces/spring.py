"""A spring with a damper between a point of a body and a point of another, or of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._typing import FloatArray
from ..kernels import layout
from ..validation import finite_array, number
from .base import ForceElement, body_pair, checked_name, element_row, link_points


@dataclass(frozen=True, eq=False)
class Spring(ForceElement):
    """Pulls its ends together with stiffness (length - rest_length) + damping d(length)/dt (Wang 2022, sec. 3.10.3).

    Attributes:
        name: unique among the model's springs and forces.
        body, other: indices of the bodies at its ends; other is -1 for the world.
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

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``), with points in the link frames."""
        return element_row(
            layout.SPRING_ELEMENT,
            self.body,
            self.other,
            link_points(self.point, self.body, body_frames),
            link_points(self.other_point, self.other, body_frames),
            [self.stiffness, self.damping, self.rest_length],
        )


def make_spring(name: Any, index: Mapping[str, int], values: Mapping[str, Any]) -> Spring:
    """Check all values and make the spring; ModelError names spring, thing and value."""
    of = f"of spring {checked_name(name, 'spring')!r}"
    body, other = body_pair(values, index, of, "both ends")
    numbers = {
        key: number(values[key], f"{key} {of}", not_negative=True)
        for key in ("stiffness", "damping", "rest_length")
    }
    points = {key: finite_array(values[key], (3,), f"{key} {of}") for key in ("point", "other_point")}
    return Spring(name, body, points["point"], other, points["other_point"], **numbers).lock()
