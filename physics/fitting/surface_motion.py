"""The motion of six angles and lengths (Lee & Terzopoulos 2008, eq. 25) and its differentials, for many points at once.

G is a product of six exponentials. Column k of A is the body twist per change of the k-th angle or length: the factor's
twist seen from after the last factor. dA_k / dphi_l = [A_k, A_l] if factor l comes after k, and 0 otherwise.
"""

from dataclasses import dataclass

import numpy as np

from .._typing import FloatArray
from ..geometry import lie
from ..joints.euler_angles import AXES, euler_angles, euler_rotations


@dataclass(frozen=True)
class Motion:
    """Axes of the three rotations, and whether they come before the three translations."""

    sequence: str
    rotation_first: bool

    def poses(self, values: FloatArray) -> FloatArray:
        """G (..., 4, 4) of values (..., 6): three angles, then x, y, z."""
        result = np.zeros((*values.shape[:-1], 4, 4))
        rotation, position = euler_rotations(self.sequence, values[..., :3]), values[..., 3:]
        if self.rotation_first:
            position = (rotation @ position[..., None])[..., 0]
        result[..., :3, :3], result[..., :3, 3], result[..., 3, 3] = rotation, position, 1.0
        return result

    def values(self, poses: FloatArray) -> FloatArray:
        """The angles and lengths (..., 6) of poses, the angles not unwrapped."""
        rotation, position = poses[..., :3, :3], poses[..., :3, 3]
        if self.rotation_first:
            position = (np.swapaxes(rotation, -1, -2) @ position[..., None])[..., 0]
        return np.concatenate([euler_angles(self.sequence, rotation), position], axis=-1)

    def columns(self, values: FloatArray) -> FloatArray:
        """A (..., 6, 6): body twist of G per change of each value."""
        angles, position = values[..., :3], values[..., 3:]
        result = np.zeros((*values.shape[:-1], 6, 6))
        after = np.broadcast_to(np.eye(3), (*values.shape[:-1], 3, 3))
        for k in (2, 1, 0):
            axis = AXES[self.sequence[k]]
            result[..., :3, k] = after[..., :, axis]
            turn = np.zeros_like(angles)
            turn[..., axis] = -angles[..., k]
            after = after @ lie.so3_exp(turn)
        if self.rotation_first:
            result[..., 3:, :3] = -lie.hat(position) @ result[..., :3, :3]
            result[..., 3:, 3:] = np.eye(3)
        else:
            result[..., 3:, 3:] = after
        return result

    def change(self, columns: FloatArray, rates: FloatArray) -> FloatArray:
        """Change of A (..., 6, 6) while the values change at rates (..., 6)."""
        return _brackets(columns, self._after(columns, rates))

    def second_change(self, columns: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """Second differential of A (..., 6, 6), along the rates `first` and `second` (..., 6)."""
        moved = self.change(columns, second)
        along = _brackets(moved, self._after(columns, first))
        return along + _brackets(columns, self._after(moved, first))

    def _after(self, columns: FloatArray, rates: FloatArray) -> FloatArray:
        """For each factor the twist of the factors after it at the given rates, as columns (..., 6, 6)."""
        order = list(range(6)) if self.rotation_first else [3, 4, 5, 0, 1, 2]
        parts = (columns * rates[..., None, :])[..., order]
        sums = np.cumsum(parts[..., ::-1], axis=-1)[..., ::-1]
        result = np.zeros_like(columns)
        result[..., order[:-1]] = sums[..., 1:]
        return result


def _brackets(first: FloatArray, second: FloatArray) -> FloatArray:
    """[a_k, b_k] of matching columns (..., 6, k)."""
    w, v = first[..., :3, :], first[..., 3:, :]
    x, y = second[..., :3, :], second[..., 3:, :]
    angular = np.cross(w, x, axis=-2)
    linear = np.cross(v, x, axis=-2) + np.cross(w, y, axis=-2)
    return np.concatenate([angular, linear], axis=-2)
