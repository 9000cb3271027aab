"""Fit and bake from the scene to the scene: each a generator of jobs for the compute process.

Between two jobs Blender lives on: the user may undo, rename or delete. So nothing of Blender is held across a yield but
session uids, and everything is checked before the first change, which comes after the last job.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from bpy.types import Object, Scene

from ..animation import inputs as forcing
from ..animation.scene_model import SceneModel
from ..baking import body_channels, muscles, restoring, solver_statistics, write
from ..blender import compute_process, physics_access, session, units
from ..blender.compute_process import Steps
from ..checking import no_motion, start_penetration
from ..data import finding_list, findings, frame_times, references
from ..making import orphans
from ..reading import prints as scene_prints
from ..reading import snapshot, stepper
from ..staleness import compare
from . import fit as fits
from . import partial_bake, shot_files, take
from .fit import FitReport
from .shot import Plan, Shot, plan

FITTED = ("spline_curve", "spline_surface")
# Poses that take Blender longer to write, with figures and fewer keys, than it may seem to hang.
MANY_KEYS = 10000

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class BakeReport:
    """What a bake did.

    Attributes:
        frames: (F,). times: seconds from the first (F,). bodies: names of the bodies that move.
        poses: world poses (F, 4, 4) [m] by body name. coordinates: (F,) by "joint.coordinate", as
            they are read off.
        energy: kinetic, potential, total (F, 3) [J]. result: the simulation. fits: of the joints that asked for one.
        actions: names of the new actions. seconds: spent in each stage.
        warnings: what the animator may not expect.
        note: what was asked for and is worth a line: how many keys were left out. Empty: nothing.
    """

    frames: np.ndarray
    times: np.ndarray
    bodies: list[str]
    poses: dict[str, np.ndarray]
    coordinates: dict[str, np.ndarray]
    energy: np.ndarray
    result: Any
    fits: list[FitReport]
    actions: list[str]
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: list[findings.Finding] = field(default_factory=list)
    note: str = ""


def fit_now(scene: Scene, item: Object, progress: Progress | None = None) -> FitReport:
    """Fit a joint's curve to its child's keyed poses and put the control frames in place; blocks."""
    return compute_process.run(fit(scene, item), progress)


def bake_now(scene: Scene, progress: Progress | None = None) -> BakeReport:
    """Fit what asks for it, simulate, and bake to new actions; blocks."""
    return compute_process.run(bake(scene), progress)


def save_shot_now(scene: Scene, folder: str | os.PathLike[str], progress: Progress | None = None) -> None:
    """Write the shot that a bake of the scene would simulate to a folder; blocks."""
    compute_process.run(save_shot(scene, folder), progress)


def apply_now(scene: Scene, result: shot_files.Saved, progress: Progress | None = None) -> BakeReport:
    """Bake the result of the scene's saved shot; blocks."""
    return compute_process.run(bake(scene, result), progress)


def check_now(scene: Scene, progress: Progress | None = None) -> list[findings.Finding]:
    """Do all of a bake that comes before its simulation, and change nothing; its warnings. Blocks."""
    return compute_process.run(check(scene), progress)


def free_bake(scene: Scene) -> int:
    """Take every bake of the scene away and put back exactly what was; returns how many objects had one."""
    return restoring.free_and_forget(scene)


def fit(scene: Scene, item: Object) -> Steps[FitReport]:
    scene_uid, item_uid = scene.session_uid, item.session_uid
    report = yield from fits.fit_joint(scene, item)
    scene, item = references.find_scene(scene_uid), references.find_joint(item_uid, report.joint_name)
    fits.apply(scene, item, report)
    return report


def save_shot(scene: Scene, folder: str | os.PathLike[str]) -> Steps[None]:
    """Steps of a bake up to its plan, and its shot to a folder."""
    view = snapshot.settings(scene)
    frames, once = frame_times.frame_range(view), frame_times.samples(view) == 1
    taken, _, _ = yield from _taken(view, frames, frame_times.Clock())
    shot_files.save(folder, shot_files.described(view.name, frames, taken, once))


def bake(scene: Scene, result: shot_files.Saved | None = None) -> Steps[BakeReport]:
    """Steps of a bake; result: of the simulation, that was made of a saved shot of the scene, or None."""
    clock = frame_times.Clock()
    # all that is asked of the scene is asked now: an undo may take it away meanwhile
    view = snapshot.settings(scene)
    scene_uid = view.session_uid
    frames, once = frame_times.frame_range(view), frame_times.samples(view) == 1
    session.unfinished = None
    made, fitted = yield from prepared(view, frames, clock)
    if result is None:
        answer = yield from simulate(scene_uid, frames, made, fitted, once)
    else:
        shot = shot_files.described(references.find_scene(scene_uid).name, frames, made.shot, once)
        answer = shot_files.answer_for(result, shot, made)
        if result.header["shot"] != shot_files.digest(shot):
            made = replace(made, warnings=[*made.warnings, findings.about(None, "shot-changed")])
    clock.lap("simulate")
    report = yield from simulated(scene_uid, frames, made, fitted, answer, clock)
    scene = references.find_scene(scene_uid)
    write.note_statistics(scene, solver_statistics.of(report.result, clock.seconds["simulate"]))
    write.note_loop(scene, report.result)
    return report


