"""Passive cords, such as ligaments: laws of a path's length and speed without states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..joints import Function
from ..kernels.muscles import hill_layout
from ..validation import truth
from .force_law import ForceLaw


@dataclass(frozen=True)
class Cord(ForceLaw):
    """Pulls with elastic(l) + viscosity(l) l' + damper(l') at a path of length l; pushes where that is negative.

    An excitation has no effect.

    Attributes:
        elastic: force by the length [N], a function of ``joints`` whose integral from 0 is the stored energy.
        viscosity: damping coefficient by the length [N s/m]. damper: force by the speed [N]. None: none.
        lengthening_only: whether the viscosity acts only while the path lengthens.
    """

    elastic: Function
    viscosity: Function | None = None
    damper: Function | None = None
    lengthening_only: bool = False
    type: ClassVar[str] = "cord"

    def __post_init__(self) -> None:
        for name, value in (
            ("elastic", self.elastic),
            ("viscosity", self.viscosity),
            ("damper", self.damper),
        ):
            if not isinstance(value, Function) and (value is not None or name == "elastic"):
                raise ModelError(f"{name} of a cord must be a function of physics.joints, got {value!r:.80}")
        object.__setattr__(self, "lengthening_only", truth(self.lengthening_only, "lengthening_only"))
        object.__setattr__(self, "record", self.record)  # raises now if the energy has no closed form

    @cached_property
    def record(self) -> FloatArray:
        head = np.zeros(hill_layout.CORD_FUNCTIONS)
        head[[hill_layout.LAW_KIND, hill_layout.CORD_ONE_WAY]] = hill_layout.CORD, self.lengthening_only
        parts = [head]
        functions = (
            (hill_layout.CORD_ELASTIC, self.elastic.integral("elastic of a cord")),
            (hill_layout.CORD_VISCOSITY, None if self.viscosity is None else self.viscosity.data()),
            (hill_layout.CORD_DAMPER, None if self.damper is None else self.damper.data()),
        )
        for place, data in functions:
            if data is not None:
                head[place] = sum(map(len, parts))
                parts.append(data)
        return np.concatenate(parts)
