"""Expressions in OpenSim's files as functions: parsed into a tree of known operations, never evaluated as code."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError
from ..joints import Function, Linear, Polynomial
from .opensim_tables import tabulated

LONGEST = 10_000  # characters of an expression
DEEPEST = 100  # operations in each other
POWERS = 8  # largest power that is expanded
FUNCTIONS: dict[str, tuple[int, Callable[..., Any]]] = {  # those of Lepton, and how many arguments they take
    **{
        name: (1, getattr(np, name))
        for name in (
            "sqrt",
            "exp",
            "log",
            "sin",
            "cos",
            "tan",
            "sinh",
            "cosh",
            "tanh",
            "abs",
            "floor",
            "ceil",
        )
    },
    "asin": (1, np.arcsin),
    "acos": (1, np.arccos),
    "atan": (1, np.arctan),
    "atan2": (2, np.arctan2),
    "sec": (1, lambda x: 1.0 / np.cos(x)),
    "csc": (1, lambda x: 1.0 / np.sin(x)),
    "cot": (1, lambda x: 1.0 / np.tan(x)),
    "square": (1, np.square),
    "cube": (1, lambda x: x**3),
    "recip": (1, lambda x: 1.0 / x),
    "step": (1, lambda x: np.where(x >= 0.0, 1.0, 0.0)),
    "delta": (1, lambda x: np.where(x == 0.0, 1.0, 0.0)),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "select": (3, lambda x, y, z: np.where(x != 0.0, y, z)),
}
OPERATIONS: dict[type, tuple[str, Callable[..., Any]]] = {
    ast.Add: ("+", np.add),
    ast.Sub: ("-", np.subtract),
    ast.Mult: ("*", np.multiply),
    ast.Div: ("/", np.divide),
    ast.Pow: ("^", np.power),
}


@dataclass(frozen=True)
class Term:
    """A number, a variable (name), or an operation on other terms.

    variables: all that it depends on. size: number of operations.
    """

    apply: Callable[..., Any] | None = None
    parts: tuple[Term, ...] = ()
    name: str = ""
    number: float = 0.0
    variables: frozenset[str] = frozenset()
    size: int = 1

    def value(self, values: Mapping[str, FloatArray]) -> Any:
        """Its value at arrays of the variables' values."""
        if self.apply is not None:
            return self.apply(*(part.value(values) for part in self.parts))
        return values[self.name] if self.name else self.number


ONE = Term(number=1.0)


def parse(text: str, variables: tuple[str, ...], where: str) -> Term:
    """The term that a text in Lepton's language means; after semicolons it may define other names.

    Raises:
        FormatError: it means none, or has an unknown name; the message begins with where.
    """
    if len(text) > LONGEST:
        raise FormatError(f"{where}: an expression has {len(text)} characters, more than {LONGEST}")
    whole, *rest = "".join(text.split()).replace("^", "**").split(";")
    known = {name: Term(name=name, variables=frozenset((name,))) for name in variables}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            for definition in reversed([part for part in rest if part]):
                name, _, meaning = definition.partition("=")
                known[name] = _term(ast.parse(meaning, mode="eval").body, known, DEEPEST)
            return _term(ast.parse(whole, mode="eval").body, known, DEEPEST)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise FormatError(f"{where}: the expression {text!r:.80} is not understood: {error}") from error