def simulate(
    scene_uid: int, frames: np.ndarray, made: Plan, fitted: dict[int, FitReport], once: bool
) -> Steps[physics_access.Answer]:
    """Steps that simulate; what an error leaves of it is kept, and told."""
    requests = physics_access.part("worker.requests")
    try:
        return (
            yield requests.simulate(compute_process.client(), assemble=True, between=once, **made.arguments)
        )
    except physics_access.physics().CondyleError as error:
        scene = references.find_scene(scene_uid)
        write.note_statistics(scene, solver_statistics.of_failure(error))
        partial_bake.keep(scene, frames, made, fitted, error)
        found = finding_list.named(scene, solver_statistics.failure(scene, error))
        finding_list.show(scene_uid, findings.of_source([found], findings.BAKE))
        raise


def bake_unfinished(scene: Scene) -> Steps[BakeReport]:
    """Steps that bake what was computed until the scene's last bake went wrong; ModelError where there is
    nothing, or the scene is put together otherwise by now.
    """
    kept = partial_bake.of(scene)
    if kept is None:
        raise physics_access.model_error("no bake of this scene went wrong after its first frames")
    partial_bake.check(scene, kept)
    report = yield from simulated(
        kept.scene_uid, kept.frames, kept.ready, kept.fitted, kept.answer, frame_times.Clock()
    )
    session.unfinished = None
    return report


def simulated(
    scene_uid: int,
    frames: np.ndarray,
    made: Plan,
    fitted: dict[int, FitReport],
    answer: physics_access.Answer,
    clock: frame_times.Clock,
    also: Callable[[Scene], Callable[[], None]] | None = None,
) -> Steps[BakeReport]:
    """Steps that put what the simulation gave, for these frames (F,) and a pre-roll before them, in place.

    also: checks what else to change, and gives the change, which is made between the old bake and the new one.
    """
    requests, read, options = physics_access.part("worker.requests"), made.read, made.options
    result = requests.simulate_answer(answer, read.model)
    warnings = made.warnings + solver_statistics.warnings(made.read, result)
    scene = references.find_scene(scene_uid)
    warnings += frame_times.loop_warnings(result, scene.condyle.start.loop_tolerance)
    inside, rolled = requests.between_answer(answer), len(result.t) - len(frames)
    if rolled > 0:  # a pre-roll is not recorded
        answer = replace(answer, arrays=frame_times.part_of(answer.arrays, slice(-len(frames), None)))
        result = requests.simulate_answer(answer, read.model)
        inside = inside and inside.behind(rolled)
    warnings += no_motion.warnings(made, result)
    excited = forcing.excited(
        read, options.get("controllers", {}), result, frame_times.at(frames, made.frames, made.excited)
    )
    report = yield from written(
        scene_uid, frames, made, result, excited, options["tau"], fitted, clock, inside, also
    )
    report = replace(report, warnings=findings.gathered(warnings + report.warnings, findings.MUSCLE))
    found = findings.of_source(report.warnings, findings.BAKE)
    finding_list.show(scene_uid, [*found, *orphans.listed(scene_uid)])
    return report


def check(scene: Scene) -> Steps[list[findings.Finding]]:
    """Steps of a bake up to its simulation; the warnings. All errors of what cannot be read are in the session's
    findings.
    """
    view = snapshot.settings(scene)
    made, _ = yield from prepared(view, frame_times.frame_range(view), frame_times.Clock())
    start_penetration.refuse(made.read)
    return made.warnings


def prepared(
    view: Scene, frames: np.ndarray, clock: frame_times.Clock, led: bool = False, motors: bool = False
) -> Steps[tuple[Plan, dict[int, FitReport]]]:
    """Steps of a bake of these frames (F,) that come before it simulates: what for, and the joints fitted for it.

    view: the settings of the scene. led, motors: as of `take`.
    """
    taken, fitted, warnings = yield from _taken(view, frames, clock, led, motors)
    made = yield from plan(taken)
    clock.lap("project")
    return replace(made, warnings=warnings + made.warnings), fitted


