"""Refuses states that violate the constraints of their model."""

from __future__ import annotations

import numpy as np

from .._typing import IntArray
from ..constraints.packing import System, jacobian_of
from ..dynamics.constrained import unmet
from ..errors import DivergedError
from ..kernels.constraints import layout as rows
from .base import Problem, Recording
from .control import body_of_coordinate


def refuse_torn(problem: Problem, system: System, counters: IntArray, recording: Recording) -> None:
    """Checks the constraints after a step.

    Raises:
        DivergedError: a constraint is violated too much: prescribed motions contradict it or the step is too long.
    """
    now, why = problem.start + problem.dt * int(counters[0]), "take a smaller step"
    if len(problem.motions[0]) or problem.model.prescribed.any():
        why = "prescribed motions contradict it, or the step is too long"
    step = f" in a step of {problem.dt:g} s: {why}"
    refuse_torn_at(now, problem, system, int(counters[1]), recording, step)


def refuse_torn_at(
    now: float, problem: Problem, system: System, written: int, recording: Recording, step: str = ""
) -> None:
    """As `refuse_torn`, for a time, a number of written samples and a description of the step."""
    if not system[rows.SYSTEM_STATISTICS][rows.LEFT_NOW] > rows.TORN:
        return
    name, row, off = unmet(problem.model, system)
    moved = int(np.argmax(np.abs(jacobian_of(system, row + 1)[row])))
    body = body_of_coordinate(problem.model, moved)
    reason = f"constraint {name!r} is violated by {off:.3g} m or rad and cannot be satisfied{step}"
    raise DivergedError(now, body, reason, recording.result(written))
