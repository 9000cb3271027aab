"""The motion nearest to a given one that torques within a budget bring about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from ..bodies.state import State
from ..dynamics import mass_matrix
from ..dynamics.samples import SampledDynamics, inverse_dynamics_of_samples
from ..errors import ModelError
from ..model.model import Model
from ..model.observation import observe
from ..model.result import Result
from ..motions.table import Table
from ..simulation.simulate import simulate
from ..validation import instance, near_names, number
from .motors import motors, with_motors
from .objectives import Effort, Follow
from .optimum import Optimum, Progress, optimize
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
#: longest span [s] in which torques are searched for together: deviations of upright bodies grow with time
TOGETHER = 1.2


@dataclass(frozen=True, eq=False)
class NearestMotion:
    """A motion near a given one.

    Attributes:
        result: of the simulation from `state` by `inputs`, with a sample at each step.
        times: of the given motion (T,) [s].
        apart: root mean square distance (T, bodies) [m] of each body's mass from where the given motion has it; 0 of
            bodies on coordinates that do not follow it.
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
        columns = Effort(list(self.budgets)).columns(self.result.model)
        most = np.abs(np.asarray(self.inputs.values)[:, columns]).max(axis=0)
        return tuple(name for name, each in zip(self.budgets, most) if each >= self.budgets[name])


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
    motions: Any = None,
    most_gradients: int = 300,
    progress: Progress | None = None,
) -> NearestMotion:
    """Torques within budgets whose motion stays nearest to a given one: the mean over its times of all mass's squared
    distance is locally least, to first order, with little effort.

    The torques of a smoothed motion set the budgets; cut off at these a search begins with them. Longer motions are
    searched through in spans that overlap by half. Torques and budgets are numbers of single precision.

    Args:
        model: without constraints and contacts, see `gradient`.
        times, q: of the given motion, (T,), increasing [s], and coordinates (T, nv); T at least 6.
        dt, integrator: as of `gradient`; the last time is a whole number of steps after the first.
        inputs: at its times, the knots, torques are found, straight between them; its other columns act as they are.
            The first and last time are those of the motion, the others whole steps after the first.
        torques: coordinates that have them; None: all. Others, such as those of a root, move as they are moved. Also
            inputs that wrenches between a body and its parent follow: a motor that keeps its axes (`add_wrench`).
        followed: coordinates that are to stay near the motion; None: all. Others count as still where torques are
            guessed, and bodies on them are not compared.
        strength: budgets as a share of the torque that suffices in nine tenths of the motion. budgets: {coordinate:
            largest torque [N m, N]} of those that have one of their own.
        state: the start; None: that of the smoothed motion. motions: as of `gradient`. most_gradients: of each span.
        progress: called with the gradients so far and the share of the motion that is done; False cancels.

    Raises:
        ModelError, DivergedError, CancelledError, MissingDependencyError: as of `optimize`.
    """
    for name in instance(model, Model, "model").constraints:
        raise ModelError(f"a nearest motion is that of a tree, without the constraint {name!r}")
    smooth = inverse_dynamics_of_samples(model, times, q, cutoff=CUTOFF)
    knots, rows = instance(inputs, Table, "inputs").checked(model)
    names = list(model.coordinate_names if torques is None else torques)
    needed = _needed(model, smooth, names)
    columns = np.array(Effort(names).columns(model), dtype=np.int64)
    most = _budgets(needed[:, columns], names, number(strength, "strength", positive=True), budgets or {})
    for k in (0, -1):
        if abs(knots[k] - smooth.times[k]) > 1e-9 * (1.0 + abs(knots[k])):
            raise ModelError(f"inputs have a row at {knots[k]:g} s, which must be at {smooth.times[k]:g} s")
    steps = (knots - knots[0]) / number(dt, "dt", positive=True)
    (odd,) = np.nonzero(np.abs(steps - np.round(steps)) > 1e-6)
    if len(odd):
        raise ModelError(
            f"inputs have a row at {knots[odd[0]]:g} s, which is no whole number of steps after the first"
        )
    for name in followed or ():
        model.coordinate_index(name)
    aside = np.array([followed is not None and name not in followed for name in model.coordinate_names])
    if aside.all():
        raise ModelError(f"followed names none of the coordinates: {list(followed or ())!r:.80}")
    metric = np.array([mass_matrix(model, model.state(q=row)) for row in smooth.q])
    metric[:, aside], metric[:, :, aside] = 0.0, 0.0
    metric /= sum(body.mass for body in model.bodies)
    start = model.state(q=smooth.q[0], qd=smooth.qd[0], time=smooth.times[0]) if state is None else state
    shares = shares_of_rows(knots, smooth.times)
    rows[:, columns] = np.clip(np.linalg.lstsq(shares, needed[:, columns], rcond=None)[0], -most, most)
    wanted = np.asarray(q, dtype=float)
    search = _Search(
        model, Follow(smooth.times, wanted, metric), names, most, dt, integrator, motions, most_gradients
    )
    gradients = search.run(start, knots, rows, progress)
    found = Table(knots, rows)
    result = search.simulated(start, found)
    is_compared = _are_compared(model, aside)
    apart = np.where(is_compared, _apart(model, result, smooth.times, wanted), 0.0)
    masses = np.where(is_compared, [body.mass for body in model.bodies], 0.0)
    distance = float(np.sqrt((apart**2 @ masses).mean() / max(masses.sum(), 1e-300)))
    known = dict(zip(names, most.tolist()))
    return NearestMotion(result, start, found, smooth.times, apart, distance, known, gradients)


