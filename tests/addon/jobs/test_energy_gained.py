"""Energy that comes from nowhere is told behind a bake, whatever else is driven; what a motion puts in is not."""

import bpy
import numpy as np
import pytest

from ..keying import key_slider
from ..said import codes


@pytest.fixture
def ground_and_arm(part, scene, make, authoring):
    """A box over soft ground without damping, and an arm on a hinge beside it, whose slider is keyed."""
    stone = make.box("Stone", (0.0, 0.0, 0.5), (0.2, 0.2, 0.2))
    swung = make.box("Arm", (2.0, 0.0, 0.0))
    body, references = stone.condyle.body, part("data.references")
    body.enabled, body.motion = True, "FREE"
    found = part("making.connections").add_connection(
        scene, None, references.Body(stone), "ground", np.eye(4), None
    )
    ground = found.condyle.connection.ground
    ground.contact, ground.stiffness, ground.damping = "SOFT", 1e6, 0.0
    frame = np.eye(4)
    frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    frame[:3, 3] = 2.0, 0.0, 0.2
    joint = authoring.add_joint(scene, None, references.Body(swung), "hinge", frame, name="Hip")
    authoring.drive(scene, joint, True)
    key_slider(joint, {1: 0.0, 25: 1.0, 49: -1.0})
    joint.condyle.joint.prescribed = True
    scene.frame_start, scene.frame_end = 1, 49
    return scene


@pytest.mark.parametrize(("step", "told"), [(1e-4, False), (4e-3, True)])
@pytest.mark.parametrize("beside", ["", "windows", "muscle", "controller"])
def test_gains_are_told_beside_a_prescribed_joint(part, ground_and_arm, make, step, told, beside):
    """And beside one that is let go and caught again, a muscle that does nothing, and a controller."""
    hip = bpy.data.objects["Hip"].condyle.joint
    if beside == "windows":
        for frame, on in ((1, True), (20, False), (30, True)):
            hip.prescribed = on
            bpy.data.objects["Hip"].keyframe_insert("condyle.joint.prescribed", frame=frame)
    elif beside == "muscle":
        body = part("data.references").Body(bpy.data.objects["Arm"])
        part("making.muscles").add_muscle(
            ground_and_arm, [(None, (2.1, 0, 0.4)), (body, (2.1, 0, 0))], "Idle"
        )
    elif beside == "controller":
        hip.prescribed, hip.controller.enabled = False, True
    ground_and_arm.frame_set(1)
    settings = ground_and_arm.condyle.simulation
    settings.integrator, settings.time_step = "symplectic_euler", step
    result = part("jobs.bake").bake_now(ground_and_arm)
    assert np.ptp(result.energy[:, 2]) > 1.0  # the motion puts energy in, and takes it out
    assert ("energy-gained" in codes(result.warnings)) == told


@pytest.mark.parametrize(("step", "told"), [(1e-3, False), (0.1, True), (0.5, True)])
def test_steps_in_which_bodies_turn_far_are_told(part, scene, make, authoring, step, told):
    """A pendulum, whose energy may seem right whatever the step."""
    swung = make.box("Arm", (0.0, 0.0, 0.0))
    frame = np.eye(4)
    frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    frame[:3, 3] = 0.0, 0.0, 0.2
    joint = authoring.add_joint(scene, None, part("data.references").Body(swung), "hinge", frame, name="Hip")
    joint.condyle.joint.coordinates[0].start = 1.2
    scene.frame_start, scene.frame_end = 1, 49
    scene.condyle.simulation.time_step = step
    result = part("jobs.bake").bake_now(scene)
    assert bool({"big-turn", "energy-gained", "energy-grows"} & set(codes(result.warnings))) == told


@pytest.mark.parametrize("given", [False, True])
def test_a_wheel_that_turns_fast_but_evenly_is_not_told(part, scene, make, authoring, given):
    wheel = make.box("Wheel", (0.0, 0.0, 0.0))
    frame = np.eye(4)
    frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    joint = authoring.add_joint(scene, None, part("data.references").Body(wheel), "hinge", frame, name="Axle")
    joint.condyle.joint.coordinates[0].start_speed = 400.0
    scene.frame_start, scene.frame_end = 1, 13
    if given:
        authoring.drive(scene, joint, True)
        key_slider(joint, {1: 0.0, 13: 20.0})
        joint.condyle.joint.prescribed = True
        scene.condyle.simulation.time_step = 0.02
    scene.frame_set(1)
    result = part("jobs.bake").bake_now(scene)
    assert "big-turn" not in codes(result.warnings)
