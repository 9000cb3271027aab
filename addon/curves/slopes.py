"""Slopes of even samples. At a discontinuity (a corner after an impact, or a jump of stepped keys) each side has its
own. float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..blender import physics_access

# A bend is a corner if it exceeds CORNER times the variation of its neighbours, and their change across it; waves of at
# least four frames have none.
CORNER, NO_BEND = 4.0, 1e-9
# Samples on each side for slopes next to a corner: third order.
SIDE = 4
# Places in a stretch at which its corner is sought.
PLACES = 512
# Weights of four even samples, from the last to the first, for the slopes at the last two.
AT_END = np.array([[2.0, 3.0, -6.0, 1.0], [11.0, -18.0, 9.0, -2.0]]) / 6.0


@dataclass(frozen=True, eq=False)
class Fits:
    """Separate curves from some keys, of increasing rows (k,), to the next. Both handles end at the share `meet` (k,)
    of the way (NaN: each at a third); slopes at both ends are `sides` (k, 2, c), per frame.
    """

    rows: np.ndarray
    meet: np.ndarray
    sides: np.ndarray

    def chosen(self, keys: np.ndarray) -> Fits:
        """The curves that remain with increasing keys (k,): those whose two keys are both kept."""
        at = np.searchsorted(keys, self.rows)
        kept = np.isin(self.rows, keys) & np.isin(self.rows + 1, keys)
        return Fits(at[kept], self.meet[kept], self.sides[kept])


@dataclass(frozen=True, eq=False)
class Slopes:
    """Shape of curves (c) through keys (K,).

    Attributes:
        rates: slopes (K, c) per frame.
        meet: share of the way from each key to the next (K - 1,) at which both handles end, where there is a corner;
            NaN: each handle ends at a third, as of a cubic with these slopes.
        fits: separate curves; None: none.
    """

    rates: np.ndarray
    meet: np.ndarray
    fits: Fits | None = None

    @classmethod
    def smooth(cls, rates: np.ndarray) -> Slopes:
        """Slopes of keys (K, c) without corners between them."""
        return cls(rates, np.full(max(len(rates) - 1, 0), np.nan))

    def chosen(self, keys: np.ndarray) -> Slopes:
        """The slopes at a subset (k,) of the even keys, increasing; across several corners the curve is smooth."""
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
        """As `meet`, including the fits (K - 1,)."""
        meets = self.meet.copy()
        if self.fits is not None:
            meets[self.fits.rows] = self.fits.meet
        return meets

    def sides(self) -> np.ndarray:
        """Slopes (K - 1, 2, c) at the beginning and the end of each stretch between keys."""
        sides = np.stack([self.rates[:-1], self.rates[1:]], axis=1)
        if self.fits is not None:
            sides[self.fits.rows] = self.fits.sides
        return sides

    def handles(self, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lengths of the right handle of each key but the last, and of the left handle of the next (K - 1,).

        Args:
            steps: from key to key (K - 1,), in frames.
        """
        meets = self.meets()
        smooth = np.isnan(meets)
        out, into = np.where(smooth, 1.0 / 3.0, meets), np.where(smooth, 1.0 / 3.0, 1.0 - meets)
        return out * steps, into * steps

    def behind(self, earlier: Slopes) -> Slopes:
        """The slopes of `earlier`, which has no fits, followed by these."""
        rates = np.concatenate([earlier.rates, self.rates])
        meet = np.full(max(len(rates) - 1, 0), np.nan)
        meet[: len(earlier.meet)] = earlier.meet
        meet[len(meet) - len(self.meet) :] = self.meet
        fits = self.fits
        if fits is not None:
            fits = replace(fits, rows=fits.rows + len(earlier.rates))
        return Slopes(rates, meet, fits)


def of_bodies(bodies: Sequence[Sequence[np.ndarray]]) -> list[list[Slopes]]:
    """Slopes of the values (F, c) of each path of each body, all with the same F. An impact is a corner of all paths of
    its body, even of those whose other changes hide it.
    """
    flat = [values for paths in bodies for values in paths]
    found: dict[int, tuple[np.ndarray, list[int], list[int]]] = {}
    for width in {values.shape[1] for values in flat}:
        numbers = [number for number, values in enumerate(flat) if values.shape[1] == width]
        together = np.array([flat[number] for number in numbers]).swapaxes(0, 1)
        rates = physics_access.part("simulation.between_samples").even_slopes(together)
        bent, leapt = bending(together), leaping(together)
        for column, number in enumerate(numbers):
            rows = corners(flat[number], bent[:, column])
            found[number] = rates[:, column], rows, np.flatnonzero(leapt[:, column]).tolist()
    made, first = [], 0
    for paths in bodies:
        known = [found[number] for number in range(first, first + len(paths))]
        first += len(paths)
        turning: dict[int, float] = {}
        for values, (_, rows, _) in zip(paths, known):
            for row in rows:
                if not turning.keys() & {row - 1, row, row + 1}:
                    turning[row] = _meeting(values, row)
        made.append([_of_even(values, turning, *its) for values, its in zip(paths, known)])
    return made


def of_even(values: np.ndarray) -> Slopes:
    """Slopes of values (F, c) at even frames: of fourth order inside, lower at the ends, and of third order on both
    sides of a corner or jump, from the samples of that side.
    """
    return of_bodies([[values]])[0][0]


