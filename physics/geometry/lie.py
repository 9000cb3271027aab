"""Rotations SO(3) and rigid motions SE(3): exp, log, adjoints and the differentials of exp, for batches of any shape.

Twists are [angular, linear] in the body frame. Coefficients that are 0 / 0 at the identity come from series below 1 rad
and from half-angle forms above: exact to round-off at 0, near 0 and near pi.

Only `check_frames`, `check_frame` and `frame_or_identity` check their input here; `physics.lie`, what users call,
checks all (see `face`).
"""

import math
from math import factorial
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..validation import float_array

# Angle [rad] below which round-off hides the axis of a rotation in single precision.
NO_AXIS = 1e-5
# Squared angle [rad^2] below which coefficients come from series of ten terms, exact to 1e-17 of the sum there.
SERIES_LIMIT = 1.0
_N = range(10)
ALPHA = [(-1) ** n / factorial(2 * n + 1) for n in _N]  # sin t / t
BETA = [(-1) ** n / factorial(2 * n + 2) for n in _N]  # (1 - cos t) / t^2
GAMMA = [(-1) ** n / factorial(2 * n + 3) for n in _N]  # (t - sin t) / t^3
DELTA = [(-1) ** n / factorial(2 * n + 4) for n in _N]  # (t^2 / 2 + cos t - 1) / t^4
EPSILON = [(-1) ** n / factorial(2 * n + 5) for n in _N]  # (t^3 / 6 - t + sin t) / t^5
ZETA = [(-1) ** n * (n + 1) / factorial(2 * n + 4) for n in _N]  # (2 beta - alpha) / (2 t^2)


def coefficient(square: FloatArray, series: list[float], closed: FloatArray) -> FloatArray:
    """The series in t^2 where t is small, the closed form elsewhere."""
    x = np.minimum(square, SERIES_LIMIT)
    total = np.full_like(x, series[-1])
    for term in reversed(series[:-1]):
        total = term + x * total
    return np.where(square < SERIES_LIMIT, total, closed)


def _angle(r: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """|r|^2, |r| and |r| made safe to divide by, shaped (..., 1, 1)."""
    square = (r * r).sum(axis=-1)[..., None, None]
    angle = np.sqrt(square)
    return square, angle, np.where(square < SERIES_LIMIT, 1.0, angle)


def _beta(square: FloatArray, angle: FloatArray, safe: FloatArray) -> FloatArray:
    return coefficient(square, BETA, 2.0 * (np.sin(0.5 * angle) / safe) ** 2)


def _gamma(square: FloatArray, angle: FloatArray, safe: FloatArray) -> FloatArray:
    return coefficient(square, GAMMA, (angle - np.sin(angle)) / safe**3)


def hat(w: Any) -> FloatArray:
    """Skew-symmetric matrices (..., 3, 3) of vectors (..., 3): hat(w) x = w x x (Kim, Lee & Park 2014, eq. 1)."""
    w = np.asarray(w, dtype=np.float64)
    result = np.zeros((*w.shape[:-1], 3, 3))
    result[..., 2, 1], result[..., 0, 2], result[..., 1, 0] = w[..., 0], w[..., 1], w[..., 2]
    result[..., 1, 2], result[..., 2, 0], result[..., 0, 1] = -w[..., 0], -w[..., 1], -w[..., 2]
    return result


def vee(matrix: Any) -> FloatArray:
    """Vectors (..., 3) of skew-symmetric matrices (..., 3, 3), the inverse of `hat`; a symmetric part is dropped."""
    m = np.asarray(matrix, dtype=np.float64)
    return 0.5 * np.stack(
        [m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]], axis=-1
    )


def so3_exp(r: Any) -> FloatArray:
    """Rotations (..., 3, 3) of rotation vectors (..., 3) [rad] (Kim, Lee & Park 2014, eq. 2)."""
    r = np.asarray(r, dtype=np.float64)
    skew = hat(r)
    square, angle, safe = _angle(r)
    alpha = coefficient(square, ALPHA, np.sin(angle) / safe)
    square_of_skew: FloatArray = skew @ skew
    return np.eye(3) + alpha * skew + _beta(square, angle, safe) * square_of_skew


def so3_log(rotation: Any) -> FloatArray:
    """Rotation vectors (..., 3) with |r| in [0, pi] of rotations (..., 3, 3), accurate at pi too.

    Computed from the quaternion, whose largest component never cancels; atan2 keeps the angle exact near 0 and pi.
    """
    quaternion = quaternion_from_matrix(rotation)
    sine = np.linalg.norm(quaternion[..., 1:], axis=-1, keepdims=True)
    cosine = quaternion[..., :1]
    scale = np.divide(2.0 * np.arctan2(sine, cosine), sine, out=np.full_like(sine, 2.0), where=sine > 0.0)
    return scale * quaternion[..., 1:]


