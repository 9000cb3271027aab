"""Euler angles of any sequence: rotations from them, and they from rotations."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import lie
from .._typing import FloatArray
from ..errors import ModelError

AXES = {"x": 0, "y": 1, "z": 2}


def check_sequence(sequence: Any, owner: str) -> str:
    """Three letters of x, y, z, each other than the one before; ModelError where they are not."""
    wrong = not isinstance(sequence, str) or len(sequence) != 3 or not set(sequence) <= set("xyz")
    if wrong or sequence[0] == sequence[1] or sequence[1] == sequence[2]:
        raise ModelError(f"{owner} sequence must be three letters such as 'zyx', got {sequence!r}")
    return str(sequence)


def euler_rotations(sequence: str, angles: FloatArray) -> FloatArray:
    """R_1(a_1) R_2(a_2) R_3(a_3), (..., 3, 3), of angles (..., 3) about the axes of a sequence."""
    result: FloatArray = np.eye(3)
    for k, letter in enumerate(sequence):
        vectors = np.zeros((*angles.shape[:-1], 3))
        vectors[..., AXES[letter]] = angles[..., k]
        result = result @ lie.so3_exp(vectors)
    return result


def euler_angles(sequence: str, rotations: FloatArray) -> FloatArray:
    """Angles (..., 3) of rotations (..., 3, 3); the middle one in [-pi/2, pi/2], or [0, pi] where first axis = third.

    At gimbal lock, where only the sum (or the difference) of the outer angles is defined, the last one is 0.
    """
    i, j, last = (AXES[letter] for letter in sequence)
    k = 3 - i - j
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    r = rotations
    if last == i:
        sine = np.hypot(r[..., i, j], r[..., i, k])
        middle = np.arctan2(sine, r[..., i, i])
        first = np.arctan2(r[..., j, i], -parity * r[..., k, i])
        third = np.arctan2(r[..., i, j], parity * r[..., i, k])
        # the middle angle is 0 or pi: R_i(first) then, up to the sense of the third axis
        locked = sine < 1e-12
        alone = np.arctan2(parity * r[..., k, j], r[..., j, j])
    else:
        cosine = np.hypot(r[..., i, i], r[..., i, j])
        middle = np.arctan2(parity * r[..., i, k], cosine)
        first = np.arctan2(-parity * r[..., j, k], r[..., k, k])
        third = np.arctan2(-parity * r[..., i, j], r[..., i, i])
        locked = cosine < 1e-12
        alone = np.arctan2(parity * r[..., k, j], r[..., j, j])
    first, third = np.where(locked, alone, first), np.where(locked, 0.0, third)
    result: FloatArray = np.stack([first, middle, third], axis=-1)
    return result
