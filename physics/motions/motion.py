"""Prescribed motions: a joint follows a table of positions, velocities or accelerations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from .._typing import FloatArray
from ..bodies.state import State
from ..errors import ModelError, optional
from ..geometry.immutable import ReadOnlyArrays
from ..geometry.spline_ends import cubic_spline
from ..kernels.stepping.motion_layout import (
    CHANNEL_COORDINATE,
    CHANNEL_COUNT,
    CHANNEL_FIRST,
    CHANNEL_WIDTH,
    PIECE_COEFFICIENTS,
    PIECE_HOLDS,
    PIECE_LEAP,
    PIECE_ORDER,
    PIECE_RESTS,
    PIECE_START,
    PIECE_WIDTH,
)
from ..model.model import Model
from ..model.naming import coordinates_of
from ..registry import described
from ..validation import chosen, finite, finite_array, float_array, rising, truth

MotionArrays: TypeAlias = tuple[Any, Any]
KINDS = ("position", "velocity", "acceleration")
INTERPOLATIONS = ("cubic", "periodic", "linear")
AT_END = 1e-9  # s, and share of the time: a motion that ends this close to the end of a run ends there
LONG_BEFORE = -1e9  # s: start of the piece before the first time


@dataclass(frozen=True, eq=False)
class Motion(ReadOnlyArrays):
    """Values over time that prescribe a joint's coordinates (Wang 2022, sec. 4.6.5).

    Positions are interpolated by a cubic spline with continuous accelerations or by straight lines. Velocities and
    accelerations are interpolated likewise and integrated exactly, from the joint's state at the first time, or at the
    start of a run that begins later. Before the first and after the last time the joint is free, unless `hold` makes it
    rest there. A motion that ends with its run continues until the last step is over.

    Velocities jump where straight lines of positions meet, and where a window catches a moving joint; the bodies on the
    joint get the impulse. At a window, velocities and accelerations continue from the joint's position, while positions
    prescribe a new one.

    Attributes:
        times: (K,), increasing [s]; a single one with `hold` locks the joint.
        values: (K,) for a joint with one coordinate, or (K, n).
        kind: ``"position"``, ``"velocity"`` or ``"acceleration"``.
        interpolation: ``"cubic"`` (needs SciPy), ``"linear"``, or ``"periodic"``: cubic, with equal slopes and
            curvatures at the first and last time; values there may differ.
        leaps: (L,), increasing; those of `times` at which cubic positions jump. Splines before and after a jump are
            independent; over the interval before it a cubic connects them with their velocities.
        hold: whether the joint rests before the first time and after the last one.
        windows: increasing pairs (start, end) [s] in which the joint is prescribed; None: always. Outside of them it is
            simulated, starting with the velocity of the motion.
        first_slope: (n,), slopes of the cubic at the first time, or one for all [unit/s]; None: derived from the
            values, see `spline_ends`.
    """

    times: Any
    values: Any
    kind: str = "position"
    interpolation: str = "cubic"
    hold: bool = True
    windows: Any = None
    leaps: Any = ()
    first_slope: Any = None

    def __post_init__(self) -> None:
        times = rising(self.times, "times of a motion")
        values = finite(self.values, "values of a motion")
        if values.ndim == 1:
            values = values[:, None]
        if values.ndim != 2 or len(values) != len(times):
            raise ModelError(f"values of a motion must be (K[, n]) with K = {len(times)}, got {values.shape}")
        chosen(self.kind, KINDS, "kind of a motion")
        chosen(self.interpolation, INTERPOLATIONS, "interpolation of a motion")
        if not truth(self.hold, "hold of a motion") and len(times) == 1:
            raise ModelError(f"a motion with the single time {times[0]:g} does nothing without hold")
        windows = None if self.windows is None else _checked_windows(self.windows)
        leaps = finite(self.leaps, "leaps of a motion")
        if leaps.ndim != 1 or (np.diff(leaps) <= 0.0).any() or not np.isin(leaps, times[1:]).all():
            raise ModelError(f"leaps of a motion must be of its times after the first, got {leaps.tolist()}")
        if len(leaps) and (self.kind, self.interpolation) != ("position", "cubic"):
            raise ModelError(f"leaps need cubic positions, got {self.interpolation} {self.kind}")
        slope = self._checked_slope(values.shape[1])
        vars(self).update(times=times, values=values, windows=windows, leaps=leaps, first_slope=slope)
        self.lock()

    def _checked_slope(self, count: int) -> FloatArray | None:
        if self.first_slope is None:
            return None
        slope = finite(self.first_slope, "first slope of a motion")
        if slope.shape not in {(), (count,)} or self.interpolation != "cubic":
            raise ModelError(
                f"the first slope of a cubic motion must be ({count},), got {slope.shape} of a {self.interpolation} one"
            )
        return np.broadcast_to(slope, (count,)).copy()

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description; ``Motion(**description)`` is the same motion."""
        return described(self) | {"hold": bool(self.hold)}

    def holds_at(self, time: float) -> bool:
        """Whether the joint is prescribed at a time [s], and not simulated."""
        within = self.hold or self.times[0] <= time < self.times[-1]
        if self.windows is None:
            return bool(within)
        return bool(within and ((self.windows[:, 0] <= time) & (time < self.windows[:, 1])).any())

    def start(self, coordinate: int, q: float, qd: float, start: float) -> float:
        """Where one coordinate of the joint begins a run: q unless it is prescribed there (see `pieces`)."""
        row = self._piece(coordinate, q, qd, start)
        if not row[PIECE_HOLDS]:
            return q
        return _value(row[PIECE_COEFFICIENTS:PIECE_LEAP], start - float(row[PIECE_START]))

    def rate(self, coordinate: int, time: float) -> float:
        """Velocity [1/s of its unit] of one coordinate of a joint with given positions, at a time [s]."""
        row = self._piece(coordinate, 0.0, 0.0, time)
        return _slope(row[PIECE_COEFFICIENTS:PIECE_LEAP], time - float(row[PIECE_START]))

    def _piece(self, coordinate: int, q: float, qd: float, time: float) -> FloatArray:
        """The one of the `pieces` that holds at a time, which is the start."""
        rows = self.pieces(coordinate, q, qd, time)
        return rows[np.searchsorted(rows[:, PIECE_START], time, side="right") - 1]

    def pieces(self, coordinate: int, q: float, qd: float, start: float) -> FloatArray:
        """Rows of ``kernels.stepping.motion`` for one coordinate of the joint.

        Velocities and accelerations are integrated from q and qd at the first time, or at the start if that is later.
        """
        breaks, coefficients = self._polynomials(coordinate)
        if self.kind == "acceleration":
            coefficients = _integrated(breaks, coefficients, qd, start)
        if self.kind != "position":
            coefficients = _integrated(breaks, coefficients, q, start)
        rows = np.zeros((len(coefficients) + 2, PIECE_WIDTH))
        rows[:, PIECE_START] = [LONG_BEFORE, *breaks]
        rows[1:-1, PIECE_COEFFICIENTS:PIECE_LEAP] = coefficients
        rows[1:-1, PIECE_HOLDS] = 1.0
        rows[[0, -1], PIECE_HOLDS] = float(self.hold)
        rows[0, PIECE_RESTS] = float(self.hold and start < breaks[0] - AT_END * max(1.0, abs(start)))
        rows[0, PIECE_COEFFICIENTS] = coefficients[0, 0]
        rows[-1, PIECE_COEFFICIENTS] = _value(coefficients[-1], float(breaks[-1] - breaks[-2]))
        return rows if self.windows is None else _windowed(rows, self.windows)

    def _polynomials(self, coordinate: int) -> tuple[FloatArray, FloatArray]:
        """Breaks (pieces + 1,) and coefficients (pieces, PIECE_ORDER) by rising powers of the time since a break."""
        known = vars(self).setdefault("_known", {})  # a search simulates a motion hundreds of times
        if coordinate not in known:
            known[coordinate] = self._fitted(coordinate)
        return known[coordinate]

    def _fitted(self, coordinate: int) -> tuple[FloatArray, FloatArray]:
        values = self.values[:, coordinate]
        if len(self.times) == 1:
            breaks = np.array([self.times[0], self.times[0] + 1.0])
            coefficients = np.zeros((1, PIECE_ORDER))
            coefficients[0, 0] = values[0]
            return breaks, coefficients
        ends = [0, *np.searchsorted(self.times, self.leaps), len(self.times)]
        first = None if self.first_slope is None else self.first_slope[[coordinate]]
        parts = [
            _spline(self.times[a:b], values[a:b], self.interpolation, None if a else first)
            for a, b in pairwise(ends)
        ]
        rows = [parts[0]]
        for k, before, after in zip(ends[1:], parts, parts[1:]):
            slope = 0.0
            if len(before):
                slope = _slope(before[-1], float(self.times[k - 1] - self.times[k - 2]))
            next_slope = float(after[0, 1]) if len(after) else 0.0
            width = float(self.times[k] - self.times[k - 1])
            rows += [_between(width, values[k - 1 : k + 1], (slope, next_slope)), after]
        return np.array(self.times), np.concatenate(rows)


