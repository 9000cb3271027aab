"""Which keys a fit reads, and motions that come back to where they began."""

from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest

from tests.addon.walking import walker

from ..selecting import select


def curves_of(part, item):
    return list(part("blender.compat").curves_in_use(item))


def choose_keys(part, item, frames, paths=("location", "rotation_quaternion")):
    """Select the keys of some channels at some frames and no other."""
    for curve in curves_of(part, item):
        for key in curve.keyframe_points:
            key.select_control_point = curve.data_path.endswith(paths) and key.co.x in frames


def frames_of(joint):
    return [row.frame for row in joint.condyle.joint.fit.residuals]


@pytest.fixture
def knee(part, scene, make, body):
    """A keyed knee with a joint, active: keys at 1, 5 ... 49."""
    thigh, shank = make.keyed_knee()
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    select(joint)
    return joint, shank


@pytest.mark.small
def test_selected_keys_of_an_object(part, knee):
    joint, shank = knee
    choose_keys(part, shank, range(5, 30), ("location",))
    assert bpy.ops.condyle.fit(keys="SELECTED", num_frames=5) == {"FINISHED"}
    assert frames_of(joint) == [5, 9, 13, 17, 21, 25, 29]
    assert joint.condyle.joint.fit.keys == "SELECTED" and bpy.ops.condyle.fit() == {"FINISHED"}
    assert len(frames_of(joint)) == 7  # what the joint was asked for stays
    choose_keys(part, shank, (9,))
    with pytest.raises(RuntimeError, match="Shank has only one keyframe selected"):
        bpy.ops.condyle.fit()
    assert len(frames_of(joint)) == 7
    assert bpy.ops.condyle.fit(keys="ALL") == {"FINISHED"} and len(frames_of(joint)) == 13


@pytest.mark.small
def test_keys_in_the_preview_range(scene, knee):
    joint, _ = knee
    with pytest.raises(RuntimeError, match="there is no preview range"):
        bpy.ops.condyle.fit(keys="PREVIEW")
    scene.use_preview_range = True
    scene.frame_preview_start, scene.frame_preview_end = 10, 41
    assert bpy.ops.condyle.fit(keys="PREVIEW", num_frames=6) == {"FINISHED"}
    assert frames_of(joint) == [13, 17, 21, 25, 29, 33, 37, 41]
    scene.frame_preview_start = scene.frame_preview_end = 2
    with pytest.raises(RuntimeError, match="Shank has no keyframes from frame 2 to 2"):
        bpy.ops.condyle.fit(keys="PREVIEW")


@pytest.mark.small
def test_selected_keys_of_a_bone(part, scene, make, body):
    rig = make.armature("Rig")
    for name, first in (("A", 1), ("B", 2)):
        bone = rig.pose.bones[name]
        for number in range(9):
            bone.rotation_quaternion = (1.0, 0.1 * number, 0.0, 0.02 * number**2)
            bone.keyframe_insert("rotation_quaternion", frame=first + 3 * number)
    joint = part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), name="Elbow")
    select(joint)
    choose_keys(part, rig, range(1, 21))
    assert bpy.ops.condyle.fit(keys="SELECTED", num_frames=5) == {"FINISHED"}
    assert frames_of(joint) == [2, 5, 8, 11, 14, 17, 20]  # those of the parent do not count


@pytest.mark.small
@pytest.mark.parametrize("last", ["Shank", "Thigh"])
def test_without_a_joint_the_keyed_one_moves_whichever_is_selected_last(part, scene, make, last):
    make.keyed_knee()
    for name in sorted(("Thigh", "Shank"), key=last.__eq__):
        bpy.data.objects[name].select_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects[last]
    for _ in range(2):  # the second press fits the same joint
        assert bpy.ops.condyle.fit(num_frames=5) == {"FINISHED"}
        (joint,) = part("data.references").joints_of(scene)
        assert [joint.condyle.joint.child.object.name, joint.condyle.joint.parent.object.name] == [
            "Shank",
            "Thigh",
        ]
        assert bpy.context.active_object.name == "Shank"
    for name in ("Shank", "Thigh"):  # as does one with both selected again
        bpy.data.objects[name].select_set(True)
        bpy.context.view_layer.objects.active = bpy.data.objects[name]
    assert bpy.ops.condyle.fit(num_frames=5) == {"FINISHED"} and part("data.references").joints_of(scene) == [
        joint
    ]


def ring(make, angles, wobble=0.1):
    """Poses on a wavy ring."""
    poses = []
    for angle in angles:
        pose = make.on_ball(0.3 * np.sin(angle), 0.2 * np.cos(angle))
        pose[:3, 3] += np.cos(angle), np.sin(angle), wobble * np.sin(2.0 * angle)
        poses.append(pose)
    return np.array(poses)


TURN = 2.0 * np.pi


