"""The number of control frames from a tolerance on the residuals."""

from collections.abc import Callable

import numpy as np

from .._typing import FloatArray
from ..errors import FitError
from ..geometry import lie
from .linearization import poses
from .rounds import Curve, Fitter

# this many numbers are tried one by one; then they grow by a quarter, and the last gap is bisected
ONE_BY_ONE = 16

Attempt = Callable[[int], tuple[Curve, FloatArray]]
Tried = tuple[tuple[int, float, float], ...]


def fewest(
    attempt: Attempt, fitter: Fitter, within: tuple[float, float], most: int
) -> tuple[Curve, FloatArray, Tried]:
    """The fit with the fewest control frames whose residuals are all within (metres, radians), and its robust weights.

    The third result lists the numbers of frames tried and their largest residuals, in increasing order.

    Raises:
        FitError: not even `most` frames are enough, at first as many as poses.
    """
    tried: dict[int, tuple[float, float]] = {}
    best: tuple[Curve, FloatArray] | None = None
    good, bad = most + 1, fitter.order - 1
    while good - bad > 1:
        count = _next_count(good, bad, len(tried), most)
        fitter.begun += 0.5 * fitter.share
        fitter.share *= 0.5
        curve, factors = attempt(count)
        tried[count] = _largest(fitter, curve, factors)
        if tried[count][0] <= within[0] and tried[count][1] <= within[1]:
            good, best = count, (curve, factors)
        else:
            bad = count
    rising = tuple((count, *tried[count]) for count in sorted(tried))
    if best is None:
        closest = min(rising, key=lambda row: max(row[1] / within[0], row[2] / within[1]))
        raise FitError(
            f"no number of control frames up to that of the poses, {most}, keeps every residual within "
            f"{1e3 * within[0]:g} mm and {np.rad2deg(within[1]):g} degrees; {closest[0]} frames come closest, with "
            f"{1e3 * closest[1]:.3g} mm and {np.rad2deg(closest[2]):.3g} degrees"
        )
    return *best, rising


def _next_count(good: int, bad: int, tries: int, most: int) -> int:
    if good <= most:
        return (good + bad) // 2
    return min(bad + 1 if tries < ONE_BY_ONE else bad + max(bad // 4, 1), most)


def _largest(fitter: Fitter, curve: Curve, factors: FloatArray) -> tuple[float, float]:
    """Largest residuals in metres and radians of the poses that count."""
    asked = factors >= 0.5
    placed = poses(curve.frames, curve.objective.sites)[asked]
    turns = lie.so3_log(np.swapaxes(placed[:, :3, :3], 1, 2) @ fitter.targets[asked, :3, :3])
    gaps = placed[:, :3, 3] - fitter.targets[asked, :3, 3]
    return (
        float(np.linalg.norm(gaps, axis=1).max(initial=0.0)),
        float(np.linalg.norm(turns, axis=1).max(initial=0.0)),
    )
