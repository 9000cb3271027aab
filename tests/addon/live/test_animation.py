"""What leads a live run beyond the scene's frames: keys behind them, cycles, what ends as it began, and what rests."""

import bpy
import numpy as np
import pytest

from tests.addon.live.test_run import Hand, settings

from ..keying import make_keys, set_keys
from ..said import said


@pytest.fixture
def arms(part, scene, make):
    """An arm on a hinge, whose slider is to be keyed, and one that hangs from it; the scene has 13 frames."""
    joint, _slider = make.driven_arm(part, scene)
    bpy.data.objects["Elbow"].condyle.joint.coordinates[0].damping = 0.5
    scene.frame_start, scene.frame_end = 1, 13
    joint.condyle.joint.prescribed = True
    return joint


def keyed(part, joint, last, end=0.0, cycles=False):
    """A wave with a period of 12 frames; `end`: where it is at the last key besides."""
    (slider,) = part("data.joints").slider_names(joint.condyle.joint)
    for frame in range(1, last + 1):
        joint[slider] = 0.5 * np.sin(2.0 * np.pi * (frame - 1) / 12.0) + end * (frame - 1) / (last - 1)
        joint.keyframe_insert(f'["{slider}"]', frame=frame)
    if cycles:
        for curve in part("blender.compat").curves_in_use(joint):
            curve.modifiers.new("CYCLES")


def told(part):
    return [each for each in part("blender.session").findings if each.source == "Live"]


@pytest.mark.parametrize(("last", "cycles"), [(40, False), (13, True), (13, False)])
def test_it_goes_on_beyond_the_scenes_last_frame(part, scene, make, arms, last, cycles):
    """Along keys behind it, through cycles, and round what ends as it began."""
    keyed(part, arms, last, cycles=cycles)
    scene.frame_set(1)
    live = Hand(part, scene, duration=1.2, record=True).walk().baked.result
    assert part("jobs.bake").free_bake(scene) == 2 and bool(told(part)) == (last == 40)
    scene.frame_end = 40
    if not cycles and last == 13:
        keyed(part, arms, 40)
    scene.frame_set(1)
    whole = part("jobs.bake").bake_now(scene).result
    rows = len(live.t)
    assert rows > 26
    # splines that end elsewhere differ near their ends
    assert np.abs(live.q - whole.q[:rows]).max() < 2e-3


@pytest.mark.parametrize("cycles", [True, False])
def test_a_joint_between_its_keys_and_the_simulation_is_drawn_as_in_a_bake(part, scene, make, arms, cycles):
    keyed(part, arms, 13, cycles=cycles)
    arms.condyle.joint.prescribed, arms.condyle.joint.follow = False, 0.5
    scene.frame_set(1)
    live = Hand(part, scene, duration=1.2, record=True).walk().baked.result
    assert part("jobs.bake").free_bake(scene) == 2 and not told(part)
    scene.frame_end = 40
    keyed(part, arms, 40)
    scene.frame_set(1)
    whole = part("jobs.bake").bake_now(scene).result
    rows = len(live.t)
    assert rows > 26 and np.ptp(whole.q[:rows, 0]) > 0.3
    # splines that end elsewhere differ near their ends
    assert np.abs(live.q - whole.q[:rows]).max() < 2e-3


@pytest.mark.parametrize("switch", ["follow", "prescribed"])
def test_a_fall_out_of_the_animation_is_one_and_told(part, scene, make, arms, switch):
    """What is given at the beginning and not at the end is not given anew."""
    keyed(part, arms, 13)
    settings_ = arms.condyle.joint
    settings_.prescribed = False
    set_keys(settings_, switch, {1: 1, 7: 0})
    scene.frame_set(1)
    live = Hand(part, scene, duration=1.2, record=True).walk().baked.result
    assert said(told(part)) == [("animation-ends", "Shoulder", 13.0)]
    assert part("jobs.bake").free_bake(scene) == 2
    scene.frame_end = 40
    scene.frame_set(1)
    whole = part("jobs.bake").bake_now(scene).result
    assert np.abs(live.q - whole.q[: len(live.t)]).max() < 2e-3


def test_what_rests_at_the_end_of_its_keys_is_told(part, scene, make, arms):
    keyed(part, arms, 20, end=0.4)
    live = Hand(part, scene, duration=1.0, record=True).walk().baked.result
    (found,) = (each for each in told(part) if each.code == "animation-ends")
    assert found.values["frame"] == 20.0 and ("Up" in found.text or "Shoulder" in found.text)
    # a step of 1 ms that leads beyond the end
    assert np.abs(live.q[20:, 0] - live.q[19, 0]).max() < 3e-3 and np.abs(np.diff(live.q[:19, 0])).max() > 0.1
    arms.condyle.joint.prescribed = False
    Hand(part, scene, duration=0.2).walk()
    assert not told(part)


