"""OpenSim's functions of one coordinate as `joints.functions`."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._typing import FloatArray
from ..errors import ModelError
from ..geometry.splines import basis
from ..joints import CubicSpline, Function, Linear, PiecewiseLinear, PiecewisePolynomial, Polynomial, Wave
from ..validation import finite_array, rising
from .opensim_expressions import read_expression
from .opensim_tables import REACH, joined, pieces, tabulated
from .opensim_xml import Node

SPAN = -10.0, 10.0  # rad or m, of tables of functions
SMOOTH_STEP = np.array([0.0, 0.0, 0.0, 10.0, -15.0, 6.0])  # of the share of a transition, by rising powers
TINY = 1e-7  # between equal knots, as in OpenSim
COLLINEAR = 1e-12  # distance of points from a line that is round-off, as a share of the largest value


def read_function(node: Node, name: str = "") -> Function | None:
    """The function among the children of a node; None if there is none of a known kind.

    name: of its property, which is an entry that holds the function, or its own name; FormatError for an unknown kind.
    """
    holder = node.child(name) if name else None
    for tag, read in FUNCTIONS.items():
        found = node.child(tag, name) if holder is None else holder.child(tag)
        if found is not None:
            try:
                function = read(found)
            except ModelError as error:
                raise found.error(f"{error}") from error
            if function is not None:
                return function
    if name and node.element.find(f"*[@name='{name}']" if holder is None else f"{name}/*") is not None:
        raise node.error(f"its {name} is not supported")
    return None


def scaled(function: Function, factor: float) -> Function:
    """A function times a factor."""
    return _changed(function, factor, 0.0)


def shifted(function: Function, offset: float) -> Function:
    """A function plus a number."""
    return function if offset == 0.0 else _changed(function, 1.0, offset)


def stretched(function: Function, factor: float) -> Function:
    """The function of x / factor."""
    if isinstance(function, Polynomial):
        powers = np.array(function.coefficients)
        return Polynomial(powers / factor ** np.arange(len(powers)))
    whole = pieces(function) or tabulated(function, *SPAN, "a function")
    x, rows = factor * np.array(whole.x), np.array(whole.coefficients)
    rows = rows / factor ** np.arange(rows.shape[1])
    if factor < 0.0:
        return joined(list(zip(x[1:], x, rows))[::-1], x[0])
    return PiecewisePolynomial(x, rows)


def _changed(function: Function, factor: float, offset: float) -> Function:
    """A function times a factor plus a number."""
    if isinstance(function, Linear):
        return Linear(factor * function.slope, factor * function.offset + offset)
    if isinstance(function, CubicSpline | PiecewiseLinear):
        return replace(function, y=factor * np.array(function.y) + offset)
    if isinstance(function, Polynomial):
        first, *rest = factor * np.array(function.coefficients)
        return Polynomial([first + offset, *rest])
    if isinstance(function, PiecewisePolynomial):
        rows = factor * np.array(function.coefficients)
        rows[:, 0] += offset
        return PiecewisePolynomial(function.x, rows)
    if isinstance(function, Wave):
        return Wave(factor * function.sine, factor * function.cosine, factor * function.offset + offset)
    raise ModelError(f"a function of type {function.type!r} cannot be scaled or shifted")


def _through(make: Callable[[FloatArray, FloatArray], Function]) -> Callable[[Node], Function]:
    """Reads a function through points (x, y), which is a line if they are collinear."""

    def read(node: Node) -> Function:
        x, y = node.numbers("x", []), node.numbers("y", [])
        x = x + TINY * (np.diff(x, prepend=-np.inf) == 0.0)
        function = make(x, y)
        return _line(x, y) or function

    return read


def _line(x: FloatArray, y: FloatArray) -> Linear | None:
    """The line through all knots, if they are collinear."""
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    line = y[0] + slope * (x - x[0])
    return (
        Linear(slope, y[0] - slope * x[0]) if np.abs(y - line).max() <= COLLINEAR * np.abs(y).max() else None
    )


def _sine(node: Node) -> Function:
    amplitude, phase = node.number("amplitude", 1.0), node.number("phase", 0.0)
    omega, offset = node.number("omega", 1.0), node.number("offset", 0.0)
    if omega != 1.0:
        return tabulated(lambda x: offset + amplitude * np.sin(omega * x + phase), *SPAN, node.path)
    return Wave(amplitude * math.cos(phase), amplitude * math.sin(phase), offset)


def _step(node: Node) -> Function:
    """Smooth between two values, constant outside."""
    start, end = (
        node.number(f"transition_{which}_time", at) for which, at in (("start", 0.99), ("end", 1.0))
    )
    first, last = (node.number(f"{which}_value", at) for which, at in (("start", 0.0), ("end", 1.0)))
    rise = (last - first) * SMOOTH_STEP / (end - start) ** np.arange(6)
    rise[0] = first
    return joined([(start - 1.0, start, [first]), (start, start, rise), (end, end, [last])], end + 1.0)


def _powers_of_one(node: Node) -> Function | None:
    """A MultivariatePolynomialFunction of one coordinate, whose lowest power is listed first."""
    if node.number("dimension", 0.0) != 1.0:
        return None
    node.child("order")
    return Polynomial(node.numbers("coefficients", [0.0]))


def _expression(node: Node) -> Function | None:
    names = node.text("variables").split()
    return read_expression(node.text("expression"), names[0], SPAN, node.path) if len(names) == 1 else None


def _spline(node: Node) -> Function | None:
    """A GCVSpline without smoothing: the natural spline of its degree, which beyond its ends has half the order."""
    half, x, y = int(node.number("half_order", 0.0)), node.numbers("x", []), node.numbers("y", [])
    node.child("weights"), node.child("coefficients")
    if not 1 <= half <= 4 or node.number("error_variance", 0.0) != 0.0:
        return None
    x, y = rising(x, "spline x", 2 * half), finite_array(y, x.shape, "spline y")
    order = 2 * half
    knots = np.pad(x, order - 1, mode="edge")
    free = [basis(knots, order, x[[0, -1]], k) for k in range(half, order - 1)]
    matrix = np.concatenate([basis(knots, order, x), *free])
    right = np.concatenate([y, np.zeros(len(matrix) - len(y))])
    size = np.abs(matrix).max(axis=1)
    frames = np.linalg.solve(matrix / size[:, None], right / size)
    rows = np.array([basis(knots, order, x, k) @ frames / math.factorial(k) for k in range(order)]).T
    ends = np.where(np.arange(order) < half, rows[[0, -1]], 0.0)  # polynomials about the ends
    inner = zip(x, x, rows[:-1])
    parts = [(x[0] - REACH, x[0], ends[0]), *inner, (x[-1], x[-1], ends[1])]
    return joined(parts, x[-1] + REACH)


def _multiplied(node: Node) -> Function | None:
    child, factor = node.child("function"), node.number("scale", 1.0)
    inner = None if child is None else read_function(child)
    return None if inner is None else scaled(inner, factor)


FUNCTIONS: dict[str, Callable[[Node], Function | None]] = {
    "Constant": lambda node: Linear(0.0, node.number("value", 0.0)),
    "LinearFunction": lambda node: Linear(*node.numbers("coefficients", [1.0, 0.0], 2)),
    "PolynomialFunction": lambda node: Polynomial(node.numbers("coefficients", [0.0])[::-1]),  # highest first
    "SimmSpline": _through(CubicSpline),
    "NaturalCubicSpline": _through(CubicSpline),
    "PiecewiseLinearFunction": _through(PiecewiseLinear),
    "Sine": _sine,
    "StepFunction": _step,
    "MultivariatePolynomialFunction": _powers_of_one,
    "ExpressionBasedFunction": _expression,
    "MultiplierFunction": _multiplied,
    "GCVSpline": _spline,
}
