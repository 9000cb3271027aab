"""Signals that excite muscles: keyframes, and controllers of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.immutable import Value
from ..registry import instance_from_dict
from ..validation import NUMBER, finite_array, finite_row, near_names, number, of_kind, rising
from .view import ModelView

Signal = Callable[[float, FloatArray, FloatArray], float]


@dataclass(frozen=True, eq=False)
class Keyframes(Value):
    """Straight lines through keyframes, constant before the first and after the last.

    Attributes:
        times: increasing (k,) [s]. values: (k,).
    """

    times: Any
    values: Any

    def __post_init__(self) -> None:
        times = rising(self.times, "times of keyframes")
        values = finite_row(self.values, "values of keyframes")
        vars(self).update(times=times, values=finite_array(values, times.shape, "values of keyframes"))

    def __call__(self, time: float) -> float:
        """The value at a time [s]."""
        return float(np.interp(time, self.times, self.values))


def _target(value: Any, name: str) -> Any:
    return value if callable(value) else number(value, name)


def _described_target(entry: Any) -> Any:
    is_table = isinstance(entry, Mapping)
    return instance_from_dict(entry, Keyframes, "target of a controller") if is_table else entry


@dataclass(frozen=True, eq=False)
class Proportional(Value):
    """Excitation from a coordinate's error: rest + gain (target - q) - damping q', clipped to [0, 1].

    A muscle that increases the coordinate needs a positive gain, its antagonist a negative one.

    Attributes:
        coordinate: ``body.coordinate``, one of the model's coordinate names.
        gain: [1/rad or 1/m]. target: a number, `Keyframes`, or a function of time [rad or m].
        damping: [s/rad or s/m]. rest: the excitation on the target.
    """

    coordinate: str = field(metadata=of_kind(str))
    gain: float = field(metadata=NUMBER)
    target: Any = field(default=0.0, metadata={"check": _target})
    damping: float = field(default=0.0, metadata=NUMBER)
    rest: float = field(default=0.0, metadata=NUMBER)
    of: ClassVar[str] = " of a controller"

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description for `from_dict`; ModelError if the target is a function."""
        if callable(self.target) and not isinstance(self.target, Keyframes):
            raise ModelError(
                f"a controller of {self.coordinate!r} whose target is a function cannot be written"
            )
        return super().to_dict()

    @classmethod
    def from_dict(cls, description: Any) -> Proportional:
        """The controller described by `to_dict`; FormatError if a key is unknown or missing."""
        return instance_from_dict(description, cls, "a controller", {"target": _described_target})

    def signal(self, model: ModelView) -> Signal:
        """The excitation as a function of (t, q, q'); ModelError if the model has no such coordinate."""
        names = model.coordinate_names
        if self.coordinate not in names:
            raise ModelError(
                f"no coordinate is named {self.coordinate!r}{near_names(self.coordinate, names)}"
            )
        index = names.index(self.coordinate)

        def excitation(t: float, q: FloatArray, qd: FloatArray) -> float:
            target = self.target
            if callable(target):
                target = number(target(t), f"target of a controller of {self.coordinate!r} at t = {t:g} s")
            wanted = self.rest + self.gain * (target - q[index]) - self.damping * qd[index]
            return float(min(max(wanted, 0.0), 1.0))

        return excitation