def test_a_controller_excites_its_muscle_as_in_a_bake_until_its_slider_is_moved(
    part, scene, make, body, arms
):
    arms.condyle.joint.prescribed = False
    points = [
        (body(bpy.data.objects["Up"]), (0.06, 0, 0.6)),
        (body(bpy.data.objects["Low"]), (0.06, 0, 0.35)),
    ]
    muscle = part("making.muscles").add_muscle(scene, points, "Flexor")
    muscle.condyle.muscle.law.max_force = 40.0
    muscle.condyle.muscle.excited_by = "CONTROLLER"
    control = muscle.condyle.muscle.control
    control.joint, control.target, control.gain = bpy.data.objects["Elbow"], 0.5, 3.0
    scene.condyle.simulation.output.extras = {"MUSCLES"}

    def shown():
        (curve,) = [
            each
            for each in part("blender.compat").curves_in_use(muscle)
            if "Baked activation" in each.data_path
        ]
        return [point.co[1] for point in curve.keyframe_points]

    live = Hand(part, scene, duration=0.5, record=True).walk().baked.result
    active = shown()
    part("jobs.bake").free_bake(scene)
    whole = part("jobs.bake").bake_now(scene).result
    rows = len(live.t)
    assert live.q[:rows].tobytes() == whole.q[:rows].tobytes() and max(active) > 0.1
    assert active[:rows] == shown()[:rows]
    part("jobs.bake").free_bake(scene)

    def rest(_run):
        (slider,) = [each for each in settings().sliders if each.group == "MUSCLE"]
        slider.share = 0.25

    Hand(part, scene, [(0.2, rest)], duration=0.5, record=True).walk()
    assert shown()[-1] == pytest.approx(0.25)


def test_what_leads_nothing_makes_no_run_read_farther(part, scene, make, arms):
    keyed(part, arms, 20)
    crate = make.box("Crate", (3, 0, 0))
    crate.keyframe_insert("location", frame=5000)
    assert part("live.frames").frames(scene)[-1] == 20
    keyed(part, arms, 1200)
    assert part("live.frames").frames(scene)[-1] == scene.frame_end + 500


@pytest.mark.small
@pytest.mark.parametrize(
    ("pairs", "mode", "last"),
    [
        ([(1, 0.0), (25, 1.0)], None, 25),
        ([(1, 0.0), (13, 1.0)], "REPEAT_OFFSET", 25),
        ([(1, 0.0), (13, 1.0)], "MIRROR", 25),
        ([(1, 0.0), (7, 1.0), (13.5, 0.0)], "REPEAT", 26),  # two cycles of 12.5 frames
        ([(1, 0.0), (1501, 1.0), (3001, 0.0)], "REPEAT", 520),  # 500 frames beyond the range, no more
    ],
)
def test_it_reads_whole_cycles(part, scene, arms, pairs, mode, last):
    scene.frame_end = 20
    (slider,) = part("data.joints").slider_names(arms.condyle.joint)
    set_keys(arms, f'["{slider}"]', dict(pairs))
    if mode:
        for curve in part("blender.compat").curves_in_use(arms):
            curve.modifiers.new("CYCLES").mode_after = mode
    assert part("live.frames").frames(scene)[[0, -1]].tolist() == [1.0, last]


@pytest.mark.small
def test_keys_of_what_leads_nothing_are_not_read(part, scene, make, arms):
    keyed(part, arms, 13)
    lower = bpy.data.objects["Low"]
    lower.keyframe_insert("color", frame=200)
    lower.keyframe_insert("hide_render", frame=210)
    rig = make.armature("Rig", {"Root": ((0, 0, 3), (0, 0, 4), None), "Tail": ((0, 0, 4), (0, 0, 5), "Root")})
    rig.pose.bones["Root"].condyle.body.enabled = True
    rig.pose.bones["Tail"].keyframe_insert("location", frame=300)
    frames = part("live.frames").frames
    assert frames(scene)[-1] == 13.0
    rig.pose.bones["Root"].keyframe_insert("location", frame=40)
    assert frames(scene)[-1] == 40.0


