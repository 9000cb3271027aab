"""The class of claims, and the decorator that declares one."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

COSTS = ("quick", "slow")


class Skipped(Exception):
    """Raised by a claim that cannot be measured here; the message names what is missing."""


@dataclass(frozen=True)
class Plot:
    """Lines that illustrate a claim; claims with the same plot name share a picture.

    Attributes:
        name: file name without suffix.
        title, x_label, y_label: as printed.
        lines: label -> (x values, y values).
        logarithmic: which axes are logarithmic: "", "x", "y" or "xy".
    """

    name: str
    title: str
    x_label: str
    y_label: str
    lines: Mapping[str, tuple[Any, Any]]
    logarithmic: str = ""


@dataclass(frozen=True)
class Measurement:
    """A measured figure; details go into the report's JSON, plots into pictures."""

    figure: float
    details: Mapping[str, Any] = field(default_factory=dict)
    plots: tuple[Plot, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A statement with a number, and the function that measures the number.

    Attributes:
        id: dotted name, "subject.figure".
        statement: one phrase that names the measured quantity and its object.
        unit: of the figure ("1" for a pure number).
        source: paper and equation, or "own".
        cost: "quick" claims run in the default tests, "slow" ones only on request.
        at_most, at_least: the bound; both together make a range.
        function: the measuring function.
    """

    id: str
    statement: str
    unit: str
    source: str
    cost: str
    at_most: float | None
    at_least: float | None
    function: Callable[[], float | Measurement]

    def measure(self) -> Measurement:
        """Run the claim once."""
        measured = self.function()
        return measured if isinstance(measured, Measurement) else Measurement(float(measured))

    def holds(self, figure: float) -> bool:
        """Whether the figure is within the bound; false for one that is not finite."""
        if not math.isfinite(figure):
            return False
        above = self.at_least is None or figure >= self.at_least
        below = self.at_most is None or figure <= self.at_most
        return above and below

    @property
    def bound(self) -> str:
        """The bound as text."""
        if self.at_least is None:
            return f"<= {self.at_most:g}"
        if self.at_most is None:
            return f">= {self.at_least:g}"
        return f"{self.at_least:g} to {self.at_most:g}"


REGISTRY: dict[str, Claim] = {}


def claim(
    id: str,
    statement: str = "",
    *,
    unit: str = "1",
    source: str = "own",
    cost: str = "quick",
    at_most: float | None = None,
    at_least: float | None = None,
    **arguments: Any,
) -> Callable[[Callable[..., float | Measurement]], Callable[..., float | Measurement]]:
    """Declare a claim on what the decorated function returns for these arguments.

    Without a statement, the function's docstring is the statement. Names in braces are arguments or names of the
    function's module.

    Raises:
        ValueError: the id is already used, the cost is unknown, or there is no bound.
    """
    if id in REGISTRY:
        raise ValueError(f"claim {id!r} is declared twice")
    if cost not in COSTS:
        raise ValueError(f"claim {id!r}: cost must be one of {COSTS}, not {cost!r}")
    if at_most is None and at_least is None:
        raise ValueError(f"claim {id!r} has no bound")

    def declare(function: Callable[..., float | Measurement]) -> Callable[..., float | Measurement]:
        text = statement or " ".join((function.__doc__ or "").split()).removesuffix(".")
        text = text.format_map(function.__globals__ | arguments)
        if not statement and not text[1:2].isupper():
            text = text[:1].lower() + text[1:]
        measure = partial(function, **arguments)
        REGISTRY[id] = Claim(id, text, unit, source, cost, at_most, at_least, measure)
        return function

    return declare
