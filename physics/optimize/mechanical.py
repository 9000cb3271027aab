"""Objectives of momentum, energy and forces of muscles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..analysis.muscle_readings import muscle_number
from ..dynamics import inverse_dynamics
from ..errors import ModelError
from ..forces import ForceField, Wrench
from ..joints.packing import TangentSpace
from ..kernels.adjoint import layout as at
from ..model.checks import check_flags
from ..model.model import Model
from ..model.observation import observe
from ..validation import finite_array, number
from .losses import Loss, Objective, Span, check_given, check_time

#: kinds of parameters that masses depend on
MASSES = ("mass", "center", "inertia")


class Momenta(NamedTuple):
    """Momentum of all bodies at n states, in rows of `kernels.adjoint.layout` (n, rows), and its derivatives by q and
    q' (n, rows, nv + k) with coordinates behind joints; the coordinates that these belong to.
    """

    found: FloatArray
    by_q: FloatArray
    by_qd: FloatArray


def _momenta(span: Span, rows: slice) -> Momenta:
    model, order = span.displaced.model, span.displaced.order
    q, qd = span.displaced.widen(span.q[rows]), span.displaced.widen(span.qd[rows])
    found, spaces = np.zeros((len(q), at.MOMENTUM_ROWS)), model.workspace().clear()
    by_q, by_qd = (np.zeros((len(q), at.MOMENTUM_ROWS, q.shape[1])) for _ in range(2))
    tangents = TangentSpace(model.arrays[0]).arrays
    kernels.adjoint.momentum.momenta_along(model.arrays, q, qd, found, by_q, by_qd, tangents, spaces)
    check_flags(model, spaces[2])
    return Momenta(found, by_q[:, :, order], by_qd[:, :, order])


def _refuse(model: Model, what: str) -> None:
    """ModelError for a model whose muscles or soft bodies have a momentum that is not known here."""
    heavy = [muscle.name for muscle in model.muscles if muscle.masses is not None]
    for name in (*heavy, *(soft.name for soft in model.soft_bodies)):
        raise ModelError(f"{what} counts bodies alone, and {name!r} has mass: take the model without it")


@dataclass(frozen=True, eq=False)
class Momentum(Objective):
    """Squared differences of the momentum of all bodies from what is wanted, at the step nearest to a time.

    Attributes:
        linear: (3,) in the world [kg m/s]; None: any. angular: (3,) about the mass centre of all bodies [kg m^2/s];
            None: any. time: [s]; None: at the end.
    """

    linear: Any = None
    angular: Any = None
    time: float | None = None
    direct = MASSES

    def check(self, model: Model, start: float, end: float) -> None:
        _refuse(model, "a momentum")
        if self.linear is None and self.angular is None:
            raise ModelError("a momentum needs a linear or an angular one that is wanted")
        for name, value in (("linear", self.linear), ("angular", self.angular)):
            if value is not None:
                finite_array(value, (3,), f"{name} momentum that is wanted")
        check_time(self.time, start, end, "a momentum")

    def evaluate(self, span: Span) -> Loss:
        loss, rows = Loss.none(span), span.rows_at(self.time)
        found, by_q, by_qd = _momenta(span, rows)
        mass = sum(body.mass for body in span.model.bodies)
        turn, push, center = (slice(first, first + 3) for first in (at.ANGULAR, at.LINEAR, at.MOMENT))
        value = 0.0
        if self.linear is not None:
            off = found[:, push] - np.asarray(self.linear, dtype=float)
            value += float((off * off).sum())
            loss.by_q[rows] += 2.0 * np.einsum("ki,kid->kd", off, by_q[:, push])
            loss.by_qd[rows] += 2.0 * np.einsum("ki,kid->kd", off, by_qd[:, push])
        if self.angular is not None:
            place = found[:, center] / mass
            off = found[:, turn] - np.cross(place, found[:, push]) - np.asarray(self.angular, dtype=float)
            value += float((off * off).sum())
            # off . (c x p) changes by dc . (p x off) + dp . (off x c)
            across, around = np.cross(found[:, push], off) / mass, np.cross(off, place)
            for slopes, by in ((loss.by_q, by_q), (loss.by_qd, by_qd)):
                change = np.einsum("ki,kid->kd", off, by[:, turn]) - np.einsum(
                    "ki,kid->kd", around, by[:, push]
                )
                change -= np.einsum("ki,kid->kd", across, by[:, center])
                slopes[rows] += 2.0 * change
        return loss._replace(value=value)


@dataclass(frozen=True, eq=False)
class Energy(Objective):
    """Kinetic energy [J] at the step nearest to a time, and what gravity, springs, compliant limits and ground store.

    Attributes:
        time: [s]; None: at the end. stored: whether the latter counts.
    """

    time: float | None = None
    stored: bool = True

    @property
    def direct(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*MASSES, "stiffness", "rest", "gravity") if self.stored else MASSES

    def check(self, model: Model, start: float, end: float) -> None:
        _refuse(model, "an energy")
        unknown = [repr(each.name) for each in model.controllers]
        unknown += [repr(each.name) for each in model.muscles]
        fields = [
            each for each in model.forces if isinstance(each, Wrench | ForceField) and not each.stores_all
        ]
        unknown += [f"a {type(each).__name__}" for each in fields]
        for what in unknown[: int(self.stored)]:
            raise ModelError(f"the energy that {what} stores is not known: take Energy(stored=False)")
        check_time(self.time, start, end, "an energy")

    def evaluate(self, span: Span) -> Loss:
        loss, rows = Loss.none(span), span.rows_at(self.time)
        found, by_q, by_qd = _momenta(span, rows)
        loss.by_q[rows] = by_q[:, at.KINETIC]
        loss.by_qd[rows] = by_qd[:, at.KINETIC]
        value = float(found[:, at.KINETIC].sum())
        if self.stored:
            model, q = span.displaced.model, span.displaced.widen(span.q[rows])
            value += float(observe(model, q, np.zeros_like(q), anywhere=True)[1][:, 1].sum())
            for row, numbers in zip(loss.by_q[rows], q):
                row += inverse_dynamics(model, model.state(numbers))[span.displaced.order]
        return loss._replace(value=value)


@dataclass(frozen=True, eq=False)
class MuscleForce(Objective):
    """Squared difference of a muscle's force from a target [N^2], at the step nearest to a time.

    Attributes:
        muscle: its name. target: [N]. time: [s]; None: the integral over the steps instead [N^2 s].
    """

    muscle: str
    target: float = 0.0
    time: float | None = None
    direct = ("law", "points", "radii")

    def check(self, model: Model, start: float, end: float) -> None:
        muscle = model.muscles[muscle_number(model, self.muscle)]
        check_given(model, (muscle.tension,), "a muscle's force")
        number(self.target, f"target of the force of {self.muscle!r}")
        check_time(self.time, start, end, f"the force of {self.muscle!r}")

    def evaluate(self, span: Span) -> Loss:
        loss, nv = Loss.none(span), span.q.shape[1]
        rows, weight = (span.ends, span.dt) if self.time is None else (span.rows_at(self.time), 1.0)
        muscle = span.model.muscles[muscle_number(span.model, self.muscle)]
        column = (
            nv + span.model.input_names.index(muscle.tension) if isinstance(muscle.tension, str) else None
        )
        if muscle.law is None:
            force = (
                span.tau[rows, column] if column is not None else np.full(len(span.q[rows]), muscle.tension)
            )
            by, share = np.ones((len(force), 3)), 2.0 * weight * (force - self.target)
        else:
            force, by_q, by_qd, by = _force(span, rows, muscle.name)
            share = 2.0 * weight * (force - self.target)
            loss.by_q[rows], loss.by_qd[rows] = share[:, None] * by_q, share[:, None] * by_qd
            for j, state in enumerate(muscle.state_names):
                loss.by_states[rows, span.model.muscle_state_names.index(state)] = share * by[:, 1 + j]
        if column is not None:
            loss.by_tau[rows, column] = share * by[:, 0]
        return loss._replace(value=weight * float(((force - self.target) ** 2).sum()))


def _force(span: Span, rows: slice, name: str) -> tuple[FloatArray, ...]:
    """Force (n,) of a muscle with a law, its derivatives by q and q' (n, nv + k) with coordinates behind joints, and
    those by excitation, activation and fibre length (n, 3).
    """
    displaced, states = span.displaced, span.states[rows]
    model, order = displaced.model, displaced.order
    q, qd = displaced.widen(span.q[rows]), displaced.widen(span.qd[rows])
    tau = np.concatenate([displaced.widen(span.tau[rows]), states, np.zeros_like(states)], axis=1)
    found, by_q, by_qd = np.zeros((len(q), 4)), np.zeros_like(q), np.zeros_like(q)
    lent, spaces = (np.zeros(q.shape[1]), np.zeros(q.shape[1])), model.workspace().clear()
    index = muscle_number(model, name)
    kernels.adjoint.states.forces_along(model.arrays, index, q, qd, tau, found, by_q, by_qd, lent, spaces)
    check_flags(model, spaces[2])
    return found[:, 0], by_q[:, order], by_qd[:, order], found[:, 1:]
