"""The motion nearest to a given one that torques within a budget bring about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..bodies.state import State
from ..dynamics import mass_matrix
from ..dynamics.samples import SampledDynamics, inverse_dynamics_of_samples
from ..errors import DivergedError, ModelError
from ..model.model import Model
from ..model.observation import observe
from ..model.result import Result
from ..motions.table import Table, interpolated
from ..simulation.simulate import simulate
from ..validation import instance, near_names, number
from .gradient import NO_GRADIENT
from .objectives import Effort, Follow
from .optimum import Progress, optimize
from .parameters import Parameter
from .residuals import shares_of_rows

#: frequency [Hz] above which a given motion counts as noise where its torques are asked for
CUTOFF = 6.0
#: share of the samples whose torques are within the usual one
MOST = 0.9
#: budgets are at least this share of the largest
LEAST = 1e-3
#: how much squared torques count, all at their usual size, against a motion that is 1 % of the chain's size off
EFFORT = 1e-3
#: how stiffly [rad/s] torques that follow the motion from state to state do so, among which a search begins
FOLLOWING = (5.0, 10.0, 20.0)
#: longest span [s] in which torques are searched for together: deviations grow with time, of what stands
TOGETHER = 1.2


@dataclass(frozen=True, eq=False)
class NearestMotion:
    """A motion near a given one.

    Attributes:
        result: of the simulation from `state` by `inputs`, with a sample at each step.
        times: of the given motion (T,) [s].
        apart: root mean square distance (T, bodies) [m] of each body's mass from where the given motion has it; 0 of
            what moves on coordinates that do not follow it.
        distance: the same of all mass and times [m].
        budgets: {coordinate: largest torque [N m, N]}. gradients: how many it took.
    """

    result: Result
    state: State
    inputs: Table
    times: FloatArray
    apart: FloatArray
    distance: float
    budgets: dict[str, float]
    gradients: int

    @property
    def saturated(self) -> tuple[str, ...]:
        """Coordinates whose torque reaches its budget at some row of the inputs."""
        model, values = self.result.model, np.asarray(self.inputs.values)
        most = {name: np.abs(values[:, model.coordinate_index(name)]).max() for name in self.budgets}
        return tuple(name for name, budget in self.budgets.items() if most[name] >= budget)


def nearest_motion(
    model: Model,
    times: Any,
    q: Any,
    dt: float,
    *,
    integrator: str = "sdirk2",
    inputs: Table,
    torques: Sequence[str] | None = None,
    followed: Sequence[str] | None = None,
    strength: float = 1.0,
    budgets: Mapping[str, float] | None = None,
    state: State | None = None,
    most_gradients: int = 300,
    progress: Progress | None = None,
) -> NearestMotion:
    """Torques within budgets whose motion stays nearest to a given one: the mean over its times of all mass's squared
    distance is locally least, to first order, with little effort.

    The torques of a smoothed motion set the budgets. With those, cut off at the budgets, a search begins, or with
    torques that follow the motion from state to state, whichever come nearer. Longer motions are searched through in
    spans that overlap by half. Torques and budgets are numbers of single precision.

    Args:
        model: without constraints and contacts, see `gradient`.
        times, q: of the given motion, (T,), increasing [s], and coordinates (T, nv); T at least 6.
        dt, integrator: as of `gradient`; the last time is a whole number of steps after the first.
        inputs: at its times, the knots, torques are found, straight between them; its other columns act as they are.
            The first and last time are those of the motion.
        torques: coordinates that have them; None: all. Others, such as those of a root, move as they are moved.
        followed: coordinates that are to stay near the motion; None: all. Others count as still where torques are
            guessed, and what moves on them is not compared.
        strength: budgets as a share of the torque that suffices in nine tenths of the motion. budgets: {coordinate:
            largest torque [N m, N]} of those that have one of their own.
        state: the start; None: that of the smoothed motion. most_gradients: of each span.
        progress: called with the gradients so far and the share of the motion that is done; False cancels.

    Raises:
        ModelError, DivergedError, CancelledError, MissingDependencyError: as of `optimize`.
    """
    smooth = inverse_dynamics_of_samples(instance(model, Model, "model"), times, q, cutoff=CUTOFF)
    knots, values = instance(inputs, Table, "inputs").checked(model)
    names = list(model.coordinate_names if torques is None else torques)
    columns = np.array([model.coordinate_index(name) for name in names], dtype=np.int64)
    most = _budgets(smooth.tau[:, columns], names, number(strength, "strength", positive=True), budgets or {})
    times = smooth.times
    for name, own in (("first", 0), ("last", -1)):
        if abs(knots[own] - times[own]) > 1e-9 * (1.0 + abs(times[own])):
            raise ModelError(
                f"the {name} row of inputs is at {knots[own]:g} s, the {name} time at {times[own]:g} s"
            )
    metric = np.array([mass_matrix(model, model.state(q=row)) for row in smooth.q])
    mass = float(sum(body.mass for body in model.bodies))
    metric /= mass
    aside = np.array(
        [followed is not None and name not in followed for name in model.coordinate_names], dtype=bool
    )
    metric[:, aside], metric[:, :, aside] = 0.0, 0.0
    start = model.state(q=smooth.q[0], qd=smooth.qd[0], time=times[0]) if state is None else state
    wanted = _Wanted(model, smooth, np.asarray(q, dtype=float), mass, metric, columns, most, dt, integrator)
    table, done = values.copy(), 0
    begin, now = 0, start
    spans = _spans(knots)
    for number_, (last, kept) in enumerate(spans):

        def reports(gradients: int, _value: float, before: int = done, share: int = number_) -> bool | None:
            part = min(gradients / most_gradients, 1.0)
            return None if progress is None else progress(before + gradients, (share + part) / len(spans))

        rows = slice(begin, last + 1)
        table[rows], count = wanted.search(
            now, Table(knots[rows], table[rows]), int(begin > 0), most_gradients, reports
        )
        done += count
        table[:, columns] = table[:, columns].astype(np.float32)
        moved = wanted.simulated(now, Table(knots[rows], table[rows]), float(knots[kept] - knots[begin]))
        begin, now = kept, _end(moved)
    found = Table(knots, table)
    result = wanted.simulated(start, found, float(times[-1] - times[0]))
    is_compared = _are_compared(model, aside)
    apart = np.where(is_compared, _apart(model, result, times, np.asarray(q, dtype=float)), 0.0)
    shares = np.where(is_compared, [body.mass for body in model.bodies], 0.0)
    distance = float(np.sqrt((apart**2 @ shares).mean() / max(shares.sum(), 1e-300)))
    return NearestMotion(result, start, found, times, apart, distance, dict(zip(names, most.tolist())), done)


@dataclass(frozen=True, eq=False)
class _Wanted:
    """A smoothed motion, the coordinates q (T, nv) and metric (T, nv, nv) of the given one, columns of torques and
    their largest values (k,), and how it is simulated. The metric is that of the mass matrix, as a share of all mass.
    """

    model: Model
    smooth: SampledDynamics
    q: FloatArray
    mass: float
    metric: FloatArray
    columns: IntArray
    most: FloatArray
    dt: float
    integrator: str

    def simulated(self, state: State, tau: Any, duration: float) -> Result:
        return simulate(self.model, state, duration, self.dt, self.integrator, tau=tau)

    def search(
        self, state: State, given: Table, held: int, most_gradients: int, progress: Progress
    ) -> tuple[FloatArray, int]:
        """The best rows (K, nv + inputs) of a table over its times, of which the first ones are held, and how many
        gradients that took.
        """
        knots, duration = given.times, float(given.times[-1] - given.times[0])
        inside = self.inside(given)
        follow = Follow(self.smooth.times[inside], self.q[inside], self.metric[inside])
        names = [self.model.coordinate_names[k] for k in self.columns]
        size = float(np.trace(self.metric.mean(axis=0)))
        efforts = [
            1.0 / (len(names) * duration * most**2) * Effort([name]) for name, most in zip(names, self.most)
        ]
        objective = 1e4 / size * follow
        for each in efforts:
            objective = objective + EFFORT * each
        bounds = {
            Parameter("torque", name, row): (-most, most)
            for name, most in zip(names, self.most)
            for row in range(held, len(knots))
        }
        starts = [self._begun(given, torques, held) for torques in self._starts(state, given)]
        losses = [self._loss(state, Table(knots, rows)) for rows in starts]
        found = optimize(
            self.model,
            state,
            duration,
            self.dt,
            integrator=self.integrator,
            objective=objective,
            parameters=list(bounds),
            tau=Table(knots, starts[int(np.argmin(losses))]),
            bounds=bounds,
            most_gradients=most_gradients,
            progress=progress,
        )
        return np.array(instance(found.inputs, Table, "torques").values), found.gradients

    def _begun(self, given: Table, torques: FloatArray, held: int) -> FloatArray:
        """Rows (K, nv + inputs) of a table with torques within their budgets that fit those at the samples best, but
        for the first ones.
        """
        knots, rows, inside = np.asarray(given.times), np.array(given.values), self.inside(given)
        shares = shares_of_rows(knots, self.smooth.times[inside])
        fitted = np.linalg.lstsq(shares, torques[inside][:, self.columns], rcond=None)[0]
        rows[held:, self.columns] = np.clip(fitted, -self.most, self.most)[held:]
        return rows

    def _starts(self, state: State, given: Table) -> Iterator[FloatArray]:
        """Torques (T, nv) at the samples: of the motion, and such as follow it from a state."""
        yield self.smooth.tau
        duration = float(given.times[-1] - given.times[0])
        for stiffness in FOLLOWING:
            feedback = self._feedback(stiffness, given)
            try:
                moved = self.simulated(state, feedback, duration)
            except DivergedError:
                continue
            torques = np.array([feedback(*row) for row in zip(moved.t, moved.q, moved.qd)])
            yield np.array([np.interp(self.smooth.times, moved.t, column) for column in torques.T]).T

    def _feedback(
        self, stiffness: float, given: Table
    ) -> Callable[[float, FloatArray, FloatArray], FloatArray]:
        """Torques and inputs by time and state: those of the motion and of springs to it, critically damped."""
        samples = self.smooth.q, self.smooth.qd, self.smooth.tau, self.metric

        def torques(t: float, q: FloatArray, qd: FloatArray) -> FloatArray:
            wanted, rate, needed, metric = (interpolated(t, self.smooth.times, rows) for rows in samples)
            pull = stiffness**2 * (wanted - q) + 2.0 * stiffness * (rate - qd)
            row = interpolated(t, given.times, given.values)
            whole = needed + self.mass * metric @ pull
            row[self.columns] = np.clip(whole[self.columns], -self.most, self.most)
            return row

        return torques

    def _loss(self, state: State, table: Table) -> float:
        """Mean squared distance [m^2] of the motion of a table, from a state on; infinite where it diverges, or has no
        gradient.
        """
        try:
            moved = self.simulated(state, table, float(table.times[-1] - table.times[0]))
        except DivergedError:
            return np.inf
        if any(moved.info[kind] for kind in NO_GRADIENT):
            return np.inf
        inside = self.inside(table)
        rows = np.round((self.smooth.times[inside] - moved.t[0]) / self.dt).astype(np.int64)
        off = moved.q[rows] - self.q[inside]
        return float(np.einsum("ki,kij,kj->k", off, self.metric[inside], off).mean())

    def inside(self, table: Table) -> BoolArray:
        """Which samples (T,) lie within a table's times."""
        times, early = self.smooth.times, 0.5 * self.dt
        return (times > table.times[0] - early) & (times < table.times[-1] + early)


