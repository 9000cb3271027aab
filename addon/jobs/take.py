"""Takes a shot of a scene: the one place where a bake, a live run and a check read it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from bpy.types import Scene

from ..animation import led_joints, subframes
from ..baking import local_matrices, mesh_caches, muscles
from ..blender import physics_access, session, units
from ..blender.compute_process import Breath, Drawn, Steps
from ..data import frame_times, references
from ..reading import carriers, input_values, keyed_poses, looks, motion_sources, prints, snapshot, stepper
from . import bake_preconditions, scene_checks
from .fit import FitReport
from .shot import Shot


def take(
    scene_uid: int,
    frames: np.ndarray,
    fitted: Mapping[int, FitReport],
    loop: dict[str, Any] | None = None,
    to_bake: bool = False,
    led: bool = False,
    motors: bool = False,
) -> Steps[Shot]:
    """Steps that take the shot of a scene, by session uid, over whole frames (F,), as it is without a bake. Between two
    steps the scene is as it was; where it is changed there, the shot is taken anew, in one.

    Args:
        fitted: fits of joints that the scene has not got yet, by session uid.
        loop: as of `frame_times.loop_options`. to_bake: it is to be one that can be baked.
        led: joints with keys, and those that are prescribed, are seen in their animation and begin with it, but are
            simulated (`Plan.wanted`). motors: of all ball joints, not only of those with torques.

    Raises:
        ModelError: it cannot be simulated; all errors of what cannot be read are in the session's findings.
    """
    asked = scene_uid, frames, fitted, loop, to_bake, led, motors
    steps, changed = _parts(*asked), False
    while True:
        with stepper.at_start(scene_uid, int(frames[0])):
            found = next(steps)
            while changed and not isinstance(found, Shot):
                found = next(steps)
        stepper.settle()
        changes = session.changes
        if not changed:
            yield Breath() if isinstance(found, Shot) else found
            stepper.settle()
        if changes != session.changes:
            steps, changed = _parts(*asked), True
        elif isinstance(found, Shot):
            return replace(found, prints=prints.of(found.view), changes=changes)


def _parts(
    scene_uid: int,
    frames: np.ndarray,
    fitted: Mapping[int, FitReport],
    loop: dict[str, Any] | None,
    to_bake: bool,
    led: bool,
    motors: bool,
) -> Iterator[Drawn | Shot]:
    """The steps of `take`, each in the scene without its bake at the first frame, and the shot without its prints."""
    view = snapshot.take(references.find_scene(scene_uid))
    fps = units.frames_per_second(view)
    places = subframes.positions(frames, fps)
    times = units.frame_times(places, view)
    curves = {uid: report.curve for uid, report in fitted.items()}
    yield Breath()
    keys = {key for key in carriers.simulated(view) if key[0] in view.objects} if to_bake else set()
    beside = stepper.Sampler(*local_matrices.what_carries(view, keys))
    try:
        moving, read = yield from scene_checks.read_checked(view, frames, curves, beside, motors)
    except physics_access.physics().CondyleError as error:
        raise scene_checks.stop(view, error, curves) from error
    mesh_caches.check(view, read.soft, to_bake)
    if to_bake:
        bake_preconditions.check(view, read)
    to_lead = keyed_poses.keyed_joints(view, read) if led else {}
    uids = {item.session_uid for item in to_lead.values()}
    joints = [*moving.joints(view, read), *looks.sample(view, read, frames, uids)]
    with motion_sources.sources(view, joints, frames) as sources:
        joints = subframes.looked_at(joints, sources, frames, fps, 1.0 / frame_times.samples(view))
    held = led_joints.held_at_start(joints) - {item.name for item in to_lead.values()}
    starts, begun = looks.see(view, read, frames[0], held, uids)
    shot = Shot(
        frames=frames,
        times=units.frame_times(frames, view),
        fps=fps,
        read=read,
        joints=tuple(joints),
        starts=tuple(starts),
        settled=tuple(looks.settling(view, read, held)),
        looks=places,
        look_times=times,
        excited=muscles.excitations(view, read, places),
        pushed=input_values.torques(view, read, places),
        controllers=input_values.controllers(view, read, places, times),
        options=_options(view, frames),
        loop=loop,
        fitted=frozenset(report.joint_name for report in fitted.values()),
        warnings=tuple(begun),
        carried=beside.arrays() if moving.was_sampled and keys == read.keys_in(view) else None,
        led=frozenset(to_lead),
        prints={},
        view=view,
    )
    yield Drawn()
    yield replace(shot, warnings=(*scene_checks.warnings(view, read, fitted), *shot.warnings))


def _options(scene: Scene, run: np.ndarray) -> dict[str, Any]:
    settings = scene.condyle.simulation
    interval = 1.0 / units.frames_per_second(scene)
    duration = interval * (len(run) - 1)
    return {
        "duration": duration,
        "dt": min(frame_times.step(scene), duration),
        "integrator": settings.integrator,
        "record_interval": interval / frame_times.samples(scene),
    }
