"""Torques within a budget that move keyed joints as near to their keys as physics allows: a generator as those of
`bake`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Scene

from ..baking import input_keys
from ..blender import compute_process, physics_access, session, units
from ..blender.compute_process import Steps
from ..data import finding_list, findings, frame_times, references
from ..data.joints import torque_path
from ..reading import input_values, looks, snapshot
from . import bake, goals
from .shot import Plan

# fewer samples tell no torques
LEAST_FRAMES = 6


@dataclass(frozen=True)
class PhysicalReport:
    """What was found, and the bake of it.

    Attributes:
        distance: root mean square distance of all mass from the keys [m]. farthest: the largest of a body [m], with its
            name and frame. at_budget: joints whose torque reaches its budget.
    """

    bake: bake.BakeReport
    distance: float
    farthest: float
    body: str
    frame: int
    at_budget: list[str]


def make(scene: Scene, accept: bool = False) -> Steps[PhysicalReport]:
    """Steps that find torques, key them, simulate the joints, and bake; accept: also where that is far from the keys.

    Raises:
        ModelError: the scene has what has no gradient, or no keyed joint; or the motion is far from the keys and that
            is not accepted. Nothing changed.
    """
    clock, view = frame_times.Clock(), snapshot.settings(scene)
    scene_uid, frames = view.session_uid, frame_times.frame_range(view)
    once, settings = frame_times.samples(view) == 1, view.condyle.goals
    run = frame_times.run_frames(view, frames)
    made, fitted = yield from bake.prepared(view, frames, clock, led=True, motors=True)
    task = _task(view, made, run)
    task = goals.checked(task)
    requests = physics_access.part("worker.requests")
    answer = yield requests.make_physical(compute_process.client(), **task.arguments)
    found = requests.make_physical_answer(answer)
    apart = found.apart[:, [each.index for each in made.read.bodies]]  # not of their carriers
    row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
    entry, farthest, frame = made.read.bodies[column], float(apart[row, column]), int(run[row])
    full = [name for name, most in found.budgets.items() if np.abs(found.torques[name]).max() >= most]
    joints = _joint_names(made, full)
    told = []
    if joints:
        told.append(findings.about(None, "at-budget", joints=findings.few(joints)))
    if farthest > settings.far_off * units.length_scale(view):
        apart = units.told_length(farthest)
        far = findings.about(entry.handle, "keys-missed", body=entry.name, apart=apart, frame=frame)
        told.insert(0, far)
        if not accept:
            session.far_off = scene_uid
            finding_list.show(scene_uid, findings.of_source(told, findings.BAKE))
            raise physics_access.model_error(f"{far.text}. Nothing was changed")
    session.far_off = 0
    clock.lap("solve")
    keyed = [each.joint_uid for each in made.read.bodies if each.name in made.wanted]

    def unpin(scene: Scene) -> None:
        for uid in keyed:
            item = references.object_in(scene, uid)
            if item is None:  # deleted meanwhile
                continue
            settings = item.condyle.joint
            settings.prescribed, settings.follow, settings.start_from = False, 0.0, "MOTION"

    report = yield from goals.baked(task, found, frames, fitted, once, clock, told, unpin)
    return PhysicalReport(report, found.distance, farthest, entry.name, frame, joints)


def _task(view: Scene, made: Plan, run: np.ndarray) -> goals.Task:
    """The search for torques of a scene's keyed joints."""
    options, settings, read = dict(made.options), view.condyle.goals, made.read
    if options.get("loop"):
        raise physics_access.model_error("Make Physical makes no loop: turn off Loop in Start and Time")
    for law in read.model.feedback_laws:
        raise physics_access.model_error(
            f"Make Physical takes no feedback law ({law.name!r}): turn off its Use"
        )
    if len(run) < LEAST_FRAMES:
        raise physics_access.model_error(
            f"the range has {len(run)} frames: Make Physical needs {LEAST_FRAMES} or more"
        )
    if not made.wanted:
        raise physics_access.model_error(
            "no joint has keys: key the bodies or the sliders of joints, or turn on Animated"
        )
    places = _places(view, made)
    start, dt = float(read.state.time), goals.step(view)
    knots = np.unique(np.append(run[:: settings.spacing], run[-1]))
    times = start + (run - run[0]) * settings.steps * dt  # at ends of steps
    columns = [
        k
        for name in _motions(made)
        for k in range(read.model.num_coordinates)[read.model.coordinate_slice(name)]
    ]
    options |= {"duration": times[-1] - start, "dt": dt, "integrator": goals.method(options)}
    more = {
        "torques": list(places),
        "followed": [read.model.coordinate_names[k] for k in columns],
        "strength": settings.strength,
        "times": times,
        "wanted": _wanted(made, run),
        "knots": start + (knots - run[0]) * settings.steps * dt,
    }
    return goals.Task(made, places, knots, {**made.arguments, **options, **more})


def _motions(made: Plan) -> dict[str, Any]:
    """Motions by body: those that keyed joints are to follow, and those that carriers follow anyway."""
    return {**made.options["motions"], **made.wanted}


def _wanted(made: Plan, run: np.ndarray) -> np.ndarray:
    """Coordinates (F, nv) that keys have at whole frames (F,); those at the start of joints without keys."""
    read, rows = made.read, np.tile(made.read.state.q, (len(run), 1))
    frame_starts = np.interp(run, made.frames, made.shot.times)
    for name, motion in _motions(made).items():
        for k, values in zip(range(rows.shape[1])[read.model.coordinate_slice(name)], motion.values.T):
            rows[:, k] = np.interp(frame_starts, motion.times, values)
    return rows


def _places(view: Scene, made: Plan) -> dict[str, input_keys.Place]:
    """Coordinates of keyed joints that get torques: their joints' Empties, by session uid, and their data paths there.
    Free joints have none: contacts and gravity alone move their bodies.
    """
    read, scene, found = made.read, references.find_scene(view.session_uid), {}
    keyed = {each.joint_uid: each for each in read.bodies if each.name in made.wanted}
    names = list(input_values.columns(read.model))
    for item, number, column in input_values.torque_places(scene, read):
        entry = keyed.get(item.session_uid)
        if entry is not None and read.model.joints[entry.index].type != "free":
            torque = torque_path(number)
            found[names[column]] = item.session_uid, torque
    driven = {uid for uid, _ in found.values()}
    for uid, entry in keyed.items():
        item = references.find_in(scene, uid, "a joint")
        if looks.may_be_switched(item):
            raise physics_access.model_error(
                f"joint {item.name!r}: its Animated or Animation Influence is keyed: remove these keys"
            )
        if uid not in driven and read.model.joints[entry.index].type != "free":
            raise physics_access.model_error(
                f"joint {item.name!r} has keys, but no torque can act on it: give it another type, or remove its keys"
            )
    if not found:
        raise physics_access.model_error("only free joints have keys, and no torque can act on these")
    return found


def _joint_names(made: Plan, torques: list[str]) -> list[str]:
    """Names of the joints of torques: of coordinates and of motors."""
    model = made.read.model
    moved = {*torques} | physics_access.part("worker.goals").driven(model, torques)
    return [
        each.joint_name
        for each in made.read.bodies
        if not moved.isdisjoint(model.coordinate_names[model.coordinate_slice(each.name)])
    ]
