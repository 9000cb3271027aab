"""A motion between its samples, where interpolation of these misses it, as near impacts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..bodies.state import State
from ..errors import CancelledError, DivergedError
from ..model.model import Model
from ..model.observation import observe
from ..model.result import Result
from .simulate import finish, make_problem, run_integrator

#: subintervals between samples; a power of two, so that the sample times are the same numbers
PARTS = 8
#: stride over the subintervals in the first check
LOOK = 2
#: error of interpolation that counts, as a share of the longest path over an interval and its neighbours
MISSED = 0.02
#: path length [m, or of a direction] of round-off size
NOTHING = 1e-9
#: poses checked at once, and the most that are kept
AT_ONCE, MOST = 20_000, 500_000


# Slopes at the first two of five equidistant samples, of fourth order.
AT_ENDS = np.array([[-25.0, 48.0, -36.0, 16.0, -3.0], [-3.0, -10.0, 18.0, -6.0, 1.0]]) / 12.0


@dataclass(frozen=True, eq=False)
class Between:
    """Poses (k, PARTS - 1, nb, 4, 4) [m] at even times between the samples of k increasing rows and their successors.

    missed (k, nb): the bodies whose motion interpolation of the samples misses there.
    """

    rows: IntArray
    poses: FloatArray
    missed: BoolArray

    def behind(self, first: int) -> Between:
        """The part from sample `first` on, with rows counted from there."""
        kept = self.rows >= first
        return Between(self.rows[kept] - first, self.poses[kept], self.missed[kept])


def simulate_between(
    model: Model,
    state: State,
    duration: float,
    dt: float = 1e-3,
    integrator: str = "symplectic_euler",
    *,
    record_interval: float,
    **wishes: Any,
) -> tuple[Result, Between]:
    """The motion of `simulate`, and its poses between samples wherever interpolation misses them.

    Interpolation is by cubics with slopes of fourth order. The motion is that of `simulate` to the bit; for SciPy's
    methods to round-off, as their sums depend on the number of samples. duration [s] is a multiple of record_interval
    [s]; the other arguments are those of `simulate`.

    Raises:
        As `simulate`; the result of a run that ended early contains its samples only.
    """
    wishes["record_interval"] = record_interval / PARTS
    problem, state = make_problem(model, state, duration, dt, integrator, **wishes)
    try:
        fine = run_integrator(problem, state)
    except (DivergedError, CancelledError) as error:
        if isinstance(error.result, Result):
            error.result = error.result.every(PARTS)
        raise
    result = finish(fine.every(PARTS))
    return result, between(result, fine)


def between(result: Result, fine: Result) -> Between:
    """The parts of `fine`, with PARTS times as many samples, that cubics through the samples of `result` miss."""
    count, bodies = len(result.t) - 1, result.model.num_bodies
    size = max(1, AT_ONCE // (PARTS * max(1, bodies)))
    slopes = even_slopes(result.poses)
    off, way = np.zeros((2, count, 2, bodies))
    for first in range(0, count, size):
        last = min(first + size, count)
        inside = _inside(result.model, fine, np.arange(first, last), LOOK)
        off[first:last], way[first:last] = _off(
            result.poses[first : last + 1], slopes[first : last + 1], inside
        )
    near = np.pad(way, ((1, 1), (0, 0), (0, 0)))
    share = (off / (np.max([near[:-2], way, near[2:]], axis=0) + NOTHING)).max(axis=1)
    worst = np.argsort(-share.max(axis=1, initial=0.0), kind="stable")[: MOST // (PARTS * max(1, bodies))]
    rows = np.sort(worst[share[worst].max(axis=1, initial=0.0) > MISSED])
    return Between(rows, _inside(result.model, fine, rows, 1), share[rows] > MISSED)


def _inside(model: Model, fine: Result, rows: IntArray, step: int) -> FloatArray:
    """Poses (k, n, nb, 4, 4) at every step-th subinterval between the samples of rows (k,) and the next."""
    at = PARTS * rows[:, None] + np.arange(step, PARTS, step)
    poses = observe(model, fine.q[at.ravel()], fine.qd[at.ravel()], anywhere=True, muscles=False)[0]
    return poses.reshape(*at.shape, model.num_bodies, 4, 4)


def even_slopes(samples: FloatArray) -> FloatArray:
    """Slopes (T, ...) per step of equidistant samples (T, ...), of fourth order; lower for fewer than five samples."""
    if len(samples) < 2:
        return np.zeros_like(samples)
    if len(samples) < 5:
        return np.gradient(samples, axis=0, edge_order=2 if len(samples) > 2 else 1)
    slopes = np.empty_like(samples)
    slopes[2:-2] = (8.0 * (samples[3:-1] - samples[1:-3]) - (samples[4:] - samples[:-4])) / 12.0
    slopes[:2] = np.tensordot(AT_ENDS, samples[:5], axes=1)
    slopes[-2:] = -np.tensordot(AT_ENDS, samples[-1:-6:-1], axes=1)[::-1]
    return slopes


def _off(poses: FloatArray, slopes: FloatArray, inside: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Largest error of cubics through poses (n + 1, nb, 4, 4), and the path length, of rotations and positions.

    Both are (n, 2, nb).
    """
    count = inside.shape[1] + 1
    x = (np.arange(1, count) / count)[:, None, None, None]
    first, last, out, into = poses[:-1, None], poses[1:, None], slopes[:-1, None], slopes[1:, None]
    cubic = (1.0 - x) ** 2 * ((1.0 + 2.0 * x) * first + x * out) + x**2 * (
        (3.0 - 2.0 * x) * last - (1.0 - x) * into
    )
    ways, missed = np.diff(np.concatenate([first, inside, last], axis=1), axis=1), cubic - inside
    parts = (np.s_[..., :3, :3], np.s_[..., :3, 3:])
    off = [np.linalg.norm(missed[part], axis=(-2, -1)).max(axis=1) for part in parts]
    way = [np.linalg.norm(ways[part], axis=(-2, -1)).sum(axis=1) for part in parts]
    return np.stack(off, axis=1), np.stack(way, axis=1)
