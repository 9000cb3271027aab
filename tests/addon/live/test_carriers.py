"""What is not simulated moves along in a live run, and leads it as it leads a bake."""

import bpy
import numpy as np
import pytest

from tests.addon.digests import differences, digest
from tests.addon.live.test_run import Hand
from tests.addon.walking import add_tail, walker

from ..animation.test_rigs_of_all_kinds import constrain
from ..keying import set_keys


@pytest.mark.small
@pytest.mark.parametrize("way", ["own keys", "driver", "stretched"])
def test_the_rig_walks_in_step_and_the_numbers_are_those_of_a_bake(part, scene, make, way):
    rig = walker(make, scene, "own keys" if way == "stretched" else way)
    if way == "stretched":
        constrain(scene, make, rig, "STRETCH_TO")
        scene.frame_set(1)
    add_tail(part, scene, rig)
    bones, seen = rig.pose.bones, []
    rest = rig.data.bones["Hips"].matrix_local.inverted() @ rig.data.bones["Tail.1"].head_local

    def look(run):
        bpy.context.view_layer.update()
        off = (bones["Hips"].matrix @ rest - bones["Tail.1"].matrix.translation).length
        seen.append((run.time, scene.frame_current_final, off))

    before = digest()
    script = [(0.06 * k, look) for k in range(1, 7)]
    Hand(part, scene, script, duration=0.45).walk()
    assert not differences(before, digest()), differences(before, digest())
    assert len(seen) == 6
    for time, frame, off in seen:
        assert frame == pytest.approx(1.0 + 24.0 * time, abs=1e-3)
        assert off < 1e-4  # m: a tenth of a millimetre
    live = Hand(part, scene, duration=0.45, record=True).walk().baked.result
    part("jobs.bake").free_bake(scene)
    whole = part("jobs.bake").bake_now(scene).result
    rows = len(live.t)
    assert rows >= 10 and live.q[:rows].tobytes() == whole.q[:rows].tobytes()


def test_a_knee_of_a_leg_runs_while_the_hips_walk(part, scene, make, body, authoring):
    """A run mutes the leg's IK, shows the thigh where it held it, and gives the IK back."""
    rig = walker(make, scene)
    constraint, bones, seen, thigh = rig.pose.bones["Shin"].constraints["IK"], rig.pose.bones, [], {}
    limited = bones["Shin"].constraints.new("LIMIT_ROTATION")
    joint = authoring.add_joint(scene, body(rig, "Thigh"), body(rig, "Shin"), "hinge")
    joint.condyle.joint.axis = (1, 0, 0)
    for frame in range(1, 14):
        scene.frame_set(frame)
        thigh[frame] = np.array(bones["Thigh"].matrix)
    scene.frame_set(1)
    before = digest()

    def look(run):
        bpy.context.view_layer.update()
        assert constraint.mute and limited.mute
        frame = scene.frame_current_final
        share = frame % 1.0
        between = (1.0 - share) * thigh[int(frame)] + share * thigh[int(frame) + 1]
        place = np.array(bones["Thigh"].matrix)
        knee = np.array(bones["Shin"].matrix)[:3, 3]
        ends = place[:3, 3] + place[:3, 1] * bones["Thigh"].length
        seen.append((np.abs(place - between).max(), np.abs(knee - ends).max(), knee))

    Hand(part, scene, [(0.06 * k, look) for k in range(1, 7)], duration=0.45).walk()
    assert not (constraint.mute or limited.mute) and not differences(before, digest()), differences(
        before, digest()
    )
    # a turn of up to 0.2 rad a frame, its chord instead of its arc; the knee: single precision
    assert len(seen) == 6 and max(off for off, _, _ in seen) < 0.2**2 / 8
    assert max(apart for _, apart, _ in seen) < 1e-5
    assert np.linalg.norm(seen[-1][2] - seen[0][2]) > 0.1


@pytest.mark.parametrize("ends", ["cycles", "as it began", "elsewhere"])
def test_beyond_the_last_frame_the_scene_shows_what_leads_the_run(part, scene, make, body, authoring, ends):
    scene.frame_start, scene.frame_end = 1, 7
    top, bob = make.box("Top", (0, 0, 1)), make.box("Bob", (0, 0, 0.5))
    bob.parent, bob.matrix_parent_inverse = top, top.matrix_world.inverted()
    place = np.eye(4)
    place[2, 3] = 0.8
    authoring.add_joint(scene, body(top), body(bob), "spherical", place)
    set_keys(top, "location", {1: 0.0, 4: 0.1, 7: 0.3 if ends == "elsewhere" else 0.0}, axis=0)
    if ends == "cycles":
        for curve in part("blender.compat").curves_in_use(top):
            curve.modifiers.new("CYCLES")
    scene.frame_set(1)
    make.update()
    seen = []

    def look(run):
        bpy.context.view_layer.update()
        pose = run.poses[[name.startswith("Top") for name in run._model.body_names].index(True)]
        seen.append(abs(pose[0, 3] - top.matrix_world.translation.x))

    Hand(part, scene, [(0.1 * k, look) for k in range(1, 7)], duration=0.7).walk()
    assert len(seen) == 6 and max(seen) < 1e-5  # single precision, and a spline through 240 places a second
