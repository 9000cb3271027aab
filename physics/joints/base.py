"""Joints as products of exponentials, G(q) = H prod_k exp(g_k phi_k(q)) (Lee & Terzopoulos 2008, eq. 26).

A joint class lists its factors as `Block` records, which the kernels evaluate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import validation
from .._typing import FloatArray
from ..geometry import lie
from ..kernels import layout

IDENTITY: FloatArray = np.eye(4)
IDENTITY.flags.writeable = False
#: round-off in the length of a unit vector: three squares, a sum and a root
UNIT_ROUND_OFF = 1e-15
#: metadata of a joint's field: its check, and its JSON Schema, where its type does not say enough
POSITIVE: dict[str, Any] = {**validation.POSITIVE, "schema": {"type": "number", "exclusiveMinimum": 0}}


@dataclass(frozen=True, eq=False)
class Block:
    """One kernel block: its kind (``layout.SCREW`` ...), first local coordinate, frame before it, and its data."""

    kind: int
    coordinate: int
    frame: FloatArray
    data: FloatArray


@dataclass(frozen=True, eq=False)
class Factorization:
    """The blocks of a joint in order, and the constant frame (4, 4) after the last one."""

    blocks: tuple[Block, ...]
    after: FloatArray


def screw_frame(twist: FloatArray) -> tuple[FloatArray, float, float]:
    """Frame A with z along the screw axis of a twist, rate and lead: twist = Ad_A (0, 0, rate, 0, 0, lead)."""
    w, v = twist[:3], twist[3:]
    rate = float(np.linalg.norm(w))
    if abs(rate - 1.0) < UNIT_ROUND_OFF:  # a unit axis: kernels need not scale the angle
        rate = 1.0
    frame = np.eye(4)
    if rate > 0.0:
        axis = w / rate
        (a, b, c), (x, y, z) = axis.tolist(), v.tolist()
        frame[:3, 3] = np.array([b * z - c * y, c * x - a * z, a * y - b * x]) / rate
        lead = float(axis @ v)
    else:
        lead = float(np.linalg.norm(v))
        axis = v / lead
    frame[:3, :3] = rotation_to(axis)
    return frame, rate, lead


def rotation_to(axis: FloatArray) -> FloatArray:
    """The shortest rotation (3, 3) that takes z to a unit axis; half a turn about x if the axis is -z."""
    x, y, z = axis
    if z < -1.0 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    turn = lie.hat(np.array([-y, x, 0.0]))
    return np.eye(3) + turn + turn @ turn / (1.0 + z)


def product_of_screws(twists: Sequence[FloatArray]) -> Factorization:
    """exp(t_0 q_0) exp(t_1 q_1) ... as screws about z with constant frames between them."""
    blocks: list[Block] = []
    frame: FloatArray = IDENTITY
    for coordinate, twist in enumerate(twists):
        axis_frame, rate, lead = screw_frame(twist)
        blocks.append(Block(layout.SCREW, coordinate, frame @ axis_frame, np.array([rate, lead])))
        frame = lie.inverse(axis_frame)
    return Factorization(tuple(blocks), frame)
