"""A model moved by few coordinates alone (Wang 2022, sec. 4.6.2); `ModelBuilder.reduce` makes them part of a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics import inverse_dynamics, mass_matrix
from ..dynamics.maximal import positive_solve
from ..errors import DivergedError, ModelError, optional
from ..integrators import INTEGRATORS, adaptive
from ..integrators.base import Problem, Recording
from ..integrators.march import MOST_EVALUATIONS, TOO_MANY
from ..integrators.stops import force_stops, longest_step
from ..joints.functions import Function
from ..model.checks import check_state, refuse_soft, with_inputs
from ..model.model import Model
from ..model.naming import single_coordinate
from ..model.result import Result
from ..motions.table import force_table, interpolated
from ..validation import finite_array, float_array, instance, instances, number, whole_number
from .simulate import make_problem

ADAPTIVE = tuple(method.name for method in adaptive.METHODS)
BETWEEN_REPORTS = 0.05  # s

Slope = Callable[[float, FloatArray], FloatArray]
Write = Callable[[FloatArray], None]


class HyperReduced:
    """A model moved by few coordinates h (nh,), q = rest + directions h + sum of functions of single h.

    With the Jacobian J = dq/dh chained to J_mr (Wang 2022, eqs. 4.84-4.86),

        M_h h'' = f_h,    M_h = J^T M J,    f_h = J^T (tau - b - M J' h'),

    for the mass matrix M and bias b of the reduced coordinates. Forces of the couplings do no work, and constraints
    cannot drift. `ModelBuilder.reduce` does the same for all methods, with contacts, hard limits, soft bodies and
    gradients, except where functions alone follow an h.

    Attributes:
        model: the tree. names: of the coordinates h (nh,).
        directions: (nv, nh). rest: (nv,).
        functions: (coordinate of q, function, coordinate of h) of each nonlinear coupling.
    """

    def __init__(
        self,
        model: Model,
        directions: Any,
        rest: Any = None,
        *,
        names: Sequence[str] | None = None,
        functions: Sequence[tuple[int, Function, int]] = (),
    ) -> None:
        """Args: see the class; rest is 0 and names are ``h0``, ``h1``, ... if not given.

        Raises:
            ModelError: bad shapes or numbers; functions of unknown coordinates; a model with a prescribed coordinate;
                an h that moves nothing.
        """
        nv = instance(model, Model, "model").num_coordinates
        refuse_soft(model)
        self.model = model
        matrix = float_array(directions, "directions")
        if matrix.ndim != 2 or not matrix.shape[1]:
            raise ModelError(f"directions must have shape ({nv}, nh), got {matrix.shape}")
        self.directions = finite_array(matrix, (nv, matrix.shape[1]), "directions")
        self.rest = np.zeros(nv) if rest is None else finite_array(rest, (nv,), "rest")
        given = [f"h{k}" for k in range(matrix.shape[1])] if names is None else names
        self.names = instances(given, str, "names")
        if len(set(self.names)) != matrix.shape[1]:
            raise ModelError(f"there must be {matrix.shape[1]} different names, got {self.names}")
        self.functions = instances(functions, tuple, "functions")
        for coupling in self.functions:
            row, function, column = coupling if len(coupling) == 3 else (None, None, None)
            if not isinstance(function, Function):
                raise ModelError(f"a coupling needs a function of physics.joints, got {coupling!r:.80}")
            whole_number(row, "coordinate of a coupling", 0, nv - 1)
            whole_number(column, "coordinate h of a coupling", 0, len(self.names) - 1)
        moved = np.abs(self.directions).max(axis=0, initial=0.0) > 0.0
        moved[[column for _, _, column in self.functions]] = True
        if not moved.all():
            raise ModelError(f"coordinate {self.names[int(np.argmin(moved))]!r} moves nothing")
        if model.prescribed.any():
            name = model.coordinate_names[int(np.argmax(model.prescribed))]
            raise ModelError(f"{name} is prescribed and cannot be coupled")

    @classmethod
    def coupled(
        cls, model: Model, couplings: Mapping[str, tuple[str, Function] | float], rest: Any = None
    ) -> HyperReduced:
        """Couple some coordinates to others or fix them; all others are the coordinates h.

        Args:
            couplings: by name of a coordinate (``"finger.angle"``), or of a body with a single one: (name of its
                driver, function), or the number at which it is fixed. A driver that is no coordinate of the model
                becomes a new coordinate h.
            rest: (nv,), added to the couplings; 0 if not given.

        Raises:
            ModelError: a name that is no coordinate; a driver that itself follows another; bad numbers.
        """
        followers = {single_coordinate(model, name): value for name, value in couplings.items()}
        free = [d for d in range(model.num_coordinates) if d not in followers]
        names = [model.coordinate_names[d] for d in free]
        offset = np.zeros(model.num_coordinates)
        functions: list[tuple[int, Function, int]] = []
        for d, value in followers.items():
            if not isinstance(value, tuple):
                offset[d] = finite_array(value, (), f"value of {model.coordinate_names[d]}")
                continue
            leader, function = value
            if not isinstance(leader, str):
                raise ModelError(f"driver of {model.coordinate_names[d]} must be a name, got {leader!r:.80}")
            if leader in model.body_names:
                leader = model.coordinate_names[single_coordinate(model, leader)]
            if leader in model.coordinate_names and leader not in names:
                raise ModelError(
                    f"{leader!r} cannot drive {model.coordinate_names[d]}: it follows another coordinate itself"
                )
            if leader not in names:
                names.append(leader)
            functions.append((d, function, names.index(leader)))
        directions = np.zeros((model.num_coordinates, len(names)))
        directions[free, np.arange(len(free))] = 1.0
        if rest is not None:
            offset = offset + finite_array(rest, offset.shape, "rest")
        return cls(model, directions, offset, names=names, functions=functions)

    @property
    def num_coordinates(self) -> int:
        """nh."""
        return len(self.names)

    def coordinates(self, h: Any) -> FloatArray:
        """q (nv,) at h (nh,)."""
        return self._evaluate(self._vector(h, "h"))[0]

    def jacobian(self, h: Any) -> FloatArray:
        """J = dq/dh (nv, nh) at h (nh,)."""
        return self._evaluate(self._vector(h, "h"))[1]

    def jacobian_rate_product(self, h: Any, hd: Any) -> FloatArray:
        """J' h' (nv,): the coordinates' accelerations at zero accelerations of h."""
        h, hd = self._vector(h, "h"), self._vector(hd, "hd")
        bias = np.zeros(self.model.num_coordinates)
        for row, function, column in self.functions:
            bias[row] += function.derivatives(h[column])[2] * hd[column] ** 2
        return bias

    def state(self, h: Any = None, hd: Any = None, time: float = 0.0) -> State:
        """The model's state at h (nh,) with velocities hd (nh,); 0 if not given."""
        h = np.zeros(self.num_coordinates) if h is None else self._vector(h, "h")
        hd = np.zeros(self.num_coordinates) if hd is None else self._vector(hd, "hd")
        q, jacobian = self._evaluate(h)
        return self.model.state(q=q, qd=jacobian @ hd, time=time)

    def dynamics(self, h: Any, hd: Any, tau: Any = None, time: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """M_h (nh, nh) and f_h (nh,) (Wang 2022, eq. 4.86) under generalized forces tau (nv,) of the model."""
        state = check_state(self.model, self.state(h, hd, time))
        jacobian = self.jacobian(h)
        given, inputs = self._split(tau)
        force = given - inverse_dynamics(self.model, state, self.jacobian_rate_product(h, hd), inputs)
        inertia: FloatArray = jacobian.T @ mass_matrix(self.model, state) @ jacobian
        return inertia, jacobian.T @ force

    def forward_dynamics(self, h: Any, hd: Any, tau: Any = None, time: float = 0.0) -> FloatArray:
        """h'' (nh,) under generalized forces tau (nv,) of the model, gravity, springs, dampers and limits.

        Raises:
            ModelError: bad shapes or numbers; an h that moves no inertia here.
            JointRangeError: a coordinate outside the range of a joint whose policy is ``"error"``.
        """
        inertia, force = self.dynamics(h, hd, tau, time)
        hdd = positive_solve(inertia, force)
        if not np.isfinite(hdd).all():
            name = self.names[int(np.argmin(np.isfinite(hdd)))]
            raise ModelError(f"the acceleration of {name} is not finite: velocities are too large")
        return hdd

    def accelerations(self, h: Any, hd: Any, hdd: Any) -> FloatArray:
        """q'' = J h'' + J' h' (nv,)."""
        return self.jacobian(h) @ self._vector(hdd, "hdd") + self.jacobian_rate_product(h, hd)

    def coupling_forces(self, h: Any, hd: Any, hdd: Any, tau: Any = None, time: float = 0.0) -> FloatArray:
        """Generalized forces (nv,) of the couplings; they do no work: J^T times them is 0."""
        given, inputs = self._split(tau)
        motion = self.state(h, hd, time), self.accelerations(h, hd, hdd)
        return inverse_dynamics(self.model, *motion, inputs) - given

    def _split(self, tau: Any) -> tuple[FloatArray, FloatArray]:
        """Generalized forces (nv,) and inputs of the model."""
        complete, nv = with_inputs(self.model, tau, "tau"), self.model.num_coordinates
        return complete[:nv], complete[nv:]

    def simulate(
        self,
        h: Any,
        hd: Any,
        duration: float,
        dt: float = 1e-3,
        integrator: str = "rk4",
        *,
        time: float = 0.0,
        tau: Any = None,
        record_interval: float | None = None,
        progress: Any = None,
        rtol: float = 1e-8,
        atol: float = 1e-10,
    ) -> Result:
        """The motion of the model from h (nh,) with velocities hd (nh,), by ``"rk4"`` or SciPy's adaptive methods.

        Arguments are as in `simulate`. The result's ``info`` also has ``"h"`` and ``"hd"`` (T, nh). Rotation vectors
        keep their chart, so they must stay below a full turn.

        Raises:
            ModelError, DivergedError, CancelledError, MissingDependencyError: as `simulate`.
        """
        if integrator != "rk4" and integrator not in ADAPTIVE:
            raise ModelError(
                f"unknown hyper-reduced integrator {integrator!r}; known are rk4, {', '.join(ADAPTIVE)}"
            )
        _check_free(self.model)
        start, table = self.state(h, hd, number(time, "time")), force_table(self.model, tau)
        options = {"record_interval": record_interval, "progress": progress, "rtol": rtol, "atol": atol}
        problem, _ = make_problem(self.model, start, duration, dt, integrator, **options)
        samples = problem.samples + problem.origin
        problem = replace(problem, start=start.time, samples=samples, tau=table, origin=0.0)
        y = np.concatenate([self._vector(h, "h"), self._vector(hd, "hd")])
        return _integrated(self, problem, start, y)

    def _vector(self, value: Any, name: str) -> FloatArray:
        return finite_array(np.atleast_1d(float_array(value, name)), (self.num_coordinates,), name)

    def _evaluate(self, h: FloatArray) -> tuple[FloatArray, FloatArray]:
        q, jacobian = self.rest + self.directions @ h, self.directions.copy()
        for row, function, column in self.functions:
            value, slope, _ = function.derivatives(h[column])
            q[row] += value
            jacobian[row, column] += slope
        return q, jacobian


def _check_free(model: Model) -> None:
    """ModelError for what only the model itself supports."""
    refused = [*model.constraints, *model.contact_names, *(law.name for law in model.feedback_laws)]
    for name in [*refused, *filter(None, [model.cusped]), *["limit_restitution"] * model.has_hard_limits][:1]:
        raise ModelError(
            "HyperReduced does not support constraints, contacts, feedback, cusps and hard limits, as "
            f"{name!r}: use ModelBuilder.reduce"
        )


def _integrated(hyper: HyperReduced, problem: Problem, start: State, y: FloatArray) -> Result:
    """Run a problem from h and hd in y (2 nh,); the result's info also has ``"h"`` and ``"hd"`` (T, nh)."""
    nh, name = hyper.num_coordinates, problem.integrator
    recording = Recording(problem, start.q, start.qd, {"integrator": name, "evaluations": 0})
    last_report = perf_counter()
    motion = np.zeros((len(problem.samples), 2 * nh))
    written = 0

    def slope(t: float, y: FloatArray) -> FloatArray:
        nonlocal last_report
        recording.info["evaluations"] += 1
        if name != "rk4" and recording.info["evaluations"] > MOST_EVALUATIONS:
            raise DivergedError(t, hyper.model.body_names[0], TOO_MANY, recording.result(written))
        if perf_counter() - last_report > BETWEEN_REPORTS:
            last_report = perf_counter()
            recording.report((t - problem.start) / problem.duration, written)
        try:
            hdd = hyper.forward_dynamics(y[:nh], y[nh:], interpolated(t, *problem.tau), t)
        except ModelError as error:
            body = hyper.model.body_names[0]
            raise DivergedError(t, body, str(error), recording.result(written)) from error
        return np.concatenate([y[nh:], hdd])

    def write(samples: FloatArray) -> None:
        nonlocal written
        for y in samples:
            motion[written] = y
            recording.q[written] = hyper.coordinates(y[:nh])
            recording.qd[written] = hyper.jacobian(y[:nh]) @ y[nh:]
            written += 1
        recording.info["h"], recording.info["hd"] = np.split(motion[:written], 2, axis=1)

    write(y[None])
    (_runge_kutta if name == "rk4" else _adaptive)(problem, slope, y, write)
    recording.report(1.0, written)
    return recording.result(written)


def _runge_kutta(problem: Problem, slope: Slope, y: FloatArray, write: Write) -> None:
    """The classical method; samples between its steps are on cubics."""
    steps, waiting = int(np.ceil(problem.duration / problem.dt - 1e-9)), problem.samples[1:]
    end = problem.start + problem.duration
    first = slope(problem.start, y)
    for step in range(steps):
        t = problem.start + step * problem.dt
        dt = min(problem.dt, end - t)
        change, stage = np.zeros_like(y), first
        for place, weight in INTEGRATORS["rk4"].stages:
            if place:
                stage = slope(t + place * dt, y + place * dt * stage)
            change += dt / 6.0 * weight * stage
        last = slope(t + dt, y + change)
        inside = waiting if step == steps - 1 else waiting[waiting <= t + dt * (1.0 + 1e-9)]
        x = ((inside - t) / dt)[:, None]
        bend = (1.0 - x) * (dt * first - change) + x * (change - dt * last)
        write(y + x * change + x * (1.0 - x) * bend)
        waiting = waiting[len(inside) :]
        y, first = y + change, last


def _adaptive(problem: Problem, slope: Slope, y: FloatArray, write: Write) -> None:
    name = problem.integrator
    solve_ivp = optional("scipy.integrate", f"the integrator {name!r}").solve_ivp
    now, end, waiting = problem.start, problem.start + problem.duration, problem.samples[1:]
    options: dict[str, Any] = {"method": name, "rtol": problem.rtol, "atol": problem.atol}
    for until in [*force_stops(problem, now, end), end]:
        inside = waiting if until == end else waiting[waiting <= until]
        waiting = waiting[len(inside) :]
        asked = np.unique(np.append(inside, until))
        solution = solve_ivp(
            slope, (now, until), y, t_eval=asked, max_step=longest_step(problem, now, until), **options
        )
        write(solution.y.T[: len(inside)])
        if solution.status < 0:
            raise ModelError(f"the integrator {name!r} stopped: {solution.message}")
        now, y = until, solution.y[:, -1]
