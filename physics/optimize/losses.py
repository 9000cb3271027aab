"""What objectives are made of: the states of a motion, a loss with its derivatives, and sums of objectives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import ModelError
from ..model.checks import check_flags
from ..model.model import Model
from ..validation import instance, number
from .control_frames import Displaced


@dataclass(frozen=True, eq=False)
class Span:
    """Successive states of a motion, one for each step.

    Attributes:
        model: that moves. start, dt, steps: of the whole run [s]. first: number of the span's first step.
        q, qd: (n, nv). tau: forces and inputs (n, nv + inputs) at the same times. states: of muscles (n, states).
        displaced: the model with coordinates behind some joints by which frames of bodies have derivatives, too.
    """

    model: Model
    start: float
    dt: float
    steps: int
    first: int
    q: FloatArray
    qd: FloatArray
    tau: FloatArray
    states: FloatArray
    displaced: Displaced

    @property
    def times(self) -> FloatArray:
        """Of the rows [s]."""
        times: FloatArray = self.start + (self.first + np.arange(len(self.q))) * self.dt
        return times

    @property
    def ends(self) -> slice:
        """The rows at ends of steps: all but the run's beginning."""
        return slice(int(self.first == 0), len(self.q))

    def rows_at(self, time: float | None) -> slice:
        """The row nearest to a time, of the end if None; empty where it is not in this span."""
        wanted = self.steps if time is None else round((time - self.start) / self.dt)
        row = wanted - self.first
        return slice(row, row + 1) if 0 <= row < len(self.q) else slice(0, 0)

    def frames(self, body: str, rows: slice) -> tuple[FloatArray, FloatArray]:
        """Poses (n, 4, 4) of a body's frame, and Jacobians to its twist in that frame (n, 6, nv + k) from coordinates,
        then from those k behind joints.
        """
        q, model = self.displaced.widen(self.q[rows]), self.displaced.model
        poses, jacobians = np.zeros((len(q), 12)), np.zeros((len(q), 6, q.shape[1]))
        spaces, index = model.workspace().clear(), model.index(body)
        still = np.zeros(q.shape[1])
        kernels.adjoint.frames.frames_along(model.arrays, q, still, index, poses, jacobians, *spaces)
        check_flags(model, spaces[2])
        whole = np.tile(np.eye(4), (len(q), 1, 1))
        whole[:, :3, :3], whole[:, :3, 3] = poses[:, :9].reshape(-1, 3, 3), poses[:, 9:]
        return whole, jacobians[:, :, self.displaced.order]


class Loss(NamedTuple):
    """A loss and its derivatives by q and q' (n, nv + k, those of `Span.frames`), forces and inputs (n, nv + inputs)
    and states of muscles (n, states) of a span.
    """

    value: float
    by_q: FloatArray
    by_qd: FloatArray
    by_tau: FloatArray
    by_states: FloatArray

    @classmethod
    def none(cls, span: Span) -> Loss:
        """Zeros."""
        more = np.zeros((len(span.q), len(span.displaced.extra)))
        by_q = np.concatenate([np.zeros_like(span.q), more], axis=1)
        return cls(0.0, by_q, *(np.zeros_like(each) for each in (by_q, span.tau, span.states)))


class Objective(ABC):
    """Base of all objectives: a loss that is a sum over states.

    Attributes:
        at_once: it takes the whole motion at once. direct: kinds of parameters by which it has derivatives of its own,
            besides those by states, forces and inputs: they are no parameters beside it.
    """

    at_once = False
    direct: tuple[str, ...] = ()

    @abstractmethod
    def check(self, model: Model, start: float, end: float) -> None:
        """ModelError if a run of the model from start to end [s] has nothing of this."""

    @abstractmethod
    def evaluate(self, span: Span) -> Loss:
        """The share of a span."""

    def __add__(self, other: Objective) -> Sum:
        return Sum(((1.0, self), (1.0, other)))

    def __mul__(self, factor: float | Objective) -> Objective:
        return Product(self, factor) if isinstance(factor, Objective) else Sum(((factor, self),))

    def __rmul__(self, factor: float) -> Sum:
        return Sum(((factor, self),))


@dataclass(frozen=True)
class Sum(Objective):
    """Objectives with factors."""

    parts: tuple[tuple[float, Objective], ...]

    @property
    def at_once(self) -> bool:  # type: ignore[override]
        return any(part.at_once for _, part in self.parts)

    @property
    def direct(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(kind for _, part in self.parts for kind in part.direct)

    def check(self, model: Model, start: float, end: float) -> None:
        for factor, part in self.parts:
            number(factor, "factor of an objective")
            instance(part, Objective, "a part of a sum").check(model, start, end)

    def evaluate(self, span: Span) -> Loss:
        losses = [(factor, part.evaluate(span)) for factor, part in self.parts]
        arrays = [sum(factor * loss[k] for factor, loss in losses) for k in range(len(Loss._fields))]
        return Loss(float(arrays[0]), *(np.asarray(array) for array in arrays[1:]))


@dataclass(frozen=True)
class Product(Objective):
    """The product of two objectives, each of the whole motion."""

    one: Objective
    other: Objective
    at_once = True

    @property
    def direct(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.one.direct + self.other.direct

    def check(self, model: Model, start: float, end: float) -> None:
        for part in (self.one, self.other):
            part.check(model, start, end)

    def evaluate(self, span: Span) -> Loss:
        one, other = self.one.evaluate(span), self.other.evaluate(span)
        slopes = (other.value * a + one.value * b for a, b in zip(one[1:], other[1:]))
        return Loss(one.value * other.value, *slopes)


def check_objective(objective: Any, model: Model, parameters: Any, start: float, end: float) -> None:
    """ModelError if an objective of a run from start to end [s] is none, or itself depends on a parameter."""
    instance(objective, Objective, "objective").check(model, start, end)
    for each in parameters:
        if each.kind in objective.direct:
            raise ModelError(
                f"{each.kind} of {each.name!r} has no gradient: the objective depends on such numbers"
            )


def check_time(time: Any, start: float, end: float, what: str) -> None:
    """ModelError if a time, unless None, is not in a run from start to end [s]."""
    if time is not None and not start - 1e-9 <= number(time, f"time of {what}") <= end + 1e-9:
        raise ModelError(f"time of {what} must lie in the run from {start:g} to {end:g} s, got {time:g}")


def check_given(model: Model, names: Any, what: str) -> None:
    """ModelError if feedback laws change one of these inputs, of which an objective knows only what is given."""
    for law in model.feedback_laws:
        if law.of in names:
            raise ModelError(f"{what} of {law.of!r} would not count the feedback {law.name!r}: leave it out")
