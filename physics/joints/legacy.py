"""ArtiSynth's legacy joints, whose coordinates are those of the inverse motion (its guide, sec. 3.4.15)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._typing import FloatArray
from .base import Factorization
from .elementary import Hinge, Universal, Y, Z
from .inverted import Inverted
from .joint import Joint
from .rotational import Euler


@dataclass(frozen=True, eq=False)
class ReversedHinge(Joint):
    """Rotation about z that counts clockwise (RevoluteJoint)."""

    type: ClassVar[str] = "reversed_hinge"
    coordinate_names = ("angle",)
    coordinate_units = ("rad",)

    def factorization(self) -> Factorization:
        return Inverted(Hinge()).factorization()


@dataclass(frozen=True, eq=False)
class RollPitch(Joint):
    """Roll about z and pitch about y of the fixed frame as seen from the moving one (RollPitchJoint)."""

    type: ClassVar[str] = "roll_pitch"
    coordinate_names = ("roll", "pitch")
    coordinate_units = ("rad", "rad")

    def factorization(self) -> Factorization:
        return Inverted(Universal(Z, Y)).factorization()


@dataclass(frozen=True, eq=False)
class RollPitchYaw(Joint):
    """Roll, pitch and yaw (z, y, x) of the fixed frame as seen from the moving one (SphericalRpyJoint).

    Its coordinates are exponential, as those of `Euler`.
    """

    type: ClassVar[str] = "roll_pitch_yaw"
    coordinate_names = Euler.coordinate_names
    coordinate_units = Euler.coordinate_units
    reading_names = ("roll", "pitch", "yaw")

    def factorization(self) -> Factorization:
        return Inverted(Euler()).factorization()

    @property
    def angle_groups(self) -> tuple[tuple[int, str], ...]:
        return Euler().angle_groups

    def readings(self, q: Any) -> FloatArray:
        return Euler().readings(q)

    def from_readings(self, values: Any) -> FloatArray:
        return Euler().from_readings(values)