def so3_left_jacobian(r: Any) -> FloatArray:
    """J_s (..., 3, 3): spatial angular velocity w_s = J_s r' (Kim, Lee & Park 2014, eq. 24)."""
    r = np.asarray(r, dtype=np.float64)
    skew = hat(r)
    coefficients = _angle(r)
    square_of_skew: FloatArray = skew @ skew
    return np.eye(3) + _beta(*coefficients) * skew + _gamma(*coefficients) * square_of_skew


def so3_right_jacobian(r: Any) -> FloatArray:
    """J_b (..., 3, 3): body angular velocity w_b = J_b r' (Kim, Lee & Park 2014, eq. 21)."""
    return so3_left_jacobian(-np.asarray(r, dtype=np.float64))


def so3_right_jacobian_inverse(r: Any) -> FloatArray:
    """G_b (..., 3, 3): r' = G_b w_b (Kim, Lee & Park 2014, eq. 22); singular at |r| = 2 pi."""
    r = np.asarray(r, dtype=np.float64)
    skew = hat(r)
    square, angle, safe = _angle(r)
    half = 0.5 * safe
    closed = (1.0 - half * np.cos(half) / np.sin(half)) / safe**2
    # below the limit the numerator's series divided by beta: the closed form would cancel
    series = coefficient(square, ZETA, np.ones_like(square)) / _beta(square, angle, safe)
    zeta = np.where(square < SERIES_LIMIT, series, closed)
    return np.eye(3) + 0.5 * skew + zeta * (skew @ skew)


def so3_left_jacobian_inverse(r: Any) -> FloatArray:
    """G_s (..., 3, 3): r' = G_s w_s (Kim, Lee & Park 2014, eq. 25); singular at |r| = 2 pi."""
    return so3_right_jacobian_inverse(-np.asarray(r, dtype=np.float64))


def _pose(rotation: FloatArray, position: FloatArray) -> FloatArray:
    pose = np.zeros((*rotation.shape[:-2], 4, 4))
    pose[..., :3, :3] = rotation
    pose[..., :3, 3] = position
    pose[..., 3, 3] = 1.0
    return pose


def exp(twist: Any) -> FloatArray:
    """Poses (..., 4, 4) reached in unit time by constant twists (..., 6)."""
    twist = np.asarray(twist, dtype=np.float64)
    r, v = twist[..., :3], twist[..., 3:]
    return _pose(so3_exp(r), (so3_left_jacobian(r) @ v[..., None])[..., 0])


def log(pose: Any) -> FloatArray:
    """Twists (..., 6) whose `exp` is the pose (..., 4, 4); the rotation's angle is at most pi."""
    pose = np.asarray(pose, dtype=np.float64)
    r = so3_log(pose[..., :3, :3])
    v = (so3_left_jacobian_inverse(r) @ pose[..., :3, 3:])[..., 0]
    return np.concatenate([r, v], axis=-1)


def inverse(pose: Any) -> FloatArray:
    """Inverses (..., 4, 4) of poses."""
    pose = np.asarray(pose, dtype=np.float64)
    rotation = np.swapaxes(pose[..., :3, :3], -1, -2)
    return _pose(rotation, -(rotation @ pose[..., :3, 3:])[..., 0])


