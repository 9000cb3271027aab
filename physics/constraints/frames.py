"""Loops closed by a point, a hinge or a weld, which lock components of one frame in another (Wang 2022, secs. 3.11.1
and 4.6.4). `ModelBuilder.add_loop_joint` closes a loop by any other joint.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..forces.base import POSE, VECTOR
from ..kernels.constraints import layout
from ..muscles.view import ModelView
from .base import BODY, OTHER, Constraint, PackedConstraint, index_of, translated


@dataclass(frozen=True, eq=False)
class PointConstraint(Constraint):
    """Keeps a point of one body on a point of another, or of the world: a ball joint that closes a loop.

    Attributes:
        body: the body, or its name. point: on it, (3,) in its frame [m].
        other: the other body; None: the world. other_point: (3,) in its frame [m].
    """

    body: Any = field(metadata=BODY)
    other: Any = field(default=None, metadata=OTHER)
    point: Any = field(default=(0.0, 0.0, 0.0), metadata=VECTOR)
    other_point: Any = field(default=(0.0, 0.0, 0.0), metadata=VECTOR)
    type: ClassVar[str] = "point"

    @property
    def num_rows(self) -> int:
        return 3

    def packed(self, model: ModelView) -> PackedConstraint:
        return PackedConstraint(
            layout.FRAMES,
            index_of(model, self.body),
            index_of(model, self.other),
            rows=3,
            locks=layout.POINT_LOCKS,
            frame=translated(self.point),
            other_frame=translated(self.other_point),
        )


@dataclass(frozen=True, eq=False)
class FrameConstraint(Constraint):
    """Base of the constraints between a frame of `body` and one of `other`.

    Attributes:
        body: the body, or its name. frame: on it, (4, 4) in its frame, the identity if not given.
        other: the other body; None: the world. other_frame: (4, 4) in its frame.
    """

    body: Any = field(metadata=BODY)
    other: Any = field(default=None, metadata=OTHER)
    frame: Any = field(default=None, metadata=POSE)
    other_frame: Any = field(default=None, metadata=POSE)
    locks: ClassVar[int]

    @property
    def num_rows(self) -> int:
        return self.locks.bit_count()

    def packed(self, model: ModelView) -> PackedConstraint:
        return PackedConstraint(
            layout.FRAMES,
            index_of(model, self.body),
            index_of(model, self.other),
            rows=self.num_rows,
            locks=self.locks,
            frame=self.frame,
            other_frame=self.other_frame,
        )


@dataclass(frozen=True, eq=False)
class HingeConstraint(FrameConstraint):
    """Keeps origins and z axes of two frames together: a hinge that closes a loop. Attributes as `FrameConstraint`."""

    type: ClassVar[str] = "hinge"
    locks: ClassVar[int] = layout.POINT_LOCKS | 24


@dataclass(frozen=True, eq=False)
class WeldConstraint(FrameConstraint):
    """Keeps two frames together. Attributes as `FrameConstraint`."""

    type: ClassVar[str] = "weld"
    locks: ClassVar[int] = layout.ALL_LOCKS
