"""Rotations over time as channels of Blender's rotation modes, continuous from key to key. numpy only, float64."""

from itertools import repeat

import numpy as np

from ..blender import physics_access
from . import reduction

#: channels of one rotation closer than this differ by round-off only
SAME = 1e-6
PATHS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}


def rotation_path(mode: str) -> str:
    """Name of the channel that a rotation mode uses."""
    return PATHS.get(mode, "rotation_euler")


def rotation_channels(rotations: np.ndarray, mode: str, near: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., F, 3, 3) of motions as channels (..., F, 3 or 4) of a rotation mode.

    Args:
        mode: Blender's name: "QUATERNION", "AXIS_ANGLE", or an Euler order such as "XYZ" (x is applied first).
        near: channels (..., 3 or 4) to which the first row is nearest, so that a bake does not begin with a turn.
    """
    if mode == "QUATERNION":
        return _quaternions(rotations, near)
    if mode != "AXIS_ANGLE":
        return _eulers(rotations, mode, near)
    if rotations.ndim == 3:
        return _axis_angles(rotations, near)
    return np.array([rotation_channels(*each) for each in zip(rotations, repeat(mode), near)])


def _quaternions(rotations: np.ndarray, near: np.ndarray) -> np.ndarray:
    lie = physics_access.part("geometry.lie")
    found = lie.continuous_quaternions(np.moveaxis(lie.quaternion_from_matrix(rotations), -2, 0))
    signs = np.where((found[0] * near).sum(axis=-1) >= 0.0, 1.0, -1.0)
    return np.moveaxis(found * signs[..., None], 0, -2)


def _axis_angles(rotations: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Angle and axis (F, 4); the axis is kept where there is no rotation, and the angle changes sign through zero."""
    lie = physics_access.part("geometry.lie")
    vectors = lie.so3_log(rotations)
    angles = np.linalg.norm(vectors, axis=1)
    turned = angles > 1e-9
    near_axis = near[1:] / (np.linalg.norm(near[1:]) or 1.0)
    axes = np.empty_like(vectors)
    axis = near_axis if np.linalg.norm(near_axis) > 0.5 else np.array([0.0, 0.0, 1.0])
    for row in range(len(vectors)):
        if turned[row]:
            candidate = vectors[row] / angles[row]
            if candidate @ axis < 0.0:
                candidate, angles[row] = -candidate, -angles[row]
            axis = candidate
        axes[row] = axis
    angles = np.unwrap(angles)
    angles += 2.0 * np.pi * np.round((near[0] - angles[0]) / (2.0 * np.pi))
    return np.column_stack([angles, axes])


def _eulers(rotations: np.ndarray, mode: str, near: np.ndarray) -> np.ndarray:
    """Angles (..., F, 3) about x, y, z for a mode: of the two solutions the one nearest to the previous angles."""
    i, j, k = ("XYZ".index(letter) for letter in mode)
    odd = -1.0 if (i, j, k) in {(0, 2, 1), (1, 0, 2), (2, 1, 0)} else 1.0
    # R = R_k R_j R_i; with even order the entries below are those of the familiar Rz Ry Rx
    cosine = np.hypot(rotations[..., i, i], rotations[..., j, i])
    middle = np.arctan2(-odd * rotations[..., k, i], cosine)
    locked = cosine < 1e-9
    first = np.where(
        locked,
        np.arctan2(-odd * rotations[..., j, k], rotations[..., j, j]),
        np.arctan2(odd * rotations[..., k, j], rotations[..., k, k]),
    )
    last = np.where(locked, 0.0, np.arctan2(odd * rotations[..., j, i], rotations[..., i, i]))
    one = np.empty(rotations.shape[:-1])
    one[..., i], one[..., j], one[..., k] = first, middle, last
    return one_branch(one, _other_branch(one, mode), near)


def _other_branch(angles: np.ndarray, mode: str) -> np.ndarray:
    """The other angles (..., 3) about x, y, z of the same rotations."""
    other = angles + np.pi
    middle = "XYZ".index(mode[1])
    other[..., middle] = np.pi - angles[..., middle]
    return other