def _spline(
    times: FloatArray, values: FloatArray, interpolation: str, first: FloatArray | None
) -> FloatArray:
    """Coefficients (K - 1, PIECE_ORDER) of the curve through values (K,) at times (K,); `first`: its first slope."""
    coefficients = np.zeros((len(times) - 1, PIECE_ORDER))
    if interpolation == "linear" or len(times) <= 2:
        coefficients[:, 0] = values[:-1]
        coefficients[:, 1] = np.diff(values) / np.diff(times)
        return coefficients
    CubicSpline = optional("scipy.interpolate", "a cubic motion").CubicSpline
    if interpolation == "periodic":
        rise = (values[-1] - values[0]) / (times[-1] - times[0])
        even = values - rise * (times - times[0])
        even[-1] = even[0]
        coefficients[:, :4] = CubicSpline(times, even, bc_type="periodic").c[::-1].T
        coefficients[:, 0] = values[:-1]
        coefficients[:, 1] += rise
        return coefficients
    if len(times) == 3 and first is None:
        coefficients[:, :4] = CubicSpline(times, values, bc_type="natural").c[::-1].T
    else:
        coefficients[:, :4] = cubic_spline(times, values[:, None], first).c[::-1, :, 0].T
    return coefficients


def _between(width: float, values: FloatArray, slopes: tuple[float, float]) -> FloatArray:
    """Coefficients (1, PIECE_ORDER) of Hermite's cubic of this width with values (2,) and slopes at its ends."""
    mean = float(values[1] - values[0]) / width
    coefficients = np.zeros((1, PIECE_ORDER))
    coefficients[0, :2] = values[0], slopes[0]
    coefficients[0, 2] = (3.0 * mean - 2.0 * slopes[0] - slopes[1]) / width
    coefficients[0, 3] = (slopes[0] + slopes[1] - 2.0 * mean) / width**2
    return coefficients


