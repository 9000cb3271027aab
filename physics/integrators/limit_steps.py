"""Whether a step of an explicit method is short enough for the springs and dampers at a model's limits."""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics import mass_matrix
from ..kernels import layout
from ..model.model import Model
from .base import Method, Problem, energy_row

#: stability bound of RK4: step times rate, for eigenvalues anywhere in the left half-plane
LARGEST = 2.6
# The rates vary with the pose: between the evaluated poses by less than this factor.
POSES = 1.25


def look_ahead(problem: Problem, method: Method, state: State, work: FloatArray) -> None:
    """Let a Runge-Kutta method treat limits implicitly in all stages, if they are too stiff for its step.

    It is then of first order while a limit is active, but comes to rest there.
    """
    if method.number == layout.RUNGE_KUTTA:
        share = implicit_share(problem.model, state, problem.dt, method.stable)
        energy_row(problem.model, work)[layout.AHEAD] = share


def implicit_share(model: Model, state: State, dt: float, stable: float = LARGEST) -> float:
    """The time [s] over which a Runge-Kutta method must treat the springs and dampers of limits implicitly.

    dt if they are too stiff for it, else 0 (see `passive.limit_push`). Limits are chosen for the inertia that a
    coordinate carries, but in a chain its effective inertia is smaller: with steps of 1 ms three hinges at their limits
    vibrated forever. The rates are from the eigenvalues of M^-1 K and M^-1 C at the start and with all coordinates at
    their lower or upper limits.
    """
    stiffness, damping = limit_laws(model)
    free = ~model.prescribed & ((stiffness > 0.0) | (damping > 0.0))
    if not free.any():
        return 0.0

    lower, upper = model.arrays[4][:, layout.LOWER], model.arrays[4][:, layout.UPPER]
    fastest = 0.0
    for bounds in (state.q, lower, upper):
        pose = model.state(q=np.where(np.isfinite(bounds), bounds, state.q))
        moved = np.flatnonzero(~model.prescribed)
        answers = np.zeros((len(free), len(free)))
        answers[np.ix_(moved, moved)] = np.linalg.pinv(mass_matrix(model, pose)[np.ix_(moved, moved)])
        felt = answers[np.ix_(free, free)]
        fastest = max(fastest, np.sqrt(rate(felt, stiffness[free])), rate(felt, damping[free]))
    return dt if dt * POSES * fastest > stable else 0.0


def rate(answers: FloatArray, law: FloatArray) -> float:
    """Largest eigenvalue of the product of responses to forces (n, n) and diagonal laws (n,)."""
    root = np.sqrt(law)
    return float(np.linalg.eigvalsh(root[:, None] * answers * root).max())


def limit_laws(model: Model) -> tuple[FloatArray, FloatArray]:
    """Stiffness and damping (nv,) of the compliant limits of each coordinate; 0 if there are none."""
    rows, data = model.arrays[4], model.arrays[3]
    bounded = np.isfinite(rows[:, layout.LOWER]) | np.isfinite(rows[:, layout.UPPER])
    laws = [
        np.where(bounded, rows[:, column], 0.0) for column in (layout.LIMIT_STIFFNESS, layout.LIMIT_DAMPING)
    ]
    for k in range(model.num_limits):
        at = int(data[layout.LIMIT_ROWS]) + k * layout.LIMIT_WIDTH
        if data[at + layout.LIMIT_RESTITUTION] < 0.0:
            first = int(data[at + layout.LIMIT_DOF])
            for law, column in zip(laws, (layout.LIMIT_SPRING, layout.LIMIT_DAMPER), strict=True):
                law[first : first + 3] = np.maximum(law[first : first + 3], data[at + column])
    return laws[0], laws[1]
