"""A wrench (moment and force) at a point of a body, of constant magnitude or following an input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from .._typing import FloatArray
from ..kernels import layout
from ..validation import chosen, number
from .base import POINT, ForceElement, element_row, link_axes, link_points

AXES = ("world", "body")


def _magnitude(value: Any, name: str) -> float | str:
    return value if isinstance(value, str) else number(value, name)


@dataclass(frozen=True, eq=False)
class Wrench(ForceElement):
    """magnitude times a moment and a force at a point of a body (Wang 2022, sec. 3.10.2).

    A force of constant magnitude and direction in the world stores the energy -magnitude force . x (Wang 2022, eq.
    3.30, 0 at the world's origin). Moments, forces that turn with the body, and those that follow an input store none.

    Attributes:
        name: unique among the model's springs and forces.
        body: index of the body.
        point: where the force acts, in the body frame (3,) [m].
        moment, force: (3,) [N m, N for each unit of magnitude].
        axes: ``"world"``, or ``"body"``: both turn with the body.
        magnitude: a number, or the name of the model's input that it follows.
    """

    name: str
    body: int
    point: FloatArray = field(metadata=POINT)
    moment: FloatArray = field(metadata=POINT)
    force: FloatArray = field(metadata=POINT)
    axes: str = field(metadata={"check": lambda value, name: chosen(value, AXES, name)})
    magnitude: float | str = field(metadata={"check": _magnitude})
    type: ClassVar[str] = "wrench"
    needs_some: ClassVar[tuple[str, ...]] = ("moment", "force")

    @property
    def stores_all(self) -> bool:
        """Whether its stored energy accounts for all of its work."""
        return self.axes == "world" and not isinstance(self.magnitude, str) and not self.moment.any()

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        owner = self.body if self.axes == "body" else -1
        follows = isinstance(self.magnitude, str)
        return element_row(
            layout.WRENCH_ELEMENT,
            self.body,
            -1,
            link_points(self.point, self.body, body_frames),
            link_axes(self.moment, owner, body_frames),
            link_axes(self.force, owner, body_frames),
            [
                float(self.axes == "body"),
                0.0 if follows else self.magnitude,
                inputs[self.magnitude] if isinstance(self.magnitude, str) else -1,
            ],
        )
