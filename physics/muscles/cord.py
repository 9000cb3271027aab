"""Passive cords, such as ligaments: laws of a path's length and speed without states."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..joints import Function
from ..joints.functions import record_with
from ..kernels.muscles import hill_layout
from ..validation import TRUTH, of_kind, optional
from .force_law import ForceLaw

FUNCTION = of_kind(Function)


@dataclass(frozen=True)
class Cord(ForceLaw):
    """Pulls with elastic(l) + viscosity(l) l' + damper(l') at a path of length l; pushes where that is negative.

    An excitation has no effect.

    Attributes:
        elastic: force by the length [N], a function of ``joints`` whose integral from 0 is the stored energy.
        viscosity: damping coefficient by the length [N s/m]. damper: force by the speed [N]. None: none.
        lengthening_only: whether the viscosity acts only while the path lengthens.
    """

    elastic: Function = field(metadata=FUNCTION)
    viscosity: Function | None = field(default=None, metadata=optional(FUNCTION))
    damper: Function | None = field(default=None, metadata=optional(FUNCTION))
    lengthening_only: bool = field(default=False, metadata=TRUTH)
    type: ClassVar[str] = "cord"
    of: ClassVar[str] = " of a cord"

    @cached_property
    def record(self) -> FloatArray:
        head = np.zeros(hill_layout.CORD_FUNCTIONS)
        head[[hill_layout.LAW_KIND, hill_layout.CORD_ONE_WAY]] = hill_layout.CORD, self.lengthening_only
        functions = {
            hill_layout.CORD_ELASTIC: self.elastic.integral("elastic of a cord"),
            hill_layout.CORD_VISCOSITY: None if self.viscosity is None else self.viscosity.data(),
            hill_layout.CORD_DAMPER: None if self.damper is None else self.damper.data(),
        }
        return record_with(head, functions)
