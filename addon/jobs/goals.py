"""Torques or excitations that meet the goals of bodies, as keys, and the bake of what they do: a generator as those of
`bake`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from bpy.types import Scene

from ..animation import inputs as forcing
from ..baking import input_keys, solver_statistics, write
from ..blender import compute_process, physics_access, session, units
from ..blender.compute_process import Steps
from ..data import finding_list, findings, frame_times, references
from ..data.joints import torque_path
from ..reading import goals, input_values, joint_motors, snapshot
from ..reading.goals import Wanted
from . import bake
from .shot import Plan

#: methods that have gradients; the first takes the place of others
METHODS = ("sdirk2", "bdf1")
#: speed at rest [rad/s, m/s]
REST = 1e-3
#: distance from a pose [rad, m]
POSE = 1e-3
#: angle between a look and its target [rad]
LOOK = 1e-2
MOST_GRADIENTS = {"TORQUES": 24, "MUSCLES": 48}
#: what an effort of 1 is to the search
EFFORT = 1e-6


@dataclass(frozen=True)
class GoalReport:
    """What was found, and the bake of it; misses: by how much each goal is missed [m; rad/s; rad, m; rad];
    keyed: how many torques or excitations, as `what` says.
    """

    bake: bake.BakeReport
    goals: list[Wanted]
    misses: list[float]
    gradients: int
    keyed: int
    what: str


@dataclass(frozen=True, eq=False)
class Task:
    """A search: plan of the simulation, coordinates that get torques, or inputs excitations, and where these are kept,
    frames of their knots, arguments of the job, torques that become 0, and kinds of the joints or muscles by session
    uid.
    """

    made: Plan
    places: dict[str, input_keys.Place]
    knots: np.ndarray
    arguments: dict[str, Any]
    replaced: dict[str, input_keys.Place] = field(default_factory=dict)
    kinds: dict[int, str] = field(default_factory=dict)


def solve(scene: Scene, accept: bool = False) -> Steps[GoalReport]:
    """Steps that find torques or excitations, key them, and bake; accept: also where they miss a goal.

    Raises:
        ModelError: the scene has what has no gradient; or a goal is missed and that is not accepted. Nothing changed.
    """
    clock, view = frame_times.Clock(), snapshot.settings(scene)
    scene_uid, frames = view.session_uid, frame_times.frame_range(view)
    once, settings = frame_times.samples(view) == 1, view.condyle.goals
    run = frame_times.run_frames(view, frames)
    wanted = goals.read(scene_uid, int(run[0]), int(run[-1]))
    made, fitted = yield from bake.prepared(view, frames, clock, motors=True)
    task = _task(view, made, wanted, run)
    task = checked(task)
    requests = physics_access.part("worker.requests")
    answer = yield requests.solve_goals(compute_process.client(), **task.arguments)
    found = requests.solve_goals_answer(answer)
    missed = _missed(wanted, found.misses, settings.tolerance * units.length_scale(view))
    told = [*missed, *_without_torque(made, wanted, task)]
    if missed and not accept:
        session.missed_goals = scene_uid
        finding_list.show(scene_uid, findings.of_source(told, findings.BAKE))
        more = f" And {len(missed) - 1} more: see the list." if len(missed) > 1 else ""
        raise physics_access.model_error(f"{missed[0].text}.{more} Nothing was changed")
    session.missed_goals = 0
    clock.lap("solve")
    report = yield from baked(task, found, frames, fitted, once, clock, told)
    what = "torque" if settings.by == "TORQUES" else "excitation"
    return GoalReport(report, wanted, found.misses, found.gradients, len(task.places), what)


def baked(
    task: Task,
    found: Any,
    frames: np.ndarray,
    fitted: dict[int, bake.FitReport],
    once: bool,
    clock: frame_times.Clock,
    told: list[findings.Finding],
    also: Callable[[Scene], None] | None = None,
) -> Steps[bake.BakeReport]:
    """Steps that bake the motion of torques or excitations that were found, and key these; told: what to warn of. also:
    what else to change.
    """
    scene_uid, made = task.made.shot.view.session_uid, _with_found(task, found)
    answer = yield from bake.simulate(scene_uid, frames, made, fitted, once)
    clock.lap("simulate")

    def to_change(scene: Scene) -> Callable[[], None]:
        keyed = {task.places[name]: values for name, values in found.torques.items()}
        keyed |= dict.fromkeys(task.replaced.values(), np.zeros(len(task.knots)))
        input_keys.check(scene, keyed, task.kinds)  # the scene may have been edited during the search

        def change() -> None:
            scene.condyle.simulation.integrator = made.options["integrator"]
            scene.condyle.simulation.time_step = made.options["dt"]
            input_keys.write(scene, task.knots, keyed)
            if also is not None:
                also(scene)

        return change

    made = replace(made, warnings=[*made.warnings, *told])
    report = yield from bake.simulated(scene_uid, frames, made, fitted, answer, clock, to_change)
    seconds = clock.seconds["simulate"]
    write.note_statistics(references.find_scene(scene_uid), solver_statistics.of(report.result, seconds))
    return report


def checked(task: Task) -> Task:
    """The task with the kinds of its joints or muscles; ModelError where these cannot be keyed."""
    scene = references.find_scene(task.made.shot.view.session_uid)
    return replace(task, kinds=input_keys.check(scene, [*task.places.values(), *task.replaced.values()]))


def _task(view: Scene, made: Plan, wanted: list[Wanted], run: np.ndarray) -> Task:
    """The search for a scene's goals."""
    read, options, settings = made.read, dict(made.options), view.condyle.goals
    if options.get("loop"):
        raise physics_access.model_error("goals have no loop: turn off Loop in Start and Time")
    start, rate, dt = float(read.state.time), units.frames_per_second(view), step(view)
    physics = physics_access.part("worker.goals")
    known = {entry.handle: entry.name for entry in read.bodies}
    found = []
    for each in wanted:
        if each.handle not in known:
            raise physics_access.model_error(f"{each.body} has a goal, but is not simulated: give it a joint")
        time = start + round(each.frame - run[0]) * settings.steps * dt  # at the end of a step
        name = known[each.handle]
        pose = (_coordinate(made, each, name), each.value) if each.kind == "pose" else ()
        goal = physics.Goal(each.kind, name, time, each.weight, each.target, each.point, *pose)
        found.append(replace(goal, direction=each.direction))
    places, replaced = _places(view, made, [goal.body for goal in found])
    if replaced:
        columns = [input_values.columns(read.model)[name] for name in replaced]
        values = np.array(made.options["tau"].values)
        values[:, columns] = 0.0
        options["tau"] = physics_access.physics().Table(made.options["tau"].times, values)
        made = replace(made, options={**made.options, "tau": options["tau"]})
    last = wanted[-1].frame
    knots = np.unique(np.round(np.linspace(run[0], last, settings.knots)))
    options |= {
        "duration": round(last - run[0]) * settings.steps * dt,
        "dt": dt,
        "integrator": method(options),
    }
    times = start + (knots - run[0]) / rate
    more = {
        "torques": list(places),
        "knots": times,
        "effort": EFFORT * settings.effort,
        "most": MOST_GRADIENTS[settings.by],
    }
    arguments = {**made.arguments, **options, "goals": found, **more}
    return Task(made, places, knots, arguments, replaced)


