"""The bones: closed, oriented, of an adult's size, and apart from each other over the whole range."""

import numpy as np
import pytest

from blender_scenes.anatomy import bones, implicit, surface
from blender_scenes.anatomy.knee_kinematics import BLENDER_FROM_OPENSIM, tibia_poses

CELL = 3e-3


@pytest.fixture(scope="module")
def meshes():
    return {"femur": bones.femur(CELL), "tibia": bones.tibia(CELL), "fibula": bones.fibula(CELL * 0.8)}


def edges(mesh):
    return np.vstack([mesh.faces[:, [k, (k + 1) % 4]] for k in range(4)])


@pytest.mark.parametrize("name", ["femur", "tibia", "fibula"])
def test_mesh_is_a_closed_oriented_sphere(meshes, name):
    mesh = meshes[name]
    directed = edges(mesh)
    assert len(np.unique(directed, axis=0)) == len(directed), "an edge is run through twice in the same sense"
    undirected, counts = np.unique(np.sort(directed, axis=1), axis=0, return_counts=True)
    assert set(counts) == {2}
    assert len(mesh.vertices) - len(undirected) + len(mesh.faces) == 2  # Euler: no handle, one piece


# Volumes within the span of adults' bones, as solids (shaft and marrow together); lengths of the gait2392 leg.
@pytest.mark.parametrize(
    ("name", "litres", "length"),
    [
        ("femur", (0.35, 0.55), (0.43, 0.46)),
        ("tibia", (0.25, 0.40), (0.38, 0.41)),
        ("fibula", (0.025, 0.06), (0.36, 0.40)),
    ],
)
def test_size_is_an_adults(meshes, name, litres, length):
    mesh = meshes[name]
    assert litres[0] < 1e3 * mesh.volume() < litres[1]
    assert length[0] < np.ptp(mesh.vertices[:, 2]) < length[1]


def test_normals_point_outward(meshes):
    for mesh in meshes.values():
        middle = mesh.vertices[mesh.faces].mean(axis=1)
        a, b = (mesh.vertices[mesh.faces[:, k]] - mesh.vertices[mesh.faces[:, 0]] for k in (1, 2))
        normal = np.cross(a, b)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        shift = 0.25 * CELL
        outside = surface_value(mesh, meshes, middle + shift * normal)
        inside = surface_value(mesh, meshes, middle - shift * normal)
        assert np.mean(outside > inside) > 0.999


def surface_value(mesh, meshes, points):
    shapes = {"femur": bones.femur_shape(), "tibia": bones.tibia_shape(), "fibula": bones.fibula_shape()}
    name = next(name for name, other in meshes.items() if other is mesh)
    return shapes[name](points @ BLENDER_FROM_OPENSIM)


def test_bones_keep_their_distance(meshes):
    upper = meshes["tibia"].vertices
    upper = upper[upper[:, 2] > -0.07]
    femur = bones.femur_shape()
    for pose in tibia_poses(np.radians(np.arange(0, 121, 5))):
        gap = femur((upper @ pose[:3, :3].T + pose[:3, 3]) @ BLENDER_FROM_OPENSIM).min()
        assert 2e-3 < gap < 8e-3  # cartilage of both bones: 3 to 6 mm in all, and a mesh's width


def test_sphere_has_the_volume_of_a_sphere():
    ball = surface.mesh_from_shape(implicit.sphere((0.01, 0.0, -0.02), 0.03), [-0.05] * 3, [0.06] * 3, 2e-3)
    # vertices lie on the sphere, so faces of width h cut off about (h / r)^2 / 4 of the volume
    assert ball.volume() == pytest.approx(4 / 3 * np.pi * 0.03**3, rel=2e-3)
    radius = np.linalg.norm(ball.vertices - [0.01, 0.0, -0.02], axis=1)
    np.testing.assert_allclose(radius, 0.03, atol=1e-6)


def test_shape_beyond_the_box_is_refused():
    with pytest.raises(ValueError, match="does not hold the whole"):
        surface.mesh_from_shape(implicit.sphere((0, 0, 0), 0.1), [-0.05] * 3, [0.05] * 3, 5e-3)


def test_blend_is_smooth_and_only_where_both_are_near():
    first, second = np.linspace(-1, 1, 2001), np.zeros(2001)
    blended = implicit.smooth_minimum(first, second, 0.5)
    np.testing.assert_array_equal(
        blended[np.abs(first) > 0.5], np.minimum(first, second)[np.abs(first) > 0.5]
    )
    assert (blended <= np.minimum(first, second)).all()
    assert np.abs(np.diff(blended, 2)).max() < 2e-5  # second difference of step 1e-3: curvature below 20
