"""Fit and bake from the scene to the scene: each a generator of jobs for the compute process.

Between two jobs Blender lives on: the user may undo, rename or delete. So nothing of Blender is held across a yield but
session uids, and everything is checked before the first change, which comes after the last job.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import bpy
import numpy as np

from . import (
    actions,
    authoring,
    core,
    drive,
    hold,
    keyframes,
    migrations,
    references,
    scene_to_model,
    units,
    worker_client,
)
from .references import Handle, key_of
from .transforms import LocalPoses, held_motion
from .worker_client import Steps

Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class FitReport:
    """What a fit found; distances in millimetres, angles in degrees.

    Attributes:
        joint_name: the joint's Empty. frames: keyed frames (n,).
        fit: the fit as physics gives it, in metres and radians.
    """

    joint_name: str
    frames: np.ndarray
    fit: Any

    @property
    def curve(self) -> Any:
        """The fitted joint, in metres."""
        return self.fit.joint

    @property
    def q(self) -> np.ndarray:
        """The coordinate at each keyed pose (n,)."""
        values: np.ndarray = self.fit.q
        return values

    @property
    def iterations(self) -> int:
        return int(self.fit.iterations)

    @property
    def converged(self) -> bool:
        return bool(self.fit.converged)

    @property
    def hessian_integral(self) -> float:
        return float(self.fit.hessian_integral)

    @property
    def distances(self) -> np.ndarray:
        return 1e3 * np.asarray(self.fit.residuals.translation)

    @property
    def angles(self) -> np.ndarray:
        return np.degrees(self.fit.residuals.rotation)

    @property
    def num_poses(self) -> int:
        return len(self.frames)

    @property
    def worst_distance_mm(self) -> float:
        return float(self.distances.max())

    @property
    def worst_angle_deg(self) -> float:
        return float(self.angles.max())

    @property
    def rms_distance_mm(self) -> float:
        return float(np.sqrt(np.mean(self.distances**2)))

    @property
    def rms_angle_deg(self) -> float:
        return float(np.sqrt(np.mean(self.angles**2)))

    @property
    def residuals(self) -> list[dict[str, float]]:
        """One entry a keyed pose: its frame, distance [mm] and angle [degrees]."""
        return [
            {"frame": float(frame), "mm": float(distance), "deg": float(angle)}
            for frame, distance, angle in zip(self.frames, self.distances, self.angles)
        ]


@dataclass(frozen=True)
class BakeReport:
    """What a bake did.

    Attributes:
        frames: (F,). times: seconds from the first (F,). bodies: names of the bodies that move.
        poses: world poses (F, 4, 4) [m] by body name. coordinates: (F,) by "joint.coordinate".
        energy: kinetic, potential, total (F, 3) [J]. result: the simulation. fits: of the joints that asked for one.
        actions: names of the new actions. seconds: spent in each stage.
        warnings: what the animator may not expect, one line each.
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
    warnings: list[str] = field(default_factory=list)


def frame_range(scene: Any) -> np.ndarray:
    """Frames (F,) that a bake covers; ModelError where fewer than two."""
    settings = scene.condyle.simulation
    first, last = settings.frame_start, settings.frame_end
    if settings.use_scene_range:
        first, last = scene.frame_start, scene.frame_end
        if scene.use_preview_range:
            first, last = scene.frame_preview_start, scene.frame_preview_end
    if last <= first:
        raise core.model_error(f"the frame range is empty or reversed: from {first} to {last}")
    if scene.render.frame_map_old != scene.render.frame_map_new:
        raise core.model_error(
            f"time remapping ({scene.render.frame_map_old} to {scene.render.frame_map_new}) would show the baked keys "
            "at other frames; set both to 100"
        )
    return np.arange(first, last + 1, dtype=np.float64)


def fit_now(scene: Any, item: Any, progress: Progress | None = None) -> FitReport:
    """Fit a joint's curve to its child's keyed poses and put the control frames in place; blocks."""
    return worker_client.run(fit(scene, item), progress)


def bake_now(scene: Any, progress: Progress | None = None) -> BakeReport:
    """Fit what asks for it, simulate, and bake to new actions; blocks."""
    return worker_client.run(bake(scene), progress)


