"""Inputs of a model: numbers that change while it moves, which forces and controllers follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ModelError
from ..validation import number
from .base import checked_name


@dataclass(frozen=True)
class Input:
    """A number that changes while the model moves.

    Attributes:
        name: unique among the model's inputs.
        value: what it is where nothing drives it.
    """

    name: str
    value: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """JSON-able description."""
        return {"name": self.name, "value": self.value}


def make_input(name: Any, value: Any, known: Sequence[Input]) -> Input:
    """Check and make an input; ModelError names it and the value."""
    checked_name(name, "input")
    if any(other.name == name for other in known):
        raise ModelError(f"there is an input named {name!r} already")
    return Input(name, number(value, f"value of input {name!r}"))
