"""Joints with constant screw axes: the lower pairs and their compounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..validation import NUMBER, unit_axis
from .base import Factorization, product_of_screws
from .joint import Joint

Axis = tuple[float, float, float]
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def turning(axis: Any, pitch: float = 0.0) -> FloatArray:
    """Twist (6,) of a rotation about an axis through the origin, advancing `pitch` metres a radian."""
    direction = np.asarray(axis, dtype=np.float64)
    return np.concatenate([direction, pitch * direction])


def sliding(axis: Any) -> FloatArray:
    """Twist (6,) of a translation along an axis."""
    return np.concatenate([np.zeros(3), np.asarray(axis, dtype=np.float64)])


def _axis(value: Any, name: str) -> Axis:
    """The unit vector of an axis; ModelError if it is zero."""
    x, y, z = unit_axis(value, name).tolist()
    return x, y, z


AXIS: dict[str, Any] = {"check": _axis}


@dataclass(frozen=True, eq=False)
class Fixed(Joint):
    """No motion: the body is welded to its parent."""

    type: ClassVar[str] = "fixed"

    def factorization(self) -> Factorization:
        return product_of_screws([])


@dataclass(frozen=True, eq=False)
class Hinge(Joint):
    """Rotation about one axis (revolute joint)."""

    axis: Axis = field(default=Z, metadata=AXIS)
    type: ClassVar[str] = "hinge"
    coordinate_names = ("angle",)
    coordinate_units = ("rad",)

    def factorization(self) -> Factorization:
        return product_of_screws([turning(self.axis)])


@dataclass(frozen=True, eq=False)
class Slider(Joint):
    """Translation along one axis (prismatic joint)."""

    axis: Axis = field(default=Z, metadata=AXIS)
    type: ClassVar[str] = "slider"
    coordinate_names = ("distance",)
    coordinate_units = ("m",)

    def factorization(self) -> Factorization:
        return product_of_screws([sliding(self.axis)])


@dataclass(frozen=True, eq=False)
class Helical(Joint):
    """Screw motion: rotation and `pitch` metres of advance a radian (Lee & Terzopoulos 2008, sec. 4.1)."""

    axis: Axis = field(default=Z, metadata=AXIS)
    pitch: float = field(default=0.01, metadata=NUMBER)
    type: ClassVar[str] = "helical"
    coordinate_names = ("angle",)
    coordinate_units = ("rad",)

    def factorization(self) -> Factorization:
        return product_of_screws([turning(self.axis, self.pitch)])


@dataclass(frozen=True, eq=False)
class Cylindrical(Joint):
    """Rotation about and translation along one axis, independent of each other."""

    axis: Axis = field(default=Z, metadata=AXIS)
    type: ClassVar[str] = "cylindrical"
    coordinate_names = ("angle", "distance")
    coordinate_units = ("rad", "m")

    def factorization(self) -> Factorization:
        return product_of_screws([turning(self.axis), sliding(self.axis)])


@dataclass(frozen=True, eq=False)
class Universal(Joint):
    """Two rotations about axes that meet, the second carried by the first (Lee & Terzopoulos 2008, sec. 4.1).

    ArtiSynth's universal joint (its guide, sec. 3.4.5) has axis_1 = z, axis_2 = y.
    """

    axis_1: Axis = field(default=X, metadata=AXIS)
    axis_2: Axis = field(default=Y, metadata=AXIS)
    type: ClassVar[str] = "universal"
    coordinate_names = ("angle_1", "angle_2")
    coordinate_units = ("rad", "rad")

    def __post_init__(self) -> None:
        super().__post_init__()
        if float(np.linalg.norm(np.cross(self.axis_1, self.axis_2))) < 1e-6:
            raise ModelError(f"universal joint axes must differ, got {self.axis_1} and {self.axis_2}")

    def factorization(self) -> Factorization:
        return product_of_screws([turning(self.axis_1), turning(self.axis_2)])


@dataclass(frozen=True, eq=False)
class Planar(Joint):
    """Two translations in the x-y plane, then a rotation about its normal z."""

    type: ClassVar[str] = "planar"
    coordinate_names = ("x", "y", "angle")
    coordinate_units = ("m", "m", "rad")

    def factorization(self) -> Factorization:
        return product_of_screws([sliding(X), sliding(Y), turning(Z)])


@dataclass(frozen=True, eq=False)
class Translational(Joint):
    """Three translations, no rotation."""

    type: ClassVar[str] = "translational"
    coordinate_names = ("x", "y", "z")
    coordinate_units = ("m", "m", "m")

    def factorization(self) -> Factorization:
        return product_of_screws([sliding(X), sliding(Y), sliding(Z)])


@dataclass(frozen=True, eq=False)
class PlanarTranslation(Joint):
    """Two translations in the x-y plane (ArtiSynth's guide, sec. 3.4.10)."""

    type: ClassVar[str] = "planar_translation"
    coordinate_names = ("x", "y")
    coordinate_units = ("m", "m")

    def factorization(self) -> Factorization:
        return product_of_screws([sliding(X), sliding(Y)])


@dataclass(frozen=True, eq=False)
class SlottedHinge(Joint):
    """Translation along x, then rotation about z: a pin in a slot (ArtiSynth's guide, eq. 3.25)."""

    type: ClassVar[str] = "slotted_hinge"
    coordinate_names = ("x", "angle")
    coordinate_units = ("m", "rad")

    def factorization(self) -> Factorization:
        return product_of_screws([sliding(X), turning(Z)])


@dataclass(frozen=True, eq=False)
class SkewedUniversal(Joint):
    """Roll about z, then pitch about y' cos(skew) + z' sin(skew) (ArtiSynth's guide, sec. 3.4.6).

    The sign of the skew follows the guide's matrix, not its text.
    """

    skew: float = field(default=0.0, metadata=NUMBER)
    type: ClassVar[str] = "skewed_universal"
    coordinate_names = ("roll", "pitch")
    coordinate_units = ("rad", "rad")

    def __post_init__(self) -> None:
        super().__post_init__()
        if abs(np.cos(self.skew)) < 1e-6:
            raise ModelError(f"skewed universal joint axes must differ, got a skew of {self.skew:g}")

    def factorization(self) -> Factorization:
        return product_of_screws([turning(Z), turning((0.0, np.cos(self.skew), np.sin(self.skew)))])