def free_bake(scene: Any) -> int:
    """Take every bake of the scene away and put back exactly what was; returns how many objects had one."""
    return actions.free(scene)


def fit(scene: Any, item: Any) -> Steps[FitReport]:
    """Steps of a fit."""
    scene_uid, item_uid = scene.session_uid, item.session_uid
    report = yield from _fit_joint(scene, item)
    scene, item = _find_scene(scene_uid), _find_joint(item_uid, report.joint_name)
    apply_fit(scene, item, report)
    return report


def fit_selected(context: Any, item: Any) -> Steps[FitReport]:
    """Steps of a fit of the joint at hand; without one (None), of a new joint of the active object or bone.

    The slider drives the child afterwards. A new joint is made only when the fit has succeeded.
    """
    scene_uid = context.scene.session_uid
    if item is not None:
        item_uid = item.session_uid
        report = yield from _fit_joint(context.scene, item)
        scene, item = _find_scene(scene_uid), _find_joint(item_uid, report.joint_name)
    else:
        child = references.active_body(context)
        others = [body for body in references.selected_bodies(context) if not references.same(body, child)]
        parent = others[0] if len(others) == 1 else references.blender_parent(child)
        matrix = units.array4(child.matrix)
        handles = (child.handle(), child.name, parent and parent.handle(), parent and parent.name)
        given = keyframes.source(child.name, child, parent, matrix)
        report = yield from _fit_steps(
            context.scene, given, child.object.condyle.joint.fit, order=4, periodic=False
        )
        scene = _find_scene(scene_uid)
        child = _find_body(handles[0], handles[1])
        parent = None if handles[2] is None else _find_body(handles[2], handles[3])
        item = authoring.add_joint(scene, parent, child, matrix=matrix)
    apply_fit(scene, item, report)
    if not item.condyle.joint.driven:
        drive.set_driven(scene, item, True)
    return report


def _fit_joint(scene: Any, item: Any) -> Steps[FitReport]:
    settings = item.condyle.joint
    given = keyframes.source_of_joint(item)
    return (
        yield from _fit_steps(
            scene, given, settings.fit, order=settings.order, periodic=settings.periodic, name=item.name
        )
    )


def _fit_steps(
    scene: Any, given: keyframes.Source, settings: Any, order: int, periodic: bool, name: str = ""
) -> Steps[FitReport]:
    """Fit without changing anything."""
    frames, poses = keyframes.keyed_poses(scene, given)
    requests = core.part("worker.requests")
    length_scale = settings.length_scale * units.length_scale(scene)
    answer = yield requests.fit_curve(
        worker_client.client(),
        poses,
        num_frames=settings.num_frames,
        smoothing=settings.smoothing,
        order=order,
        periodic=periodic,
        length_scale=length_scale if length_scale > 0.0 else None,
    )
    return FitReport(name, frames, requests.fit_curve_answer(answer))


def apply_fit(scene: Any, item: Any, report: FitReport) -> None:
    """Put a fitted curve's control frames, knots and figures into the scene."""
    settings = item.condyle.joint
    curve = report.curve
    settings.type = "spline_curve"
    settings.child_in_joint = tuple(np.eye(4).ravel())
    settings.length_scale = curve.length_scale / units.length_scale(scene)
    authoring.set_control_frames(scene, item, units.to_blender(curve.frames, scene), curve.knots)
    found = settings.fit
    found.requested = False
    found.num_poses, found.iterations, found.converged = report.num_poses, report.iterations, report.converged
    found.worst_distance, found.worst_angle = report.worst_distance_mm, np.radians(report.worst_angle_deg)
    migrations.stamp(item.condyle)
    if settings.driven:
        drive.refresh(scene, item)


