"""A bushing: springs and dampers on the angles and displacements between two frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..joints.functions import Function, Linear, function_from_dict
from ..kernels import layout
from ..validation import is_sequence, per_coordinate
from .base import ForceElement, body_pair, element_row

MEASURED_IN = ("other", "body")


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
    frame: FloatArray
    other: int
    other_frame: FloatArray
    elastic: tuple[Function, ...]
    damping: FloatArray
    measured_in: str
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


def make_bushing(name: str, bodies: Mapping[str, int], values: Mapping[str, Any]) -> Bushing:
    """Check all values and make the bushing; ModelError names force, thing and value."""
    of = f"of force {name!r}"
    body, other = body_pair(values, bodies, of, "both frames")
    if values["measured_in"] not in MEASURED_IN:
        raise ModelError(f"measured_in {of} must be 'other' or 'body', got {values['measured_in']!r:.80}")
    frames = {key: lie.frame_or_identity(values[key], f"{key} {of}") for key in ("frame", "other_frame")}
    given = values["elastic"]
    if not is_sequence(given) or len(given) != 6:
        raise ModelError(f"elastic {of} must be 6 functions or numbers, got {given!r:.80}")
    elastic = tuple(_function(each, f"elastic[{k}] {of}") for k, each in enumerate(given))
    damping = per_coordinate(values["damping"], 6, f"damping {of}", not_negative=True)
    ends = body, frames["frame"], other, frames["other_frame"]
    return Bushing(name, *ends, elastic, damping, values["measured_in"]).lock()


def _function(given: Any, name: str) -> Function:
    """A function, its description, or a stiffness."""
    if isinstance(given, Mapping):
        return function_from_dict(given)
    if isinstance(given, Function):
        given.integral(name)
        return given
    return Linear(float(per_coordinate(given, 1, name, not_negative=True)[0]))
