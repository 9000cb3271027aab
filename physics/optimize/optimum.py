"""A search for the parameters with the least loss, along gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics import inverse_dynamics
from ..errors import CancelledError, DivergedError, MissingDependencyError, ModelError
from ..model.model import Model
from ..motions.table import Table
from ..validation import chosen, finite_array, float_array, instance, listed, whole_number
from .gradient import Task, make_task
from .motors import motors, with_motors, without
from .objectives import Objective
from .parameters import Parameter, Places, forces_of
from .residuals import SumOfSquares
from .starts import from_inverse_kinematics, stiff
from .steps import Motion

FROM_POSES = "inverse kinematics"
#: pairs of steps and changes of slopes that L-BFGS-B keeps
CORRECTIONS = 30
#: called after each gradient with their number so far and the least loss; returning False cancels
Progress = Callable[[int, float], "bool | None"]


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best that a search found.

    Attributes:
        value: the loss. parameters: {`Parameter`: number or array}.
        model, state, inputs: to simulate it with: ``simulate(model, state, ..., tau=inputs)``.
        converged: whether no step along the gradient lessens the loss. reason: why the search ended, in words.
        gradients: how many were evaluated.
    """

    value: float
    parameters: dict[Parameter, FloatArray]
    model: Model
    state: State
    inputs: FloatArray | Table
    converged: bool
    reason: str
    gradients: int


def optimize(
    model: Model,
    state: State,
    duration: float,
    dt: float,
    *,
    integrator: str,
    objective: Objective,
    parameters: Any,
    tau: Any = None,
    motions: Any = None,
    bounds: Mapping[Parameter, Any] | None = None,
    method: str | None = None,
    starts: Any = None,
    most_gradients: int = 200,
    progress: Progress | None = None,
) -> Optimum:
    """Parameters of a simulation with a locally least loss.

    Args:
        model, state, duration, dt, integrator, objective, parameters, tau, motions: as of `gradient`.
        bounds: {parameter: (lower, upper)} of all its numbers, None for an open end. Stiffness, damping, tensions and
            excitations keep within what a model takes, excitations above a law's least activation.
        method: of SciPy. ``"L-BFGS-B"``, also if None; ``"least squares"`` (trust region) for sums of `Reach`, `Aim`,
            `Rest`, `Pose` and `Effort`: a gradient then is one of each residual, and far fewer are needed. ``"SLSQP"``
            meets all but `Effort` of such a sum exactly, whatever their factors, with the least `Effort`.
        starts: a list of {parameter: number or array}; the best result of all counts. None: one start from the numbers
            given, where torques without tau are those that hold the state against gravity. ``"inverse kinematics"``:
            the best of these numbers, of torques that hold, and of those of a smooth motion to poses that meet `Reach`
            and `Pose`; without torques among the parameters, of excitations that give them.
        most_gradients: after which a search from one start ends.
        progress: called after each gradient with their number and the least loss so far; returning False cancels.

    Raises:
        ModelError, DivergedError: as of `gradient`, the latter at the start. CancelledError: with the `Optimum` so far.
        MissingDependencyError: without SciPy.
    """
    method = chosen("L-BFGS-B" if method is None else method, METHODS, "method of a search")
    if progress is not None and not callable(progress):
        raise ModelError(f"progress must be callable, got {progress!r:.80}")
    most = whole_number(most_gradients, "most_gradients", 1)
    task = make_task(Motion(model, state, duration, dt, integrator, tau, motions), objective, parameters)
    limits = _limits(task, bounds)
    begins = [_against_gravity(task) if tau is None else task.places.read(task.values)]
    if isinstance(starts, str):
        chosen(starts, (FROM_POSES,), "starts")
        tried = [*begins, _against_gravity(task), from_inverse_kinematics(task)]
        begins = [_best(task, [np.clip(each, *limits.T) for each in tried])]
    elif starts is not None:
        begins = [_start(task, each, f"starts[{k}]") for k, each in enumerate(listed(starts, "starts"))]
        if not begins:
            raise ModelError("starts: at least one is needed, got none")
    search = METHODS[method](task, most, progress)
    for begin in begins:
        search.run(np.clip(begin, *limits.T), limits)
    return search.optimum()


class _Enough(Exception):
    """A search has had its gradients."""


