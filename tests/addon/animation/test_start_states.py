"""Where a simulation starts, what of it is recorded, and loops."""

from types import SimpleNamespace

import numpy as np
import pytest

from ..bake_digests import file_digest
from ..frames_shown import over_frames
from ..keying import curves_of, key_slider, make_keys
from ..said import codes, said


@pytest.fixture
def pendulum(part, scene, make, authoring):
    """A box on a hinge about y at the world, 25 frames at 24 a second: (box, joint)."""
    scene.frame_start, scene.frame_end = 1, 25
    item = make.box("Bob", (0, 0, -0.3))
    frame = np.eye(4)
    frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    joint = authoring.add_joint(scene, None, part("data.references").Body(item), "hinge", frame, name="Hinge")
    return item, joint


def bake(part, scene):
    report = part("jobs.bake").bake_now(scene)
    part("jobs.bake").free_bake(scene)
    return report


def bake_loop(part, scene):
    """The report of a bake, and how well it closes."""
    report = part("jobs.bake").bake_now(scene)
    kept = scene.condyle.loop
    figures = {name: getattr(kept, name) for name in type(kept).__annotations__}
    part("jobs.bake").free_bake(scene)
    return report, SimpleNamespace(**figures)


def angle(report):
    return report.coordinates["Hinge.angle"]


@pytest.mark.small
def test_a_joint_starts_in_the_pose_and_with_the_speed_of_its_slider(part, scene, pendulum):
    _, joint = pendulum
    part("making.bodies_and_joints").drive(scene, joint, True)
    key_slider(joint, {1: 0.0, 13: 0.6}, "LINEAR")
    scene.frame_set(1)
    start = scene.condyle.start
    simulation = scene.condyle.simulation
    simulation.use_scene_range, simulation.frame_start, simulation.frame_end = False, 7, 20
    assert angle(bake(part, scene))[0] == 0.0
    start.source = "POSE"
    at_rest = bake(part, scene)
    assert angle(at_rest)[0] == pytest.approx(0.3, abs=1e-6)
    assert at_rest.result.qd[0, 0] == 0.0
    start.source = "MOTION"
    report = bake(part, scene)
    assert angle(report)[0] == pytest.approx(0.3, abs=1e-6)
    # sliders are kept in float32: two of them a quarter of a frame apart give their slope to 1e-5
    assert report.result.qd[0, 0] == pytest.approx(0.6 * 24 / 12, abs=1e-4)
    joint.condyle.joint.start_from = "SETTINGS"
    assert angle(bake(part, scene))[0] == 0.0


def test_stepped_keys_have_no_speed(part, scene, pendulum):
    """Where they leap just at the start there is no slope to take: it is told, and not taken for a great speed."""
    _, joint = pendulum
    part("making.bodies_and_joints").drive(scene, joint, True)
    key_slider(joint, {1: 0.0, 5: 0.1, 9: 0.2, 13: 0.3}, "CONSTANT")
    scene.condyle.start.source = "MOTION"
    simulation = scene.condyle.simulation
    simulation.use_scene_range, simulation.frame_end = False, 20
    for first, told in ((8, 0), (9, 1), (10, 0)):
        simulation.frame_start = first
        report = bake(part, scene)
        assert report.result.qd[0, 0] == 0.0 and len(report.warnings) == told
    assert angle(report)[0] == pytest.approx(0.2, abs=1e-6)


def step_some(item, *paths):
    """Make the keys of some of an item's curves constant, those of the others linear."""
    for curve in curves_of(item.animation_data):
        for point in curve.keyframe_points:
            point.interpolation = "CONSTANT" if curve.data_path in paths else "LINEAR"


@pytest.mark.parametrize("kind", ("universal", "spherical", "euler"))
def test_a_stepped_slider_leaves_the_speed_of_the_others(part, scene, make, kind):
    body = part("data.references").Body(make.box("Bob", (0, 0, -0.3)))
    make.update()
    joint = part("making.bodies_and_joints").add_joint(scene, None, body, kind, np.eye(4), name="Ball")
    part("making.bodies_and_joints").drive(scene, joint, True)
    names = part("data.joints").slider_names(joint.condyle.joint)
    for frame, (smooth, stepped) in {1: (0.0, 0.0), 13: (0.6, 0.3), 25: (1.2, 0.3)}.items():
        for name, value in zip(names, (smooth, stepped)):
            joint[name] = value
            joint.keyframe_insert(f'["{name}"]', frame=frame)
    step_some(joint, f'["{names[1]}"]')
    scene.frame_start, scene.frame_end, scene.condyle.start.source = 13, 15, "MOTION"
    report = bake(part, scene)
    assert ("start-jump", "Ball") in said(report.warnings)
    result, step = report.result, 1e-6
    read = result.model.joints[0]
    rates = (read.readings(result.q[0] + step * result.qd[0]) - read.readings(result.q[0])) / step
    wanted = np.zeros(len(names))
    wanted[0] = 1.2
    # sliders are kept in float32: two of them a quarter of a frame apart give their slope to 1e-5
    np.testing.assert_allclose(rates, wanted, atol=1e-4)


