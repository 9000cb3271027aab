"""Distances of points from triangles."""

import numpy as np
import pytest

from physics.geometry.triangle_surface import TriangleSurface
from tests.physics.fitting.surfaces import ball

RNG = np.random.default_rng(0)


def around(count, low, high):
    directions = RNG.normal(size=(count, 3))
    radii = RNG.uniform(low, high, count)
    return directions / np.linalg.norm(directions, axis=1, keepdims=True) * radii[:, None], radii


def brute(corners, point):
    """The least distance of a point from triangles, of many points on each."""
    share = np.array([(i, j, 40 - i - j) for i in range(41) for j in range(41 - i)]) / 40.0
    return np.linalg.norm(np.einsum("ka,tai->tki", share, corners) - point, axis=2).min()


def test_the_nearest_triangle_is_found_of_large_and_small_ones():
    vertices, triangles = ball(1.0, 4)
    surface = TriangleSurface(vertices * (1.0, 0.3, 5.0), triangles)  # slivers
    points = RNG.uniform(-2.0, 2.0, (30, 3))
    found = np.abs(surface.distances(points))
    tried = np.array([brute(surface.corners, point) for point in points])
    assert (found <= tried + 1e-12).all()
    assert (tried - found).max() < 0.05  # the samples are that far apart


@pytest.mark.parametrize("count", [8, 16])
def test_smooth_gaps_are_of_higher_order_than_the_triangles(count):
    surface = TriangleSurface(*ball(1.0, count)).divided(10.0, np.array([[-2.0] * 3, [2.0] * 3]))
    points, radii = around(500, 0.95, 1.1)
    gaps, normals, over = surface.gaps(points)
    edge = 0.5 * np.pi / count
    assert over.all()
    assert np.abs(surface.distances(points) - (radii - 1.0)).max() < edge**2 / 3  # a plane's sagitta
    assert np.abs(gaps - (radii - 1.0)).max() < 0.25 * edge**3
    assert np.abs(normals - points / radii[:, None]).max() < edge**2


def test_halving_keeps_the_surface_and_joins_its_vertices():
    vertices = np.array([(0.0, 0.0, 0.0), (4.0, 0.0, 0.0), (4.0, 3.0, 0.0), (0.0, 3.0, 0.0)])
    box = np.array([[-1.0, -1.0, -1.0], [2.0, 4.0, 1.0]])
    surface = TriangleSurface(vertices, np.array([(0, 1, 2), (0, 2, 3)])).divided(0.5, box)
    edges = surface.corners - np.roll(surface.corners, 1, axis=1)
    assert np.linalg.norm(edges, axis=2).max() <= 0.5
    assert len(np.unique(surface.vertices, axis=0)) == len(surface.vertices)
    inside = np.column_stack([RNG.uniform(0.0, 2.0, 50), RNG.uniform(0.0, 3.0, 50), np.full(50, 0.2)])
    assert np.abs(surface.distances(inside) - 0.2).max() < 1e-12
    assert surface.areas.sum() >= 6.0  # what reaches into the box
