"""Integrators, one file per family: each method in ``METHODS`` of a module of this package."""

from __future__ import annotations

from .. import registry
from ..model.model import Model
from .base import Method, Problem

#: every method by its name
INTEGRATORS: dict[str, Method] = {
    method.name: method
    for module in registry.modules_of(__name__, __path__)
    for method in getattr(module, "METHODS", ())
}
FIXED_STEP = tuple(name for name, method in INTEGRATORS.items() if method.number >= 0)


def check_method(model: Model, name: str) -> None:
    """ModelError if a method does not support a model.

    Adaptive methods have no impulses; the event-driven one has none at corners and no muscle states.
    """
    INTEGRATORS[name].check(model)


__all__ = ["FIXED_STEP", "INTEGRATORS", "Method", "Problem", "check_method"]
