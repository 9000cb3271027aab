"""Joints that slide over an ellipsoid: ArtiSynth's with either normal, and OpenSim's scapulothoracic joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..geometry import lie
from ..kernels import layout
from ..validation import NUMBER, number, one_of, vector
from .anatomical import function_block
from .base import IDENTITY, Block, Factorization
from .curve_packing import kernel_twists
from .elementary import X, Y, Z, sliding, turning
from .functions import Linear, TangentAngle, Wave
from .joint import Joint

NORMALS = ("opensim", "true")


def product_of_waves(axis: Any, scale: float, cosine: bool) -> tuple[Block, Block]:
    """Sliding along an axis by scale sin(longitude) cos(latitude), or scale cos(longitude) cos(latitude).

    Waves of the sum and the difference of both angles make every factor a function of one number.
    """
    half = 0.5 * scale
    wave = Wave(cosine=half) if cosine else Wave(sine=half)
    return (function_block(sliding(axis), wave, [1.0, 1.0]), function_block(sliding(axis), wave, [1.0, -1.0]))


def block_of_two(twist: FloatArray, which: int, numbers: Sequence[float]) -> Block:
    """exp(twist f(x, y)) of the first two coordinates, f one of the functions of ``kernels.joints.of_two``."""
    data = np.concatenate([kernel_twists(twist[None])[0], [which, *numbers]])
    return Block(layout.OF_TWO, 0, IDENTITY, data)


@dataclass(frozen=True, eq=False)
class Ellipsoid(Joint):
    """Sliding over an ellipsoid by longitude and latitude, then turning by theta about z and phi about x.

    ArtiSynth's guide, sec. 3.4.11. With the true normal, the surface frame's z axis is the normal and its x axis the
    tangent along latitude (eq. 3.28). OpenSim approximates it by Rx(longitude) Ry(latitude) (eq. 3.29).

    Attributes:
        a, b, c: semi-axes along x, y, z [m]; with all coordinates 0 the frame is at (0, 0, c). With OpenSim's normal
            they may be negative, as in some of its files: then the surface is on the other side of its middle.
        winging: angle between x and the axis of phi, in the x-y plane [rad].
        normal: ``"opensim"`` or ``"true"``.
    """

    a: float = field(metadata=NUMBER)
    b: float = field(metadata=NUMBER)
    c: float = field(metadata=NUMBER)
    winging: float = field(default=0.0, metadata=NUMBER)
    normal: str = field(
        default="opensim", metadata={**one_of(*NORMALS), "schema": {"type": "string", "enum": list(NORMALS)}}
    )
    type: ClassVar[str] = "ellipsoid"
    coordinate_names = ("longitude", "latitude", "theta", "phi")
    coordinate_units = ("rad", "rad", "rad", "rad")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in (("a", self.a), ("b", self.b), ("c", self.c)):
            number(value if self.normal == "true" else abs(value), f"ellipsoid joint {name}", positive=True)

    def factorization(self) -> Factorization:
        axes = (self.a, self.b, self.c)
        axis = (np.cos(self.winging), np.sin(self.winging), 0.0)
        normal: tuple[Block, ...]
        if self.normal == "true":
            normal = (
                function_block(turning(X), TangentAngle(self.b, self.c), [1.0]),
                block_of_two(turning(Y), layout.NORMAL_TILT, axes),
                block_of_two(turning(Z), layout.NORMAL_SPIN, axes),
            )
        else:
            normal = tuple(function_block(turning(t), Linear(), [1.0], k) for k, t in enumerate((X, Y)))
        return Factorization(
            (
                function_block(sliding(X), Wave(sine=self.a), [1.0], 1),
                *product_of_waves(Y, -self.b, cosine=False),
                *product_of_waves(Z, self.c, cosine=True),
                *normal,
                function_block(turning(Z), Linear(), [1.0], 2),
                function_block(turning(axis), Linear(), [1.0], 3),
            ),
            IDENTITY,
        )


@dataclass(frozen=True, eq=False)
class Scapulothoracic(Joint):
    """OpenSim's ScapulothoracicJoint: the scapula glides over the thorax, turns upward and wings.

    The frame turns by abduction about y and elevation about -x while it slides over the ellipsoid, then by upward
    rotation about z, then about the winging axis (Seth et al. 2016). In ArtiSynth's guide, sec. 3.4.11.1, the joint
    includes a turn by -pi/2 about z.

    Attributes:
        radii: semi-axes of the ellipsoid along x, y, z of the parent (3,) [m].
        winging_origin: where the winging axis crosses the x-y plane of the moving frame (2,) [m].
        winging_direction: angle of the winging axis from y, about z [rad].
    """

    radii: Any = field(metadata=vector(3, positive=True, listed=True))
    winging_origin: Any = field(default=(0.0, 0.0), metadata=vector(2, listed=True))
    winging_direction: float = field(default=0.0, metadata=NUMBER)
    type: ClassVar[str] = "scapulothoracic"
    coordinate_names = ("abduction", "elevation", "upward_rotation", "winging")
    coordinate_units = ("rad", "rad", "rad", "rad")

    def factorization(self) -> Factorization:
        x, y, z = self.radii
        through = np.eye(4)
        through[:2, 3] = self.winging_origin
        axis = (-np.sin(self.winging_direction), np.cos(self.winging_direction), 0.0)
        twists = [turning(Y), turning((-1.0, 0.0, 0.0)), turning(Z), lie.adjoint(through) @ turning(axis)]
        return Factorization(
            (
                *product_of_waves(X, x, cosine=False),
                function_block(sliding(Y), Wave(sine=y), [1.0], 1),
                *product_of_waves(Z, z, cosine=True),
                *(function_block(twist, Linear(), [1.0], k) for k, twist in enumerate(twists)),
            ),
            IDENTITY,
        )