def _checked_windows(windows: Any) -> FloatArray:
    array = float_array(windows, "windows of a motion")
    pairs = finite_array(array, (len(array), 2) if array.ndim else (0, 2), "windows of a motion")
    flat = pairs.ravel()
    if (np.diff(flat) < 0.0).any() or (pairs[:, 1] <= pairs[:, 0]).any():
        raise ModelError(f"windows of a motion must be increasing pairs (start, end), got {pairs.tolist()}")
    return pairs


def _value(coefficients: FloatArray, x: float) -> float:
    """A polynomial by rising powers."""
    return float(coefficients @ x ** np.arange(len(coefficients)))


def _slope(coefficients: FloatArray, x: float) -> float:
    """The derivative of a polynomial by rising powers."""
    return _value(coefficients[1:] * np.arange(1, len(coefficients)), x)


def _integrated(breaks: FloatArray, coefficients: FloatArray, value: float, at: float) -> FloatArray:
    """Antiderivative, continuous at the breaks, with this value at a time, which is clipped to the breaks."""
    result = np.zeros((len(coefficients), PIECE_ORDER))
    result[:, 1:] = coefficients[:, :-1] / np.arange(1, PIECE_ORDER)
    rises = [_value(row, width) for width, row in zip(np.diff(breaks), result)]
    result[:, 0] = np.concatenate([[0.0], np.cumsum(rises)[:-1]])
    at = min(max(at, float(breaks[0])), float(breaks[-1]))
    k = min(max(int(np.searchsorted(breaks, at, side="right")) - 1, 0), len(result) - 1)
    result[:, 0] += value - _value(result[k], at - float(breaks[k]))
    return result


def _windowed(rows: FloatArray, windows: FloatArray) -> FloatArray:
    """The pieces cut at the windows' ends; the coordinate is free outside of windows."""
    cuts = np.unique(np.concatenate([windows.ravel(), rows[1:, PIECE_START]]))
    window = np.searchsorted(windows[:, 0], cuts, side="right") - 1
    within = window >= 0
    within[within] = cuts[within] < windows[window[within], 1]
    own = rows[np.searchsorted(rows[:, PIECE_START], cuts, side="right") - 1]
    result = np.zeros((len(cuts) + 1, PIECE_WIDTH))
    result[0, PIECE_START] = LONG_BEFORE
    result[1:, PIECE_START] = cuts
    result[1:, PIECE_HOLDS] = within & (own[:, PIECE_HOLDS] != 0.0)
    shift = cuts - own[:, PIECE_START]
    coefficients = own[:, PIECE_COEFFICIENTS:PIECE_LEAP].copy()
    for lowest in range(PIECE_ORDER - 1):  # Horner's scheme at the shift, once for each derivative
        for k in range(PIECE_ORDER - 2, lowest - 1, -1):
            coefficients[:, k] += shift * coefficients[:, k + 1]
    result[1:, PIECE_COEFFICIENTS:PIECE_LEAP] = coefficients
    return result


