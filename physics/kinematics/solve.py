"""Inverse kinematics: coordinates within limits at which points and frames on bodies are at given places."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..bodies.body import Body, name_of
from ..bodies.state import State
from ..errors import ModelError
from ..geometry import lie
from ..joints.extent import extent
from ..kernels.search import layout as rows
from ..model.checks import check_flags, check_state
from ..model.model import Model
from ..validation import instance, number, truth, whole_number
from .targets import Target, set_goals, target_rows
from .tied import MET, Tied

# a reading closer than this [rad, m] to an end of its limits is at it
AT_LIMIT = 1e-9
# a search is one call of a kernel, which nothing interrupts
MOST_STEPS = 10_000
# A pose from a random start must lower the cost by more than this share to be better than the best so far.
AS_GOOD = 1e-10


@dataclass(frozen=True, eq=False)
class KinematicSolution:
    """The best result of a search.

    Attributes:
        state: the model there, at rest.
        reachable: whether every target is met within the tolerances. If not, no start led to all targets, and the state
            is the best of the least-squares solutions found.
        position_errors, rotation_errors: remaining distance [m] and angle [rad] at each target; 0 where it has no such
            goal, or the goal has no weight.
        converged: whether there is no better pose nearby (or all targets are met); False if there were too few steps.
            Constraints are then met to about 1e-9 m or rad; redundant ones that contradict each other, to 1e-5.
        steps: of the search that found it. starts: number of searches.
        at_limits: names of the readings (``body.reading``) at an end of their limits or range.
    """

    state: State
    reachable: bool
    position_errors: FloatArray
    rotation_errors: FloatArray
    converged: bool
    steps: int
    starts: int
    at_limits: tuple[str, ...]


def inverse_kinematics(
    model: Model,
    targets: Target | Iterable[Target],
    state: State | None = None,
    *,
    starts: int = 30,
    held: Iterable[str | Body] = (),
    limits: bool = True,
    position_tolerance: float = 1e-6,
    rotation_tolerance: float = 1e-6,
    max_steps: int = 200,
    seed: int = 0,
) -> KinematicSolution:
    """Coordinates at which the targets are met, or the nearest ones found.

    Damped least squares with the analytic Jacobian (Lee & Terzopoulos 2008, Fig. 3) over the whole tree, within the
    ranges of joints and the limits of bodies. Coordinates with equal limits are at these, wherever `state` is. The
    model's constraints are met, by an augmented Lagrangian (Nocedal & Wright 2006, sec. 17.3). The first search begins
    at `state`. Only if it misses a target, others begin at random places, and the best result counts.

    Args:
        model: the tree.
        targets: one or several, on any bodies.
        state: where to begin; of several solutions the one near it is found. None: ``model.state()``.
        starts: largest number of searches. 1 suits dragging, where the pose must not jump.
        held: bodies whose joints keep their coordinates.
        limits: keep within the limits of bodies too, not only in the ranges of joints. Equal limits hold always.
        position_tolerance, rotation_tolerance: [m] and [rad] within which a target is met.
        max_steps: of one search.
        seed: of the random places; equal arguments give equal results.

    Raises:
        ModelError: a body is unknown, numbers or shapes are invalid, or a target has no goal; no search met the
            constraints, or one of them is rolling.
    """
    solver = InverseKinematics(
        model,
        targets,
        held=held,
        limits=limits,
        position_tolerance=position_tolerance,
        rotation_tolerance=rotation_tolerance,
        max_steps=max_steps,
        seed=seed,
    )
    return solver.solve(model.state() if state is None else state, starts=starts)


class InverseKinematics:
    """The search of `inverse_kinematics`, prepared once for many solutions: a drag, or the frames of a motion.

    Arguments are the same. Targets keep their bodies, points and weights; goals may change.
    """

    def __init__(
        self,
        model: Model,
        targets: Target | Iterable[Target],
        *,
        held: Iterable[str | Body] = (),
        limits: bool = True,
        position_tolerance: float = 1e-6,
        rotation_tolerance: float = 1e-6,
        max_steps: int = 200,
        seed: int = 0,
    ) -> None:
        self.model = instance(model, Model, "model")
        self._targets, self._weights = target_rows(model, targets)
        self._tied = Tied(model) if model.constraints else None
        self._held = _held(model, held)
        self._bounds = _bounds(model, truth(limits, "limits"))
        most = whole_number(max_steps, "max_steps", 1, MOST_STEPS)
        self._settings = np.zeros(rows.SETTINGS)
        self._settings[rows.NEAR] = number(position_tolerance, "position_tolerance", positive=True)
        self._settings[rows.STRAIGHT] = number(rotation_tolerance, "rotation_tolerance", positive=True)
        self._settings[rows.MOST_STEPS] = most
        self._seed = whole_number(seed, "seed", 0)
        self._workspace = model.workspace()
        self._solver = _solver_space(model, len(self._targets), model.num_limits if limits else 0)

    def set_goal(self, target: int, position: Any = None, rotation: Any = None) -> None:
        """Set the goal of a target by its index: position (3,), rotation (3, 3), or both; None keeps the last one.

        NaN throughout: the goal is missing, until it is set again.

        Raises:
            ModelError: there is no such target, or the goal is invalid.
        """
        index = whole_number(target, "target")
        if not 0 <= index < len(self._targets):
            raise ModelError(f"there is no target {index}: there are {len(self._targets)}, counted from 0")
        row, weights = self._targets[index], self._weights[index]
        set_goals(row, weights, position, rotation, f"of target {index}")

    def solve(self, state: State, *, starts: int = 1) -> KinematicSolution:
        """The solution from a state, with at most `starts` searches; see `inverse_kinematics`."""
        state = check_state(self.model, state)
        count = whole_number(starts, "starts", 1)
        bounds, chart = self._bounds_at(state.q)
        self._settings[rows.CHART] = chart
        best = self._search(np.array(state.q), bounds)
        used = 1
        if best.outcome != rows.MET and count > 1:
            rng = np.random.default_rng(self._seed)
            reach = max(1.0, 2.0 * float(np.linalg.norm(best.errors[:, 3:], axis=1).max()))
            while used < count and best.outcome != rows.MET:
                other = self._search(self._random_place(rng, state.q, bounds, reach), bounds)
                used += 1
                if other.better_than(best):
                    best = other
        if self._tied is not None and best.outcome == rows.STUCK and best.violation > MET:
            self._tied.refuse(best.q)
        return self._solution(state, bounds, used, best)

    def _bounds_at(self, q: FloatArray) -> tuple[FloatArray, float]:
        """Bounds of every coordinate, and the length at which rotation vectors change their chart."""
        bounds = self._bounds.copy()
        bounds[self._held, : rows.MOST_STEP] = q[self._held, None]
        vectors = self.model.coordinate_table.vectors
        bound = np.isfinite(bounds[vectors, : rows.MOST_STEP]).any()
        return bounds, np.inf if bound else kernels.stepping.rollout.CHART_LIMIT

    def _search(self, q: FloatArray, bounds: FloatArray) -> _Found:
        errors = np.zeros((len(self._targets), rows.ERROR_WIDTH))
        report = np.zeros(rows.REPORT_WIDTH)
        workspace = self._workspace.clear()

        def run(tied: Any) -> None:
            problem = self.model.arrays, self._targets, tied, bounds, self._settings
            kernels.search.inverse_kinematics.inverse_kinematics(
                *problem, q, errors, report, self._solver, workspace
            )
            check_flags(self.model, workspace[2])

        violation = 0.0
        if self._tied is None:
            run(None)
        else:
            weights = self._targets[:, rows.TARGET_ROTATION : rows.TARGET_FRAME]
            violation = self._tied.search(float((weights**2).sum()), report, run)
            report[rows.COST] = 0.5 * ((np.repeat(weights, 3, axis=1) * errors) ** 2).sum()
        return _Found(q, errors, report, violation)

    def _random_place(
        self, rng: np.random.Generator, q: FloatArray, bounds: FloatArray, reach: float
    ) -> FloatArray:
        """A random place within bounds; rotation vectors are random rotations."""
        box = np.concatenate([extent(joint, reach) for joint in self.model.joints])
        box[:, 0] = np.maximum(box[:, 0], bounds[:, rows.BOUND_LOWER])
        box[:, 1] = np.minimum(box[:, 1], bounds[:, rows.BOUND_UPPER])
        place: FloatArray = box[:, 0] + rng.uniform(size=len(box)) * (box[:, 1] - box[:, 0])
        vectors = self.model.coordinate_table.vectors.reshape(-1, 3)
        quaternions = rng.normal(size=(len(vectors), 4))
        turns = lie.so3_log(lie.matrix_from_quaternion(quaternions))
        free = ~np.isfinite(bounds[vectors, : rows.MOST_STEP]).any(axis=(1, 2))
        place[vectors[free]] = turns[free]
        place[self._held] = q[self._held]
        return place

    def _solution(self, state: State, bounds: FloatArray, starts: int, found: _Found) -> KinematicSolution:
        q, lengths = found.q, np.linalg.norm(found.errors.reshape(-1, 2, 3), axis=2)
        return KinematicSolution(
            state=self.model.state(q, np.zeros(len(q)), state.time),
            reachable=bool(found.outcome == rows.MET),
            position_errors=lengths[:, 1],
            rotation_errors=lengths[:, 0],
            converged=bool(found.outcome != rows.UNFINISHED and found.violation <= MET),
            steps=int(found.report[rows.STEPS]),
            starts=starts,
            at_limits=_at_limits(self.model, q, bounds),
        )


class _Found(NamedTuple):
    """The end of a search: coordinates, errors at the targets, the kernel's report, the constraints' violation."""

    q: FloatArray
    errors: FloatArray
    report: FloatArray
    violation: float

    @property
    def outcome(self) -> float:
        return float(self.report[rows.OUTCOME])

    def better_than(self, other: _Found) -> bool:
        """Whether it meets the constraints better, or else the targets."""
        if (self.violation <= MET) != (other.violation <= MET):
            return self.violation <= MET
        return bool(self.report[rows.COST] < (1.0 - AS_GOOD) * other.report[rows.COST])


def _held(model: Model, held: Iterable[str | Body]) -> Any:
    """Which coordinates keep the state's values: those of held bodies, and prescribed ones without equal limits."""
    result = np.array(model.prescribed)
    if not isinstance(held, Iterable):
        raise ModelError(f"held must be bodies or their names, got {held!r:.80}")
    for body in [held] if isinstance(held, str | Body) else held:
        result[model.coordinate_slice(name_of(body))] = True
    return result & ~model.coordinate_table.held


