"""Targets of inverse kinematics: where points and frames on bodies should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import Body, name_of
from ..errors import ModelError
from ..geometry import lie
from ..joints.curve_packing import kernel_poses
from ..kernels.search import layout as rows
from ..model.model import Model
from ..registry import check_keys
from ..validation import finite_array, float_array, instances, number

# the body's own frame, and a goal that is not set, as the kernel has them
AT_BODY = kernel_poses(np.stack([np.eye(4)] * 2)).ravel()


@dataclass(frozen=True, eq=False)
class Target:
    """A goal for a point, or a frame, on a body in the world.

    Attributes:
        body: name of the body, or the `Body`.
        position: goal of the point, (3,) [m]; None: anywhere. NaN throughout: missing now, `set_goal` may give it.
        rotation: goal of the frame's axes, (3, 3); None: any; NaN throughout: missing now.
        at: the point (3,) in the body's frame, or the frame (4, 4) there; None: the body's own.
        position_weight, rotation_weight: factors of the errors [m] and [rad] before they are squared and summed; by
            default a radian counts as much as 0.1 m. A weight of OpenSim's is the square of ours. They matter only if
            not all goals can be met. With 0 the target counts for nothing.
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
        check_keys(description, [field.name for field in fields(cls)], ["body"], "a target")
        return cls(**description)


def target_rows(model: Model, targets: Any) -> tuple[FloatArray, FloatArray]:
    """Targets as rows for the kernel, and their weights of rotations and positions (n, 2), also of missing goals."""
    wanted = instances([targets] if isinstance(targets, Target) else targets, Target, "targets")
    if not wanted:
        raise ModelError("inverse kinematics needs at least one target, got none")
    table, weights = np.zeros((len(wanted), rows.TARGET_WIDTH)), np.zeros((len(wanted), 2))
    for row, weight, target in zip(table, weights, wanted):
        body = name_of(target.body)
        row[rows.TARGET_BODY] = model.index(body)
        name = f"of the target of body {body!r}"
        if target.position is None and target.rotation is None:
            raise ModelError(f"the target of body {body!r} has no goal: give a position or a rotation")
        row[rows.TARGET_FRAME :] = AT_BODY
        place = None if target.at is None else float_array(target.at, f"at {name}")
        if place is not None and place.shape == (4, 4):
            place = lie.check_frame(place, f"at {name}")
            row[rows.TARGET_FRAME : rows.TARGET_FRAME + 9] = place[:3, :3].ravel()
            place = place[:3, 3]
        if place is not None:
            row[rows.TARGET_FRAME + 9 : rows.TARGET_FRAME + 12] = finite_array(place, (3,), f"at {name}")
        if target.position is not None:
            weight[1] = number(target.position_weight, f"position_weight {name}", not_negative=True)
        if target.rotation is not None:
            weight[0] = number(target.rotation_weight, f"rotation_weight {name}", not_negative=True)
        set_goals(row, weight, target.position, target.rotation, name)
    return table, weights


def set_goals(row: FloatArray, weights: FloatArray, position: Any, rotation: Any, name: str) -> None:
    """Write goals that are not None into a target's row; a missing one (NaN) gets no weight."""
    place = None if position is None else _given(position, (3,), f"position {name}")
    turn = None if rotation is None else _given(rotation, (3, 3), f"rotation {name}")
    if turn is not None and np.isfinite(turn[0, 0]):
        goal = np.eye(4)
        goal[:3, :3] = turn
        turn = lie.check_frame(goal, f"rotation {name}")[:3, :3]
    for wanted, column, first, last in (
        (turn, rows.TARGET_ROTATION, rows.TARGET_GOAL, rows.TARGET_GOAL + 9),
        (place, rows.TARGET_POSITION, rows.TARGET_GOAL + 9, rows.TARGET_WIDTH),
    ):
        if wanted is None:
            continue
        known = bool(np.isfinite(wanted).all())
        row[column] = weights[column - rows.TARGET_ROTATION] if known else 0.0
        if known:
            row[first:last] = wanted.ravel()


def _given(value: Any, shape: tuple[int, ...], name: str) -> FloatArray:
    """A goal's numbers, finite or all NaN."""
    goal = float_array(value, name)
    if goal.shape != shape or not (np.isfinite(goal).all() or np.isnan(goal).all()):
        finite_array(value, shape, name)  # which says what is wrong
    return goal
