"""A model that runs in real time while its parameters change, by the steps of `simulate` (Ertl et al. 1993, sec. 4)."""

import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..errors import ModelError
from ..integrators import FIXED_STEP
from ..integrators.base import Nodes
from ..integrators.control import Control
from ..model.model import Model
from ..model.result import Result
from ..motions.pull import Pull, Pulls
from ..motions.table import force_table
from ..muscles.states import too_short
from ..validation import number
from .knobs import Knobs
from .simulate import check_tendons_along, make_problem, note_paths, run_integrator

LONGEST = 3600.0  # s of motion that a run may last
TICK = 1.0 / 60.0  # s between two frames
REST = 0.5 * TICK  # s that a run sleeps when it is ahead of the clock
SOON = 0.25 * TICK  # s from a change to the frame that shows its effect
MOST_BEHIND = 0.1  # s of delay that a run catches up with; more is dropped
MEMORY = 0.5  # s over which rate and headroom are averaged

UNSEEN = ("inputs", "feedback", "grip")  # parameters without effect on the energies of a recorded motion

Show = Callable[..., None]
Listen = Callable[[], Iterable[Mapping[str, Any]]]


class LiveRun:
    """A run in real time.

    Args:
        model, state, dt, integrator, tau, motions, record_interval, assemble: as in `simulate`; the method has a fixed
            step, and tau is not a function.
        controllers: {muscle: `Proportional`} for muscles whose input has not been changed.
        pulls: {body: `Pull`}, joints that are pulled towards a motion.
        listen: called before every batch of steps; returns the messages since the last call: changes for `Knobs.turn`,
            optionally with ``factor``: seconds of motion per second, or ``stop`` with any value, which ends the run.
        show: called about 60 times a second, and `SOON` after a message, with figures, the poses of the body frames
            (nb, 4, 4), and with soft bodies the places of all nodes (n, 3), ordered as in `State`. Figures: time [s];
            rate, seconds of motion per second; headroom, seconds of motion per second of computation; averaged, the
            time over which both are averaged (about `MEMORY`); heard, number of messages that the poses include;
            energy [J]; and gained, most_kinetic and work [J] of ``Result.info["energy"]``, if known.
        longest: the run ends after this motion [s].

    Raises:
        ModelError: as `simulate` and `Knobs.turn`; a method without fixed steps.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        dt: float,
        integrator: str,
        listen: Listen,
        show: Show,
        *,
        tau: Any = None,
        motions: Any = None,
        controllers: Mapping[str, Any] | None = None,
        pulls: Mapping[str, Pull] | None = None,
        record_interval: float | None = None,
        assemble: bool = False,
        longest: float = LONGEST,
        factor: float = 1.0,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if integrator not in FIXED_STEP:
            raise ModelError(f"a live run needs fixed steps, not {integrator!r}: {', '.join(FIXED_STEP)}")
        self._given, self._table = model, force_table(model, tau)
        self._knobs = Knobs(model, self._table)
        self._turned: list[tuple[float, dict[str, Any]]] = []  # time [s] and changes other than inputs
        self._listen, self._show = listen, show
        self._clock, self._sleep = clock, sleep
        self._problem, self._state = make_problem(
            self._knobs.model,
            state,
            longest,
            dt,
            integrator,
            tau=None,
            motions=motions,
            record_interval=record_interval,
            assemble=assemble,
            steer=self._steer,
        )
        self._problem = dataclasses.replace(
            self._problem, tau=self._knobs.table, feedback=self._knobs.feedback
        )
        if controllers or pulls:
            driven = self._knobs.driven(controllers or {})
            if pulls:
                driven = Pulls(self._knobs.model, pulls, driven, self._problem.dt)
            control = Control(self._knobs.model, driven)
            self._problem = dataclasses.replace(
                self._problem, tau=(control.times, control.values), control=control
            )
        self._dt = self._problem.dt
        self._factor = number(factor, "factor", positive=True)
        self._heard = 0
        # time and step count of the first message that no frame shows yet
        self._since, self._before = np.inf, 0
        self._disturbed = False  # whether a change altered the energy since the last batch
        self._credit = 0.0  # seconds of motion that are due
        self._last = self._shown = self._noted = clock()
        self._done = 0  # steps at the start of the current batch
        self._began = self._last  # start of the current batch
        self._busy, self._moved, self._passed = 1e-9, 0.0, 1e-9  # averaged: computation, motion, time [s]

    def run(self) -> Result:
        """Run until a message stops it or a muscle's path becomes shorter than its tendons.

        Returns:
            The motion, without a record_interval its last 10000 steps or more, with energies under the gravity and
            forces of each time; otherwise as `simulate`.

        Raises:
            DivergedError: as `simulate`. Any error of `listen` or `show`.
        """
        return self.checked(self.motion())

    def motion(self) -> Result:
        """As `run`, without what `checked` adds, which takes long for a long motion."""
        self._last = self._began = self._noted = self._clock()
        result = run_integrator(self._problem, self._state)
        return dataclasses.replace(result, model=self._given)

    def checked(self, result: Result) -> Result:
        """The motion or a part of it with energies; raises as `run`."""
        if self._turned:
            vars(result)["_observed"] = result.poses, self._energies(result)
        check_tendons_along(self._given, result)
        return note_paths(result)

    def _energies(self, result: Result) -> FloatArray:
        knobs, found = Knobs(self._given, self._table), np.empty((len(result.t), 3))
        slack = 1e-6 * self._dt
        ends = [int(np.searchsorted(result.t, since - slack)) for since, _ in self._turned]
        begin = 0
        for end, changes in zip([*ends, len(result.t)], [*(said for _, said in self._turned), {}]):
            rows = slice(begin, end)
            if end > begin:
                found[rows] = dataclasses.replace(result.part(rows), model=knobs.model).energy
            knobs.turn(changes)
            begin = end
        return found

    def _steer(
        self, done: int, q: FloatArray, qd: FloatArray, nodes: Nodes, info: Mapping[str, Any]
    ) -> tuple[int, bool]:
        """Number of steps due by the clock, after waiting for some; and whether a change altered the energy."""
        self._disturbed = False
        return self._due(done, (q, qd, nodes), info.get("energy", {})), self._disturbed

    def _due(
        self, done: int, moving: tuple[FloatArray, FloatArray, Nodes], books: Mapping[str, float]
    ) -> int:
        now = self._clock()
        moved = (done - self._done) * self._dt  # a batch may be cut at a corner of a motion
        self._credit -= moved
        self._note(now, moved)
        self._done = done
        while True:
            if self._take_in(done):
                return 0
            self._credit += self._factor * (now - self._last)
            self._credit = min(self._credit, self._factor * MOST_BEHIND)
            self._last = now
            due = now - self._shown >= TICK
            if due or (now - self._since >= SOON and done > self._before):
                self._picture(done, moving, books)
                self._since = np.inf
                # an extra frame does not delay the next regular one
                self._shown = now if due else self._shown
                if too_short(self._given, moving[0]) is not None:
                    return 0
            steps = int(self._credit / self._dt)
            if steps:
                break
            rest = REST if self._since == np.inf else SOON
            self._sleep(max(rest, (self._dt - self._credit) / self._factor))
            now = self._clock()
        # at most the steps of one frame, so that messages are handled in time
        most = max(1, int(TICK * self._moved / self._busy / self._dt))
        self._began = self._clock()
        return min(steps, most) if self._problem.control is None else 1

    def _note(self, now: float, moved: float) -> None:
        """Add the finished batch, with its motion [s], to the averages."""
        passed, self._noted = now - self._noted, now
        spent = now - self._began
        if spent > MEMORY:  # includes compilation
            return
        fade = float(np.exp(-passed / MEMORY))
        self._busy = fade * self._busy + spent
        self._moved = fade * self._moved + moved
        self._passed = fade * self._passed + passed

    def _take_in(self, done: int) -> bool:
        """Handle the messages received after `done` steps; whether the run must end."""
        for message in self._listen():
            changes = dict(message)
            if "stop" in changes:
                return True
            if "factor" in changes:
                self._factor = number(changes.pop("factor"), "factor", positive=True)
            self._knobs.turn(changes)
            self._disturbed |= bool(changes.keys() - {"inputs", "feedback"})
            kept = {key: value for key, value in changes.items() if key not in UNSEEN}
            if kept:
                self._turned.append((self._problem.start + done * self._dt, kept))
            self._heard += 1
            if self._since == np.inf:
                self._since, self._before = self._clock(), done
        return False

    def _picture(
        self, done: int, moving: tuple[FloatArray, FloatArray, Nodes], books: Mapping[str, float]
    ) -> None:
        model, (q, qd, nodes) = self._knobs.model, moving
        soft = None if nodes is None else model.soft_mesh.outward(np.stack(nodes))[None]
        seen = Result(model, np.zeros(1), q[None], qd[None], soft_states=soft)
        figures = {
            "time": self._problem.start + done * self._dt,
            "rate": self._moved / self._passed,
            "headroom": self._moved / self._busy,
            "averaged": self._passed,
            "heard": self._heard,
            "energy": float(seen.energy[0, 2]),
            **books,
        }
        self._show(figures, seen.poses[0], *(() if soft is None else (soft[0, 0],)))


def between(result: Result, start: float, end: float) -> Result:
    """The samples of a motion in a closed time interval [s]; ModelError if there are fewer than two."""
    slack = 1e-9 * max(1.0, abs(end))
    rows = np.flatnonzero((result.t >= start - slack) & (result.t <= end + slack))
    if len(rows) < 2:
        raise ModelError(f"from {start:g} s to {end:g} s there are {len(rows)} samples, but a motion needs 2")
    return result.part(slice(int(rows[0]), int(rows[-1]) + 1))