@pytest.mark.parametrize("stepped", ((), ("location",), ("rotation_euler",), ("location", "rotation_euler")))
def test_a_body_keeps_the_speed_of_what_is_not_stepped(part, scene, make, stepped):
    """Its turning and its going are keyed in ways of their own."""
    item = make.box("Stone", (0, 0, 0))
    item.rotation_mode = "XYZ"
    item.condyle.body.enabled, item.condyle.body.motion = True, "FREE"
    for frame, x in {1: 0.0, 13: 1.2, 25: 2.4}.items():
        item.location.x = item.rotation_euler.z = x
        for path in ("location", "rotation_euler"):
            item.keyframe_insert(path, frame=frame)
    step_some(item, *stepped)
    scene.frame_start, scene.frame_end, scene.condyle.start.source = 13, 15, "MOTION"
    report = bake(part, scene)
    qd = report.result.qd[0]
    # keys are kept in float32
    assert np.linalg.norm(qd[:3]) == pytest.approx(0.0 if "location" in stepped else 2.4, abs=1e-3)
    assert qd[5] == pytest.approx(0.0 if "rotation_euler" in stepped else 2.4, abs=1e-3)
    assert ("start-jump" in codes(report.warnings)) == bool(stepped)


def test_a_motion_that_turns_back_between_frames_does_not_leap(part, scene, pendulum):
    """At rest an eighth of a frame before the start: it is nearly still between two looks, and not by a step."""
    _, joint = pendulum
    part("making.bodies_and_joints").drive(scene, joint, True)
    for back in (0.125, 0.2, 0.3, 0.375):
        joint.animation_data_clear()
        turn = 13.0 - back
        key_slider(joint, {turn - 6.0: 0.6, turn: 0.0, turn + 6.0: 0.6})
        for curve in curves_of(joint.animation_data):
            for point in curve.keyframe_points:
                point.handle_left_type = point.handle_right_type = "AUTO_CLAMPED"
        values = over_frames((12.9, 13.1), lambda: joint["coordinate"])
        scene.frame_start, scene.frame_end, scene.condyle.start.source = 13, 15, "MOTION"
        report = bake(part, scene)
        assert not report.warnings
        # the last look is 2^-8 frames before the start, where it is 0.01 rad/s slower
        slope = (values[1] - values[0]) * 24.0 / 0.2
        assert report.result.qd[0, 0] == pytest.approx(slope, abs=0.02)


def test_a_joint_starts_as_the_keys_of_its_child_say(part, scene, pendulum):
    item, _joint = pendulum
    item.rotation_mode = "XYZ"
    for frame in range(1, 14):
        turn = 0.05 * (frame - 1)
        item.location = (-0.3 * np.sin(turn), 0.0, -0.3 * np.cos(turn))
        item.rotation_euler = (0.0, turn, 0.0)
        for path in ("location", "rotation_euler"):
            item.keyframe_insert(path, frame=frame)
    scene.frame_set(3)
    scene.condyle.start.begin, scene.condyle.start.source = "PLAYHEAD", "MOTION"
    scene.frame_set(9)
    report = bake(part, scene)
    assert report.frames[0] == 9 and scene.frame_current == 9
    assert abs(angle(report)[0]) == pytest.approx(0.4, abs=1e-4)
    # Blender's own handles are not quite as steep as the sine that is keyed
    assert abs(report.result.qd[0, 0]) == pytest.approx(0.05 * 24, rel=1e-2)


