"""Contact of a sphere with a half-space by Hertz, Hunt and Crossley."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .._typing import FloatArray
from ..kernels import layout
from .base import NOT_NEGATIVE, POINT, POSE, POSITIVE, ForceElement, element_row, link_axes, link_points

DEPTH_STEEPNESS, SPEED_STEEPNESS = 300.0, 50.0


@dataclass(frozen=True, eq=False)
class SphereContact(ForceElement):
    """Pushes a sphere out of a half-space by stiffness delta^1.5 (1 + 1.5 dissipation delta'), never pulls.

    Friction is that force times (min(v, 1) (mu_d + 2 (mu_s - mu_d) / (1 + v^2)) + viscosity s) for a sliding speed s, v
    = s / transition_speed (Sherman, Seth & Delp 2011). With an offset the force is smooth everywhere (Serrancoli et al.
    2019): delta^2 and s^2 become delta^2 + offset and s^2 + offset, and what would end fades out by hyperbolic
    tangents. Then the stored energy is approximate: 0.4 delta times the force at rest.

    Attributes:
        name: unique among the model's springs and forces.
        body: index of the sphere's body. center: (3,) in its frame [m]. radius: [m], positive.
        other: of the body that carries the half-space, -1 for the world. plane: pose in its frame (4, 4); the z axis is
            the normal out of the half-space.
        stiffness: [N/m^1.5], positive. dissipation: [s/m].
        static_friction, dynamic_friction: without unit. viscous_friction: [s/m]. None negative.
        transition_speed: [m/s], positive.
        depth_share: where the force acts: from the sphere's lowest point (0) to the plane (1).
        offset: [m^2, m^2/s^2], 0: none. depth_steepness: [1/m]. speed_steepness: [s/m].
    """

    name: str
    body: int
    center: FloatArray = field(metadata=POINT)
    radius: float = field(metadata=POSITIVE)
    other: int
    plane: FloatArray = field(metadata=POSE)
    stiffness: float = field(metadata=POSITIVE)
    dissipation: float = field(metadata=NOT_NEGATIVE)
    static_friction: float = field(metadata=NOT_NEGATIVE)
    dynamic_friction: float = field(metadata=NOT_NEGATIVE)
    viscous_friction: float = field(metadata=NOT_NEGATIVE)
    transition_speed: float = field(metadata=POSITIVE)
    depth_share: float = field(metadata=NOT_NEGATIVE)
    offset: float = field(metadata=NOT_NEGATIVE)
    depth_steepness: float = field(metadata=NOT_NEGATIVE)
    speed_steepness: float = field(metadata=NOT_NEGATIVE)
    type: ClassVar[str] = "sphere_contact"

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        head = (self.stiffness, self.dissipation, self.static_friction, self.dynamic_friction)
        tail = (
            self.transition_speed,
            self.offset,
            self.depth_steepness,
            self.speed_steepness,
            self.depth_share,
        )
        return element_row(
            layout.SPHERE_ELEMENT,
            self.body,
            self.other,
            link_points(self.plane[:3, 3], self.other, body_frames),
            link_axes(self.plane[:3, 2], self.other, body_frames),
            [*head, self.viscous_friction, self.radius, 1.0],
            link_points(self.center, self.body, body_frames),
            tail,
        )
