"""Runs on the threads of this process; the kernels release the interpreter's lock."""

import threading
from dataclasses import replace
from itertools import count
from typing import Any

from ..bodies.state import State
from ..errors import CancelledError, DivergedError
from ..integrators.base import Problem
from ..model.result import Result
from .simulate import run_problem


class Runs:
    """A queue of runs with their results. Each thread takes the next run when it is free.

    The caller's thread works as well: if it only waited, each run that ends would wake it and take a processor from
    the others.
    """

    def __init__(self, problems: list[tuple[Problem, State]]) -> None:
        self.problems = problems
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
