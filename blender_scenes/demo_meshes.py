"""Write the file of the add-on's demo: its bones, the bodies of its presets and the published motion of the knee.

    python -m blender_scenes.demo_meshes

Vertices are float32 [m], corners of faces uint16, both by columns, which pack better; the motion is float64. The same
numpy and zlib write the same bytes.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from addon.anatomy.demo_meshes import FILE

from . import shapes
from .anatomy import bones
from .anatomy.knee_kinematics import tibia_poses
from .gallery_parts import Solid, together

CELL = 5e-3  # m, size of the bones' faces: 6,600 vertices
KNEE_DEGREES = np.linspace(0.0, 120.0, 9)
WIRE = ((-0.3, 0.0, 0.1), (-0.15, 0.1, -0.05), (0.0, 0.0, 0.06), (0.15, -0.1, -0.05), (0.3, 0.0, 0.1))


def capsule(start: Sequence[float], end: Sequence[float], radius: float) -> Solid:
    """A closed rod with round ends from start to end (3,)."""
    return shapes.capsule(np.array(start), np.array(end), radius, sides=24, rings=8)


def ball(center: ArrayLike, radii: ArrayLike) -> Solid:
    """A closed ellipsoid: vertices (n, 3) and faces, outward."""
    vertices, faces = capsule((0.0, 0.0, -1e-3), (0.0, 0.0, 1e-3), 1.0)
    return np.asarray(center) + vertices * np.asarray(radii), faces


def slab(low: ArrayLike, high: ArrayLike) -> Solid:
    """A closed box from its lower to its upper corner (3,): vertices (8, 3) and faces, outward."""
    ends = np.array([low, high], dtype=np.float64)
    vertices = np.array([[ends[k >> axis & 1, axis] for axis in range(3)] for k in range(8)])
    return vertices, [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]


def jaw_half(side: float) -> list[Solid]:
    """Half of a lower jaw: from its head, near the skull, down to its angle and on to the chin."""
    places = (
        (side, 0.0, 0.03),
        (0.95 * side, -0.006, -0.042),
        (0.62 * side, -0.06, -0.056),
        (0.0, -0.088, -0.058),
    )
    return [capsule(*ends, 0.01) for ends in pairwise(places)]


#: shapes of the parent and of the child of each preset
PRESETS: dict[str, tuple[Solid, Solid]] = {
    "knee": (capsule((0, 0, 0.42), (0, 0, 0.06), 0.06), capsule((0, 0, -0.05), (0, 0, -0.4), 0.045)),
    "hip": (ball((0, 0, 0.1), (0.16, 0.1, 0.12)), capsule((0.09, 0, -0.05), (0.09, 0, -0.45), 0.06)),
    "elbow": (capsule((0, 0, 0.3), (0, 0, 0.04), 0.04), capsule((0, 0, -0.035), (0, 0, -0.25), 0.032)),
    "shoulder": (ball((0, 0, 0), (0.15, 0.11, 0.2)), ball((-0.06, 0.13, 0.05), (0.05, 0.012, 0.075))),
    "wrist": (capsule((0, 0, 0.25), (0, 0, 0.025), 0.025), ball((0, 0, -0.09), (0.042, 0.015, 0.09))),
    "thumb": (ball((0, 0, 0.012), (0.012, 0.012, 0.012)), capsule((0, 0, -0.009), (0, 0, -0.09), 0.009)),
    "jaw": (ball((0, 0, 0.09), (0.075, 0.095, 0.09)), together(*jaw_half(-0.048), *jaw_half(0.048))),
    "finger": (capsule((0, 0.05, 0), (0, 0.009, 0), 0.009), capsule((0, -0.008, 0), (0, -0.035, 0), 0.008)),
    "bead": ((np.array(WIRE), []), ball((-0.3, 0, 0.1), (0.025, 0.025, 0.025))),
    "hinge": (capsule((0, 0, -0.5), (0, 0, 0.5), 0.03), slab((0.03, -0.02, -0.5), (0.6, 0.02, 0.5))),
}


def arrays() -> dict[str, NDArray[np.generic]]:
    """The arrays of the file by name, see addon.anatomy.demo_meshes."""
    meshes = (bones.femur(CELL), bones.tibia(CELL), bones.fibula(CELL))
    solids = {name: (mesh.vertices, mesh.faces) for name, mesh in zip(("Femur", "Tibia", "Fibula"), meshes)}
    for name, pair in PRESETS.items():
        solids |= {f"{name}_parent": pair[0], f"{name}_child": pair[1]}
    found: dict[str, NDArray[np.generic]] = {"knee_poses": tibia_poses(np.radians(KNEE_DEGREES))}
    for name, (vertices, faces) in solids.items():
        quads = [(*face, face[-1])[:4] for face in faces]
        found[f"{name}_vertices"] = np.asfortranarray(vertices, dtype=np.float32)
        found[f"{name}_faces"] = np.asfortranarray(np.reshape(quads, (-1, 4)), dtype=np.uint16)
    return found


def write(path: Path = FILE) -> None:
    np.savez_compressed(path, **arrays())


if __name__ == "__main__":
    write()
