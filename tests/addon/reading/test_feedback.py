"""Feedback laws of joints: what stands by them in bakes, live runs and saved shots; gates; laws that are refused."""

import bpy
import numpy as np
import pytest

from tests.addon.jobs.test_shot import taken
from tests.addon.live.test_run import Hand, settings
from tests.addon.said import codes
from tests.addon.ui.test_panels import draw_all


def height(z):
    place = np.eye(4)
    place[2, 3] = z
    return place


def law(part, joint, signal, gain, **values):
    made = part("making.feedback").add(joint, signal)
    made.gain = gain
    for name, value in values.items():
        setattr(made, name, value)
    return made


@pytest.fixture
def mast(part, scene, make, body, authoring):
    """A rod of 4 kg on a hinge below it, which leans by 0.2 rad and falls; the hinge's Empty."""
    stand, rod = make.box("Stand", (0, 0, 0)), make.box("Rod", (0, 0, 0.5))
    joint = authoring.add_joint(scene, body(stand), body(rod), kind="hinge", matrix=height(0.25), name="Axle")
    scene.frame_start, scene.frame_end = 1, 49
    joint.condyle.joint.axis = (1, 0, 0)
    joint.condyle.joint.coordinates[0].start = 0.2
    make.update()
    return joint


@pytest.fixture
def standing(part, mast):
    """The mast with a law that holds it upright, and one that damps it."""
    law(part, mast, "COORDINATE", -60.0)
    law(part, mast, "COORDINATE", -8.0, rate=True)
    return mast


@pytest.fixture
def lift(part, scene, make, body, authoring):
    """A box of 4 kg on a slider that falls onto soft ground 0.1 m below it; the slider's Empty."""
    foot = make.box("Foot", (0, 0, 0.3))
    joint = authoring.add_joint(scene, None, body(foot), kind="slider", matrix=height(0.3), name="Lift")
    joint.condyle.joint.axis = (0, 0, 1)
    ground = part("making.connections").add_connection(scene, None, body(foot), "ground", np.eye(4), None)
    ground.condyle.connection.ground.contact = "SOFT"
    scene.frame_start, scene.frame_end = 1, 25
    make.update()
    return joint


def bake(part, scene):
    result = part("jobs.bake").bake_now(scene).result
    part("jobs.bake").free_bake(scene)
    return result


@pytest.mark.small
def test_an_inverted_pendulum_stands_with_the_same_bits_in_a_bake_a_live_run_and_a_saved_shot(
    part, scene, standing, tmp_path
):
    live = Hand(part, scene, record=True, duration=1.0).walk().baked.result
    part("jobs.bake").free_bake(scene)
    whole, rows = bake(part, scene), len(live.t)
    # about 0.3 kg m^2 and 10 N m/rad of gravity: it settles in some 0.2 s
    assert abs(whole.q[-1, 0]) < 1e-3 and whole.q[0, 0] == pytest.approx(0.2, abs=1e-6)
    assert rows > 20 and live.q.tobytes() == whole.q[:rows].tobytes()
    shots = part("jobs.shot_files")
    part("jobs.bake").save_shot_now(scene, tmp_path / "shot")
    shots.simulate(shots.load(tmp_path / "shot"), tmp_path / "result.npz")
    saved = part("jobs.bake").apply_now(scene, shots.load_result(tmp_path / "result.npz")).result
    assert saved.q.tobytes() == whole.q.tobytes()
    part("jobs.bake").free_bake(scene)
    standing.condyle.joint.feedback_laws[0].active = False
    assert abs(bake(part, scene).q[-1, 0]) > 0.2


@pytest.mark.parametrize("signal", ["CENTER", "POINT"])
def test_it_also_stands_by_a_place_of_its_own_in_a_scene_of_other_units(part, scene, make, mast, signal):
    """Along y the mass center, or a point on it, is at -height × angle, from an Empty beside the stand."""
    tip, beside = make.empty("Tip", bpy.data.objects["Rod"]), make.empty("Beside")
    tip.location, beside.location = (0, 0, 0.2), (0.0, 0.1, 0.0)
    scene.unit_settings.scale_length = 0.5
    make.update()
    for rate, gain in ((False, 200.0), (True, 30.0)):
        made = law(part, mast, signal, gain, rate=rate, direction=(0, 2, 0), level=0.0 if rate else -0.05)
        made.origin.object = beside
        if signal == "POINT":
            made.point.object = tip
    scene.frame_end = 97
    assert abs(bake(part, scene).q[-1, 0]) < 1e-2


