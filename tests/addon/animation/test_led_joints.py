"""Joints that follow their animation in a bake: by keys or sliders, all the time or while a switch is on."""

import numpy as np
import pytest

from ..frames_shown import over_frames
from ..keying import key_slider
from ..said import said


def shift(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def hinged_arm(part, scene, make):
    """An upper arm and a forearm on hinges about y, 25 frames: (upper, fore, their joints)."""
    scene.frame_start, scene.frame_end = 1, 25
    upper, fore = make.box("Upper", (0, 0, 0)), make.box("Fore", (0, 0, -0.45))
    fore.parent = upper
    make.update()
    body, joints = part("data.references").Body, []
    for parent, child, z in ((None, upper, 0.2), (upper, fore, -0.22)):
        frame = shift(0, 0, z)
        frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
        joints.append(
            part("making.bodies_and_joints").add_joint(
                scene, parent and body(parent), body(child), "hinge", frame, name=f"{child.name} Joint"
            )
        )
    return upper, fore, joints


@pytest.fixture
def arm(part, scene, make):
    return hinged_arm(part, scene, make)


@pytest.mark.small
def test_a_joint_follows_its_slider_while_the_other_swings(part, scene, arm):
    _upper, _fore, (shoulder, _elbow) = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 13: 0.8, 25: 0.0})
    shoulder.condyle.joint.prescribed = True
    wanted = over_frames(range(1, 26), lambda: shoulder["coordinate"])
    scene.frame_set(7)
    report = part("jobs.bake").bake_now(scene)
    assert scene.frame_current == 7
    np.testing.assert_allclose(report.coordinates["Upper Joint.angle"], wanted, atol=1e-6)
    assert np.ptp(report.coordinates["Fore Joint.angle"]) > 0.1
    efforts = report.result.efforts[:, report.result.model.coordinate_slice("Upper")]
    assert np.abs(efforts).max() > 0.1
    assert scene.condyle.simulation.statistics.constrained


@pytest.mark.small
def test_a_joint_follows_the_childs_keys_until_its_switch_lets_go(part, scene, arm):
    upper, fore, (_shoulder, elbow) = arm
    fore.rotation_mode = "QUATERNION"
    joint = part("reading.scene").read_joint(scene, elbow)
    frame = np.array(elbow.matrix_world)
    after = part("data.stored_joints").child_in_joint(elbow)
    for number, angle in {1: 0.2, 13: 1.0, 25: 1.0}.items():
        pose = np.linalg.inv(np.array(upper.matrix_world)) @ frame @ joint.transform([angle]) @ after
        fore.matrix_basis = pose.T
        for path in ("location", "rotation_quaternion"):
            fore.keyframe_insert(path, frame=number)
    for number, on in {1: True, 13: False}.items():
        elbow.condyle.joint.prescribed = on
        elbow.keyframe_insert("condyle.joint.prescribed", frame=number)
    report = part("jobs.bake").bake_now(scene)
    angles = report.coordinates["Fore Joint.angle"]
    assert np.isclose(angles[0], 0.2, atol=1e-5) and np.isclose(angles[11], 1.0, atol=0.06)
    assert np.abs(angles[16:] - 1.0).min() > 0.01  # let go, it falls
    # keys between two poses leave the hinge's arc
    assert not report.warnings or report.warnings[0].code == "keys-off-joint"
    efforts = report.result.efforts[:, report.result.model.coordinate_slice("Fore")][:, 0]
    assert np.abs(efforts[1:12]).min() > 0.0 and not efforts[14:].any()
    assert part("jobs.bake").free_bake(scene) > 0
    elbow.animation_data_clear()
    elbow.condyle.joint.prescribed = False
    free = part("jobs.bake").bake_now(scene)
    assert np.abs(free.coordinates["Fore Joint.angle"][:12] - angles[:12]).max() > 0.05


def test_a_whole_turn_keeps_the_axis_that_leads_there(part, ph):
    """At a whole turn single precision leaves a rotation of 1e-7 rad about any axis."""
    axis = np.array([0.3, 0.8, -0.5]) / np.sqrt(0.98)
    poses = ph.lie.so3_exp(np.linspace(0.0, 4.0 * np.pi, 49)[:, None] * axis).astype(np.float32)
    found = ph.lie.continuous_rotation_vectors(ph.lie.so3_log(poses.astype(np.float64)))
    np.testing.assert_allclose(found @ axis, np.linspace(0.0, 4.0 * np.pi, 49), atol=1e-5)
    assert part("curves.rotation_channels").missed_by_vectors(found).max() < 1e-4


