"""Inputs of a live run that repeat with a period, like an animation that is played in a loop."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..errors import ModelError
from ..muscles.signals import Keyframes, Proportional
from ..validation import number
from .motion import Motion
from .pull import Pull
from .table import Table

#: time for which repeating motions and tables are laid out in advance [s]
LAID_OUT = 600.0


@dataclass(frozen=True)
class Repeating:
    """Motions, pulls, columns of tables and controllers of muscles of a run that repeat after a period.

    Attributes:
        start, period: start of the first period, and its length [s]. Values at both ends of the period are the same, or
            their difference accumulates, as whole turns of a motion.
        motions: names of motions. pulls: names of pulls, with their weights. inputs: names of coordinates and inputs of
            the model, columns of a table; these have the same value at both ends of the period.
        controllers: names of muscles whose controllers' targets repeat.
        anew: {name: time [s]} of motions and pulls whose last value differs from the first: they return to the first
            within this time. onward: names of inputs whose difference accumulates instead.
    """

    start: float
    period: float
    motions: Sequence[str] = ()
    pulls: Sequence[str] = ()
    inputs: Sequence[str] = ()
    controllers: Sequence[str] = ()
    anew: Mapping[str, float] = field(default_factory=dict)
    onward: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", number(self.start, "start of a period"))
        object.__setattr__(self, "period", number(self.period, "period", positive=True))

    def applied(self, model: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Keywords of a live run with motions, pulls, table and controllers repeated for `LAID_OUT`.

        Raises:
            ModelError: a motion, pull, column or controller is unknown, a motion gives no positions, it or a pull
                exceeds the period, or a motion has neither values at both ends of the period nor windows.
        """
        result = dict(options)
        motions, controllers = dict(options.get("motions") or {}), dict(options.get("controllers") or {})
        pulls = dict(options.get("pulls") or {})
        for name in self.motions:
            motions[name] = self._motion(_known(motions, name, "motion"), name)
        for name in self.pulls:
            pulls[name] = self._pull(_known(pulls, name, "pull"), name)
        for name in self.controllers:
            controller: Proportional = _known(controllers, name, "controller")
            target = controller.target
            if isinstance(target, Keyframes):
                table = self._table(target.times, target.values[:, None], np.array([0]), np.array([False]))
                controllers[name] = replace(controller, target=Keyframes(table[0], table[1][:, 0]))
        if self.inputs:
            names = (*model.coordinate_names, *model.input_names)
            columns = {name: k for k, name in enumerate(names)}
            chosen = np.array([_known(columns, name, "column of a table") for name in self.inputs])
            rising = np.array([name in self.onward for name in self.inputs])
            result["tau"] = Table(*self._table(*_table_of(options).checked(model), chosen, rising))
        return result | {"motions": motions, "pulls": pulls, "controllers": controllers}

    @property
    def _count(self) -> int:
        return int(np.ceil(LAID_OUT / self.period))

    def _motion(self, motion: Motion, name: str) -> Motion:
        if motion.kind != "position":
            raise ModelError(f"the motion of {name!r} must give positions to repeat, got {motion.kind}")
        times, values, leapt = motion.times, motion.values, np.isin(motion.times, motion.leaps)
        rise, meets = np.zeros(values.shape[1]), self._meets(times)
        self._check_within(times, f"the motion of {name!r}")
        if not meets and motion.windows is None:
            raise ModelError(
                f"the motion of {name!r}, from {times[0]:g} s to {times[-1]:g} s, does not repeat with the period of "
                f"{self.period:g} s from {self.start:g} s on"
            )
        if name in self.anew:
            return self._started_over(motion, leapt, name)
        # cycles that do not meet are independent of each other
        anew = motion.interpolation == "cubic"
        if meets:
            anew = bool(leapt[-1])
            rise, times, values, leapt = values[-1] - values[0], times[:-1], values[:-1], leapt[:-1]
        shifts = self.period * np.arange(self._count)
        laid = self._again(times)
        rows = (values + rise * np.arange(self._count)[:, None, None]).reshape(-1, values.shape[1])
        leaps = np.tile(leapt, (self._count, 1))
        leaps[1:, 0] = anew
        if meets and motion.interpolation == "periodic":  # the last cycle must be whole
            laid = np.append(laid, times[0] + self.period * self._count)
            rows = np.vstack([rows, values[0] + rise * self._count])
            leaps = np.append(leaps, False)
        windows = None if motion.windows is None else self._windows(motion.windows, shifts)
        return replace(motion, times=laid, values=rows, windows=windows, leaps=laid[leaps.ravel()])

    def _started_over(self, motion: Motion, leapt: BoolArray, name: str) -> Motion:
        """A repeated motion that keeps its value to the end of each cycle, and jumps back then."""
        rows, laid, first = self._over(motion.times, name, f"the motion of {name!r}")
        leaps = leapt[rows]
        leaps[first] = True
        windows = motion.windows
        if windows is not None:
            windows = self._windows(windows, self.period * np.arange(self._count))
        return replace(motion, times=laid, values=motion.values[rows], windows=windows, leaps=laid[leaps])

    def _over(self, times: FloatArray, name: str, what: str) -> tuple[IntArray, FloatArray, IntArray]:
        """Cycles of a motion or pull that starts over, given the times (K,) of one period.

        Returns the rows of the period's times in all cycles, their times, and the first rows after each end.
        """
        if not self._meets(times):
            raise ModelError(f"{what} needs values at both ends of the period to start over")
        back = min(int(np.searchsorted(times, times[0] + self.anew[name] - 1e-9)), len(times) - 1)
        later, more = len(times) - back, self._count - 1
        rows = np.append(np.arange(len(times)), np.tile(np.arange(back, len(times)), more))
        shifts = np.repeat(np.arange(self._count), [len(times), *[later] * more])
        return rows, times[rows] + self.period * shifts, len(times) + later * np.arange(more)

    def _pull(self, pull: Pull, name: str) -> Pull:
        """A repeated pull; between cycles shorter than the period its weight goes from the last value to the first."""
        self._check_within(pull.times, f"the pull of {name!r}")
        self._check_within(pull.weight_times, f"the weight of the pull of {name!r}")
        times, values, rise = pull.times, pull.values, np.zeros(pull.values.shape[1])
        if self._meets(times):
            rise, times, values = values[-1] - values[0], times[:-1], values[:-1]
        weight_times, weights = pull.weight_times, pull.weights
        if self._meets(weight_times):
            weight_times, weights = weight_times[:-1], weights[:-1]
        if name in self.anew:
            over, laid, _ = self._over(pull.times, name, f"the pull of {name!r}")
            rows = pull.values[over]
        else:
            laid = self._again(times)
            rows = (values + rise * np.arange(self._count)[:, None, None]).reshape(-1, values.shape[1])
        return replace(
            pull,
            times=laid,
            values=rows,
            weights=np.tile(weights, self._count),
            weight_times=self._again(weight_times),
        )

    def _again(self, times: FloatArray) -> FloatArray:
        """Times (K,) of one period, repeated in all periods."""
        return (times + self.period * np.arange(self._count)[:, None]).ravel()

    def _check_within(self, times: FloatArray, what: str) -> None:
        if times[0] < self.start - 1e-9 or times[-1] > self.start + self.period + 1e-9:
            raise ModelError(
                f"{what}, from {times[0]:g} s to {times[-1]:g} s, exceeds the period of {self.period:g} s from "
                f"{self.start:g} s on"
            )

    def _windows(self, windows: FloatArray, shifts: FloatArray) -> FloatArray:
        """The parts of windows within the period, repeated in all periods."""
        own = np.clip(windows, self.start, self.start + self.period)
        own = own[own[:, 1] > own[:, 0] + 1e-9]
        laid: FloatArray = (own + shifts[:, None, None]).reshape(-1, 2)
        laid[1:, 0] = np.maximum(laid[1:, 0], laid[:-1, 1])  # ends and starts that meet differ by round-off
        return laid

    def _meets(self, times: FloatArray) -> bool:
        """Whether times include both ends of the period."""
        return bool(abs(times[0] - self.start) < 1e-9 and abs(times[-1] - self.start - self.period) < 1e-9)

    def _table(
        self, times: FloatArray, values: FloatArray, columns: IntArray, rising: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Times and rows of a table whose `columns` repeat, adding up if `rising`; the others keep their last value."""
        if not self._meets(times):
            raise ModelError(
                f"a table from {times[0]:g} s to {times[-1]:g} s does not repeat with the period of {self.period:g} s "
                f"from {self.start:g} s on"
            )
        laid = self._again(times[:-1])
        rows = np.tile(values[-1], (len(laid), 1))
        rows[: len(times) - 1] = values[:-1]
        again, rises = values[:-1, columns], (values[-1] - values[0])[columns] * rising
        rows[:, columns] = (again + rises * np.arange(self._count)[:, None, None]).reshape(-1, len(columns))
        return laid, rows


def _known(named: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in named:
        raise ModelError(f"no {what} is named {name!r}; there are {', '.join(named) or 'none'}")
    return named[name]


def _table_of(options: Mapping[str, Any]) -> Table:
    tau = options.get("tau")
    if not isinstance(tau, Table):
        raise ModelError(f"inputs that repeat must be columns of a Table, got tau = {tau!r:.80}")
    return tau
