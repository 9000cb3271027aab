"""Functions as piecewise polynomials: tables of smooth ones, and sums."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from .._typing import FloatArray
from ..errors import FormatError
from ..joints import Function, Linear, PiecewisePolynomial
from ..joints.functions import Piecewise


def _shifted_chebyshev(k: int) -> FloatArray:
    """Coefficients of T_k(u) by rising powers of u + 1."""
    line = np.array([-1.0, 1.0])
    before, last = np.ones(1), line
    for _ in range(k):
        before, last = last, 2.0 * np.convolve(line, last) - np.pad(before, (0, 2))[: len(last) + 1]
    return before


DEGREE = 9
CLOSE = 1e-12  # error of a table, as a share of the largest value nearby; round-off is near
REACH = 10.0  # m or rad, of the tables of functions that are cut off
MOST = 4000  # pieces of a table
NARROW = 2.0**-40  # least piece, as a share of the whole: a kink or a jump is in it
NODES = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
BETWEEN = np.linspace(-0.97, 0.97, 23)
ROUNDED = 8.0 * np.finfo(np.float64).eps  # of a value, after some operations
ORDERS = np.arange(DEGREE + 1)
LOOKED = (BETWEEN + 1.0) ** ORDERS[:, None]
# Chebyshev coefficients from values at the nodes, and from those the powers of u + 1, by whole numbers
SPECTRUM = (
    np.cos(np.outer(ORDERS, np.arccos(NODES))) * np.where(ORDERS == 0, 1.0, 2.0)[:, None] / (DEGREE + 1)
)
POWERS = np.array([np.pad(_shifted_chebyshev(k), (0, DEGREE - k)) for k in range(DEGREE + 1)]).T


def tabulated(
    values: Callable[[FloatArray], FloatArray], low: float, high: float, where: str, noise: float = 0.0
) -> PiecewisePolynomial:
    """A table of a function from low to high, each piece within `CLOSE` and the values' noise; linear beyond.

    Raises:
        FormatError: a value is not finite, or there are too many pieces.
    """
    start, end = np.array([low]), np.array([high])
    done: list[tuple[float, FloatArray]] = []
    while len(start):
        if len(done) + len(start) > MOST:
            raise FormatError(f"{where}: the function needs more than {MOST} pieces from {low:g} to {high:g}")
        half = 0.5 * (end - start)
        given, looked = (_at(values, start[:, None] + half[:, None] * (1.0 + u)) for u in (NODES, BETWEEN))
        finite = np.isfinite(given).all(axis=1) & np.isfinite(looked).all(axis=1)
        if not finite.all():
            k = int(np.argmin(finite))
            raise FormatError(f"{where}: the function is not finite from {start[k]:g} to {end[k]:g}")
        rows = given @ SPECTRUM.T @ POWERS.T
        miss = np.abs(rows @ LOOKED - looked).max(axis=1)
        # of the function's own argument
        rounded = noise + ROUNDED * np.maximum(abs(start), abs(end)) * np.ptp(given, axis=1) / half
        allowed = CLOSE * np.abs(given).max(axis=1) + rounded
        begun = values(start)  # exact where there is no jump, as of a damper at rest
        rows[:, 0] = np.where(np.abs(begun - rows[:, 0]) <= allowed, begun, rows[:, 0])
        fine = (miss <= allowed) | (half <= NARROW * (high - low))
        done += zip(start[fine].tolist(), rows[fine] / half[fine, None] ** ORDERS)
        start, middle, end = start[~fine], (start + half)[~fine], end[~fine]
        start, end = np.concatenate([start, middle]), np.concatenate([middle, end])
    done.sort(key=lambda each: each[0])
    return PiecewisePolynomial([*(at for at, _ in done), high], np.array([row for _, row in done]))


def _at(values: Callable[[FloatArray], FloatArray], places: FloatArray) -> FloatArray:
    """Values of a function of rows at places of any shape."""
    return values(places.ravel()).reshape(places.shape)


def summed(functions: Sequence[Function], low: float, high: float, where: str) -> Function | None:
    """The sum of functions; those that are no piecewise polynomials as tables from low to high, if there are others."""
    if len(functions) < 2:
        return functions[0] if functions else None
    parts = [pieces(each) or tabulated(each, low, high, where) for each in functions]
    breaks = np.unique(np.concatenate([part.x for part in parts]))
    rows = [
        _around(part, start, middle)
        for part in parts
        for start, middle in zip(breaks, breaks[:-1] + 0.5 * np.diff(breaks))
    ]
    size = max(map(len, rows))
    table = np.array([np.pad(row, (0, size - len(row))) for row in rows])
    return PiecewisePolynomial(breaks, table.reshape(len(parts), -1, size).sum(axis=0))


def _around(function: PiecewisePolynomial, start: float, middle: float) -> FloatArray:
    """Coefficients by powers of the distance from start of the piece that the middle lies in."""
    x, rows = np.array(function.x), np.array(function.coefficients)
    if not x[0] < middle < x[-1]:
        value, slope, _ = function.derivatives(start)
        return np.array([value, slope])
    piece = int(np.searchsorted(x, middle)) - 1
    shifted = Polynomial(rows[piece])(Polynomial([start - x[piece], 1.0]))
    return shifted.coef


def pieces(function: Function) -> PiecewisePolynomial | None:
    """The same function as a piecewise polynomial; None if it is not one."""
    if isinstance(function, PiecewisePolynomial):
        return function
    if isinstance(function, Linear):
        return PiecewisePolynomial([0.0, 1.0], [[function.offset, function.slope]])
    return PiecewisePolynomial(function.x, function.rows) if isinstance(function, Piecewise) else None


def cut(function: Function, low: float, where: str) -> PiecewisePolynomial:
    """The function above low, and 0 below."""
    whole = pieces(function) or tabulated(function, low, low + REACH, where)
    above = [x for x in whole.x if x > low]
    breaks = np.array([low - 1.0, low, *above, max([low, *above]) + 1.0])
    parts = [
        (at, at, _around(whole, at, at + 0.5 * step)) for at, step in zip(breaks[1:], np.diff(breaks)[1:])
    ]
    return joined([(breaks[0], low, np.zeros(1)), *parts], breaks[-1])


def joined(parts: Sequence[tuple[float, float, Any]], end: float) -> PiecewisePolynomial:
    """Polynomials (start, origin, coefficients by rising powers of the distance from the origin), each up to the start
    of the next; those of no length are left out.
    """
    starts = [*(start for start, _, _ in parts), end]
    rows = [
        Polynomial(row)(Polynomial([start - origin, 1.0])).coef
        for (start, origin, row), after in zip(parts, starts[1:])
        if after > start
    ]
    size = max(map(len, rows))
    return PiecewisePolynomial(np.unique(starts), [np.pad(row, (0, size - len(row))) for row in rows])
