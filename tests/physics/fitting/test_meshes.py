"""Joints found from surfaces whose motion is known."""

import numpy as np
import pytest

import physics as ph
from addon.anatomy import demo_meshes
from tests.physics.fitting.surfaces import ball, condyles, fan_triangles, grid

PLATE = (
    np.array([(-0.06, -0.05, 0), (0.06, -0.05, 0), (0.06, 0.05, 0), (-0.06, 0.05, 0)]),
    np.array([(0, 1, 2), (0, 2, 3)]),
)


def motion(fit):
    """Poses (n, 4, 4) along the fitted curve, and the motion from the first one."""
    poses = fit.joint.transform(fit.angles[:, None])
    return poses, poses @ ph.lie.inverse(fit.joint.transform(np.zeros((1, 1))))


def turned(mesh, pose):
    """A mesh in the axes of a pose."""
    back = ph.lie.inverse(pose)
    return mesh[0] @ back[:3, :3].T + back[:3, 3], mesh[1]


@pytest.mark.parametrize("socket_first", [True, False])
def test_a_ball_in_a_socket_turns_about_its_centre(socket_first):
    pose = ph.lie.exp([0.1, 0.2, 0.3, 0.0, 0.0, 0.0])
    socket, head = ball(1.05, 20, 0.2), ball(1.0, 20)
    meshes = (socket, head) if socket_first else (head, socket)
    fit = ph.fit_joint_to_meshes(*meshes, pose, upper=1.5, num_frames=4)
    poses, moved = motion(fit)
    assert np.abs(poses[:, :3, 3]).max() < 1e-4  # the mesh's edges are 0.08: their sagitta is 8e-4
    assert np.abs(moved[:, :3, :3] @ fit.axis - fit.axis).max() < 1e-4
    assert np.trace(moved[:, :3, :3], axis1=1, axis2=2) == pytest.approx(
        1.0 + 2.0 * np.cos(fit.angles), abs=1e-4
    )
    assert fit.gap == pytest.approx(0.05, abs=5e-4) and fit.penetration == 0.0


def test_a_cylinder_in_a_trough_turns_about_its_axis():
    pose = ph.lie.exp([0.3, 0.1, 0.5, 0.2, 0.1, 0.3])
    shaft = grid(
        lambda t, y: (np.cos(t), y, np.sin(t)), np.linspace(0, 2 * np.pi, 97), np.linspace(-1, 1, 33)
    )
    trough = grid(
        lambda t, y: (1.02 * np.cos(t), y, 1.02 * np.sin(t)),
        np.linspace(-2.6, -0.5, 40),
        np.linspace(-0.8, 0.8, 25),
    )
    fit = ph.fit_joint_to_meshes(shaft, turned(trough, pose), pose, lower=-0.5, upper=1.0, num_frames=4)
    poses = fit.joint.transform(fit.angles[:, None]) @ ph.lie.inverse(pose)
    assert np.abs(np.abs(fit.axis) - (0, 1, 0)).max() < 1e-4
    assert np.abs(poses[:, 1, :3] - (0, 1, 0)).max() < 1e-4
    assert np.abs(poses[:, :3, 3]).max() < 1e-4
    angles = np.arctan2(poses[:, 0, 2], poses[:, 0, 0]) * np.sign(fit.axis[1])
    assert angles == pytest.approx(fit.angles, abs=1e-4)


