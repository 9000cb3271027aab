"""Joint on a spline surface that bends (Lee & Terzopoulos 2008, sec. 8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..kernels import layout
from .base import Block, Factorization
from .elementary import Translational
from .joint import Joint
from .spline_surface import SplineSurface


@dataclass(frozen=True, eq=False)
class FlexibleSurface(Joint):
    """Place on a surface whose control points move: its coordinates x, y, z follow from these, `q_1`, ... do not.

    `ModelBuilder.add_flexible_surface` gives the surface its mass and stiffness; angles stay as the surface has them.

    Attributes:
        surface: at rest; of one direction (a wire) or two (a sheet), none of them time, translations first.
    """

    surface: SplineSurface
    type: ClassVar[str] = "flexible_surface"

    def __post_init__(self) -> None:
        surface = self.surface
        if not isinstance(surface, SplineSurface):
            raise ModelError(f"flexible surface joint surface must be a spline surface, got {surface!r:.80}")
        directions = surface.num_coordinates
        if directions > 2 or surface.moving:
            raise ModelError(
                f"a flexible surface needs one or two directions, none of them time: got {directions}"
                + (" with time" if surface.moving else "")
            )
        if surface.rotation_first:
            raise ModelError("a flexible surface needs rotation_first=False, got True")
        object.__setattr__(self, "coordinate_names", ("x", "y", "z", *surface.coordinate_names))
        object.__setattr__(self, "coordinate_units", ("m", "m", "m", *surface.coordinate_units))

    @property
    def range(self) -> FloatArray:
        return np.concatenate([np.tile([-np.inf, np.inf], (3, 1)), self.surface.range])

    @property
    def kinematic_only(self) -> str:
        return self.surface.kinematic_only or "without ModelBuilder.add_flexible_surface"

    def factorization(self) -> Factorization:
        slides = Translational().factorization()
        (turning,) = self.surface.factorization().blocks
        data = turning.data.copy()
        data[int(data[layout.SURFACE_VALUES]) : -1].reshape(-1, 6)[:, 3:] = 0.0
        block = Block(layout.SPLINE_SURFACE, 3, slides.after, data)
        return Factorization((*slides.blocks, block), np.eye(4))
