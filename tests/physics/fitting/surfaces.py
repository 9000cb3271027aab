"""Triangle meshes of known surfaces."""

import numpy as np


def grid(place, first, second):
    """Vertices and triangles of a surface place(u, v) -> (x, y, z) over a grid of its two parameters."""
    u, v = np.meshgrid(first, second, indexing="ij")
    vertices = np.stack(np.broadcast_arrays(*place(u, v)), axis=-1).reshape(-1, 3)
    index = np.arange(u.size).reshape(u.shape)
    a, b, c, d = (each.ravel() for each in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    return vertices, np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])


def ball(radius, count, below=None):
    """A sphere from a cube of count² squares a side; below: only the triangles under this height."""
    line = np.tan(np.linspace(-np.pi / 4, np.pi / 4, count + 1))
    sides = []
    for k in range(3):
        for sign in (-1.0, 1.0):
            axes = np.roll(np.eye(3), k, axis=0)
            x, y, z = (axes[0] * sign), axes[1], axes[2] * sign
            vertices, triangles = grid(lambda u, v: (np.ones_like(u), u, v), line, line)
            sides.append((vertices @ np.array([x, y, z]), triangles))
    vertices = np.concatenate([each[0] for each in sides])
    numbers = np.cumsum([0, *(len(each[0]) for each in sides[:-1])])
    triangles = np.concatenate([each[1] + first for each, first in zip(sides, numbers)])
    vertices = np.round(
        radius * vertices / np.linalg.norm(vertices, axis=1, keepdims=True), 12
    )  # sides share edges
    if below is not None:
        triangles = triangles[vertices[triangles][:, :, 2].max(axis=1) < below]
    return vertices, triangles


def condyles(a, b, width, apart):
    """Two rollers about y whose profiles are ellipses of semi-axes a (x) and b (z), with rounded sides."""
    angles, around = np.linspace(-1.5, 1.5, 23), np.linspace(0.0, 2.0 * np.pi, 111)

    def place(t, f):
        return a * np.cos(t) * np.cos(f) ** 0.5, width * np.sin(f), b * np.sin(t) * np.cos(f) ** 0.5

    vertices, triangles = grid(place, around, angles)
    aside = np.array([0.0, 0.5 * apart, 0.0])
    both = np.concatenate([vertices - aside, vertices + aside])
    return both, np.concatenate([triangles, triangles + len(vertices)])


def fan_triangles(faces):
    """Triangles (m, 3) of polygons."""
    return np.array([(face[0], *face[k : k + 2]) for face in faces for k in range(1, len(face) - 1)])
