"""How deep points are in the shapes of colliders."""

from typing import Any

import numpy as np

# What begins deeper in a collider [m] does not touch it; a contact of this depth would be refused.
BEGINS = 1e-4


def depth_of(points: np.ndarray, place: np.ndarray, radius: float, shape: Any, margin: float) -> float:
    """How deep [m] the deepest of spheres about points (n, 3), whose pose (4, 4) in its frame is place, is in a bounded
    shape with a margin; below 0 outside.
    """
    other = shape.core()
    if not len(points) or not len(other.vertices) or other.triangles is not None:
        return -np.inf
    points = points @ place[:3, :3].T + place[:3, 3]
    if other.loops:
        corners = np.array([other.vertices[list(loop[:3])] for loop in other.loops])
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 1])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        away = (points @ normals.T - np.einsum("ki,ki->k", normals, corners[:, 0])).max(axis=1)
    else:
        first, along = other.vertices[0], other.vertices[-1] - other.vertices[0]
        share = np.clip((points - first) @ along / max(float(along @ along), 1e-30), 0.0, 1.0)
        away = np.linalg.norm(points - first - share[:, None] * along, axis=1)
    return radius + other.radius + margin - float(away.min())