@pytest.mark.parametrize("samples", (1, 4))
@pytest.mark.parametrize("method", ("symplectic_euler", "rk4", "RK45"))
@pytest.mark.parametrize("first", (10, 11, 12))
def test_a_frame_at_which_a_switch_turns_on_shows_the_animation(part, scene, arm, method, samples, first):
    """And one at which it lets go shows its last: it showed what the simulation had come to. Frame 10 lies where
    a step of 1 ms ends, 11 and 12 do not: these were between what had come to be and what is held.
    """
    *_, (shoulder, _elbow) = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.3, 25: 0.4})
    for frame, on in {1: False, first: True, 20: False}.items():
        shoulder.condyle.joint.prescribed = on
        shoulder.keyframe_insert("condyle.joint.prescribed", frame=frame)
    scene.frame_set(1)
    scene.condyle.simulation.integrator, scene.condyle.start.samples = method, str(samples)
    report = part("jobs.bake").bake_now(scene)
    angles = report.coordinates["Upper Joint.angle"]
    for frame in (first, 15, 20):
        scene.frame_set(frame)
        # within the last two steps before, of 1 ms, it moves with the key: no farther than 2e-5 rad
        assert angles[(frame - 1) * samples] == pytest.approx(shoulder["coordinate"], abs=2e-5)
    # it hangs at rest up to the last sample before
    assert np.abs(angles[: (first - 1) * samples]).max() < 1e-6


def test_windows_that_begin_earlier_do_not_overlap(part):
    caught = part("animation.motions").caught_early
    found = caught(np.array([[0.0, 1.0], [1.0005, 2.0], [3.0, 4.0]]), 1e-3)
    np.testing.assert_allclose(found, [[-1e-3, 2.0], [2.999, 4.0]])


def test_windows_last_from_the_frame_of_the_switch_to_where_it_is_off(part):
    windows = part("animation.led_joints").windows_of
    times = np.arange(6) / 24.0
    on = np.array([True, True, False, False, True, True])
    found = windows(on, times)
    np.testing.assert_allclose(found.ravel()[:3], [0, 2 / 24, 4 / 24])
    assert found[1, 1] > 1e5  # to the end and beyond, also where a live run goes on


def test_sliders_that_start_anew_after_a_turn_are_unrolled(part):
    values = np.array([[170.0, 1.0], [-170.0, 5.0], [-150.0, -5.0], [175.0, 0.0]])
    found = part("animation.led_joints").unrolled(values, np.array([360.0, 0.0]))
    np.testing.assert_allclose(found, [[170, 1], [190, 5], [210, -5], [175, 0]])


