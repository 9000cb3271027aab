"""Torques or excitations that bring bodies to goals: what the job of that name solves, in numbers of like size."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..dynamics import body_poses, inverse_dynamics, mass_matrix
from ..dynamics.constrained import assemble
from ..errors import DivergedError, ModelError
from ..model.model import Model
from ..model.result import Result
from ..motions.motion import places_of_motions
from ..motions.table import Table, force_table, interpolated
from ..optimize.excitations import crossed
from ..optimize.gradient import gradient
from ..optimize.motors import driven as driven
from ..optimize.motors import motors, with_motors, without
from ..optimize.objectives import Aim, Effort, Objective, Pose, Reach, Rest, Sum
from ..optimize.optimum import FROM_POSES, optimize
from ..optimize.parameters import Parameter
from ..registry import check_keys
from ..simulation.simulate import simulate
from ..validation import chosen, instance, number
from .report import Report

KINDS = ("reach", "rest", "pose", "look")
#: weights of efforts from search to search, against the last: along a narrow valley steps are short
EASIER = (1e4, 1e2, 1.0)
#: share of a squared speed [rad/s, m/s] in the loss against a squared distance as a share of the chain's length
SPEEDS = 0.01
#: what else moves must be straight between the knots to this share of its largest value
STRAIGHT = 1e-6


@dataclass(frozen=True)
class Goal:
    """What is wanted of a body of a model at a time.

    Attributes:
        kind: of `KINDS`. body: its name. time: [s]. weight: of its square. target: in the world (3,) [m], point: in the
            body's frame (3,) [m], both of a reach and a look. coordinate: its name, value: [rad, m], both of a pose.
            direction: in the body's frame (3,), of a look.
    """

    kind: str
    body: str
    time: float
    weight: float = 1.0
    target: Sequence[float] = (0.0, 0.0, 0.0)
    point: Sequence[float] = (0.0, 0.0, 0.0)
    coordinate: str = ""
    value: float = 0.0
    direction: Sequence[float] = (0.0, 1.0, 0.0)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Goal:
        """A goal from its description; FormatError or ModelError where it is none."""
        check_keys(given, set(cls.__dataclass_fields__), ("kind", "body", "time"), "a goal")
        chosen(given["kind"], KINDS, "kind of a goal")
        number(given.get("weight", 1.0), f"weight of a goal of {given['body']!r}", not_negative=True)
        return cls(**given)

    def objective(self, model: Model, state: State, moved: Sequence[str]) -> Objective:
        """It as a loss: 1 where a point is as far off as its chain is long, at 10 rad/s, or 1 rad or m off a pose or a
        look.

        moved: names of the coordinates that no motion prescribes.
        """
        if self.kind == "reach":
            poses = body_poses(model, state)
            arm = self.place(poses, model) - _base(model, poses, self.body, moved)
            reach = Reach(self.body, np.array(self.target), np.array(self.point), self.time)
            return self.weight / max(float(arm @ arm), 1e-12) * reach
        if self.kind == "pose":
            return self.weight * Pose({self.coordinate: self.value}, self.time)
        if self.kind == "look":
            return self.weight * self.aim
        return SPEEDS * self.weight * Rest(_moving(model, self.body, moved), self.time)

    @property
    def aim(self) -> Aim:
        """A look as an objective."""
        return Aim(
            self.body, np.array(self.target), np.array(self.direction), np.array(self.point), self.time
        )

    def place(self, poses: FloatArray, model: Model) -> FloatArray:
        """The point in the world (3,) at poses (nb, 4, 4)."""
        pose = poses[model.index(self.body)]
        return pose[:3, :3] @ np.array(self.point) + pose[:3, 3]

    def miss(self, result: Result, moved: Sequence[str]) -> float:
        """By how much a motion with a sample at each step misses it [m; rad/s; rad, m; rad]."""
        row, model = int(np.argmin(np.abs(result.t - self.time))), result.model
        if self.kind == "reach":
            return float(np.linalg.norm(self.place(result.poses[row], model) - np.array(self.target)))
        if self.kind == "pose":
            return float(np.abs(result.q[row, model.coordinate_index(self.coordinate)] - self.value))
        if self.kind == "look":
            off = float(np.linalg.norm(self.aim.off(result.poses[row, [model.index(self.body)]])))
            return 2.0 * float(np.arcsin(min(0.5 * off, 1.0)))
        columns = [model.coordinate_index(name) for name in _moving(model, self.body, moved)]
        return float(np.abs(result.qd[row, columns]).max(initial=0.0))


def carrying(model: Model, body: str) -> list[str]:
    """Names of the coordinates between the world and a body, from the root on."""
    names, index = list[str](), model.index(body)
    while index >= 0:
        names = [*model.coordinate_names[model.coordinate_slice(model.body_names[index])], *names]
        index = int(model.parent[index])
    return names


def pulling(model: Model, coordinates: Collection[str]) -> dict[str, str]:
    """Excitations of the muscles that cross a joint of some coordinates: names of their inputs, by the muscles'."""
    return {
        muscle.name: muscle.tension
        for muscle in model.muscles
        if isinstance(muscle.tension, str)
        and muscle.law is not None
        and crossed(model, muscle) & {*coordinates}
    }


