"""Expressions in OpenSim's files as functions: trees of known operations, never evaluated as code."""

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial as Powers

from .._typing import FloatArray
from ..errors import FormatError
from ..joints import Function, Linear, Polynomial
from .opensim_tables import ROUNDED, tabulated

LONGEST = 10_000  # characters of an expression
DEEPEST = 100  # operations in each other
MOST = 100  # powers of a polynomial; one with more becomes a table
RATES = -100.0, 100.0
# shares of a span of values, and rates, at which a force is taken apart
SHARES, LOOKS = np.linspace(0.01, 0.99, 41) ** 2, np.outer([0.01, 0.3, 5.0, 90.0], [-1.0, 1.0]).ravel()
TINY = 1e-100  # an imaginary step, by which a derivative has no round-off
APART = 1e-9  # of the largest force: what round-off leaves of one that is a sum of products
PLAIN = ["sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "abs", "floor", "ceil"]
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {  # those of Lepton, and how many arguments they take
    **{name: (1, getattr(np, name)) for name in PLAIN},
    "asin": (1, np.arcsin),
    "acos": (1, np.arccos),
    "atan": (1, np.arctan),
    "atan2": (2, np.arctan2),
    "sec": (1, lambda x: 1.0 / np.cos(x)),
    "csc": (1, lambda x: 1.0 / np.sin(x)),
    "cot": (1, lambda x: 1.0 / np.tan(x)),
    "square": (1, lambda x: x * x),
    "cube": (1, lambda x: x * x * x),
    "recip": (1, lambda x: 1.0 / x),
    "step": (1, lambda x: np.where(np.greater_equal(x, 0.0), 1.0, 0.0)),
    "delta": (1, lambda x: np.where(np.equal(x, 0.0), 1.0, 0.0)),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "select": (3, lambda x, y, z: np.where(np.not_equal(x, 0.0), y, z)),
}
OPERATIONS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


Meaning = Callable[[Mapping[str, Any]], Any]  # the value of an expression, by its variables


def parse(text: str, variables: tuple[str, ...], where: str) -> Callable[..., Any]:
    """What a text in Lepton's language means; after semicolons it may define other names.

    Returns:
        A function of the variables by name, at numbers, arrays or polynomials; of polynomials it raises TypeError or
        ValueError if it is none, or has too many powers.

    Raises:
        FormatError: it means nothing, or has an unknown name; the message begins with where.
    """
    if len(text) > LONGEST:
        raise FormatError(f"{where}: an expression has {len(text)} characters, more than {LONGEST}")
    whole, *rest = "".join(text.split()).replace("^", "**").split(";")
    known, steps = set(variables), []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            for definition in [*reversed([part for part in rest if part]), f"={whole}"]:
                name, _, meaning = definition.partition("=")
                steps.append((name, _meaning(ast.parse(meaning, mode="eval").body, known, DEEPEST)))
                known.add(name)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise FormatError(f"{where}: the expression {text!r:.80} is not understood: {error}") from error

    def value(**values: Any) -> Any:
        with np.errstate(all="ignore"):
            for name, meaning in steps:
                values[name] = meaning(values)
            return values[""]

    return value


def _meaning(node: ast.expr, known: set[str], room: int) -> Meaning:
    """The value of a node; ValueError if it or a part of it is no known operation."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            constant = np.float64(number)
            return lambda values: constant
        case ast.Name(id=name) if name in known:
            return operator.itemgetter(name)
        case ast.BinOp(left=left, op=operation, right=right) if type(operation) in OPERATIONS:
            apply, parts = OPERATIONS[type(operation)], [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as operation, operand=operand):
            apply, parts = OPERATIONS[type(operation)], [operand]
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in FUNCTIONS and FUNCTIONS[
            name
        ][0] == len(parts):
            apply = FUNCTIONS[name][1]
        case _:
            raise ValueError(f"{ast.unparse(node)!r:.40} is unknown")
    if not room:
        raise ValueError(f"it is nested deeper than {DEEPEST}")
    inner = [_meaning(part, known, room - 1) for part in parts]

    def value(values: Mapping[str, Any]) -> Any:
        found = apply(*(part(values) for part in inner))
        if isinstance(found, Powers) and len(found.coef) > MOST:
            raise ValueError(f"it has more than {MOST} powers")
        return found

    return value


def powers_of(value: Callable[[Any], Any]) -> FloatArray | None:
    """Coefficients by rising powers of a function, if it is a polynomial, else None."""
    try:
        found = value(Powers([0.0, 1.0]))
    except (TypeError, ValueError):
        return None
    if not isinstance(found, Powers | float):
        return None
    powers: FloatArray = found.coef if isinstance(found, Powers) else np.array([found])
    return powers if np.isfinite(powers).all() else None


def read_expression(text: str, variable: str, span: tuple[float, float], where: str) -> Function:
    """The function of a variable that an expression means."""
    term = parse(text, (variable,), where)
    return function_of(lambda x: term(**{variable: x}), span, where)


def function_of(
    value: Callable[[Any], Any], span: tuple[float, float], where: str, noise: float = 0.0
) -> Function:
    """A function by its values at numbers and at polynomials; noise: round-off in the values."""
    powers = powers_of(value)
    if powers is not None:
        return Polynomial(powers) if len(powers) > 2 else Linear(*[0.0, *powers[::-1]][-2:])

    def values(x: FloatArray) -> FloatArray:
        return np.broadcast_to(np.asarray(value(x), dtype=np.float64), x.shape)

    return tabulated(values, *span, where, noise)


def resolved(
    text: str, value: str, rate: str, span: tuple[float, float], where: str
) -> tuple[Function | None, Function | None, Function | None]:
    """The parts f, c and d of the force f(x) + c(x) x' + d(x') that an expression of a value x and its rate means.

    The two are given by their names in it. None where there is no such part; d(0) = 0.

    Polynomials are exact; others are tables within 1e-12 of their largest value nearby, for values within the span and
    rates within 100.

    Raises:
        FormatError: it means none, is another function of both, or is not finite within the span.
    """
    term = parse(text, (value, rate), where)
    low, high = span
    x = low + SHARES * (high - low)

    def force(x: Any, v: Any) -> Any:
        return term(**{value: x, rate: v})

    def slope(x: Any) -> Any:
        """By the rate, at rest: c(x) + d'(0)."""
        found = force(x, 1j * TINY)
        return Powers(found.coef.imag / TINY) if isinstance(found, Powers) else np.imag(found) / TINY

    def both(x: Any) -> Any:
        return slope(x) - shift

    def bent(v: Any) -> Any:
        return force(at, v) - still - (slope(at) - shift) * v

    try:
        with np.errstate(all="ignore"):
            at = float(x[np.argmin(np.abs(np.broadcast_to(slope(x), x.shape)))])
            still = force(at, 0.0)
            shift = 0.0 if powers_of(lambda v: force(at, v)) is not None else slope(at)
            whole = force(x[:, None], LOOKS)
            products = np.broadcast_to(both(x), x.shape)[:, None] * LOOKS
            left = whole - np.reshape(force(x, 0.0), (-1, 1)) - products - bent(LOOKS)
    except TypeError as error:
        raise FormatError(f"{where}: an operation of {rate} is not supported: {error}") from error
    if not (np.abs(left) <= APART * np.abs(whole).max()).all():
        raise FormatError(
            f"{where}: it is not finite, or no sum of functions of {value} or {rate} and products of {rate}"
        )
    return (
        _part(lambda x: force(x, 0.0), x, span, where),
        _part(both, x, span, where, ROUNDED * abs(shift)),
        _part(bent, LOOKS, RATES, where, ROUNDED * abs(still)),
    )


def _part(value: Callable[[Any], Any], looks: FloatArray, *given: Any) -> Function | None:
    return function_of(value, *given) if np.any(value(looks)) else None
