"""A spring with a damper between a point of a body and a point of another, or of the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .._typing import FloatArray
from ..kernels import layout
from .base import NOT_NEGATIVE, POINT, ForceElement, element_row, link_points


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
    point: FloatArray = field(metadata=POINT)
    other: int
    other_point: FloatArray = field(metadata=POINT)
    stiffness: float = field(metadata=NOT_NEGATIVE)
    damping: float = field(metadata=NOT_NEGATIVE)
    rest_length: float = field(metadata=NOT_NEGATIVE)
    what: ClassVar[str] = "spring"

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
