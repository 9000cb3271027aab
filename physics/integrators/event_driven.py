"""Free motion by an adaptive method between impacts, which are events; fixed steps during lasting contact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.state import State
from ..constraints.packing import System
from ..dynamics.cusps import Cusps, cusps_of, pass_cusp
from ..dynamics.workspace import constraint_space
from ..errors import optional
from ..kernels import layout
from ..kernels.constraints.layout import ACTIVE, EQUALITY, ROW_FORCE, SYSTEM_KINDS, SYSTEM_ROWS
from ..model.result import Result
from .adaptive import chart_event, charted, held_between, put_on_motions
from .base import Method, Problem, Recording, energy_row, refuse_corners, refuse_muscle_states, scheme
from .consistency import refuse_torn_at
from .constrained import settler, statistics, with_room
from .march import Event, march
from .slope import ConstrainedSlope
from .stops import LOOK, motion_stops

FLIGHT, CONTACT_STEPS = "DOP853", scheme(layout.SYMPLECTIC_EULER)
# Events within this time are simultaneous [s].
AT_ONCE = 1e-6
# A body that would return within this many steps dt is at rest: fixed steps follow.
REST = 4.0
# This many impacts within one dt also lead to fixed steps: the forces exceed the weight.
CROWDED = 8
MISSED = 1e-7
# After a separation the gap is raised by at least LIFT [m or rad], which fades over LEFT [s].
LEFT, LIFT = 1e-5, 1e-10


def integrate_event_driven(problem: Problem, method: Method, state: State) -> Result:
    """Run a problem with impacts at their exact instants (Ertl et al. 1993, eqs. 6-7)."""
    optional("scipy.integrate", f"the integrator {method.name!r}")
    method.check(problem.model)
    run = _Run(problem, method.name, state)
    while run.now < run.end:
        if run.resting:
            run.step()
        else:
            run.fly()
        run.recording.report((run.now - problem.start) / problem.duration, int(run.counters[1]))
    return run.result()


class _Run:
    """Current time and state of a run, its samples, and whether a contact lasts."""

    def __init__(self, problem: Problem, name: str, state: State) -> None:
        info = {
            "integrator": name,
            "dt": problem.dt,
            "impacts": 0,
            "steps": 0,
            "evaluations": 0,
            "chart_changes": 0,
        }
        model = problem.model
        self.problem, self.model = problem, model
        self.recording = Recording(problem, state.q, state.qd, info)
        self.now, self.end = problem.start, problem.start + problem.duration
        self.q, self.qd, self.chart = np.array(state.q), np.array(state.qd), np.array(state.chart)
        put_on_motions(problem, self.now, self.q, self.qd)
        self.counters = np.array([0, 1], dtype=np.int64)
        self.workspace = model.workspace()
        self.spaces = self.workspace.clear()
        self.system, self.memory, self.contacts, self.effort = constraint_space(model)
        self.parts = model.arrays, model.constraint_arrays, self.contacts, problem.motions, problem.tau
        self.slope, self.settle = ConstrainedSlope(problem, self.recording), settler(problem)
        self.idle = 0
        self.began, self.steps = self.now, 0  # of the present steps
        self.struck: list[float] = []  # times of the last impacts
        self.turned: list[float] = []  # and of impulses at cusps
        self.cusps = cusps_of(model)
        self.branches = [each.branch(self.q) for each in self.cusps]
        weight = float(np.linalg.norm(model.gravity))
        self.rest_speed = REST * problem.dt * (weight if weight > 0.0 else 1.0)
        self.resting = self.gap(self.q, self.qd) < 1e-9 and self.strike() < self.rest_speed

    def workspaces(self, system: System) -> tuple[Any, ...]:
        """Workspaces of a step with a system of rows."""
        return self.workspace.stage, self.effort, system, self.memory, self.spaces

    def with_room(self, run: Callable[[System], None]) -> None:
        """Call run(system) with a system in which the rows fit."""
        state = self.counters, self.q, self.qd, self.chart
        changed = *state, self.workspace.stage, self.effort, self.memory, self.contacts, self.spaces
        self.system = with_room(self.model, self.system, run, changed)

    def gap(self, q: FloatArray, qd: FloatArray) -> float:
        """The smallest gap, or value of a hard limit or a one-sided constraint."""
        model = self.model
        least: float = kernels.contact.rows.least_gap(
            model.arrays, model.constraint_arrays, self.contacts, q, qd, self.system, self.spaces
        )
        return least

    def strike(self) -> float:
        """Apply the impulses of this instant; returns the lowest speed of separation."""
        self.control(0.0)
        left = 0.0

        def strike(system: System) -> None:
            nonlocal left
            left = kernels.stepping.stepper.strike(
                self.parts, self.now, AT_ONCE, self.q, self.qd, self.workspaces(system)
            )

        self.with_room(strike)
        self.recording.check(self.spaces[2], self.now, int(self.counters[1]))
        return left

    def control(self, dt: float) -> None:
        """Call a controller for the forces of the instant, or of a step."""
        self.recording.ask(self.now, dt, self.q, self.qd, self.now, int(self.counters[1]))

    def step(self) -> None:
        """One step of symplectic Euler during contact, which ends after two steps without an impulse.

        The last step may extend beyond the end of the run, with the final sample inside: a shorter one would correct a
        gap in less time, with more speed and force.
        """
        recording, counters = self.recording, self.counters
        counters[0], dt, written = 0, self.problem.dt, int(counters[1])
        self.control(dt)

        def advance(system: System) -> None:
            kernels.stepping.stepper.advance(
                self.parts,
                CONTACT_STEPS,
                0.0,
                self.now,
                dt,
                1,
                counters,
                self.problem.samples,
                (self.q, self.qd, self.chart),
                (recording.q, recording.qd, recording.forces, recording.efforts),
                self.workspaces(system),
            )

        self.with_room(advance)
        refuse_torn_at(self.now, self.problem, self.system, int(counters[1]), recording)
        recording.check(self.spaces[2], self.now, int(counters[1]))
        self.settle(written, int(counters[1]), recording, self.now)
        self.steps += 1
        self.now = min(self.began + self.steps * dt, self.end)
        recording.info["steps"] += 1
        for number, (cusps, branch) in enumerate(zip(self.cusps, self.branches)):
            if (reached := cusps.branch(self.q)) != branch:
                self.turn(number, reached > branch)
        rows = self.system[SYSTEM_ROWS][: self.model.num_constraint_rows]
        one_sided = self.system[SYSTEM_KINDS][: len(rows)] != EQUALITY
        touched = bool(self.memory[:, ACTIVE].any() or rows[one_sided, ROW_FORCE].any())
        self.idle = 0 if touched else self.idle + 1
        self.resting = self.idle < 2 or self.gap(self.q, self.qd) < 0.0
        if not self.resting:
            self.workspace.stage[layout.STAGE_QDD] = 0.0
            last = energy_row(self.model, self.spaces[0])
            last[[layout.SHORTER, layout.LEAPT]] = 0.0

    def fly(self) -> None:
        """Free motion up to the next impact, change of chart or end of a prescribed interval."""
        problem, nv, slope, begun = self.problem, len(self.q), self.slope, int(self.counters[1])
        until = min([*motion_stops(problem, self.now, self.end), self.end])
        held = held_between(problem, self.now, until)
        self.recording.info["chart_changes"] += charted(self.model, held, self.q, self.qd, self.chart)
        chart = chart_event(self.model, held)
        start, lift = self.now, max(-2.0 * self.gap(self.q.copy(), self.qd.copy()), LIFT)

        def touch(t: float, y: FloatArray) -> float:
            # after a separation the gap may be on either side of zero, which is not an event
            away = lift * max(1.0 - (t - start) / LEFT, 0.0)
            return self.gap(np.array(y[:nv]), np.array(y[nv:])) + away

        touch.direction = -1.0  # type: ignore[attr-defined]
        slope.written = begun
        y = np.concatenate([self.q, self.qd])
        ends = [_leaving(*pair, above) for pair in zip(self.cusps, self.branches) for above in (False, True)]
        events = (touch, *ends) if chart is None else (touch, *ends, chart)
        now, y, met = march(slope, FLIGHT, self.now, y, until, events, LOOK * problem.dt)
        # a gap closed and opened within a step: repeat with fixed steps
        if self.gap(np.array(y[:nv]), np.array(y[nv:])) < -MISSED:
            slope.drop(begun)
            self.resting, self.idle = True, 0
            return
        self.counters[1], self.now = slope.written, now
        self.began, self.steps = now, 0
        self.q, self.qd = y[:nv].copy(), y[nv:].copy()
        if met is None and until < self.end:
            slope.pass_corner(until, self.q, self.qd)
        elif met is not None and 0 < met <= len(ends):
            self.turn((met - 1) // 2, above=met % 2 == 0)
        elif met is not None:
            self._meet(struck=met == 0)

    def turn(self, number: int, above: bool) -> None:
        """Apply the impulse at the upper or the lower end of the branch of a coordinate with cusps."""
        cusps, branch = self.cusps[number], self.branches[number]
        held = held_between(self.problem, self.now, np.nextafter(self.now, self.end))[:, layout.HELD] != 0.0
        state = self.model.state(q=self.q, qd=self.qd)
        self.q, self.qd = pass_cusp(self.model, state, cusps, branch if above else branch - 1, held)
        self.branches[number] = cusps.branch(self.q)
        self.recording.info["impacts"] += 1
        self.turned = [*self.turned[1 - CROWDED :], self.now]
        if len(self.turned) == CROWDED and self.now - self.turned[0] < self.problem.dt:
            self.slope.give_up(np.concatenate([self.q, self.qd]), "it comes to rest in a cusp")

    def _meet(self, struck: bool) -> None:
        """Handle an impact. A change of chart needs nothing: the next flight begins with it."""
        if struck:
            self.struck = [*self.struck[1 - CROWDED :], self.now]
            crowded = len(self.struck) == CROWDED and self.now - self.struck[0] < self.problem.dt
            self.resting = self.strike() < self.rest_speed or crowded
            self.idle = 0
            self.recording.info["impacts"] += 1

    def result(self) -> Result:
        """The result so far."""
        model = self.problem.model
        steps, flights = statistics(model, self.system), statistics(model, self.slope.system)
        together = {name: max(steps[name], flights[name]) for name in steps.keys() - {"deepest"}}
        self.recording.info["constraints"] = {**steps, **together}  # there is no overlap in flight
        return self.recording.result(int(self.counters[1]))


def _leaving(cusps: Cusps, branch: int, above: bool) -> Event:
    """Event in which a coordinate comes to an end of its branch between cusps."""
    end, sign = cusps.bounds(branch)[int(above)], 1.0 if above else -1.0

    def event(_: float, y: FloatArray) -> float:
        return sign * (float(y[cusps.column]) - end) if np.isfinite(end) else -1.0

    event.direction = 1.0  # type: ignore[attr-defined]
    return event


METHODS = (
    Method(
        "event_driven",
        8,
        "DOP853 up to the instant of each impact, steps of dt while something rests",
        integrate_event_driven,
        refusals=(refuse_muscle_states, refuse_corners),
        at_cusps=True,
    ),
)