def _term(node: ast.expr, known: Mapping[str, Term], room: int) -> Term:
    if not room:
        raise ValueError(f"it is nested deeper than {DEEPEST}")
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    ):
        return Term(number=float(node.value))
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        inner = _term(node.operand, known, room - 1)
        return inner if isinstance(node.op, ast.UAdd) else _made("*", np.multiply, Term(number=-1.0), inner)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        parts = (_term(part, known, room - 1) for part in (node.left, node.right))
        return _made(*OPERATIONS[type(node.op)], *parts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        count, apply = FUNCTIONS.get(node.func.id, (0, np.add))
        if count == len(node.args) > 0:
            return _made(node.func.id, apply, *(_term(part, known, room - 1) for part in node.args))
    raise ValueError(f"{ast.unparse(node)!r:.40} is unknown")


def _made(name: str, apply: Callable[..., Any], *parts: Term) -> Term:
    variables = frozenset[str]().union(*(part.variables for part in parts))
    if (size := 1 + sum(part.size for part in parts)) > LONGEST:
        raise ValueError(f"it has more than {LONGEST} operations")
    if variables:
        return Term(apply, parts, name, variables=variables, size=size)
    with np.errstate(all="ignore"):
        return Term(number=float(apply(*(np.float64(part.number) for part in parts))))


@dataclass(frozen=True)
class Resolved:
    """A force f(x) + c(x) x' + d(x') of a value x and its rate; None where there is no such part, d(0) = 0."""

    by_value: Function | None
    by_both: Function | None
    by_rate: Function | None


def resolved(text: str, value: str, rate: str, span: tuple[float, float], where: str) -> Resolved:
    """The parts of the force that an expression of a value and its rate means, given their names in it.

    Polynomials are exact; others are tables within 1e-12 of their largest value nearby, for values within the span and
    rates within 100.

    Raises:
        FormatError: it means none, is another function of both, or is not finite within the span.
    """
    try:
        return _resolved(parse(text, (value, rate), where), value, rate, span, where)
    except FormatError:
        raise
    except ValueError as error:
        raise FormatError(f"{where}: {error}") from error


def _resolved(term: Term, value: str, rate: str, span: tuple[float, float], where: str) -> Resolved:
    elastic: list[Term] = []
    viscous: list[Term] = []
    damping: list[Term] = []
    for own, other in _products(term, value):
        line = _polynomial(other, rate)
        if line is not None and len(line) == 2:
            elastic += [_times(own, Term(number=line[0]))] if line[0] or not line[1] else []
            viscous += [_times(own, Term(number=line[1]))] if line[1] else []
        elif not own.variables:
            damping.append(_times(own, other))
        else:
            raise FormatError(f"{where}: no product of a function of {value} and one of {rate} is supported")
    at_rest = [_sum(damping).value({rate: np.zeros(1)})] if damping else []
    elastic += [Term(number=float(np.ravel(shift)[0])) for shift in at_rest]
    damping += [Term(number=-float(np.ravel(shift)[0])) for shift in at_rest]
    by_value, by_both = (
        function_of(_sum(terms), value, span, where) if terms else None for terms in (elastic, viscous)
    )
    by_rate = function_of(_sum(damping), rate, (-100.0, 100.0), where) if damping else None
    return Resolved(by_value, by_both, by_rate)


def function_of(term: Term, variable: str, span: tuple[float, float], where: str) -> Function:
    """A term of one variable as a function."""
    powers = _polynomial(term, variable)
    if powers is not None:
        return Linear(*powers[::-1]) if len(powers) == 2 else Polynomial(powers)

    def values(x: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(term.value({variable: x}), dtype=np.float64), x.shape)

    return tabulated(values, *span, where)


def _times(a: Term, b: Term) -> Term:
    if a == ONE or b == ONE:
        return b if a == ONE else a
    return _made("*", np.multiply, a, b)


def _sum(terms: list[Term]) -> Term:
    total, *rest = terms
    for term in rest:
        total = _made("+", np.add, total, term)
    return total


def _products(term: Term, value: str) -> list[tuple[Term, Term]]:
    """A term as a sum of products of a part of the value and a part of the other variable."""
    if term.variables <= {value}:
        return [(term, ONE)]
    if value not in term.variables:
        return [(ONE, term)]
    if term.name in ("+", "-"):
        sign = Term(number=1.0 if term.name == "+" else -1.0)
        first, second = (_products(part, value) for part in term.parts)
        return first + [(_times(sign, own), other) for own, other in second]
    if term.name == "*":
        first, second = (_products(part, value) for part in term.parts)
        if len(first) * len(second) <= LONGEST:
            return [(_times(a, c), _times(b, d)) for a, b in first for c, d in second]
    if term.name == "/" and (term.parts[1].variables <= {value} or value not in term.parts[1].variables):
        below = _made("/", np.divide, ONE, term.parts[1])
        return _products(_made("*", np.multiply, term.parts[0], below), value)
    if power := _power(term):
        base = whole = term.parts[0]
        for _ in range(power - 1):
            whole = _made("*", np.multiply, whole, base)
        return _products(whole, value)
    return [(term, term)]  # which is no product of parts; `resolved` refuses it


def _power(term: Term) -> int:
    """The exponent of a whole power up to POWERS; 0 for other terms."""
    fixed = term.name == "^" and not term.parts[1].variables
    power = {"square": 2.0, "cube": 3.0}.get(term.name, term.parts[1].number if fixed else 0.0)
    return int(power) if power in range(1, POWERS + 1) else 0


def _polynomial(term: Term, variable: str) -> FloatArray | None:
    """Coefficients (2 or more) by rising powers of the variable, None for other functions."""
    if not term.variables:
        return np.array([term.number, 0.0])
    if term.apply is None:
        return np.array([0.0, 1.0])
    parts = [_polynomial(part, variable) for part in term.parts]
    if any(part is None for part in parts):
        return None
    first, last = parts[0], parts[-1]
    found: Any = None
    if term.name in ("+", "-"):
        size = max(len(part) for part in parts if part is not None)
        first, last = (np.pad(part, (0, size - len(part))) for part in parts if part is not None)
        found = first + last if term.name == "+" else first - last
    elif term.name == "*":
        found = np.convolve(first, last)  # type: ignore[arg-type]
    elif term.name == "/" and not term.parts[1].variables:
        found = first / last[0]  # type: ignore[index]
    elif power := _power(term):
        found = first
        for _ in range(power - 1):
            found = np.convolve(found, first)  # type: ignore[arg-type]
    if found is None or not np.isfinite(found).all():
        return None
    kept = max(int(np.max(np.flatnonzero(found), initial=1)), 1)
    result: FloatArray = found[: kept + 1]
    return result
