"""Goals and keys of ball joints: torques about the axes of the joints' frames are found, keyed, and bake again."""

import bpy
import numpy as np
import pytest

from ..said import codes
from .test_goals import GOAL, apart, solve
from .test_physical import LAST, make_physical, waving  # noqa: F401


@pytest.fixture
def reaching(part, scene, make, body, authoring):
    """An arm of two bones on balls whose frames are oblique, which is to reach an Empty and rest: (rig, Empty)."""
    rig, place = make.armature("Rig"), np.eye(4)
    place[:3, :3] = part("blender.physics_access").part("geometry.lie").so3_exp(np.array((0.3, 0.5, -0.2)))
    bones = [body(rig, "A"), body(rig, "B")]
    for parent, child, height in zip((None, bones[0]), bones, (1.0, 0.5)):
        place[2, 3] = height
        joint = authoring.add_joint(scene, parent, child, "spherical", place, name=f"Joint {child.bone}")
        for row in joint.condyle.joint.coordinates:
            row.damping = 0.3
    scene.frame_start, scene.frame_end = 1, GOAL + 5
    target = make.empty("Target")
    target.location = (0.5, 0.2, 0.55)
    make.update()
    for kind in ("REACH", "REST"):
        part("making.goals").add(scene, bones[1], kind, GOAL, target)
    return rig, target


@pytest.mark.parametrize("keeps_axes", [True, False])
def test_an_arm_on_balls_reaches_and_its_torques_bake_again_to_the_same(part, scene, reaching, keeps_axes):
    for name in ("Joint A", "Joint B"):
        bpy.data.objects[name].condyle.joint.torque_keeps_axes = keeps_axes
    solved = solve(part, scene)
    model = solved.bake.result.model
    assert model.num_inputs == (6 if keeps_axes else 0)
    assert apart(scene, *reaching) < 1e-3  # m: the requirement
    assert np.abs(solved.bake.result.qd[GOAL - 1]).max() < 1e-3  # rad/s
    assert codes(solved.bake.warnings) == []
    again = part("jobs.bake").bake_now(scene).result
    # curves are read in single precision, whose round-off of 1e-7 grows a hundredfold along the motion
    assert np.abs(again.q - solved.bake.result.q).max() < 1e-4


def test_what_laws_change_of_balls_is_left_to_them(part, ph, scene, reaching):
    for name in ("Joint A", "Joint B"):
        for number in range(3):
            made = part("making.feedback").add(bpy.data.objects[name], "COORDINATE")
            made.gain, made.coordinate = -1e-3, number + 1
    with pytest.raises(ph.ModelError, match="feedback laws"):
        solve(part, scene)


def test_keys_of_balls_come_back(part, scene, waving):
    scene.condyle.goals.strength = 5.0
    for name in ("Joint A", "Joint B"):
        settings = bpy.data.objects[name].condyle.joint
        settings.type = "spherical"
        for row in settings.coordinates:
            row.damping = 0.3
    made = make_physical(part, scene)
    assert (
        made.distance < 5e-3 and len(made.bake.times) == LAST
    )  # m; keys every two frames, of swings of 0.5 m
    assert made.bake.result.model.num_inputs == 6
    again = part("jobs.bake").bake_now(scene).result
    assert np.abs(again.q - made.bake.result.q).max() < 1e-6  # torques in single precision
