"""The whole way: keys -> fit -> simulation -> keys, through the compute process."""

import os
import shlex
import signal
import time
from pathlib import Path

import bpy
import numpy as np
import pytest

from ..first_job import first_job

SINGLE = 4e-6  # a few units in the last place of float32, for poses of size 1


def rig_knee(part, scene, make, scale=1.0, **options):
    """A keyed knee with its joint: (joint's Empty, child)."""
    body = part("data.references").Body
    thigh, shank = make.keyed_knee(scale=scale, **options)
    joint = part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    row = joint.condyle.joint.coordinates[0]
    row.damping, row.start = 0.05, 1.0
    return joint, shank


@pytest.mark.small
@pytest.mark.parametrize("parented", [True, False])
def test_a_keyed_knee_is_fitted_simulated_and_baked(part, scene, make, parented):
    joint, shank = rig_knee(part, scene, make, parented=parented)
    tasks = part("jobs.bake")
    fit = tasks.fit_now(scene, joint)
    assert fit.converged and fit.num_poses == 13
    assert fit.worst_distance_mm < 0.1 and fit.worst_angle_deg < 0.05
    assert len(joint.condyle.joint.frames) == 8 and len(joint.condyle.joint.knots) == 12
    # the curve in the scene is the fitted one, to float32
    curve = part("reading.scene").read_joint(scene, joint)
    q = np.linspace(*fit.curve.range[0], 20)[:, None]
    assert np.abs(curve.transform(q) - fit.curve.transform(q)).max() < 1e-6
    report = tasks.bake_now(scene)
    assert report.bodies == ["Shank"] and len(report.frames) == 49
    assert np.isclose(report.coordinates["Knee.q"][0], 1.0)
    for frame, pose in zip(report.frames, report.poses["Shank"]):
        scene.frame_set(int(frame))
        assert np.abs(np.array(shank.matrix_world) - pose).max() < SINGLE


@pytest.mark.small
def test_the_bake_fits_first_where_asked_and_frees_to_what_was(part, scene, make):
    joint, shank = rig_knee(part, scene, make)
    tasks = part("jobs.bake")
    keys = shank.animation_data.action
    scene.frame_set(20)
    before = np.array(shank.matrix_world)
    joint.condyle.joint.fit.requested = True
    report = tasks.bake_now(scene)
    assert len(report.fits) == 1 and not joint.condyle.joint.fit.requested
    assert shank.animation_data.action.name in report.actions and shank.animation_data.action != keys
    tasks.bake_now(scene)  # again: the bake in place is replaced, and the keys are still remembered
    assert tasks.free_bake(scene) == 1 and tasks.free_bake(scene) == 0
    scene.frame_set(20)
    assert shank.animation_data.action == keys
    assert np.array_equal(np.array(shank.matrix_world), before)
    assert [action.name for action in bpy.data.actions] == [keys.name]


def released_knee(part, scene, make, scale, fps, base):
    """The knee at a unit scale and frame rate, thigh inclined so that it swings inside its range; fitted when baked."""
    scene.unit_settings.scale_length = scale
    scene.render.fps, scene.render.fps_base = fps, base
    joint, _ = rig_knee(part, scene, make, scale=1.0 / scale)
    bpy.data.objects["Thigh"].rotation_euler.y = -1.0
    joint.condyle.joint.coordinates[0].start = 1.8
    joint.condyle.joint.fit.requested = True
    scene.frame_end = 1 + round(1.5 * fps / base)
    make.update()


@pytest.fixture(scope="module")
def reference():
    """Every step of the motion at unit scale 1, once computed: {"q": (T,), "dt": ...}."""
    return {}


