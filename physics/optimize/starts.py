"""Torques or excitations to begin a search with: of a smooth motion from pose to pose that inverse kinematics finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..constraints import CouplingConstraint
from ..dynamics import inverse_dynamics
from ..dynamics.samples import SampledDynamics
from ..errors import ModelError
from ..kernels.stepping.motion_layout import CHANNEL_COORDINATE
from ..kinematics.solve import inverse_kinematics
from ..kinematics.targets import Target
from ..model.checks import inputs_alone
from ..motions.motion import MotionArrays
from ..motions.table import interpolated
from ..muscles import Tension
from ..muscles.hill import Hill
from ..soft.mesh import FREE, moved_by, with_points
from .excitations import crossed, excitations
from .gradient import Task
from .motors import driven, motors, with_motors, without
from .objectives import Objective, Pose, Reach
from .residuals import flat, shares_of_rows
from .steps import at_time

#: states of the smooth motion between two rows of a table of torques
BETWEEN = 6
#: a quintic from 0 to 1 in unit time that begins and ends at rest: coefficients from the highest power down
QUINTIC = (6.0, -15.0, 10.0, 0.0, 0.0, 0.0)
#: searches of inverse kinematics for each pose
STARTS = 8


def from_inverse_kinematics(task: Task) -> FloatArray:
    """A task's numbers (n,), with torques of a motion that rests in a pose for each time of `Reach` and `Pose`; without
    torques and motors among them, with excitations that give these.

    Between poses coordinates follow quintics of least jerk. The torques of inverse dynamics along them, or the
    activations of least squares that share them, are fitted by the rows of the table, in the least squares.
    """
    task = stiff(task)
    motions, model = task.prescribed(), task.model
    times, q = _poses(task, motions)
    begin, end = task.times[0], task.times[-1]
    at = np.linspace(begin, end, BETWEEN * max(1, len(task.times) - 1) + 1)
    moments = [_moment(task, motions, times, q, float(t)) for t in at]
    pushing = _names(task, "torque") | (_names(task, "input") & {*motors(model)})
    if pushing:
        rows = np.array([_torques(task, *moment, [*pushing]) for moment in moments])
    else:
        rows = _excitations(task, motions, moments)
    found = pushing or _names(task, "input")
    fitted = np.linalg.lstsq(shares_of_rows(task.times, at), rows, rcond=None)[0]
    names = (*model.coordinate_names, *model.input_names)
    row = task.places.read(task.values)
    for each, part, (_, place) in zip(task.places.parameters, task.places.slices, task.places.places):
        if each.kind in ("torque", "input") and each.name in found:
            row[part] = fitted[place[0], names.index(each.name)]
    return row


def _names(task: Task, kind: str) -> set[str]:
    """Names of the parameters of a kind."""
    return {each.name for each in task.places.parameters if each.kind == kind}


def stiff(task: Task) -> Task:
    """The task without soft bodies, with the mass of each node on the body of the attached one next to it."""
    model = task.model
    if not model.soft_bodies:
        return task
    mesh, bodies = model.soft_mesh, list(model.bodies)
    carriers = np.full(len(mesh.rest), FREE)
    for own in mesh.slices.values():
        held = own.start + np.flatnonzero(mesh.bodies[own] != FREE)
        if len(held):
            away = ((mesh.rest[own, None] - mesh.rest[held]) ** 2).sum(axis=-1)
            carriers[own] = mesh.bodies[held[away.argmin(axis=1)]]
    for i in sorted(set(carriers[carriers >= 0].tolist())):
        on = carriers == i
        points = moved_by(np.linalg.inv(mesh.poses[i]), mesh.rest[on])
        bodies[i] = with_points(bodies[i], mesh.masses[on], points)
    model = model.altered(bodies=bodies, soft_bodies=())
    return replace(task, model=model, state=replace(task.state, soft_states=None))


def _poses(task: Task, motions: MotionArrays) -> tuple[FloatArray, FloatArray]:
    """Times (P,) [s] and coordinates (P, nv): at the start, and where something is to be somewhere."""
    start = float(task.state.time)
    end = start + task.steps * task.dt
    wanted: dict[float, list[Objective]] = {}
    for _, part in flat(task.objective, 1.0):
        if isinstance(part, Reach | Pose):
            wanted.setdefault(end if part.time is None else float(part.time), []).append(part)
    times, states = [start], [task.state]
    held = _held(task)
    for time in sorted(wanted):
        if time > start:
            times.append(time)
            q, qd = np.array(states[-1].q), np.array(states[-1].qd)
            at_time(task.model, motions, time, q, qd, np.zeros_like(qd))
            states.append(_pose(task, replace(states[-1], q=q, qd=qd), wanted[time], held))
    return np.array(times), np.array([state.q for state in states])


def _held(task: Task) -> list[str]:
    """Bodies of which no coordinate has a torque, or a muscle with an excitation, to be found."""
    model = task.model
    pulled = _names(task, "input")
    moved = _names(task, "torque") | driven(model, [*pulled])
    for muscle in model.muscles:
        if muscle.tension in pulled:
            moved |= crossed(model, muscle)
    names = np.array(model.coordinate_names)
    return [name for name in model.body_names if not moved & set(names[model.coordinate_slice(name)])]


def _pose(task: Task, state: Any, wanted: list[Objective], held: list[str]) -> Any:
    """The state that meets all that is wanted at a time, or comes nearest, near another state."""
    q = np.array(state.q)
    for part in wanted:
        if isinstance(part, Pose):
            q[part.columns(task.model)] = list(part.values.values())
    state = replace(state, q=q)
    targets = [Target(part.body, part.target, at=part.point) for part in wanted if isinstance(part, Reach)]
    if not targets:
        return state
    return inverse_kinematics(task.model, targets, state, held=held, starts=STARTS).state


def _moment(
    task: Task, motions: MotionArrays, times: FloatArray, poses: FloatArray, now: float
) -> tuple[State, FloatArray]:
    """State and accelerations (nv,) of the motion from pose to pose at a time."""
    k = int(np.clip(np.searchsorted(times, now, side="right") - 1, 0, max(len(times) - 2, 0)))
    q, qd, qdd = poses[min(k, len(poses) - 1)], np.zeros(poses.shape[1]), np.zeros(poses.shape[1])
    if k + 1 < len(times):
        width, way = times[k + 1] - times[k], poses[k + 1] - poses[k]
        share = min((now - times[k]) / width, 1.0)
        q = q + np.polyval(QUINTIC, share) * way
        qd, qdd = (np.polyval(np.polyder(QUINTIC, m), share) / width**m * way for m in (1, 2))
    at_time(task.model, motions, now, q, qd, qdd)
    return task.model.state(q=q, qd=qd, time=now), qdd


def _torques(task: Task, state: State, qdd: FloatArray, names: Sequence[str]) -> FloatArray:
    """Torques of a moment (nv + inputs,), by motors where these are among the names, beside the other inputs given."""
    inputs = without(task.model, interpolated(state.time, task.times, task.values["table"]), names)
    return with_motors(task.model, state, inverse_dynamics(task.model, state, qdd, inputs), names)


def _excitations(
    task: Task, motions: MotionArrays, moments: Sequence[tuple[State, FloatArray]]
) -> FloatArray:
    """Forces and inputs (T, nv + inputs) of a motion, with activations of least squares that give its torques; those
    given where muscles cannot share them.
    """
    model = task.model
    given = np.array([interpolated(state.time, task.times, task.values["table"]) for state, _ in moments])
    muscles = [muscle for muscle in model.muscles if isinstance(muscle.tension, str)]
    if not muscles or not all(isinstance(muscle.law, Hill | Tension) for muscle in muscles):
        return given
    if not all(isinstance(each, CouplingConstraint) for each in model.constraints.values()):
        return given
    led, nv = motions[0][:, CHANNEL_COORDINATE], model.num_coordinates
    strengths = {name: np.inf if d in led else 1.0 for d, name in enumerate(model.coordinate_names)}
    resting, columns = inputs_alone(model, None), [
        nv + model.input_names.index(str(muscle.tension)) for muscle in muscles
    ]  # fmt: skip
    moved = given.copy()
    moved[:, columns] = resting[columns]
    tau = [
        inverse_dynamics(model, state, qdd, row[nv:]) - row[:nv] for (state, qdd), row in zip(moments, moved)
    ]
    q, qd = (np.array([getattr(state, name) for state, _ in moments]) for name in ("q", "qd"))
    times, qdd = np.array([state.time for state, _ in moments]), np.array([qdd for _, qdd in moments])
    try:
        found = excitations(
            model, SampledDynamics(np.array(tau), q, qd, qdd, times), reserves=strengths
        ).inputs
    except ModelError:  # no activations were found for a moment of a motion that is only a start
        return given
    return np.concatenate([given[:, :nv], found[:, nv:]], axis=1)
