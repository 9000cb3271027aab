"""Joints that follow keyed sliders do so between frames as the curves say: in whatever rate the scene plays."""

import bpy
import numpy as np
import pytest

from ..keying import make_keys

SECONDS = 2


@pytest.fixture
def bake(part, scene, make):
    """Bake an arm on a hinge that follows its slider, keyed at times [s], with one that hangs from it; readings of both
    (2 * 12 + 1,), at every twelfth of a second, and the motion that led the first.
    """

    joint, slider = make.driven_arm(part, scene)

    def baked(fps, keys, interpolation="BEZIER", led="PRESCRIBED"):
        scene.render.fps, scene.frame_start, scene.frame_end = fps, 0, SECONDS * fps
        joint.animation_data_clear()
        settings = joint.condyle.joint
        settings.prescribed, settings.controller.enabled = led == "PRESCRIBED", led == "CONTROLLER"
        settings.follow = 0.7 if led == "FOLLOW" else 0.0
        for time, value in keys:
            if led == "TORQUE":
                settings.coordinates[0].torque = 0.2 * value
                joint.keyframe_insert("condyle.joint.coordinates[0].torque", frame=time * fps)
            else:
                joint[slider] = value
                joint.keyframe_insert(f'["{slider}"]', frame=time * fps)
        for curve in part("blender.compat").curves_in_use(joint):
            for point in curve.keyframe_points:
                point.interpolation = interpolation
        scene.frame_set(0)
        report, motions = make.bake_and_motions(part, scene)
        part("jobs.bake").free_bake(scene)
        return report.result.q[:: fps // 12], motions.get("Up")

    return baked


KEYS = ((0.0, 0.0), (0.5, 1.0), (1.0, -0.6), (1.5, 0.4), (2.0, 0.0))


@pytest.mark.parametrize("led", ["PRESCRIBED", "FOLLOW", "CONTROLLER", "TORQUE"])
def test_a_motion_is_the_same_at_every_frame_rate(bake, led):
    """A prescribed joint with 24 frames a second was 0.97 mrad off, with 12 of them 15; torques were worse."""
    fine, _ = bake(120, KEYS, led=led)
    assert np.ptp(fine, axis=0).min() > 0.1
    for fps in (12, 24, 60):
        # curves are in single precision by frames: places of keys, and with them values, are rounded otherwise, and
        # accelerations by looks that are a 240th of a second apart
        assert np.abs(bake(fps, KEYS, led=led)[0] - fine).max() < 2e-5


def test_what_moves_within_a_frame_is_seen_there(bake):
    """With two looks in it what hung on it was 2.8 mrad off, more than without any."""
    fps = 60
    keys = ((0.0, 0.0), (0.5, 0.0), (0.5 + 1.0 / fps, 0.1), (1.5, 0.1), (2.0, 0.0))
    soon = slice(0, 10)  # it swings on for long
    off = np.abs(bake(fps, keys)[0][soon] - bake(10 * fps, keys)[0][soon]).max()
    assert off < 1.5e-3  # from rest to rest in four looks


def test_what_has_a_key_at_every_frame_was_sampled_and_goes_smoothly(bake):
    """Blender's own curve has a corner in its acceleration at each of them."""
    keys = [(frame / 24, 0.5 * np.sin(frame / 6)) for frame in range(49)]
    _, motion = bake(24, keys)
    assert len(motion.times) == 49
    assert len(bake(24, keys[::4])[1].times) == 10 * 48 + 1


def test_what_is_stepped_has_no_looks_in_its_steps(bake):
    """A leap is over within the frame before, as it is told; where a slider stays there is nothing to see."""
    _, motion = bake(24, KEYS, "CONSTANT")
    leaps = np.flatnonzero(np.abs(np.diff(motion.values[:, 0])) > 0.1)
    assert len(leaps) == 4
    assert np.allclose(np.diff(motion.times)[leaps], 1 / 24)


def test_a_slider_with_limits_is_seen_as_it_is_shown(part, bake):
    """What Blender shows is not what its curve says: it is looked at where it moves, at quarters of frames."""
    shoulder = bpy.data.objects["Shoulder"]
    (slider,) = part("data.joints").slider_names(shoulder.condyle.joint)
    shoulder.id_properties_ui(slider).update(max=0.5)
    _, motion = bake(24, KEYS)
    assert motion.values.max() < 0.51 and 49 < len(motion.times) < 4 * 48 + 1
    added = np.setdiff1d(np.round(96 * motion.times, 6), 4 * np.arange(49))
    assert (added % 1.0 == 0.0).all()


def test_a_loop_is_told_from_a_bounce_where_some_frames_have_looks_between_them_and_others_have_not(part, ph):
    """Two keys side by side are not looked at between: uneven steps were taken for a corner worse than the seam's."""
    hinge = ph.joints.Hinge((0.0, 0.0, 1.0))
    times = np.unique(np.concatenate([np.arange(26), [30], np.arange(35, 121)])) / 120.0
    wave, bounce = np.sin(2.0 * np.pi * times + 0.7), np.abs(np.sin(np.pi * times))
    repeats = part("animation.motions").repeats
    assert repeats(hinge, wave[:, None], times, 1e-4)
    assert not repeats(hinge, bounce[:, None], times, 1e-4)


@pytest.fixture
def swing(part, scene, make, body, authoring):
    """Bake a swing on a hinge, with an arm on it that hangs from it: the keys of the swing itself move it, or nothing;
    readings of both at every twelfth of a second.
    """

    def at(height):
        return np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, height], [0, 0, 0, 1]])

    stand = make.empty("Stand")
    stand.location, stand.rotation_euler, stand.scale = (0.4, -0.3, 0.1), (0.2, 0.1, 0.5), (1.5, 1.5, 1.5)
    upper, lower = make.box("Up", (0, 0, 0.7)), make.box("Low", (0, 0, 0.3))
    matrix = upper.matrix_world.copy()
    upper.parent = stand
    upper.matrix_world = matrix
    upper.scale = [1.0 / 1.5] * 3
    make.update()
    joint = authoring.add_joint(scene, None, body(upper), "hinge", at(0.9), name="Shoulder")
    authoring.add_joint(scene, body(upper), body(lower), "hinge", at(0.5), name="Elbow")
    for each in (upper, lower):
        each.condyle.body.density = 100.0
    rest = np.array(upper.matrix_world)

    def baked(fps, keys, mode, weights=(), switches=()):
        scene.render.fps, scene.frame_start, scene.frame_end = fps, 0, SECONDS * fps
        for item in (upper, joint):
            item.animation_data_clear()
        upper.rotation_mode = mode
        make.update()
        turn = part("curves.rotation_channels").rotation_path(mode)
        for time, angle in keys:
            spin = np.eye(4)
            spin[:3, :3] = part("blender.physics_access").physics().lie.so3_exp([0.0, angle, 0.0])
            pivot = np.array([0.0, 0.0, 0.9])
            spin[:3, 3] = pivot - spin[:3, :3] @ pivot
            upper.matrix_world = [list(row) for row in spin @ rest]
            upper.scale = [1.0 / 1.5] * 3
            for path in ("location", turn):
                upper.keyframe_insert(path, frame=time * fps)
        for time, weight in weights:
            joint.condyle.joint.follow = weight
            joint.keyframe_insert("condyle.joint.follow", frame=time * fps)
        for time, on in switches:
            joint.condyle.joint.prescribed = on
            joint.keyframe_insert("condyle.joint.prescribed", frame=time * fps)
        joint.condyle.joint.prescribed = not weights and not switches
        scene.frame_set(0)
        report = part("jobs.bake").bake_now(scene)
        part("jobs.bake").free_bake(scene)
        return report.result.q[:: fps // 12]

    return baked


@pytest.mark.parametrize("mode", ["XYZ", "QUATERNION", "AXIS_ANGLE"])
def test_a_child_with_keys_of_its_own_leads_its_joint_alike_at_every_frame_rate(swing, mode):
    """With 12 frames a second it was 11 to 75 mrad off, with 24 1.2 to 13. Its parent is turned and of another size."""
    fine = swing(120, KEYS, mode)
    assert np.ptp(fine, axis=0).min() > 0.1
    for fps in (12, 24, 60):
        # keys come in single precision, by frames; of quaternions four numbers take part
        assert np.abs(swing(fps, KEYS, mode) - fine).max() < 5e-5


def test_a_weight_is_the_same_at_every_frame_rate(swing):
    """A fall out of an animation: it is let go of at the same time, and drawn as strongly. With 12 frames a second it
    was 53 mrad off, with 24 9.
    """
    for weights, keys in (
        (((0.0, 1.0), (0.5, 1.0), (1.5, 0.2), (2.0, 1.0)), KEYS),
        (((0.0, 1.0), (0.5, 1.0), (0.7, 0.0)), KEYS[:1]),  # nothing but the weight moves
    ):
        fine = swing(120, keys, "XYZ", weights)
        for fps in (12, 24, 60):
            # keys come in single precision, by frames
            assert np.abs(swing(fps, keys, "XYZ", weights) - fine).max() < 1e-5


def test_a_switch_is_the_same_at_every_frame_rate(swing):
    """Its keys lie between frames where there are few of them: with 12 a second it was 9.5 rad off, with 24 0.07."""
    switches = ((0.0, True), (13 / 24, False), (27 / 24, True), (37 / 24, False))
    fine = swing(120, KEYS, "XYZ", switches=switches)
    for fps in (12, 24, 60):
        # keys come in single precision, by frames
        assert np.abs(swing(fps, KEYS, "XYZ", switches=switches) - fine).max() < 5e-5


@pytest.mark.parametrize(("path", "values"), [("follow", (1.0, 0.5)), ("prescribed", (True, False))])
def test_a_joint_is_let_go_of_at_the_key_of_what_holds_it(part, make, path, values):
    """Be it between frames: it is searched for between the looks, and lies at none of them."""
    item, weights = make.empty("Joint"), part("animation.follow_weights")
    for frame, value in ((0.0, values[0]), (3.3, values[1])):
        setattr(item.condyle.joint, path, value)
        item.keyframe_insert(f"condyle.joint.{path}", frame=frame)
    make_keys(item, "CONSTANT")
    on = np.array([1.0] * 4 + [0.0] * 2)
    weight = 0.5 + 0.5 * on if path == "follow" else 0.0 * on
    seen = weights.Strength(np.arange(6.0), weight, on > (1.0 if path == "follow" else 0.0))
    found = weights.between_frames(part("reading.looks")._strength_curves(item), seen, np.arange(26) / 5.0)
    assert found.held_at(np.array([3.2999, 3.3001])).tolist() == [True, False]
    assert found.weights_at(np.array([3.2, 3.4])).tolist() == ([1.0, 0.5] if path == "follow" else [0.0, 0.0])
    other = weights.Strength(np.arange(6.0), 0.3 * on, on > 1.0)  # something else has a say
    assert (
        weights.between_frames(part("reading.looks")._strength_curves(item), other, np.arange(26) / 5.0)
        is other
    )


@pytest.mark.parametrize("above", ["still", "keyed", "twice as large"])
def test_a_keyed_bone_leads_its_joint_alike_at_every_frame_rate(part, make, body, authoring, above):
    """It moves as its own keys say in what it hangs on, whatever that does."""

    def baked(fps):
        bpy.ops.wm.read_homefile(use_empty=True)
        scene = bpy.context.scene
        scene.render.fps, scene.frame_start, scene.frame_end = fps, 0, SECONDS * fps
        bones = {"A": ((0, 0, 1), (0, 0, 0.6), None), "B": ((0, 0, 0.6), (0, 0, 0.3), "A")}
        rig = make.armature("Rig", bones | {"C": ((0, 0, 0.3), (0, 0.02, 0), "B")})
        rig.scale = [2.0 if above == "twice as large" else 1.0] * 3
        make.update()
        for bone in "ABC":
            authoring.make_body(
                scene, body(rig, bone), mass=1.0, center=(0, 0.15, 0), inertia=(0.02, 0.01, 0.02)
            )
        joints = [
            authoring.add_joint(scene, parent and body(rig, parent), body(rig, child), kind)
            for parent, child, kind in ((None, "A", "free"), ("A", "B", "spherical"), ("B", "C", "hinge"))
        ]
        for joint in joints[:2]:
            joint.condyle.joint.prescribed = True
        for bone, size in (("A", 0.5 if above == "keyed" else 0.0), ("B", 1.0)):
            owner = rig.pose.bones[bone]
            owner.rotation_mode = "ZXY"
            for time, value in KEYS:
                owner.rotation_euler = (size * value, 0.3 * size * value, 0.0)
                owner.keyframe_insert("rotation_euler", frame=time * fps)
        scene.frame_set(0)
        poses = part("jobs.bake").bake_now(scene).poses
        return np.array([poses[f"Rig/{bone}"][:: fps // 12] for bone in "ABC"])

    fine = baked(120)
    assert np.ptp(fine[2], axis=0).max() > 0.2
    for fps in (12, 24):
        assert np.abs(baked(fps) - fine).max() < 5e-6  # keys come in single precision, by frames