@pytest.mark.small
@pytest.mark.parametrize(
    ("angles", "kind", "count"),
    [
        (np.linspace(0.0, TURN, 13), "CLOSED", 12),  # the first pose keyed again
        (np.linspace(0.0, TURN, 13)[:-1], "CLOSED", 12),  # not keyed again
        (np.linspace(0.0, 3.0 * TURN, 37), "CLOSED", 12),  # three cycles
        (np.linspace(0.0, 2.4 * TURN, 49), "CLOSED", 20),  # and a part of one
        (np.linspace(0.0, 0.8 * TURN, 13), "NONE", 13),
        (np.abs(np.linspace(-2.0, 2.0, 17)), "TO_AND_FRO", 16),
        (1.0 - np.cos(np.linspace(0.0, 2.0 * TURN, 41)), "TO_AND_FRO", 20),
        (np.sin(np.linspace(0.0, 2.0 * TURN, 25)), "TO_AND_FRO", 12),  # it begins in the middle
        (np.linspace(0.0, 2.0, 400), "NONE", 400),  # keys in every frame: neighbours are near to each other
        (np.linspace(0.0, 3.0 * TURN, 901), "CLOSED", 300),
        (np.linspace(0.0, TURN, 4), "NONE", 4),  # too few to tell
        (np.zeros(9), "NONE", 9),
        (1.0 - np.abs(np.linspace(-1.0, 0.8, 10)), "TO_AND_FRO", 10),  # not all the way back
        (np.array([0.0, 0.5, 1.0, 1.5, 1.4]), "NONE", 5),  # a little too far
        (np.radians([20, 0, 60, 30, 100, 70, 45, 85]), "NONE", 8),  # to and fro on the way, too
    ],
)
def test_cycles_are_found(part, make, angles, kind, count):
    found = part("animation.closed_keys").find(ring(make, angles))
    assert (found.kind, found.count) == (kind, count)


@pytest.fixture
def bead(scene, make, body, authoring):
    """A box keyed round a wavy ring, three times, held to the world."""
    box = make.box("Bead")
    box.rotation_mode = "QUATERNION"
    from mathutils import Matrix

    for number, pose in enumerate(ring(make, np.linspace(0.0, 3.0 * TURN, 37))):
        box.matrix_basis = Matrix(pose.tolist())
        for path in ("location", "rotation_quaternion"):
            box.keyframe_insert(path, frame=1 + number)
    scene.frame_set(1)
    joint = authoring.add_joint(scene, None, body(box), matrix=np.eye(4).tolist(), name="Wire")
    select(joint)
    return joint, box


@pytest.mark.small
def test_a_motion_that_comes_back_is_offered_a_closed_curve(part, scene, bead):
    joint, _ = bead
    settings = joint.condyle.joint
    assert bpy.ops.condyle.fit(keys="ALL", num_frames=20) == {"FINISHED"}
    assert settings.fit.cyclic == "CLOSED" and not settings.periodic
    layout = MagicMock()
    part("ui.fitting.panels").FitPanel.draw(MagicMock(layout=layout), bpy.context)
    offers = layout.box().column().operator.call_args_list
    assert [offer.kwargs.get("text") for offer in offers] == ["Fit a Closed Curve"]
    assert bpy.ops.condyle.fit(periodic=True, num_frames=9) == {"FINISHED"}
    assert settings.periodic and len(settings.frames) == 9 and frames_of(joint) == list(range(1, 13))
    assert settings.fit.worst_distance < 30.0 and settings.driven
    assert bpy.ops.condyle.fit() == {"FINISHED"} and settings.periodic  # the joint is closed now
    assert bpy.ops.condyle.fit(periodic=False, num_frames=20) == {"FINISHED"} and not settings.periodic
    assert len(frames_of(joint)) == 37


