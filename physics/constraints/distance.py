"""Two points at a distance: a rod, or unilaterally a rope or a strut."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..forces.base import VECTOR
from ..kernels.constraints import layout
from ..muscles.view import ModelView
from ..validation import POSITIVE, one_of
from .base import BODY, OTHER, Constraint, PackedConstraint, index_of, translated

SENSES = ("rod", "rope", "strut")


@dataclass(frozen=True, eq=False)
class DistanceConstraint(Constraint):
    """Keeps the distance of two points equal to (``"rod"``), below (``"rope"``) or above (``"strut"``) a length.

    Attributes:
        body: the body, or its name. point: on it, (3,) in its frame [m].
        other: the other body; None: the world. other_point: (3,) in its frame [m].
        length: [m], positive. sense: ``"rod"``, ``"rope"`` or ``"strut"``.
    """

    body: Any = field(metadata=BODY)
    other: Any = field(default=None, metadata=OTHER)
    point: Any = field(default=(0.0, 0.0, 0.0), metadata=VECTOR)
    other_point: Any = field(default=(0.0, 0.0, 0.0), metadata=VECTOR)
    length: float = field(default=1.0, metadata=POSITIVE)
    sense: str = field(default="rod", metadata=one_of(*SENSES))
    type: ClassVar[str] = "distance"

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
