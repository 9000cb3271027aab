"""Functions of a coordinate that a joint's factors follow: small immutable values that the kernels can read.

The elliptic joint and OpenSim's CustomJoint use them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from .. import kernels, registry
from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.immutable import Value
from ..kernels import layout
from ..validation import NUMBER, POSITIVE, check_fields, finite, finite_array, finite_row, one_of, rising


class Function(Value):
    """Base: `to_dict` describes a function, `data` is its record for the kernels (``kernels.joints.functions``)."""

    type: ClassVar[str]

    def data(self) -> FloatArray:
        raise TypeError(f"{type(self).__name__} must define data()")

    def integral(self, name: str) -> FloatArray:
        """Exact antiderivative, 0 at 0, as a record for the kernels.

        Raises:
            ModelError: there is none in closed form; the message begins with name.
        """
        raise ModelError(f"{name} cannot be a function of type {self.type!r}: its energy has no closed form")

    def __call__(self, q: Any) -> FloatArray:
        """Values at q of any shape."""
        return self.derivatives(q)[..., 0]

    def derivatives(self, q: Any) -> FloatArray:
        """Value, first and second derivative (..., 3) at q (...)."""
        q = np.asarray(q, dtype=np.float64)
        data = self.data()
        rows = [kernels.joints.functions.evaluate_function(data, 0, float(x)) for x in q.ravel()]
        return np.array(rows).reshape(*q.shape, 3)


@dataclass(frozen=True)
class Linear(Function):
    """slope q + offset; a slope of 0 is a constant."""

    slope: float = field(default=1.0, metadata=NUMBER)
    offset: float = field(default=0.0, metadata=NUMBER)
    type: ClassVar[str] = "linear"

    def data(self) -> FloatArray:
        return np.array([layout.LINEAR_FUNCTION, self.slope, self.offset])

    def integral(self, name: str) -> FloatArray:
        return np.array([layout.POLYNOMIAL, 3, 0.0, self.offset, 0.5 * self.slope])


@dataclass(frozen=True)
class Wave(Function):
    """sine sin q + cosine cos q + offset."""

    sine: float = field(default=0.0, metadata=NUMBER)
    cosine: float = field(default=0.0, metadata=NUMBER)
    offset: float = field(default=0.0, metadata=NUMBER)
    type: ClassVar[str] = "wave"

    def data(self) -> FloatArray:
        return np.array([layout.TRIGONOMETRIC, self.sine, self.cosine, self.offset, 0.0])

    def integral(self, name: str) -> FloatArray:
        return np.array([layout.TRIGONOMETRIC, self.cosine, -self.sine, self.sine, self.offset])


def _powers(value: Any, name: str) -> tuple[float, ...]:
    values = finite_row(value, f"polynomial {name}")
    if not len(values):
        raise ModelError(f"polynomial {name} must not be empty, got []")
    return tuple(values.tolist())


@dataclass(frozen=True)
class Polynomial(Function):
    """sum_k coefficients[k] q^k."""

    coefficients: Any = field(metadata={"check": _powers})
    type: ClassVar[str] = "polynomial"

    def data(self) -> FloatArray:
        return np.array([layout.POLYNOMIAL, len(self.coefficients), *self.coefficients])

    def integral(self, name: str) -> FloatArray:
        powers = np.arange(1, len(self.coefficients) + 1)
        return np.array([layout.POLYNOMIAL, len(powers) + 1, 0.0, *(np.array(self.coefficients) / powers)])


@dataclass(frozen=True)
class TangentAngle(Function):
    """Direction of an ellipse with semi-axes a and b: atan2(b sin q, a cos q), unwrapped over whole turns."""

    a: float = field(metadata=POSITIVE)
    b: float = field(metadata=POSITIVE)
    type: ClassVar[str] = "tangent_angle"

    def data(self) -> FloatArray:
        return np.array([layout.TANGENT_ANGLE, self.a, self.b])


class Piecewise(Function):
    """Base of polynomials of q - x[k] from each break x[k] to the next, linear beyond the ends."""

    x: Any

    @cached_property
    def rows(self) -> FloatArray:
        """Coefficients by rising powers (pieces, order)."""
        raise TypeError(f"{type(self).__name__} must define rows")

    def data(self) -> FloatArray:
        return _piecewise_data(np.array(self.x), self.rows)

    def integral(self, name: str) -> FloatArray:
        return _piecewise_integral(np.array(self.x), self.rows)


@dataclass(frozen=True)
class CubicSpline(Piecewise):
    """A cubic spline through (x, y), linear beyond its ends.

    Attributes:
        x: increasing (n,), n >= 2. y: values (n,).
        ends: ``"simm"``: the third derivative at each end is that of the cubic through the four points there, as in
            OpenSim's SimmSpline (Forsythe, Malcolm & Moler 1977); of three points it is their parabola, of two their
            line. ``"natural"``: zero curvature.
    """

    x: Any
    y: Any
    ends: str = field(default="simm", metadata=one_of("simm", "natural"))
    type: ClassVar[str] = "cubic_spline"

    def __post_init__(self) -> None:
        check_fields(self, owner="spline ")
        x, y = _checked_points(self.x, self.y, "spline")
        vars(self).update(x=x, y=y)

    @cached_property
    def rows(self) -> FloatArray:
        x, y = np.array(self.x), np.array(self.y)
        step = np.diff(x)
        half = 0.5 * self._second_derivatives(x, y)
        slope = np.diff(y) / step - step * (2.0 * half[:-1] + half[1:]) / 3.0
        cubic = np.diff(half) / (3.0 * step)
        return np.stack([y[:-1], slope, half[:-1], cubic], axis=1)

    def _second_derivatives(self, x: FloatArray, y: FloatArray) -> FloatArray:
        count, step = len(x), np.diff(x)
        if count == 2:
            return np.zeros(2)
        divided = np.diff(y) / step
        matrix = np.diag(np.concatenate([[1.0], 2.0 * (step[:-1] + step[1:]), [1.0]]))
        matrix[np.arange(1, count - 1), np.arange(count - 2)] = step[:-1]
        matrix[np.arange(1, count - 1), np.arange(2, count)] = step[1:]
        right = np.concatenate([[0.0], 6.0 * np.diff(divided), [0.0]])
        if self.ends == "simm":
            second = np.diff(divided) / (x[2:] - x[:-2])
            # a sixth of the third derivative
            third = np.diff(second) / (x[3:] - x[:-3]) if count > 3 else [0.0]
            matrix[0, :2] = [-1.0, 1.0]
            matrix[-1, -2:] = [-1.0, 1.0]
            right[0], right[-1] = 6.0 * third[0] * step[0], 6.0 * third[-1] * step[-1]
        return np.linalg.solve(matrix, right)


@dataclass(frozen=True)
class PiecewiseLinear(Piecewise):
    """Straight lines through (x, y), extrapolated beyond the ends.

    Where a joint or a point follows it, speeds jump at its kinks.

    Attributes:
        x: increasing (n,), n >= 2. y: values (n,).
    """

    x: Any
    y: Any
    type: ClassVar[str] = "piecewise_linear"

    def __post_init__(self) -> None:
        x, y = _checked_points(self.x, self.y, "table")
        vars(self).update(x=x, y=y)

    @cached_property
    def rows(self) -> FloatArray:
        y = np.array(self.y)
        return np.stack([y[:-1], np.diff(y) / np.diff(self.x)], axis=1)


@dataclass(frozen=True)
class PiecewisePolynomial(Piecewise):
    """A polynomial of q - x[k] from each break x[k] to the next, linear beyond the ends.

    Attributes:
        x: increasing (n + 1,), n >= 1. coefficients: (n, order) by rising powers.
    """

    x: Any
    coefficients: Any
    type: ClassVar[str] = "piecewise_polynomial"

    def __post_init__(self) -> None:
        x = rising(self.x, "breaks of polynomials", 2)
        rows = finite(self.coefficients, "coefficients of polynomials")
        if rows.ndim != 2 or len(rows) != len(x) - 1 or not rows.shape[1]:
            raise ModelError(
                f"coefficients of polynomials must have {len(x) - 1} rows, got shape {rows.shape}"
            )
        vars(self).update(x=tuple(x.tolist()), coefficients=tuple(map(tuple, rows.tolist())))

    @cached_property
    def rows(self) -> FloatArray:
        return np.array(self.coefficients)


def _checked_points(x: Any, y: Any, what: str) -> tuple[tuple[float, ...], tuple[float, ...]]:
    x = rising(x, f"{what} x", 2)
    y = finite_array(y, x.shape, f"{what} y")
    return tuple(x.tolist()), tuple(y.tolist())


def _piecewise_data(x: FloatArray, rows: FloatArray, kind: int = layout.PIECEWISE) -> FloatArray:
    """Record of polynomials in rows (pieces, order) by rising powers of q - x; beyond the ends linear, or quadratic."""
    return np.concatenate([[kind, *rows.shape], x, rows.ravel()])


def _piecewise_integral(x: FloatArray, rows: FloatArray) -> FloatArray:
    """Record of the integral from 0 of such polynomials, quadratic beyond the ends."""
    raised = rows / np.arange(1, rows.shape[1] + 1)
    powers = np.diff(x)[:, None] ** np.arange(1, rows.shape[1] + 1)
    starts = np.concatenate([[0.0], np.cumsum((raised * powers).sum(axis=1))])[:-1]
    whole = np.concatenate([starts[:, None], raised], axis=1)
    piece = int(np.clip(np.searchsorted(x, 0.0, side="right") - 1, 0, len(rows) - 1))
    inside = float(np.clip(0.0, x[0], x[-1]))
    local = inside - x[piece]
    by_power = local ** np.arange(whole.shape[1])
    slope = rows[piece] @ by_power[:-1]
    bend = (rows[piece, 1:] * np.arange(1, rows.shape[1])) @ by_power[: rows.shape[1] - 1]
    whole[:, 0] -= whole[piece] @ by_power - slope * inside + 0.5 * bend * inside**2
    return _piecewise_data(x, whole, layout.BENT_PIECEWISE)


def record_with(head: FloatArray, records: Mapping[int, Any]) -> FloatArray:
    """A head with records behind it, whose places it then has in these columns; None: none, and 0 stays there."""
    parts = [head]
    for column, record in records.items():
        if record is not None:
            head[column] = sum(map(len, parts))
            parts.append(record)
    return np.concatenate(parts)


FUNCTIONS: dict[str, type[Function]] = registry.by_type(
    Linear, Wave, Polynomial, TangentAngle, CubicSpline, PiecewiseLinear, PiecewisePolynomial
)


def function_from_dict(description: Any) -> Function:
    """The function described by `Function.to_dict`; FormatError if a key or the type is unknown."""
    return registry.from_dict(description, FUNCTIONS, "a function")