def step(view: Scene) -> float:
    """Step [s] of a search and of what is baked of it, as the scene keeps it."""
    return float(np.float32(1.0 / (units.frames_per_second(view) * view.condyle.goals.steps)))


def method(options: dict[str, Any]) -> str:
    """The method of a search: that of a bake, if it has gradients."""
    chosen: str = options["integrator"]
    return chosen if chosen in METHODS else METHODS[0]


def _coordinate(made: Plan, wanted: Wanted, name: str) -> str:
    """The coordinate of the model, on whose body of this name a pose is wanted."""
    model = made.read.model
    own, joint = model.coordinate_slice(name), model.joints[model.index(name)]
    if joint.reading_names != joint.coordinate_names:
        raise physics_access.model_error(
            f"{wanted.body} has a goal for its pose, but its joint's sliders are only read off it: choose another Goal"
        )
    if wanted.coordinate >= own.stop - own.start:
        raise physics_access.model_error(
            f"{wanted.body} has a goal for coordinate {wanted.coordinate} of its joint, which has "
            f"{own.stop - own.start}: change Coordinate, which counts from 0"
        )
    return model.coordinate_names[own.start + wanted.coordinate]


def _places(
    view: Scene, made: Plan, bodies: list[str]
) -> tuple[dict[str, input_keys.Place], dict[str, input_keys.Place]]:
    """Coordinates of the chains of bodies that torques can act on, or excitations of the muscles that move them, and
    where each is kept; with muscles, also the coordinates whose torques these replace.
    """
    read, scene = made.read, references.find_scene(view.session_uid)
    physics, tau = physics_access.part("worker.goals"), made.options["tau"]
    wanted = {name for body in bodies for name in physics.carrying(read.model, body)}
    names, found, replaced = findings.few(dict.fromkeys(bodies)), {}, {}
    given = list(input_values.columns(read.model))
    for item, number, column in input_values.torque_places(scene, read):
        name = given[column]
        if not wanted.isdisjoint({name} | physics.driven(read.model, [name])):
            found[name] = item.session_uid, torque_path(number)
            if tau is not None and np.any(tau.values[:, column]):
                replaced[name] = found[name]
    by_muscles = view.condyle.goals.by == "MUSCLES"
    if by_muscles:
        muscles = input_values.excitation_places(scene, read, wanted)
        found = {name: (item.session_uid, input_values.EXCITATION) for item, name in muscles}
        wanted |= physics.moved_by(read.model, found)
    for law in read.model.feedback_laws:  # what these change is left to them
        left = [found.pop(name, None) for name in (law.of, joint_motors.input_of(law.of))]
        if any(left) and not found:
            raise physics_access.model_error(
                f"feedback laws ({law.name!r}) change all that can move {names}: turn off their Use"
            )
    if not found:
        raise physics_access.model_error(
            f"no muscle with a force crosses a joint that carries {names}: add muscles, or choose Joint Torques"
            if by_muscles
            else f"no torque can act on the joints that carry {names}: choose the types Spherical or Hinge"
        )
    for each in read.bodies:
        item, own = references.object_in(scene, each.joint_uid), read.model.coordinate_slice(each.name)
        moves = wanted.intersection(read.model.coordinate_names[own])
        if moves and item is not None:
            goals.refuse_settled(item)
    return found, replaced if by_muscles else {}