def one_branch(one: np.ndarray, other: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Euler angles (..., F, 3): of two solutions the one nearest to the previous angles, beginning near (..., 3)."""
    before = np.concatenate([near[..., None, :], one[..., :-1, :]], axis=-2)
    # the second solution changes as the first does, so only changes of branch need to be found
    crossing = _turn(other - before) < _turn(one - before)
    use_other = np.cumsum(crossing, axis=-1) % 2 == 1
    angles = np.unwrap(np.where(use_other[..., None], other, one), axis=-2)
    return angles + 2.0 * np.pi * np.round((near - angles[..., 0, :]) / (2.0 * np.pi))[..., None, :]


def _turn(difference: np.ndarray) -> np.ndarray:
    wrapped = np.remainder(difference + np.pi, 2.0 * np.pi) - np.pi
    return np.abs(wrapped).sum(axis=-1)


def matrices(channels: np.ndarray, mode: str) -> np.ndarray:
    """Rotation matrices (F, 3, 3) of channels (F, 3 or 4) of a rotation mode."""
    lie = physics_access.part("geometry.lie")
    if mode == "QUATERNION":
        found = lie.matrix_from_quaternion(channels / np.linalg.norm(channels, axis=1, keepdims=True))
    elif mode == "AXIS_ANGLE":
        lengths = np.maximum(np.linalg.norm(channels[:, 1:], axis=1, keepdims=True), 1e-12)
        found = lie.so3_exp(channels[:, :1] * channels[:, 1:] / lengths)
    else:
        found = np.eye(3)
        for letter in mode:  # the first is applied first
            axis = np.eye(3)["XYZ".index(letter)]
            found = lie.so3_exp(channels[:, ["XYZ".index(letter)]] * axis) @ found
    return np.asarray(found)


def led_on(
    channels: np.ndarray, first: np.ndarray, last: np.ndarray, mode: str
) -> tuple[np.ndarray, np.ndarray]:
    """Channels (k, n, c) of a mode between keys, made continuous with the keys `first` (k, c) where they begin, and a
    mask (k,) of those that end at the keys `last`: turns of half a turn or more between keys do not.
    """
    begin, turn = channels[:, 0], 2.0 * np.pi
    if mode == "QUATERNION":
        found = channels * np.where((begin * first).sum(axis=1) < 0.0, -1.0, 1.0)[:, None, None]
    elif mode == "AXIS_ANGLE":
        found = channels * np.where((begin * first)[:, 1:].sum(axis=1) < 0.0, -1.0, 1.0)[:, None, None]
        found[..., 0] += turn * np.round((first - found[:, 0])[:, :1] / turn)
    else:
        found = np.empty_like(channels)
        least = np.full(len(channels), np.inf)
        for each in (channels, _other_branch(channels, mode)):
            ahead = each + turn * np.round((first - each[:, 0]) / turn)[:, None]
            away = np.abs(ahead[:, 0] - first).sum(axis=1)
            found[away < least] = ahead[away < least]
            least = np.minimum(least, away)
    off = np.maximum(np.abs(found[:, 0] - first), np.abs(found[:, -1] - last)).max(axis=1)
    return found, off < SAME


def missed_between(rotations: np.ndarray, channels: np.ndarray, mode: str) -> np.ndarray:
    """Angles (F - 1,) [rad] by which channels (F, 3 or 4), cubic from key to key, miss rotations (F, 3, 3) halfway.

    The rotation halfway is taken from quaternions, which turn evenly in every direction. Euler angles do not: close
    to gimbal lock two of them swing around within a frame.
    """
    if mode == "QUATERNION" or len(rotations) < 2:
        return np.zeros(max(len(rotations) - 1, 0))
    even, halfway = _halfway(rotations, channels)
    return _apart(even, matrices(halfway, mode))


def missed_by_vectors(vectors: np.ndarray) -> np.ndarray:
    """Angles (F - 1,) [rad] by which rotation vectors (F, 3), cubic from frame to frame, miss an even turn halfway.
    Near a length of 2 pi, where every direction means no rotation, they swing around.
    """
    lie = physics_access.part("geometry.lie")
    even, halfway = _halfway(lie.so3_exp(vectors), vectors)
    return _apart(even, lie.so3_exp(halfway))


def _apart(even: np.ndarray, halfway: np.ndarray) -> np.ndarray:
    """Angles (n,) [rad] between quaternions (n, 4) and rotations (n, 3, 3)."""
    off = np.swapaxes(matrices(even, "QUATERNION"), 1, 2) @ halfway
    return np.asarray(np.linalg.norm(physics_access.physics().lie.so3_log(off), axis=1))


def _halfway(rotations: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """Quaternions (F - 1, 4) and values (F - 1, c) halfway between the rotations (F, 3, 3) of the values (F, c).
    Corners of one count for both, so that both are interpolated alike.
    """
    lie = physics_access.part("geometry.lie")
    rows = np.arange(float(len(values)))
    paths = [lie.continuous_quaternions(lie.quaternion_from_matrix(rotations)), values]
    (slopes,) = reduction.slopes_of(rows, [paths])
    return [reduction.cubic(rows, path, each, rows[:-1] + 0.5) for path, each in zip(paths, slopes)]
