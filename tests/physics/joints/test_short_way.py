"""Cubic spline curves have a short way of their own through the kernels: it leads where the general one does."""

import numpy as np
import pytest

import physics as ph
from physics.geometry import lie
from physics.joints.curve_packing import inverted_spline, with_turned
from physics.kernels import layout
from physics.kernels.joints.kinematics import kinematics


def curve(rng, turn, shift):
    """A curve whose frames are each a random twist of that size behind the one before; every third does not turn."""
    frames = [lie.exp(rng.normal(size=6))]
    for k in range(7):
        axis, way = rng.normal(size=(2, 3))
        axis *= 0.0 if k % 3 == 1 else turn / np.linalg.norm(axis)
        frames.append(frames[-1] @ lie.exp(np.concatenate([axis, shift * way / np.linalg.norm(way)])))
    return ph.joints.SplineCurve(np.array(frames), knots=np.arange(12.0))


def motion(model, arrays, q, qd):
    """What `kinematics` leaves of bodies and coordinates."""
    spaces = model.workspace().clear()
    kinematics(arrays, q, qd, *spaces)
    bodies, twist = spaces[0][: model.num_bodies], np.array(layout.TWIST)
    pose = layout.POSE + np.flatnonzero(np.arange(16) % 4 < 3)  # four vectors with room for four
    columns = np.concatenate([pose, layout.VELOCITY + twist])
    return bodies[:, columns], bodies[:, layout.BIAS + twist], spaces[1][:, layout.SUBSPACE + twist]


@pytest.mark.parametrize("turn", [1e-12, 1e-5, 0.05, 0.49, 0.51, 2.8])
def test_the_short_way_leads_where_the_general_one_does(turn):
    rng = np.random.default_rng(3)
    for shift in (1e-6, 0.3):
        builder = ph.ModelBuilder()
        for k in range(4):
            placement = lie.exp(rng.normal(size=6))
            builder.add_body(
                f"link {k}",
                f"link {k - 1}" if k else None,
                joint=curve(rng, turn, shift),
                joint_in_parent=placement,
                mass=1.0,
                inertia=np.eye(3),
            )
        model = builder.build()
        data = model.arrays[3].copy()
        for block in model.arrays[2]:
            at = block[layout.DATA] + layout.SPLINE_TURNED
            assert data[at] > 0.0  # the short way is taken at all
            data[at] = 0.0
        general = (*model.arrays[:3], data, model.arrays[4])
        for _ in range(20):
            q = np.array([rng.uniform(*joint.range[0]) for joint in model.joints])
            qd = rng.normal(size=4)
            for short, long in zip(motion(model, model.arrays, q, qd), motion(model, general, q, qd)):
                # sums of a few hundred terms of the size of the largest
                assert np.abs(short - long).max() <= 1e-13 * max(1.0, np.abs(long).max())


def test_a_curve_that_is_inverted_twice_has_it_again():
    data = curve(np.random.default_rng(5), 0.3, 0.2).factorization().blocks[0].data
    once = inverted_spline(data)
    twice = inverted_spline(once)
    assert once[layout.SPLINE_TURNED] == 0.0
    assert len(once) < len(data) == len(twice)
    assert np.abs(twice - data).max() < 1e-14
    assert np.array_equal(with_turned(data), data)
