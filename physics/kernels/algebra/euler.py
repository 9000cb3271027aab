"""Euler angles of a rotation, for any sequence of axes."""

import math

from ..compiler.jit import entry, inline
from .vectors import Array, Rotation, Vector

# Below this the middle angle counts as locked: only the sum or the difference of the others is determined.
LOCKED = 1e-12


@inline
def angles_of(m: Rotation, first: int, second: int, third: int) -> Vector:
    """Angles about axes 0, 1, 2 (x, y, z) with R_first R_second R_third = m.

    The middle one lies in [-pi/2, pi/2], or in [0, pi] if the first and last axes are the same; at gimbal lock the last
    is 0.
    """
    i, j = first, second
    k = 3 - i - j
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    if third == i:
        sure = math.hypot(m[3 * i + j], m[3 * i + k])
        middle = math.atan2(sure, m[3 * i + i])
        alpha = math.atan2(m[3 * j + i], -parity * m[3 * k + i])
        gamma = math.atan2(m[3 * i + j], parity * m[3 * i + k])
    else:
        sure = math.hypot(m[3 * i + i], m[3 * i + j])
        middle = math.atan2(parity * m[3 * i + k], sure)
        alpha = math.atan2(-parity * m[3 * j + k], m[3 * k + k])
        gamma = math.atan2(-parity * m[3 * i + j], m[3 * i + i])
    if sure < LOCKED:
        alpha, gamma = math.atan2(parity * m[3 * k + j], m[3 * j + j]), 0.0
    return alpha, middle, gamma


@entry
def read_angles(rotations: Array, first: int, second: int, third: int, angles: Array) -> None:
    """`angles_of` each rotation (n, 9), into angles (n, 3)."""
    for n in range(rotations.shape[0]):
        m = rotations[n]
        a = angles_of((m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]), first, second, third)
        angles[n, 0] = a[0]
        angles[n, 1] = a[1]
        angles[n, 2] = a[2]
