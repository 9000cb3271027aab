"""Joints with a free rotation in exponential coordinates (Kim, Lee & Park 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..kernels import layout
from .base import IDENTITY, Block, Factorization, Joint, product_of_screws
from .elementary import X, Y, Z, sliding


def rotation_block(coordinate: int) -> Block:
    """exp([r]) with the three coordinates that begin at `coordinate`."""
    return Block(layout.ROTATION_VECTOR, coordinate, IDENTITY, np.ones(1))


@dataclass(frozen=True, eq=False)
class Spherical(Joint):
    """Free rotation about a point; the coordinates are the rotation vector r, R = exp([r]).

    The chart is singular at |r| = 2 pi. A simulation changes it well before (to the same rotation with |r| <= pi),
    so the coordinates may jump while the motion does not; ``Result.rotations`` stays continuous.
    """

    type: ClassVar[str] = "spherical"
    coordinate_names = ("r_x", "r_y", "r_z")
    coordinate_units = ("rad", "rad", "rad")

    def factorization(self) -> Factorization:
        return Factorization((rotation_block(0),), IDENTITY)

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type}


@dataclass(frozen=True, eq=False)
class Free(Joint):
    """Six coordinates: the position of the frame, then its rotation vector as in `Spherical`."""

    type: ClassVar[str] = "free"
    coordinate_names = ("x", "y", "z", "r_x", "r_y", "r_z")
    coordinate_units = ("m", "m", "m", "rad", "rad", "rad")

    def factorization(self) -> Factorization:
        translation = product_of_screws([sliding(X), sliding(Y), sliding(Z)])
        rotation = rotation_block(3)
        return Factorization(
            (*translation.blocks, Block(rotation.kind, 3, translation.after, rotation.data)), IDENTITY
        )

    def to_dict(self) -> dict[str, Any]:
        return {"type": self.type}
