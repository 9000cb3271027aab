"""Where a joint stands in a pose, found at once and without compiled code: for single poses, not for motions."""

from __future__ import annotations

import numpy as np

from ..blender import physics_access

# Samples in each direction from which the best is taken, by the number of coordinates; with more there is the start.
SAMPLES = (33, 9, 6)
MOST_STEPS = 20
MET = 1e-6  # rad, and what counts as much: the rounding of a pose that Blender holds


def place(
    joint: physics_access.Joint, start: np.ndarray, pose: np.ndarray, scale: float, near: bool = False
) -> tuple[np.ndarray, float, float]:
    """Coordinates (n,) at which a joint is nearest to a pose (4, 4), and how far it is off: [m] and [rad].

    Newton's method from the start, and where that does not meet the pose from the best of few samples: a pose that the
    joint can take is found; for others the distance is that of a minimum nearby.

    Args:
        scale: length that counts as much as a radian [m]. near: from the start alone.
    """
    weights = np.array([1.0, 1.0, 1.0, *[1.0 / scale] * 3])
    q = np.array(start, dtype=np.float64)
    q, missing = _descend(joint, q, pose, weights)
    if not near and len(q) <= len(SAMPLES) and np.linalg.norm(weights * missing) >= MET:
        other = _descend(joint, _best_sample(joint, np.asarray(start, float), pose, weights), pose, weights)
        if np.linalg.norm(weights * other[1]) < np.linalg.norm(weights * missing) - MET:  # else of equal ones
            q, missing = other
    return q, float(np.linalg.norm(missing[3:])), float(np.linalg.norm(missing[:3]))


def is_at(joint: physics_access.Joint, q: np.ndarray, pose: np.ndarray) -> bool:
    """Whether a joint at coordinates (n,) is in a pose (4, 4), but for the rounding of what Blender holds."""
    return bool(np.linalg.norm(_missing(joint, q, pose)) < MET)


def _missing(joint: physics_access.Joint, q: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Twists (..., 6) from the poses at coordinates (..., n) to a pose."""
    lie = physics_access.physics().lie
    return np.asarray(lie.log(lie.inverse(joint.transform(q)) @ pose))


def _best_sample(
    joint: physics_access.Joint, start: np.ndarray, pose: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    low, high = _span(joint, start)
    axes = [np.linspace(*ends, SAMPLES[len(start) - 1]) for ends in zip(low, high)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(start))
    tried = np.concatenate([start[None], grid])
    return tried[np.argmin(np.linalg.norm(_missing(joint, tried, pose) * weights, axis=1))]


def _descend(
    joint: physics_access.Joint, q: np.ndarray, pose: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates where Newton's steps from q end, and the twist (6,) that is missing there."""
    lie = physics_access.physics().lie
    for _ in range(MOST_STEPS):
        transform, subspace, _ = joint.evaluate(q)
        missing = weights * lie.log(lie.inverse(transform) @ pose)
        step = np.linalg.lstsq(weights[:, None] * subspace, missing, rcond=1e-9)[0]
        q = np.clip(q + step, *np.transpose(joint.range))
        if np.abs(step).max() < 1e-7:
            break
    return q, _missing(joint, q, pose)


def _span(joint: physics_access.Joint, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where coordinates are sampled: the joint's range, a turn or a metre about the start where that has no ends."""
    about = np.array([np.pi if unit == "rad" else 1.0 for unit in joint.coordinate_units])
    low, high = np.transpose(joint.range)
    return np.where(np.isfinite(low), low, start - about), np.where(np.isfinite(high), high, start + about)
