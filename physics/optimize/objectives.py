"""Losses of a motion: what is wanted of it, as numbers that are 0 where it is met.

Objectives add up and take factors, which may be objectives: ``Reach("hand", ...) + 1e-3 * Effort()``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..model.model import Model
from ..motions.table import interpolated
from ..validation import finite_array, instance, near_names, number, rising, unit_axis
from .losses import Loss, Objective, Product, Span, Sum, check_given, check_time
from .mechanical import Energy, Momentum, MuscleForce

__all__ = [
    "Aim", "Custom", "Effort", "Energy", "Follow", "Frame", "Loss", "Momentum", "MuscleForce", "Objective", "Path",
    "Pose", "Product", "Reach", "Rest", "Span", "Sum",
]  # fmt: skip

#: a place that is nearer than this [m] is seen in no direction
TINY = 1e-9


def _check_point(model: Model, body: str, point: Any) -> None:
    model.index(body)
    finite_array(point, (3,), f"point of {body!r} in an objective")


def _places(poses: FloatArray, point: Any) -> FloatArray:
    """Places (n, 3) of a point (3,) of a body in the world."""
    return poses[:, :3, :3] @ np.asarray(point, dtype=float) + poses[:, :3, 3]


def _in_body(poses: FloatArray, along: FloatArray) -> FloatArray:
    """Directions (n, 3) of the world in the body's axes."""
    return np.einsum("kji,kj->ki", poses[:, :3, :3], along)


def _pushes(poses: FloatArray, point: Any, along: FloatArray) -> FloatArray:
    """Wrenches (n, 6) on a body, in its axes, of forces (n, 3) of the world at a point (3,) of it."""
    force = _in_body(poses, along)
    return np.concatenate([np.cross(np.asarray(point, dtype=float), force), force], axis=1)


class OfPoint(Objective):
    """Squares of three components that the pose of a body has at a time: base of `Reach` and `Aim`."""

    body: str
    target: Any
    point: Any
    time: float | None

    @abstractmethod
    def off(self, poses: FloatArray) -> FloatArray:
        """The components (n, 3) in the world at poses (n, 4, 4) of the body."""

    @abstractmethod
    def wrenches(self, poses: FloatArray, along: FloatArray) -> FloatArray:
        """Slopes (n, 6) of the components along directions (n, 3) of the world, by twists of the body."""

    def check(self, model: Model, start: float, end: float) -> None:
        _check_point(model, self.body, self.point)
        finite_array(self.target, (3,), f"target of {self.body!r}")
        check_time(self.time, start, end, f"the target of {self.body!r}")

    def evaluate(self, span: Span) -> Loss:
        loss, rows = Loss.none(span), span.rows_at(self.time)
        poses, jacobians = span.frames(self.body, rows)
        off = self.off(poses)
        loss.by_q[rows] = 2.0 * np.einsum("kid,ki->kd", jacobians, self.wrenches(poses, off))
        return loss._replace(value=float((off * off).sum()))


@dataclass(frozen=True, eq=False)
class Reach(OfPoint):
    """Squared distance [m^2] of a point of a body from a place, at the step nearest to a time.

    Attributes:
        body: its name. target: in the world (3,) [m]. point: in the body's frame (3,) [m]. time: [s]; None: at the end.
    """

    body: str
    target: Any
    point: Any = (0.0, 0.0, 0.0)
    time: float | None = None

    def off(self, poses: FloatArray) -> FloatArray:
        return _places(poses, self.point) - np.asarray(self.target, dtype=float)

    def wrenches(self, poses: FloatArray, along: FloatArray) -> FloatArray:
        return _pushes(poses, self.point, along)


@dataclass(frozen=True, eq=False)
class Path(Objective):
    """Mean squared distance [m^2] of a point of a body from a path, at each step from its first to its last time.

    Attributes:
        body: its name. times: (K,), increasing [s]. places: of the path (K, 3) in the world [m], straight between them.
        point: in the body's frame (3,) [m].
    """

    body: str
    times: Any
    places: Any
    point: Any = (0.0, 0.0, 0.0)

    def check(self, model: Model, start: float, end: float) -> None:
        _check_point(model, self.body, self.point)
        times = rising(self.times, f"times of the path of {self.body!r}")
        finite_array(self.places, (len(times), 3), f"places of the path of {self.body!r}")
        for time in times[[0, -1]]:
            check_time(float(time), start, end, f"the path of {self.body!r}")

    def evaluate(self, span: Span) -> Loss:
        times, places = np.asarray(self.times, dtype=float), np.asarray(self.places, dtype=float)
        first, last = np.round((times[[0, -1]] - span.start) / span.dt).astype(int)
        begin, stop = np.clip([first - span.first, last + 1 - span.first], 0, len(span.q))
        rows = slice(int(begin), int(stop))
        wanted = np.array([interpolated(t, times, places) for t in span.times[rows]]).reshape(-1, 3)
        return _off_places(span, self.body, self.point, rows, wanted, 1.0 / (last + 1 - first))