def adjoint(pose: Any) -> FloatArray:
    """Ad (..., 6, 6) = [[R, 0], [[p] R, R]] of poses (Lee & Terzopoulos 2008, eq. 2)."""
    pose = np.asarray(pose, dtype=np.float64)
    rotation = pose[..., :3, :3]
    result = np.zeros((*pose.shape[:-2], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = rotation
    result[..., 3:, :3] = hat(pose[..., :3, 3]) @ rotation
    return result


def adjoint_inverse(pose: Any) -> FloatArray:
    """Ad of the inverse poses (..., 6, 6)."""
    return adjoint(inverse(pose))


def ad(twist: Any) -> FloatArray:
    """ad (..., 6, 6) = [[[w], 0], [[v], [w]]] of twists (Lee & Terzopoulos 2008, eq. 4)."""
    twist = np.asarray(twist, dtype=np.float64)
    result = np.zeros((*twist.shape[:-1], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = hat(twist[..., :3])
    result[..., 3:, :3] = hat(twist[..., 3:])
    return result


def _coupling(r: FloatArray, v: FloatArray) -> FloatArray:
    """Lower left block of SE(3)'s left Jacobian: sum over m, n of [r]^m [v] [r]^n / (m + n + 2)!, in closed form."""
    square, angle, safe = _angle(r)
    w, u = hat(r), hat(v)
    wu, uw, wuw = w @ u, u @ w, w @ u @ w
    gamma = _gamma(square, angle, safe)
    delta = coefficient(square, DELTA, (0.5 * square + np.cos(angle) - 1.0) / safe**4)
    epsilon = coefficient(square, EPSILON, (angle**3 / 6.0 - angle + np.sin(angle)) / safe**5)
    return (
        0.5 * u
        + gamma * (wu + uw + wuw)
        + delta * (w @ wu + uw @ w - 3.0 * wuw)
        + 0.5 * (delta - 3.0 * epsilon) * (wuw @ w + w @ wuw)
    )


def left_jacobian(twist: Any) -> FloatArray:
    """J_l (..., 6, 6): (d e^x e^-x)^vee = J_l(x) dx."""
    twist = np.asarray(twist, dtype=np.float64)
    r, v = twist[..., :3], twist[..., 3:]
    result = np.zeros((*twist.shape[:-1], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = so3_left_jacobian(r)
    result[..., 3:, :3] = _coupling(r, v)
    return result


def right_jacobian(twist: Any) -> FloatArray:
    """J_r (..., 6, 6): (e^-x d e^x)^vee = J_r(x) dx, the exact form of Lee & Terzopoulos 2008, eq. 33."""
    return left_jacobian(-np.asarray(twist, dtype=np.float64))


def right_jacobian_inverse(twist: Any) -> FloatArray:
    """Inverse of `right_jacobian` (..., 6, 6); singular where the rotation is a whole turn."""
    twist = np.asarray(twist, dtype=np.float64)
    r, v = -twist[..., :3], -twist[..., 3:]
    block = so3_left_jacobian_inverse(r)
    result = np.zeros((*twist.shape[:-1], 6, 6))
    result[..., :3, :3] = result[..., 3:, 3:] = block
    result[..., 3:, :3] = -block @ _coupling(r, v) @ block
    return result


def quaternion_from_matrix(rotation: Any) -> FloatArray:
    """Unit quaternions wxyz (..., 4), w >= 0, of rotations (..., 3, 3), from the largest of the four components."""
    m = np.asarray(rotation, dtype=np.float64)
    d0, d1, d2 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    products = np.empty((*m.shape[:-2], 4, 4))  # 4 q q^T
    products[..., 0, 0], products[..., 1, 1] = 1 + d0 + d1 + d2, 1 + d0 - d1 - d2
    products[..., 2, 2], products[..., 3, 3] = 1 - d0 + d1 - d2, 1 - d0 - d1 + d2
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[..., 0, i + 1] = products[..., i + 1, 0] = m[..., k, j] - m[..., j, k]
        products[..., j + 1, k + 1] = products[..., k + 1, j + 1] = m[..., j, k] + m[..., k, j]
    largest = np.argmax(np.einsum("...ii->...i", products), axis=-1)[..., None, None]
    row = np.take_along_axis(products, largest, axis=-2)[..., 0, :]
    row /= np.sqrt(np.einsum("...i,...i->...", row, row))[..., None]
    return np.where(row[..., :1] < 0.0, -row, row)


def matrix_from_quaternion(quaternion: Any) -> FloatArray:
    """Rotations (..., 3, 3) of quaternions wxyz (..., 4) of any length but 0."""
    q = np.asarray(quaternion, dtype=np.float64)
    w, v = q[..., 0], q[..., 1:]
    scale = (2.0 / (q * q).sum(axis=-1))[..., None, None]
    skew = hat(v)
    return np.eye(3) + scale * (w[..., None, None] * skew + skew @ skew)


def continuous_quaternions(quaternions: Any) -> FloatArray:
    """The same rotations (n, ..., 4) with signs chosen so that no quaternion opposes the one before it."""
    result = np.array(quaternions, dtype=np.float64)
    turned = (result[1:] * result[:-1]).sum(axis=-1) < 0.0
    result[1:] *= np.where(np.cumsum(turned, axis=0) % 2 == 0, 1.0, -1.0)[..., None]
    return result


def continuous_rotation_vectors(vectors: Any) -> FloatArray:
    """Unwrap rotation vectors (n, ..., 3): whole turns are added so that each is nearest to the one before."""
    result = np.array(vectors, dtype=np.float64)
    for column in np.moveaxis(result.reshape(len(result), -1, 3), 1, 0):
        angles = np.linalg.norm(column, axis=1)[1:]
        along = (column[:-1] * column[1:]).sum(axis=1) / np.maximum(angles, NO_AXIS)
        stays = (np.abs(along - angles) < np.pi) & (angles > NO_AXIS)  # if the row before stays
        others = np.append(np.flatnonzero(~stays) + 1, len(column))
        row = others[0]
        while row < len(column):
            moved = _bring_next(column[row - 1], column[row])
            row = row + 1 if moved else others[np.searchsorted(others, row + 1)]
    return result


def _bring_next(before: FloatArray, vector: FloatArray) -> bool:
    """Add the whole turns that bring a rotation vector (3,) nearest to the one before; returns whether it changed."""
    angle, last = float(np.linalg.norm(vector)), float(np.linalg.norm(before))
    # near a whole turn, round-off hides the axis of a small angle in single precision
    own = angle > (1e-9 if last < np.pi else NO_AXIS)
    axis = vector / angle if own else before / max(last, 1e-9)
    turns = np.round((before @ axis - angle) / (2.0 * np.pi))
    if own and turns == 0.0:
        return False
    vector[:] = axis * (angle + 2.0 * np.pi * turns)
    return True


def check_frame(frame: Any, name: str) -> FloatArray:
    """One pose (4, 4) as `check_frames` has it; ModelError also for several."""
    checked = check_frames(frame, name)
    if checked.shape != (4, 4):
        raise ModelError(f"{name} must have shape (4, 4), got {checked.shape}")
    return checked


def frame_or_identity(frame: Any, name: str) -> FloatArray:
    """As `check_frame`; the identity for None."""
    return np.eye(4) if frame is None else check_frame(frame, name)


def check_frames(frames: Any, name: str) -> FloatArray:
    """Copy poses (..., 4, 4) with exactly orthonormal rotations.

    Raises:
        ModelError: the shape is wrong, an entry is not finite, the last row is not (0, 0, 0, 1), or a matrix is not a
            rotation to 1e-6; the message names the index and the value.
    """
    poses = float_array(frames, name)
    if poses.shape[-2:] != (4, 4):
        raise ModelError(f"{name} must be a pose (..., 4, 4), got shape {poses.shape}")
    if poses.ndim == 2 and _surely_a_pose(poses.tolist()):  # as almost all: the rest takes ten times as long
        return poses
    rotation = poses[..., :3, :3]
    finite = np.isfinite(poses).all(axis=(-1, -2))
    safe = np.where(finite[..., None, None], rotation, np.eye(3))
    slack = np.abs(safe @ np.swapaxes(safe, -1, -2) - np.eye(3)).max(axis=(-1, -2))
    proper = (slack < 1e-6) & (np.linalg.det(safe) > 0.0)
    closed = np.abs(np.where(finite[..., None], poses[..., 3, :], 0) - [0, 0, 0, 1]).max(axis=-1) < 1e-6
    for good, words in (
        (finite, "is not finite"),
        (proper, "has no proper rotation"),
        (closed, "has a bad last row"),
    ):
        if not good.all():
            index = tuple(int(k) for k in np.argwhere(~np.atleast_1d(good))[0])
            where = f" {index[0] if len(index) == 1 else index}" if poses.ndim > 2 else ""
            value = poses[index] if poses.ndim > 2 else poses
            raise ModelError(f"{name}{where} {words}: {value.tolist()}")
    off = slack > 1e-14  # the others stay bit for bit, so that files and copies reproduce the frames
    if off.any():
        u, _, vt = np.linalg.svd(rotation)
        poses[..., :3, :3] = np.where(off[..., None, None], u @ vt, rotation)
    poses[..., 3, :] = [0.0, 0.0, 0.0, 1.0]
    return poses


def _surely_a_pose(rows: list[list[float]]) -> bool:
    """Whether a pose, as lists, is orthonormal to less than `check_frames` leaves, round-off included."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), last = rows
    most = 0.9e-14
    return (
        last == [0.0, 0.0, 0.0, 1.0]
        and math.isfinite(x + y + z)
        and abs(a * a + b * b + c * c - 1.0) < most
        and abs(d * d + e * e + f * f - 1.0) < most
        and abs(g * g + h * h + i * i - 1.0) < most
        and abs(a * d + b * e + c * f) < most
        and abs(d * g + e * h + f * i) < most
        and abs(g * a + h * b + i * c) < most
        and a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) > 0.0
    )


def spatial_inertia(mass: Any, com: Any, inertia: Any) -> FloatArray:
    """Spatial inertia (..., 6, 6) in body axes (Lee & Terzopoulos 2008, eq. 8).

    mass (...) [kg], centre of mass (..., 3) [m], rotational inertia (..., 3, 3) about it [kg m^2].
    """
    mass, lever = np.asarray(mass, dtype=np.float64)[..., None, None], hat(com)
    result = np.zeros((*np.broadcast_shapes(mass.shape, lever.shape, np.shape(inertia))[:-2], 6, 6))
    result[..., :3, :3] = inertia - mass * (lever @ lever)
    result[..., :3, 3:] = mass * lever
    result[..., 3:, :3] = -mass * lever
    result[..., 3:, 3:] = mass * np.eye(3)
    return result