@pytest.mark.parametrize("plate_first", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_elliptic_condyles_roll_and_slide_on_a_plateau(plate_first):
    """The plateau keeps the height of the ellipse's support above its contact, a point that is known."""
    a, b, gap = 0.03, 0.022, 0.004
    pose = np.eye(4)
    pose[2, 3] = -b - gap
    rollers = condyles(a, b, 0.014, 0.044)
    meshes = (PLATE, rollers, ph.lie.inverse(pose)) if plate_first else (rollers, PLATE, pose)
    fit = ph.fit_joint_to_meshes(*meshes, upper=2.0, gap=gap, num_frames=6)
    poses = motion(fit)[0]
    on_rollers, on_plate = fit.contacts, fit.contacts_second
    if plate_first:
        poses, on_rollers, on_plate = ph.lie.inverse(poses), on_plate, on_rollers
    normals = poses[:, :3, 2]
    support = np.hypot(a * normals[:, 0], b * normals[:, 2])
    heights = -(normals * poses[:, :3, 3]).sum(axis=1)
    assert np.abs(heights - support - gap).max() < 1e-4  # edges are 1.7 mm long, on radii from 16 to 41 mm
    assert np.abs(normals[:, 1]).max() < 2e-3
    touching = -np.array([a * a, b * b]) * normals[:, [0, 2]] / support[:, None]
    locus = on_rollers[..., [0, 2]] + gap * normals[:, None, [0, 2]]
    assert np.abs(locus - touching[:, None]).max() < 3e-4
    assert np.abs(on_plate[..., 2]).max() < 1e-4
    assert np.abs(np.abs(on_plate[..., 1]) - 0.022).max() < 1e-3
    assert fit.penetration == 0.0
    assert gap - 2e-4 < fit.least_gap <= fit.largest_gap < gap + 2e-4


BONES = [(each.vertices, fan_triangles(each.faces)) for each in map(demo_meshes.mesh, ("Femur", "Tibia"))]
STRAIGHT, RANGE = demo_meshes.knee_poses()[0], {"upper": np.radians(120.0), "num_frames": 6}


@pytest.fixture(scope="module")
def knee():
    return ph.fit_joint_to_meshes(*BONES, STRAIGHT, **RANGE)


def test_the_bones_of_a_knee(knee):
    """The axis runs from side to side, the shin bends backward, and the gap of the cartilage is kept."""
    assert knee.axis @ (0.0, 1.0, 0.0) > np.cos(np.radians(2.0))
    assert knee.penetration == 0.0
    assert knee.gap == pytest.approx(5.1e-3, abs=1e-4)
    assert 4.8e-3 < knee.least_gap <= knee.largest_gap < 5.5e-3
    assert knee.fit.residuals.translation.max() < 5e-4
    assert (
        knee.contacts[..., 1].min(axis=1).max() < -0.015 and knee.contacts[..., 1].max(axis=1).min() > 0.015
    )
    poses = motion(knee)[0]
    there = np.einsum("kij,ksj->ksi", poses[:, :3, :3], knee.contacts_second) + poses[:, None, :3, 3]
    assert np.abs(there - knee.contacts).max() < 1e-12


@pytest.mark.slow
def test_where_and_how_large_the_bones_are_does_not_count(knee):
    """One inside out and open, the other in axes of its own, both in millimetres."""
    place, scale = ph.lie.exp([1.0, -2.0, 0.5, 3.0, -1.0, 2.0]), 1e3
    (femur, faces), (tibia, others) = BONES
    others = others[tibia[others][:, :, 2].max(axis=1) > -0.1][:, ::-1]
    pose = place @ STRAIGHT
    pose[:3, 3] *= scale
    meshes = (scale * turned((femur, faces), ph.lie.inverse(place))[0], faces), (scale * tibia, others)
    fit = ph.fit_joint_to_meshes(*meshes, pose, **RANGE)
    assert fit.gap / scale == pytest.approx(knee.gap, abs=5e-5)
    found = motion(fit)[0]
    found[:, :3, 3] /= scale
    off = ph.lie.inverse(place @ motion(knee)[0]) @ found
    # the samples of the surfaces are others; the bounds are from trials, no order gives them
    assert np.abs(off[:, :3, 3]).max() < 2e-3 and np.abs(off[:, :3, :3] - np.eye(3)).max() < 2e-2


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"lower": 0.2}, "must hold 0"),
        ({"upper": 4.0}, "half a turn"),
        ({"first": (np.zeros((3, 2)), [(0, 1, 2)])}, "first mesh must have shape"),
        ({"second": (np.zeros((3, 3)), [(0, 1, 7)])}, "indices below 3, got 7"),
        ({"axis": (0, 0, 0)}, "axis must not be the zero vector"),
        ({"far": 1.0}, "apart: bring the bones near"),
        ({"flip": 1}, "flip must be True or False"),
    ],
)
def test_what_cannot_be_fitted_is_named(changes, message):
    pose = np.eye(4)
    pose[2, 3] = -0.026 - changes.pop("far", 0.0)
    given = {"first": condyles(0.03, 0.022, 0.014, 0.044), "second": PLATE} | changes
    with pytest.raises(ph.FitError, match=message):
        ph.fit_joint_to_meshes(given.pop("first"), given.pop("second"), pose, **given)


def test_progress_can_cancel():
    pose = np.eye(4)
    pose[2, 3] = -0.026
    with pytest.raises(ph.CancelledError):
        ph.fit_joint_to_meshes(
            condyles(0.03, 0.022, 0.014, 0.044), PLATE, pose, progress=lambda share, what: share < 0.1
        )
