"""Integrators, one file per family; a new one adds one entry to the registry."""

from __future__ import annotations

from collections.abc import Callable

from ..bodies.state import State
from ..model.model import Model
from ..model.result import Result
from .adaptive import integrate_adaptive
from .base import ADAPTIVE, Problem, refuse_corners, refuse_impulses, refuse_muscle_states
from .event_driven import integrate_event_driven
from .fixed_step import KERNEL_NUMBERS, integrate_fixed_step
from .implicit import KERNEL_NUMBERS as IMPLICIT_NUMBERS
from .implicit import integrate_implicit

Integrate = Callable[[Problem, str, State], Result]

FIXED_STEP = (*KERNEL_NUMBERS, *IMPLICIT_NUMBERS)

INTEGRATORS: dict[str, Integrate] = {
    **dict.fromkeys(KERNEL_NUMBERS, integrate_fixed_step),
    **dict.fromkeys(IMPLICIT_NUMBERS, integrate_implicit),
    **dict.fromkeys(ADAPTIVE, integrate_adaptive),
    "event_driven": integrate_event_driven,
}


def check_method(model: Model, name: str) -> None:
    """ModelError if a method does not support a model.

    Adaptive methods have no impulses; the event-driven one has none at corners and no muscle states.
    """
    if name in ADAPTIVE:
        refuse_impulses(model, name)
    elif name == "event_driven":
        refuse_muscle_states(model, name)
        refuse_corners(model, name)


__all__ = ["FIXED_STEP", "INTEGRATORS", "Integrate", "Problem", "check_method"]
