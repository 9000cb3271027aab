"""OpenSim's functions of several coordinates, as sums of functions of weighted sums of these."""

import math
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..joints import Function, Linear, Polynomial
from .opensim_expressions import APART, function_of, parse, powers_of
from .opensim_functions import SPAN, read_function, scaled
from .opensim_xml import Node

Value = Callable[[Sequence[Any]], Any]  # of several numbers, arrays or polynomials
Terms = list[tuple[FloatArray, Function]]  # weights, and a function of the sum
ROUND = 1e-13  # share of the largest singular value that is round-off


def read_terms(node: Node, count: int) -> Terms:
    """The function of `count` coordinates among a node's children; [] for unknown ones, and for those that are neither
    polynomials nor sums of functions of one coordinate.
    """
    if count == 1:
        function = read_function(node)
        return [] if function is None else [(np.ones(1), function)]
    multiplied = node.child("MultiplierFunction")
    inner = None if multiplied is None else multiplied.child("function")
    if multiplied is not None and inner is not None:
        factor = multiplied.number("scale", 1.0)
        return [(weights, scaled(function, factor)) for weights, function in read_terms(inner, count)]
    for tag, read in MANY.items():
        found = node.child(tag)
        if found is not None:
            return _parted(read(found, count), count, found.path)
    return []


def _parted(value: Value, count: int, where: str) -> Terms:
    """A polynomial is a sum of polynomials of weighted sums, of twice as many as it has powers of its degree."""

    def along(way: FloatArray) -> FloatArray | None:
        return powers_of(lambda x: value([x * part for part in way]))

    rng = np.random.default_rng(0)
    first = along(rng.normal(size=count))
    if first is None:
        return _summands(value, count, where)
    degree = len(first) - 1
    ways = np.eye(count)
    if degree > 1:
        ways = rng.normal(size=(2 * math.comb(count + degree - 1, degree), count))
        ways /= np.linalg.norm(ways, axis=1)[:, None]
    values = np.zeros((len(ways), degree + 1))
    for row, way in zip(values, ways):
        found = along(way)
        if found is not None:
            row[: len(found)] = found
    if degree < 2:
        return [(values[:, 1:].sum(axis=1), Linear(1.0, values[0, 0]))]
    products = ways @ ways.T  # of which the powers are those of each sum along all ways
    solved = [np.linalg.lstsq(products**m, values[:, m], rcond=ROUND)[0] for m in range(degree + 1)]
    return [(way, Polynomial(row)) for way, row in zip(ways, np.transpose(solved))]


def _summands(value: Value, count: int, where: str) -> Terms:
    """A sum of functions of one number each; [] for another function."""

    def alone(k: int) -> Callable[[Any], Any]:
        still = value([0.0] * count) if k else 0.0
        return lambda x: value([x if j == k else 0.0 for j in range(count)]) - still

    looks = np.random.default_rng(0).uniform(-1.0, 1.0, (count, 20))
    whole = value(list(looks))
    left = whole - sum(alone(k)(row) for k, row in enumerate(looks))
    if not (np.abs(left) <= APART * np.abs(whole).max()).all():
        return []
    return [(way, function_of(alone(k), SPAN, where)) for k, way in enumerate(np.eye(count))]


def _linear(node: Node, count: int) -> Value:
    *weights, constant = node.numbers("coefficients", [0.0] * (count + 1), count + 1)
    return lambda x: sum(weight * part for weight, part in zip(weights, x)) + constant


def _polynomial(node: Node, count: int) -> Value:
    """Powers of the last coordinate rise first."""
    order, given = int(node.number("order", 0.0)), node.numbers("coefficients", [0.0])
    powers = [each for each in product(range(order + 1), repeat=count) if sum(each) <= order]
    if node.number("dimension", 0.0) != count or len(powers) != len(given):
        raise node.error(f"needs {count} coordinates and {len(powers)} coefficients, got {len(given)}")
    return lambda x: sum(c * math.prod(p**k for p, k in zip(x, each)) for c, each in zip(given, powers))


def _expression(node: Node, count: int) -> Value:
    names = tuple(node.text("variables").split())
    term = parse(node.text("expression"), names, node.path)
    if len(names) != count:
        raise node.error(f"needs {count} variables, got {len(names)}")
    return lambda x: term(**dict(zip(names, x)))


MANY: dict[str, Callable[[Node, int], Value]] = {
    "LinearFunction": _linear,
    "MultivariatePolynomialFunction": _polynomial,
    "ExpressionBasedFunction": _expression,
}
