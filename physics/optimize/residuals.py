"""Objectives as sums of squares: each residual is an objective of its own whose value is the residual."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..model.model import Model
from .gradient import Task
from .objectives import Effort, Loss, Objective, OfPoint, Pose, Rest, Span, Sum
from .steps import rows_around


@dataclass(frozen=True, eq=False)
class Component(Objective):
    """What a reach [m] or an aim is off along an axis (0, 1, 2) of the world, times a factor."""

    whole: OfPoint
    axis: int
    factor: float

    def check(self, model: Model, start: float, end: float) -> None:
        self.whole.check(model, start, end)

    def evaluate(self, span: Span) -> Loss:
        loss, rows = Loss.none(span), span.rows_at(self.whole.time)
        poses, jacobians = span.frames(self.whole.body, rows)
        along = np.tile(np.eye(3)[self.axis], (len(poses), 1))
        wrenches = self.whole.wrenches(poses, along)
        loss.by_q[rows] = self.factor * np.einsum("kid,ki->kd", jacobians, wrenches)
        return loss._replace(value=self.factor * float(self.whole.off(poses)[:, self.axis].sum()))


@dataclass(frozen=True, eq=False)
class Difference(Objective):
    """Difference of a coordinate, or its velocity, from a value at a time, times a factor."""

    column: int
    value: float
    time: float | None
    factor: float
    is_velocity: bool

    def check(self, model: Model, start: float, end: float) -> None:
        """Nothing of it is given by a user."""

    def evaluate(self, span: Span) -> Loss:
        loss, rows = Loss.none(span), span.rows_at(self.time)
        numbers, slopes = (span.qd, loss.by_qd) if self.is_velocity else (span.q, loss.by_q)
        slopes[rows, self.column] = self.factor
        return loss._replace(value=self.factor * float((numbers[rows, self.column] - self.value).sum()))


class SumOfSquares:
    """The residuals of a task's objective, and their derivatives by its parameters.

    Raises:
        ModelError: a part of the objective is no `Reach`, `Aim`, `Rest`, `Pose` or `Effort`, or has a negative factor.
    """

    def __init__(self, task: Task) -> None:
        self.parts: list[Objective] = []
        names, self._root = task.model, _root_of_effort(task)
        self._efforts = np.zeros(task.values["table"].shape[1])
        for factor, part in flat(task.objective, 1.0):
            if not factor >= 0.0:
                raise ModelError(f"least squares needs objectives with factors of 0 or more, got {factor:g}")
            if isinstance(part, Effort):
                self._efforts[part.columns(names)] += factor
            else:
                self.parts += _split(part, math.sqrt(factor), names)

    def values(self, task: Task) -> FloatArray:
        """The residuals (m,) of a simulation."""
        rows = task.whole()
        span = task.span(0, rows, task.displaced())
        return np.array([*(part.evaluate(span).value for part in self.parts), *self.efforts(task)])

    def efforts(self, task: Task) -> FloatArray:
        """Those of efforts (e,), the last ones; without a simulation."""
        rows: FloatArray = np.sqrt(self._efforts) * (self._root @ task.values["table"])
        return rows.ravel()

    def slopes(self, task: Task) -> FloatArray:
        """Their derivatives (m, n) by the parameters' numbers (n,)."""
        rows, found = task.whole(), []
        for part in self.parts:
            found.append(task.places.read(replace(task, objective=part).swept(rows)[1].sums()))
        return np.array([*found, *self.effort_slopes(task)])

    def effort_slopes(self, task: Task) -> FloatArray:
        """Derivatives (e, n) of those of efforts, which are constant; without a simulation."""
        found = []
        zero = {key: np.zeros_like(array) for key, array in task.values.items()}
        table = zero["table"]
        for (row, column), _ in np.ndenumerate(table):
            table[:, column] = math.sqrt(self._efforts[column]) * self._root[row]
            found.append(task.places.read(zero))
            table[:, column] = 0.0
        return np.array(found)


def flat(objective: Objective, factor: float) -> Iterator[tuple[float, Objective]]:
    """Objectives that are no sums, with their factors."""
    if not isinstance(objective, Sum):
        yield factor, objective
        return
    for own, part in objective.parts:
        yield from flat(part, factor * own)


def _split(part: Objective, factor: float, model: Model) -> list[Objective]:
    """Residuals whose squares are an objective, times a squared factor."""
    if isinstance(part, OfPoint):
        return [Component(part, axis, factor) for axis in range(3)]
    if isinstance(part, Rest):
        return [Difference(k, 0.0, part.time, factor, True) for k in part.columns(model)]
    if isinstance(part, Pose):
        wanted: Any = zip(part.columns(model), part.values.values())
        return [Difference(k, value, part.time, factor, False) for k, value in wanted]
    kind = type(part).__name__
    raise ModelError(
        f"least squares and SLSQP take Reach, Aim, Rest, Pose and Effort, not {kind}: take L-BFGS-B"
    )


def _root_of_effort(task: Task) -> FloatArray:
    """Triangle R (K, K): the sum over steps of a column's squares times the step is |R column|^2."""
    rows = float(task.state.time) + task.dt * np.arange(1, task.steps + 1)
    weights = shares_of_rows(task.times, rows)
    padded = np.concatenate([weights, np.zeros((max(0, len(task.times) - task.steps), len(task.times)))])
    root: FloatArray = math.sqrt(task.dt) * np.asarray(np.linalg.qr(padded, mode="r"))
    return root


def shares_of_rows(times: FloatArray, at_times: FloatArray) -> FloatArray:
    """Shares (n, K) that the rows of a table have in its values at n times."""
    before, after, share = rows_around(times, at_times)
    shares, rows = np.zeros((len(at_times), len(times))), np.arange(len(at_times))
    np.add.at(shares, (rows, before), 1.0 - share[:, 0])
    np.add.at(shares, (rows, after), share[:, 0])
    return shares