@pytest.mark.small
@pytest.mark.parametrize(
    ("scale", "fps", "base"),
    [(1.0, 24, 1.0), (0.01, 24, 1.0), (100.0, 24, 1.0), (1.0, 25, 1.0), (1.0, 30, 1.001)],
)
def test_the_motion_does_not_depend_on_unit_scale_or_frame_rate(
    part, scene, make, reference, scale, fps, base
):
    if not reference:
        released_knee(part, scene, make, 1.0, 24, 1.0)
        first = part("jobs.bake").bake_now(scene)
        requests, client = (
            part("blender.physics_access").part("worker.requests"),
            part("blender.compute_process").client(),
        )
        model = first.result.model
        state = model.state(q=first.result.q[0], qd=first.result.qd[0])
        every_step = requests.simulate_answer(
            requests.simulate(client, model, state, duration=1.6, dt=1e-3).wait(120), model
        )
        reference.update(t=every_step.t, q=every_step.q[:, 0], qd=every_step.qd[:, 0])
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        scene = bpy.context.scene
    released_knee(part, scene, make, scale, fps, base)
    report = part("jobs.bake").bake_now(scene)
    expected = hermite(reference["t"], reference["q"], reference["qd"], report.times)
    assert np.ptp(expected) > 1.0
    # The poses that are fitted come from Blender's float32 matrices, rounded anew at each unit scale.
    assert np.abs(report.coordinates["Knee.q"] - expected).max() < 5e-6


def hermite(times, q, qd, wanted):
    """Cubics through values and speeds at even times: what lies between two steps of a simulation."""
    step = times[1] - times[0]
    left = np.clip((wanted / step).astype(int), 0, len(times) - 2)
    x = wanted / step - left
    h00, h10 = (1 + 2 * x) * (1 - x) ** 2, x * (1 - x) ** 2
    h01, h11 = x**2 * (3 - 2 * x), x**2 * (x - 1)
    return h00 * q[left] + h10 * step * qd[left] + h01 * q[left + 1] + h11 * step * qd[left + 1]


@pytest.mark.small
def test_bones_are_fitted_and_baked_as_objects_are(part, scene, make, body, authoring):
    tasks = part("jobs.bake")
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0.55), None), "B": ((0, 0, 0.5), (0, 0, 0), "A")})
    rig.rotation_euler, rig.scale = (0.2, 0.1, 0.5), (0.9, 0.9, 0.9)
    bone = rig.pose.bones["B"]
    bone.rotation_mode = "XYZ"
    scene.frame_start, scene.frame_end = 1, 25
    for frame in range(1, 26, 3):
        angle = 0.08 * (frame - 1)
        bone.rotation_euler, bone.location = (angle, 0, 0), (0, 0.01 * np.sin(angle), 0.02 * angle)
        bone.keyframe_insert("rotation_euler", frame=frame)
        bone.keyframe_insert("location", frame=frame)
    scene.frame_set(1)
    authoring.make_body(scene, body(rig, "B"), mass=2.0, center=(0, 0.2, 0), inertia=(0.02, 0.002, 0.02))
    joint = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), name="Elbow")
    fit = tasks.fit_now(scene, joint)
    assert fit.worst_distance_mm < 0.5 and fit.worst_angle_deg < 0.2
    joint.condyle.joint.coordinates[0].start = float(fit.curve.range[0, 1]) / 2
    report = tasks.bake_now(scene)
    for frame, pose in zip(report.frames, report.poses["Rig/B"]):
        scene.frame_set(int(frame))
        matrix = np.array(rig.matrix_world @ bone.matrix)
        matrix[:3, :3] /= 0.9
        assert np.abs(matrix - pose).max() < SINGLE


@pytest.mark.small
def test_cancelling_leaves_everything_as_it_was(part, scene, make):
    joint, shank = rig_knee(part, scene, make)
    joint.condyle.joint.fit.requested = True
    action, names = shank.animation_data.action, set(bpy.data.objects.keys())
    for begin in (lambda: part("jobs.bake").bake(scene), lambda: part("jobs.bake").fit(scene, joint)):
        steps = begin()
        first_job(part, steps).cancel()
        steps.close()
        assert shank.animation_data.action == action and set(bpy.data.objects.keys()) == names
        assert len(joint.condyle.joint.frames) == 0 and not shank.condyle.channels.baked
        assert [item.name for item in bpy.data.actions] == [action.name]


