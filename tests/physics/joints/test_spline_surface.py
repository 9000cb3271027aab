"""The spline joint of several coordinates: closure, whole turns, moving values, and what it refuses."""

import itertools

import numpy as np
import pytest

import physics as ph
from physics.joints.euler_angles import euler_angles, euler_rotations
from tests.physics.generators import random_inertia, random_surface

SEQUENCES = ["".join(s) for s in itertools.product("xyz", repeat=3) if s[0] != s[1] and s[1] != s[2]]


def plane(rows=6, columns=5, **options):
    """A flat patch that does not turn, one unit wide."""
    values = np.zeros((rows, columns, 6))
    values[..., 3], values[..., 4] = np.meshgrid(
        np.linspace(0, 1, rows), np.linspace(0, 1, columns), indexing="ij"
    )
    return ph.joints.SplineSurface(values, **options)


def seam():
    """A ring whose last row repeats its first, a whole turn on: nothing is left between them."""
    values = np.array(plane().values)
    values[-1] = values[0]
    values[-1, :, 2] += 2.0 * np.pi
    return values


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_are_read_off_the_rotations_they_make(sequence):
    rng = np.random.default_rng(0)
    proper = sequence[0] == sequence[2]
    angles = rng.uniform(-1.4, 1.4, (200, 3)) + [0.0, 1.5 if proper else 0.0, 0.0]
    angles[:, [0, 2]] *= 2.0
    assert np.abs(euler_angles(sequence, euler_rotations(sequence, angles)) - angles).max() < 1e-13
    for locked in (0.0, np.pi) if proper else (0.5 * np.pi, -0.5 * np.pi):
        rotation = euler_rotations(sequence, np.array([0.3, locked, 0.4]))
        again = euler_rotations(sequence, euler_angles(sequence, rotation))
        assert np.abs(again - rotation).max() < 1e-14


def test_corners_are_met_and_frames_come_back():
    rng = np.random.default_rng(1)
    joint = random_surface(rng)
    frames = joint.control_frames
    again = ph.joints.SplineSurface.from_frames(
        frames, sequence=joint.sequence, rotation_first=joint.rotation_first, order=joint.order
    )
    assert np.abs(again.control_frames - frames).max() < 1e-14
    first, last = again.domain.T
    assert np.abs(again.transform(first) - frames[(0,) * len(first)]).max() < 1e-14
    assert np.abs(again.transform(last) - frames[(-1,) * len(first)]).max() < 1e-14


def test_closed_direction_closes_smoothly_and_counts_whole_turns():
    """A ring that turns once as it is gone around: its angle runs on by 2 pi a turn, its poses repeat."""
    rows, columns = 12, 5
    angle = 2.0 * np.pi * np.arange(rows) / rows
    values = np.zeros((rows, columns, 6))
    values[..., 2] = angle[:, None]
    values[..., 3], values[..., 4] = np.cos(angle)[:, None], np.sin(angle)[:, None]
    values[..., 5] = np.linspace(0, 1, columns)
    joint = ph.joints.SplineSurface(values, periodic=(True, False))
    q = np.array([0.3, 0.4])
    poses, subspaces = zip(*[joint.evaluate(q + [turn, 0.0])[:2] for turn in (0, 1, -3)])
    assert np.abs(np.array(poses) - poses[0]).max() < 1e-13
    assert np.abs(np.array(subspaces) - subspaces[0]).max() < 1e-12
    seam = [joint.evaluate([x, 0.4])[1] for x in (-1e-9, 1e-9)]
    assert np.abs(seam[0] - seam[1]).max() < 1e-6  # C2: the subspace changes by its slope times 2e-9
    turning = joint.evaluate(q)[1][2, 0]
    assert np.isclose(turning, 2.0 * np.pi, rtol=1e-12)  # evenly spaced angles give an even turn


def test_beyond_an_open_end_it_goes_straight_on_or_refuses():
    joint = plane()
    edge, beyond = joint.evaluate([1.0, 0.5]), joint.evaluate([1.5, 0.5])
    assert np.abs(beyond[0][:3, 3] - edge[0][:3, 3] - 0.5 * edge[1][3:, 0]).max() < 1e-14
    with pytest.raises(ph.JointRangeError, match="leave the range"):
        plane(outside="error").evaluate([1.5, 0.5])


