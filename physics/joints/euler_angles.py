"""Euler angles of any sequence, to and from rotations."""

from typing import Any

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry import lie

AXES = {"x": 0, "y": 1, "z": 2}


def check_sequence(sequence: Any, owner: str) -> str:
    """Return a sequence: three letters of x, y, z, neighbours different; ModelError otherwise."""
    wrong = not isinstance(sequence, str) or len(sequence) != 3 or not set(sequence) <= set("xyz")
    if wrong or sequence[0] == sequence[1] or sequence[1] == sequence[2]:
        raise ModelError(f"{owner} sequence must be three letters such as 'zyx', got {sequence!r}")
    return str(sequence)


def euler_rotations(sequence: str, angles: FloatArray) -> FloatArray:
    """Rotations R_1(a_1) R_2(a_2) R_3(a_3) (..., 3, 3) by angles (..., 3) about the axes of a sequence."""
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
    rows = np.array(rotations, dtype=np.float64, order="C").reshape(-1, 9)
    angles = np.empty((len(rows), 3))
    first, second, third = (AXES[letter] for letter in sequence)
    kernels.algebra.euler.read_angles(rows, first, second, third, angles)
    return angles.reshape(*np.shape(rotations)[:-2], 3)
