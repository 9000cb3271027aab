"""Implicit methods with a fixed step, for stiff models; run in the kernel a stretch at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..errors import ModelError
from ..kernels import layout
from ..model import Model, State
from ..packing import TangentSpace
from ..result import Result
from .base import Problem, Recording, refuse_impulses
from .stretches import run_in_stretches

KERNEL_NUMBERS = {
    "linearly_implicit_euler": layout.LINEARLY_IMPLICIT_EULER,
    "bdf1": layout.BACKWARD_EULER,
    "sdirk2": layout.SDIRK2,
}


def implicit_workspace(model: Model) -> tuple[Any, ...]:
    """Slopes, system, pivots, vectors, notes and tangents of ``kernels.newton``."""
    from ..kernels.newton import IMPLICIT_NOTES, IMPLICIT_VECTORS

    nv = model.num_coordinates
    return (
        (np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros((nv, nv))),
        np.zeros((nv, nv)),
        np.zeros(nv, dtype=np.int64),
        np.zeros((IMPLICIT_VECTORS, nv + model.num_inputs)),
        np.zeros(IMPLICIT_NOTES),
        TangentSpace(model.arrays[0]).arrays,
    )


def integrate_implicit(problem: Problem, name: str, state: State) -> Result:
    """Run a problem with one of the implicit methods.

    ``info`` counts what it took: "newton_iterations" and "matrices" (how often the derivatives were evaluated).
    """
    from ..kernels.implicit import implicit_rollout
    from ..kernels.newton import ITERATIONS, MATRICES

    model = problem.model
    refuse_impulses(model, name)
    if model.constraints or len(problem.motions[0]):
        raise ModelError(
            f"the integrator {name!r} cannot have constraints or given motions: take an explicit method"
        )
    implicit = implicit_workspace(model)
    spaces = model.workspace().clear()

    def advance(
        count: int, counters: IntArray, q: FloatArray, qd: FloatArray, chart: IntArray, recording: Recording
    ) -> None:
        implicit_rollout(
            model.arrays,
            KERNEL_NUMBERS[name],
            *problem.tau,
            problem.start,
            problem.dt,
            count,
            counters,
            problem.samples,
            q,
            qd,
            chart,
            recording.q,
            recording.qd,
            implicit,
            spaces,
        )
        recording.info["newton_iterations"] = int(implicit[4][ITERATIONS])
        recording.info["matrices"] = int(implicit[4][MATRICES])

    return run_in_stretches(problem, name, state, advance, spaces[2])
