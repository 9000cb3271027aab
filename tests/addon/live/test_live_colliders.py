"""Colliders in live runs: the shapes and the numbers of a bake, and nothing passes through what is fast."""

import numpy as np
import pytest

from tests.addon.chain_rigs import add_chain, rig_with_tail, tail
from tests.addon.live.test_run import Hand
from tests.addon.making.test_colliders import add_collider, ball, floor

from ..keying import make_keys, set_keys

bpy = pytest.importorskip("bpy")
RADIUS = 0.08


def test_a_ball_that_is_shot_through_a_chain_takes_it_along(part, scene, make):
    """It moves 0.3 m between two frames, of 24 a second; the links hang straight down and are 0.04 m thick."""
    rig = rig_with_tail(make, 6)
    add_chain(rig, *tail(rig), preset="ROPE")
    shot = ball("Ball", RADIUS, location=(-0.6, -0.11, 0.65))
    set_keys(shot, "location", {1: -0.6, 5: 0.6, 12: 0.6}, axis=0)
    make_keys(shot, "LINEAR")
    add_collider(shot, shape="SPHERE")
    add_collider(floor(location=(0, 0, 0.3)), shape="PLANE")
    scene.frame_start, scene.frame_end = 1, 12
    scene.frame_set(1)
    live = Hand(part, scene, duration=0.4, record=True).walk().baked
    part("jobs.bake").free_bake(scene)
    whole = part("jobs.bake").bake_now(scene)
    rows = min(len(live.result.t), len(whole.result.t))
    assert rows >= 9 and live.result.q[:rows].tobytes() == whole.result.q[:rows].tobytes()
    body = rig.pose.bones["Tail.3"].condyle.body
    thick = np.sqrt(body.mass / (np.pi * 0.1 * body.density))
    for k, frame in enumerate(whole.frames):
        scene.frame_set(int(frame))
        center = np.array(shot.matrix_world.translation)
        for name in tail(rig):
            head = whole.poses[f"Rig/{name}"][k][:3, 3]
            along = 0.1 * whole.poses[f"Rig/{name}"][k][:3, 1]
            share = np.clip((center - head) @ along / 0.01, 0.0, 1.0)
            gap = np.linalg.norm(center - head - share * along) - RADIUS - thick
            assert gap > -1e-3  # m: no penetration above a millimetre at frames
    middle = np.array([whole.poses["Rig/Tail.3"][k][0, 3] for k in range(len(whole.frames))])
    assert middle.max() > 0.1  # m
