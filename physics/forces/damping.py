"""Damping of a body's motion against the world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .._typing import FloatArray
from ..bodies.body import Body
from ..errors import ModelError
from ..kernels import layout
from ..validation import finite_array, number
from .base import ForceElement, body_index, element_row, link_points


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
    point: FloatArray
    angular: float
    linear: float
    type: ClassVar[str] = "body_damping"

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        point = link_points(self.point, self.body, body_frames)
        return element_row(layout.DAMPING_ELEMENT, self.body, -1, point, [self.angular, self.linear])


def make_body_damping(
    name: str, numbers: Mapping[str, int], bodies: Sequence[Body], values: Mapping[str, Any]
) -> BodyDamping:
    """Check all values and make the damping; ModelError names force, thing and value."""
    of = f"of force {name!r}"
    body = body_index(values["body"], numbers, f"body {of}")
    angular, linear = (number(values[key], f"{key} {of}", not_negative=True) for key in ("angular", "linear"))
    if not (angular or linear):
        raise ModelError(f"angular and linear {of} are both zero: it would damp nothing")
    point = values["point"]
    point = bodies[body].com.copy() if point is None else finite_array(point, (3,), f"point {of}")
    return BodyDamping(name, body, point, angular, linear).lock()
