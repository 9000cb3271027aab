"""Joints with a free rotation in exponential coordinates (Kim, Lee & Park 2014)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..geometry.exponential_coordinates import ReachCone
from ..kernels import layout
from ..validation import finite, truth
from .base import IDENTITY, Block, Factorization, product_of_screws
from .elementary import X, Y, Z, sliding
from .euler_angles import check_sequence, euler_angles, euler_rotations
from .joint import Joint
from .rotation_limits import RotationLimit, checked_limit, limit_to_dict


def rotation_block(coordinate: int) -> Block:
    """exp([r]) with the three coordinates that begin at `coordinate`."""
    return Block(layout.ROTATION_VECTOR, coordinate, IDENTITY, np.ones(1))


@dataclass(frozen=True, eq=False)
class Spherical(Joint):
    """Free rotation about a point; the coordinates are the rotation vector r, R = exp([r]).

    The chart is singular at |r| = 2 pi. A simulation changes it well before, to the same rotation with |r| <= pi: the
    coordinates may jump where the motion does not. ``Result.rotations`` stays continuous.

    Attributes:
        limit: None, a `ReachCone` (about z: the tilt limit of ArtiSynth's guide, eq. 3.26), or a `RotationLimit`. Its
            stiffness, damping and restitution are the body's (``limit_stiffness``, ...).
    """

    limit: ReachCone | RotationLimit | None = None
    type: ClassVar[str] = "spherical"
    coordinate_names = ("r_x", "r_y", "r_z")
    coordinate_units = ("rad", "rad", "rad")

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", checked_limit(self.limit))

    @property
    def rotation_limits(self) -> tuple[tuple[int, Any], ...]:
        return () if self.limit is None else ((0, self.limit),)

    def factorization(self) -> Factorization:
        return Factorization((rotation_block(0),), IDENTITY)

    def tilt(self, q: Any) -> FloatArray:
        """Angle [rad] (...,) of rotation vectors (..., 3) between an axis and where it has turned to.

        The axis is the reach cone's, else z (ArtiSynth's guide, sec. 3.4.8).
        """
        axis = np.array(self.limit.axis if isinstance(self.limit, ReachCone) else Z)
        turned = lie.so3_exp(_three(q, "spherical joint coordinates")) @ axis
        return np.arctan2(np.linalg.norm(np.cross(axis, turned), axis=-1), turned @ axis)

    def to_dict(self) -> dict[str, Any]:
        limit = {} if self.limit is None else {"limit": limit_to_dict(self.limit)}
        return {"type": self.type, **limit}


@dataclass(frozen=True, eq=False)
class Euler(Joint):
    """Free rotation about a point, read and set as Euler angles of any sequence (a gimbal).

    Its coordinates are exponential, so that the motion passes through gimbal lock. Only the angles jump there, and
    limits of the angles lose their direction (ArtiSynth's guide, sec. 3.4.7). Axes that do lock are a `Composite` of
    hinges.

    Attributes:
        sequence: three letters of x, y, z, neighbours different; ``"zyx"`` is roll, pitch, yaw.
    """

    sequence: str = field(default="zyx", metadata={"schema": {"type": "string", "pattern": "^[xyz]{3}$"}})
    type: ClassVar[str] = "euler"
    coordinate_names = ("r_x", "r_y", "r_z")
    coordinate_units = ("rad", "rad", "rad")
    reading_names = ("angle_1", "angle_2", "angle_3")

    def __post_init__(self) -> None:
        check_sequence(self.sequence, "Euler joint")

    def factorization(self) -> Factorization:
        return Factorization((rotation_block(0),), IDENTITY)

    @property
    def angle_groups(self) -> tuple[tuple[int, str], ...]:
        return ((0, self.sequence),)

    def readings(self, q: Any) -> FloatArray:
        """Angles (..., 3), the middle one in [-pi/2, pi/2], or [0, pi] where first axis = third."""
        return euler_angles(self.sequence, lie.so3_exp(_three(q, "Euler joint coordinates")))

    def from_readings(self, values: Any) -> FloatArray:
        """Rotation vector (..., 3), |r| <= pi, of angles (..., 3)."""
        return lie.so3_log(euler_rotations(self.sequence, _three(values, "Euler joint angles")))


def _three(values: Any, name: str) -> FloatArray:
    array = finite(values, name)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise ModelError(f"{name} must have shape (..., 3), got {array.shape}")
    return array


@dataclass(frozen=True, eq=False)
class Free(Joint):
    """Six coordinates: the position of the frame, then its rotation vector as in `Spherical`; or the other way round.

    Attributes:
        rotation_first: the rotation vector comes first, and x, y, z are along the rotated axes (Wang 2022, sec. 4.5.11,
            has both).
    """

    rotation_first: bool = False
    type: ClassVar[str] = "free"

    def __post_init__(self) -> None:
        first = truth(self.rotation_first, "free joint rotation_first")
        lengths, angles = (("x", "y", "z"), ("m",) * 3), (("r_x", "r_y", "r_z"), ("rad",) * 3)
        (names, units), (more, others) = (angles, lengths) if first else (lengths, angles)
        vars(self).update(
            rotation_first=first, coordinate_names=names + more, coordinate_units=units + others
        )

    def factorization(self) -> Factorization:
        translation = product_of_screws([sliding(X), sliding(Y), sliding(Z)])
        if self.rotation_first:
            shifted = [Block(b.kind, b.coordinate + 3, b.frame, b.data) for b in translation.blocks]
            return Factorization((rotation_block(0), *shifted), translation.after)
        rotation = rotation_block(3)
        return Factorization(
            (*translation.blocks, Block(rotation.kind, 3, translation.after, rotation.data)), IDENTITY
        )
