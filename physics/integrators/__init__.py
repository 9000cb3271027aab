"""Integrators, one file per family; a new one adds one entry to the registry."""

from __future__ import annotations

from ..model.model import Model
from . import adaptive, event_driven, fixed_step, implicit
from .base import Method, Problem

#: every method by its name
INTEGRATORS: dict[str, Method] = {
    method.name: method
    for method in (*fixed_step.METHODS, *implicit.METHODS, *adaptive.METHODS, *event_driven.METHODS)
}
FIXED_STEP = tuple(name for name, method in INTEGRATORS.items() if method.number >= 0)


def check_method(model: Model, name: str) -> None:
    """ModelError if a method does not support a model.

    Adaptive methods have no impulses; the event-driven one has none at corners and no muscle states.
    """
    INTEGRATORS[name].check(model)


__all__ = ["FIXED_STEP", "INTEGRATORS", "Method", "Problem", "check_method"]
