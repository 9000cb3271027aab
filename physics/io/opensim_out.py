"""Parts of OpenSim files to write: elements, names, frames, functions, splines and expressions for them."""

import re
from collections.abc import Callable, Iterable
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..errors import ModelError
from ..joints import CubicSpline, Function, Linear, PiecewiseLinear, Polynomial, Wave
from .opensim_tables import pieces
from .opensim_xml import numbered

FORBIDDEN = re.compile(r"[\\/*+\s]")  # in OpenSim's names
KNOTS = (5, 9, 17, 33, 65, 129, 257, 513)
SAMPLES = 8  # between two knots, where the error of a spline is measured
PIECES = 30  # most pieces of a function that is written as an expression


def made(tag: str, *children: Element, name: str = "", **values: Any) -> Element:
    """An element with children and, for each value, an entry of that tag."""
    element = Element(tag, {"name": name} if name else {})
    element.extend(children)
    for key, value in values.items():
        entry = Element(key)
        entry.text = written(value)
        element.append(entry)
    return element


def written(value: Any) -> str:
    """A value as OpenSim's files have it, numbers without loss."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    return " ".join(repr(float(x)) for x in np.ravel(np.asarray(value, dtype=np.float64)))


def collection(tag: str, members: Iterable[Element]) -> Element:
    """A set of objects."""
    return made(tag, made("objects", *members), name=tag.lower())


class Names:
    """Names that OpenSim allows, different for different things."""

    def __init__(self, *taken: str) -> None:
        self._taken = set(taken)

    def __call__(self, wanted: str) -> str:
        """The name, with underscores for what is not allowed, numbered if it is taken."""
        name = numbered(FORBIDDEN.sub("_", wanted) or "unnamed", self._taken)
        self._taken.add(name)
        return name


def offset(name: str, parent: str, pose: FloatArray) -> Element:
    """A frame at a pose (4, 4) in another one, given by its path."""
    place = {"translation": pose[:3, 3], "orientation": angles(pose[:3, :3])}
    return made("PhysicalOffsetFrame", name=name, socket_parent=parent, **place)


def angles(turn: FloatArray) -> FloatArray:
    """Body-fixed angles (3,) about x, y and z of a rotation (3, 3), the last by what the first two leave."""
    a, b, _ = kernels.algebra.euler.angles_of(tuple(turn.ravel().tolist()), 0, 1, 2)
    # x and y axes of the frame that the first two angles turn
    x = np.array([np.cos(b), np.sin(a) * np.sin(b), -np.cos(a) * np.sin(b)])
    y = np.array([0.0, np.cos(a), np.sin(a)])
    return np.array([a, b, np.arctan2(y @ turn[:, 0], x @ turn[:, 0])])


def function_element(function: Function) -> Element | None:
    """A function as one of OpenSim's; None if there is none."""
    if isinstance(function, Linear):
        if function.slope == 0.0:
            return made("Constant", value=function.offset)
        return made("LinearFunction", coefficients=[function.slope, function.offset])
    if isinstance(function, Polynomial):
        return made("PolynomialFunction", coefficients=function.coefficients[::-1])
    if isinstance(function, Wave):
        size, phase = np.hypot(function.sine, function.cosine), np.arctan2(function.cosine, function.sine)
        return made("Sine", amplitude=size, omega=1.0, phase=phase, offset=function.offset)
    if isinstance(function, PiecewiseLinear):
        return made("PiecewiseLinearFunction", x=function.x, y=function.y)
    if isinstance(function, CubicSpline) and (function.ends == "simm" or len(function.x) == 2):
        return made("SimmSpline", x=function.x, y=function.y)
    return None


def splines(
    values: Callable[[FloatArray], FloatArray],
    miss: Callable[[list[CubicSpline], FloatArray], float],
    span: tuple[float, float],
    tolerance: float,
) -> tuple[list[CubicSpline], float]:
    """SimmSplines through values (n, k) of numbers (n,) in a span, and their error.

    Args:
        miss: the error of splines at numbers (n,).

    Raises:
        ModelError: with the most knots it exceeds the tolerance.
    """
    least = np.inf
    for count in KNOTS:
        x = np.linspace(*span, count)
        found = [CubicSpline(x, column) for column in values(x).T]
        error = miss(found, np.linspace(*span, SAMPLES * (count - 1) + 1))
        least = min(least, error)
        if error <= tolerance:
            return found, error
    raise ModelError(f"the error of its splines is {least:.3g}, above the tolerance {tolerance:g}")


def function_or_spline(
    function: Function, span: tuple[float, float], tolerance: float
) -> tuple[Element, float]:
    """OpenSim's function, else a spline within the tolerance in a span, and its error."""
    exact = function_element(function)
    if exact is not None:
        return exact, 0.0

    def miss(found: list[CubicSpline], x: FloatArray) -> float:
        return float(np.abs(found[0](x) - function(x)).max())

    (spline,), error = splines(lambda x: function(x)[:, None], miss, span, tolerance)
    return made("SimmSpline", x=spline.x, y=spline.y), error


def expression(function: Function, x: str) -> str:
    """A function of the variable x in Lepton's language; ModelError if it is too long or has no such form."""
    if isinstance(function, Linear):
        return f"({function.slope!r}*{x}+({function.offset!r}))"
    if isinstance(function, Wave):
        return f"({function.sine!r}*sin({x})+({function.cosine!r})*cos({x})+({function.offset!r}))"
    if isinstance(function, Polynomial):
        return _horner(function.coefficients, x)
    table = pieces(function)
    if table is None or len(table.coefficients) > PIECES:
        raise ModelError(f"a function of type {function.type!r} cannot be written as an expression")
    steps = [f"step({x}-({at!r}))" for at in table.x]
    ends = [
        _horner(table.derivatives(at)[:2].tolist(), f"({x}-({at!r}))") for at in (table.x[0], table.x[-1])
    ]
    parts = [f"{ends[0]}*(1-{steps[0]})", f"{ends[1]}*{steps[-1]}"]
    for k, row in enumerate(table.coefficients):
        parts.append(f"{_horner(row, f'({x}-({table.x[k]!r}))')}*({steps[k]}-{steps[k + 1]})")
    return f"({'+'.join(parts)})"


def _horner(powers: Any, x: str) -> str:
    first, *rest = powers
    return f"({float(first)!r}+{x}*{_horner(rest, x)})" if rest else f"({float(first)!r})"
