"""Targets of inverse kinematics: where points and frames on bodies should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body, name_of
from ..errors import FormatError, ModelError
from ..geometry import lie
from ..joints.curve_packing import kernel_poses
from ..kernels.search import layout as rows
from ..model.model import Model
from ..validation import finite_array, float_array, instances, number


@dataclass(frozen=True, eq=False)
class Target:
    """A goal for a point, or a frame, on a body in the world.

    Attributes:
        body: name of the body, or the `Body`.
        position: goal of the point, (3,) [m]; None: anywhere.
        rotation: goal of the frame's axes, (3, 3); None: any.
        at: the point (3,) in the body's frame, or the frame (4, 4) there; None: the body's own.
        position_weight, rotation_weight: of a metre and of a radian in the sum of squares that is minimized; by default
            a radian counts as much as 0.1 m. They matter only if not all goals can be met.
    """

    body: str | Body
    position: Any = None
    rotation: Any = None
    at: Any = None
    position_weight: float = 1.0
    rotation_weight: float = 0.1

    @classmethod
    def pose(cls, body: str | Body, pose: Any, at: Any = None, **weights: float) -> Target:
        """A target for a whole frame: pose (4, 4) in the world."""
        goal = lie.check_frame(pose, f"pose of the target of body {name_of(body)!r}")
        return cls(body, goal[:3, 3], goal[:3, :3], at, **weights)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description; `from_dict` reads it."""
        values: dict[str, Any] = {"body": name_of(self.body)}
        for key in ("position", "rotation", "at"):
            value = getattr(self, key)
            values[key] = None if value is None else np.asarray(value).tolist()
        return values | {"position_weight": self.position_weight, "rotation_weight": self.rotation_weight}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any]) -> Target:
        """The target described by `to_dict`.

        Raises:
            FormatError: a key is unknown, or the body is missing.
        """
        if not isinstance(description, Mapping):
            raise FormatError(f"a target must be an object with a 'body', got {description!r:.80}")
        known = [field.name for field in fields(cls)]
        for key in description:
            if key not in known:
                raise FormatError(f"unknown key {key!r} in a target; known are {known}")
        if "body" not in description:
            raise FormatError("a target lacks the key 'body'")
        return cls(**description)


def target_rows(model: Model, targets: Any) -> FloatArray:
    """Targets as rows for the kernel."""
    wanted = instances([targets] if isinstance(targets, Target) else targets, Target, "targets")
    if not wanted:
        raise ModelError("inverse kinematics needs at least one target, got none")
    table = np.zeros((len(wanted), rows.TARGET_WIDTH))
    for row, target in zip(table, wanted):
        body = name_of(target.body)
        row[rows.TARGET_BODY] = model.index(body)
        name = f"of the target of body {body!r}"
        if target.position is None and target.rotation is None:
            raise ModelError(f"the target of body {body!r} has no goal: give a position or a rotation")
        frame, goal = np.eye(4), np.eye(4)
        place = np.zeros(3) if target.at is None else float_array(target.at, f"at {name}")
        if place.shape == (4, 4):
            frame = lie.check_frame(place, f"at {name}")
        else:
            frame[:3, 3] = finite_array(place, (3,), f"at {name}")
        if target.position is not None:
            goal[:3, 3] = finite_array(target.position, (3,), f"position {name}")
            row[rows.TARGET_POSITION] = number(
                target.position_weight, f"position_weight {name}", positive=True
            )
        if target.rotation is not None:
            turn = np.eye(4)
            turn[:3, :3] = finite_array(target.rotation, (3, 3), f"rotation {name}")
            goal[:3, :3] = lie.check_frame(turn, f"rotation {name}")[:3, :3]
            row[rows.TARGET_ROTATION] = number(
                target.rotation_weight, f"rotation_weight {name}", positive=True
            )
        row[rows.TARGET_FRAME :] = kernel_poses(np.stack([frame, goal])).ravel()
    return table
