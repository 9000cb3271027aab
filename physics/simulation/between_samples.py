"""What a motion does between its samples, where a curve through these does not follow it: beside impacts."""

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

#: samples in each stretch from one to the next, a power of two, so that times of the others are the same numbers
PARTS = 8
#: every which of them is looked at first
LOOK = 2
#: share of the longest of three ways, before, in and behind a stretch, by which a curve may miss a body in it
MISSED = 0.02
#: way [m, or of a direction] that is round-off
NOTHING = 1e-9
#: poses that are looked at at once, and that are kept
AT_ONCE, MOST = 20_000, 500_000


# Slopes at the first two of five even samples, of fourth order.
AT_ENDS = np.array([[-25.0, 48.0, -36.0, 16.0, -3.0], [-3.0, -10.0, 18.0, -6.0, 1.0]]) / 12.0


@dataclass(frozen=True, eq=False)
class Between:
    """Poses (k, PARTS - 1, nb, 4, 4) [m] at even times behind the samples of k rows, rising, and before the next; and
    which bodies (k, nb) curves through the samples miss there.
    """

    rows: IntArray
    poses: FloatArray
    missed: BoolArray

    def behind(self, first: int) -> Between:
        """Of the samples from one on."""
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
    """The motion, as `simulate` with the same arguments gives it, to the bit (SciPy's methods' to round-off: their sums
    go by how many samples there are), and what it does between its samples wherever cubics through these, with slopes
    of fourth order, miss it. The duration [s] is a multiple of the interval [s].

    Raises:
        As `simulate`; what a run that ended early keeps has its samples alone.
    """
    wishes["record_interval"] = record_interval / PARTS
    problem, state = make_problem(model, state, duration, dt, integrator, **wishes)
    try:
        fine = run_integrator(problem, integrator, state)
    except (DivergedError, CancelledError) as error:
        if isinstance(error.result, Result):
            error.result = error.result.every(PARTS)
        raise
    result = finish(fine.every(PARTS))
    return result, between(result, fine)


def between(result: Result, fine: Result) -> Between:
    """What a motion does where it is not as cubics through its samples are, by one with PARTS times as many."""
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
    """Poses (k, n, nb, 4, 4) at every step-th of the places between the samples of rows (k,) and the next."""
    at = PARTS * rows[:, None] + np.arange(step, PARTS, step)
    poses = observe(model, fine.q[at.ravel()], fine.qd[at.ravel()], anywhere=True, muscles=False)[0]
    return poses.reshape(*at.shape, model.num_bodies, 4, 4)


def even_slopes(samples: FloatArray) -> FloatArray:
    """Slopes (T, ...) a step of even samples (T, ...): of fourth order, at the ends, too, or of what order fewer than
    five allow.
    """
    if len(samples) < 2:
        return np.zeros_like(samples)
    if len(samples) < 5:
        few: FloatArray = np.gradient(samples, axis=0, edge_order=2 if len(samples) > 2 else 1)
        return few
    slopes = np.empty_like(samples)
    slopes[2:-2] = (8.0 * (samples[3:-1] - samples[1:-3]) - (samples[4:] - samples[:-4])) / 12.0
    slopes[:2] = np.tensordot(AT_ENDS, samples[:5], axes=1)
    slopes[-2:] = -np.tensordot(AT_ENDS, samples[-1:-6:-1], axes=1)[::-1]
    return slopes


def _off(poses: FloatArray, slopes: FloatArray, inside: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How far the turns and places of bodies (n, 2, nb) are off cubics through poses (n + 1, nb, 4, 4) at most, and how
    long their ways are.
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
