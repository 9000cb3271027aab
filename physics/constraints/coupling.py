"""Coordinates that follow others: gears, coupled finger joints, OpenSim's coupled coordinates (Wang, sec. 4.6.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..joints.functions import Function, Linear, function_from_dict
from ..kernels.constraints import layout
from ..muscles.view import ModelView
from ..validation import near_names, number
from .base import Constraint, PackedConstraint


@dataclass(frozen=True, eq=False)
class CouplingConstraint(Constraint):
    """Keeps a coordinate at a function of a weighted sum of others: q = f(sum of w_j q_j), or at a sum of such terms.

    A gear is ``CouplingConstraint("wheel.angle", {"pinion.angle": -0.25})``.

    Attributes:
        coordinate: the dependent one, named as in ``Model.coordinate_names`` (``body.coordinate``).
        drivers: {coordinate: weight} of the independent ones.
        function: f (``joints.functions``), the identity if not given.
        more: pairs (drivers, function) of further terms, such as those of a polynomial in several coordinates.
    """

    coordinate: str
    drivers: Any
    function: Any = None
    more: Any = ()
    type: ClassVar[str] = "coupling"

    def __post_init__(self) -> None:
        if not isinstance(self.coordinate, str) or not self.coordinate:
            raise ModelError(f"coordinate of a coupling must be a name, got {self.coordinate!r:.80}")
        pairs = isinstance(self.more, list | tuple) and all(
            isinstance(pair, list | tuple) and len(pair) == 2 for pair in self.more
        )
        if not pairs:
            raise ModelError(f"more of a coupling must be pairs (drivers, function), got {self.more!r:.80}")
        drivers, function = self._term(self.drivers, Linear() if self.function is None else self.function)
        more = tuple(self._term(*pair) for pair in self.more)
        vars(self).update(drivers=drivers, function=function, more=more)

    def _term(self, drivers: Any, function: Any) -> tuple[dict[str, float], Function]:
        if not isinstance(drivers, Mapping) or not drivers:
            raise ModelError(f"coupling drivers must be {{coordinate: weight}}, got {drivers!r:.80}")
        for name in drivers:
            if not isinstance(name, str):
                raise ModelError(f"a driver of a coupling must be a name, got {name!r:.80}")
        if self.coordinate in drivers:
            raise ModelError(f"coordinate {self.coordinate!r} of a coupling cannot drive itself")
        if isinstance(function, Mapping):
            function = function_from_dict(function)
        if not isinstance(function, Function):
            raise ModelError(f"function of a coupling must be one of joints.functions, got {function!r:.80}")
        weights = {name: number(w, f"weight of driver {name!r} of a coupling") for name, w in drivers.items()}
        return weights, function

    @property
    def terms(self) -> tuple[tuple[Mapping[str, float], Function], ...]:
        """Drivers and function of each term."""
        return (self.drivers, self.function), *self.more

    def followed(self, names: Sequence[str], q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Value and speed (...) of the coordinate by those of all coordinates (..., nv), which have these names."""
        value = speed = np.zeros(q.shape[:-1])
        for drivers, function in self.terms:
            columns, weights = [names.index(name) for name in drivers], np.array([*drivers.values()])
            at, slope, _ = np.moveaxis(function.derivatives(q[..., columns] @ weights), -1, 0)
            value, speed = value + at, speed + slope * (qd[..., columns] @ weights)
        return value, speed

    def to_dict(self) -> dict[str, Any]:
        whole = super().to_dict()
        return whole if self.more else {key: value for key, value in whole.items() if key != "more"}

    def packed(self, model: ModelView) -> PackedConstraint:
        pairs: list[list[float]] = []
        records: list[FloatArray] = []
        for drivers, function in self.terms:
            pairs += [[coordinate_index(model, name), weight] for name, weight in drivers.items()]
            data = function.data()
            records += [np.array([len(drivers), len(data)]), data]
        data = np.concatenate([[len(pairs)], np.ravel(pairs), *records])
        return PackedConstraint(layout.COUPLING, coordinate_index(model, self.coordinate), data=data)


def coordinate_index(model: ModelView, name: str) -> int:
    """Index of a coordinate by name; ModelError if there is none."""
    names = model.coordinate_names
    if name not in names:
        raise ModelError(f"no coordinate is named {name!r}{near_names(name, names)}")
    return names.index(name)
