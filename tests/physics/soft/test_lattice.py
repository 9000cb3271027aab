"""Lattices around closed meshes, and the meshes embedded in them."""

import numpy as np
import pytest

import physics as ph

CORNERS = np.array([[x, y, z] for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def ring(radius=0.3, tube=0.1, around=60, across=24):
    """A torus of quadrilaterals about the z axis."""
    u, v = np.meshgrid(
        *(np.linspace(0.0, 2.0 * np.pi, n, endpoint=False) for n in (around, across)), indexing="ij"
    )
    away = radius + tube * np.cos(v)
    points = np.stack([away * np.cos(u), away * np.sin(u), tube * np.sin(v)], axis=-1).reshape(-1, 3)
    number = np.arange(around * across).reshape(around, across)
    right = np.roll(number, -1, axis=0)
    faces = np.stack([number, right, np.roll(right, -1, axis=1), np.roll(number, -1, axis=1)], axis=-1)
    return points, faces.reshape(-1, 4)


def volumes(nodes, tets):
    return np.linalg.det(nodes[tets[:, 1:]] - nodes[tets[:, :1]]) / 6.0


@pytest.mark.parametrize("size", [0.1, 0.27, 3.0])
def test_a_cube_is_filled(size):
    nodes, tets = ph.soft_lattice(CORNERS, QUADS, size)
    count = int(np.ceil(1.0 / size - 1e-9))
    assert len(nodes) == (count + 1) ** 3 and len(tets) == 6 * count**3
    assert volumes(nodes, tets).min() > 0.0
    assert nodes.mean(axis=0) == pytest.approx([0.5] * 3)


def test_a_ring_has_its_hole_and_takes_its_mesh_along():
    points, faces = ring()
    nodes, tets = ph.soft_lattice(points, faces, 0.05)
    assert (
        np.hypot(nodes[:, 0], nodes[:, 1]).min() > 0.1
    )  # a cube's diagonal within the tube's inner side at 0.2
    whole = volumes(nodes, tets)
    assert whole == pytest.approx(np.full(len(tets), 0.05**3 / 6.0))
    assert 2.0 * np.pi**2 * 0.3 * 0.1**2 < whole.sum() < 2.0 * np.pi**2 * 0.3 * 0.17**2
    builder = ph.ModelBuilder()
    body = builder.add_soft_body("ring", nodes, tets=tets, young=1e4, density=1000.0)
    weights = body.embed(points).weights
    assert weights.min() > -1e-9  # round-off: each vertex is in a tetrahedron


def test_a_cavity_stays_empty():
    """A shell between two cubes, the inner one facing the other way."""
    points = np.concatenate([CORNERS, 0.2 + 0.6 * CORNERS])
    faces = [*QUADS, *([8 + k for k in face[::-1]] for face in QUADS)]
    nodes, tets = ph.soft_lattice(points, faces, 0.05)
    assert (np.abs(nodes[tets].mean(axis=1) - 0.5).max(axis=1) > 0.2).all()


@pytest.mark.parametrize(
    ("points", "faces", "size", "word"),
    [
        (CORNERS, QUADS[:-1], 0.1, "open"),
        (CORNERS, [*QUADS[:-1], QUADS[-1][::-1]], 0.1, "edge"),
        (CORNERS, [*QUADS, QUADS[0]], 0.1, "edge"),
        (CORNERS, [[0, 1, 99]], 0.1, "99"),
        (CORNERS, [[0, 1]], 0.1, "face 0"),
        (CORNERS, [], 0.1, "faces"),
        (CORNERS, QUADS, 0.0, "size"),
        (CORNERS, QUADS, 1e-4, "cubes"),
        (CORNERS * np.nan, QUADS, 0.1, "finite"),
    ],
)
def test_faulty_meshes_are_refused(points, faces, size, word):
    with pytest.raises(ph.ModelError, match=word):
        ph.soft_lattice(points, faces, size)
