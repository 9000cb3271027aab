"""Torques of joints: constant or keyed, they push a bake as physics says."""

import numpy as np
import pytest

from ..keying import make_keys


def pendulum(part, scene, make, kind="hinge"):
    """A held stand and a rod on a joint, weightless."""
    body, authoring = part("data.references").Body, part("making.bodies_and_joints")
    stand, rod = make.box("Stand", (0, 0, 1.0)), make.box("Rod", (0, 0, 0.5))
    joint = authoring.add_joint(scene, body(stand), body(rod), kind=kind, name="Axle")
    scene.condyle.simulation.gravity = (0, 0, 0)
    scene.frame_start, scene.frame_end = 1, 13
    return joint


def speed_up(part, scene, joint):
    """Angle (F,) of a bake."""
    report = part("jobs.bake").bake_now(scene)
    return report, report.coordinates["Axle.angle"]


@pytest.mark.small
def test_a_constant_torque_turns_the_joint(part, scene, make):
    joint = pendulum(part, scene, make)
    joint.condyle.joint.coordinates[0].torque = 2.0
    report, angle = speed_up(part, scene, joint)
    body = report.result.model.bodies[0]
    mass = (
        part("blender.physics_access")
        .physics()
        .mass_matrix(report.result.model, report.result.model.state())[0, 0]
    )
    assert body.mass > 0.0
    np.testing.assert_allclose(angle[-1], 0.5 * 2.0 / mass * report.times[-1] ** 2, rtol=5e-3)


def test_a_keyed_torque_is_sampled_at_the_frames_and_the_scene_is_put_back(part, scene, make):
    joint = pendulum(part, scene, make)
    row = joint.condyle.joint.coordinates[0]
    for frame, value in ((1, 0.0), (7, 3.0), (13, -3.0)):
        row.torque = value
        joint.keyframe_insert("condyle.joint.coordinates[0].torque", frame=frame)
    make_keys(joint, "LINEAR")
    scene.frame_set(4)
    read = part("reading.scene").read(scene)
    pushed = part("reading.input_values").torques(scene, read, np.arange(1.0, 14.0))
    np.testing.assert_allclose(pushed[:, 0], np.interp(np.arange(1, 14), (1, 7, 13), (0, 3, -3)), atol=1e-6)
    assert scene.frame_current == 4 and np.isclose(row.torque, 1.5)
    _, angle = speed_up(part, scene, joint)
    assert angle[6] > 0.0 and np.diff(angle)[-1] < np.diff(angle)[7]


def test_a_torque_on_what_is_only_read_off_is_refused(part, scene, make):
    joint = pendulum(part, scene, make, kind="euler")
    joint.condyle.joint.coordinates[0].torque = 1.0
    with pytest.raises(part("blender.physics_access").physics().ModelError, match="no torque can act"):
        part("jobs.bake").bake_now(scene)
