"""Springs to the animation: their frequency, what they pull to, shares of gravity, drag, and the settled start."""

import numpy as np
import pytest

from ..chain_rigs import add_chain, rig_with_tail, tail
from ..frames_shown import over_frames
from ..said import codes


def slowest(ph, part, scene):
    """Frequency [Hz] of the slowest swing of the model of the scene, of its springs alone."""
    model = part("reading.scene").read(scene).model
    mass = ph.mass_matrix(model, model.state())
    stiffness = np.zeros(model.num_coordinates)
    for each in model.controllers:
        stiffness[model.coordinate_slice(model.bodies[each.body].name)] = each.stiffness
    armature = np.concatenate([body.armature for body in model.bodies])
    squares = np.linalg.eigvals(np.linalg.solve(mass - np.diag(armature), np.diag(stiffness)))
    return float(np.sqrt(squares.real.min()) / (2.0 * np.pi))


@pytest.mark.small
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_a_single_bone_swings_with_its_frequency_whatever_it_weighs(ph, part, scene, make, scale):
    rig = rig_with_tail(make, 1)
    scene.unit_settings.scale_length = scale
    add_chain(rig, "Tail.0", frequency=3.0)
    rig.pose.bones["Tail.0"].condyle.body.mass *= 7.0
    # round-off; properties are float32
    assert slowest(ph, part, scene) == pytest.approx(3.0, rel=1e-5)


@pytest.mark.parametrize("links", [2, 10])
def test_a_chain_swings_at_least_as_fast_as_its_frequency(ph, part, scene, make, links):
    """Dunkerley's estimate is a lower bound; of equal links it is 3 to 10 % off (8 % with ten)."""
    rig = rig_with_tail(make, links)
    add_chain(rig, *tail(rig), frequency=2.0)
    assert 2.0 <= slowest(ph, part, scene) < 2.2


def test_damping_and_inertia_of_the_implicit_step_are_added(part, scene, make):
    rig = rig_with_tail(make, 1)
    add_chain(rig, "Tail.0", frequency=2.0, damping_ratio=0.5)
    models = []
    for method in ("symplectic_euler", "bdf1"):
        scene.condyle.simulation.integrator = method
        models.append(part("reading.scene").read(scene).model)
    step = scene.condyle.simulation.time_step
    ahead, plain = (model.controllers[0] for model in models)
    k = plain.stiffness
    assert plain.damping == pytest.approx(2.0 * 0.5 * k / (2.0 * np.pi * 2.0))
    assert ahead.damping == pytest.approx(plain.damping + step * k)
    assert models[0].bodies[0].armature == pytest.approx(step * ahead.damping)
    assert not models[1].bodies[0].armature.any()


def test_stiffness_and_damping_may_be_given_as_they_are(part, scene, make):
    rig = rig_with_tail(make, 2)
    add_chain(rig, "Tail.0", "Tail.1")
    spring = rig.pose.bones["Tail.1"].condyle.body.spring
    spring.strength, spring.stiffness, spring.damping = "STIFFNESS", 0.25, 0.0
    scene.condyle.simulation.integrator = "bdf1"
    controller = part("reading.scene").read(scene).model.controllers[1]
    assert controller.stiffness == pytest.approx([0.25] * 3) and not controller.damping.any()


def test_the_joint_s_own_controller_goes_before_the_spring(part, scene, make):
    rig = rig_with_tail(make, 1)
    add_chain(rig, "Tail.0")
    (joint,) = part("data.references").joints_of(scene)
    joint.condyle.joint.controller.enabled = True
    (controller,) = part("reading.scene").read(scene).model.controllers
    assert controller.stiffness == pytest.approx([100.0] * 3)


def test_a_share_of_gravity_and_drag_are_forces(part, scene, make):
    rig = rig_with_tail(make, 2)
    add_chain(rig, "Tail.0", "Tail.1", gravity=0.25, drag=2.0)
    rig.pose.bones["Tail.1"].condyle.body.gravity = 1.0
    model = part("reading.scene").read(scene).model
    forces = {each.name: each for each in model.forces}
    mass = model.bodies[0].mass
    assert set(forces) == {"Rig/Tail.0 gravity", "Rig/Tail.0 drag", "Rig/Tail.1 drag"}
    assert forces["Rig/Tail.0 gravity"].force == pytest.approx([0.0, 0.0, 0.75 * 9.81 * mass])
    assert forces["Rig/Tail.0 drag"].linear == pytest.approx(2.0 * mass)


def heights(part, scene, rig, bone):
    """Height of the tip of a bone in every frame of a bake."""
    report = part("jobs.bake").bake_now(scene)
    poses = report.poses[f"Rig/{bone}"]
    return report, poses[:, 2, 3] + poses[:, 2, 1] * rig.data.bones[bone].length


@pytest.mark.small
def test_a_chain_sags_and_nothing_drops_at_the_first_frame(part, scene, make):
    rig = rig_with_tail(make, 3)
    scene.frame_end = 12
    add_chain(rig, *tail(rig), frequency=2.0)
    report, height = heights(part, scene, rig, "Tail.2")
    assert height[0] < 0.98 and codes(report.warnings) == ["no-motion-balance"]
    assert np.ptp(height) < 2e-4  # it rests within 1e-4 rad a link


def test_without_gravity_a_chain_keeps_its_pose_also_where_it_was_bent(part, scene, make):
    rig = rig_with_tail(make, 3)
    scene.frame_end = 6
    add_chain(rig, *tail(rig), gravity=0.0)
    bone = rig.pose.bones["Tail.1"]
    bone.rotation_mode, bone.rotation_euler = "XYZ", (0.5, 0.0, 0.0)
    make.update()
    tip = (rig.matrix_world @ rig.pose.bones["Tail.2"].tail).z
    _, height = heights(part, scene, rig, "Tail.2")
    assert abs(tip - 1.0) > 0.05 and height == pytest.approx(tip, abs=1e-5)  # keys are float32


def test_a_stiff_spring_follows_the_keys_of_its_bone(part, scene, make):
    rig = rig_with_tail(make, 2)
    scene.frame_end = 25
    add_chain(rig, *tail(rig), frequency=40.0, damping_ratio=1.0, gravity=0.0)
    bone = rig.pose.bones["Tail.0"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (13, 0.8), (25, 0.0)):
        bone.rotation_euler = (angle, 0.0, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    wanted = over_frames(range(1, 26), lambda: (rig.matrix_world @ rig.pose.bones["Tail.1"].tail).z)
    scene.frame_set(1)
    _, height = heights(part, scene, rig, "Tail.1")
    # behind an acceleration a it lags by a / w^2: 0.2 m x 2 rad / (0.5 s)^2 / (251 / s)^2 = 3e-5 m, and twice in a row
    assert np.ptp(wanted) > 0.1 and height == pytest.approx(wanted, abs=2e-4)


def test_a_sliding_link_sags_by_gravity_over_its_frequency_squared(part, scene, make):
    rig = rig_with_tail(make, 1, connect=False)
    scene.frame_end = 4
    add_chain(rig, "Tail.0", preset="BELLY", frequency=3.0)
    _, height = heights(part, scene, rig, "Tail.0")
    assert height == pytest.approx(1.0 - 9.81 / (2.0 * np.pi * 3.0) ** 2, abs=2e-4)  # at rest within 1e-4 m