def test_a_free_body_starts_with_the_speed_of_its_keys(part, scene, make):
    item = make.box("Stone", (0, 0, 0))
    item.rotation_mode = "XYZ"
    item.condyle.body.enabled, item.condyle.body.motion = True, "FREE"
    for frame, x in {1: 0.0, 9: 1.0}.items():
        item.location, item.rotation_euler = (x, 0.0, 0.0), (0.0, 0.0, x)
        for path in ("location", "rotation_euler"):
            item.keyframe_insert(path, frame=frame)
    make_keys(item, "LINEAR")
    scene.frame_start, scene.frame_end = 9, 33
    scene.condyle.start.source = "MOTION"
    report = bake(part, scene)
    places = report.poses["Stone"][:, :3, 3]
    np.testing.assert_allclose(places[0], [1.0, 0.0, 0.0], atol=1e-6)
    # one second of flight with 3 m/s; symplectic Euler with steps of 1 ms falls 0.005 m deeper
    np.testing.assert_allclose(places[-1], [4.0, 0.0, -4.905], atol=6e-3)
    assert np.linalg.norm(report.result.qd[0, :3]) == pytest.approx(3.0, abs=1e-3)


def test_a_pre_roll_is_simulated_and_not_recorded(part, scene, pendulum):
    _, joint = pendulum
    joint.condyle.joint.coordinates[0].start = 0.5
    whole = bake(part, scene)
    simulation = scene.condyle.simulation
    simulation.use_scene_range, simulation.frame_start, simulation.frame_end = False, 9, 25
    scene.condyle.start.preroll = 8
    later = bake(part, scene)
    assert list(later.frames) == list(range(9, 26))
    assert np.array_equal(angle(later), angle(whole)[8:])
    assert np.array_equal(later.poses["Bob"], whole.poses["Bob"][8:])


@pytest.mark.small
def test_samples_between_frames_leave_whole_frames_as_they_are(part, scene, pendulum):
    item, joint = pendulum
    joint.condyle.joint.coordinates[0].start = 0.5
    once = bake(part, scene)
    for count in (2, 4, 8):
        scene.condyle.start.samples = str(count)
        often = bake(part, scene)
        assert len(often.frames) == 24 * count + 1
        assert np.array_equal(often.poses["Bob"][::count], once.poses["Bob"])
        assert np.array_equal(often.result.qd[::count], once.result.qd)
    report = part("jobs.bake").bake_now(scene)
    keyed = [curve for curve in curves_of(item.animation_data) if curve.data_path == "location"]
    assert [len(curve.keyframe_points) for curve in keyed] == [24 * 8 + 1] * 3
    scene.frame_set(7, subframe=0.125)
    np.testing.assert_allclose(np.array(item.matrix_world), report.poses["Bob"][6 * 8 + 1], atol=1e-6)
    scene.frame_set(7, subframe=0.0625)  # between keys: the cubic with the right slopes
    middle = 0.5 * (report.poses["Bob"][48] + report.poses["Bob"][49])
    np.testing.assert_allclose(np.array(item.matrix_world), middle, atol=1e-4)


def test_the_motion_is_the_same_at_every_frame_rate(part, scene, pendulum):
    _, joint = pendulum
    joint.condyle.joint.coordinates[0].start = 0.5
    ends = {}
    for fps, base, last in ((24, 1.0, 25), (25, 1.0, 26), (60, 1.0, 61), (30, 1.001, 1 + 30)):
        scene.render.fps, scene.render.fps_base, scene.frame_end = fps, base, last
        report = bake(part, scene)
        ends[fps] = report.result.t[-1], angle(report)[-1], report.result.qd[-1, 0]
    assert ends[24] == ends[25] == ends[60]
    t, q, qd = ends[30]
    assert t == pytest.approx(1.001)
    # one step later, as symplectic Euler makes it; the step is kept in float32, so it is 5e-8 of itself longer
    assert q == pytest.approx(ends[24][1] + 1e-3 * qd, abs=5e-7)


@pytest.mark.small
def test_a_driven_and_damped_motion_becomes_a_loop(part, scene, make, body, authoring, pendulum):
    item, joint = pendulum
    fore = make.box("Fore", (0, 0, -0.7))
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]], (0, 0, -0.5)
    lower = authoring.add_joint(scene, body(item), body(fore), "hinge", frame, name="Lower")
    lower.condyle.joint.coordinates[0].damping = 0.6
    authoring.drive(scene, joint, True)
    key_slider(joint, {1: 0.0, 7: 0.5, 19: -0.5, 25: 0.0})
    joint.condyle.joint.prescribed = True
    scene.frame_set(1)
    start = scene.condyle.start
    open_ended, kept = bake_loop(part, scene)
    jump = abs(open_ended.coordinates["Lower.angle"][-1] - open_ended.coordinates["Lower.angle"][0])
    assert jump > 0.02 and kept.cycles == 0
    start.loop, start.loop_tolerance = True, 0.05
    report, kept = bake_loop(part, scene)
    assert not report.warnings and kept.settled and 1 < kept.cycles < 20
    assert kept.position_jump < 5e-5 and kept.angle_jump < 5e-5
    assert 0.0 < kept.turn_speed_jump < 0.1
    start.loop_cycles, start.loop_blend = 1, 6
    blended, kept = bake_loop(part, scene)
    assert "loop-blended" in codes(blended.warnings)
    assert not kept.settled and kept.position_jump < 1e-9 and kept.turn_speed_jump < 1e-9
    np.testing.assert_array_equal(blended.poses["Fore"][:18], open_ended.poses["Fore"][:18])
    start.loop_blend = 0
    assert bake(part, scene).warnings[-1].code == "loop-open"