def _without_torque(made: Plan, wanted: list[Wanted], task: Task) -> Iterator[findings.Finding]:
    """A finding for each joint between the world and a body with a goal that nothing found can move."""
    model, handles = made.read.model, {each.handle for each in wanted}
    physics = physics_access.part("worker.goals")
    chains = {
        name
        for each in made.read.bodies if each.handle in handles for name in physics.carrying(model, each.name)
    }  # fmt: skip
    moved, by_muscles = physics.moved_by(model, task.places), made.shot.view.condyle.goals.by == "MUSCLES"
    for each in made.read.bodies:
        joint, names = model.joints[each.index], model.coordinate_names[model.coordinate_slice(each.name)]
        if each.name in made.options["motions"] or not chains.intersection(names):
            continue
        if by_muscles and not moved.intersection(names):
            yield findings.about(each.culprit, "no-muscle", joint=each.joint_name)
        elif not by_muscles and joint.reading_names != joint.coordinate_names:
            yield findings.about(each.culprit, "no-torque", joint=each.joint_name)


def _with_found(task: Task, found: Any) -> Plan:
    """The plan of the bake: as it was, with what was found, and the step and method of the search."""
    made, given = task.made, task.arguments
    model, tau = made.read.model, made.options["tau"]
    times = found.times if tau is None else np.union1d(tau.times, found.times)
    values = forcing.sampled(model, tau, times)
    columns = input_values.columns(model)
    for name, torques in found.torques.items():
        values[:, columns[name]] = np.interp(times, found.times, torques)
    table = physics_access.physics().Table(times, values)
    options = {**made.options, "dt": given["dt"], "integrator": given["integrator"], "tau": table}
    return replace(made, options=options)


def _missed(wanted: list[Wanted], misses: list[float], tolerance: float) -> list[findings.Finding]:
    """A finding for each goal that is missed."""
    found = []
    for each, miss in zip(wanted, misses):
        body, frame, apart, target = each.body, each.frame, units.told_length(miss), each.target_name
        if each.kind == "reach" and miss > tolerance:
            found.append(
                findings.about(each.handle, "goal-missed", body=body, apart=apart, target=target, frame=frame)
            )
        elif each.kind == "rest" and miss > REST:
            found.append(findings.about(each.handle, "rest-missed", body=body, speed=miss, frame=frame))
        elif each.kind == "look" and miss > LOOK:
            off = float(np.degrees(miss))
            found.append(
                findings.about(each.handle, "look-missed", body=body, off=off, target=target, frame=frame)
            )
        elif each.kind == "pose" and miss > POSE:
            found.append(findings.about(each.handle, "pose-missed", body=body, off=miss, frame=frame))
    return found