def moved_by(model: Model, inputs: Collection[str]) -> set[str]:
    """Names of the coordinates that muscles with these inputs may move."""
    return {name for muscle in model.muscles if muscle.tension in inputs for name in crossed(model, muscle)}


def _moving(model: Model, body: str, moved: Sequence[str]) -> list[str]:
    """Of the coordinates between the world and a body those that are moved."""
    return [name for name in carrying(model, body) if name in moved]


def _base(model: Model, poses: FloatArray, body: str, moved: Sequence[str]) -> FloatArray:
    """Place (3,) of the first joint between the world and a body, of which a coordinate is moved."""
    first = _moving(model, body, moved)[:1] or carrying(model, body)[:1]
    index = next(k for k, name in enumerate(model.body_names) if first[0] in carrying(model, name))
    joint, parent = np.asarray(model.bodies[index].joint_in_parent), int(model.parent[index])
    place: FloatArray = (joint if parent < 0 else poses[parent] @ joint)[:3, 3]
    return place


@dataclass(frozen=True, eq=False)
class Solution:
    """Torques or excitations that were found.

    Attributes:
        times: of the knots (K,) [s]. torques: {coordinate or input: (K,)}, numbers of single precision, as Blender
            keeps them.
        misses: by how much each goal is missed [m; rad/s; rad, m; rad]. gradients: how many it took.
    """

    times: FloatArray
    torques: dict[str, FloatArray]
    misses: list[float]
    gradients: int


@dataclass(frozen=True, eq=False)
class Physical:
    """Torques of the motion nearest to a given one.

    Attributes:
        times: of the knots (K,) [s]. torques: {coordinate: (K,)}. budgets: {coordinate: largest torque [N m, N]}.
        apart: root mean square distance (T, bodies) [m] of each body's mass from where the given motion has it, at its
            times; distance: the same of all mass and times. gradients: how many it took.
    """

    times: FloatArray
    torques: dict[str, FloatArray]
    apart: FloatArray
    budgets: dict[str, float]
    distance: float
    gradients: int


def rehearse(model: Model, state: State, options: Mapping[str, Any]) -> None:
    """One step and its gradient, with options as of `solve`: compiles the kernels of a search with such a model."""
    dt, state = options["dt"], assemble(model, state) if options.get("assemble") else state
    more = {"tau": options.get("tau"), "motions": options.get("motions"), "integrator": options["integrator"]}
    torques = [Parameter("torque", name) for name in model.coordinate_names[:1]]
    if torques:
        with suppress(DivergedError):  # a search may begin with other torques
            gradient(model, state, dt, dt, objective=Rest(), parameters=torques, **more)


