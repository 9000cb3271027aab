"""Every joint type from the panel to the bake: limits hold, and what Blender shows is what was simulated."""

import bpy
import numpy as np
import pytest

NUM_TYPES = 25  # joint types that the menus offer
UPPER = 0.12


@pytest.fixture
def joint(part, scene, make, body):
    top, bob = make.box("Top", (0, 0, 0.4)), make.box("Bob")
    scene.frame_start, scene.frame_end = 1, 13
    return part("making.bodies_and_joints").add_joint(scene, body(top), body(bob), "hinge", name="Joint")


@pytest.mark.parametrize("kind", range(NUM_TYPES))
def test_every_joint_type_is_simulated_between_hard_limits_and_baked(part, scene, make, joint, kind):
    name = make.shaped(part, scene, joint, kind)
    settings = joint.condyle.joint
    if name == "composite":  # fewer coordinates than a body has, or some would move no inertia
        settings.parts.clear()
        for each in ("hinge", "slider", "universal"):
            settings.parts.add().type = each
        settings.parts[2].axis = (1, 0, 0)
        settings.type = "hinge"
        settings.type = "composite"
    part("making.bodies_and_joints").take_rest_pose(joint)
    settings.hard_limits, settings.restitution = True, 0.3
    for row in settings.coordinates:
        row.start, row.start_speed, row.damping = 0.05, 0.5, 0.01
        row.limits, row.lower, row.upper = "CUSTOM", -0.4, UPPER
    report = part("jobs.bake").bake_now(scene)
    for frame, pose in ((1, report.poses["Bob"][0]), (13, report.poses["Bob"][-1])):
        scene.frame_set(frame)
        assert np.abs(np.array(bpy.data.objects["Bob"].matrix_world) - pose).max() < 2e-6
    assert list(report.coordinates) == [f"Joint.{row.label}" for row in settings.coordinates]
    for values in report.coordinates.values():
        # passed by a step at most
        assert np.isclose(values[0], 0.05, atol=1e-6) and values.max() < UPPER + 0.01


def test_a_ball_in_its_cone(part, scene, joint):
    settings = joint.condyle.joint
    settings.type, settings.axis, settings.ball_limit, settings.cone_angle = (
        "spherical",
        (0, 0, 1),
        "CONE",
        0.1,
    )
    part("making.bodies_and_joints").take_rest_pose(joint)
    settings.hard_limits = True
    settings.coordinates[0].start_speed = 5.0
    report = part("jobs.bake").bake_now(scene)
    tilts = np.arccos(np.clip(report.poses["Bob"][:, 2, 2], -1.0, 1.0))
    assert 0.09 < tilts.max() < 0.12
