"""The batched curve is the joint's curve, and its derivatives by the control frames are exact."""

import numpy as np
import pytest

import physics as ph
from physics.fitting import linearization
from physics.fitting.linearization import Sites
from physics.geometry import lie
from tests.physics.generators import loop_frames, smooth_frames

CASES = [(order, periodic, step) for order in (4, 5, 6) for periodic in (False, True) for step in (0.3, 1.5)]
all_curves = pytest.mark.parametrize(("order", "periodic", "step"), CASES)


def make_curve(order, periodic, step):
    """A curve, and places along it: in every span, on knots, at both ends."""
    rng = np.random.default_rng(order)
    frames = loop_frames(rng, 7) if periodic else smooth_frames(rng, 9, step)
    joint = ph.joints.SplineCurve(frames, order=order, periodic=periodic, length_scale=0.7)
    end = len(frames) + (order - 1 if periodic else 0)
    knots = np.concatenate([joint.knots, joint.knots[order:] + joint.period])
    q = np.linspace(knots[order - 1], knots[end], 24)
    if not periodic:
        q = np.concatenate([q, np.unique(joint.knots)])
    return joint, Sites.at(q, joint.knots, order, periodic), q


def differences(function, frames, j):
    """Derivative (..., 6) of a function of the frames by the body twist of frame j, sixth-order central differences."""
    step, columns = 1e-2, []
    for axis in np.eye(6):
        total = 0.0
        for offset, weight in ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0)):
            for sign in (1.0, -1.0):
                moved = np.array(frames)
                moved[j] = moved[j] @ lie.exp(sign * offset * step * axis)
                total = total + sign * weight / step * function(moved)
        columns.append(total)
    return np.stack(columns, axis=-1)


def dense(blocks, index, count):
    """Blocks (n, order, 6, 6) as an array (n, count, 6, 6)."""
    result = np.zeros((len(blocks), count, 6, 6))
    for k in range(index.shape[1]):
        np.add.at(result, (np.arange(len(blocks)), index[:, k]), blocks[:, k])
    return result


@all_curves
def test_poses_and_derivatives_are_the_joints(order, periodic, step):
    joint, sites, q = make_curve(order, periodic, step)
    np.testing.assert_allclose(
        linearization.poses(joint.frames, sites), joint.transform(q[:, None]), atol=1e-13
    )
    s, h = linearization.derivatives(joint.frames, sites)
    # at a knot round-off decides which span the joint looks at: stay between
    inner = [k for k in range(len(q)) if np.abs(q[k] - joint.knots).min() > 1e-9]
    for k in inner:
        _, jacobian, hessian = joint.evaluate(q[k : k + 1])
        np.testing.assert_allclose(s[k], jacobian[:, 0], atol=1e-12)
        np.testing.assert_allclose(h[k], hessian[:, 0, 0], atol=1e-11)


@all_curves
def test_pose_jacobian_is_the_derivative_of_the_pose(order, periodic, step):
    joint, sites, _ = make_curve(order, periodic, step)
    frames = joint.frames
    exact = dense(linearization.pose_jacobian(frames, sites), sites.index, len(frames))
    back = lie.inverse(linearization.poses(frames, sites))
    for j in range(len(frames)):

        def twist(moved):
            return lie.log(back @ linearization.poses(moved, sites))

        # differences leave about h^6 = 1e-12 of the seventh derivative
        np.testing.assert_allclose(exact[:, j], differences(twist, frames, j), atol=2e-9)


@all_curves
def test_hessian_jacobian_is_the_derivative_of_the_hessian(order, periodic, step):
    joint, sites, _ = make_curve(order, periodic, step)
    frames = joint.frames
    h, blocks = linearization.hessian_jacobian(frames, sites)
    np.testing.assert_allclose(h, linearization.derivatives(frames, sites)[1], atol=1e-12)
    exact = dense(blocks, sites.index, len(frames))
    scale = max(1.0, np.abs(exact).max())
    for j in range(len(frames)):
        expected = differences(lambda moved: linearization.derivatives(moved, sites)[1], frames, j)
        np.testing.assert_allclose(exact[:, j], expected, atol=2e-9 * scale)


def test_a_frame_moves_only_its_own_spans():
    joint, sites, q = make_curve(4, False, 0.3)
    moved = np.array(joint.frames)
    moved[3] = moved[3] @ lie.exp(0.1 * np.ones(6))
    changed = np.abs(linearization.poses(moved, sites) - linearization.poses(joint.frames, sites)).max(
        axis=(1, 2)
    )
    inside = (q > joint.knots[3]) & (q < joint.knots[7])
    assert (changed[inside] > 0.0).all()
    assert changed[(q < joint.knots[3]) | (q > joint.knots[7])].max() < 1e-15


def test_moving_all_frames_together_moves_the_curve_as_one_body():
    joint, sites, _ = make_curve(5, True, 0.3)
    pose = lie.exp(np.linspace(-1.0, 1.0, 6))
    np.testing.assert_allclose(
        linearization.poses(pose @ joint.frames, sites),
        pose @ linearization.poses(joint.frames, sites),
        atol=1e-14,
    )
