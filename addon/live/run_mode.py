"""The live mode: reads the scene as a bake does, runs it by the clock, and bakes what was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from bpy.types import Scene

from ..animation import inputs as forcing
from ..baking import mesh_caches, solver_statistics
from ..blender import compute_process, physics_access, session, units
from ..blender.compute_process import Steps
from ..data import finding_list, findings, frame_times, references
from ..data import live as live_properties
from ..jobs import bake, shot, take
from ..making import orphans
from ..reading import input_values
from . import frames as live_frames
from . import knobs
from .run import Run

#: keywords of a simulation that a live run has none of
ONLY_BAKED = ("duration",)


@dataclass(frozen=True)
class LiveReport:
    """What a live run left: seconds of motion, and of what was recorded the frames (F,) and the bake; else None.

    Of a record also the frame where playback of its scene ends.
    """

    seconds: float
    frames: np.ndarray | None
    baked: Any
    playback_end: int = 0


def live(
    scene: Scene, seconds: float | None = None, record: bool = False, play: bool = False
) -> Steps[LiveReport]:
    """Steps of a live run.

    Args:
        seconds: of motion after which it ends by itself; None: when it is stopped.
        record: from the beginning.
        play: begins again after the scene's last frame unless its animation repeats itself.
    """
    uid = scene.session_uid
    frames = live_frames.frames(scene)  # a pre-roll is of bakes: here it would be seen
    rates = frame_times.samples(scene), units.frames_per_second(scene)  # the user may change them meanwhile
    taken = yield from take.take(uid, frames, {}, motors=True)
    ready = yield from shot.plan(taken)
    scene = references.find_scene(uid)
    if record:
        mesh_caches.check(scene, ready.read.soft)
    options = {name: value for name, value in ready.options.items() if name not in ONLY_BAKED}
    options["pulls"] = ready.pulls
    repeating, unlooped = live_frames.repeating(ready, units.frame_times(frames, scene))
    round_seconds = None
    if play and unlooped:
        round_seconds, unlooped = float(frame_times.frame_range(scene)[-1] - frames[0]) / rates[1], []
    found = [*ready.warnings, *(finding_list.named(scene, each) for each in unlooped)]
    finding_list.show(scene.session_uid, findings.of_source(found, findings.LIVE))
    orphans.tell(scene)
    settings = live_properties.settings()
    knobs.fill(
        settings, scene, ready.read, input_values.torques(scene, ready.read, frames[:1]), ready.excited
    )

    def submit() -> physics_access.Job:
        return physics_access.part("worker.requests").live(
            compute_process.client(),
            ready.read.model,
            ready.read.state,
            factor=settings.factor,
            repeating=repeating,
            assemble=True,
            **options,
        )

    job = submit()
    try:
        playhead = live_frames.playhead(ready, repeating.get("motions", ()), rates[1])
        run = Run(job, scene, ready, seconds, playhead)
    except physics_access.physics().CondyleError:  # a body is gone meanwhile; nobody would end it
        job.cancel()
        raise
    if round_seconds is not None:
        run.play_rounds(round_seconds, submit)
    if record:
        run.start_recording()
    if scene.frame_current != int(frames[0]):
        scene.frame_set(int(frames[0]))
    session.live, session.springs = run, ready.read.springs
    try:
        answer = yield run
    finally:
        session.live = None
        run.close()
        session.findings += findings.of_source(run.grown, findings.LIVE)
    if not answer.arrays:
        return LiveReport(run.total, None, None)
    if repeating:
        options = (
            physics_access.part("motions.repeating").Repeating(**repeating).applied(ready.read.model, options)
        )
    return (yield from _baked(uid, ready, run, answer, options, rates))


def _baked(
    uid: int,
    ready: shot.Plan,
    run: Run,
    answer: physics_access.Answer,
    options: dict[str, Any],
    rates: tuple[int, float],
) -> Steps[LiveReport]:
    """Steps that make a bake of what was recorded with these keywords.

    rates: samples in a frame, frames in a second.
    """
    result = physics_access.part("worker.requests").simulate_answer(answer, ready.read.model)
    first = ready.frames[0]
    begin = first if run.playhead is None else run.playhead(float(result.t[0]))  # where its carrier was
    kept = (np.round(begin * rates[0]) + np.arange(len(result.t))) / rates[0]
    keyed = frame_times.at(first + result.t * rates[1], ready.frames, ready.excited)
    excited = forcing.excited(ready.read, options.get("controllers", {}), result, keyed)
    inputs, excited = run.inputs(options["tau"], result.t, excited)
    baked = yield from bake.written(uid, kept, ready, result, excited, inputs, {}, frame_times.Clock())
    known = {each.code for each in run.grown}
    found = [each for each in solver_statistics.warnings(ready.read, result) if each.code not in known]
    session.findings += findings.of_source(found + baked.warnings, findings.BAKE)
    scene = references.find_scene(uid)
    end = scene.frame_preview_end if scene.use_preview_range else scene.frame_end
    return LiveReport(run.total, kept, baked, int(end))
