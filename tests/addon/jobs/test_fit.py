"""Fits of curves and surfaces by what the user wishes, their residuals, and that another wish fits anew."""

import bpy
import numpy as np
import pytest

from ..selecting import select


@pytest.fixture
def knee(part, scene, make, body):
    """A keyed knee with a joint, active."""
    thigh, shank = make.keyed_knee()
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    select(joint)
    return scene, joint, shank


@pytest.fixture
def blade(scene, make, body, authoring):
    """A plate keyed at scattered places on a ball of 20 cm about a box, custom properties telling where."""
    chest, plate = make.box("Chest", size=(0.2, 0.2, 0.2)), make.box("Blade", size=(0.1, 0.1, 0.02))
    plate.rotation_mode = "QUATERNION"
    random = np.random.default_rng(3)
    for number, (turn, tilt) in enumerate(random.uniform(-0.8, 0.8, (60, 2))):
        pose = make.on_ball(turn, tilt, 0.2)
        plate.matrix_basis = _matrix(pose)
        plate["across"], plate["along"] = float(turn), float(tilt)
        for path in ("location", "rotation_quaternion", '["across"]', '["along"]'):
            plate.keyframe_insert(path, frame=1 + number)
    scene.frame_set(1)
    joint = authoring.add_joint(
        scene, body(chest), body(plate), "spline_surface", matrix=np.eye(4).tolist(), name="Glide"
    )
    select(joint)
    return scene, joint, plate


def _matrix(pose):
    from mathutils import Matrix

    return Matrix(pose.tolist())


@pytest.mark.small
def test_wishes_given_to_the_operator_become_the_settings_and_others_stay(knee):
    _, joint, _ = knee
    fit = joint.condyle.joint.fit
    fit.smoothing = 0.25
    assert bpy.ops.condyle.fit(num_frames=6) == {"FINISHED"}
    assert len(joint.condyle.joint.frames) == 6 and fit.num_frames == 6 and fit.smoothing == 0.25
    assert bpy.ops.condyle.fit() == {"FINISHED"}  # not what the last call had, but what the joint has
    fit.num_frames = 5
    assert bpy.ops.condyle.fit() == {"FINISHED"}
    assert len(joint.condyle.joint.frames) == 5


@pytest.mark.small
def test_five_keys_do_without_a_joint(part, scene, make):
    """Nothing shows the number of control frames there, so the fit takes no more than the keys can fix."""
    thigh, shank = make.box("Thigh"), make.box("Shank", (0, 0, -0.4))
    for frame, angle in ((1, 0.0), (5, 0.4), (9, 0.8), (13, 1.2), (17, 1.6)):
        shank.location.y, shank.rotation_euler.x = 0.1 * np.sin(angle), angle
        shank.keyframe_insert("location", frame=frame)
        shank.keyframe_insert("rotation_euler", frame=frame)
    thigh.select_set(True)
    shank.select_set(True)
    bpy.context.view_layer.objects.active = shank
    assert bpy.ops.condyle.fit() == {"FINISHED"}
    (joint,) = part("data.references").joints_of(scene)
    assert len(joint.condyle.joint.frames) == joint.condyle.joint.fit.num_frames == 5
    select(joint)
    assert bpy.ops.condyle.fit(num_frames=6) == {"FINISHED"} and len(joint.condyle.joint.frames) == 5


@pytest.mark.small
@pytest.mark.parametrize(
    "more", [{}, {"periodic": True}, {"first_end": "STRAIGHT", "last_end": "STRAIGHT"}, {"smoothing": 0.5}]
)
def test_a_curve_gets_as_many_frames_as_its_order_takes_at_least(part, scene, make, more):
    """Adjust Last Operation lets there be four, which was an error where the order is higher."""
    _keyed(make, 0.5 * np.arange(12))
    bpy.ops.condyle.fit()
    (joint,) = part("data.references").joints_of(scene)
    settings = joint.condyle.joint
    settings.order = 6
    select(joint)
    assert bpy.ops.condyle.fit(num_frames=4, **more) == {"FINISHED"}
    assert len(settings.frames) == settings.fit.num_frames == 6
    assert "; 6 control points, the least for the curve's order" in part("blender.session").message


def _keyed(make, angles, turning=0.1):
    """A thigh, and a shank keyed every third frame at places round a circle; both selected, the shank active."""
    thigh, shank = make.box("Thigh"), make.box("Shank", (1, 0, 0))
    for number, angle in enumerate(angles):
        shank.location = np.cos(angle), np.sin(angle), turning * np.sin(2.0 * angle)
        shank.rotation_euler.z = angle
        for path in ("location", "rotation_euler"):
            shank.keyframe_insert(path, frame=1 + 3 * number)
    bpy.context.scene.frame_set(1)
    select(thigh)
    shank.select_set(True)
    bpy.context.view_layer.objects.active = shank
    return shank