def test_a_law_with_a_gate_acts_only_while_its_body_touches_the_ground(part, scene, lift):
    fallen = bake(part, scene)
    gated = law(part, lift, "COORDINATE", 300.0, level=-0.2)
    gated.gate.object, gated.load = bpy.data.objects["Foot"], 5.0
    law(part, lift, "TOUCH", 20.0).gate.object = bpy.data.objects["Foot"]
    lifted = bake(part, scene)
    flying = int(np.argmax(fallen.q[:, 0] < -0.1))
    assert flying > 2 and lifted.q[:flying].tobytes() == fallen.q[:flying].tobytes()
    sunk, less = -0.1 - fallen.q[-1, 0], -0.1 - lifted.q[-1, 0]
    # 300 N/m (0.2 m - 0.1 m) and 20 N, times its touch, bear most of its 39 N
    assert 0.0 < less < 0.5 * sunk


def test_a_law_excites_a_muscle(part, scene, arm):
    _, _, joint, muscle = arm
    still = bake(part, scene)
    made = law(part, joint, "COORDINATE", 2.0, level=-0.3, changes="EXCITATION")
    made.muscle = muscle
    assert np.abs(bake(part, scene).q - still.q).max() > 0.05


def test_gain_and_level_are_sliders_of_a_live_run_and_are_kept(part, scene, standing):
    def turn(_run):
        by_key = {(each.target, each.key): each for each in settings().sliders if each.group == "FEEDBACK"}
        assert len(by_key) == 4
        by_key["Axle law 1", "gain"].times = 2.0
        by_key["Axle law 1", "level"].level = 0.1

    live = Hand(part, scene, [(0.5, turn)], record=True, duration=1.5).walk().baked.result
    q, weight = live.q[-1, 0], 4.0 * 9.81 * 0.25  # kg m/s^2 m
    assert 120.0 * (q - 0.1) == pytest.approx(weight * np.sin(q), rel=0.05)  # it still settles
    part("jobs.bake").free_bake(scene)
    assert part("live.knobs").keep(settings(), scene) == 2
    first = standing.condyle.joint.feedback_laws[0]
    assert (first.gain, first.level) == (-120.0, pytest.approx(0.1))


def wrong_point(part, joint):
    law(part, joint, "POINT", 1.0)


def still_point(part, joint):
    law(part, joint, "POINT", 1.0).point.object = bpy.data.objects["Stand"]


def no_gate(part, joint):
    law(part, joint, "TOUCH", 1.0)


def no_ground(part, joint):
    law(part, joint, "TOUCH", 1.0).gate.object = bpy.data.objects["Rod"]


def no_muscle(part, joint):
    law(part, joint, "COORDINATE", 1.0, changes="EXCITATION")


def no_coordinate(part, joint):
    law(part, joint, "COORDINATE", 1.0, signal_coordinate=2)


def adaptive(part, joint):
    law(part, joint, "COORDINATE", 1.0)
    bpy.context.scene.condyle.simulation.integrator = "RK45"


@pytest.mark.parametrize(
    ("make_it", "words"),
    [
        (wrong_point, r"\(Point 1\): its Point is missing"),
        (still_point, "its Point 'Stand' is not on a body"),
        (no_gate, "its Gate is missing"),
        (no_ground, "its Gate 'Rod' has no Ground"),
        (no_muscle, "its Muscle is missing"),
        (no_coordinate, "has 1 coordinates, but number 2"),
        (adaptive, "'RK45' does not support the feedback 'Axle law 1'"),
    ],
)
def test_a_law_that_names_nothing_or_is_refused_is_found_before_it_is_simulated(
    part, scene, mast, ph, make_it, words
):
    make_it(part, mast)
    (found,) = [each for each in part("jobs.scene_checks").check(scene) if each.is_error]
    assert codes([found]) == ["error"] and found.session_uid == mast.session_uid
    for way in ("bake_now", "check_now"):
        with pytest.raises(ph.ModelError, match=words):
            getattr(part("jobs.bake"), way)(scene)
    mast.condyle.joint.feedback_laws[0].active = False
    assert not [each for each in part("jobs.scene_checks").check(scene) if "law" in each.text]