class Search:
    """Gradients evaluated so far, and the best of them."""

    def __init__(self, task: Task, most: int, progress: Progress | None) -> None:
        self.task, self.most, self.progress = task, most, progress
        self.best: tuple[float, Task] | None = None
        self.gradients, self.last, self.converged, self.reason = 0, most, False, ""
        self.highest = 0.0

    def run(self, begin: FloatArray, limits: FloatArray) -> None:
        """Search from one start; keeps the better result."""
        try:
            import scipy.optimize
        except ImportError as error:
            raise MissingDependencyError("optimize needs SciPy, which is not installed") from error
        before, self.last = np.inf if self.best is None else self.best[0], self.gradients + self.most
        try:
            found = self._search(scipy.optimize, begin, limits)
            converged, reason = bool(found.success), str(found.message)
        except _Enough:
            converged, reason = False, f"{self.most} gradients did not suffice"
        except DivergedError as error:
            if self.best is None:
                raise
            converged, reason = False, f"a trial {error}"
        if self.best is not None and self.best[0] < before:
            self.converged, self.reason = converged, reason

    def _search(self, scipy: Any, begin: FloatArray, limits: FloatArray) -> Any:
        """What SciPy found."""
        widths = np.diff(limits)[:, 0]  # numbers of different sizes make a narrow valley
        scale = np.where(np.isfinite(widths) & (widths > 0.0), 0.5 * widths, 1.0)

        def evaluate(shares: FloatArray) -> tuple[float, FloatArray]:
            value, slopes = self._evaluate(np.clip(scale * shares, *limits.T))
            return value, scale * slopes

        options = {
            "maxiter": self.most,
            "maxfun": self.most + 1,
            "maxcor": CORRECTIONS,
            "ftol": 1e-13,
            "gtol": 1e-9,
        }
        bounds = limits / scale[:, None]
        return scipy.minimize(
            evaluate, begin / scale, jac=True, method="L-BFGS-B", bounds=bounds, options=options
        )

    def _evaluate(self, row: FloatArray) -> tuple[float, FloatArray]:
        self._count()
        try:
            task = self.task.with_values(row)
            value, slopes = task.evaluate()
        except (
            DivergedError,
            ModelError,
        ):  # also where a trial has what no model has, as a negative strength
            if self.best is None:
                raise
            return 2.0 * self.highest, np.zeros_like(row)  # the line search then takes a shorter step
        self.highest = max(self.highest, value)
        self._note(value, task)
        return value, self.task.places.read(slopes)

    def _count(self) -> None:
        """Begin another gradient."""
        if self.gradients == self.last:
            raise _Enough
        self.gradients += 1

    def _note(self, value: float, task: Task) -> None:
        """Keep what is best, and report."""
        if self.best is None or value < self.best[0]:
            self.best = value, task
        if self.progress is not None:
            answer = self.progress(self.gradients, self.best[0])
            if isinstance(answer, bool | np.bool_) and not answer:
                self.reason = "cancelled"
                raise CancelledError(f"cancelled after {self.gradients} gradients", self.optimum())

    def optimum(self) -> Optimum:
        """The best so far."""
        if self.best is None:
            raise ModelError("a search without a gradient has no optimum")
        value, task = self.best
        found = task.places.named(task.places.read(task.values))
        inputs = forces_of(task.values, task.times)
        return Optimum(
            value, found, task.model, task.state, inputs, self.converged, self.reason, self.gradients
        )


class LeastSquares(Search):
    """A search by residuals: a trial that diverges is taken back."""

    def __init__(self, task: Task, most: int, progress: Progress | None) -> None:
        super().__init__(task, most, progress)
        self.squares, self.size = SumOfSquares(task), 0

    def _search(self, scipy: Any, begin: FloatArray, limits: FloatArray) -> Any:
        options: dict[str, Any] = {"x_scale": "jac", "ftol": 1e-12, "xtol": 1e-12, "gtol": 1e-14}
        return scipy.least_squares(self._residuals, begin, self._slopes, limits.T, **options)

    def _residuals(self, row: FloatArray) -> FloatArray:
        try:
            task = self.task.with_values(row)
            values = self.squares.values(task)
        except (DivergedError, ModelError):
            if self.best is None:
                raise
            return np.full(self.size, np.inf)
        self.size = len(values)
        self._note(float(values @ values), task)
        return values

    def _slopes(self, row: FloatArray) -> FloatArray:
        self._count()
        return self.squares.slopes(self.task.with_values(row))


