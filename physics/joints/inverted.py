"""The inverse of a joint: parent and child change places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie
from ..kernels import layout
from .base import Block, Factorization
from .curve_packing import inverted_spline, negated_twists
from .joint import Joint
from .spline_surface import inverted_surface


@dataclass(frozen=True, eq=False)
class Inverted(Joint):
    """G(q) = F(q)^-1 of another joint F: its factors in reverse order with opposite twists.

    A spline curve times an inverted one rolls one curve along another (Lee & Terzopoulos 2008, Fig. 5c).
    """

    joint: Joint
    type: ClassVar[str] = "inverted"

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Joint):
            raise ModelError(f"inverted joint needs a joint to invert, got {self.joint!r:.80}")
        names, units = self.joint.coordinate_names, self.joint.coordinate_units
        vars(self).update(coordinate_names=names, coordinate_units=units)

    @property
    def range(self) -> FloatArray:
        return self.joint.range

    @property
    def kinematic_only(self) -> str:
        return self.joint.kinematic_only

    @property
    def cusps(self) -> tuple[tuple[int, FloatArray, float], ...]:
        return self.joint.cusps

    @property
    def angle_groups(self) -> tuple[tuple[int, str], ...]:
        return self.joint.angle_groups

    @property
    def rotation_limits(self) -> tuple[tuple[int, Any], ...]:
        return self.joint.rotation_limits

    @property
    def reading_names(self) -> tuple[str, ...]:
        return self.joint.reading_names

    @property
    def reading_units(self) -> tuple[str, ...]:
        return self.joint.reading_units

    def readings(self, q: Any) -> FloatArray:
        return self.joint.readings(q)

    def from_readings(self, values: Any) -> FloatArray:
        return self.joint.from_readings(values)

    @property
    def prescribed(self) -> tuple[bool, ...]:
        return self.joint.prescribed

    def factorization(self) -> Factorization:
        parts = self.joint.factorization()
        blocks = []
        frame = lie.inverse(parts.after)
        for block in reversed(parts.blocks):
            blocks.append(Block(block.kind, block.coordinate, frame, _opposite(block)))
            frame = lie.inverse(block.frame)
        return Factorization(tuple(blocks), frame)


def _opposite(block: Block) -> FloatArray:
    """Data of the block with the inverse motion."""
    if block.kind == layout.SPLINE_CURVE:
        return inverted_spline(block.data)
    if block.kind == layout.SPLINE_SURFACE:
        return inverted_surface(block.data)
    if block.kind in (layout.FUNCTION, layout.OF_TWO):
        width = layout.TWIST_WIDTH
        return np.concatenate([negated_twists(block.data[:width]), block.data[width:]])
    return -block.data  # a screw's rates, a rotation vector's sign
