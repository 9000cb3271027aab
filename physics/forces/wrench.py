"""A wrench (moment and force) at a point of a body, of constant magnitude or following an input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .._typing import FloatArray
from ..errors import ModelError
from ..kernels import layout
from ..validation import finite_array, number
from .base import AXES, ForceElement, body_index, element_row, link_axes, link_points


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
    point: FloatArray
    moment: FloatArray
    force: FloatArray
    axes: str
    magnitude: float | str
    type: ClassVar[str] = "wrench"

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


def make_wrench(
    name: str, bodies: Mapping[str, int], inputs: Mapping[str, Any], values: Mapping[str, Any]
) -> Wrench:
    """Check all values and make the wrench; ModelError names force, thing and value."""
    of = f"of force {name!r}"
    magnitude = values["magnitude"]
    if isinstance(magnitude, str):
        if magnitude not in inputs:
            raise ModelError(f"magnitude {of} follows an unknown input {magnitude!r}; add inputs first")
    else:
        magnitude = number(magnitude, f"magnitude {of}")
    axes = values["axes"]
    if not isinstance(axes, str) or axes not in AXES:
        raise ModelError(f"axes {of} must be 'world' or 'body', got {axes!r:.80}")
    arrays = {key: finite_array(values[key], (3,), f"{key} {of}") for key in ("point", "moment", "force")}
    if not (arrays["moment"].any() or arrays["force"].any()):
        raise ModelError(f"moment and force {of} are both zero: it would move nothing")
    body = body_index(values["body"], bodies, f"body {of}")
    return Wrench(name=name, body=body, axes=axes, magnitude=magnitude, **arrays).lock()