def test_a_loop_that_comes_back_with_another_speed_is_told(part, scene, make, authoring):
    """What is thrown up lands where it began, but does not repeat itself."""
    stone = make.box("Stone", (0, 0, 1.0))
    joint = authoring.add_joint(scene, None, part("data.references").Body(stone), "slider", name="Guide")
    joint.condyle.joint.axis = (0, 0, 1)
    joint.condyle.joint.coordinates[0].start_speed = 0.5 * 9.81
    scene.frame_start, scene.frame_end = 1, 25
    start = scene.condyle.start
    start.loop, start.loop_tolerance, start.loop_cycles = True, 20.0, 1
    report, kept = bake_loop(part, scene)
    assert kept.settled and "loop-speed" in codes(report.warnings)
    start.loop_blend = 4  # frames that are led to another speed say nothing of the method's steps
    assert bake(part, scene).warnings == []


def test_what_a_loop_cannot_have_is_told_before_anything_runs(part, scene, pendulum, ph):
    start = scene.condyle.start
    start.loop, start.preroll = True, 3
    with pytest.raises(ph.ModelError, match="Pre-Roll to 0"):
        part("jobs.bake").bake_now(scene)
    start.preroll, start.loop_blend = 0, 24
    with pytest.raises(ph.ModelError, match="the loop has 24"):
        part("jobs.bake").bake_now(scene)


def test_a_joint_of_six_coordinates_starts_in_its_childs_pose(part, scene, make, authoring, ph):
    item = make.box("Stone", (0.2, 0.1, 0.0))
    joint = authoring.add_joint(scene, None, part("data.references").Body(item), "free", name="Joint")
    item.location, item.rotation_euler = (0.5, -0.2, 0.3), (0.4, 0.2, -0.6)
    make.update()
    scene.frame_end, scene.condyle.start.source = 3, "POSE"
    wanted = np.array(item.matrix_world)
    np.testing.assert_allclose(bake(part, scene).poses["Stone"][0], wanted, atol=1e-6)
    assert joint.condyle.joint.coordinates[0].start == 0.0


@pytest.mark.small
@pytest.mark.parametrize("target", ("NEW", "CURRENT", "STRIP"))
def test_what_sliders_show_before_the_playhead_is_kept(part, scene, pendulum, make, body, authoring, target):
    """A bake mutes the sliders at all frames, so its keys say for those before what they said; freed to the bit."""
    item, joint = pendulum
    rig = make.armature("Rig", {"A": ((2, 0, 1), (2, 0, 0.5), None), "B": ((2, 0, 0.5), (2.1, 0, 0), "A")})
    rig.parent = item  # carried by what a slider moves
    for name in "AB":
        authoring.make_body(scene, body(rig, name), mass=1.0, center=(0, 0.2, 0), inertia=(0.02, 0.01, 0.02))
    elbow = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    shoulder = authoring.add_joint(scene, body(item), body(rig, "A"), "hinge", name="Shoulder")
    item.keyframe_insert("location", frame=4)
    for number, each in enumerate((joint, elbow, shoulder)):
        if number < 2:  # one of the bones is not driven
            authoring.drive(scene, each, True)
            key_slider(each, {2: 0.1, 7: 0.5 + number, 20: -0.3})
    output, start = scene.condyle.simulation.output, scene.condyle.start
    output.target, output.every, start.begin, start.source, start.samples = target, 3, "PLAYHEAD", "POSE", "2"

    def seen():
        return over_frames(
            range(1, 11),
            lambda: [item.matrix_world, *(rig.matrix_world @ rig.pose.bones[name].matrix for name in "AB")],
        )

    before = seen()
    state = file_digest()
    report = part("jobs.bake").bake_now(scene)
    assert report.frames[0] == 10
    # the rig's own pose is of float32 in two frames that hang on each other
    np.testing.assert_allclose(seen(), before, atol=5e-6)
    scene.frame_set(10)
    part("jobs.bake").free_bake(scene)
    assert file_digest() == state
    np.testing.assert_array_equal(seen(), before)