@pytest.mark.small
@pytest.mark.parametrize(
    ("angles", "offer", "most"),
    [
        (0.3 * np.array([0, 1, 2, 3, 4, 3, 2, 1, 0]), {"keys": "ONE_WAY"}, 5),
        (np.arange(13) * np.pi / 3.0, {"periodic": True}, 6),
    ],
)
def test_what_a_fit_offers_takes_no_more_frames_than_the_keys_left_can_fix(
    part, scene, make, angles, offer, most
):
    shank = _keyed(make, angles)
    assert bpy.ops.condyle.fit() == {"FINISHED"}
    (joint,) = part("data.references").joints_of(scene)
    assert len(joint.condyle.joint.frames) == 8
    select(shank)
    assert bpy.ops.condyle.fit(**offer) == {"FINISHED"}
    assert len(joint.condyle.joint.frames) == joint.condyle.joint.fit.num_frames == most
    assert part("blender.session").message.endswith(
        f"; {most} control points, the most that the poses determine"
    )


@pytest.mark.small
@pytest.mark.parametrize("joint_first", [False, True])
def test_a_fit_of_few_keys_takes_as_many_frames_as_they_can_fix(part, scene, make, joint_first):
    _keyed(make, 0.3 * np.arange(5))
    if joint_first:
        bpy.context.view_layer.objects.active = bpy.data.objects["Thigh"]
        assert bpy.ops.condyle.add_joint() == {"FINISHED"}
    assert bpy.ops.condyle.fit() == {"FINISHED"}
    (joint,) = part("data.references").joints_of(scene)
    assert len(joint.condyle.joint.frames) == 5
    assert part("blender.session").message.endswith("; 5 control points, the most that the poses determine")


@pytest.mark.small
def test_keys_that_make_no_curve_are_told_by_their_frames(scene, make):
    for angles, smoothing, why in (
        ((0.0, 0.2), 0.0, "Shank has 2 keyed poses to fit: at least 4 different ones"),
        ((0.0, 0.2, 0.4, 0.4, 0.4), 0.0, "Shank has 3 keyed poses to fit: at least 4 different ones"),
        ((0.2, 0.2, 0.2), 0.5, "Shank has 1 keyed pose to fit: at least 2 different ones"),
    ):
        for item in list(bpy.data.objects):
            bpy.data.objects.remove(item)
        _keyed(make, angles)
        with pytest.raises(RuntimeError, match=why):
            bpy.ops.condyle.fit(smoothing=smoothing)


@pytest.mark.small
def test_poses_that_are_held_count_once(part, scene, make):
    """As animators hold them: at the beginning, between, at the end; the curve is that of the others."""
    fitted = []
    for angles in ((0.0, 0.2, 0.4, 0.7, 0.9), (0.0, 0.0, 0.2, 0.4, 0.4, 0.4, 0.7, 0.9, 0.9)):
        for item in list(bpy.data.objects):
            bpy.data.objects.remove(item)
        _keyed(make, angles)
        assert bpy.ops.condyle.fit() == {"FINISHED"}
        (joint,) = part("data.references").joints_of(scene)
        fitted.append(part("reading.scene").control_frames(scene, joint))
        rows = [row.frame for row in joint.condyle.joint.fit.residuals]
    np.testing.assert_allclose(fitted[1], fitted[0], atol=1e-6)
    assert (
        rows == [1, 7, 10, 19, 22]
        and "; repeated poses that count once: 4" in part("blender.session").message
    )