def _bounds(model: Model, limits: bool) -> FloatArray:
    """Lower and upper end and largest step of each coordinate (nv, 3)."""
    table, result = model.coordinate_table, np.zeros((model.num_coordinates, rows.BOUND_WIDTH))
    counts = ~table.ordered & (limits | table.held)  # limits of Euler angles depend on three coordinates
    own = np.where(counts[:, None], table.limits, [-np.inf, np.inf])
    lower, upper = np.maximum(table.ranges[:, 0], own[:, 0]), np.minimum(table.ranges[:, 1], own[:, 1])
    if (lower > upper).any():
        d = int(np.argmax(lower > upper))
        raise ModelError(
            f"limits of {model.coordinate_names[d]} must overlap the range {table.ranges[d].tolist()}, "
            f"got {own[d].tolist()}"
        )
    # steps of a radian keep rotation vectors in their chart and the linear model valid
    width = upper - lower
    half = np.where(width > 0.0, 0.5 * width, np.inf)
    result[:, rows.BOUND_LOWER], result[:, rows.BOUND_UPPER] = lower, upper
    result[:, rows.MOST_STEP] = np.minimum(np.where(table.angles, 1.0, np.inf), half)
    return result


def _solver_space(model: Model, targets: int, limits: int) -> tuple[Any, ...]:
    """Scratch memory of the kernel: its argument ``solver``."""
    nv = model.num_coordinates
    return (
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros((nv, nv)),
        np.zeros((nv, rows.ERROR_WIDTH)),
        np.zeros((rows.VECTOR_ROWS, nv)),
        np.zeros((targets, rows.ERROR_WIDTH)),
        np.zeros((limits, rows.LIMIT_SPACE)),
        np.zeros((rows.INDEX_ROWS, max(nv, model.num_bodies)), dtype=np.int64),
    )


def _at_limits(model: Model, q: FloatArray, bounds: FloatArray) -> tuple[str, ...]:
    """Names of the readings at an end of their limits."""
    bounded = np.isfinite(bounds[:, : rows.MOST_STEP]).any(axis=1)
    limits = model.coordinate_table.limits
    unbounded = ~bounded & np.isfinite(limits).any(axis=1)
    values = np.where(bounded, q, model.readings(q)) if unbounded.any() else q
    ends = np.where(bounded[:, None], bounds[:, : rows.MOST_STEP], limits)
    if not np.isfinite(ends).any():
        return ()
    at = (ends[:, 0] < ends[:, 1]) & (np.abs(values[:, None] - ends) <= AT_LIMIT).any(axis=1)
    return tuple(model.reading_names[d] for d in np.flatnonzero(at))
