"""Methods that carry a model through time, one file a family; a new one adds one entry to the registry."""

from __future__ import annotations

from collections.abc import Callable

from ..model import State
from ..result import Result
from .adaptive import integrate_adaptive
from .base import Problem
from .fixed_step import KERNEL_NUMBERS, integrate_fixed_step

Integrate = Callable[[Problem, str, State], Result]

FIXED_STEP = tuple(KERNEL_NUMBERS)

INTEGRATORS: dict[str, Integrate] = {
    **dict.fromkeys(FIXED_STEP, integrate_fixed_step),
    "RK45": integrate_adaptive,
    "DOP853": integrate_adaptive,
    "LSODA": integrate_adaptive,
}

__all__ = ["FIXED_STEP", "INTEGRATORS", "Integrate", "Problem"]
