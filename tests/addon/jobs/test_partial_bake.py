"""A run that blows up is told, and what it gave until then can be baked."""

import bpy
import numpy as np
import pytest

from ..animation.test_led_joints import hinged_arm


@pytest.fixture
def arm(part, scene, make):
    return hinged_arm(part, scene, make)


def bake_unfinished(part, scene):
    return part("blender.compute_process").run(part("jobs.bake").bake_unfinished(scene))


def test_a_run_that_blows_up_is_told_in_the_panel(part, scene, arm, ph):
    *_, (_shoulder, elbow) = arm
    elbow.condyle.joint.coordinates[0].stiffness = 1e9
    elbow.condyle.joint.coordinates[0].start = 1.0
    with pytest.raises(ph.CondyleError, match="diverged at"):
        part("jobs.bake").bake_now(scene)
    kept = scene.condyle.simulation.statistics
    assert kept.failed_reason and kept.failed_body in {"Upper", "Fore"} and not kept.integrator
    with pytest.raises(RuntimeError, match="diverged at"):
        bpy.ops.condyle.bake()
    session = part("blender.session")
    (found,) = session.findings
    assert found.code == "diverged" and found.values["step"] == pytest.approx(1e-3)
    assert found.is_error and found.text == session.message
    assert not part("baked.temporarily").is_baked(bpy.data.objects["Fore"])
    scene.condyle.simulation.integrator = "sdirk2"
    part("jobs.bake").bake_now(scene)
    assert kept.integrator == "sdirk2" and not kept.failed_reason


def too_coarse(scene, elbow):
    """Settings with which the arm gains energy at each step until it is too much."""
    coordinate, settings = elbow.condyle.joint.coordinates[0], scene.condyle.simulation
    coordinate.start, coordinate.stiffness, scene.frame_end = 1.0, 500.0, 40
    settings.integrator, settings.time_step = "forward_euler", 1.0 / 240.0


@pytest.mark.parametrize(("preroll", "samples"), [(0, 1), (2, 4)])
def test_what_a_run_that_blows_up_gave_can_be_baked(part, scene, arm, ph, preroll, samples):
    """Its frames are those of a bake that ends before it blows up; what was there comes back."""
    *_, (_shoulder, elbow) = arm
    too_coarse(scene, elbow)
    scene.condyle.start.preroll, scene.condyle.start.samples = preroll, str(samples)
    fore = bpy.data.objects["Fore"]
    assert not bpy.ops.condyle.bake_unfinished.poll()
    with pytest.raises(ph.CondyleError, match="diverged at"):
        part("jobs.bake").bake_now(scene)
    assert not part("baked.temporarily").is_baked(fore) and bpy.ops.condyle.bake_unfinished.poll()
    last = part("jobs.partial_bake").of(scene).frames[-1]
    report = bake_unfinished(part, scene)
    assert (
        1 + 1 / samples <= last < 40
        and report.frames[-1] == last
        and part("baked.temporarily").is_baked(fore)
    )
    assert part("blender.session").unfinished is None and scene.condyle.simulation.statistics.failed_reason
    poses = report.poses["Fore"]
    scene.frame_end = int(last)
    np.testing.assert_array_equal(
        part("jobs.bake").bake_now(scene).poses["Fore"], poses[: int(last - 1) * samples + 1]
    )
    part("jobs.bake").free_bake(scene)
    assert not part("baked.temporarily").is_baked(fore) and fore.animation_data is None


def test_what_a_run_gave_is_not_baked_to_a_body_that_was_stretched_since(part, scene, arm, ph):
    *_, (_shoulder, elbow) = arm
    too_coarse(scene, elbow)
    with pytest.raises(ph.CondyleError, match="diverged at"):
        part("jobs.bake").bake_now(scene)
    fore = bpy.data.objects["Fore"]
    fore.scale = (1, 1, 2)
    bpy.context.view_layer.update()
    with pytest.raises(ph.ModelError, match=r"Fore: non-uniform scale \(1, 1, 2\); apply it"):
        bake_unfinished(part, scene)
    assert fore.animation_data is None
    fore.scale = (1, 1, 1)
    bpy.context.view_layer.update()
    bake_unfinished(part, scene)
    assert part("baked.temporarily").is_baked(fore)


@pytest.mark.parametrize("change", ["unit", "moved", "scaled", "joint", "playhead", "stiffness"])
def test_what_a_run_gave_is_baked_only_to_what_is_put_together_as_it_was_simulated(
    part, scene, arm, ph, change
):
    _upper, fore, (shoulder, elbow) = arm
    too_coarse(scene, elbow)
    with pytest.raises(ph.CondyleError, match="diverged at"):
        part("jobs.bake").bake_now(scene)
    words = None
    if change == "unit":
        scene.unit_settings.scale_length, words = (
            0.1,
            "Unit Scale was 1 when this was simulated and is 0.1 now",
        )
        assert not bpy.ops.condyle.bake_unfinished.poll()
    elif change == "moved":
        shoulder.location.x, words = shoulder.location.x + 0.1, "was simulated in another place or size"
    elif change == "scaled":
        fore.scale, words = (2, 2, 2), "was simulated in another place or size"
    elif change == "joint":
        part("making.bodies_and_joints").remove_joint(scene, elbow)
        words = "Fore was simulated, but by this name no joint moves anything now"
    elif change == "playhead":
        scene.frame_set(5)
    else:
        elbow.condyle.joint.coordinates[0].stiffness = 1.0
    bpy.context.view_layer.update()
    if words is None:
        bake_unfinished(part, scene)
        assert part("baked.temporarily").is_baked(fore)
        return
    with pytest.raises(ph.ModelError, match=words):
        bake_unfinished(part, scene)
    assert not part("baked.temporarily").is_baked(fore)
