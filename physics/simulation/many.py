"""Many simulations of one model on several threads; the kernels release the GIL."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Any

from .. import processors
from ..bodies.state import State
from ..errors import CancelledError, DivergedError, ModelError
from ..integrators.base import Problem
from ..model.diagnosis import warn
from ..model.model import Model
from ..model.result import Result
from ..validation import instances, whole_number
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
    """The motions from many states of one model, each bit for bit that of `simulate`.

    Args:
        model, duration, dt, integrator, tau, motions, record_interval, rtol, atol: as for `simulate`, the same for all;
            a function tau is called by all runs in turn.
        states: the initial states.
        threads: number of simultaneous runs; None: number of processors. Python parts of a run (adaptive methods,
            functions tau) take turns.

    Returns:
        For each state, in order, its `Result`, or the `DivergedError` that ended it, with the motion so far.

    Raises:
        ModelError: an invalid argument; names the state if it is one; nothing ran.
        MissingDependencyError: an adaptive method without SciPy.
    """
    at_once = processors.available() if threads is None else whole_number(threads, "threads")
    if at_once < 1:
        raise ModelError(f"threads must be at least 1, got {at_once}")
    wishes = {"tau": tau, "motions": motions, "record_interval": record_interval, "rtol": rtol, "atol": atol}
    problems: list[tuple[Problem, State]] = []
    for k, state in enumerate(instances(states, State, "states")):
        try:
            problems.append(make_problem(model, state, duration, dt, integrator, **wishes))
        except ModelError as error:
            raise ModelError(f"states[{k}]: {error}") from error
    done = _Runs(problems, integrator).on(at_once)
    warn((each for result in done if isinstance(result, Result) for each in result.diagnosis), 2)
    return done


class _Runs:
    """A queue of runs with their results. Each thread takes the next run when it is free.

    The caller's thread works as well: if it only waited, each run that ends would wake it and take a processor from
    the others.
    """

    def __init__(self, problems: list[tuple[Problem, State]], integrator: str) -> None:
        self.problems, self.integrator = problems, integrator
        self.done: list[Any] = [None] * len(problems)
        self.waiting = count()
        self.failure: BaseException | None = None

    def on(self, threads: int) -> list[Result | DivergedError]:
        """Results of all runs; raises any error of a thread other than DivergedError."""
        helpers = [
            threading.Thread(target=self._work, daemon=True) for _ in range(min(threads, len(self.done)) - 1)
        ]
        for helper in helpers:
            helper.start()
        try:
            self._work()
            for helper in helpers:
                helper.join()
        except BaseException as error:  # an interrupt while others work
            self.failure = error
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
            problem = replace(problem, progress=lambda fraction: self.failure is None)
            try:
                self.done[k] = run_problem(problem, state)
            except CancelledError:
                return
            except DivergedError as error:
                self.done[k] = error
            except BaseException as error:
                # may be an interrupt; the other threads end at the next report of their runs
                self.failure = error
                return
