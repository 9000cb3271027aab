"""Targets move a point or a frame of a body along a prescribed motion. Only a run gives them coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.body import name_of
from ..errors import ModelError
from ..forces.base import POSE, VECTOR
from ..geometry import lie
from ..geometry.immutable import ReadOnlyArrays
from ..joints import Free, Joint, Planar, PlanarTranslation, Translational
from ..registry import described
from ..validation import TRUTH, check_fields, optional
from .base import Constraint
from .frames import PointConstraint, WeldConstraint
from .packing import ConstraintArrays


class ConstraintRows:
    """The rows of a model's constraints, and of its targets."""

    constraints: Mapping[str, Constraint]
    targets: Mapping[str, MotionTarget]
    _constraint_arrays: ConstraintArrays

    @property
    def constraint_arrays(self) -> ConstraintArrays:
        """Constraints for the kernels, with a new workspace for each caller: threads share a model."""
        con_int, con_float, con_data, marked, workspace = self._constraint_arrays
        work, dof, flags = workspace
        own = np.zeros_like(work), np.zeros_like(dof), np.zeros_like(flags)
        return con_int, con_float, con_data, marked, own

    @cached_property
    def constraint_slices(self) -> dict[str, slice]:
        """The slice of each constraint's rows among all rows."""
        return _slices(self.constraints)

    @property
    def num_constraint_rows(self) -> int:
        """Number of scalar constraints, other than joints."""
        return sum(constraint.num_rows for constraint in self.constraints.values())

    @cached_property
    def force_slices(self) -> dict[str, slice]:
        """The slices of constraints, and of targets behind them, among the forces of a `Result`."""
        return _slices({**self.constraints, **{name: each.constraint for name, each in self.targets.items()}})

    @property
    def num_force_rows(self) -> int:
        """Number of forces of constraints and targets."""
        return max((where.stop for where in self.force_slices.values()), default=0)


def _slices(constraints: Mapping[str, Constraint]) -> dict[str, slice]:
    slices, first = {}, 0
    for name, constraint in constraints.items():
        slices[name] = slice(first, first + constraint.num_rows)
        first += constraint.num_rows
    return slices


@dataclass(frozen=True, eq=False)
class MotionTarget(ReadOnlyArrays):
    """A place in the world that leads a point or a frame of a body (Wang 2022, sec. 4.6.5, maximal coordinates).

    Attributes:
        name: of the motion that it follows. body: the body that it leads.
        point: (3,) in the frame of the body [m], or None. frame: (4, 4) in that frame, or None.
        at: pose in the world (4, 4) of the frame in which it moves. planar: whether it moves in the x-y plane of that.
    """

    name: str
    body: Any = field(metadata={"check": lambda value, name: name_of(value)})
    point: Any = field(default=None, metadata=optional(VECTOR))
    frame: Any = field(default=None, metadata=optional({"check": lie.check_frame}))
    at: Any = field(default=None, metadata=POSE)
    planar: bool = field(default=False, metadata=TRUTH)

    def __post_init__(self) -> None:
        of = f"target {self.name!r}"
        if (self.point is None) == (self.frame is None):
            raise ModelError(f"{of} needs either a point or a frame of the body")
        check_fields(self, f" of {of}")
        self.lock()

    @property
    def joint(self) -> Joint:
        """How it moves: its coordinates are the values of its motion."""
        if self.frame is None:
            return PlanarTranslation() if self.planar else Translational()
        return Planar() if self.planar else Free()

    @property
    def constraint(self) -> Constraint:
        """What attaches the point or the frame to it."""
        if self.frame is None:
            return PointConstraint(self.body, self.name, point=self.point)
        return WeldConstraint(self.body, self.name, frame=self.frame)

    def coordinates(self, pose: FloatArray) -> FloatArray:
        """Its coordinates where the point or frame is, if the body has this pose (4, 4)."""
        moved = lie.inverse(self.at) @ pose @ (np.eye(4) if self.frame is None else self.frame)
        if self.frame is None:
            return (moved @ [*self.point, 1.0])[: 2 if self.planar else 3]
        if self.planar:
            return np.array([*moved[:2, 3], np.arctan2(moved[1, 0], moved[0, 0])])
        return np.concatenate([moved[:3, 3], lie.so3_log(moved[:3, :3])])

    def to_dict(self) -> dict[str, Any]:
        """JSON-able arguments of `ModelBuilder.add_target`, without those that are None."""
        return {key: value for key, value in described(self).items() if value is not None}
