"""Base of all constraints: they refer to bodies or coordinates of a model and are packed into rows of the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..bodies.body import name_of
from ..bodies.state import State
from ..errors import ModelError
from ..geometry.immutable import ReadOnlyArrays, Value
from ..joints.base import IDENTITY
from ..joints.curve_packing import kernel_poses
from ..kernels.constraints import layout
from ..muscles.view import ModelView
from ..validation import check_fields, optional


@dataclass(frozen=True, eq=False)
class PackedConstraint:
    """One constraint in the layout of the kernels (see ``kernels.constraints.layout``), with indices of bodies.

    Attributes:
        kind, body, other, locks, rows, sense, length: columns of con_int and con_float.
        frame, other_frame: poses (4, 4) in the frames of the bodies; in the world for index -1.
        data: its part of con_data.
        marked: (body, number of blocks): the first blocks of the body's joint end at a point of contact.
    """

    kind: int
    body: int
    other: int = -1
    rows: int = 1
    locks: int = 0
    sense: int = layout.EQUALITY
    length: float = 0.0
    frame: FloatArray = field(default_factory=lambda: IDENTITY)
    other_frame: FloatArray = field(default_factory=lambda: IDENTITY)
    data: FloatArray = field(default_factory=lambda: np.zeros(0))
    marked: tuple[int, int] | None = None

    @property
    def joins(self) -> bool:
        """Whether it connects two bodies in a point at least, as a joint does."""
        held = self.kind == layout.FRAMES and self.locks & layout.POINT_LOCKS == layout.POINT_LOCKS
        return held and min(self.body, self.other) >= 0

    def float_row(self, body_frames: Sequence[FloatArray]) -> FloatArray:
        """The row of con_float, with frames relative to the link frames."""
        poses = []
        for body, frame in ((self.body, self.frame), (self.other, self.other_frame)):
            pose = frame if body < 0 or self.kind == layout.COUPLING else body_frames[body] @ frame
            poses.append(kernel_poses(pose[None])[0])
        return np.concatenate([*poses, [self.length]])


class Constraint(ReadOnlyArrays, Value):
    """Base of the constraints: frozen dataclasses with a ``type``, validated on construction.

    A constraint keeps its ``value`` at zero, or at zero or above if it is unilateral.
    """

    type: ClassVar[str]
    body: Any

    def __post_init__(self) -> None:
        check_fields(self, f" of a {self._called}")
        if hasattr(self, "other") and self.body == self.other:
            raise ModelError(f"a {self._called} needs two bodies, got {self.body!r} twice")
        self.lock()

    @property
    def num_rows(self) -> int:
        """Number of scalar constraints."""
        return 1

    def packed(self, model: ModelView) -> PackedConstraint:
        """Its layout for the kernels; ModelError if the model lacks a body or coordinate that it names."""
        raise TypeError(f"{type(self).__name__} does not implement packed()")

    def value(self, model: ModelView, state: State) -> FloatArray:
        """Violation (num_rows,) at a state [m, rad].

        Raises:
            ModelError: the model lacks a body or coordinate of the constraint; the state does not belong to the model.
        """
        return self._evaluated(model, state)[0]

    def jacobian(self, model: ModelView, state: State) -> FloatArray:
        """J (num_rows, nv): the rate of the value is J q'."""
        return self._evaluated(model, state)[1]

    def bias(self, model: ModelView, state: State) -> FloatArray:
        """J' q' (num_rows,): the second derivative of the value at zero accelerations of the coordinates."""
        return self._evaluated(model, state)[2]

    def _evaluated(self, model: ModelView, state: State) -> tuple[FloatArray, FloatArray, FloatArray]:
        return model.evaluate_constraints(state, (self,))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constraint) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self.to_dict()))

    @property
    def _called(self) -> str:
        called = self.type.replace("_", " ")
        return called if "connector" in called else f"{called} constraint"


def body_name(body: Any, what: str) -> str:
    """Name of a body; ModelError if it is neither a body nor a name."""
    name = name_of(body)
    if not isinstance(name, str) or not name:
        raise ModelError(f"{what} must be a body or its name, got {body!r:.80}")
    return name


BODY: dict[str, Any] = {"check": body_name}
OTHER = optional(BODY)  # None: the world


def translated(point: FloatArray) -> FloatArray:
    """A frame at a point (3,), with unrotated axes."""
    frame = np.eye(4)
    frame[:3, 3] = point
    return frame


def index_of(model: ModelView, body: str | None) -> int:
    """Index of a body, -1 for the world."""
    return -1 if body is None else model.index(body)
