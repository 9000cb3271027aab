"""Bones of the demo knee, bodies of the presets and the published motion of a knee, read from demo_meshes.npz.

`python -m blender_scenes.demo_meshes` writes that file. Axes are Blender's: x forward, y to the left, z up.
The motion is that of the OpenSim model *gait2392* (Delp et al. 1990, IEEE Trans. Biomed. Eng. 37, 757-767; CC BY 3.0).
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).with_suffix(".npz")


class Mesh(NamedTuple):
    """Vertices (n, 3) in metres and polygons, counter-clockwise seen from outside."""

    vertices: NDArray[np.float64]
    faces: Sequence[Sequence[int]]


@cache
def arrays() -> dict[str, NDArray[np.generic]]:
    """Arrays of the file by name; a triangle among its faces (m, 4) repeats the last corner."""
    with np.load(FILE) as file:
        return dict(file)


def mesh(name: str) -> Mesh:
    """The mesh "Femur", "Tibia" or "Fibula", or a preset's, as "jaw_child"; a curve object's has no faces."""
    faces = [tuple(dict.fromkeys(corners)) for corners in arrays()[f"{name}_faces"].tolist()]
    return Mesh(arrays()[f"{name}_vertices"].astype(np.float64), faces)


def knee_poses() -> NDArray[np.float64]:
    """Poses (9, 4, 4) [m] of the tibia in the femur at 0, 15, ... 120 degrees of flexion."""
    return arrays()["knee_poses"].astype(np.float64)