def _of_even(
    values: np.ndarray, turning: dict[int, float], rates: np.ndarray, own: list[int], leapt: list[int]
) -> Slopes:
    """Slopes of values (F, c) with corners {row: share of the way to the next}.

    Args:
        rates: slopes (F, c) of fourth order, which are changed. own: rows of corners, and leapt: of jumps, with smooth
            values on both sides.
    """
    found = Slopes.smooth(rates)
    if len(values) < 5 or not (turning or leapt):
        return found
    smooth = turning.keys() & own | set(leapt)
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
    """Set the slopes at the first two of rows (k, 4), which begin at breaks of the values (F, c), from their side. If
    it is not smooth (and `exact` (k,) is false) only at the first, from its neighbour.

    Args:
        sign: 1 if the rows run back in time, else -1.
    """
    sides = values[rows]
    bends = np.diff(sides, 2, axis=1)
    changes = _length(bends[:, 1] - bends[:, 0])
    smooth = exact | (changes <= 0.5 * _length(bends).max(axis=1, initial=0.0) + NO_BEND)
    rates[rows[smooth, :2][:, ::-1]] = sign * (AT_END @ sides[smooth])
    rough = sides[~smooth]
    rates[rows[~smooth, 0]] = sign * (rough[:, 0] - rough[:, 1])


def leaping(values: np.ndarray) -> np.ndarray:
    """Mask (F, ...) of rows after which values (F, ..., c) jump by more than the difference and CORNER times the
    variation of the three rows on either side.
    """
    ways, found = np.diff(values, axis=0), np.zeros(values.shape[:-1], dtype=bool)
    if len(ways) >= 7:
        means, varies = _beside(ways, 4)
        away = _length(ways[3:-3] - means.mean(axis=0))
        found[3:-4] = away > CORNER * varies + _length(means[1] - means[0]) + NO_BEND
    return found


def _beside(rows: np.ndarray, away: int) -> tuple[np.ndarray, np.ndarray]:
    """Means (2, n, ..., c) of three successive rows of (F, ..., c) and of the three that begin an offset later, and the
    variation (n, ...) within these.
    """
    means = (rows[:-2] + rows[1:-1] + rows[2:]) / 3.0
    next_to, across = _length(rows[1:] - rows[:-1]), _length(rows[2:] - rows[:-2])
    varies = np.maximum(np.maximum(next_to[:-1], next_to[1:]), across)
    return np.array([means[:-away], means[away:]]), np.maximum(varies[:-away], varies[away:])


def bending(values: np.ndarray) -> np.ndarray:
    """Mask (F, ...) of rows after which values (F, ..., c) may have a corner: a bend that differs from the three rows
    on either side by much more than these vary. Oscillations, which bend as much on one side, have none.
    """
    bends, found = np.diff(values, 2, axis=0), np.zeros(values.shape[:-1], dtype=bool)
    if len(bends) >= 8:  # the first of them is at row 1
        means, varies = _beside(bends, 5)
        bend = _length(bends[3:-4] + bends[4:-3] - means[0] - means[1])
        found[4:-5] = bend > CORNER * varies + _length(means[1] - means[0]) + NO_BEND
    return found


def corners(values: np.ndarray, bent: np.ndarray) -> list[int]:
    """Rows after which values (F, c) have a corner, of successive ones that bend (F,) the nearest. A corner close to a
    frame may belong to that row or to the one before.
    """
    rows = np.flatnonzero(bent)
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1) if len(rows) else []
    return [min(run.tolist(), key=lambda row: _off(values, row)) for run in runs]


def _length(vectors: np.ndarray) -> np.ndarray:
    # a third of the time of numpy.linalg.norm
    return np.sqrt(np.einsum("...i,...i->...", vectors, vectors))


def _off(values: np.ndarray, row: int) -> float:
    """Distances of the values beside a corner after a row from cubics through those farther away, summed."""
    before, behind = values[row - SIDE : row], values[row + 2 : row + 2 + SIDE]
    return float(_length(ON[0] @ before - values[row]) + _length(ON[0] @ behind[::-1] - values[row + 1]))


def _meeting(values: np.ndarray, row: int) -> float:
    """Place after a row (0 to 1) at which the cubics through the values (F, c) on either side are nearest."""
    before, behind = values[row + 1 - SIDE : row + 1], values[row + 1 : row + 1 + SIDE]
    apart = ACROSS @ before - ACROSS[::-1] @ behind[::-1]
    return int(np.argmin((apart * apart).sum(axis=1))) / PLACES


def _cubic(at: np.ndarray) -> np.ndarray:
    """Weights (n, 4) at places (n,) of the values at 0, 1, 2, 3 in their cubic."""
    weights = np.ones((len(at), SIDE))
    for k in range(SIDE):
        for other in range(SIDE):
            if other != k:
                weights[:, k] *= (at - other) / (k - other)
    return weights


#: weights of four rows in their cubic: one row after them, and all along the stretch after them
ON, ACROSS = _cubic(np.array([float(SIDE)])), _cubic(SIDE - 1.0 + np.linspace(0.0, 1.0, PLACES + 1))
