"""Damping of a body's motion against the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .._typing import FloatArray
from ..kernels import layout
from .base import NOT_NEGATIVE, POINT, ForceElement, element_row, link_points


@dataclass(frozen=True, eq=False)
class BodyDamping(ForceElement):
    """Moment -angular w and force -linear v at a point of a body with velocity v (Wang 2022, sec. 3.10.1).

    Attributes:
        name: unique among the model's springs and forces.
        body: index of the body.
        point: in the body frame (3,) [m]; the mass centre by default.
        angular: [N m s/rad], not negative. linear: [N s/m], not negative.
    """

    name: str
    body: int
    point: FloatArray = field(metadata=POINT)
    angular: float = field(metadata=NOT_NEGATIVE)
    linear: float = field(metadata=NOT_NEGATIVE)
    type: ClassVar[str] = "body_damping"
    needs_some: ClassVar[tuple[str, ...]] = ("angular", "linear")

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        point = link_points(self.point, self.body, body_frames)
        return element_row(layout.DAMPING_ELEMENT, self.body, -1, point, [self.angular, self.linear])