@dataclass(frozen=True, eq=False)
class Frame(Objective):
    """Squared distance of a body's origin and, times a squared length, squared angle from a pose [m^2].

    Attributes:
        body: its name. pose: (4, 4) in the world. length: [m], by which an angle counts. time: [s]; None: at the end.
    """

    body: str
    pose: Any
    length: float = 0.1
    time: float | None = None

    def check(self, model: Model, start: float, end: float) -> None:
        model.index(self.body)
        lie.check_frame(self.pose, f"pose for {self.body!r}")
        number(self.length, f"length of the pose for {self.body!r}", not_negative=True)
        check_time(self.time, start, end, f"the pose for {self.body!r}")

    def evaluate(self, span: Span) -> Loss:
        rows, goal, weight = span.rows_at(self.time), np.asarray(self.pose, dtype=float), self.length**2
        loss = _off_places(span, self.body, np.zeros(3), rows, goal[:3, 3])
        poses, jacobians = span.frames(self.body, rows)
        # a turn's vector is an eigenvector of its Jacobian: the slope of its square by a turn in body axes is twice it
        turn = lie.so3_log(goal[:3, :3].T @ poses[:, :3, :3])
        loss.by_q[rows] += 2.0 * weight * np.einsum("kid,ki->kd", jacobians[:, :3], turn)
        return loss._replace(value=loss.value + weight * float((turn * turn).sum()))


def _off_places(
    span: Span, body: str, point: Any, rows: slice, wanted: FloatArray, share: float = 1.0
) -> Loss:
    """Squared distances of a body's point from places at some rows, times share."""
    loss = Loss.none(span)
    poses, jacobians = span.frames(body, rows)
    off = _places(poses, point) - wanted
    loss.by_q[rows] = 2.0 * share * np.einsum("kid,ki->kd", jacobians, _pushes(poses, point, off))
    return loss._replace(value=share * float((off * off).sum()))


