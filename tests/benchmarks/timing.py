"""Times of contestants that take turns, and their statistics."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import physics as ph
from physics._typing import FloatArray

ROUNDS = 15
ROUND_SECONDS = 0.05


@dataclass(frozen=True)
class Contestant:
    """A program that makes steps: `run(n)` makes n of them.

    `run` may take some time that does not depend on n (setting up, writing a result). It is measured with a single
    step and subtracted, so that a ratio of steps does not depend on their number.
    """

    name: str
    run: Callable[[int], object]
    least: int = 8  # steps of a round: more where their costs differ much


def simulating(
    name: str, model: ph.Model, state: ph.State, dt: float, method: str = "symplectic_euler", least: int = 8
) -> Contestant:
    """`simulate`, recording only start and end."""

    def run(steps: int) -> ph.Result:
        return ph.simulate(model, state, steps * dt, dt, method, record_interval=steps * dt)

    return Contestant(name, run, least)


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of a figure over the rounds."""

    median: float
    lower: float
    upper: float

    @classmethod
    def of(cls, values: FloatArray) -> Spread:
        """Summary of a sample."""
        lower, median, upper = np.percentile(values, (25, 50, 75))
        return cls(float(median), float(lower), float(upper))

    def __str__(self) -> str:
        return f"{self.median:.4g} ({self.lower:.4g} to {self.upper:.4g})"


def seconds(contestant: Contestant, steps: int) -> float:
    """Processor time of one run: every contestant has one thread, and other load of the machine must not count."""
    start = time.process_time()
    contestant.run(steps)
    return time.process_time() - start


def steps_for(contestant: Contestant, target: float = ROUND_SECONDS) -> int:
    """Number of steps that takes about `target` seconds beyond the set-up."""
    contestant.run(1)
    setup = min(seconds(contestant, 1) for _ in range(3))
    steps = 8
    while True:
        taken = seconds(contestant, steps) - setup
        if taken >= 0.2 * target:
            return max(contestant.least, round(steps * target / taken))
        steps *= 4


def alternate(contestants: tuple[Contestant, ...], rounds: int = ROUNDS) -> Mapping[str, FloatArray]:
    """Seconds per step of each contestant, measured in turns; name -> (rounds,)."""
    steps = {contestant.name: steps_for(contestant) for contestant in contestants}
    taken: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            order = contestants if turn % 2 == 0 else contestants[::-1]
            for contestant in order:
                number = steps[contestant.name]
                setup = seconds(contestant, 1)
                taken[contestant.name].append((seconds(contestant, number) - setup) / (number - 1))
    finally:
        if collecting:
            gc.enable()
    return {name: np.array(values) for name, values in taken.items()}