def _budgets(tau: FloatArray, names: list[str], strength: float, own: Mapping[str, float]) -> FloatArray:
    """Largest torques (k,) of coordinates with torques (T, k) along a motion."""
    usual = np.quantile(np.abs(tau), MOST, axis=0)
    most = strength * np.maximum(usual, LEAST * usual.max(initial=0.0))
    for name, value in own.items():
        if name not in names:
            raise ModelError(f"budgets: {name!r} has no torque{near_names(name, names)}")
        most[names.index(name)] = number(value, f"budget of {name!r}", positive=True)
    if not (most > 0.0).all():
        raise ModelError(f"no torque moves {names[int(np.argmin(most))]!r} in this motion: give it a budget")
    return most.astype(np.float32).astype(np.float64)


def _spans(knots: FloatArray) -> list[tuple[int, int]]:
    """For each span of knots the last row, and the row up to which its torques are kept."""
    count, found, begin = len(knots), list[tuple[int, int]](), 0
    while not found or found[-1][1] < count - 1:
        last = int(np.searchsorted(knots, knots[begin] + TOGETHER, side="right")) - 1
        last = min(max(last, begin + 2), count - 1)
        begin = last if last == count - 1 else (begin + last + 1) // 2
        found.append((last, begin))
    return found


def _end(moved: Result) -> State:
    """The state at the end of a motion."""
    states = None if moved.muscle_states is None else moved.muscle_states[-1]
    return moved.model.state(q=moved.q[-1], qd=moved.qd[-1], time=float(moved.t[-1]), muscle_states=states)


