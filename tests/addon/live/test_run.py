"""The live mode without a window: the scene as it was at the end, sliders that act, a record that is a bake."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from tests.addon.digests import differences, digest


@pytest.fixture
def axle(scene, make, body, authoring):
    stand, rod = make.box("Stand", (0, 0, 1.0)), make.box("Rod", (0, 0, 0.5))
    top = np.eye(4)
    top[2, 3] = 0.75
    joint = authoring.add_joint(scene, body(stand), body(rod), kind="hinge", matrix=top, name="Axle")
    scene.frame_start, scene.frame_end = 1, 25
    joint.condyle.joint.axis = (1, 0, 0)
    joint.condyle.joint.coordinates[0].start = 0.4
    make.update()
    return joint


class Hand:
    """Walks a live run and does things at times of its motion."""

    def __init__(self, part, scene, script=(), duration=0.4, **options):
        self.part, self.script = part, list(script)
        self.seen = []
        self.steps = part("live.run_mode").live(scene, duration, **options)

    def walk(self, seconds=120.0):
        run = self.part("blender.session")
        inner, hand = self.steps, self

        def watched():
            answer = None
            request = next(inner)
            while True:
                if hasattr(request, "poses"):
                    request = Watched(request, hand)
                try:
                    answer = yield request
                except BaseException as error:
                    request = inner.throw(error)
                    continue
                try:
                    request = inner.send(answer)
                except StopIteration as end:
                    return end.value

        assert run.live is None
        return self.part("blender.compute_process").run(watched(), seconds=seconds)


class Watched:
    def __init__(self, run, hand):
        self._run, self._hand = run, hand

    def __getattr__(self, name):
        return getattr(self._run, name)

    def poll(self):
        over = self._run.poll()
        rod = bpy.data.objects.get("Rod")
        if rod is not None:
            self._hand.seen.append((self._run.time, rod.matrix_basis.copy()))
        while self._hand.script and self._run.figures and self._run.time >= self._hand.script[0][0]:
            self._hand.script.pop(0)[1](self._run)
        return over


def settings():
    return bpy.context.window_manager.condyle_live


@pytest.mark.small
def test_a_run_moves_the_body_and_leaves_the_scene_as_it_was(part, scene, make, axle):
    before = digest()
    hand = Hand(part, scene)
    report = hand.walk()
    assert report.baked is None and report.seconds >= 0.4
    assert len({tuple(map(tuple, matrix)) for _, matrix in hand.seen}) > 5
    assert not differences(before, digest()), differences(before, digest())
    assert part("blender.session").live is None


@pytest.mark.small
def test_a_record_is_the_bake_that_the_same_scene_gives(part, scene, make, axle):
    report = Hand(part, scene, record=True, duration=0.5).walk()
    count = len(report.frames)
    assert 12 <= count <= 15 and report.frames[0] == 1.0
    live = report.baked.result
    assert part("baked.temporarily").is_baked(bpy.data.objects["Rod"])
    scene.frame_set(9)
    shown = np.array(bpy.data.objects["Rod"].matrix_world)
    assert part("jobs.bake").free_bake(scene) == 1
    whole = part("jobs.bake").bake_now(scene).result
    rows = min(count, len(whole.t))
    assert live.q[:rows].tobytes() == whole.q[:rows].tobytes()
    scene.frame_set(9)
    assert np.array(bpy.data.objects["Rod"].matrix_world).tobytes() == shown.tobytes()


def test_figures_of_a_record_know_of_the_sliders(part, scene, make, axle):
    def turn(_run):
        settings().sliders[0].torque = 50.0

    scene.condyle.simulation.output.extras = {"TORQUES"}
    Hand(part, scene, [(0.2, turn)], record=True, duration=0.6).walk()
    curve = next(iter(part("blender.compat").curves_in_use(axle)))
    pushed = [key.co[1] for key in curve.keyframe_points]
    assert pushed[-1] - pushed[0] > 40.0


def test_sliders_act_and_are_kept_when_asked(part, scene, make, axle):
    def turn(_run):
        settings().sliders[0].torque = 50.0
        settings().gravity = (0.0, 0.0, -1.0)

    hand = Hand(part, scene, [(0.1, turn)], duration=1.0)
    hand.walk()
    free = Hand(part, scene, duration=1.0)
    free.walk()
    apart = [
        np.abs(np.array(a) - np.array(b)).max() for (_, a), (_, b) in zip(hand.seen[-3:], free.seen[-3:])
    ]
    assert max(apart) > 0.0
    assert axle.condyle.joint.coordinates[0].torque == 0.0
    Hand(part, scene, [(0.05, turn)], duration=0.1).walk()
    assert bpy.ops.condyle.live_keep() == {"FINISHED"}
    assert axle.condyle.joint.coordinates[0].torque == 50.0
    assert not part("live.knobs").touched(settings(), scene)
    assert tuple(scene.condyle.simulation.gravity) == (0.0, 0.0, -1.0)
    axle.condyle.joint.coordinates[0].torque = 0.0  # as an undo does
    assert bpy.ops.condyle.live_keep() == {"FINISHED"}
    assert axle.condyle.joint.coordinates[0].torque == 50.0
    scene.condyle.simulation.gravity = (0.0, 0.0, -2.0)
    assert part("live.knobs").touched(settings(), scene)
    other = bpy.data.scenes.new("Other")
    assert not part("live.knobs").touched(settings(), other)  # it did not run
    bpy.data.scenes.remove(other)


@pytest.mark.small
def test_what_ran_in_one_scene_is_not_kept_in_another(part, scene, make, axle, ph):
    """Not its torque alone while its gravity is left out; a panel of the other scene says which one runs."""
    sliders, panels = part("live.knobs"), part("ui.live.panels")
    other = bpy.data.scenes.new("Other")
    drawn = {}

    def turn(run):
        settings().sliders[0].torque, settings().gravity = 50.0, (0.0, 0.0, -1.0)
        for shown in (scene, other):
            layout = MagicMock()
            panels.draw_live(layout, shown)
            drawn[shown.name] = [call.kwargs["text"] for call in layout.label.call_args_list]

    Hand(part, scene, [(0.02, turn)], duration=0.1).walk()
    assert drawn == {scene.name: [], "Other": [f"Running: scene {scene.name}"]}
    gravity = tuple(other.condyle.simulation.gravity)
    with bpy.context.temp_override(scene=other):
        assert not bpy.ops.condyle.live_keep.poll()
    with pytest.raises(ph.ModelError, match=f"was of the scene '{scene.name}': show that"):
        sliders.keep(settings(), other)
    assert axle.condyle.joint.coordinates[0].torque == 0.0
    assert tuple(other.condyle.simulation.gravity) == gravity
    assert bpy.ops.condyle.live_keep() == {"FINISHED"}
    assert axle.condyle.joint.coordinates[0].torque == 50.0
    assert tuple(scene.condyle.simulation.gravity) == (0.0, 0.0, -1.0)
    bpy.data.scenes.remove(other)


def test_ground_has_sliders(part, scene, make, axle):
    references, connections = part("data.references"), part("making.connections")
    item = connections.add_connection(
        scene, None, references.Body(bpy.data.objects["Rod"]), "ground", name="Floor"
    )
    item.condyle.connection.ground.contact = "SOFT"
    make.update()

    def soften(_run):
        for slider in settings().sliders:
            if slider.key == "stiffness":
                slider.times = 0.5

    Hand(part, scene, [(0.02, soften)], duration=0.1).walk()
    named = {slider.label for slider in settings().sliders}
    assert {"Axle [N·m]", "Floor: Stiffness", "Floor: Damping", "Floor: Friction"} <= named
    assert bpy.ops.condyle.live_keep() == {"FINISHED"}
    assert item.condyle.connection.ground.stiffness == 1e4


def test_the_mouse_pulls(part, scene, make, axle):
    def pull(run):
        run.take(0, np.array([0.0, 0.0, -0.2]))
        run.pull_to(run.world_point(0, np.array([0.0, 0.0, -0.2])) + [0.0, 1.0, 0.5])

    ended = []
    hand = Hand(
        part, scene, [(0.05, pull), (0.9, lambda run: ended.append(run.poses[0].copy()))], duration=1.0
    )
    hand.walk()
    free = Hand(part, scene, [(0.9, lambda run: ended.append(run.poses[0].copy()))], duration=1.0)
    free.walk()
    assert np.abs(ended[0] - ended[1]).max() > 0.05


@pytest.mark.small
def test_a_killed_process_is_told_and_costs_nothing(part, scene, make, axle):
    before = digest()
    error = part("blender.physics_access").part("worker.client").WorkerError
    kill = [
        (0.1, lambda _run: os.kill(part("blender.compute_process").client().hello["pid"], signal.SIGKILL))
    ]
    with pytest.raises(error, match="ended unexpectedly"):
        Hand(part, scene, kill, duration=30.0).walk()
    assert not differences(before, digest())
    assert Hand(part, scene, duration=0.1).walk().seconds >= 0.1


@pytest.mark.small
def test_a_file_saved_in_a_run_holds_the_scenes_own_poses(part, scene, make, axle, tmp_path):
    before = np.array(bpy.data.objects["Rod"].matrix_basis)

    def save(_run):
        assert scene.condyle.live
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"), copy=True)

    Hand(part, scene, [(0.2, save)], duration=0.4).walk()
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert np.allclose(np.array(bpy.data.objects["Rod"].matrix_basis), before)
    assert not bpy.context.scene.condyle.live


def test_undo_to_a_moment_within_a_run_gives_the_scenes_own_poses(part, scene, make, axle):
    window = bpy.context.window_manager.windows[0]
    before = np.array(bpy.data.objects["Rod"].matrix_basis)
    with bpy.context.temp_override(window=window):
        bpy.ops.ed.undo_push(message="before")

        def push(_run):
            bpy.ops.ed.undo_push(message="within")

        Hand(part, scene, [(0.2, push)], duration=0.4).walk()
        bpy.ops.ed.undo_push(message="behind")
        bpy.ops.ed.undo()
    assert np.allclose(np.array(bpy.data.objects["Rod"].matrix_basis), before)
    assert not bpy.context.scene.condyle.live


def test_a_run_goes_on_after_an_undo(part, scene, make, body, authoring):
    """Connected bones, too."""
    rig = make.armature(
        "Rig", {"A": ((0, 0, 1), (0, 0, 0.5), None), "B": ((0, 0, 0.5), (0, 0.1, 0), "A")}, True
    )
    rig.location = (0.3, 0.2, 0.1)
    make.update()
    joint = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Knee")
    joint.condyle.joint.axis = (1, 0, 0)
    scene.frame_start, scene.frame_end = 1, 25
    make.update()
    undone = []

    def push(_run):
        bpy.ops.ed.undo_push(message="within")

    def undo(_run):
        undone.append(bpy.ops.ed.undo())

    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
        bpy.ops.ed.undo_push(message="before")
        hand = Hand(part, scene, [(0.1, push), (0.2, undo)], duration=0.4)
        assert hand.walk().seconds >= 0.4 and undone == [{"FINISHED"}]


def test_sliders_of_soft_parts_act(part, scene, make, axle):
    wobbling = bpy.data.objects["Rod"].condyle.body.wobbling
    wobbling.enabled = True

    def seen(share):
        def turn(_run):
            for slider in settings().sliders:
                if slider.key.startswith("stiffness"):
                    slider.times = share

        hand = Hand(part, scene, [(0.02, turn)], duration=0.3)
        assert hand.walk().seconds >= 0.3
        times = np.array([time for time, _ in hand.seen])
        return np.interp(np.linspace(0.2, 0.28, 9), times, [matrix[1][3] for _, matrix in hand.seen])

    moved = np.abs(seen(1.0) - seen(0.02))
    keys = {slider.key for slider in settings().sliders}
    assert {"stiffness_along", "stiffness_across", "damping_along", "damping_across"} <= keys
    assert moved.max() > 1e-3  # two runs with the same sliders are 5e-5 apart, by when pictures come


def test_what_is_turned_is_said_at_once(part, scene, axle):
    """Not at the next look, which shows a picture from before: motion came in the third one."""
    told = []

    def turn(run):
        tell = run.job.tell
        run.job.tell = lambda said: told.append(said) or tell(said)
        slider = next(each for each in settings().sliders if each.group == "TORQUE")
        slider.torque = 2.0
        told.append("next")
        settings().gravity = (0.0, 0.0, -1.0)
        slider.torque = 2.0  # nothing new

    Hand(part, scene, [(0.1, turn)], duration=0.2).walk()
    first, mark, gravity = told[:3]
    assert (
        list(first["inputs"].values()) == [2.0]
        and mark == "next"
        and gravity == {"gravity": [0.0, 0.0, -1.0]}
    )
    settings().gravity = (0.0, 0.0, -9.81)  # there is nobody to hear it
    assert len(told) == 4 and told[3]["stop"] is None


@pytest.mark.slow
def test_an_imported_leg_runs_and_its_muscles_are_turned(part, scene, make):
    path = Path(__file__).parents[4] / "shared" / "models" / "leg6dof9musc.osim"
    if not path.is_file():
        pytest.skip(f"{path.name} is not there")
    bpy.ops.condyle.import_opensim(filepath=str(path))
    scene.frame_start, scene.frame_end = 1, 25
    before = digest()

    def excite(_run):
        for slider in settings().sliders:
            if slider.group == "MUSCLE":
                slider.share = 0.5

    heard = []
    note = [(0.2, excite), (0.4, lambda run: heard.append(dict(run.figures)))]
    report = Hand(part, scene, note, duration=0.5).walk()
    assert report.baked is None and heard[0]["heard"] >= 1 and heard[0]["headroom"] > 0.0
    groups = [slider.group for slider in settings().sliders]
    assert groups.count("MUSCLE") == 9 and groups.count("TORQUE") >= 6
    assert not differences(before, digest())


@pytest.mark.small
def test_the_operator_runs_for_a_script(part, scene, make, axle):
    with pytest.raises(RuntimeError, match="needs a Duration in seconds"):
        bpy.ops.condyle.live()
    assert bpy.ops.condyle.live(duration=0.3, record=True) == {"FINISHED"}
    assert part("baked.temporarily").is_baked(bpy.data.objects["Rod"])
    assert (
        "frames 1 to" in part("blender.session").message
        and "the scene plays" not in part("blender.session").message
    )
    scene.frame_end = 3
    assert bpy.ops.condyle.live(duration=0.3, record=True) == {"FINISHED"}
    assert part("blender.session").message.endswith("; the scene plays to frame 3")
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 1, 4
    assert bpy.ops.condyle.live(duration=0.3, record=True) == {"FINISHED"}
    assert part("blender.session").message.endswith("; the scene plays to frame 4")


@pytest.mark.small
def test_what_stands_in_a_slider_of_the_ground_leaves_out_whose_it_is(part):
    parts_of = part("ui.live.panels").parts_of
    slider = MagicMock(group="GROUND", kind="TIMES", label="Box: 2: Stiffness")
    assert parts_of(slider) == ("Box: 2", "Stiffness ×")
    slider = MagicMock(group="TORQUE", kind="TORQUE", label="Hip: 2: X [N]")
    assert parts_of(slider) == ("", "Hip: 2: X [N]")


@pytest.mark.parametrize(("until", "kept"), [(0.0, False), (0.06, False), (0.2, True)])
def test_less_than_two_frames_of_a_record_are_nothing(part, until, kept):
    """A run that is stopped before its first picture has none."""
    told = []
    run = part("live.run").Run.__new__(part("live.run").Run)
    run._stopping, run._least, run.recorded, run.figures = False, 2.0 / 24.0, (None, None), {}
    run.job = SimpleNamespace(tell=told.append)
    run.start_recording()
    run.figures["time"] = until
    run.stop()
    assert (told[0]["stop"] is not None) == kept
