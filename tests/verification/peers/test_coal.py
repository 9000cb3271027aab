"""Distances, depths and normals of random pairs of shapes against coal's GJK and EPA."""

from typing import Any

import numpy as np
import pytest

coal = pytest.importorskip("coal", reason="coal is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)
from physics.contacts import Box, Capsule, Sphere  # noqa: E402
from physics.dynamics.workspace import contact_space  # noqa: E402
from physics.kernels.contact.layout import FOUND_GAP, FOUND_NORMAL  # noqa: E402
from tests.physics.contacts.shapes import KINDS, found_at, pair, shape  # noqa: E402

pytestmark = pytest.mark.peers

POSES = 63  # of each of 16 pairs of kinds
TOLERANCE = 1e-10  # of coal's iterations [m]
# An error of the distance d turns the normal by its root over the curvature; so near to it contacts are as near.
NEAR, NORMAL = 1e-9, 1e-4


def peer(own: Any) -> Any:
    """The same shape in coal."""
    if isinstance(own, Box):
        return coal.Box(*(2.0 * own.half_sizes))
    if isinstance(own, Sphere):
        return coal.Sphere(own.radius)
    if isinstance(own, Capsule):
        return coal.Capsule(own.radius, 2.0 * own.half_length)
    points = coal.StdVec_Vec3s()
    for point in own.points:
        points.append(point)
    return coal.Convex.convexHull(points, False, "")


def request() -> Any:
    """Of a distance as exact as coal gets."""
    exact = coal.DistanceRequest()
    exact.gjk_tolerance = exact.epa_tolerance = TOLERANCE
    exact.gjk_max_iterations = exact.epa_max_iterations = 500
    return exact


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_distances_and_normals_of_random_pairs(first, second):
    rng = np.random.default_rng([KINDS.index(first), KINDS.index(second)])
    signs = set()
    for _ in range(POSES):
        shapes = shape(first, rng), shape(second, rng)
        model = pair(*shapes)
        q = np.zeros(12)
        q[3:6], q[9:12] = rng.normal(size=3), rng.normal(size=3)
        way = rng.normal(size=3)
        q[6:9] = rng.uniform(0.1, 0.6) * way / np.linalg.norm(way)
        poses = ph.body_poses(model, model.state(q=q))
        rows = found_at(model, q, space=contact_space(model))
        found = coal.DistanceResult()
        places = [coal.Transform3s(pose[:3, :3], pose[:3, 3]) for pose in poses]
        coal.distance(peer(shapes[0]), places[0], peer(shapes[1]), places[1], request(), found)
        least = rows[:, FOUND_GAP].min()
        signs.add(least > 0.0)
        # what coal leaves over is some times its tolerance
        assert least == pytest.approx(found.min_distance, abs=10.0 * TOLERANCE)
        if abs(least) > 1e-3:  # the normal of a smaller gap is round-off of the peer's
            normals = rows[rows[:, FOUND_GAP] < least + NEAR, FOUND_NORMAL : FOUND_NORMAL + 3]
            assert np.linalg.norm(normals + found.normal, axis=1).min() < NORMAL
    assert signs == {True, False}
