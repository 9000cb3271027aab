"""A bake takes a shot of the scene, plans, simulates and writes it: without Blender between the first and the last."""

import numpy as np
import pytest

from tests.addon.walking import add_tail, walker

bpy = pytest.importorskip("bpy")
from ..tracer import seeing  # noqa: E402

# Modules of the add-on that see Blender's data on a bake; 15 are the aim.
SEEING = 71


@pytest.fixture
def stage(part, scene, make, body):
    """A tail that is simulated on a rig that a constraint moves, with a cord and a spring; and a driven arm."""
    rig = walker(make, scene, "constraint")
    add_tail(part, scene, rig)
    post = make.box("Post", (1, 0, 1))
    points = [(body(post), (0, 0, 1.1)), (body(rig, "Tail.3"), (0, -0.3, 1.0))]
    part("making.muscles").add_muscle(scene, points, "Cord")
    part("making.connections").add_connection(scene, body(post), body(rig, "Tail.3"), "spring")
    joint, slider = make.driven_arm(part, scene)
    joint.condyle.joint.prescribed = True
    for frame, value in ((1, 0.0), (13, 0.8)):
        joint[slider] = value
        joint.keyframe_insert(f'["{slider}"]', frame=frame)
    scene.frame_set(1)
    return scene


def taken(part, scene):
    return part("jobs.take").take(scene, np.arange(scene.frame_start, scene.frame_end + 1.0))


def test_a_plan_sees_nothing_of_blender_and_a_shot_cannot_be_changed(part, condyle, stage):
    shot = taken(part, stage)
    with seeing(condyle.__name__) as found:
        plan = part("blender.compute_process").run(part("jobs.shot").plan(shot))
    assert found == set() and {"Up", "Rig/Hips (animated)"} <= plan.options["motions"].keys()
    for values in (shot.excited, shot.joints[0].poses, shot.joints[0].strength.weights[:0]):
        assert len(values) == 0 or not values.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        shot.pushed[0] = 1.0


def test_few_modules_see_the_scene_on_a_bake(part, condyle, stage):
    with seeing(condyle.__name__) as found:
        part("jobs.bake").bake_now(stage)
    assert len(found) <= SEEING, sorted(found)
