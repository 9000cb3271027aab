"""A soft mount of a point of a body in another body or the world: cubic springs with dampers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .._typing import FloatArray
from ..kernels import layout
from ..validation import finite_array, number, unit_axis
from .base import ForceElement, body_pair, element_row, link_axes, link_points


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
    point: FloatArray
    other: int
    other_point: FloatArray
    axis: FloatArray
    stiffness_along: float
    stiffness_across: float
    damping_along: float
    damping_across: float
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


def make_mount(name: str, bodies: Mapping[str, int], values: Mapping[str, Any]) -> Mount:
    """Check all values and make the mount; ModelError names force, thing and value."""
    of = f"of force {name!r}"
    body, other = body_pair(values, bodies, of, "point and axis")
    points = {key: finite_array(values[key], (3,), f"{key} {of}") for key in ("point", "other_point")}
    numbers = {key: number(values[key], f"{key} {of}", not_negative=True) for key in NUMBERS}
    axis = unit_axis(values["axis"], f"axis {of}")
    return Mount(name, body, points["point"], other, points["other_point"], axis, **numbers).lock()
