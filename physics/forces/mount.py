"""A soft mount of a point of a body in another body or the world: cubic springs with dampers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .._typing import FloatArray
from ..kernels import layout
from .base import AXIS, NOT_NEGATIVE, POINT, ForceElement, element_row, link_axes, link_points


@dataclass(frozen=True, eq=False)
class Mount(ForceElement):
    """Keeps a point of a body near a place in another body, stiffer the farther (Ertl et al. 1993, eqs. 16b, 16c).

    For a displacement s along the axis the force is -(stiffness_along sign(s) |s|^3 + damping_along s'), for t across
    it -(stiffness_across |t|^2 t + damping_across t'), in the frame of the body that carries the axis; that body gets
    the opposite wrench. The stored energy is stiffness_along s^4 / 4 + stiffness_across |t|^4 / 4.

    Attributes:
        name: unique among the model's springs and forces.
        body: index of the body. point: in its frame (3,) [m].
        other: index of the body that carries the axis, -1 for the world. other_point: the place of the point in its
            frame (3,) [m]. axis: (3,) in its frame, of length 1.
        stiffness_along, stiffness_across: [N/m^3], not negative.
        damping_along, damping_across: [N s/m], not negative.
    """

    name: str
    body: int
    point: FloatArray = field(metadata=POINT)
    other: int
    other_point: FloatArray = field(metadata=POINT)
    axis: FloatArray = field(metadata=AXIS)
    stiffness_along: float = field(metadata=NOT_NEGATIVE)
    stiffness_across: float = field(metadata=NOT_NEGATIVE)
    damping_along: float = field(metadata=NOT_NEGATIVE)
    damping_across: float = field(metadata=NOT_NEGATIVE)
    type: ClassVar[str] = "mount"

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        return element_row(
            layout.MOUNT_ELEMENT,
            self.body,
            self.other,
            link_points(self.point, self.body, body_frames),
            link_points(self.other_point, self.other, body_frames),
            link_axes(self.axis, self.other, body_frames),
            [getattr(self, key) for key in NUMBERS],
        )


NUMBERS = ("stiffness_along", "stiffness_across", "damping_along", "damping_across")
