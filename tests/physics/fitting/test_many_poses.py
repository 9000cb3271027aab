"""Compiled kernels of a curve fit give what its batched form gives, and are left out of small fits."""

import subprocess
import sys

import numpy as np
import pytest

import physics as ph
from physics.fitting import many_poses
from physics.fitting.gauss_newton import Objective
from physics.geometry import lie
from physics.geometry.twist_metric import TwistMetric
from physics.kernels.compiler import jit
from tests.physics.generators import loop_frames, smooth_frames

jitted = pytest.mark.skipif(not jit.JITTED, reason="kernels run as plain Python: fits do not use them")


def objective(order, periodic, metric, count=90):
    """Poses within 0.5 rad and m of a curve whose frames turn by up to 1.5 rad, its frames, and the objective."""
    rng = np.random.default_rng(order)
    frames = loop_frames(rng, 10) if periodic else smooth_frames(rng, 12, 1.5)
    joint = ph.joints.SplineCurve(frames, order=order, periodic=periodic)
    last = len(frames) + (order - 1 if periodic else 0)
    q = np.linspace(joint.knots[order - 1], joint.knots[last], count, endpoint=False)
    targets = joint.transform(q[:, None]) @ lie.exp(0.3 * rng.standard_normal((count, 6)))
    given = Objective.make(targets, q, joint.knots, order, periodic, 0.3, metric, rng.random(count))
    return joint.frames, given


@jitted
@pytest.mark.parametrize(("order", "periodic"), [(4, False), (5, True), (8, False)])
@pytest.mark.parametrize("coupled", [False, True])
def test_the_same_system_to_round_off(monkeypatch, order, periodic, coupled):
    root = np.random.default_rng(0).standard_normal((6, 6))
    metric = TwistMetric.of_matrix(root @ root.T + np.eye(6)) if coupled else TwistMetric.of_length(0.5)
    frames, given = objective(order, periodic, metric)
    results = []
    for many in (1, 10**9):
        monkeypatch.setattr(many_poses, "MANY", many)
        system = given.system(frames)
        _, h = many_poses.derivatives(frames, given.inner, len(given.targets))
        value = np.array(given.value(frames))
        results.append([given.residuals(frames), system.dense, system.right, h, value])
    for one, other in zip(*results):
        # round-off in sums of 90 products; measured up to 3e-13
        np.testing.assert_allclose(one, other, rtol=0.0, atol=2e-12 * np.abs(other).max())


@jitted
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_same_fit(monkeypatch, smoothing):
    _, given = objective(4, False, TwistMetric.of_length(1.0), 200)
    fits = []
    for many in (1, 10**9):
        monkeypatch.setattr(many_poses, "MANY", many)
        fits.append(ph.fit_curve(given.targets, np.arange(200.0), 12, smoothing))
    assert fits[0].converged and fits[1].converged
    # round-off, multiplied by the condition of the frames
    np.testing.assert_allclose(fits[0].joint.frames, fits[1].joint.frames, atol=1e-9)


def test_a_small_fit_imports_no_numba():
    program = (
        "import sys, numpy as np, physics as ph\n"
        "from physics.geometry import lie\n"
        "poses = lie.exp(np.linspace(0.0, 1.0, 25)[:, None] * np.arange(1.0, 7.0) / 7.0)\n"
        "ph.fit_curve(poses, num_frames=6)\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
