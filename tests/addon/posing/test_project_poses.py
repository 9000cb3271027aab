"""Coordinates from poses: the sliders set by the child's pose, or keyed as the child is."""

import bpy
import numpy as np
import pytest

from ..frames_shown import over_frames


@pytest.fixture
def knee(part, scene, make, body):
    """A fitted, driven knee, its joint active."""
    thigh, shank = make.keyed_knee()
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    bpy.context.view_layer.objects.active = joint
    assert bpy.ops.condyle.fit() == {"FINISHED"}
    return scene, joint, shank


@pytest.fixture
def wheel(part, scene, make, body, authoring):
    """A spoke keyed on its way two and a half times around, on a closed curve of six frames about z; its joint."""
    spoke = make.box("Spoke", (1, 0, 0))
    joint = authoring.add_joint(scene, None, body(spoke), matrix=np.eye(4).tolist(), name="Wheel")
    frames = [_turned(k * np.pi / 3.0) for k in range(6)]
    authoring.set_control_frames(scene, joint, np.array(frames))
    joint.condyle.joint.periodic = True
    spoke.rotation_mode = "QUATERNION"
    curve = part("reading.scene").read_joint(scene, joint)
    for key in range(11):
        pose = curve.transform(np.array([0.25 * key * (curve.domain[1] - curve.domain[0])]))
        spoke.location = pose[:3, 3]
        spoke.rotation_quaternion = (
            part("blender.physics_access").physics().lie.quaternion_from_matrix(pose[:3, :3])
        )
        for path in ("location", "rotation_quaternion"):
            spoke.keyframe_insert(path, frame=1 + 10 * key)
    bpy.context.view_layer.objects.active = joint
    return scene, joint, spoke


def _turned(angle):
    pose = np.eye(4)
    pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    pose[:2, 3] = pose[:2, 0]
    return pose


def shown_and_keyed(scene, joint, child, frames):
    """World matrices (n, 4, 4) at frames, driven by the slider, and by the child's own keys."""
    found = []
    for mute in (False, True):
        for constraint in child.constraints:
            constraint.mute = mute
        matrices = over_frames(frames, lambda: child.matrix_world)
        found.append(np.array(matrices))
    return found


@pytest.mark.small
def test_the_slider_goes_where_the_child_is_keyed(knee, part):
    scene, joint, shank = knee
    scene.frame_set(29)
    q = joint.condyle.joint.fit.residuals[7].q[0]
    assert joint["coordinate"] == 0.0
    assert bpy.ops.condyle.set_from_pose() == {"FINISHED"}
    assert joint["coordinate"] == pytest.approx(q, abs=1e-4)
    shown, keyed = shown_and_keyed(scene, joint, shank, [29])
    assert np.allclose(shown, keyed, atol=1e-4)
    assert "from the joint" in part("blender.session").message


@pytest.mark.small
def test_without_a_slider_the_simulation_starts_where_the_child_is(knee, part):
    scene, joint, _ = knee
    part("making.bodies_and_joints").drive(scene, joint, False)
    scene.frame_set(29)
    assert bpy.ops.condyle.set_from_pose() == {"FINISHED"}
    row = joint.condyle.joint.coordinates[0]
    assert row.start == pytest.approx(joint.condyle.joint.fit.residuals[7].q[0], abs=1e-4)


def test_limits_hold_the_coordinate(knee):
    scene, joint, _ = knee
    row = joint.condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", 0.0, 0.5
    scene.frame_set(29)
    assert bpy.ops.condyle.set_from_pose() == {"FINISHED"}
    assert joint["coordinate"] == pytest.approx(0.5, abs=1e-6)


def test_keys_of_the_child_become_keys_of_the_slider(knee, part):
    scene, joint, shank = knee
    for _ in range(2):  # again: in place of the keys that are there
        assert bpy.ops.condyle.key_sliders() == {"FINISHED"}
        curve = next(
            each for each in part("blender.compat").curves_in_use(joint) if "coordinate" in each.data_path
        )
        assert len(curve.keyframe_points) == 13
    shown, keyed = shown_and_keyed(scene, joint, shank, range(1, 50, 4))
    assert np.allclose(shown, keyed, atol=2e-4)


def test_on_a_closed_joint_turns_go_on_over_the_seam(wheel):
    scene, joint, spoke = wheel
    assert bpy.ops.condyle.key_sliders() == {"FINISHED"}
    shown, keyed = shown_and_keyed(scene, joint, spoke, range(1, 102, 10))
    assert np.allclose(shown, keyed, atol=2e-4)
    along = shown_and_keyed(scene, joint, spoke, range(1, 102))[0]
    angles = np.unwrap(np.arctan2(along[:, 1, 3], along[:, 0, 3]))
    assert (np.diff(angles) > -1e-3).all()  # never back around
    assert angles[-1] - angles[0] == pytest.approx(5.0 * np.pi, abs=1e-2)


