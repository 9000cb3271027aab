"""The outer loop: parameters and knots follow the control frames (Lee & Terzopoulos 2008, secs. 6.1 and 6.2)."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._typing import FloatArray, IntArray
from ..errors import CancelledError
from ..geometry.twist_metric import TwistMetric
from . import parameterization
from .constraints import Constraints, EndCondition
from .gauss_newton import Objective, minimize

BoolArray = NDArray[np.bool_]
Progress = Callable[[float, str], "bool | None"]

# The outer loop ends with the first round that does not lower the objective by this share: the fixed point of natural
# knots is not the closest fit. Later rounds take only few Gauss-Newton steps, because the knots change again.
WORTHWHILE = 1e-3
MOST_ROUNDS = 30
STEPS_A_ROUND = 3
# an objective per pose below this, in the metric squared, is round-off
MET = 1e-24
# equations count as satisfied if their residual in the metric is below this
HELD = 1e-9


@dataclass(frozen=True, eq=False)
class Curve:
    """Control frames with their knots, the poses' parameters, the objective for these and its value.

    `missing` is the largest residual of the equality constraints.
    """

    frames: FloatArray
    knots: FloatArray
    q: FloatArray
    objective: Objective
    value: float
    converged: bool
    missing: float = 0.0


@dataclass(eq=False)
class Fitter:
    """Poses and how to fit them.

    `steps` collects the size of every Gauss-Newton step; `begun` and `share` locate the next run within the whole work.
    Poses `aside` do not affect the parameters; their own are interpolated between those of their neighbours.
    """

    targets: FloatArray
    order: int
    periodic: bool
    smoothing: float
    metric: TwistMetric
    tolerance: float
    max_iterations: int
    progress: Progress | None
    weights: FloatArray | None = None
    pinned: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    ends: tuple[EndCondition, ...] = ()
    aside: BoolArray | None = None
    begun: float = 0.0
    share: float = 1.0
    steps: list[float] = field(default_factory=list)

    @property
    def constrained(self) -> bool:
        """Whether there are pinned poses or conditions at the ends."""
        return bool(len(self.pinned) or self.ends)

    def solve(self, q: FloatArray, knots: FloatArray, frames: FloatArray, limit: int, rounds: int) -> Curve:
        """The best control frames for fixed knots and parameters, in at most `limit` steps."""
        shape = knots, self.order, self.periodic
        objective = Objective.make(self.targets, q, *shape, self.smoothing, self.metric, self.weights)
        constraints = None
        if self.constrained:
            constraints = Constraints.make(self.targets, q, self.pinned, self.ends, *shape, self.metric)

        def report(iteration: int, value: float) -> None:
            # most fits end long before these limits: the fraction only has to rise
            fraction = self.begun + self.share * (rounds + iteration / limit) / (MOST_ROUNDS + 2)
            text = f"fitting: round {rounds + 1}, step {iteration + 1}"
            answer = None if self.progress is None else self.progress(fraction, text)
            if isinstance(answer, bool | np.bool_) and not answer:
                raise CancelledError(f"fit cancelled in round {rounds + 1}, step {iteration + 1}")

        frames, taken, converged = minimize(objective, frames, self.tolerance, limit, report, constraints)
        self.steps.extend(taken)
        missing = 0.0 if constraints is None else float(np.abs(constraints.missing(frames)).max(initial=0.0))
        return Curve(frames, knots, q, objective, objective.value(frames), converged, missing)

    def run(self, q: FloatArray, knots: FloatArray, frames: FloatArray, free: bool) -> Curve:
        """Solve, and improve a free parameterization for as long as that pays."""
        best = self.solve(q, knots, frames, self.max_iterations, 0)
        rounds = 0
        while free and rounds < MOST_ROUNDS and best.value > MET:
            rounds += 1
            moved, fresh = self._reparameterized(best)
            if self.smoothing == 0.0 and not parameterization.well_posed(
                moved, fresh, self.order, self.periodic
            ):
                break
            # equations must hold before values can be compared
            few = self.max_iterations if self.constrained else STEPS_A_ROUND
            next_one = self.solve(moved, fresh, best.frames, few, rounds)
            gain = best.value - next_one.value if next_one.missing <= HELD else 0.0
            if gain > 0.0:
                best = next_one
            if not gain > WORTHWHILE * best.value:
                break
        if not best.converged:
            best = self.solve(best.q, best.knots, best.frames, self.max_iterations, rounds + 1)
        return best

    def _reparameterized(self, curve: Curve) -> tuple[FloatArray, FloatArray]:
        at = (curve.frames, curve.knots, self.order, self.periodic, self.metric)
        nearest = parameterization.project(self.targets, curve.q, *at)
        if self.aside is not None and self.aside.any():
            places = np.arange(len(nearest))
            keep = ~self.aside
            keep[[0, -1]] = True  # they mark the ends
            nearest = np.interp(places, places[keep], nearest[keep])
        return parameterization.reparameterize(nearest, *at)