def test_a_run_goes_round_alike_with_the_record_of_the_one_before_in_place(part, scene, arms):
    """Keys of a bake lead nothing; a wheel that eases in and out goes on in its next turn."""
    (slider,) = part("data.joints").slider_names(arms.condyle.joint)
    set_keys(arms, f'["{slider}"]', {1: 0.0, 13: 2.0 * np.pi})
    runs = []
    for _ in range(2):
        scene.frame_set(1)
        runs.append(Hand(part, scene, duration=1.5, record=True).walk().baked.result)
        assert not told(part)
    rows = min(len(run.t) for run in runs)
    assert rows > 30 and np.array_equal(runs[0].q[:rows], runs[1].q[:rows])
    turned = runs[0].q[:rows, 0]
    # the second turn is the first one's, but for what the spline through the seam makes of its corner
    assert np.abs(turned[12:24] - turned[:12] - 2.0 * np.pi).max() < 0.05


@pytest.mark.parametrize("led", ("PRESCRIBED", "FOLLOW", "CONTROLLER"))
@pytest.mark.parametrize("mode", ("REPEAT", "REPEAT_OFFSET"))
def test_a_cycle_that_drops_back_or_goes_on_does_so_again_and_again(part, scene, make, arms, led, mode):
    """It stayed at the end of its first one, as what has no cycles does, and that was told."""
    settings_ = arms.condyle.joint
    settings_.prescribed, settings_.controller.enabled = led == "PRESCRIBED", led == "CONTROLLER"
    settings_.follow = 0.7 if led == "FOLLOW" else 0.0
    (slider,) = part("data.joints").slider_names(settings_)
    set_keys(arms, f'["{slider}"]', {1: 0.0, 7: 0.3})
    for curve in make_keys(arms, "LINEAR"):
        curve.modifiers.new("CYCLES").mode_after = mode
    scene.frame_set(1)
    live = Hand(part, scene, duration=1.2, record=True).walk().baked.result
    assert not [each for each in said(told(part)) if each[0] == "animation-ends" and each[2] == 13.0]
    assert part("jobs.bake").free_bake(scene) == 2
    scene.frame_end = 40
    scene.frame_set(1)
    whole = part("jobs.bake").bake_now(scene).result
    rows = len(live.t)
    assert rows > 26 and np.ptp(whole.q[:, 0]) > 0.2
    # sliders come in single precision; a controller's targets are a table, that of the last frame of a cycle the first
    # one's again
    off = np.abs(live.q - whole.q[:rows]).max()
    assert off < (1e-6 if led != "CONTROLLER" else 0.05)


@pytest.mark.parametrize("mode", ("REPEAT", None))
def test_a_wheel_that_a_controller_turns_turns_on(part, scene, make, arms, mode):
    """Its target was led back by a turn at the end of each cycle, or stayed there."""
    settings_ = arms.condyle.joint
    settings_.prescribed, settings_.controller.enabled = False, True
    (slider,) = part("data.joints").slider_names(settings_)
    set_keys(arms, f'["{slider}"]', {1: 0.0, 13: 2.0 * np.pi})
    for curve in make_keys(arms, "LINEAR"):
        if mode:
            curve.modifiers.new("CYCLES").mode_after = mode
    scene.frame_set(1)
    live = Hand(part, scene, duration=1.2, record=True).walk().baked.result
    assert not told(part)
    part("jobs.bake").free_bake(scene)
    scene.frame_end = 40
    if not mode:
        curve.extrapolation = "LINEAR"
    scene.frame_set(1)
    whole = part("jobs.bake").bake_now(scene).result
    rows = len(live.t)
    # its rate is read by differences of targets, which are others at the end of a row
    assert rows > 26 and np.abs(live.q - whole.q[:rows])[:, 0].max() < 0.05 and live.q[-1, 0] > 10.0


def test_a_copy_of_a_controller_that_starts_over_does_not_start_over_with_it(
    part, scene, make, body, authoring, arms
):
    """Names of copies begin as those of what they are copies of."""
    top, bottom = make.box("Other Top", (1, 0, 1)), make.box("Other Bottom", (1, 0, 0.5))
    other = authoring.add_joint(scene, body(top), body(bottom), "hinge", name=f"{arms.name}.001")
    authoring.drive(scene, other, True)
    for joint, last in ((arms, 7), (other, 13)):
        joint.condyle.joint.controller.enabled, joint.condyle.joint.prescribed = True, False
        (slider,) = part("data.joints").slider_names(joint.condyle.joint)
        set_keys(joint, f'["{slider}"]', {1: 0.0, last: 0.3})
    (curve,) = part("blender.compat").curves_in_use(arms)
    curve.modifiers.new("CYCLES")
    scene.frame_set(1)
    Hand(part, scene, duration=0.6, record=True).walk()
    (stays,) = [each for each in told(part) if each.code == "animation-ends"]
    assert stays.values["names"].startswith(f"{other.name}.")
