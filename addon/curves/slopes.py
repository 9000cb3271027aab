"""Slopes of what is sampled at even frames; beside what breaks it, corners that a hit leaves and leaps of stepped keys,
each side has its own. float64.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..blender import physics_access

# A bend so many times as much as those beside it vary is a corner, where it is also more than these change across it;
# waves of four frames and more have none.
CORNER, NO_BEND = 4.0, 1e-9
# Samples on each side that slopes beside a corner are made of: third order.
SIDE = 4
# Places in a stretch among which its corner is looked for.
PLACES = 512
# The slopes at the last two of four even samples, by these from the last to the first.
AT_END = np.array([[2.0, 3.0, -6.0, 1.0], [11.0, -18.0, 9.0, -2.0]]) / 6.0


@dataclass(frozen=True, eq=False)
class Fits:
    """Curves of their own between some keys and the next: between keys of rows (k,), rising, handles end at the share
    `meet` (k,) of the way, NaN: each at a third; slopes at either end are `sides` (k, 2, c), a frame.
    """

    rows: np.ndarray
    meet: np.ndarray
    sides: np.ndarray

    def chosen(self, keys: np.ndarray) -> Fits:
        """Of these between keys (k,), rising, that still follow each other."""
        at = np.searchsorted(keys, self.rows)
        kept = np.isin(self.rows, keys) & np.isin(self.rows + 1, keys)
        return Fits(at[kept], self.meet[kept], self.sides[kept])


@dataclass(frozen=True, eq=False)
class Slopes:
    """How curves (c) run through keys (K,).

    Attributes:
        rates: slopes (K, c) a frame.
        meet: share of the way from each key to the next (K - 1,) at which the handles of both end, where a corner lies
            that each side runs to; NaN: each handle ends at a third of the way, as of a cubic with these slopes.
        fits: what runs otherwise; None: nothing.
    """

    rates: np.ndarray
    meet: np.ndarray
    fits: Fits | None = None

    @classmethod
    def smooth(cls, rates: np.ndarray) -> Slopes:
        """Of keys (K, c) without corners between them."""
        return cls(rates, np.full(max(len(rates) - 1, 0), np.nan))

    def chosen(self, keys: np.ndarray) -> Slopes:
        """Of these of the even keys (k,), rising; between two that have several corners between them it is smooth."""
        if len(keys) == len(self.rates):
            return self
        found = Slopes.smooth(self.rates[keys])
        turning = np.flatnonzero(~np.isnan(self.meet))
        stretch = np.searchsorted(keys, turning, side="right") - 1
        known, first, count = np.unique(stretch, return_index=True, return_counts=True)
        inside = (count == 1) & (known >= 0) & (known < len(keys) - 1)
        known, turning = known[inside], turning[first[inside]]
        found.meet[known] = (turning + self.meet[turning] - keys[known]) / (keys[known + 1] - keys[known])
        return found if self.fits is None else replace(found, fits=self.fits.chosen(keys))

    def meets(self) -> np.ndarray:
        """As `meet`, of the fits too (K - 1,)."""
        meets = self.meet.copy()
        if self.fits is not None:
            meets[self.fits.rows] = self.fits.meet
        return meets

    def sides(self) -> np.ndarray:
        """Slopes (K - 1, 2, c) with which curves leave each key but the last, and come to the next."""
        sides = np.stack([self.rates[:-1], self.rates[1:]], axis=1)
        if self.fits is not None:
            sides[self.fits.rows] = self.fits.sides
        return sides

    def handles(self, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How far the handles of each key but the last go towards the next, and that of the next towards it (K - 1,).

        Args:
            steps: from key to key (K - 1,), in frames.
        """
        meets = self.meets()
        smooth = np.isnan(meets)
        out, into = np.where(smooth, 1.0 / 3.0, meets), np.where(smooth, 1.0 / 3.0, 1.0 - meets)
        return out * steps, into * steps

    def behind(self, earlier: Slopes) -> Slopes:
        """Of keys that come behind others without fits, all together."""
        rates = np.concatenate([earlier.rates, self.rates])
        meet = np.full(max(len(rates) - 1, 0), np.nan)
        meet[: len(earlier.meet)] = earlier.meet
        meet[len(meet) - len(self.meet) :] = self.meet
        fits = self.fits
        if fits is not None:
            fits = replace(fits, rows=fits.rows + len(earlier.rates))
        return Slopes(rates, meet, fits)


def of_body(paths: list[np.ndarray]) -> list[Slopes]:
    """Slopes of the values (F, c) of each path by which one body moves: what hits it turns all of them at once, though
    in some of them much else may happen beside.
    """
    turning: dict[int, float] = {}
    known = [corners(values).tolist() for values in paths]
    for values, rows in zip(paths, known):
        for row in rows:
            if not turning.keys() & {row - 1, row, row + 1}:
                turning[row] = _meeting(values, row)
    return [_of_even(values, turning, turning.keys() & rows) for values, rows in zip(paths, known)]


def of_even(values: np.ndarray) -> Slopes:
    """Slopes of values (F, c) at even frames, of fourth order inside and lower at the ends; of third order on both
    sides of a corner, as a hit leaves it, and of a leap: each side by its own.
    """
    return of_body([values])[0]


