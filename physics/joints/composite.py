"""Several joints in series, without bodies between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..validation import float_array
from .base import IDENTITY, Block, Factorization
from .joint import Joint


@dataclass(frozen=True, eq=False)
class Composite(Joint):
    """The product G = G_1 G_2 ... of other joints, with their coordinates in order, named ``1.angle``, ``2.x`` ...

    A bead that is free to spin about its wire is a spline curve followed by a hinge.
    """

    joints: tuple[Joint, ...]
    type: ClassVar[str] = "composite"

    def __post_init__(self) -> None:
        if not isinstance(self.joints, tuple | list):
            raise ModelError(f"composite joint parts must be a list of joints, got {self.joints!r:.80}")
        joints = tuple(self.joints)
        if not joints:
            raise ModelError("composite joint has no parts, got ()")
        for joint in joints:
            if not isinstance(joint, Joint):
                raise ModelError(f"composite joint parts must be joints, got {joint!r}")
        names = _numbered(joint.coordinate_names for joint in joints)
        units = tuple(unit for joint in joints for unit in joint.coordinate_units)
        vars(self).update(joints=joints, coordinate_names=names, coordinate_units=units)

    @property
    def range(self) -> FloatArray:
        return np.concatenate([joint.range.reshape(-1, 2) for joint in self.joints])

    @property
    def kinematic_only(self) -> str:
        return next(filter(None, (joint.kinematic_only for joint in self.joints)), "")

    @property
    def cusps(self) -> tuple[tuple[int, FloatArray, float], ...]:
        return tuple(
            (start + column, places, restitution)
            for start, joint in zip(self._starts, self.joints)
            for column, places, restitution in joint.cusps
        )

    @property
    def angle_groups(self) -> tuple[tuple[int, str], ...]:
        return tuple(
            (start + first, sequence)
            for start, joint in zip(self._starts, self.joints)
            for first, sequence in joint.angle_groups
        )

    @property
    def rotation_limits(self) -> tuple[tuple[int, Any], ...]:
        return tuple(
            (start + first, limit)
            for start, joint in zip(self._starts, self.joints)
            for first, limit in joint.rotation_limits
        )

    @property
    def _starts(self) -> list[int]:
        """First coordinate of each part, then the number of all."""
        return [0, *accumulate(joint.num_coordinates for joint in self.joints)]

    @property
    def reading_names(self) -> tuple[str, ...]:
        return _numbered(joint.reading_names for joint in self.joints)

    @property
    def reading_units(self) -> tuple[str, ...]:
        return tuple(unit for joint in self.joints for unit in joint.reading_units)

    def readings(self, q: Any) -> FloatArray:
        parts = self._split(q, "coordinates")
        return np.concatenate([joint.readings(part) for joint, part in zip(self.joints, parts)], axis=-1)

    def from_readings(self, values: Any) -> FloatArray:
        parts = self._split(values, "readings")
        return np.concatenate([joint.from_readings(part) for joint, part in zip(self.joints, parts)], axis=-1)

    def _split(self, values: Any, what: str) -> list[FloatArray]:
        """Values (..., n) split into those of each part (..., n_i)."""
        array = float_array(values, f"composite joint {what}")
        if array.ndim == 0 or array.shape[-1] != self.num_coordinates:
            raise ModelError(
                f"composite joint {what} must have shape (..., {self.num_coordinates}), got {array.shape}"
            )
        return np.split(array, self._starts[1:-1], axis=-1)

    @property
    def prescribed(self) -> tuple[bool, ...]:
        return tuple(flag for joint in self.joints for flag in joint.prescribed)

    def factorization(self) -> Factorization:
        blocks: list[Block] = []
        frame: FloatArray = IDENTITY
        first = 0
        for joint in self.joints:
            parts = joint.factorization()
            for block in parts.blocks:
                blocks.append(Block(block.kind, first + block.coordinate, frame @ block.frame, block.data))
                frame = IDENTITY
            frame = frame @ parts.after
            first += joint.num_coordinates
        return Factorization(tuple(blocks), frame)


def _numbered(names: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(f"{number}.{name}" for number, part in enumerate(names, 1) for name in part)
