"""Curves between keys by what a simulation gave there: where a hit lies between two frames, slopes at these do not tell
what happens. numpy only, float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from . import key_reduction
from .key_slopes import Fits, Slopes

#: where handles may end that meet, as shares of the way from key to key; NaN: each at a third of it
MEETS = (np.nan, *(k / 8.0 for k in range(1, 8)))
#: by how much of what they are off curves must come nearer to have handles that do not go smoothly through their keys
NEARER = 0.8
#: share of the way by which curves must be off to have them
ENOUGH = 0.005
#: by how much of what a curve is off a corner the two sides of it must be, where that is all that happens
ALONE = 0.3


@dataclass(frozen=True, eq=False)
class Inside:
    """Values (k, n, c) of a path at even places behind keys of rows (k,), rising, and before the next."""

    rows: np.ndarray
    values: np.ndarray


def fitted(values: np.ndarray, slopes: Slopes, inside: Inside) -> Slopes:
    """Slopes of even keys (F, c) with curves of their own, of least squares, where these are nearer to the inside."""
    rows, count = inside.rows, inside.values.shape[1]
    if not len(rows):
        return slopes
    ends = values[rows[:, None] + np.array([0, 1])]
    places = np.arange(1, count + 1) / (count + 1)
    now = key_reduction.cubic(
        np.arange(len(values), dtype=float), values, slopes, (rows[:, None] + places).ravel()
    )
    errors, solving = _fits(count)
    seen = np.concatenate([ends, inside.values], axis=1)
    off = _square((errors @ seen[:, None]).reshape(len(rows), len(MEETS), -1))
    best = off.argmin(axis=1)
    off_now = _square((now.reshape(inside.values.shape) - inside.values).reshape(len(rows), -1))
    here = off[np.arange(len(rows)), best] < NEARER**2 * off_now
    ways = np.linalg.norm(np.diff(inside.values, axis=1), axis=2).sum(axis=1)
    here &= off_now > count * (ENOUGH * ways) ** 2
    here &= ~_known(values, slopes, inside, off_now)
    best = best[here]
    return replace(slopes, fits=Fits(rows[here], np.array(MEETS)[best], solving[best] @ seen[here]))


def _known(values: np.ndarray, slopes: Slopes, inside: Inside, off_now: np.ndarray) -> np.ndarray:
    """Which of the stretches (k,) have a corner that is all that happens there: curves round it, and no more."""
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
    found: np.ndarray = np.einsum("...n,...n->...", errors, errors)
    return found


@cache
def _fits(count: int) -> tuple[np.ndarray, np.ndarray]:
    """What takes values at both ends and at even places (count) between them, of curves whose handles meet as `MEETS`
    says (m): to the errors there of least squares (m, count, count + 2), and to slopes at the ends (m, 2, count + 2).
    """
    errors, solving = [], []
    for meet in MEETS:
        x = (np.arange(1, count + 1) / (count + 1))[:, None]
        reach = (1.0 / 3.0, 1.0 / 3.0) if np.isnan(meet) else (meet, 1.0 - meet)
        if not np.isnan(meet):
            x = key_reduction.parameter(np.full_like(x, meet), x)
        weights = np.hstack([(1.0 - x) ** 3, 3.0 * x * (1.0 - x) ** 2, 3.0 * x**2 * (1.0 - x), x**3])
        missing = np.hstack([-weights[:, :1], -weights[:, 3:], np.eye(count)])  # by the handles
        handles = np.linalg.pinv(weights[:, 1:3]) @ missing
        errors.append(weights[:, 1:3] @ handles - missing)
        handles[0, 0] -= 1.0
        handles[1, 1] -= 1.0
        solving.append(handles / np.array([[reach[0]], [-reach[1]]]))
    return np.array(errors), np.array(solving)