def solve(
    model: Model,
    state: State,
    options: Mapping[str, Any],
    goals: Sequence[Goal],
    torques: Sequence[str],
    knots: FloatArray,
    effort: float,
    most: int,
    report: Report,
) -> Solution:
    """Search for torques of some coordinates, or excitations, at knots (K,) [s], straight between them, that meet
    goals.

    options: duration, dt, integrator, tau, motions and assemble of ``simulate``. torques: names of coordinates or of
    inputs. effort: weight of the squared torques, as a share of those that hold the model and bring it a radian far; of
    squared excitations, as a share of full ones. most: gradients.

    Raises:
        ModelError, DivergedError: as of `optimize`; other forces are not straight between the knots.
    """
    model.check_dynamics()
    state = assemble(model, state) if options.get("assemble") else state
    duration, dt, integrator = (options[name] for name in ("duration", "dt", "integrator"))
    table, motions = at_knots(model, options.get("tau"), torques, knots), options.get("motions")
    led = {d for _, _, where in places_of_motions(model, motions) for d in range(where.start, where.stop)}
    moved = [name for d, name in enumerate(model.coordinate_names) if d not in led]
    wanted = Sum(tuple((1.0, goal.objective(model, state, moved)) for goal in goals))
    efforts = effort / _usual_effort(model, state, torques, duration) * Effort(list(torques))
    parameters = _parameters(model, torques, len(knots))
    values, done = table, 0
    for round_, easier in enumerate(EASIER):
        begun = done

        def progress(gradients: int, _value: float, begun: int = begun) -> bool:
            return report.progress((begun + gradients) / most)

        found = optimize(
            model,
            state,
            duration,
            dt,
            integrator=integrator,
            objective=wanted + easier * efforts,
            parameters=parameters,
            tau=Table(knots, values),
            motions=motions,
            method="least squares",
            starts=None if round_ else FROM_POSES,
            most_gradients=max(1, most // len(EASIER)),
            progress=progress,
        )
        values, done = np.array(instance(found.inputs, Table, "torques").values), done + found.gradients
    columns = Effort(list(torques)).columns(model)
    values[:, columns] = values[:, columns].astype(np.float32)
    result = simulate(model, state, duration, dt, integrator, tau=Table(knots, values), motions=motions)
    by_name = {name: values[:, column].copy() for name, column in zip(torques, columns)}
    return Solution(knots, by_name, [goal.miss(result, moved) for goal in goals], done)


def _parameters(model: Model, names: Sequence[str], count: int) -> list[Parameter]:
    """The torques of coordinates and the inputs of these names, at each of a number of knots; without the first
    excitation of a muscle with an activation, which begins as the muscle is excited then.
    """
    states = {muscle.tension for muscle in model.muscles if muscle.state_names}
    found = list[Parameter]()
    for name in names:
        kind = "input" if name in model.input_names else "torque"
        found += (
            [Parameter(kind, name, k) for k in range(1, count)] if name in states else [Parameter(kind, name)]
        )
    return found


def at_knots(model: Model, tau: Any, torques: Sequence[str], knots: FloatArray) -> FloatArray:
    """Forces and inputs (K, nv + inputs) at the knots; ModelError where others than some torques bend between them."""
    times, values = force_table(model, tau)
    rows = np.array([interpolated(float(t), times, values) for t in knots])
    inside = (times >= knots[0]) & (times <= knots[-1])
    straight = np.array([interpolated(float(t), knots, rows) for t in times[inside]]).reshape(
        -1, rows.shape[1]
    )
    off = np.abs(straight - values[inside]).max(axis=0, initial=0.0) > STRAIGHT * np.abs(values).max(axis=0)
    names = (*model.coordinate_names, *model.input_names)
    for name, bends in zip(names, off):
        if bends and name not in torques:
            raise ModelError(
                f"{name!r} changes in time, which a search for goals cannot take: keep it constant"
            )
    return rows


def _usual_effort(model: Model, state: State, torques: Sequence[str], duration: float) -> float:
    """Square of torques that hold a model, and of those that bring each coordinate a radian far, over a time; of
    excitations of 1.
    """
    if set(torques) <= {*model.input_names} - {*motors(model)}:
        return duration * len(torques)
    columns, still = Effort(list(torques)).columns(model), model.state(q=state.q, time=state.time)
    given = without(model, model.with_inputs(None), torques)
    tau = inverse_dynamics(model, still, None, given), 4.0 / duration**2 * np.diag(mass_matrix(model, still))
    holding, moving = (np.abs(with_motors(model, still, each, torques)[columns]) for each in tau)
    return float(duration * ((holding + moving) ** 2).sum())
