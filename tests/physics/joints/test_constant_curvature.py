"""A rod of constant curvature against the exponential of its twist, and OpenSim's reading of one."""

import numpy as np
import pytest

import physics as ph
from tests.physics.io.osim import GROUND, body, coordinate, joint, write


def arc(length, q):
    """exp of a bend about a horizontal axis while the rod advances along y, then a twist that takes x to OpenSim's."""
    turn = np.eye(3)
    for axis, angle in zip(np.eye(3)[[0, 2, 1]], q):
        turn = turn @ ph.lie.so3_exp(angle * axis)
    direction = turn[:, 1]
    axis = np.cross([0.0, 1.0, 0.0], direction)
    bend = np.arctan2(np.linalg.norm(axis), direction[1])
    axis *= bend / max(np.linalg.norm(axis), 1e-300)
    pose = ph.lie.exp(np.concatenate([axis, [0.0, length, 0.0]]))
    assert np.abs(pose[:3, 1] - direction).max() < 1e-14
    return np.block([[turn, pose[:3, 3:]], [0.0, 0.0, 0.0, 1.0]])


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-5, 0.01, 0.5, 0.85, 1.4])
def test_the_end_is_that_of_an_arc(size):
    rng = np.random.default_rng(0)
    for _ in range(20):
        length, neutral, q = (
            rng.uniform(0.1, 0.5),
            0.3 * size * rng.normal(size=3),
            size * rng.uniform(-1, 1, 3),
        )
        pose = ph.joints.ConstantCurvature(length, neutral).transform(q)
        assert np.abs(pose - arc(length, q + neutral)).max() < 1e-14  # round-off


def test_a_straight_rod_has_exact_derivatives():
    """Of the arc's end by both angles: L / 2 across, and 0 along."""
    _, twists, slopes = ph.joints.ConstantCurvature(0.4).evaluate([0.0, 0.0, 0.0])
    assert np.array_equal(twists[3:], [[0.0, -0.2, 0.0], [0.0, 0.0, 0.0], [0.2, 0.0, 0.0]])
    assert slopes[4, 0, 0] == slopes[4, 1, 1] == pytest.approx(0.2 - 0.4 / 3.0, abs=1e-16)


def test_opensims_joint_is_read_and_written(tmp_path):
    names = "".join(coordinate(name) for name in ("bending", "extension", "twist"))
    rest = "<length>0.3</length><neutral_angle_x_z_y>0 -0.6 0.1</neutral_angle_x_z_y>"
    made = joint("ConstantCurvatureJoint", "j", GROUND, "a", names, rest=rest)
    read = ph.read_opensim(write(tmp_path / "m.osim", body("a"), made))
    model = read.build()
    assert list(read.coordinates) == ["bending", "extension", "twist"] and not read.warnings
    assert model.joints[0] == ph.joints.ConstantCurvature(0.3, (0.0, -0.6, 0.1))
    ph.write_opensim(model, tmp_path / "again.osim", tolerance=1e-4)
    assert ph.read_opensim(tmp_path / "again.osim").build().joints[0] == model.joints[0]
