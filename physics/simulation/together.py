"""Short runs from many states in one call of a kernel: Python's overhead of each run would exceed the run's time."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from .. import kernels
from ..analysis.diagnosis import nothing_found
from ..bodies.state import State
from ..errors import DivergedError
from ..integrators import INTEGRATORS
from ..integrators.base import Problem, energy_row
from ..integrators.constrained import needs_constraints
from ..integrators.fixed_step import integrate_fixed_step, prepare_checks
from ..integrators.limit_steps import limit_laws
from ..joints.packing import aligned_zeros
from ..kernels import layout
from ..model.observation import observe
from ..model.result import Result
from .simulate import diagnosed
from .thread_runs import Runs

# Steps of a body in a run, up to which a call for some runs is short enough for an interrupt behind it.
LONGEST = 200_000
MOST = 64  # runs in a call


def run_all(
    checked: Callable[[int], tuple[Problem, State]], states: Sequence[State], threads: int
) -> list[Result | DivergedError]:
    """Results of runs from states; `checked` makes the checked problem and start of one of them."""
    if not states:
        return []
    first = checked(0)
    if runs_together(first[0], states):
        together = Together(first[0], states)
        if together.is_finite():
            return together.on(threads)
    return Runs([first, *map(checked, range(1, len(states)))]).on(threads)


def runs_together(problem: Problem, states: Sequence[State]) -> bool:
    """Whether runs from these states go together: a tree without muscles and without what changes with time."""
    model, method = problem.model, INTEGRATORS[problem.integrator]
    first = form(states[0])
    return (
        method.run is integrate_fixed_step
        and not (needs_constraints(problem) or model.muscles or model.soft_bodies or problem.findings)
        and problem.control is None
        and len(problem.tau[0]) == 1
        and problem.duration / problem.dt * model.num_bodies <= LONGEST
        and first is not None
        and all(form(each) == first for each in states)
        and (method.number != layout.RUNGE_KUTTA or not any(law.any() for law in limit_laws(model)))
    )


def form(state: State) -> tuple[Any, ...] | None:
    """Shapes and types that two states must share; None for one that only the checks of a single run can name."""
    q, qd, chart = state.q, state.qd, state.chart
    array: Any = np.ndarray
    arrays = isinstance(q, array) and isinstance(qd, array) and isinstance(chart, array)
    if not (arrays and isinstance(state.time, float)):
        return None
    return state.time, q.shape, q.dtype, qd.shape, qd.dtype, chart.shape, chart.dtype


class Together:
    """Runs of one problem, which has checked the first state, from many of its shapes (see `runs_together`)."""

    def __init__(self, problem: Problem, states: Sequence[State]) -> None:
        self.problem, self.states = problem, states
        self.q, self.qd = np.array([each.q for each in states]), np.array([each.qd for each in states])
        self.chart = np.array([each.chart for each in states])
        self.stopped = False

    def is_finite(self) -> bool:
        return bool(np.isfinite(self.q).all() and np.isfinite(self.qd).all())

    def on(self, threads: int) -> list[Any]:
        """Results of all runs, with errors of those that diverged."""
        size = self.size_of_parts(threads)
        parts = [slice(first, first + size) for first in range(0, len(self.q), size)]
        if threads > 1 and len(parts) > 1:
            with ThreadPoolExecutor(threads) as pool:
                try:
                    found = list(pool.map(self._results, parts))
                except BaseException:  # an interrupt while others work
                    self.stopped = True
                    raise
        else:
            found = list(map(self._results, parts))
        done: list[Any] = [each for results in found for each in results]
        alone = [k for k, each in enumerate(done) if each is None]
        for k, result in zip(alone, Runs([(self.problem, self.states[k]) for k in alone]).on(threads)):
            done[k] = result
        return done

    def size_of_parts(self, threads: int) -> int:
        """Number of runs in a call."""
        return max(1, min(MOST, -(-len(self.q) // (4 * threads))))

    def _results(self, part: slice) -> list[Result | None]:
        """Results of some runs; None where a run failed or its energy is not finite: it must be made alone."""
        problem, model = self.problem, self.problem.model
        runs, nv = len(self.q[part]), model.num_coordinates
        shape = (runs, len(problem.samples), nv)
        records = np.zeros(shape), np.zeros(shape), self.chart[part].copy()
        records[0][:, 0], records[1][:, 0] = self.q[part], self.qd[part]
        ends = np.zeros((runs, 4), dtype=np.int64)
        ends[:, layout.WRITTEN] = 1
        workspace = model.workspace()
        spaces = workspace.clear()
        energies = self._watched(part, spaces)
        steps = int(np.ceil(problem.duration / problem.dt - 1e-9))
        scratch = workspace.stage, aligned_zeros(nv), aligned_zeros(nv)
        method = INTEGRATORS[problem.integrator]
        kernels.stepping.rollouts.rollouts(
            model.arrays,
            method.scheme,
            problem.tables(),
            problem.dt,
            steps,
            problem.samples,
            records,
            (ends, energies),
            scratch,
            spaces,
        )
        info = {"integrator": problem.integrator, "dt": problem.dt, "steps": steps}
        return self._told(records, ends, energies, info, self.chart[part])

    def _watched(self, part: slice, spaces: Any) -> Any:
        """Start values of the step checks of each run (runs, width)."""
        problem = self.problem
        prepare_checks(problem, INTEGRATORS[problem.integrator], self.states[part.start], spaces)
        row = energy_row(problem.model, spaces[0])
        energies = np.tile(row, (len(self.q[part]), 1))
        checks = kernels.stepping.step_checks
        if row[checks.CLOSED]:
            kinetic, _, total = observe(problem.model, self.q[part], self.qd[part], anywhere=True)[1].T
            energies[:, checks.FIRST] = total
            energies[:, checks.MOST] = np.maximum(kinetic, row[checks.LIVELIEST])
        return energies

    def _told(
        self, records: Any, ends: Any, energies: Any, info: dict[str, Any], charts: Any
    ) -> list[Result | None]:
        problem, (q, qd, after) = self.problem, records
        checks = kernels.stepping.step_checks
        books = energies[:, [checks.GAINED, checks.LIVELIEST, checks.DONE]]
        booked, finite = energies[:, checks.BOOKED] != 0.0, np.isfinite(books.sum(axis=1))
        lost = (ends[:, 2] != layout.OK) | (booked & ~finite)
        quiet = booked & nothing_found(problem, books, qd) & (not problem.findings)
        changes = (after - charts).sum(axis=1)
        done: list[Result | None] = []
        facts = (each.tolist() for each in (lost, booked, quiet, changes, books))
        for k, (gone, kept, calm, changed, row) in enumerate(zip(*facts)):
            if gone:
                done.append(None)
                continue
            energy = {"energy": dict(zip(("gained", "most_kinetic", "work"), row))} if kept else {}
            told = info | energy | {"chart_changes": changed}
            result = Result(problem.model, problem.samples.copy(), q[k].copy(), qd[k].copy(), told)
            done.append(diagnosed(problem, result, calm))
        return done
