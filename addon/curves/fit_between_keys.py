"""Fits curves between keys to simulated samples: for an impact between two frames, slopes at the frames do not suffice.
numpy only, float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from . import reduction
from .slopes import Fits, Slopes

#: shares of the way between keys at which both handles may end; NaN: each at a third
MEETS = (np.nan, *(k / 8.0 for k in range(1, 8)))
#: curves get handles that are not smooth at their keys only if that lowers their error to this share
NEARER = 0.8
#: and only if their error is above this share of the way
ENOUGH = 0.005
#: a corner explains the samples if the error of its two sides is below this share of the curve's error
ALONE = 0.3


@dataclass(frozen=True, eq=False)
class Inside:
    """Values (k, n, c) of a path at even places between each key of increasing rows (k,) and the next."""

    rows: np.ndarray
    values: np.ndarray

    def chosen(self, which: np.ndarray) -> Inside:
        """Only the stretches of a mask (k,)."""
        return Inside(self.rows[which], self.values[which])


def fitted(values: np.ndarray, slopes: Sequence[Slopes], inside: Sequence[Inside]) -> list[Slopes]:
    """Slopes of the even keys (B, F, c) of paths, with least-squares curves where these are closer to the samples."""
    count = values.shape[1]
    rates, meets = (
        np.concatenate([each.rates for each in slopes]),
        [np.append(each.meet, np.nan) for each in slopes],
    )
    rows = np.concatenate([each.rows + count * number for number, each in enumerate(inside)])
    together = Inside(rows, np.concatenate([each.values for each in inside]))
    one = Slopes(rates, np.concatenate(meets)[:-1])
    wanted, fits = _fitted(values.reshape(-1, values.shape[2]), one, together)
    found = list(slopes)
    for number in np.unique(wanted // count).tolist():
        own = fits.rows // count == number
        its = Fits(fits.rows[own] - count * number, fits.meet[own], fits.sides[own])
        found[number] = replace(slopes[number], fits=its)
    return found


def _fitted(values: np.ndarray, slopes: Slopes, inside: Inside) -> tuple[np.ndarray, Fits]:
    """Rows (k,) behind which even keys (F, c) may need curves of their own, and the curves that are closer."""
    off_now = _off_now(values, slopes, inside)
    ways = np.linalg.norm(np.diff(inside.values, axis=1), axis=2).sum(axis=1)
    count = inside.values.shape[1]
    wanted = off_now > count * (ENOUGH * ways) ** 2
    wanted[wanted] = ~_known(values, slopes, inside.chosen(wanted), off_now[wanted])
    inside, off_now = inside.chosen(wanted), off_now[wanted]
    ends = values[inside.rows[:, None] + np.array([0, 1])]
    seen = np.concatenate([ends, inside.values], axis=1)
    errors, solving = _fits(count)
    # all stretches at once: one small product for each kind of curve
    beside = seen.swapaxes(0, 1).reshape(count + 2, -1)
    columns = np.array([_square((each @ beside).T) for each in errors])
    off = columns.reshape(len(MEETS), len(seen), seen.shape[2]).sum(axis=2).T
    best = off.argmin(axis=1)
    nearer = off[np.arange(len(off)), best] < NEARER**2 * off_now
    best = best[nearer]
    sides = solving[best] @ seen[nearer]
    return inside.rows, Fits(inside.rows[nearer], np.array(MEETS)[best], sides)


def _off_now(values: np.ndarray, slopes: Slopes, inside: Inside) -> np.ndarray:
    """Sums (k,) of squared errors of the curves through even keys (F, c)."""
    count = inside.values.shape[1]
    at = inside.rows[:, None] + np.arange(1, count + 1) / (count + 1)
    now = reduction.cubic(np.arange(float(len(values))), values, slopes, at.ravel())
    return _square((now.reshape(inside.values.shape) - inside.values).reshape(len(at), -1))


def _known(values: np.ndarray, slopes: Slopes, inside: Inside, off_now: np.ndarray) -> np.ndarray:
    """Stretches (k,) in which a corner alone explains the samples."""
    rows, count = inside.rows, inside.values.shape[1]
    known = ~np.isnan(slopes.meet[rows])
    if not known.any():
        return known
    rows, seen, rates = rows[known], inside.values[known], slopes.rates
    x = (np.arange(1, count + 1) / (count + 1))[:, None]
    first, last = np.maximum(rows - 1, 0), np.minimum(rows + 2, len(values) - 1)
    bends = (rates[rows] - rates[first])[:, None], (rates[last] - rates[rows + 1])[:, None]
    before = values[rows, None] + x * rates[rows, None] + 0.5 * x**2 * bends[0]
    behind = values[rows + 1, None] - (1.0 - x) * rates[rows + 1, None] + 0.5 * (1.0 - x) ** 2 * bends[1]
    sides = np.where(x < slopes.meet[rows, None, None], before, behind)
    known[known] = _square((sides - seen).reshape(len(rows), -1)) < ALONE**2 * off_now[known]
    return known


def _square(errors: np.ndarray) -> np.ndarray:
    """Sums (...) of the squares of errors (..., n)."""
    return np.einsum("...n,...n->...", errors, errors)


@cache
def _fits(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Least-squares operators for curves whose handles meet as in `MEETS` (m), on values at both ends and at even
    places (count) between them: compressed residuals (m, count - 2, count + 2), and slopes at the ends (m, 2, count +
    2).
    """
    errors, solving = [], []
    for meet in MEETS:
        x = np.arange(1, count + 1) / (count + 1)
        reach = (1.0 / 3.0, 1.0 / 3.0) if np.isnan(meet) else (meet, 1.0 - meet)
        if not np.isnan(meet):
            x = reduction.parameter(np.full_like(x, meet), x)
        weights = np.stack([(1.0 - x) ** 3, 3.0 * x * (1.0 - x) ** 2, 3.0 * x**2 * (1.0 - x), x**3], axis=1)
        missing = np.hstack([-weights[:, :1], -weights[:, 3:], np.eye(count)])  # by the handles
        handles = np.linalg.pinv(weights[:, 1:3]) @ missing
        _, lengths, free = np.linalg.svd(weights[:, 1:3] @ handles - missing)
        errors.append(lengths[: count - 2, None] * free[: count - 2])
        handles[0, 0] -= 1.0
        handles[1, 1] -= 1.0
        solving.append(handles / np.array([[reach[0]], [-reach[1]]]))
    return np.array(errors), np.array(solving)