def test_a_cancelled_first_fit_makes_no_joint_and_no_bodies(part, scene, make):
    _, shank = make.keyed_knee()
    bpy.context.view_layer.objects.active = shank
    names = set(bpy.data.objects.keys())
    steps = part("jobs.fit").fit_selected(bpy.context, None)
    next(steps).cancel()
    steps.close()
    assert set(bpy.data.objects.keys()) == names and not shank.condyle.body.enabled


@pytest.mark.parametrize("edited", [False, True])
def test_an_edit_while_blender_draws_is_simulated(part, scene, make, body, edited):
    """What a bake notes of the scene must be of the scene that it simulates."""
    box = make.box("Box")
    part("making.bodies_and_joints").make_body(scene, body(box), motion="FREE")
    steps = part("jobs.take").take(scene.session_uid, np.arange(1, 5), {})
    next(steps)
    if edited:
        box.condyle.body.mass_source, box.condyle.body.mass = "MANUAL", 7.0
        part("blender.session").changes += 1  # as the handler counts it
    shot = part("blender.compute_process").run(steps)
    assert (shot.read.model.bodies[0].mass == 7.0) == edited
    assert shot.changes == part("blender.session").changes


def test_the_scene_may_lose_a_body_while_it_is_simulated(part, scene, make, ph):
    _, shank = rig_knee(part, scene, make)
    part("making.bodies_and_joints").add_control_frame(scene, *corners_of(part, scene, make))
    steps = part("jobs.bake").bake(scene)
    job = first_job(part, steps)
    bpy.data.objects.remove(shank)
    with pytest.raises(ph.ModelError, match="Shank was removed or renamed meanwhile"):
        while True:
            job.wait(120)
            job = part("blender.compute_process").advance(steps, job)


def test_a_body_that_the_user_deletes_while_it_is_simulated_gets_no_keys(part, scene, make, ph):
    """Blender keeps what a joint refers to: it was baked, in no scene, and the bake was said to be done."""
    _, shank = rig_knee(part, scene, make)
    part("making.bodies_and_joints").add_control_frame(scene, *corners_of(part, scene, make))
    steps = part("jobs.bake").bake(scene)
    job = first_job(part, steps)
    scene.collection.objects.unlink(shank)  # what Delete does with an object that is referred to
    actions = set(bpy.data.actions.keys())
    with pytest.raises(ph.ModelError, match="Shank was deleted meanwhile"):
        while True:
            job.wait(120)
            job = part("blender.compute_process").advance(steps, job)
    assert set(bpy.data.actions.keys()) == actions


def corners_of(part, scene, make):
    """The scene's knee with three control frames, and the matrix of a fourth."""
    joint = part("data.references").joints_of(scene)[0]
    for z in (0.0, 0.1, 0.2):
        matrix = np.eye(4)
        matrix[2, 3] = z
        part("making.bodies_and_joints").add_control_frame(scene, joint, matrix)
    matrix = np.eye(4)
    matrix[2, 3] = 0.3
    return joint, matrix


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [(10, 10, "has one frame only, 10"), (20, 5, "is empty or reversed: from 20 to 5")],
)
def test_an_empty_or_reversed_range_is_refused(part, scene, make, ph, first, last, words):
    rig_knee(part, scene, make)
    settings = scene.condyle.simulation
    settings.use_scene_range, settings.frame_start, settings.frame_end = False, first, last
    with pytest.raises(ph.ModelError, match=f"frame range {words}"):
        part("jobs.bake").bake_now(scene)


@pytest.mark.parametrize(("frame", "words"), [(12, "after the end"), (9, "at the end")])
def test_a_playhead_at_or_behind_the_end_of_the_range_is_named(part, scene, make, ph, frame, words):
    rig_knee(part, scene, make)
    scene.frame_end = 9
    scene.condyle.start.begin = "PLAYHEAD"
    scene.frame_set(frame)
    told = f"Begin: Playhead begins at frame {frame}, {words} of the range, 9: go to an earlier frame"
    with pytest.raises(ph.ModelError, match=told):
        part("jobs.bake").bake_now(scene)
    assert [each.text for each in part("jobs.scene_checks").check(scene) if "Playhead" in each.text]