@dataclass(frozen=True, eq=False)
class Aim(OfPoint):
    """Squared difference of a body's direction from that to a place, both of length 1: 4 where it looks away.

    Attributes:
        body: its name. target: in the world (3,) [m]. direction: in the body's frame (3,), of any length. point: in the
            body's frame (3,) [m], from which the place is seen. time: [s]; None: at the end.
    """

    body: str
    target: Any
    direction: Any
    point: Any = (0.0, 0.0, 0.0)
    time: float | None = None

    def check(self, model: Model, start: float, end: float) -> None:
        super().check(model, start, end)
        unit_axis(self.direction, f"direction of {self.body!r} in an objective")

    def off(self, poses: FloatArray) -> FloatArray:
        own = unit_axis(self.direction, "direction")
        return poses[:, :3, :3] @ own - self._way(poses)[0]

    def wrenches(self, poses: FloatArray, along: FloatArray) -> FloatArray:
        way, apart = self._way(poses)
        across = (along - np.einsum("ki,ki->k", way, along)[:, None] * way) / apart[:, None]
        across[apart <= TINY] = 0.0
        turns = np.cross(unit_axis(self.direction, "direction"), _in_body(poses, along))
        return _pushes(poses, self.point, across) + np.concatenate([turns, np.zeros_like(turns)], axis=1)

    def _way(self, poses: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Directions (n, 3) to the place, and how far it is (n,) [m]."""
        way = np.asarray(self.target, dtype=float) - _places(poses, self.point)
        apart = np.maximum(np.linalg.norm(way, axis=1), TINY)
        return way / apart[:, None], apart


@dataclass(frozen=True, eq=False)
class Pose(Objective):
    """Sum of the squared differences of coordinates from {coordinate: value} at a time [s]; None: at the end."""

    values: Mapping[str, float]
    time: float | None = None

    def check(self, model: Model, start: float, end: float) -> None:
        self.columns(model)
        for name, value in self.values.items():
            number(value, f"{name} of a pose")
        check_time(self.time, start, end, "a pose")

    def columns(self, model: Model) -> list[int]:
        """The coordinates' numbers."""
        return _columns(instance(self.values, Mapping, "values of a pose"), model.coordinate_names, "a pose")

    def evaluate(self, span: Span) -> Loss:
        columns = self.columns(span.model)
        goal, loss = np.array(list(self.values.values())), Loss.none(span)
        return _squares(loss, span.q, loss.by_q, span.rows_at(self.time), columns, goal)


@dataclass(frozen=True, eq=False)
class Follow(Objective):
    """Mean over times of the squared distance of all coordinates from a motion, at the step nearest to each time.

    Attributes:
        times: (K,), increasing [s]. values: coordinates (K, nv). metric: (K, nv, nv), symmetric, not negative: the
            squared distance of coordinates d apart is d^T metric d; None: the sum of the squared differences.
    """

    times: Any
    values: Any
    metric: Any = None

    def check(self, model: Model, start: float, end: float) -> None:
        times, nv = rising(self.times, "times of a motion to follow"), model.num_coordinates
        finite_array(self.values, (len(times), nv), "values of a motion to follow")
        if self.metric is not None:
            finite_array(self.metric, (len(times), nv, nv), "metric of a motion to follow")
        for time in times[[0, -1]]:
            check_time(float(time), start, end, "a motion to follow")

    def evaluate(self, span: Span) -> Loss:
        times, goal, loss = (
            np.asarray(self.times, dtype=float),
            np.asarray(self.values, dtype=float),
            Loss.none(span),
        )
        rows = np.round((times - span.start) / span.dt).astype(np.int64) - span.first
        known = np.flatnonzero((rows >= 0) & (rows < len(span.q)))
        off = span.q[rows[known]] - goal[known]
        force = off if self.metric is None else np.einsum("kij,kj->ki", np.asarray(self.metric)[known], off)
        np.add.at(loss.by_q[:, : goal.shape[1]], rows[known], 2.0 / len(times) * force)
        return loss._replace(value=float((off * force).sum()) / len(times))


@dataclass(frozen=True, eq=False)
class Rest(Objective):
    """Sum of the squared velocities of coordinates at a time [s], at the end if None.

    coordinates: their names; None: all.
    """

    coordinates: Any = None
    time: float | None = None

    def check(self, model: Model, start: float, end: float) -> None:
        self.columns(model)
        check_time(self.time, start, end, "a rest")

    def columns(self, model: Model) -> list[int]:
        """The coordinates' numbers."""
        return _columns(self.coordinates, model.coordinate_names, "a rest")

    def evaluate(self, span: Span) -> Loss:
        columns, loss = self.columns(span.model), Loss.none(span)
        return _squares(loss, span.qd, loss.by_qd, span.rows_at(self.time), columns)


@dataclass(frozen=True, eq=False)
class Effort(Objective):
    """Squares of generalized forces and inputs, summed over them and the steps, times the step: N^2 m^2 s and the like.

    names: of coordinates and inputs; None: all coordinates.
    """

    names: Any = None

    def check(self, model: Model, start: float, end: float) -> None:
        known = (*model.coordinate_names, *model.input_names)
        check_given(model, [known[k] for k in self.columns(model)], "an effort")

    def columns(self, model: Model) -> list[int]:
        """Those of forces and inputs that count."""
        known = (*model.coordinate_names, *model.input_names)
        return _columns(model.coordinate_names if self.names is None else self.names, known, "an effort")

    def evaluate(self, span: Span) -> Loss:
        loss, columns = Loss.none(span), self.columns(span.model)
        return _squares(loss, span.tau, loss.by_tau, span.ends, columns, 0.0, span.dt)


def _columns(names: Any, known: tuple[str, ...], what: str) -> list[int]:
    """Indices of names among known ones, all if None; ModelError for one that is not there."""
    if names is None:
        return list(range(len(known)))
    for name in names:
        if name not in known:
            raise ModelError(f"{what} names no {name!r}{near_names(name, known)}")
    return [known.index(name) for name in names]


def _squares(
    loss: Loss,
    numbers: FloatArray,
    slopes: FloatArray,
    rows: slice,
    columns: list[int],
    goal: Any = 0.0,
    share: float = 1.0,
) -> Loss:
    """Squared differences of some rows and columns from a goal, times share."""
    off = numbers[rows][:, columns] - goal
    slopes[rows, columns] = 2.0 * share * off
    return loss._replace(value=share * float((off * off).sum()))


@dataclass(frozen=True, eq=False)
class Custom(Objective):
    """A function of (t, q, q', tau), tau with inputs, at a time [s] or, if that is None, its integral over the steps.

    function: returns its value and its derivatives by q (nv,), q' (nv,) and tau (nv + inputs,).
    """

    function: Callable[[float, FloatArray, FloatArray, FloatArray], Any]
    time: float | None = None

    def check(self, model: Model, start: float, end: float) -> None:
        if not callable(self.function):
            raise ModelError(f"function of an objective must be callable, got {self.function!r:.80}")
        check_time(self.time, start, end, "an objective")
        state = model.state(time=start)
        self._called(start, state.q, state.qd, model.with_inputs(None))

    def _called(self, t: float, *given: FloatArray) -> tuple[Any, ...]:
        found = self.function(t, *(array.copy() for array in given))
        if not isinstance(found, tuple | list) or len(found) != 4:
            raise ModelError(f"function of an objective must return four things, got {found!r:.80}")
        named = zip(found[1:], given, ("q", "qd", "tau"))
        slopes = [finite_array(each, row.shape, f"slope of an objective by {by}") for each, row, by in named]
        return number(found[0], "value of an objective"), *slopes

    def evaluate(self, span: Span) -> Loss:
        loss, value = Loss.none(span), 0.0
        rows, weight = (span.ends, span.dt) if self.time is None else (span.rows_at(self.time), 1.0)
        for k in range(rows.start, rows.stop):
            found = self._called(float(span.times[k]), span.q[k], span.qd[k], span.tau[k])
            value += weight * found[0]
            for array, slope in zip(loss[1:], found[1:]):
                array[k, : len(slope)] += weight * slope
        return loss._replace(value=value)
