"""Play begins a live run where chains swing and nothing is baked, as long as the scene plays."""

from contextlib import nullcontext
from types import SimpleNamespace

import bpy
import pytest

from tests.addon.chain_rigs import add_chain, humanoid, rig_with_tail, tail
from tests.addon.live.test_animation import told
from tests.addon.live.test_run import Hand


@pytest.fixture
def rig(scene, make):
    made = rig_with_tail(make, 3)
    scene.frame_start, scene.frame_end = 1, 13
    return made


def walks(rig, *frames):
    for frame in frames:
        rig.location.x = 0.1 * frame
        rig.keyframe_insert("location", frame=frame)


@pytest.mark.small
def test_play_runs_chains_that_swing_and_are_not_baked(part, scene, make, rig):
    wanted = part("live.playback").wanted
    assert not wanted(scene)
    add_chain(rig, *tail(rig))
    assert wanted(scene)
    scene.condyle.play_live = False
    assert not wanted(scene)
    scene.condyle.play_live = True
    bpy.ops.condyle.mute(scope="SCENE")
    assert not wanted(scene)
    bpy.ops.condyle.mute(scope="SCENE")
    assert wanted(scene)
    part("jobs.bake").bake_now(scene)
    assert not wanted(scene)


def test_play_lets_a_ragdoll_fall(part, scene, make):
    rig = humanoid(make, "mixamo")
    bpy.context.view_layer.objects.active = rig
    wanted = part("live.playback").wanted
    assert not wanted(scene)
    assert bpy.ops.condyle.add_ragdoll() == {"FINISHED"} and wanted(scene)
    for item in scene.objects:
        item.condyle.joint.prescribed = True
    assert not wanted(scene)


@pytest.mark.small
def test_play_waits_for_no_other_job_and_ends_a_run(part, scene, make, rig, monkeypatch):
    add_chain(rig, *tail(rig))
    session, handlers, calls = part("blender.session"), part("handlers.live_run"), []
    monkeypatch.setattr(part("live.playback"), "soon", lambda: calls.append(1))
    handlers.before_playing(scene)
    monkeypatch.setattr(session, "job", SimpleNamespace(endless=False, cancel_wanted=False))
    handlers.before_playing(scene)
    handlers.after_playing(scene)
    assert len(calls) == 1 and not session.job.cancel_wanted  # a bake continues
    session.job.endless = True
    handlers.after_playing(scene)
    assert session.job.cancel_wanted  # a run that is being prepared does not
    session.job.cancel_wanted = False
    monkeypatch.setattr(session, "live", SimpleNamespace(figures={}))
    handlers.after_playing(scene)
    assert session.job.cancel_wanted  # nor one whose kernels are compiled
    session.job.cancel_wanted = False
    session.live.figures = {"time": 0.0}
    handlers.after_playing(scene)
    handlers.before_playing(scene)
    assert len(calls) == 2 and not session.job.cancel_wanted


@pytest.mark.small
def test_space_at_the_end_of_a_run_begins_no_other(part, monkeypatch):
    """What was recorded was played over by a new run where the old one ended before Blender was free."""
    session, playback, asked, begun = part("blender.session"), part("live.playback"), [], []
    monkeypatch.setattr(part("blender.attachments"), "soon", lambda call, _delay: asked.append(call))
    context = SimpleNamespace(
        temp_override=lambda **_: nullcontext(), window_manager=SimpleNamespace(windows=[None])
    )
    operators = SimpleNamespace(condyle=SimpleNamespace(live=lambda *_, **__: begun.append(1)))
    monkeypatch.setattr(playback, "stop", lambda: None)
    monkeypatch.setattr(playback, "bpy", SimpleNamespace(context=context, ops=operators))
    monkeypatch.setattr(session, "live", SimpleNamespace(stop=lambda: None))
    playback.soon()
    session.live = None
    asked[0]()
    assert not begun
    playback.soon()
    asked[1]()
    assert begun == [1]


def test_a_played_run_begins_again_after_the_last_frame_unless_the_animation_repeats(
    part, scene, make, rig, monkeypatch
):
    """In place: no moment between two rounds shows the animation without its swing, and Space always ends the run."""
    add_chain(rig, *tail(rig))
    walks(rig, 1, 40)
    scene.frame_set(1)
    session, run_class, rounds = part("blender.session"), part("live.run").Run, []
    begin_again = run_class._begin_again

    def noted(run):
        rounds.append(run.time)
        begin_again(run)
        assert session.live is run and (run.time == 0.0 or run.recorded[0] is not None)

    monkeypatch.setattr(run_class, "_begin_again", noted)
    report = Hand(part, scene, duration=1.25, play=True).walk()
    assert report.seconds >= 1.25 and report.baked is None and not told(part)
    assert len(rounds) == 2 and all(
        0.5 <= each < 1.0 for each in rounds
    )  # 12 frames of 1/24 s, and late looks
    report = Hand(part, scene, [(0.1, lambda run: run.start_recording())], duration=None, play=True).walk()
    assert report.baked is not None and report.seconds < 1.0  # what is recorded ends with its round
    assert report.frames[0] >= 1 + 0.1 * 24  # where its carrier was: at the first frame it was torn off
    part("jobs.bake").free_bake(scene)
    rounds.clear()
    walks(rig, 1, 7)
    rig.location.x = 0.1
    rig.keyframe_insert("location", frame=13)
    rig.keyframe_delete("location", frame=40)
    scene.frame_set(1)
    report = Hand(part, scene, duration=1.0, play=True).walk()
    assert report.seconds >= 1.0 and not rounds
