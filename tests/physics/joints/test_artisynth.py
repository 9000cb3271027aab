"""Motion subspaces against the matrices that ArtiSynth's guide prints for each joint (sec. 3.4)."""

import numpy as np
import pytest

import physics as ph
from physics.geometry import lie

JOINTS = ph.joints
Z, Y = (0, 0, 1), (0, 1, 0)


def pose(rotation, position=(0, 0, 0)):
    matrix = np.eye(4, dtype=complex)
    matrix[:3, :3], matrix[:3, 3] = rotation, position
    return matrix


def turn(angle):
    c, s = np.cos(angle), np.sin(angle)
    return [[c, -s, 0], [s, c, 0], [0, 0, 1]]


def universal(q):
    (ct, cp), (st, sp) = np.cos(q), np.sin(q)
    return pose([[ct * cp, -st, ct * sp], [st * cp, ct, st * sp], [-sp, 0, cp]])


def skewed(q, alpha=0.4):
    (ct, cp), (st, sp) = np.cos(q), np.sin(q)
    ca, sa, vp = np.cos(alpha), np.sin(alpha), 1 - cp
    b = ca**2 + sa**2 * cp
    return pose(
        [
            [ct * cp - st * sa * sp, -st * b - sa * ct * sp, ca * (ct * sp - sa * st * vp)],
            [st * cp + ct * sa * sp, ct * b - sa * st * sp, ca * (st * sp + sa * ct * vp)],
            [-ca * sp, ca * sa * vp, sa**2 + ca**2 * cp],
        ]
    )


def gimbal(q):
    (ct, cf, cp), (st, sf, sp) = np.cos(q), np.sin(q)
    return pose(
        [
            [ct * cf, ct * sf * sp - st * cp, ct * sf * cp + st * sp],
            [st * cf, st * sf * sp + ct * cp, st * sf * cp - ct * sp],
            [-sf, cf * sp, cf * cp],
        ]
    )


A, B, C = 0.5, 0.3, 0.4


def surface_frame(q, true):
    (cl, cg), (sl, sg) = np.cos(q[:2]), np.sin(q[:2])
    position = np.array([A * sg, -B * sl * cg, C * cl * cg])
    axes = np.array([A, B, C])
    x = np.array([cg, sl * sg, -cl * sg]) * (axes if true else 1)
    z = position / (axes**2 if true else axes)
    x, z = x / np.sqrt(x @ x), z / np.sqrt(z @ z)  # no norm: complex steps want analytic functions
    return np.stack([x, np.cross(z, x), z], axis=1), position


def ellipsoid(q, true):
    rotation, position = surface_frame(q, true)
    (c0, cf), (s0, sf) = np.cos(q[2:]), np.sin(q[2:])
    return pose(rotation @ [[c0, -s0 * cf, s0 * sf], [s0, c0 * cf, -c0 * sf], [0, sf, cf]], position)


PRINTED = {
    "hinge": (JOINTS.Hinge(), lambda q: pose(turn(q[0]))),
    "slider": (JOINTS.Slider(), lambda q: pose(np.eye(3), [0, 0, q[0]])),
    "cylindrical": (JOINTS.Cylindrical(), lambda q: pose(turn(q[0]), [0, 0, q[1]])),
    "slotted hinge": (JOINTS.SlottedHinge(), lambda q: pose(turn(q[1]), [q[0], 0, 0])),
    "universal": (JOINTS.Universal(Z, Y), universal),
    "skewed universal": (JOINTS.SkewedUniversal(0.4), skewed),
    "planar": (JOINTS.Planar(), lambda q: pose(turn(q[2]), [q[0], q[1], 0])),
    "planar translation": (JOINTS.PlanarTranslation(), lambda q: pose(np.eye(3), [q[0], q[1], 0])),
    "ellipsoid": (JOINTS.Ellipsoid(A, B, C, normal="true"), lambda q: ellipsoid(q, True)),
    "ellipsoid, as OpenSim": (JOINTS.Ellipsoid(A, B, C), lambda q: ellipsoid(q, False)),
    "solid": (JOINTS.Fixed(), lambda q: pose(np.eye(3))),
    "revolute (legacy)": (JOINTS.ReversedHinge(), lambda q: pose(turn(-q[0]))),
    "roll-pitch (legacy)": (JOINTS.RollPitch(), lambda q: pose(universal(q)[:3, :3].T)),
}


def complex_step(printed, q):
    """Pose and motion subspace of a printed matrix, exact to round-off."""
    step, columns = 1e-30, []
    matrix = printed(q.astype(complex)).real
    for e in np.eye(len(q)):
        slope = printed(q + 1j * step * e).imag / step
        twist = np.linalg.inv(matrix) @ slope
        columns.append([twist[2, 1], twist[0, 2], twist[1, 0], *twist[:3, 3]])
    return matrix, np.array(columns).reshape(-1, 6).T


@pytest.mark.parametrize("name", PRINTED)
def test_pose_and_subspace_are_the_printed_ones(name):
    joint, printed = PRINTED[name]
    rng = np.random.default_rng(0)
    for _ in range(50):
        q = rng.uniform(-1.4, 1.4, joint.num_coordinates)
        matrix, subspace = complex_step(printed, q)
        ours, columns, _ = joint.evaluate(q)
        assert np.abs(ours - matrix).max() < 1e-14
        assert np.abs(columns - subspace).max(initial=0.0) < 1e-13


@pytest.mark.parametrize("joint", [JOINTS.Euler("zyx"), JOINTS.RollPitchYaw()], ids=lambda joint: joint.type)
def test_gimbals_in_the_rates_of_their_angles(joint):
    """They turn in exponential coordinates; S r' is what the printed matrix makes of the rates of their angles."""
    inverse = joint.type == "roll_pitch_yaw"
    rng = np.random.default_rng(1)
    for _ in range(50):
        angles, rates = rng.uniform(-1.3, 1.3, 3), rng.normal(size=3)
        matrix, subspace = complex_step((lambda q: pose(gimbal(q)[:3, :3].T)) if inverse else gimbal, angles)
        r = joint.from_readings(angles)
        ours, columns, _ = joint.evaluate(r)
        assert np.abs(ours - matrix).max() < 1e-14
        rate = np.linalg.solve(columns[:3], (subspace @ rates)[:3])
        step = 1e-6
        ahead, behind = joint.readings(r + step * rate), joint.readings(r - step * rate)
        assert np.abs((ahead - behind) / (2.0 * step) - rates).max() < 1e-8


def test_a_ball_tells_its_tilt_and_not_its_twist():
    """Tilt of 0.4 rad after any twist about z, and 0 and pi without loss near them (round-off)."""
    ball = ph.joints.Spherical()
    twist, tilt = lie.so3_exp(np.array([0.0, 0.0, 1.3])), lie.so3_exp(np.array([0.0, 0.4, 0.0]))
    q = [lie.so3_log(turn) for turn in (tilt @ twist, twist @ tilt, twist)] + [
        [1e-9, 0.0, 0.0],
        [0.0, np.pi, 0.0],
    ]
    assert np.allclose(ball.tilt(q), [0.4, 0.4, 0.0, 1e-9, np.pi], rtol=0.0, atol=1e-15)
    about_x = ph.joints.Spherical(ph.exponential_coordinates.ReachCone((1.0, 0.0, 0.0), 0.5))
    assert np.isclose(about_x.tilt([0.2, 0.0, 0.0]), 0.0) and np.isclose(about_x.tilt([0.0, 0.2, 0.0]), 0.2)
    with pytest.raises(ph.ModelError):
        ball.tilt([0.0, 1.0])
