"""A bushing: springs and dampers on the angles and displacements between two frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..joints.functions import Function, Linear, function_from_dict
from ..kernels import layout
from ..validation import chosen, is_sequence, per_coordinate
from .base import POSE, ForceElement, element_row

MEASURED_IN = ("other", "body")


def _functions(value: Any, name: str) -> tuple[Function, ...]:
    if not is_sequence(value) or len(value) != 6:
        raise ModelError(f"{name} must be 6 functions or numbers, got {value!r:.80}")
    return tuple(_function(each, f"{name}, entry {k}") for k, each in enumerate(value))


def _function(given: Any, name: str) -> Function:
    """A function, its description, or a stiffness."""
    if isinstance(given, Mapping):
        return function_from_dict(given)
    if isinstance(given, Function):
        given.integral(name)
        return given
    return Linear(float(per_coordinate(given, 1, name, not_negative=True)[0]))


@dataclass(frozen=True, eq=False)
class Bushing(ForceElement):
    """Holds a frame of a body to one of another by six springs and dampers (Sherman, Seth & Delp 2011).

    They act on the three angles about x, then y, then z of the moving frame that turn the fixed one into it, and on the
    displacements of its origin along the fixed axes. The angles have a gimbal lock at a quarter turn about y.

    Attributes:
        name: unique among the model's springs and forces.
        body: index of the body. other: of the other body, -1 for the world. frame, other_frame: poses (4, 4) in them.
        elastic: moments by the three angles [N m], forces by the three displacements [N]: functions of ``joints``.
        damping: (6,) [N m s/rad, N s/m], not negative.
        measured_in: ``"other"``: its frame is the fixed one; ``"body"``: the body's frame is.
    """

    name: str
    body: int
    frame: FloatArray = field(metadata=POSE)
    other: int
    other_frame: FloatArray = field(metadata=POSE)
    elastic: tuple[Function, ...] = field(metadata={"check": _functions})
    damping: FloatArray = field(
        metadata={"check": lambda value, name: per_coordinate(value, 6, name, not_negative=True)}
    )
    measured_in: str = field(metadata={"check": lambda value, name: chosen(value, MEASURED_IN, name)})
    type: ClassVar[str] = "bushing"

    def packed(self, body_frames: Sequence[FloatArray], inputs: Mapping[str, int]) -> FloatArray:
        """The row for the kernels (``kernels.layout``)."""
        frames = []
        for body, frame in ((self.body, self.frame), (self.other, self.other_frame)):
            pose = frame if body < 0 else body_frames[body] @ frame
            frames.append(np.concatenate([pose[:3, :3].ravel(), pose[:3, 3]]))
        records = [each.integral("elastic of a bushing") for each in self.elastic]
        places = layout.BUSHING_HEADER + np.cumsum([0, *map(len, records[:-1])])
        turned = [float(self.measured_in == "body")]
        parts = (*frames, turned, self.damping, places, np.concatenate(records))
        return element_row(layout.BUSHING_ELEMENT, self.body, self.other, *parts)
