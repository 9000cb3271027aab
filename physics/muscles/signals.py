"""Signals that excite muscles: keyframes, and controllers of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..registry import check_keys
from ..validation import finite_array, finite_row, near_names, number, rising
from .view import ModelView

Signal = Callable[[float, FloatArray, FloatArray], float]


@dataclass(frozen=True, eq=False)
class Keyframes:
    """Straight lines through keyframes, constant before the first and after the last.

    Attributes:
        times: increasing (k,) [s]. values: (k,).
    """

    times: Any
    values: Any

    def __post_init__(self) -> None:
        times = rising(self.times, "times of keyframes")
        values = finite_row(self.values, "values of keyframes")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "values", finite_array(values, times.shape, "values of keyframes"))

    def __call__(self, time: float) -> float:
        """The value at a time [s]."""
        return float(np.interp(time, self.times, self.values))


@dataclass(frozen=True, eq=False)
class Proportional:
    """Excitation from a coordinate's error: rest + gain (target - q) - damping q', clipped to [0, 1].

    A muscle that increases the coordinate needs a positive gain, its antagonist a negative one.

    Attributes:
        coordinate: ``body.coordinate``, one of the model's coordinate names.
        gain: [1/rad or 1/m]. target: a number, `Keyframes`, or a function of time [rad or m].
        damping: [s/rad or s/m]. rest: the excitation on the target.
    """

    coordinate: str
    gain: float
    target: Any = 0.0
    damping: float = 0.0
    rest: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.coordinate, str):
            raise ModelError(f"coordinate of a controller must be a name, got {self.coordinate!r:.80}")
        for name in ("gain", "damping", "rest"):
            value = number(getattr(self, name), f"{name} of a controller of {self.coordinate!r}")
            object.__setattr__(self, name, value)
        if not callable(self.target):
            target = number(self.target, f"target of a controller of {self.coordinate!r}")
            object.__setattr__(self, "target", target)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description for `from_dict`; ModelError if the target is a function."""
        target: Any = self.target
        if isinstance(target, Keyframes):
            target = {"times": target.times.tolist(), "values": target.values.tolist()}
        elif callable(target):
            raise ModelError(
                f"a controller of {self.coordinate!r} whose target is a function cannot be written"
            )
        figures = {name: getattr(self, name) for name in ("coordinate", "gain", "damping", "rest")}
        return {**figures, "target": target}

    @classmethod
    def from_dict(cls, description: Any) -> Proportional:
        """The controller described by `to_dict`; FormatError if a key is unknown or missing."""
        known = ("coordinate", "gain", "target", "damping", "rest")
        check_keys(description, known, known[:2], "a controller")
        values = dict(description)
        if isinstance(values.get("target"), Mapping):
            check_keys(values["target"], ("times", "values"), ("times", "values"), "target of a controller")
            values["target"] = Keyframes(**values["target"])
        return cls(**values)

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