def test_moving_surface_carries_the_body_by_its_velocity_and_acceleration():
    """A plate that rises as z = 1/2 g t^2 from rest leaves a body on it weightless sideways and lifts it so."""
    values = np.zeros((4, 4, 6, 6))
    values[..., 3], values[..., 4] = (
        np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 4), indexing="ij")[0][..., None],
        np.meshgrid(np.linspace(0, 1, 4), np.linspace(0, 1, 4), indexing="ij")[1][..., None],
    )
    # control values of t^2 on clamped even knots over [0, 1]: products of knots averaged (blossom)
    knots = ph.splines.clamped_knots(6, 4)
    inner = np.array([knots[j + 1 : j + 4] for j in range(6)])
    square = (inner[:, 0] * inner[:, 1] + inner[:, 0] * inner[:, 2] + inner[:, 1] * inner[:, 2]) / 3.0
    values[..., 5] = 3.0 * square
    builder = ph.ModelBuilder(gravity=(0.5, 0.0, -9.81))
    joint = ph.joints.SplineSurface(values, moving=True)
    assert joint.coordinate_names[-1] == "time" and joint.prescribed == (False, False, True)
    inertia = random_inertia(np.random.default_rng(2), 1.0)
    builder.add_body("ball", joint=joint, mass=1.0, inertia=inertia)
    model = builder.build()
    start = model.state(q=[0.3, 0.4, 0.1])
    assert start.qd[2] == 1.0
    result = ph.simulate(model, start, 0.5, 1e-3, "rk4")
    assert np.allclose(result.q[:, 2], 0.1 + result.t, atol=1e-12)
    assert np.allclose(result.poses[:, 0, 2, 3], 3.0 * (0.1 + result.t) ** 2, atol=1e-12)
    # the force that it takes is weight and lift: m (g + 6) along z at unit rate dz/dt = 6 t
    force = ph.inverse_dynamics(model, start)[2]
    assert np.isclose(force, (9.81 + 6.0) * 6.0 * 0.1, rtol=1e-12)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"values": np.zeros((4, 4, 5))}, "shape"),
        ({"values": np.full((4, 4, 6), np.nan)}, "finite"),
        ({"values": np.zeros((4, 4, 6))}, r"control values \(0, 0\) and \(1, 0\)"),
        ({"values": seam(), "periodic": (True, False)}, r"control values \(5, 0\) and \(0, 0\)"),
        ({"order": 21}, "3 to 20, got 21"),
        ({"order": (4, 4, 4)}, "one for each of 2 directions"),
        ({"order": 6}, "direction 2 of a spline surface of order 6 needs at least 6 control values, got 5"),
        ({"sequence": "xxy"}, "got 'xxy'"),
        ({"outside": "clamp"}, "got 'clamp'"),
        ({"knots": [[0.0] * 10]}, r"one list a direction \(2\), got 1"),
        ({"knots": [np.arange(10.0)[::-1], None]}, "must not decrease"),
    ],
)
def test_bad_surfaces_are_named(changes, words):
    values = changes.pop("values", plane().values)
    with pytest.raises(ph.ModelError, match=words):
        ph.joints.SplineSurface(values, **changes)


def test_gimbal_lock_is_warned_of():
    values = np.array(plane().values)
    values[..., 1] = np.linspace(1.0, 2.0, 6)[:, None]
    with pytest.warns(UserWarning, match="singularity"):
        ph.joints.SplineSurface(values)


def test_angles_and_lengths_are_those_of_the_pose():
    rng = np.random.default_rng(4)
    for _ in range(6):
        joint = random_surface(rng)
        q = rng.uniform(-0.3, 1.3, (20, joint.num_coordinates))
        numbers = joint.angles_and_lengths(q)
        poses = joint.transform(q)
        rotations = euler_rotations(joint.sequence, numbers[:, :3])
        position = numbers[:, 3:]
        if joint.rotation_first:
            position = np.einsum("nij,nj->ni", rotations, position)
        assert np.abs(poses[:, :3, :3] - rotations).max() < 1e-12
        assert np.abs(poses[:, :3, 3] - position).max() < 1e-12