def test_a_surface_that_moves_by_itself_cannot_follow(part, scene, make, authoring, ph):
    body = part("data.references").Body(make.box("Bead"))
    make.update()
    joint = authoring.add_joint(scene, None, body, "spline_surface", name="Joint")
    settings = joint.condyle.joint
    settings.grid, settings.moving = (4, 4, 4), True
    for k in range(64):
        authoring.add_control_frame(scene, joint, shift(0.1 * (k // 16), 0.1 * (k // 4 % 4), 0.1 * (k % 4)))
    settings.prescribed = True
    with pytest.raises(ph.ModelError, match="'Joint' moves by itself in time"):
        part("jobs.bake").bake_now(scene)


def test_a_hinge_that_asks_for_a_fit_stays_one(part, scene, arm):
    *_, (shoulder, _) = arm
    shoulder.condyle.joint.fit.requested = True
    report = part("jobs.bake").bake_now(scene)
    assert shoulder.condyle.joint.type == "hinge" and not report.fits
    assert ("not-fitted", "Upper Joint") in said(report.warnings)


@pytest.mark.parametrize("number", range(14))
def test_every_method_of_the_menu_is_one_of_physics_and_bakes(part, scene, arm, number):
    known = part("blender.physics_access").part("integrators").INTEGRATORS
    names = list(part("data.simulation").INTEGRATORS)
    assert sorted(names) == sorted(known)
    scene.frame_end = 3
    scene.condyle.simulation.integrator = names[number]
    part("jobs.bake").bake_now(scene)
    assert scene.condyle.simulation.statistics.integrator == names[number]


@pytest.mark.small
def test_a_joint_is_blended_between_its_animation_and_the_simulation(part, scene, arm):
    *_, (shoulder, _elbow) = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 13: 0.8, 25: 0.0})
    settings = shoulder.condyle.joint
    scene.frame_set(1)
    angles = {}
    for weight in (0.0, 0.5, 0.9, 1.0):
        settings.follow = weight
        angles[weight] = part("jobs.bake").bake_now(scene).coordinates["Upper Joint.angle"]
        part("jobs.bake").free_bake(scene)
    wanted = angles[1.0]
    np.testing.assert_allclose(wanted[12], 0.8, atol=1e-6)
    away = [np.abs(angles[weight] - wanted).max() for weight in (0.0, 0.5, 0.9)]
    assert away[0] > away[1] > 0.01 > away[2]
    for frame, weight in {1: 1.0, 12: 1.0, 14: 0.0}.items():  # held, then let go
        settings.follow = weight
        settings.id_data.keyframe_insert("condyle.joint.follow", frame=frame)
    scene.frame_set(1)
    freed = part("jobs.bake").bake_now(scene).coordinates["Upper Joint.angle"]
    np.testing.assert_allclose(freed[:11], wanted[:11], atol=1e-6)
    assert abs(freed[-1] - wanted[-1]) > 0.01


@pytest.mark.small
def test_a_controller_draws_a_joint_to_its_slider(part, scene, arm, ph):
    *_, (shoulder, _elbow) = arm
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {1: 0.0, 13: 0.8, 25: 0.0})
    scene.frame_set(1)
    settings = shoulder.condyle.joint.controller
    settings.enabled = True
    away = {}
    for stiffness in (10.0, 1000.0):
        settings.stiffness, settings.damping = stiffness, 0.2 * stiffness**0.5
        angles = part("jobs.bake").bake_now(scene).coordinates["Upper Joint.angle"]
        part("jobs.bake").free_bake(scene)
        away[stiffness] = abs(angles[12] - 0.8)
    assert away[1000.0] < 0.03 < away[10.0]
    settings.limit = 1e-6  # as good as none
    angles = part("jobs.bake").bake_now(scene).coordinates["Upper Joint.angle"]
    assert np.abs(angles).max() < 1e-3  # it hangs at rest


@pytest.mark.small
@pytest.mark.parametrize("rotation_first", [False, True])
def test_a_free_joint_that_is_prescribed_carries_what_hangs_on_it(part, scene, make, rotation_first):
    """A keyed bone that turns far: a connected bone swings on it and stays at its tip; by itself, too."""
    scene.frame_start, scene.frame_end = 1, 25
    rig = make.armature(
        "Rig", {"A": ((0, 0, 1), (0, 0, 0.6), None), "B": ((0, 0, 0.6), (0, 0, 0), "A")}, True
    )
    root, body = rig.pose.bones["A"], part("data.references").Body
    root.rotation_mode = "XYZ"
    for frame, turn in ((1, 0.3), (25, 3.6)):
        root.location, root.rotation_euler = (0.02 * frame, 0.0, 0.01 * frame), (0.2, turn, 0.1)
        root.keyframe_insert("location", frame=frame)
        root.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(1)
    make.update()
    part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge")
    by_itself = part("jobs.bake").bake_now(scene).poses["Rig/B"]
    part("jobs.bake").free_bake(scene)
    free = part("making.bodies_and_joints").add_joint(scene, None, body(rig, "A"), "free")
    free.condyle.joint.rotation_first, free.condyle.joint.prescribed = rotation_first, True
    keyed = over_frames(range(1, 26), lambda: body(rig, "A").matrix)
    report = part("jobs.bake").bake_now(scene)
    np.testing.assert_allclose(report.poses["Rig/A"], keyed, atol=1e-5)  # single precision in Blender
    # what is followed by itself has a joint of this kind; B's swing enlarges round-off
    if not rotation_first:
        np.testing.assert_allclose(report.poses["Rig/B"], by_itself, atol=1e-4)
    for frame in range(1, 26):
        scene.frame_set(frame)
        assert (rig.pose.bones["B"].head - root.tail).length < 1e-5