def test_laws_beside_soft_bodies_are_refused(part, scene, make, standing, ph):
    jelly, preset = make.box("Jelly", (0, 0, 0.9)), part("making.soft_presets").SOFT_PRESETS[0]
    part("making.soft_bodies").add(scene, [jelly], preset)
    with pytest.raises(ph.ModelError, match=r"'Axle', feedback law 1 .*soft bodies \(Jelly\)"):
        part("jobs.bake").check_now(scene)


def test_what_a_law_measures_from_may_be_animated(part, scene, make, mast):
    cart = make.empty("Cart")
    for frame, place in ((1, 0.0), (49, 1.0)):
        cart.location.y = place
        cart.keyframe_insert("location", frame=frame)
    law(part, mast, "CENTER", 200.0, direction=(0, 1, 0)).origin.object = cart
    (found,) = taken(part, scene).read.model.feedback_laws
    assert found.other == "Cart (animated)" and found.other_point == (0.0, 0.0, 0.0)


def test_the_panel_shows_what_a_law_needs(part, mast):
    bpy.context.view_layer.objects.active = mast
    for signal, shown in (
        ("COORDINATE", {"signal_joint", "level_angle", "rate"}),
        ("POINT", {"direction", "level_length", "rate"}),
        ("CENTER", {"direction", "level_length", "rate"}),
        ("TOUCH", {"level", "load"}),
    ):
        assert bpy.ops.condyle.add_feedback_law(signal=signal) == {"FINISHED"}
        assert {"gain", "signal", *shown} <= set(draw_all(part))
    for left in (3, 2, 1, 0):
        assert bpy.ops.condyle.remove_feedback_law() == {"FINISHED"}
        assert len(mast.condyle.joint.feedback_laws) == left


def test_goals_are_solved_by_joints_without_laws_and_refused_where_there_are_none(
    part, scene, make, body, authoring, standing, ph
):
    solve, run = part("jobs.goals").solve, part("blender.compute_process").run
    part("making.goals").add(scene, body(bpy.data.objects["Rod"]), "POSE", 15, None)
    with pytest.raises(ph.ModelError, match=r"'Axle law 1'.* change all that can move Rod"):
        run(solve(scene))
    bpy.data.objects["Rod"].condyle.goals.rows.clear()
    tail = make.box("Tail", (0, 0, 0.9))
    joint = authoring.add_joint(
        scene, body(bpy.data.objects["Rod"]), body(tail), kind="hinge", matrix=height(0.7), name="Neck"
    )
    joint.condyle.joint.axis = (1, 0, 0)
    scene.frame_end = 20
    part("making.goals").add(scene, body(tail), "POSE", 15, None).value = 0.1
    solved = run(solve(scene))
    assert solved.keyed == 1 and solved.misses[0] < 1e-3  # rad: the requirement
    assert abs(solved.bake.result.q[14, 1] - 0.1) < 1e-3 and solved.bake.result.q[0, 0] > 0.19
    part("jobs.bake").free_bake(scene)
    with pytest.raises(ph.ModelError, match="Make Physical takes no feedback law"):
        scene.condyle.simulation.integrator = "sdirk2"
        joint.keyframe_insert("location", frame=1)
        run(part("jobs.physical").make(scene))


def test_a_bake_is_out_of_date_where_a_law_changed(part, scene, make, standing):
    tip = make.empty("Tip", bpy.data.objects["Rod"])
    law(part, standing, "POINT", 0.0).point.object = tip
    part("jobs.bake").bake_now(scene)
    changes = part("handlers.staleness").changes
    assert changes(scene) == []
    standing.condyle.joint.active_feedback_law = 1
    standing.condyle.joint.feedback_laws[0].title = "Hold"
    assert changes(scene) == []
    standing.condyle.joint.feedback_laws[0].gain = -70.0
    assert len(changes(scene)) == 1
    tip.location.z += 0.1
    assert [each.values["owner"] for each in changes(scene)] == ["Axle", "Tip"]
