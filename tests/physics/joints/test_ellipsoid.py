"""The joints over an ellipsoid against their published matrices, the legacy joints against inverse rotations."""

import numpy as np
import pytest

import physics as ph
from physics.joints.euler_angles import euler_rotations


def turn(axis, angle):
    return ph.lie.so3_exp(angle * np.asarray(axis, dtype=float))


@pytest.mark.parametrize("normal", ["true", "opensim"])
def test_surface_frame_is_the_published_one(normal):
    """ArtiSynth's guide, eqs. 3.28 and 3.29: the columns of the frame from their direction vectors."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        axes, winging, q = rng.uniform(0.3, 1.2, 3), rng.uniform(-1, 1), rng.uniform(-3, 3, 4)
        pose = ph.joints.Ellipsoid(*axes, winging=winging, normal=normal).transform(q)
        (s_lon, c_lon), (s_lat, c_lat) = [(np.sin(x), np.cos(x)) for x in q[:2]]
        position = axes * [s_lat, -s_lon * c_lat, c_lon * c_lat]
        weights = axes if normal == "true" else np.ones(3)
        x = weights * [c_lat, s_lon * s_lat, -c_lon * s_lat]
        z = position / (axes**2 if normal == "true" else axes)
        x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
        rotation = np.stack([x, np.cross(z, x), z], axis=1)
        rotation = rotation @ turn([0, 0, 1], q[2]) @ turn([np.cos(winging), np.sin(winging), 0], q[3])
        assert np.abs(pose[:3, 3] - position).max() < 1e-14
        assert np.abs(pose[:3, :3] - rotation).max() < 1e-13


def test_sphere_needs_no_correction_of_its_normal():
    q = [0.4, -0.7, 0.3, 0.2]
    poses = [ph.joints.Ellipsoid(0.5, 0.5, 0.5, normal=n).transform(q) for n in ("true", "opensim")]
    assert np.abs(poses[0] - poses[1]).max() < 1e-15


def test_scapula_turns_as_in_opensim():
    """The chain of OpenSim's two massless bodies: an ellipsoid turned by pi/2 about z, then a pin through a point."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        radii, origin, direction = rng.uniform(0.05, 0.3, 3), rng.uniform(-0.1, 0.1, 2), rng.uniform(-1, 1)
        q = rng.uniform(-1.5, 1.5, 4)
        quarter = np.eye(4)
        quarter[:3, :3] = turn([0, 0, 1], 0.5 * np.pi)
        inner = np.eye(4)
        inner[:3, :3] = turn([1, 0, 0], q[0]) @ turn([0, 1, 0], q[1]) @ turn([0, 0, 1], q[2])
        inner[:3, 3] = radii[[1, 0, 2]] * inner[:3, 2]  # Simbody: the radii times the frame's z axis
        wing = np.eye(4)
        wing[:3, :3] = turn([-np.sin(direction), np.cos(direction), 0], q[3])
        through = np.eye(4)
        through[:2, 3] = origin
        expected = quarter @ inner @ quarter.T @ through @ wing @ np.linalg.inv(through)
        pose = ph.joints.Scapulothoracic(radii, origin, direction).transform(q)
        assert np.abs(pose - expected).max() < 1e-14


def test_legacy_joints_are_inverse_rotations():
    q = np.array([0.3, -0.5])
    hinge = ph.joints.ReversedHinge().transform([0.3])
    assert np.abs(hinge[:3, :3] - turn([0, 0, 1], -0.3)).max() < 1e-15
    roll_pitch = ph.joints.RollPitch().transform(q)[:3, :3]
    assert np.abs(roll_pitch.T - turn([0, 0, 1], 0.3) @ turn([0, 1, 0], -0.5)).max() < 1e-15
    joint = ph.joints.RollPitchYaw()
    angles = np.array([0.3, -0.5, 0.9])
    rotation = joint.transform(joint.from_readings(angles))[:3, :3]
    assert np.abs(rotation.T - euler_rotations("zyx", angles)).max() < 1e-15
    assert np.abs(joint.readings(joint.from_readings(angles)) - angles).max() < 1e-15


def test_gimbal_passes_its_lock():
    """A body spun about the axis that lines up with its first: three hinges stall there, the gimbal does not notice."""
    builder = ph.ModelBuilder(gravity=(0, 0, 0))
    joint = ph.joints.Euler("zyx")
    inertia = np.diag([0.02, 0.01, 0.025])
    builder.add_body("top", joint=joint, mass=1.0, inertia=inertia)
    model = builder.build()
    result = ph.simulate(model, model.state(q=joint.from_readings([0.0, 0.0, 0.0]), qd=[0.0, 2.0, 0.0]), 3.0)
    angles = joint.readings(result.q)
    # about a principal axis the spin is steady: the pitch runs through pi/2, where roll and yaw jump by pi
    expected = euler_rotations("zyx", np.stack([0 * result.t, 2.0 * result.t, 0 * result.t], axis=1))
    assert np.abs(euler_rotations("zyx", angles) - expected).max() < 1e-12
    assert np.abs(angles[:, 1]).max() > 1.56
    assert np.ptp(result.energy[:, 2]) < 1e-14


def test_free_joint_in_both_orders():
    r, p = np.array([0.3, 0.2, -0.4]), np.array([1.0, 2.0, 3.0])
    rotation = ph.lie.so3_exp(r)
    fixed_axes = ph.joints.Free().transform([*p, *r])
    own_axes = ph.joints.Free(rotation_first=True).transform([*r, *p])
    assert np.abs(fixed_axes[:3, 3] - p).max() < 1e-15
    assert np.abs(own_axes[:3, 3] - rotation @ p).max() < 1e-15
    assert np.abs(own_axes[:3, :3] - fixed_axes[:3, :3]).max() < 1e-15


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: ph.joints.Ellipsoid(1, 1, 0), "ellipsoid joint c must be positive, got 0"),
        (lambda: ph.joints.Ellipsoid(1, 1, 1, normal="false"), "got 'false'"),
        (lambda: ph.joints.Scapulothoracic((1, -1, 1)), "radii must be positive, got -1"),
        (lambda: ph.joints.Euler("zz"), "got 'zz'"),
        (lambda: ph.joints.Euler().from_readings([1, 2]), "shape"),
        (lambda: ph.joints.Hinge().readings([1, 2]), r"hinge joint coordinates must have shape \(..., 1\)"),
        (lambda: ph.joints.Hinge().from_readings("up"), "hinge joint readings must be numbers"),
    ],
)
def test_bad_numbers_are_named(make, words):
    with pytest.raises(ph.ModelError, match=words):
        make()
