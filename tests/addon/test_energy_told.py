"""Energy that comes from nowhere is told behind a bake, whatever else is driven; what a motion puts in is not."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def ground_and_arm(part, scene, make):
    """A box over soft ground without damping, and an arm on a hinge beside it, whose slider is keyed."""
    stone = make.box("Stone", (0.0, 0.0, 0.5), (0.2, 0.2, 0.2))
    swung = make.box("Arm", (2.0, 0.0, 0.0))
    make.update()
    body, references = stone.condyle.body, part("references")
    body.enabled, body.motion = True, "FREE"
    found = part("connections").add_connection(scene, None, references.Body(stone), "ground", np.eye(4), None)
    ground = found.condyle.connection.ground
    ground.contact, ground.stiffness, ground.damping = "SOFT", 1e6, 0.0
    frame = np.eye(4)
    frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    frame[:3, 3] = 2.0, 0.0, 0.2
    joint = part("authoring").add_joint(scene, None, references.Body(swung), "hinge", frame, name="Hip")
    part("authoring").drive(scene, joint, True)
    for number, value in ((1, 0.0), (25, 1.0), (49, -1.0)):
        joint["coordinate"] = value
        joint.keyframe_insert('["coordinate"]', frame=number)
    joint.condyle.joint.prescribed = True
    scene.frame_start, scene.frame_end = 1, 49
    return scene


@pytest.mark.parametrize(("step", "told"), [(1e-4, False), (4e-3, True)])
def test_gains_are_told_beside_a_prescribed_joint(part, ground_and_arm, step, told):
    ground_and_arm.frame_set(1)
    settings = ground_and_arm.condyle.simulation
    settings.integrator, settings.time_step = "symplectic_euler", step
    result = part("tasks").bake_now(ground_and_arm)
    assert np.ptp(result.energy[:, 2]) > 1.0  # the motion puts energy in, and takes it out
    assert any("of energy come from nowhere" in warning for warning in result.warnings) == told