@dataclass(frozen=True, eq=False)
class _Search:
    """A model, the motion that it is to follow, names of torques and their largest values, how it is simulated,
    and how many gradients each span of knots may take.
    """

    model: Model
    follow: Follow
    names: list[str]
    most: FloatArray
    dt: float
    integrator: str
    motions: Any
    most_gradients: int

    def simulated(self, state: State, table: Table) -> Result:
        """The motion by a table's forces, over its times."""
        duration = float(table.times[-1] - table.times[0])
        return simulate(
            self.model, state, duration, self.dt, self.integrator, tau=table, motions=self.motions
        )

    def run(self, state: State, knots: FloatArray, rows: FloatArray, progress: Progress | None) -> int:
        """Put the torques found, from a state on, into the rows (K, nv + inputs) at knots (K,) [s], span by span;
        returns how many gradients that took.
        """
        columns = Effort(self.names).columns(self.model)
        begin, done, spans = 0, 0, _spans(knots)
        for index, (last, kept) in enumerate(spans):

            def reports(gradients: int, _value: float, before: int = done, share: int = index) -> Any:
                part = (share + min(gradients / self.most_gradients, 1.0)) / len(spans)
                return None if progress is None else progress(before + gradients, part)

            span = slice(begin, last + 1)
            found = self._span(state, Table(knots[span], rows[span]), int(begin > 0), reports)
            values = instance(found.inputs, Table, "torques").values
            rows[span, columns] = np.asarray(values)[:, columns].astype(np.float32)
            done += found.gradients
            if kept < len(knots) - 1:
                moved = self.simulated(state, Table(knots[begin : kept + 1], rows[begin : kept + 1]))
                begin, state = kept, _end(moved)
        return done

    def _span(self, state: State, given: Table, held: int, progress: Progress) -> Optimum:
        """The best torques from a state on at the times of a table, of which the first ones are held."""
        times, duration = np.asarray(self.follow.times), float(given.times[-1] - given.times[0])
        inside = (times > given.times[0] - 1e-9) & (times < given.times[-1] + 1e-9)
        if not inside.any():
            raise ModelError(
                f"the motion has no time between {given.times[0]:g} and {given.times[-1]:g} s, where inputs have rows"
            )
        metric = self.follow.metric[inside]
        objective = (
            1e4 / np.trace(metric.mean(axis=0)) * Follow(times[inside], self.follow.values[inside], metric)
        )
        bounds = {}
        for name, most in zip(self.names, self.most):
            objective += EFFORT / (len(self.names) * duration * most**2) * Effort([name])
            for row in range(held, len(given.times)):
                kind = "input" if name in self.model.input_names else "torque"
                bounds[Parameter(kind, name, row)] = -most, most
        return optimize(
            self.model,
            state,
            duration,
            self.dt,
            integrator=self.integrator,
            objective=objective,
            parameters=list(bounds),
            tau=given,
            motions=self.motions,
            bounds=bounds,
            most_gradients=self.most_gradients,
            progress=progress,
        )


def _needed(model: Model, smooth: SampledDynamics, names: list[str]) -> FloatArray:
    """Forces and inputs (T, nv + inputs) of a motion, by the motors among the names; ModelError for other inputs."""
    for name in names:
        if name not in model.input_names:
            model.coordinate_index(name)
        elif name not in motors(model):
            raise ModelError(
                f"torques: no wrench between a body and its parent alone follows the input {name!r}"
            )
    moments = zip(smooth.q, smooth.qd, smooth.times, smooth.tau)
    rows = [with_motors(model, model.state(q=q, qd=qd, time=t), tau, names) for q, qd, t, tau in moments]
    return np.array(rows) + model.with_inputs(None)


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
    single: FloatArray = most.astype(np.float32).astype(np.float64)
    return single


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
        # second moments about the mass centre
        spread = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
        center = off[:, k, :3, :3] @ body.com + off[:, k, :3, 3]
        turned = np.einsum("tij,jk,tik->t", off[:, k, :3, :3], spread, off[:, k, :3, :3])
        squared[:, k] = (center**2).sum(axis=1) + np.maximum(turned, 0.0) / body.mass
    return np.sqrt(squared)
