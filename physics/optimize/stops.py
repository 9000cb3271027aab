"""Hard limits in a motion: the steps that they stop, and where those steps would have ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._typing import FloatArray, IntArray
from ..bodies.body import Body
from ..bodies.state import State
from ..dynamics import mass_matrix
from ..kernels import layout
from ..kernels.adjoint import layout as at
from ..model.model import Model
from ..model.result import Result

# A step that ends this near a limit [m, rad] ends on it; one that lacks no more of its velocity, of 1 rad/s, is not
# stopped; an impulse below this share of the largest is none. Newton's iteration ends at about 1e-12.
ON, UNSTOPPED, NO_IMPULSE = 1e-9, 1e-9, 1e-6
SINGLE = (layout.LIMIT_LOWER, layout.LIMIT_UPPER)


def not_differentiable(model: Model) -> list[str]:
    """Names of bodies whose hard limits bounce, or bound several coordinates together."""
    found = []
    for row in model.hard_limit_rows:
        kind, body = model.arrays[3][row : row + 2].astype(int)
        if kind not in SINGLE or model.arrays[3][row + layout.LIMIT_RESTITUTION] > 0.0:
            found.append(model.body_names[body])
    return found


class Stops:
    """The hard limits of a model that are without restitution."""

    def __init__(self, model: Model) -> None:
        rows = np.array(
            [model.arrays[3][row : row + layout.LIMIT_WIDTH] for row in model.hard_limit_rows]
        ).reshape(-1, layout.LIMIT_WIDTH)
        self.coordinates: IntArray = rows[:, layout.LIMIT_DOF].astype(np.int64)
        self.senses = np.where(rows[:, layout.LIMIT_KIND] == layout.LIMIT_LOWER, 1.0, -1.0)
        self.bounds = rows[:, layout.LIMIT_PARAMETERS]
        self.free = model.altered(bodies=[_freed(body) for body in model.bodies]) if len(rows) else model

    def gaps(self, q: FloatArray) -> FloatArray:
        """Of each limit (n, limits) at coordinates (n, nv), not negative within it."""
        gaps: FloatArray = self.senses * (q[:, self.coordinates] - self.bounds)
        return gaps

    def found(
        self,
        rows: Result,
        begun: Callable[[int], State],
        freely: Callable[[Model, State], Result],
    ) -> tuple[IntArray, FloatArray, bool]:
        """Steps that were stopped, as `kernels.adjoint.sweep.sweep_back` takes them, and whether one ends on a limit
        that does not stop it.

        begun gives the state before a step in its chart; freely simulates one step of a model.
        """
        on = self.gaps(rows.q) <= ON
        numbers, grazes = np.full(len(rows.q) - 1, -1), bool(on[0].any())
        stopped: list[FloatArray] = []
        for k in np.nonzero(on[1:].any(axis=1))[0]:
            before = begun(int(k))
            trial = freely(self.free, before)
            row = np.stack([trial.q[-1], trial.qd[-1], np.zeros_like(trial.qd[-1])])
            lost = rows.qd[k + 1] - row[at.TRIAL_QD]
            acts = np.zeros(len(self.senses), dtype=bool)
            if np.abs(lost).max() > UNSTOPPED * (1.0 + np.abs(rows.qd[k + 1]).max()):
                impulse = mass_matrix(self.free, before) @ lost
                acts = self.senses * impulse[self.coordinates] > NO_IMPULSE * np.abs(impulse).max()
                row[at.STOPPED, self.coordinates[acts & on[k + 1]]] = 1.0
                numbers[k] = len(stopped)
                stopped.append(row)
            grazes |= bool((on[k + 1] & ~acts).any())
        return numbers, np.array(stopped).reshape(-1, at.STOP_ROWS, rows.q.shape[1]), grazes


def _freed(body: Body) -> Body:
    """The body without its hard limits."""
    if body.limit_restitution is None:
        return body
    limits = np.where(body.held[:, None], body.limits, [-np.inf, np.inf])
    return replace(body, limits=limits, limit_restitution=None).lock()
