"""The links of a joint: consecutive factors that share coordinates, each a joint of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..geometry import lie
from ..kernels import layout
from .base import IDENTITY, Block, Factorization, screw_frame
from .elementary import turning
from .euler_angles import AXES
from .joint import Joint


@dataclass(frozen=True, eq=False)
class Link(Joint):
    """Consecutive factors of a joint that share coordinates, as a joint of its own.

    Attributes:
        blocks: the factors, their coordinates counted from `first`. after: frame after the last.
        first: first coordinate in the whole joint. used: coordinates that move it, counted in the whole joint.
    """

    blocks: tuple[Block, ...]
    after: FloatArray
    first: int
    used: tuple[int, ...]
    coordinate_names: tuple[str, ...]
    coordinate_units: tuple[str, ...]

    def factorization(self) -> Factorization:
        return Factorization(self.blocks, self.after)

    @property
    def own(self) -> slice:
        return slice(self.first, self.first + self.num_coordinates)


def links_of(joint: Joint) -> list[Link]:
    """The links of a joint in order; a rotation that is read as Euler angles has one per angle."""
    blocks, after = _unfolded(joint)
    used = [_coordinates(block) for block in blocks]
    last = {coordinate: k for k, each in enumerate(used) for coordinate in each}
    links, start, reach = [], 0, -1
    for k, each in enumerate(used):
        reach = max([reach, k, *(last[coordinate] for coordinate in each)])
        if k == reach:
            moved = tuple(sorted({c for group in used[start : k + 1] for c in group}))
            links.append(_link(joint, blocks[start : k + 1], moved))
            start = k + 1
    if links:
        end = links[-1]
        links[-1] = Link(end.blocks, after, end.first, end.used, end.coordinate_names, end.coordinate_units)
    return links


def _link(joint: Joint, blocks: Sequence[Block], used: tuple[int, ...]) -> Link:
    first, stop = (used[0], used[-1] + 1) if used else (0, 0)
    own = tuple(Block(b.kind, max(b.coordinate - first, 0), b.frame, b.data) for b in blocks)
    return Link(
        own, IDENTITY, first, used, joint.coordinate_names[first:stop], joint.coordinate_units[first:stop]
    )


def _coordinates(block: Block) -> range:
    counts = {layout.ROTATION_VECTOR: 3, layout.OF_TWO: 2}
    if block.kind == layout.FUNCTION:
        count = int(block.data[layout.TWIST_WIDTH])
    elif block.kind == layout.SPLINE_SURFACE:
        count = int(block.data[layout.SURFACE_DIRECTIONS])
    else:
        count = counts.get(block.kind, 1)
    return range(block.coordinate, block.coordinate + count)


def _unfolded(joint: Joint) -> tuple[list[Block], FloatArray]:
    """The factors and the frame after them; rotation vectors read as Euler angles become screws about their axes."""
    factors, sequences = joint.factorization(), dict(joint.angle_groups)
    blocks, frame = [], IDENTITY
    for block in factors.blocks:
        frame = frame @ block.frame
        sequence = sequences.get(block.coordinate)
        if block.kind != layout.ROTATION_VECTOR or sequence is None:
            blocks.append(Block(block.kind, block.coordinate, frame, block.data))
            frame = IDENTITY
            continue
        sign = float(block.data[0])
        for k in range(3) if sign > 0.0 else (2, 1, 0):
            axis_frame, _, _ = screw_frame(turning(np.eye(3)[AXES[sequence[k]]]))
            rates = np.array([sign, 0.0])
            blocks.append(Block(layout.SCREW, block.coordinate + k, frame @ axis_frame, rates))
            frame = lie.inverse(axis_frame)
    return blocks, frame @ factors.after
