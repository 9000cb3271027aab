"""Searches of models with constraints: a few searches with growing penalties, and multipliers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..constraints.packing import make_system
from ..errors import ModelError
from ..kernels.constraints import layout
from ..kernels.search import layout as rows
from ..model.model import Model

# weights of the constraints, as multiples of the targets': the last is repeated until they are met
PENALTIES = (1.0, 1e2, 1e4)
MOST_STAGES = 12
LEAST_WEIGHT = 1e-6
# Redundant constraints given with few digits contradict each other by up to this [m, rad].
MET = 1e-5


class Tied:
    """The constraints of a model in its searches.

    Raises:
        ModelError: a rolling constraint, which ties velocities, not coordinates.
    """

    def __init__(self, model: Model) -> None:
        for name, constraint in model.constraints.items():
            if constraint.type == "rolling":
                raise ModelError(
                    f"inverse kinematics cannot keep the rolling constraint {name!r}: it ties velocities, "
                    "not coordinates. Search in a model without it"
                )
        self._model = model
        self._system = make_system(model.arrays, model.constraint_arrays)

    def search(self, weight: float, report: FloatArray, run: Callable[[tuple[object, ...]], None]) -> float:
        """Runs of one search's stages, described by the last report with all steps; returns the largest violation.

        Args:
            weight: sum of squares of the targets' weights.
            run: the kernel with these constraints.
        """
        values, kinds = (
            self._system[layout.SYSTEM_ROWS][:, layout.ROW_VALUE],
            self._system[layout.SYSTEM_KINDS],
        )
        arrays, pulls = self._model.constraint_arrays, np.zeros(len(values))
        steps, violation = 0.0, np.inf
        for stage in range(MOST_STAGES):
            penalty, last = PENALTIES[min(stage, len(PENALTIES) - 1)] * max(weight, LEAST_WEIGHT), violation
            run((arrays, self._system, pulls, penalty))
            short = shortfalls(values, kinds)
            violation = float(np.abs(short).max())
            steps += report[rows.STEPS]
            if violation <= rows.TIED or (stage >= len(PENALTIES) and violation > 0.5 * last):
                break
            pulls += penalty * values
            pulls[kinds != layout.EQUALITY] = np.minimum(pulls[kinds != layout.EQUALITY], 0.0)
        report[rows.STEPS] = steps
        return violation

    def refuse(self, q: FloatArray) -> None:
        """ModelError about the constraint that is violated most at q."""
        model = self._model
        values, _, _ = model.evaluate_constraints(model.state(q), model.constraints.values())
        short = np.abs(shortfalls(values, self._system[layout.SYSTEM_KINDS]))
        at = int(np.argmax(short))
        name = next(name for name, where in model.constraint_slices.items() if where.start <= at < where.stop)
        raise ModelError(
            f"constraint {name!r} cannot be met in inverse kinematics: it is violated by {short[at]:.3g} m or rad. "
            "Check locked coordinates and limits, or start nearer"
        )


def shortfalls(values: FloatArray, kinds: Any) -> FloatArray:
    """Violations of rows: their values, of one-sided ones those below 0."""
    return np.where(kinds == layout.EQUALITY, values, np.minimum(values, 0.0))
