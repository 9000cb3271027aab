"""A rod of constant curvature, as OpenSim's joint for segments of the spine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..kernels import layout
from ..validation import vector
from .anatomical import function_block
from .base import IDENTITY, POSITIVE, Factorization
from .elementary import X, Y, Z, sliding, turning
from .ellipsoid import block_of_two
from .functions import Linear
from .joint import Joint


@dataclass(frozen=True, eq=False)
class ConstantCurvature(Joint):
    """OpenSim's ConstantCurvatureJoint: a rod bends to an arc and twists.

    The rod begins along y; its end has turned about x, then z, then y, and is at L (d_x h, sin(theta) / theta, d_z h)
    with d the direction of the end's y axis, theta = acos(d_y) the bend and h = (1 - cos(theta)) / (theta sin(theta)).
    OpenSim takes it for a straight rod at bends below 0.001 and leaves out the rate of its Jacobian.

    Attributes:
        rod_length: L [m]. neutral: angles (3,) at coordinates 0 about x, z and y [rad].
    """

    rod_length: float = field(metadata=POSITIVE)
    neutral: Any = field(default=(0.0, 0.0, 0.0), metadata=vector(3, listed=True))
    type: ClassVar[str] = "constant_curvature"
    coordinate_names = ("about_x", "about_z", "twist")
    coordinate_units = ("rad", "rad", "rad")

    @property
    def range(self) -> FloatArray:
        """A quarter turn about x and z to each side of a straight rod; at half a turn it has no arc."""
        ends = np.array([-0.5, 0.5]) * np.pi - np.array(self.neutral)[:2, None]
        return np.concatenate([ends, [[-np.inf, np.inf]]])

    def factorization(self) -> Factorization:
        arc = (self.rod_length, *self.neutral[:2])
        places = ((X, layout.ARC_X), (Y, layout.ARC_Y), (Z, layout.ARC_Z))
        turns = zip((X, Z, Y), self.neutral)
        return Factorization(
            (
                *(block_of_two(sliding(axis), which, arc) for axis, which in places),
                *(
                    function_block(turning(axis), Linear(offset=angle), [1.0], k)
                    for k, (axis, angle) in enumerate(turns)
                ),
            ),
            IDENTITY,
        )
