"""Deformable ground under points of a body."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..kernels import layout
from ..validation import finite, number
from .base import NOT_NEGATIVE, POSE, POSITIVE, ForceElement, element_row, link_axes, link_points

# Default sliding speed [m/s] below which friction rises smoothly.
SMOOTH_SPEED = 0.01


def _points(value: Any, name: str) -> FloatArray:
    points = np.atleast_2d(finite(value, name))
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise ModelError(f"{name} must have shape (n, 3), n >= 1, got {points.shape}")
    return points


def _exponent(value: Any, name: str) -> float:
    exponent = number(value, name)
    if exponent < 1.0:
        raise ModelError(f"{name} must be at least 1, got {exponent:g}")
    return exponent


@dataclass(frozen=True, eq=False)
class Ground(ForceElement):
    """Pushes points of a body out of a deformable plane (Ertl et al. 1993, eq. 8).

    A point closer to the plane than the radius deforms the ground by delta. The ground pushes back along the plane's
    normal with F = stiffness delta^exponent + damping d(delta)/dt, unless that is negative, and against the sliding
    velocity with friction F. Below smooth_speed friction rises with the speed v as (3 - x^2) x / 2, x = v /
    smooth_speed. The body that carries the plane gets the opposite wrench. The ground stores the energy stiffness
    delta^(exponent + 1) / (exponent + 1).

    Attributes:
        name: unique among the model's springs and forces.
        body: index of the body with the points. other: of the body that carries the plane, -1 for the world.
        points: in the body frame (n, 3) [m]. radius: [m], not negative.
        plane: pose in the frame of `other` (4, 4); its z axis is the normal, its origin lies in the plane.
        stiffness: a [N/m^exponent], positive. exponent: b, at least 1. damping: d [N s/m], not negative.
        friction: mu, not negative. smooth_speed: [m/s], positive.
    """

    name: str
    body: int
    points: FloatArray = field(metadata={"check": _points})
    other: int
    plane: FloatArray = field(metadata=POSE)
    radius: float = field(metadata=NOT_NEGATIVE)
    stiffness: float = field(metadata=POSITIVE)
    exponent: float = field(metadata={"check": _exponent})
    damping: float = field(metadata=NOT_NEGATIVE)
    friction: float = field(metadata=NOT_NEGATIVE)
    smooth_speed: float = field(metadata=POSITIVE)
    type: ClassVar[str] = "ground"

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        return element_row(
            layout.GROUND_ELEMENT,
            self.body,
            self.other,
            link_points(self.plane[:3, 3], self.other, body_frames),
            link_axes(self.plane[:3, 2], self.other, body_frames),
            [self.stiffness, self.exponent, self.damping, self.friction, self.smooth_speed, self.radius],
            [len(self.points)],
            link_points(self.points, self.body, body_frames),
        )
