"""Two points at a distance: a rod, or unilaterally a rope or a strut."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..kernels.constraints import layout
from ..muscles.view import ModelView
from ..validation import chosen, finite_array, number
from .base import Constraint, PackedConstraint, index_of, translated, two_bodies

SENSES = ("rod", "rope", "strut")


@dataclass(frozen=True, eq=False)
class DistanceConstraint(Constraint):
    """Keeps the distance of two points equal to (``"rod"``), below (``"rope"``) or above (``"strut"``) a length.

    Attributes:
        body: the body, or its name. point: on it, (3,) in its frame [m].
        other: the other body; None: the world. other_point: (3,) in its frame [m].
        length: [m], positive. sense: ``"rod"``, ``"rope"`` or ``"strut"``.
    """

    body: Any
    other: Any = None
    point: Any = (0.0, 0.0, 0.0)
    other_point: Any = (0.0, 0.0, 0.0)
    length: float = 1.0
    sense: str = "rod"
    type: ClassVar[str] = "distance"

    def __post_init__(self) -> None:
        body, other = two_bodies(self.body, self.other, "distance constraint")
        point = finite_array(self.point, (3,), "point of a distance constraint")
        other_point = finite_array(self.other_point, (3,), "other_point of a distance constraint")
        length = number(self.length, "length of a distance constraint", positive=True)
        chosen(self.sense, SENSES, "sense of a distance constraint")
        self._set(body=body, other=other, point=point, other_point=other_point, length=length)
        self.lock()

    def packed(self, model: ModelView) -> PackedConstraint:
        return PackedConstraint(
            layout.DISTANCE,
            index_of(model, self.body),
            index_of(model, self.other),
            sense=layout.EQUALITY if self.sense == "rod" else layout.UNILATERAL,
            length=self.length,
            frame=translated(self.point),
            other_frame=translated(self.other_point),
            data=np.array([-1.0 if self.sense == "rope" else 1.0]),
        )
