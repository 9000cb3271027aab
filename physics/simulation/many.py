"""Many simulations of one model, on several threads: the kernels run beside each other."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from itertools import count
from typing import Any

from .. import processors
from ..bodies.state import State
from ..errors import DivergedError, ModelError
from ..integrators.base import Problem
from ..model.model import Model
from ..model.result import Result
from ..validation import whole_number
from .simulate import make_problem, run_problem


def simulate_many(
    model: Model,
    states: Iterable[State],
    duration: float,
    dt: float = 1e-3,
    integrator: str = "symplectic_euler",
    *,
    tau: Any = None,
    motions: Any = None,
    record_interval: float | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    threads: int | None = None,
) -> list[Result | DivergedError]:
    """The motions that follow from many states of one model, each bit for bit that of `simulate`.

    Args:
        model, duration, dt, integrator, tau, motions, record_interval, rtol, atol: as for `simulate`, the same for all;
            a function tau is asked by all runs in turn.
        states: where each run starts.
        threads: how many runs go on at once; None: as many as there are processors. What is Python in a run (adaptive
            methods, functions tau) takes turns.

    Returns:
        What came of each state, in order: its `Result`, or the `DivergedError` that ended it, with what was computed.

    Raises:
        ModelError: an argument is not acceptable; nothing ran. Of a state it says which.
        MissingDependencyError: an adaptive method without SciPy.
    """
    at_once = processors.available() if threads is None else whole_number(threads, "threads")
    if at_once < 1:
        raise ModelError(f"threads must be at least 1, got {at_once}")
    wishes = {"tau": tau, "motions": motions, "record_interval": record_interval, "rtol": rtol, "atol": atol}
    problems: list[tuple[Problem, State]] = []
    for k, state in enumerate(states):
        try:
            problems.append(make_problem(model, state, duration, dt, integrator, **wishes))
        except ModelError as error:
            raise ModelError(f"states[{k}]: {error}") from error
    return _Runs(problems, integrator).on(at_once)


class _Runs:
    """Runs that are waiting, and what came of those that are done. Each thread takes the next one when it has time.

    The caller's thread is one of them: one that only waits would be woken by each run that ends, and take a processor
    from those who work.
    """

    def __init__(self, problems: list[tuple[Problem, State]], integrator: str) -> None:
        self.problems, self.integrator = problems, integrator
        self.done: list[Any] = [None] * len(problems)
        self.waiting = count()
        self.failure: BaseException | None = None

    def on(self, threads: int) -> list[Result | DivergedError]:
        """All of them; what ended a thread by something else than a run that diverged is raised."""
        helpers = [
            threading.Thread(target=self._work, daemon=True) for _ in range(min(threads, len(self.done)) - 1)
        ]
        for helper in helpers:
            helper.start()
        try:
            self._work()
        finally:
            for helper in helpers:
                helper.join()
        if self.failure is not None:
            raise self.failure
        return self.done

    def _work(self) -> None:
        for k in self.waiting:
            if k >= len(self.done) or self.failure is not None:
                return
            problem, state = self.problems[k]
            try:
                self.done[k] = run_problem(problem, self.integrator, state)
            except DivergedError as error:
                self.done[k] = error
            except (
                BaseException
            ) as error:  # an interrupt, too: the other threads end with the runs they are at
                self.failure = error
                return