@pytest.mark.small
def test_the_child_stays_at_its_keyed_pose_after_a_fit(knee):
    """The sliders begin at the key nearest to the frame at hand, not at 0."""
    scene, joint, _ = knee
    assert bpy.ops.condyle.fit(num_frames=6) == {"FINISHED"}
    keys = [(round(row.frame), row.q[0]) for row in joint.condyle.joint.fit.residuals]
    for frame, q in (keys[len(keys) // 2], keys[-1]):
        scene.frame_set(frame)
        assert bpy.ops.condyle.fit(num_frames=6) == {"FINISHED"}
        assert np.isclose(joint["coordinate"], q, rtol=1e-6)


@pytest.mark.small
def test_a_fit_does_not_replace_the_parts_of_a_composite_joint(knee, part, ph):
    scene, joint, _ = knee
    settings = joint.condyle.joint
    settings.type = "composite"
    for kind in ("spline_curve", "hinge"):
        settings.parts.add().type = kind
    assert not bpy.ops.condyle.fit.poll() and not bpy.ops.condyle.fit_surface.poll()
    with pytest.raises(ph.ModelError, match="'Knee' is a composite joint"):
        part("jobs.bake").fit_now(scene, joint)
    assert settings.type == "composite" and len(settings.parts) == 2


def test_as_few_frames_as_a_tolerance_asks_for(knee):
    _, joint, _ = knee
    fit = joint.condyle.joint.fit
    found = []
    for distance in (1e-3, 1e-5):
        wish = {"frames_by": "TOLERANCE", "within_distance": distance, "within_angle": 0.05}
        assert bpy.ops.condyle.fit(**wish) == {"FINISHED"}
        assert fit.worst_distance <= 1e3 * distance
        found.append(len(joint.condyle.joint.frames))
    assert found[0] < found[1]


def test_every_key_has_its_residual_and_a_click_goes_there(knee, part):
    scene, joint, shank = knee
    fit = joint.condyle.joint.fit
    report = part("jobs.bake").fit_now(scene, joint)
    assert [row.frame for row in fit.residuals] == list(report.frames)
    assert np.allclose([row.distance for row in fit.residuals], report.distances, atol=1e-6)
    place = np.array(fit.residuals[5].pose).reshape(4, 4)
    fit.active_residual = 5
    assert scene.frame_current == fit.residuals[5].frame == 21
    bpy.context.view_layer.update()
    world = np.array(joint.matrix_world) @ place
    assert np.allclose(world, np.array(shank.matrix_world), atol=1e-5)
    worst = part("ui.fitting.panels").worst_first(fit.residuals)
    assert sorted(worst) == list(range(13))
    first = worst.index(0)
    share = [max(row.distance / fit.worst_distance, row.angle / fit.worst_angle) for row in fit.residuals]
    assert share[first] == max(share)


def test_a_pinned_key_is_passed_exactly_and_stays_pinned(knee):
    _, joint, _ = knee
    fit = joint.condyle.joint.fit
    bpy.ops.condyle.fit(num_frames=5, smoothing=0.5)
    assert fit.residuals[6].distance > 1e-3
    fit.residuals[6].pinned = True
    bpy.ops.condyle.fit()
    assert fit.residuals[6].pinned and fit.residuals[6].distance < 1e-6
    assert sum(row.pinned for row in fit.residuals) == 1


def test_outliers_are_put_aside_and_weights_count(knee, part):
    _scene, joint, shank = knee
    curve = next(c for c in part("blender.compat").curves_in_use(shank) if c.data_path == "location")
    curve.keyframe_points[6].co.y += 0.05
    fit = joint.condyle.joint.fit
    bpy.ops.condyle.fit(num_frames=6, robust="TUKEY")
    assert fit.residuals[6].trust < 0.5 and fit.residuals[6].distance > 40.0
    assert max(row.distance for k, row in enumerate(fit.residuals) if k != 6) < 1.0
    assert "take fewer" not in part("blender.session").message
    bpy.ops.condyle.fit(num_frames=11, robust="TUKEY")  # of 13 poses
    assert "11 control points also follow outliers: use fewer" in part("blender.session").message
    bpy.ops.condyle.fit(num_frames=6, robust="NONE")
    drawn = fit.residuals[6].distance
    fit.residuals[6].weight = 0.01
    bpy.ops.condyle.fit()
    assert fit.residuals[6].distance > drawn and fit.residuals[6].weight == pytest.approx(0.01)


@pytest.mark.parametrize("metric", ["LENGTH", "WEIGHTS", "BODY"])
def test_the_metric_is_what_the_user_chose(knee, part, metric):
    scene, joint, _ = knee
    settings = joint.condyle.joint
    wish = {"metric": metric, "smoothing": 0.3, "num_frames": 6}
    if metric == "WEIGHTS":
        wish |= {"rotation_weight": 1.0, "translation_weight": 1e4}
    assert bpy.ops.condyle.fit(**wish, coordinate="ARC_LENGTH") == {"FINISHED"}
    curve = part("reading.scene").read_joint(scene, joint)
    assert any(settings.fit.metric_values) == (metric != "LENGTH")
    if metric == "WEIGHTS":  # a scale for all makes it read as radians
        assert curve.metric[3, 3] / curve.metric[0, 0] == pytest.approx(1e4, rel=1e-5)
    length = curve.range[0, 1]
    for q in np.linspace(0.1, 0.9, 5) * length:  # by arc length the speed is 1 in that metric
        _, s, _ = curve.evaluate(np.array([q]))
        if metric != "LENGTH":
            assert s[:, 0] @ curve.metric @ s[:, 0] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.small
def test_a_curve_counts_an_angle_where_the_user_says_so(knee, part):
    scene, joint, shank = knee
    assert bpy.ops.condyle.fit(coordinate="ANGLE", angle_axis=(0, 1, 0)) == {"FINISHED"}
    settings = joint.condyle.joint
    assert settings.coordinates[0].unit == "rad" and settings.driven
    lower, upper = part("reading.scene").read_joint(scene, joint).range[0]
    assert upper - lower == pytest.approx(np.radians(120.0), abs=1e-3)
    scene.frame_set(1)
    turned = []
    for share in (0.25, 0.75):
        joint["coordinate"] = float(lower + share * (upper - lower))
        joint.update_tag()
        bpy.context.view_layer.update()
        turned.append(shank.matrix_world.to_quaternion())
    assert turned[0].rotation_difference(turned[1]).angle == pytest.approx(np.radians(60.0), abs=2e-3)
    settings.fit.coordinate = "PARAMETER"  # the same curve, the slider counts something else
    assert settings.coordinates[0].unit == "1"


def test_a_surface_is_fitted_to_scattered_keys(blade, part):
    scene, joint, _ = blade
    settings = joint.condyle.joint
    assert bpy.ops.condyle.fit_surface(rows=5, columns=6) == {"FINISHED"}
    assert settings.type == "spline_surface" and tuple(settings.grid) == (5, 6, 1) and settings.driven
    assert settings.fit.rows == 5 and settings.fit.num_poses == 60
    assert settings.fit.worst_distance < 3.0 and settings.fit.worst_angle < 0.03
    surface = part("reading.scene").read_joint(scene, joint)
    row = settings.fit.residuals[7]
    pose = surface.transform(np.array(row.q[:2], dtype=float))
    gap = 1e3 * np.linalg.norm(pose[:3, 3] - np.array(row.pose).reshape(4, 4)[:3, 3])
    assert gap == pytest.approx(row.distance, abs=0.02)  # what the scene holds is what was fitted, to float32


def test_a_surface_gets_as_many_rows_as_its_order_takes_at_least(blade, part):
    _, joint, _ = blade
    settings = joint.condyle.joint
    assert bpy.ops.condyle.fit_surface() == {"FINISHED"}
    settings.grid_orders = (5, 4, 4)
    assert bpy.ops.condyle.fit_surface(rows=4, columns=6) == {"FINISHED"}
    assert tuple(settings.grid)[:2] == (settings.fit.rows, settings.fit.columns) == (5, 6)
    assert "; 5 rows and 6 columns, the least for its orders" in part("blender.session").message


def test_a_surface_is_fitted_at_places_that_two_properties_tell(blade):
    _, joint, plate = blade
    settings = joint.condyle.joint
    wish = {"parameters": "PROPERTIES", "parameter_1": "across", "parameter_2": "along"}
    assert bpy.ops.condyle.fit_surface(**wish) == {"FINISHED"}
    first = settings.fit.residuals[0]
    assert first.q[0] == pytest.approx(plate["across"], abs=1e-5)
    assert first.q[1] == pytest.approx(plate["along"], abs=1e-5)
    assert settings.fit.worst_distance < 1.0
    with pytest.raises(RuntimeError, match="no custom property 'around'"):
        bpy.ops.condyle.fit_surface(**{**wish, "parameter_1": "around"})
    with pytest.raises(RuntimeError, match="is no number"):
        bpy.ops.condyle.fit_surface(**{**wish, "parameter_1": "name"})
    assert settings.fit.parameter_1 == "across"


def test_a_fit_that_takes_too_long_is_given_up_and_changes_nothing(part, knee):
    _scene, joint, _ = knee
    client, fits = part("blender.compute_process"), part("jobs.fit")
    with pytest.raises(part("blender.physics_access").physics().CondyleError, match="nothing was changed"):
        client.run(fits.fit_selected(bpy.context, joint), seconds=0.0)
    assert not joint.condyle.joint.frames


def test_bake_fits_a_surface_that_asks_for_it(blade, part):
    scene, joint, plate = blade
    scene.frame_start, scene.frame_end = 1, 5
    joint.condyle.joint.fit.requested = True
    report = part("jobs.bake").bake_now(scene)
    assert [each.joint.type for each in report.fits] == ["spline_surface"]
    assert set(report.coordinates) == {"Glide.q_1", "Glide.q_2"} and plate.condyle.channels.baked
    assert tuple(joint.condyle.joint.grid) == (5, 5, 1) and not joint.condyle.joint.fit.requested