def _of_even(values: np.ndarray, turning: dict[int, float], own: set[int]) -> Slopes:
    """Slopes of values (F, c) with corners behind rows, at shares of the way to the next; own: those on both sides of
    which they are smooth.
    """
    rates = physics_access.part("simulation.between_samples").even_slopes(values)
    found = Slopes.smooth(rates)
    if len(values) < 5:
        return found
    smooth = own.union(leaps(values).tolist())
    rows = np.array(sorted(smooth | turning.keys()), dtype=np.int64)
    exact = np.array([row in smooth for row in rows.tolist()], dtype=bool)
    away = np.arange(SIDE)
    _put_sides(rates, values, rows[:, None] - away, 1.0, exact)
    _put_sides(rates, values, rows[:, None] + 1 + away, -1.0, exact)
    for row, meet in turning.items():
        found.meet[row] = meet
    return found


def _put_sides(
    rates: np.ndarray, values: np.ndarray, rows: np.ndarray, sign: float, exact: np.ndarray
) -> None:
    """Give the first two of rows (k, 4), which lead away from breaks of the values (F, c), the slopes of their side;
    where that is not known to be smooth (`exact`, (k,)), and is not, the first alone, by the next.

    Args:
        sign: 1 where the rows go back in time, else -1.
    """
    sides = values[rows]
    bends = np.diff(sides, 2, axis=1)
    changes = _length(bends[:, 1] - bends[:, 0])
    smooth = exact | (changes <= 0.5 * _length(bends).max(axis=1, initial=0.0) + NO_BEND)
    rates[rows[smooth, :2][:, ::-1]] = sign * (AT_END @ sides[smooth])
    rough = sides[~smooth]
    rates[rows[~smooth, 0]] = sign * (rough[:, 0] - rough[:, 1])


def slopes(values: np.ndarray) -> np.ndarray:
    """Slopes (F, c) a frame of values (F, c) at even frames, see `of_even`."""
    return of_even(values).rates


def leaps(values: np.ndarray) -> np.ndarray:
    """Rows (k,) behind which values (F, c) leap: a way to the next that is far from those of three rows on either side,
    by how much these vary.
    """
    ways = np.diff(values, axis=0)
    if len(ways) < 7:
        return np.empty(0, dtype=np.int64)
    means, varies = _beside(ways, 4)
    away = _length(ways[3:-3] - means.mean(axis=0))
    return np.flatnonzero(away > CORNER * varies + _length(means[1] - means[0]) + NO_BEND) + 3


def _beside(rows: np.ndarray, away: int) -> tuple[np.ndarray, np.ndarray]:
    """Means (2, n, c) of three rows each of (F, c) in turn and of three that begin so many rows on, and how much rows
    vary among either three (n,).
    """
    means = (rows[:-2] + rows[1:-1] + rows[2:]) / 3.0
    next_to, across = _length(rows[1:] - rows[:-1]), _length(rows[2:] - rows[:-2])
    varies = np.maximum(np.maximum(next_to[:-1], next_to[1:]), across)
    return np.array([means[:-away], means[away:]]), np.maximum(varies[:-away], varies[away:])


def corners(values: np.ndarray) -> np.ndarray:
    """Rows (k,) behind which values (F, c) have a corner: a bend that is far from those of three rows on either side,
    by how much these vary. What swings, however fast, bends as much at one of them. Of a corner at about a frame it is
    the row of that or the one before, on whose side the frame lies.
    """
    bends = np.diff(values, 2, axis=0)  # the first of them at row 1
    if len(bends) < 8:
        return np.empty(0, dtype=np.int64)
    means, varies = _beside(bends, 5)
    bend = _length(bends[3:-4] + bends[4:-3] - means[0] - means[1])
    found = np.flatnonzero(bend > CORNER * varies + _length(means[1] - means[0]) + NO_BEND) + 4
    runs = np.split(found, np.flatnonzero(np.diff(found) > 1) + 1)
    return np.array([min(run, key=lambda row: _off(values, row)) for run in runs if len(run)], dtype=np.int64)


def _length(vectors: np.ndarray) -> np.ndarray:
    # a third of the time of numpy.linalg.norm
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors))


def _off(values: np.ndarray, row: int) -> float:
    """How far the values on either side of a corner behind a row are off the cubics through those farther away."""
    before, behind = values[row - SIDE : row], values[row + 2 : row + 2 + SIDE]
    return float(_length(ON[0] @ before - values[row]) + _length(ON[0] @ behind[::-1] - values[row + 1]))


def _meeting(values: np.ndarray, row: int) -> float:
    """Where behind a row (0 to 1) the cubics through the values (F, c) on either side of a corner there are nearest."""
    before, behind = values[row + 1 - SIDE : row + 1], values[row + 1 : row + 1 + SIDE]
    apart = ACROSS @ before - ACROSS[::-1] @ behind[::-1]
    return int(np.argmin((apart * apart).sum(axis=1))) / PLACES


def _cubic(at: np.ndarray) -> np.ndarray:
    """Weights (n, 4) of values at 0, 1, 2, 3 in their cubic at places (n,)."""
    weights = np.ones((len(at), SIDE))
    for k in range(SIDE):
        for other in range(SIDE):
            if other != k:
                weights[:, k] *= (at - other) / (k - other)
    return weights


#: weights in a cubic one row on from its four, and all over the stretch behind them
ON, ACROSS = _cubic(np.array([float(SIDE)])), _cubic(SIDE - 1.0 + np.linspace(0.0, 1.0, PLACES + 1))
