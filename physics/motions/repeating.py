"""What leads a live run and ends as it began goes round and round, as an animation is played."""

from __future__ import annotations

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

#: [s]: for so long motions and tables are laid out in advance
LAID_OUT = 600.0


@dataclass(frozen=True)
class Repeating:
    """Which motions, pulls, columns of tables and controllers of muscles of a run repeat themselves after a period [s].

    Attributes:
        start, period: from when on and after how long [s]. What has a value at both ends has the same there, or goes on
            by the difference, as by whole turns of a motion.
        motions: names of motions. pulls: names of pulls, with their weights. inputs: names of coordinates and inputs
            of the model, columns of a table; these have at a period's end what they have at its beginning.
        controllers: names of muscles whose controllers' targets repeat themselves.
        anew: by names of motions and pulls that have another value at their end, from which they start over, the time
            [s] within which they get back. onward: those of the inputs that go on by the difference all the same.
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
        """Keywords of a live run with motions, pulls, table and controllers that repeat themselves for `LAID_OUT`.

        Raises:
            ModelError: there is no such motion, pull, column or controller, or the motion is no position, or it or
                the pull goes beyond the period, or the motion has neither both of its ends nor windows.
        """
        made = dict(options)
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
            made["tau"] = Table(*self._table(*_table_of(options).checked(model), chosen, rising))
        return made | {"motions": motions, "pulls": pulls, "controllers": controllers}

    @property
    def _count(self) -> int:
        return int(np.ceil(LAID_OUT / self.period))

    def _motion(self, motion: Motion, name: str) -> Motion:
        if motion.kind != "position":
            raise ModelError(f"the motion of {name!r} gives a {motion.kind} and cannot repeat itself")
        times, values, leapt = motion.times, motion.values, np.isin(motion.times, motion.leaps)
        rise, meets = np.zeros(values.shape[1]), self._meets(times)
        self._check_within(times, f"the motion of {name!r}")
        if not meets and motion.windows is None:
            raise ModelError(
                f"the motion of {name!r}, from {times[0]:g} s to {times[-1]:g} s, does not repeat itself after "
                f"{self.period:g} s from {self.start:g} s on"
            )
        if name in self.anew:
            return self._started_over(motion, leapt, name)
        # what begins anew knows nothing of what came before, unless they meet
        anew = motion.interpolation == "cubic"
        if meets:
            anew = bool(leapt[-1])
            rise, times, values, leapt = values[-1] - values[0], times[:-1], values[:-1], leapt[:-1]
        shifts = self.period * np.arange(self._count)
        laid = self._again(times)
        rows = (values + rise * np.arange(self._count)[:, None, None]).reshape(-1, values.shape[1])
        leaps = np.tile(leapt, (self._count, 1))
        leaps[1:, 0] = anew
        if (
            meets and motion.interpolation == "periodic"
        ):  # it ends as it began only where its last cycle is whole
            laid = np.append(laid, times[0] + self.period * self._count)
            rows = np.vstack([rows, values[0] + rise * self._count])
            leaps = np.append(leaps, False)
        windows = None if motion.windows is None else self._windows(motion.windows, shifts)
        return replace(motion, times=laid, values=rows, windows=windows, leaps=laid[leaps.ravel()])

    def _started_over(self, motion: Motion, leapt: BoolArray, name: str) -> Motion:
        """A motion again and again that is at its end up to the end of each cycle, and leaps back then."""
        rows, laid, first = self._over(motion.times, name, f"the motion of {name!r}")
        leaps = leapt[rows]
        leaps[first] = True
        windows = motion.windows
        if windows is not None:
            windows = self._windows(windows, self.period * np.arange(self._count))
        return replace(motion, times=laid, values=motion.values[rows], windows=windows, leaps=laid[leaps])

    def _over(self, times: FloatArray, name: str, what: str) -> tuple[IntArray, FloatArray, IntArray]:
        """Rows of one period's times (K,) in all of what starts over, their times, and which of them are the first that
        are reached from an end.
        """
        if not self._meets(times):
            raise ModelError(f"{what} has no value at both ends of the period, so that it cannot start over")
        back = min(int(np.searchsorted(times, times[0] + self.anew[name] - 1e-9)), len(times) - 1)
        later, more = len(times) - back, self._count - 1
        rows = np.append(np.arange(len(times)), np.tile(np.arange(back, len(times)), more))
        shifts = np.repeat(np.arange(self._count), [len(times), *[later] * more])
        return rows, times[rows] + self.period * shifts, len(times) + later * np.arange(more)

    def _pull(self, pull: Pull, name: str) -> Pull:
        """A pull again and again. Between cycles that do not fill the period its weight goes from the end's to the
        beginning's.
        """
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
        """Times (K,) of one period in each of all."""
        again: FloatArray = (times + self.period * np.arange(self._count)[:, None]).ravel()
        return again

    def _check_within(self, times: FloatArray, what: str) -> None:
        if times[0] < self.start - 1e-9 or times[-1] > self.start + self.period + 1e-9:
            raise ModelError(
                f"{what}, from {times[0]:g} s to {times[-1]:g} s, goes beyond the period of {self.period:g} s from "
                f"{self.start:g} s on"
            )

    def _windows(self, windows: FloatArray, shifts: FloatArray) -> FloatArray:
        """What of them lies within the period, again and again."""
        own = np.clip(windows, self.start, self.start + self.period)
        own = own[own[:, 1] > own[:, 0] + 1e-9]
        laid: FloatArray = (own + shifts[:, None, None]).reshape(-1, 2)
        laid[1:, 0] = np.maximum(laid[1:, 0], laid[:-1, 1])  # ends and begins that meet differ by round-off
        return laid

    def _meets(self, times: FloatArray) -> bool:
        """Whether a row of times has both ends of the period, which are one."""
        return bool(abs(times[0] - self.start) < 1e-9 and abs(times[-1] - self.start - self.period) < 1e-9)

    def _table(
        self, times: FloatArray, values: FloatArray, columns: IntArray, rising: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        """Times and rows of a table of which some columns repeat themselves, or go on where they are `rising`, and the
        others stay as they were last.
        """
        if not self._meets(times):
            raise ModelError(
                f"a table from {times[0]:g} s to {times[-1]:g} s does not repeat itself after {self.period:g} s from "
                f"{self.start:g} s on"
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
        raise ModelError(f"only columns of a Table repeat themselves, got tau = {tau!r:.80}")
    return tau
