"""Functions of a coordinate that a joint's factors follow: small immutable values that the kernels can read.

OpenSim's CustomJoint and the elliptic joint are made of them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError, ModelError
from ..kernels import layout
from ..validation import finite_array, number


class Function:
    """Base: `to_dict` describes a function, `data` is what the kernels read (see ``kernels.functions``)."""

    type: ClassVar[str]

    def data(self) -> FloatArray:
        raise TypeError(f"{type(self).__name__} does not say what the kernels shall read")

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {"type": self.type} | {
            name: list(value) if isinstance(value, tuple) else value for name, value in values.items()
        }

    def __call__(self, q: Any) -> FloatArray:
        """Values at q of any shape."""
        return self.derivatives(q)[..., 0]

    def derivatives(self, q: Any) -> FloatArray:
        """Value, first and second derivative (..., 3) at q (...)."""
        from ..kernels.functions import evaluate_function

        q = np.asarray(q, dtype=np.float64)
        data = self.data()
        rows = [evaluate_function(data, 0, float(x)) for x in q.ravel()]
        return np.array(rows).reshape(*q.shape, 3)


@dataclass(frozen=True)
class Linear(Function):
    """slope q + offset; a slope of 0 is a constant."""

    slope: float = 1.0
    offset: float = 0.0
    type: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", number(self.slope, "slope"))
        object.__setattr__(self, "offset", number(self.offset, "offset"))

    def data(self) -> FloatArray:
        return np.array([layout.LINEAR_FUNCTION, self.slope, self.offset])


@dataclass(frozen=True)
class Wave(Function):
    """sine sin q + cosine cos q + offset."""

    sine: float = 0.0
    cosine: float = 0.0
    offset: float = 0.0
    type: ClassVar[str] = "wave"

    def __post_init__(self) -> None:
        for name in ("sine", "cosine", "offset"):
            object.__setattr__(self, name, number(getattr(self, name), name))

    def data(self) -> FloatArray:
        return np.array([layout.TRIGONOMETRIC, self.sine, self.cosine, self.offset])


@dataclass(frozen=True)
class Polynomial(Function):
    """sum_k coefficients[k] q^k."""

    coefficients: Any
    type: ClassVar[str] = "polynomial"

    def __post_init__(self) -> None:
        values = finite_array(self.coefficients, (np.size(self.coefficients),), "polynomial coefficients")
        if not len(values):
            raise ModelError("polynomial coefficients must not be empty, got []")
        object.__setattr__(self, "coefficients", tuple(values.tolist()))

    def data(self) -> FloatArray:
        return np.array([layout.POLYNOMIAL, len(self.coefficients), *self.coefficients])


@dataclass(frozen=True)
class TangentAngle(Function):
    """Direction of an ellipse with semi-axes a and b: atan2(b sin q, a cos q), continued over whole turns."""

    a: float
    b: float
    type: ClassVar[str] = "tangent_angle"

    def __post_init__(self) -> None:
        for name in ("a", "b"):
            object.__setattr__(self, name, number(getattr(self, name), f"semi-axis {name}", positive=True))

    def data(self) -> FloatArray:
        return np.array([layout.TANGENT_ANGLE, self.a, self.b])


@dataclass(frozen=True)
class CubicSpline(Function):
    """A cubic spline through (x, y), straight beyond its ends.

    Attributes:
        x: increasing (n,), n >= 2. y: values (n,).
        ends: ``"simm"``: the third derivative at each end is that of the cubic through the four points there
            (Forsythe, Malcolm & Moler 1977, what OpenSim's SimmSpline is; natural for n < 4). ``"natural"``: no
            curvature there.
    """

    x: Any
    y: Any
    ends: str = "simm"
    type: ClassVar[str] = "cubic_spline"

    def __post_init__(self) -> None:
        x = finite_array(self.x, (np.size(self.x),), "spline x")
        y = finite_array(self.y, (len(x),), "spline y")
        if len(x) < 2:
            raise ModelError(f"a spline needs at least 2 points, got {len(x)}")
        if (np.diff(x) <= 0.0).any():
            k = int(np.argmax(np.diff(x) <= 0.0))
            raise ModelError(f"spline x must increase, got {x[k]:g} before {x[k + 1]:g}")
        if self.ends not in ("simm", "natural"):
            raise ModelError(f"spline ends must be 'simm' or 'natural', got {self.ends!r}")
        object.__setattr__(self, "x", tuple(x.tolist()))
        object.__setattr__(self, "y", tuple(y.tolist()))

    def data(self) -> FloatArray:
        x, y = np.array(self.x), np.array(self.y)
        step, pieces = np.diff(x), len(x) - 1
        half = 0.5 * self._second_derivatives(x, y)
        slope = np.diff(y) / step - step * (2.0 * half[:-1] + half[1:]) / 3.0
        cubic = np.diff(half) / (3.0 * step)
        rows = np.stack([y[:-1], slope, half[:-1], cubic], axis=1)
        return np.concatenate([[layout.PIECEWISE, pieces, 4], x, rows.ravel()])

    def _second_derivatives(self, x: FloatArray, y: FloatArray) -> FloatArray:
        count, step = len(x), np.diff(x)
        if count == 2:
            return np.zeros(2)
        divided = np.diff(y) / step
        matrix = np.diag(np.concatenate([[1.0], 2.0 * (step[:-1] + step[1:]), [1.0]]))
        matrix[np.arange(1, count - 1), np.arange(count - 2)] = step[:-1]
        matrix[np.arange(1, count - 1), np.arange(2, count)] = step[1:]
        right = np.concatenate([[0.0], 6.0 * np.diff(divided), [0.0]])
        if self.ends == "simm" and count > 3:
            second = np.diff(divided) / (x[2:] - x[:-2])
            third = np.diff(second) / (
                x[3:] - x[:-3]
            )  # divided differences; the third derivative is 6 of them
            matrix[0, :2] = [-1.0, 1.0]
            matrix[-1, -2:] = [-1.0, 1.0]
            right[0], right[-1] = 6.0 * third[0] * step[0], 6.0 * third[-1] * step[-1]
        result: FloatArray = np.linalg.solve(matrix, right)
        return result


FUNCTIONS: dict[str, type[Function]] = {
    function.type: function for function in (Linear, Wave, Polynomial, TangentAngle, CubicSpline)
}


def function_from_dict(description: Any) -> Function:
    """The function that `Function.to_dict` described; FormatError where a key or the type is unknown."""
    kind = description.get("type") if isinstance(description, dict) else None
    if kind not in FUNCTIONS:
        raise FormatError(f"unknown function type {kind!r}; known are {', '.join(sorted(FUNCTIONS))}")
    values = {key: value for key, value in description.items() if key != "type"}
    known = {field.name for field in fields(FUNCTIONS[kind])}  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            raise FormatError(
                f"unknown key {key!r} in a function of type {kind!r}; known are {sorted(known)}"
            )
    try:
        return FUNCTIONS[kind](**values)
    except TypeError as error:
        raise FormatError(f"function of type {kind!r}: {error}") from error