def test_the_preview_range_counts(part, scene, make):
    scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end = True, 7, 11
    assert list(part("data.frame_times").frame_range(scene)) == [7, 8, 9, 10, 11]


@pytest.mark.parametrize("keys", [0, 1])
def test_a_fit_without_enough_keys_is_refused(part, scene, make, ph, keys):
    joint, shank = rig_knee(part, scene, make)
    shank.animation_data_clear()
    if keys:
        shank.keyframe_insert("location", frame=3)
    with pytest.raises(ph.ModelError, match=r"Shank has (no keyframes|only one keyframe) to fit"):
        part("jobs.bake").fit_now(scene, joint)


def test_keys_that_do_not_move_are_refused(part, scene, make):
    joint, shank = rig_knee(part, scene, make)
    shank.animation_data_clear()
    for frame in (1, 5, 9, 13, 17, 21, 25, 29):
        shank.keyframe_insert("location", frame=frame)
    with pytest.raises(
        part("blender.physics_access").physics().CondyleError, match="Shank has 1 keyed pose to fit"
    ):
        part("jobs.bake").fit_now(scene, joint)
    assert len(joint.condyle.joint.frames) == 0


def test_a_free_body_falls_as_galilei_says(part, scene, make, body):
    stone = make.box("Stone", (0, 0, 10))
    part("making.bodies_and_joints").make_body(scene, body(stone), motion="FREE")
    scene.frame_start, scene.frame_end = 1, 25
    scene.condyle.simulation.integrator = "rk4"
    report = part("jobs.bake").bake_now(scene)
    assert np.allclose(report.poses["Stone"][:, 2, 3], 10.0 - 0.5 * 9.81 * report.times**2, atol=1e-6)


@pytest.mark.small
def test_a_crash_of_the_compute_process_is_told_and_costs_nothing(part, scene, make):
    joint, shank = rig_knee(part, scene, make)
    part("jobs.bake").fit_now(scene, joint)
    worker = part("blender.compute_process")
    action, client = shank.animation_data.action, worker.client()
    steps = part("jobs.bake").bake(scene)
    job = first_job(part, steps)
    os.kill(client.hello["pid"], signal.SIGTERM)
    while not job.poll():
        time.sleep(0.01)
    if job.state == "failed":  # else the answer was quicker than the signal
        with pytest.raises(part("blender.physics_access").physics().CondyleError, match="ended unexpectedly"):
            worker.advance(steps, job)
        assert shank.animation_data.action == action
    assert part("jobs.bake").bake_now(scene).bodies == ["Shank"]


@pytest.mark.small
def test_a_bake_elsewhere_is_the_bake_here(part, scene, make, monkeypatch):
    """By the command of the preferences or of CONDYLE_WORKER; here `env` stands for `ssh HOST`."""
    joint, _ = rig_knee(part, scene, make)
    tasks, process = part("jobs.bake"), part("blender.compute_process")
    tasks.fit_now(scene, joint)
    here = tasks.bake_now(scene)
    access = part("blender.physics_access")
    root = Path(access.physics().__file__).parents[1]
    libraries = os.pathsep.join(map(str, access.part("worker.client").library_paths()))
    command = ["env", "-C", root, f"PYTHONPATH={libraries}", process.python_executable()]
    if folder := process.cache_folder():
        monkeypatch.setenv("CONDYLE_CACHE_DIR", folder)
    process.close()
    monkeypatch.setenv("CONDYLE_WORKER", shlex.join([*map(str, command), "-m", "physics", "worker"]))
    try:
        elsewhere = tasks.bake_now(scene)
        assert process.client().hello["source"]
    finally:
        process.close()
    assert np.array_equal(here.poses["Shank"], elsewhere.poses["Shank"])