@pytest.mark.small
@pytest.mark.parametrize(
    ("angles", "frames"),
    [
        (120.0 - np.abs(np.linspace(-120.0, 120.0, 13)), list(range(1, 26, 4))),
        # it begins in the middle
        (60.0 + 60.0 * np.sin(np.linspace(0.0, 2.0 * np.pi, 13)), list(range(13, 38, 4))),
        (np.array([0.0, 25.0, 45.0, 75.0, 100.0, 70.0, 30.0]), list(range(1, 18, 4))),  # not all the way back
        (np.array([20.0, 60.0, 100.0, 75.0, 50.0, 25.0, 0.0]), list(range(9, 26, 4))),  # farther than it came
        (np.array([0.0, 30.0, 65.0, 100.0, 10.0, 80.0, 30.0]), list(range(1, 14, 4))),  # and there again
    ],
)
def test_of_a_motion_to_and_fro_one_way_is_offered_and_fits(part, scene, make, angles, frames):
    _, shank = make.keyed_knee(25)  # every 5 degrees
    poses = {}
    for number in range(25):
        scene.frame_set(1 + 4 * number)
        poses[5 * number] = shank.location.copy(), shank.rotation_quaternion.copy()
    shank.animation_data_clear()
    for number, angle in enumerate(angles):
        shank.location, shank.rotation_quaternion = poses[5 * round(angle / 5.0)]
        for path in ("location", "rotation_quaternion"):
            shank.keyframe_insert(path, frame=1 + 4 * number)
    select(shank)
    assert bpy.ops.condyle.fit(num_frames=5) == {"FINISHED"}
    (joint,) = part("data.references").joints_of(scene)
    fit = joint.condyle.joint.fit
    # a curve of its own there and back: too few frames
    assert fit.cyclic == "TO_AND_FRO" and fit.worst_distance > 0.5
    assert "One Way" in part("blender.session").message
    layout = MagicMock()
    part("ui.fitting.panels").FitPanel.draw(MagicMock(layout=layout), bpy.context)
    offers = layout.box().column().operator.call_args_list
    assert [offer.kwargs.get("text") for offer in offers] == ["Fit One Way"]
    assert bpy.ops.condyle.fit(keys="ONE_WAY", num_frames=5) == {"FINISHED"}
    assert fit.keys == "ONE_WAY" and frames_of(joint) == frames
    assert fit.worst_distance < 0.1


@pytest.mark.small
def test_one_way_of_a_motion_that_never_goes_back_is_told_to_be_all_of_it(part, scene, make):
    _, shank = make.keyed_knee(7)
    select(shank)
    assert bpy.ops.condyle.fit(keys="ONE_WAY", num_frames=5) == {"FINISHED"}
    words = "the motion does not go back the same way: all keys are fitted"
    assert part("blender.session").message.endswith(words)


@pytest.mark.small
def test_worst_keys_come_first_and_a_click_goes_to_the_frame(part, scene, knee):
    joint, _ = knee
    assert bpy.ops.condyle.fit(num_frames=4) == {"FINISHED"}
    fit = joint.condyle.joint.fit
    assert fit.worst_first
    places = part("ui.fitting.panels").worst_first(fit.residuals)
    order = np.argsort(places)
    assert max(row.distance for row in fit.residuals) in [fit.residuals[int(k)].distance for k in order[:2]]
    fit.active_residual = 7
    assert scene.frame_current == fit.residuals[7].frame


@pytest.mark.small
@pytest.mark.parametrize("hangs", [False, True])
def test_of_two_that_are_keyed_the_parent_is_selected_last_as_for_add_joint(part, scene, make, hangs):
    thigh, shank = make.keyed_knee(parented=hangs)
    for frame in (1, 49):
        thigh.location.x = 0.01 * frame
        thigh.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    # what hangs on the other in Blender is the child all the same
    for last in (shank, thigh) if hangs else (thigh,):
        for item in (thigh, shank):
            item.select_set(True)
        bpy.context.view_layer.objects.active = last
        assert bpy.ops.condyle.fit(num_frames=5) == {"FINISHED"}
        (joint,) = part("data.references").joints_of(scene)
        assert (joint.condyle.joint.child.object, joint.condyle.joint.parent.object) == (shank, thigh)
        part("making.bodies_and_joints").remove_joint(scene, joint)


def test_a_knee_is_fitted_to_what_inverse_kinematics_makes_of_the_leg(part, scene, make, body, ph):
    """Its bone has no keys and only turns, so that the spread of its places is round-off."""
    rig = walker(make, scene)
    for name in ("Thigh", "Shin"):
        rig.pose.bones[name].rotation_mode = "QUATERNION"
    rig.pose.bones["Shin"].lock_ik_y = rig.pose.bones["Shin"].lock_ik_z = True
    make.update()
    keyed = part("reading.keyed_poses")
    thigh, shin = body(rig, "Thigh"), body(rig, "Shin")
    frames, poses, _ = keyed.keyed_samples(scene, keyed.source("Shin", shin, thigh, shin.matrix))
    assert frames.tolist() == list(range(1, 14))
    turns = np.array([ph.lie.so3_log(pose[:3, :3])[0] for pose in poses])
    assert np.ptp(turns) > 0.05 and np.ptp(poses[:, :3, 3], axis=0).max() < 1e-5
    joint = part("making.bodies_and_joints").add_joint(scene, thigh, shin)
    wished = part("data.fit_settings").values(joint.condyle.joint.fit, part("data.fit_settings").CURVE)
    fits = part("jobs.fit")
    steps = fits.fit_joint(scene, joint, wished=wished | {"smoothing": 0.0, "num_frames": 6})
    report = part("blender.compute_process").run(steps)
    length = rig.data.bones["Shin"].length
    assert report.joint.length_scale == pytest.approx(length, rel=1e-6)
    with pytest.raises(ph.ModelError, match="no keyframes selected"):
        keyed.keyed_samples(scene, keyed.source("Shin", shin, thigh, shin.matrix), keys="SELECTED")