@pytest.mark.small
def test_a_joint_with_many_coordinates_says_why_not(part, scene, make, authoring):
    item = make.box("Ball")
    joint = authoring.add_joint(scene, None, part("data.references").Body(item), "free")
    bpy.context.view_layer.objects.active = joint
    assert not bpy.ops.condyle.set_from_pose.poll()


def keyed_wheel(part, make, kind, keys, axis):
    """A box on a joint to the world, turned about an axis of its own by keys {frame: angle}."""
    item = make.box("Wheel")
    joint = part("making.bodies_and_joints").add_joint(
        bpy.context.scene, None, part("data.references").Body(item), kind
    )
    item.rotation_mode = "XYZ"
    for frame, angle in keys.items():
        item.rotation_euler[axis] = angle
        item.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.objects.active = joint
    return joint, item


def test_a_ball_that_turns_over_is_where_it_is_keyed(part, scene, make):
    """Beyond half a turn its sliders go on."""
    _, item = keyed_wheel(part, make, "spherical", {1: 0.0, 11: 2.0, 21: 4.0, 31: 6.0}, 0)
    given = {}
    for frame in (1, 11, 21, 31):
        scene.frame_set(frame)
        given[frame] = np.array(item.matrix_world)
    assert bpy.ops.condyle.key_sliders() == {"FINISHED"}
    for frame, pose in given.items():
        scene.frame_set(frame)
        np.testing.assert_allclose(np.array(item.matrix_world), pose, atol=1e-5)


def far(one, other):
    """The largest angle between rotations (n, 3, 3) of two motions, in degrees."""
    cosines = (np.einsum("nij,nij->n", one, other) - 1.0) / 2.0
    return np.degrees(np.arccos(np.clip(cosines, -1.0, 1.0))).max()


@pytest.mark.small
def test_between_keys_beyond_half_a_turn_a_ball_goes_on_and_a_bake_follows(part, scene, make):
    """Its sliders ended at half a turn: it swung to the other way round between two keys, up to 73 degrees off, and a
    bake was 163 degrees off at frames, untold.
    """
    joint, item = keyed_wheel(part, make, "spherical", {}, 0)
    item.rotation_mode, scene.frame_end = "QUATERNION", 21
    for frame in range(1, 22):
        along = (frame - 1) / 20.0
        axis = np.array([np.cos(along), np.sin(along), 0.3])
        half = 0.8 * np.pi * along
        item.rotation_quaternion = (np.cos(half), *(np.sin(half) * axis / np.linalg.norm(axis)))
        item.keyframe_insert("rotation_quaternion", frame=frame)

    def motion(frames):
        return over_frames(frames, lambda: np.array(item.matrix_world)[:3, :3])

    quarters, frames = np.arange(1.0, 21.1, 0.25), range(1, 22)
    between, wanted = motion(quarters), motion(frames)
    part("making.bodies_and_joints").drive(scene, joint, True)
    for letter in "xyz":  # as earlier versions left them
        joint.id_properties_ui(f"coordinate r_{letter}").update(min=-np.pi, max=np.pi)
    assert bpy.ops.condyle.key_sliders() == {"FINISHED"}
    assert np.linalg.norm([joint[f"coordinate r_{letter}"] for letter in "xyz"]) > np.pi
    # Blender turns by quaternions between its keys, and by rotation vectors between those of sliders: 0.4 degrees
    assert far(motion(quarters), between) < 1.0
    joint.condyle.joint.prescribed = True
    part("jobs.bake").bake_now(scene)
    assert far(motion(frames), wanted) < 0.5  # a motion is a spline through the frames, smooth at both ends


@pytest.mark.parametrize(
    ("kind", "axis", "keys"),
    [
        ("hinge", 2, {1: 0.0, 41: 4.0 * np.pi}),
        ("euler", 1, {1: 0.0, 11: 0.9, 21: 1.75}),
        ("euler", 1, {1: 0.0, 11: 0.9, 41: -2.5}),
    ],
)
def test_what_lies_between_the_keys_tells_which_way_they_go(part, scene, make, kind, axis, keys):
    """Whole turns between two keys, and angles through gimbal lock."""
    joint, item = keyed_wheel(part, make, kind, keys, axis)
    frames = range(1, max(keys) + 1)
    wanted = over_frames(frames, lambda: item.matrix_world)
    assert bpy.ops.condyle.key_sliders() == {"FINISHED"}
    curves = [each for each in part("blender.compat").curves_in_use(joint) if "coordinate" in each.data_path]
    assert all(len(curve.keyframe_points) == len(keys) for curve in curves)
    for frame, pose in zip(frames, wanted):
        scene.frame_set(frame)
        np.testing.assert_allclose(np.array(item.matrix_world), pose, atol=2e-3)