def places_of_motions(model: Model, motions: Any) -> Iterator[tuple[str, Motion, slice]]:
    """Name, motion and coordinates of each of {body or ``body.coordinate``: `Motion`}; ModelError if one is invalid."""
    if motions is not None and not isinstance(motions, Mapping):
        raise ModelError(f"motions must be {{body or coordinate: Motion}}, got {motions!r:.80}")
    for name, motion in (motions or {}).items():
        if not isinstance(motion, Motion):
            raise ModelError(f"the motion of {name!r} must be a Motion, got {motion!r:.80}")
        try:
            where = coordinates_of(model, name)
        except ModelError as error:
            raise ModelError(f"motions: {error}") from error
        count = where.stop - where.start
        if motion.values.shape[1] != count:
            raise ModelError(f"motion of {name!r} needs {count} coordinates, got {motion.values.shape[1]}")
        yield name, motion, where


def pack_motions(model: Model, motions: Any, state: State) -> MotionArrays:
    """Channels and pieces of motions {body or ``body.coordinate``: `Motion`} for a run from a state.

    Raises:
        ModelError: a motion is invalid, or a coordinate has two.
    """
    names = model.coordinate_names
    channels: list[list[int]] = []
    pieces: list[FloatArray] = []
    taken: dict[int, str] = {}
    size = 0
    for name, motion, where in places_of_motions(model, motions):
        for k, d in enumerate(range(where.start, where.stop)):
            if d in taken:
                raise ModelError(f"{names[d]} has two motions, of {taken[d]!r} and {name!r}")
            taken[d] = name
            rows = motion.pieces(k, float(state.q[d]), float(state.qd[d]), float(state.time))
            channels.append([d, size, len(rows), KINDS.index(motion.kind)])
            pieces.append(rows)
            size += len(rows)
    if not channels:
        return np.zeros((0, CHANNEL_WIDTH), dtype=np.int64), np.zeros((1, PIECE_WIDTH))
    return np.array(channels, dtype=np.int64), np.ascontiguousarray(np.concatenate(pieces))


def led_on(model: Model, motions: MotionArrays, end: float, dt: float) -> MotionArrays:
    """Motions of a run until `end`; those that end there are continued to the end of its last step.

    Steps rarely meet the end of a run exactly. A rest that begins within the last step would give the joint a corner,
    and the bodies on it a kick, although it belongs to the time after the run. Motions that would leave the joint's
    range are not continued.
    """
    channels, pieces = motions
    if not len(channels):
        return motions
    pieces = pieces.copy()
    ranges = np.concatenate([body.joint.range for body in model.bodies])
    for row in channels:
        own = pieces[row[CHANNEL_FIRST] : row[CHANNEL_FIRST] + row[CHANNEL_COUNT]]
        k = _rest_from(own, end)
        if k == 0 or not own[k - 1, PIECE_HOLDS]:
            continue
        before = own[k - 1]
        beyond = _value(before[PIECE_COEFFICIENTS:PIECE_LEAP], end + dt - before[PIECE_START])
        lower, upper = ranges[row[CHANNEL_COORDINATE]]
        if lower <= beyond <= upper:
            own[k, PIECE_START] = end + 2.0 * dt
            np.maximum.accumulate(own[:, PIECE_START], out=own[:, PIECE_START])
    return channels, pieces


def _rest_from(pieces: FloatArray, end: float) -> int:
    """Index of a coordinate's piece that begins at the end of a run and rests from then on, in windows too; or 0."""
    near = np.flatnonzero(np.abs(pieces[:, PIECE_START] - end) <= AT_END * max(1.0, abs(end)))
    if not len(near):
        return 0
    k = int(near[0])
    rests = pieces[k, PIECE_HOLDS] != 0.0 and not pieces[k:, PIECE_COEFFICIENTS + 1 : PIECE_LEAP].any()
    return k if rests else 0