@pytest.mark.small
@pytest.mark.parametrize("kind", ["spherical", "euler", "free"])
def test_any_rotation_is_followed_without_leaps(part, scene, make, kind):
    """Past half a turn, back again and through its rest; more than a whole turn while it is prescribed all along."""
    scene.frame_start, scene.frame_end = 1, 25
    ball = make.box("Ball")
    for frame, turn in ((1, 0.0), (12, 3.5), (25, -2.0)):
        ball.rotation_euler = (0.0, turn, 0.0)
        ball.keyframe_insert("rotation_euler", frame=frame)
    scene.frame_set(1)
    make.update()
    joint = part("making.bodies_and_joints").add_joint(scene, None, part("data.references").Body(ball), kind)
    joint.condyle.joint.prescribed = True
    keyed = over_frames(range(1, 26), lambda: ball.matrix_world)
    report = part("jobs.bake").bake_now(scene)
    # from key to key a cubic between samples, single precision in Blender
    np.testing.assert_allclose(report.poses["Ball"], keyed, atol=1e-5)
    turn = report.result.q[:, -2]
    assert turn.max() == pytest.approx(3.5, abs=1e-4) and np.abs(np.diff(turn)).max() < 0.8
    part("jobs.bake").free_bake(scene)
    ball.rotation_euler = (0.0, 8.0, 0.0)
    ball.keyframe_insert("rotation_euler", frame=25)
    scene.frame_set(1)
    turn = part("jobs.bake").bake_now(scene).result.q[:, -2]
    assert turn[-1] == pytest.approx(8.0, abs=1e-4) and np.abs(np.diff(turn)).max() < 0.8
    part("jobs.bake").free_bake(scene)
    error = part("blender.physics_access").physics().ModelError
    ball.rotation_euler = (0.1, 8.0, 0.0)  # passes a whole turn near it, about an axis that tilts
    ball.keyframe_insert("rotation_euler", frame=25)
    with pytest.raises(error, match="about another axis near a whole turn"):
        part("jobs.bake").bake_now(scene)
    joint.condyle.joint.prescribed = False
    joint.condyle.joint.follow = 0.5
    with pytest.raises(error, match=r"by 3\d\d.* at most, unless it is prescribed in all"):
        part("jobs.bake").bake_now(scene)


def test_in_a_loop_a_motion_goes_on_through_the_seam(part, scene, arm):
    """A sine of eight frames: its spline's own error is of fourth order."""
    _upper, _fore, (shoulder, elbow) = arm
    elbow.condyle.joint.coordinates[0].damping = 0.6
    part("making.bodies_and_joints").drive(scene, shoulder, True)
    key_slider(shoulder, {k + 1: 0.6 * np.sin(2.0 * np.pi * k / 8 + 0.7) for k in range(9)})
    shoulder.condyle.joint.prescribed = True
    scene.frame_set(1)
    scene.frame_end, scene.condyle.start.loop = 9, True
    report = part("jobs.bake").bake_now(scene)
    speeds = report.result.qd[[0, -1], 0]
    exact = 0.6 * (2.0 * np.pi * 24.0 / 8.0) * np.cos(0.7)
    assert speeds[0] == pytest.approx(speeds[1], rel=1e-6)
    assert speeds[0] == pytest.approx(exact, rel=5e-3)


def test_what_repeats_in_a_loop(part, ph):
    repeats, x = part("animation.motions").repeats, np.linspace(0.0, 1.0, 25)
    hinge, ball = ph.joints.Hinge((0.0, 0.0, 1.0)), ph.joints.Euler()
    wave = 0.3 * np.sin(2.0 * np.pi * x + 0.7)
    assert repeats(hinge, wave[:, None], x, 1e-4) and repeats(hinge, 0.0 * wave[:, None], x, 1e-4)
    assert repeats(hinge, (wave + 2.0 * np.pi * x)[:, None], x, 1e-4)
    assert not repeats(hinge, (wave + 0.01 * x)[:, None], x, 1e-4)
    assert not repeats(hinge, np.abs(np.sin(np.pi * x))[:, None], x, 1e-4)  # it bounces at the seam
    eased = (x * (1.0 - x)) ** 2 * (0.5 - x)  # it comes to rest there and sets off as suddenly
    assert not repeats(hinge, eased[:, None], x, 1e-4)
    turned = np.column_stack([2.0 * np.pi * x, 0.0 * x, 0.0 * x])
    assert repeats(ball, turned, x, 1e-4) and repeats(ball, np.column_stack([wave, wave, 0.0 * x]), x, 1e-4)
    assert not repeats(ball, turned + np.column_stack([0.0 * x, wave - wave[0], 0.0 * x]), x, 1e-4)
