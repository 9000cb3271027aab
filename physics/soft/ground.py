"""Deformable ground under the nodes of a soft body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..forces.base import POSE
from ..forces.elements import SMOOTH_SPEED
from ..geometry.immutable import ReadOnlyArrays
from ..registry import described
from ..validation import NOT_NEGATIVE, POSITIVE, check_fields, near_names


@dataclass(frozen=True, eq=False)
class NodeGround(ReadOnlyArrays):
    """Pushes nodes out of a deformable plane of the world.

    A node at depth delta is pushed by stiffness delta (1 + dissipation d(delta)/dt), unless that is negative (Hunt &
    Crossley 1975), which is continuous where it touches; sliding meets friction times the push.

    Attributes:
        stiffness: [N/m] a node. dissipation: [s/m]. friction: coefficient.
        radius: distance from the plane at which a node touches it [m].
        smooth_speed: sliding speed below which friction rises smoothly [m/s].
        plane: pose in the world (4, 4); its z axis is the normal.
    """

    stiffness: float = field(metadata=POSITIVE)
    dissipation: float = field(default=0.0, metadata=NOT_NEGATIVE)
    friction: float = field(default=0.0, metadata=NOT_NEGATIVE)
    radius: float = field(default=0.0, metadata=NOT_NEGATIVE)
    smooth_speed: float = field(default=SMOOTH_SPEED, metadata=POSITIVE)
    plane: FloatArray = field(default=None, metadata=POSE)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """JSON-able argument of `ModelBuilder.add_soft_body`."""
        return described(self)

    def depths(self, nodes: FloatArray) -> FloatArray:
        """How deep nodes (..., 3) press the ground [m], 0 where they do not."""
        normal = self.plane[:3, 2]
        return np.maximum(self.radius + self.plane[:3, 3] @ normal - nodes @ normal, 0.0)

    def energy(self, nodes: FloatArray) -> FloatArray:
        """What the ground stores under nodes (..., n, 3) [J]."""
        stored: FloatArray = 0.5 * self.stiffness * (self.depths(nodes) ** 2).sum(axis=-1)
        return stored

    @property
    def row(self) -> FloatArray:
        """For the kernels (`kernels.soft.layout`)."""
        normal = self.plane[:3, 2]
        numbers = self.stiffness, self.dissipation, self.friction, self.smooth_speed
        return np.array([*normal, self.plane[:3, 3] @ normal + self.radius, *numbers])


def make_node_ground(value: Any, what: str) -> NodeGround | None:
    """Ground from a mapping of its attributes, of which all but stiffness may be missing; ModelError otherwise."""
    if value is None or isinstance(value, NodeGround):
        return value
    if not isinstance(value, Mapping) or "stiffness" not in value:
        raise ModelError(f"ground of {what} must be {{'stiffness': N/m, ...}}, got {value!r:.80}")
    known = [each.name for each in fields(NodeGround)]
    for key in value:
        if key not in known:
            raise ModelError(f"ground of {what} has no {key!r:.80}{near_names(key, known)}")
    ground = NodeGround(**value)
    check_fields(ground, f" of the ground of {what}")
    return ground.lock()
