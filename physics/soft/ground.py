"""Deformable ground under a soft body, and shapes of bodies that push it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..forces.base import POSE, checked_name
from ..forces.elements import SMOOTH_SPEED
from ..geometry.immutable import ReadOnlyArrays
from ..registry import described
from ..validation import NOT_NEGATIVE, POSITIVE, check_fields, finite_array, float_array, listed, near_names


def _plane(value: Any, name: str) -> FloatArray | None:
    found: FloatArray | None = None if value is None else POSE["check"](value, name)
    return found


def _points(value: Any, name: str) -> FloatArray | None:
    return None if value is None else finite_array(value, (len(float_array(value, name)), 3), name)


def _names(value: Any, name: str) -> tuple[str, ...]:
    return tuple(checked_name(each, "collider") for each in listed(value, name))


@dataclass(frozen=True, eq=False)
class NodeGround(ReadOnlyArrays):
    """Pushes points of a soft body out of a deformable plane of the world, and out of colliders.

    A point at depth delta is pushed by stiffness delta (1 + dissipation d(delta)/dt), unless that is negative (Hunt &
    Crossley 1975), which is continuous where it touches; sliding meets friction times the push. A body that carries a
    collider takes the opposite force. At rest a point that bears the force P is P / stiffness deep; one with the mass m
    that falls freely at speed v goes v sqrt(m / stiffness) deep at most, and what it bears.

    Attributes:
        stiffness: [N/m] a point. dissipation: [s/m].
        friction: coefficient; with a collider the geometric mean of both.
        radius: distance from the surface at which a point touches it [m]; a collider adds its margin.
        smooth_speed: sliding speed below which friction rises smoothly [m/s].
        plane: pose in the world (4, 4); its z axis is the normal. Without it the plane z = 0, but none with colliders.
        colliders: names; of planes, spheres, capsules, boxes and height fields.
        points: (k, 3) [m], in the world as the nodes, such as vertices of a fine mesh: these touch, not the nodes, and
            hand their forces on to the nodes of their tetrahedra.
    """

    stiffness: float = field(metadata=POSITIVE)
    dissipation: float = field(default=0.0, metadata=NOT_NEGATIVE)
    friction: float = field(default=0.0, metadata=NOT_NEGATIVE)
    radius: float = field(default=0.0, metadata=NOT_NEGATIVE)
    smooth_speed: float = field(default=SMOOTH_SPEED, metadata=POSITIVE)
    plane: FloatArray | None = field(default=None, metadata={"check": _plane})
    colliders: tuple[str, ...] = field(default=(), metadata={"check": _names})
    points: FloatArray | None = field(default=None, metadata={"check": _points})

    def to_dict(self) -> dict[str, Any]:
        """JSON-able argument of `ModelBuilder.add_soft_body`."""
        return {key: value for key, value in described(self).items() if value is not None}


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
    plane = value.get("plane")
    if plane is None and not value.get("colliders"):
        plane = np.eye(4)
    ground = NodeGround(**{**value, "plane": plane})
    check_fields(ground, f" of the ground of {what}")
    return ground.lock()
