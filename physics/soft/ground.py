"""Deformable ground under the nodes of a soft body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..forces.elements import SMOOTH_SPEED
from ..geometry import lie
from ..geometry.immutable import ReadOnlyArrays
from ..validation import near_names, number


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

    stiffness: float
    dissipation: float
    friction: float
    radius: float
    smooth_speed: float
    plane: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """JSON-able argument of `ModelBuilder.add_soft_body`."""
        return {each.name: np.asarray(getattr(self, each.name)).tolist() for each in fields(self)}

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
    defaults = {"dissipation": 0.0, "friction": 0.0, "radius": 0.0, "smooth_speed": SMOOTH_SPEED}
    numbers = {
        key: number(
            each,
            f"{key} of the ground of {what}",
            positive=key in ("stiffness", "smooth_speed"),
            not_negative=True,
        )
        for key, each in (defaults | dict(value)).items()
        if key != "plane"
    }
    plane = lie.frame_or_identity(value.get("plane"), f"plane of the ground of {what}")
    return NodeGround(plane=plane, **numbers).lock()
