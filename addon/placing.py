"""Where a joint stands in a pose, found at once and without compiled code: for single poses, not for motions."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import core

# Samples in each direction from which the best is taken, by the number of coordinates; with more there is the start.
SAMPLES = (33, 9, 6)
MOST_STEPS = 20


def place(
    joint: Any, start: np.ndarray, pose: np.ndarray, scale: float, near: bool = False
) -> tuple[np.ndarray, float, float]:
    """Coordinates (n,) at which a joint is nearest to a pose (4, 4), and how far it is off: [m] and [rad].

    Newton's method from the best of few samples: a pose that the joint can take is found; for others the distance is
    that of a minimum nearby.

    Args:
        scale: length that counts as much as a radian [m]. near: from the start alone.
    """
    lie = core.physics().lie
    q = np.array(start, dtype=np.float64)
    weights = np.array([1.0, 1.0, 1.0, *[1.0 / scale] * 3])
    if not near and len(q) <= len(SAMPLES):
        low, high = _span(joint, q)
        axes = [np.linspace(*ends, SAMPLES[len(q) - 1]) for ends in zip(low, high)]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, len(q))
        tried = np.concatenate([q[None], grid])
        missed = lie.log(lie.inverse(joint.transform(tried)) @ pose)
        q = tried[np.argmin(np.linalg.norm(missed * weights, axis=1))]
    for _ in range(MOST_STEPS):
        transform, subspace, _ = joint.evaluate(q)
        missing = weights * lie.log(lie.inverse(transform) @ pose)
        step = np.linalg.lstsq(weights[:, None] * subspace, missing, rcond=1e-9)[0]
        q = np.clip(q + step, *np.transpose(joint.range))
        if np.abs(step).max() < 1e-7:
            break
    missing = lie.log(lie.inverse(joint.transform(q)) @ pose)
    return q, float(np.linalg.norm(missing[3:])), float(np.linalg.norm(missing[:3]))


def _span(joint: Any, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where coordinates are sampled: the joint's range, a turn or a metre about the start where that has no ends."""
    about = np.array([np.pi if unit == "rad" else 1.0 for unit in joint.coordinate_units])
    low, high = np.transpose(joint.range)
    return np.where(np.isfinite(low), low, start - about), np.where(np.isfinite(high), high, start + about)
