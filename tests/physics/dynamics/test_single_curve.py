"""A cubic spline curve alone at a body goes a short way through the kernels; beside other factors it does not."""

import numpy as np
import pytest

import physics as ph
from tests.verification.generators import chain, smooth_frames


@pytest.mark.parametrize("num_frames", [4, 8])
def test_short_way_agrees_with_the_general_one(num_frames: int) -> None:
    rng = np.random.default_rng(num_frames)
    curves = [ph.joints.SplineCurve(smooth_frames(rng, num_frames, 0.9, 0.1)) for _ in range(5)]
    # a second factor, held where it changes nothing
    beside = [ph.joints.Composite((curve, ph.joints.Fixed())) for curve in curves]
    twice = [ph.joints.Composite((ph.joints.Slider(), curve)) for curve in curves]
    short, fixed, long = (
        chain(5, lambda index, joints=joints: joints[index]) for joints in (curves, beside, twice)
    )
    held = np.zeros(10)
    for _ in range(20):
        share = rng.uniform(-0.1, 1.1, 5)  # beyond the ends as well
        q = np.array([low + x * (high - low) for x, (low, high) in zip(share, (c.range[0] for c in curves))])
        qd, qdd = rng.standard_normal((2, 5))
        here = short.state(q=q, qd=qd)
        there = long.state(q=np.ravel([(0.0, x) for x in q]), qd=np.ravel([(0.0, x) for x in qd]))
        held[1::2] = qdd
        tau = ph.inverse_dynamics(long, there, held)[1::2]
        # a dozen products each way, of numbers of the order of the largest force
        close = {"rtol": 1e-12, "atol": 1e-12 * float(np.abs(tau).max())}
        np.testing.assert_allclose(ph.inverse_dynamics(short, here, qdd), tau, **close)
        np.testing.assert_allclose(ph.inverse_dynamics(fixed, fixed.state(q=q, qd=qd), qdd), tau, **close)
        poses = ph.body_poses(long, there)
        np.testing.assert_allclose(ph.body_poses(short, here), poses, atol=1e-13 * float(np.abs(poses).max()))