class Constrained(LeastSquares):
    """A search for the least effort among parameters that meet all other parts of the objective."""

    def _search(self, scipy: Any, begin: FloatArray, limits: FloatArray) -> Any:
        goals, slopes = len(self.squares.parts), self.squares.effort_slopes(self.task)
        at_zero = self.squares.efforts(self.task.with_values(begin)) - slopes @ begin

        def effort(row: FloatArray) -> tuple[float, FloatArray]:
            residuals = slopes @ row + at_zero
            return float(residuals @ residuals), 2.0 * slopes.T @ residuals

        meets = {
            "type": "eq",
            "fun": lambda row: self._residuals(row)[:goals],
            "jac": lambda row: self._slopes(row)[:goals],
        }
        options = {"maxiter": self.most, "ftol": 1e-9}
        (earlier, self.best), met = (self.best, None), False
        try:
            found = scipy.minimize(
                effort, begin, jac=True, method="SLSQP", bounds=limits, constraints=[meets], options=options
            )
            met = bool(found.success)
            if met:  # on the way trials may have had less effort
                self.best = None
                self._residuals(found.x)
            return found
        finally:
            self._compare(earlier, met)

    def _compare(self, earlier: tuple[float, Task] | None, met: bool) -> None:
        """Go back to the best of earlier starts, unless this one has met the goals with less."""
        if earlier is not None and (not met or self.best is None or earlier[0] <= self.best[0]):
            self.best = earlier


METHODS: dict[str, type[Search]] = {
    "L-BFGS-B": Search,
    "least squares": LeastSquares,
    "SLSQP": Constrained,
}


def _against_gravity(task: Task) -> FloatArray:
    """The numbers given, with torques that hold the state at rest where torques or motors are parameters."""
    task = stiff(task)
    still = replace(task.state, qd=np.zeros_like(task.state.qd))
    pushing = [each.name for each in task.places.parameters if each.kind in ("torque", "input")]
    inputs = without(task.model, task.values["table"][0], pushing)
    holding = inverse_dynamics(task.model, still, None, inputs)
    holding = with_motors(task.model, still, holding, pushing)
    row, known = task.places.read(task.values), motors(task.model)
    for each, part, (_, place) in zip(task.places.parameters, task.places.slices, task.places.places):
        if each.kind == "torque" or (each.kind == "input" and each.name in known):
            row[part] = holding[place[-1]]
    return row


def _best(task: Task, starts: list[FloatArray]) -> FloatArray:
    """That of several starts with the least loss; one that diverges has none."""
    losses = []
    for row in starts:
        try:
            losses.append(task.with_values(row).loss())
        except (DivergedError, ModelError):
            losses.append(np.inf)
    return starts[int(np.argmin(losses))]


def _known(places: Places, parameter: Any, what: str) -> int:
    """Number of a parameter; ModelError if it is none of the search's."""
    if parameter not in places.parameters:
        raise ModelError(f"{what}: {parameter!r:.120} is not among the parameters")
    return places.parameters.index(parameter)


def _start(task: Task, given: Any, what: str) -> FloatArray:
    """A start: the numbers given, with others for some parameters."""
    row, places = task.places.read(task.values), task.places
    for parameter, value in instance(given, Mapping, what).items():
        k = _known(places, parameter, what)
        row[places.slices[k]] = finite_array(value, places.shapes[k], f"{what} of {parameter.name!r}").ravel()
    return row


def _limits(task: Task, bounds: Any) -> FloatArray:
    """Bounds (n, 2) of all numbers, within the ranges that these have."""
    limits = task.places.ranges(task.model)
    for parameter, pair in ({} if bounds is None else instance(bounds, Mapping, "bounds")).items():
        part, what = (
            task.places.slices[_known(task.places, parameter, "bounds")],
            f"bounds of {parameter.name!r}",
        )
        ends = listed(pair, what)
        if len(ends) != 2:
            raise ModelError(f"{what} must be (lower, upper), got {pair!r:.80}")
        for column, (end, open_) in enumerate(zip(ends, (-np.inf, np.inf))):
            value = float_array(open_ if end is None else end, what)
            if value.shape != () or np.isnan(value):
                raise ModelError(f"{what} must be numbers or None, got {pair!r:.80}")
            keep = np.maximum if column == 0 else np.minimum
            limits[part, column] = keep(limits[part, column], value)
        if (limits[part, 0] > limits[part, 1]).any():
            raise ModelError(f"{what} are empty or reversed: {pair!r:.80}")
    return limits