def bake(scene: Any) -> Steps[BakeReport]:
    """Steps of a bake."""
    clock = _Clock()
    scene_uid = scene.session_uid
    frames = frame_range(scene)
    fits: dict[int, FitReport] = {}
    for uid in [item.session_uid for item in references.joints_of(scene) if item.condyle.joint.fit.requested]:
        scene = _find_scene(scene_uid)
        fits[uid] = yield from _fit_joint(scene, _find_joint(uid, "a joint to be fitted"))
    clock.lap("fit")
    scene = _find_scene(scene_uid)
    with hold.without_bake(scene), hold.at_frame(scene, int(frames[0])):
        read = scene_to_model.read(scene, {uid: report.curve for uid, report in fits.items()})
        for entry in read.bodies:
            actions.check(entry.handle.find())
        held = (handle.find() for handle in read.held)
        warnings = held_motion(scene, [body for body in held if body is not None], frames)
    options = _simulation_options(scene, frames)
    clock.lap("read")
    requests = core.part("worker.requests")
    answer = yield requests.simulate(worker_client.client(), read.model, read.state, **options)
    result = requests.simulate_answer(answer, read.model)
    clock.lap("simulate")
    scene = _find_scene(scene_uid)
    targets = {uid: _find_joint(uid, report.joint_name) for uid, report in fits.items()}
    channels = _channels(scene, frames, read, result)
    actions.free(scene)
    for uid, report in fits.items():
        apply_fit(scene, targets[uid], report)
    made = actions.write(scene, frames, channels)
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    clock.lap("write")
    report = _bake_report(scene, frames, read, result, list(fits.values()), made, clock.seconds)
    return replace(report, warnings=warnings)


def _simulation_options(scene: Any, frames: np.ndarray) -> dict[str, Any]:
    settings = scene.condyle.simulation
    interval = 1.0 / units.frames_per_second(scene)
    duration = interval * (len(frames) - 1)
    return {
        "duration": duration,
        "dt": min(settings.time_step, duration),
        "integrator": settings.integrator,
        "record_interval": interval,
    }


def _channels(scene: Any, frames: np.ndarray, read: Any, result: Any) -> list[actions.Channels]:
    """What each body's keys shall be; ModelError before anything is changed."""
    if len(result.poses) != len(frames):
        raise core.model_error(f"the simulation gave {len(result.poses)} samples for {len(frames)} frames")
    with hold.without_bake(scene), hold.at_frame(scene, int(frames[0])):
        bodies, worlds = [], {}
        for index, entry in enumerate(read.bodies):
            body = _find_body(entry.handle, entry.name)
            actions.check(body)
            world = units.to_blender(result.poses[:, index], scene)
            world[:, :3, :3] *= entry.scale
            bodies.append(body)
            worlds[key_of(body)] = world
        local = LocalPoses(scene, frames, worlds)
        return [actions.Channels(body, _all_frames(local.basis(body), len(frames)), scene) for body in bodies]


def _all_frames(matrices: np.ndarray, count: int) -> np.ndarray:
    return np.broadcast_to(matrices, (count, 4, 4))


def _bake_report(
    scene: Any,
    frames: np.ndarray,
    read: Any,
    result: Any,
    fits: list[FitReport],
    made: list[Any],
    seconds: dict[str, float],
) -> BakeReport:
    coordinates = {}
    for entry in read.bodies:
        where = read.model.coordinate_slice(entry.name)
        names = read.model.joints[read.model.index(entry.name)].coordinate_names
        for name, values in zip(names, result.q[:, where].T):
            coordinates[f"{entry.joint_name or entry.name}.{name}"] = values
    return BakeReport(
        frames=frames,
        times=units.frame_times(frames, scene),
        bodies=[entry.name for entry in read.bodies],
        poses={entry.name: result.poses[:, index] for index, entry in enumerate(read.bodies)},
        coordinates=coordinates,
        energy=result.energy,
        result=result,
        fits=fits,
        actions=[action.name for action in made],
        seconds=seconds,
    )


def _find_scene(session_uid: int) -> Any:
    found = next((scene for scene in bpy.data.scenes if scene.session_uid == session_uid), None)
    if found is None:
        raise core.model_error("the scene was removed meanwhile")
    return found


def _find_joint(session_uid: int, name: str) -> Any:
    found = references.object_by_session_uid(session_uid)
    if found is None or not found.condyle.joint.enabled:
        raise core.model_error(f"joint {name!r} was removed meanwhile")
    return found


def _find_body(handle: Handle, name: str) -> references.Body:
    found = handle.find()
    if found is None:
        raise core.model_error(f"{name} was removed or renamed meanwhile")
    return found


class _Clock:
    """Seconds spent in each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = now - self._last
        self._last = now
