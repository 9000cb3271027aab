"""Coordinates that follow others: gears, coupled finger joints, OpenSim's coupled coordinates (Wang, sec. 4.6.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import ModelError
from ..joints.functions import Function, Linear, function_from_dict
from ..kernels.constraints import layout
from ..muscles.view import ModelView
from ..validation import near_names, number
from .base import Constraint, PackedConstraint


@dataclass(frozen=True, eq=False)
class CouplingConstraint(Constraint):
    """Keeps a coordinate at a function of a weighted sum of others: q = f(sum of w_j q_j).

    A gear is ``CouplingConstraint("wheel.angle", {"pinion.angle": -0.25})``.

    Attributes:
        coordinate: the dependent one, named as in ``Model.coordinate_names`` (``body.coordinate``).
        drivers: {coordinate: weight} of the independent ones.
        function: f (``joints.functions``), the identity if not given.
    """

    coordinate: str
    drivers: Any
    function: Any = None
    type: ClassVar[str] = "coupling"

    def __post_init__(self) -> None:
        if not isinstance(self.coordinate, str) or not self.coordinate:
            raise ModelError(f"coordinate of a coupling must be a name, got {self.coordinate!r:.80}")
        if not isinstance(self.drivers, Mapping) or not self.drivers:
            raise ModelError(f"coupling drivers must be {{coordinate: weight}}, got {self.drivers!r:.80}")
        drivers = {}
        for name, weight in self.drivers.items():
            if not isinstance(name, str):
                raise ModelError(f"a driver of a coupling must be a name, got {name!r:.80}")
            drivers[name] = number(weight, f"weight of driver {name!r} of a coupling")
        if self.coordinate in drivers:
            raise ModelError(f"coordinate {self.coordinate!r} of a coupling cannot drive itself")
        function = self.function
        if function is None:
            function = Linear()
        elif isinstance(function, Mapping):
            function = function_from_dict(function)
        if not isinstance(function, Function):
            raise ModelError(f"function of a coupling must be one of joints.functions, got {function!r:.80}")
        self._set(drivers=drivers, function=function)

    def packed(self, model: ModelView) -> PackedConstraint:
        pairs = [[coordinate_index(model, name), weight] for name, weight in self.drivers.items()]
        data = np.concatenate([[len(pairs)], np.ravel(pairs), self.function.data()])
        return PackedConstraint(layout.COUPLING, coordinate_index(model, self.coordinate), data=data)


def coordinate_index(model: ModelView, name: str) -> int:
    """Index of a coordinate by name; ModelError if there is none."""
    names = model.coordinate_names
    if name not in names:
        raise ModelError(f"no coordinate is named {name!r}{near_names(name, names)}")
    return names.index(name)