def _are_compared(model: Model, aside: BoolArray) -> BoolArray:
    """Which bodies (nb,) move on no coordinate of those (nv,) that are left aside."""
    found = np.zeros(model.num_bodies, dtype=bool)
    for k, name in enumerate(model.body_names):
        parent = int(model.parent[k])
        found[k] = not aside[model.coordinate_slice(name)].any() and (parent < 0 or found[parent])
    return found


def _apart(model: Model, moved: Result, times: FloatArray, q: FloatArray) -> FloatArray:
    """Root mean square distance (T, bodies) of each body's mass from where coordinates (T, nv) have it."""
    rows = np.array([int(np.argmin(np.abs(moved.t - t))) for t in times])
    found, wanted = moved.poses[rows], observe(model, q, np.zeros_like(q))[0]
    off = found - wanted
    squared = np.zeros(off.shape[:2])
    for k, body in enumerate(model.bodies):
        spread = (
            0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
        )  # second moments about the mass centre
        center = off[:, k, :3, :3] @ body.com + off[:, k, :3, 3]
        turned = np.einsum("tij,jk,tik->t", off[:, k, :3, :3], spread, off[:, k, :3, :3])
        squared[:, k] = (center**2).sum(axis=1) + np.maximum(turned, 0.0) / body.mass
    return np.sqrt(squared)