def _taken(
    view: Scene, frames: np.ndarray, clock: frame_times.Clock, led: bool = False, motors: bool = False
) -> Steps[tuple[Shot, dict[int, FitReport], list[findings.Finding]]]:
    """Steps that fit the joints that ask for it and take the shot of a bake; what for, the fits, and about these."""
    scene_uid = view.session_uid
    run = frame_times.run_frames(view, frames)
    loop = frame_times.loop_options(view, frames)
    fitted: dict[int, FitReport] = {}
    wanted, warnings = _to_fit(references.find_scene(scene_uid))
    for uid in wanted:
        scene = references.find_scene(scene_uid)
        fitted[uid] = yield from fits.fit_joint(scene, references.find_joint(uid, "a joint to be fitted"))
    clock.lap("fit")
    taken = yield from take.take(scene_uid, run, fitted, loop, to_bake=True, led=led, motors=motors)
    clock.lap("read")
    return taken, fitted, warnings


def written(
    scene_uid: int,
    frames: np.ndarray,
    made: Plan,
    result: physics_access.Result,
    excited: np.ndarray,
    inputs: physics_access.Table | None,
    fitted: dict[int, FitReport],
    clock: frame_times.Clock,
    inside: physics_access.Between | None = None,
    also: Callable[[Scene], Callable[[], None]] | None = None,
) -> Steps[BakeReport]:
    """Steps that put a motion sampled at frames (F,) in place, and the joints that were fitted for it.

    excited: of the muscles, (F, muscles). inputs: the `Table` that drove the model, or None. also: as of `simulated`.
    """
    read, shot = made.read, made.shot
    drawn = yield from _muscles(read, result, excited)
    if len(frames) * len(read.bodies) > MANY_KEYS:
        yield compute_process.Said("writing keys")
    clock.lap("muscles")
    stepper.settle()
    more = bool(fitted) or also is not None  # is changed that the next bake reads
    is_same = shot.changes == session.changes and shot.frames[0] == frames[0] and not more
    channels = None
    if is_same:
        carried = shot.carried_at(frames)
        channels, is_same = yield from body_channels.of_motion(
            shot.view, frames, read, result, inside, carried
        )
    view, channels = (shot.view, channels) if is_same else (None, None)
    scene = references.find_scene(scene_uid)
    targets = {uid: references.find_joint(uid, report.joint_name) for uid, report in fitted.items()}

    change = None if also is None else also(scene)

    def apply_fits() -> None:
        for uid, report in fitted.items():
            fits.apply(scene, targets[uid], report)
        if change is not None:
            change()

    done = write.write(scene, frames, read, result, drawn, inputs, apply_fits, inside, view, channels)
    prints = shot.prints
    if more or done.edited:
        prints = compare.kept(prints, scene_prints.of(done.view), scene_prints.prints(scene))
    write.note_read(scene, prints)
    clock.lap("write")
    return BakeReport(
        frames=frames,
        times=units.frame_times(frames, done.view),
        bodies=[entry.name for entry in read.bodies],
        poses={entry.name: result.poses[:, entry.index] for entry in read.bodies},
        coordinates=dict(_coordinates(read, result)),
        energy=result.energy,
        result=result,
        fits=list(fitted.values()),
        actions=done.actions,
        seconds=clock.seconds,
        warnings=done.warnings,
        note=done.told,
    )


def _muscles(
    read: SceneModel, result: physics_access.Result, excited: np.ndarray
) -> Steps[muscles.Drawn | None]:
    """Steps that find what is to be seen of the model's muscles."""
    if not read.muscles:
        return None
    requests = physics_access.part("worker.requests")
    answer = yield requests.muscle_paths(compute_process.client(), read.model, result.q, muscles.COUNT)
    points, lengths = requests.muscle_paths_answer(answer)
    return muscles.Drawn(points, lengths, muscles.activations(read, result, excited))


def _to_fit(scene: Scene) -> tuple[list[int], list[findings.Finding]]:
    """Joints to fit before a bake, by session uid, and findings about those that are not."""
    wanted, told = [], []
    for item in references.joints_of(scene):
        if not item.condyle.joint.fit.requested:
            continue
        if item.condyle.joint.type in FITTED:
            wanted.append(item.session_uid)
        else:
            told.append(findings.about(item, "not-fitted", joint=item.name))
    return wanted, told


def _coordinates(read: SceneModel, result: physics_access.Result) -> Iterator[tuple[str, np.ndarray]]:
    for entry in read.bodies:
        where = read.model.coordinate_slice(entry.name)
        joint = read.model.joints[read.model.index(entry.name)]
        for name, values in zip(joint.reading_names, joint.readings(result.q[:, where]).T):
            yield f"{entry.joint_name or entry.name}.{name}", values
