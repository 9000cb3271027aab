"""Methods that carry a model through time, one file a family; a new one adds one entry to the registry."""

from __future__ import annotations

from collections.abc import Callable

from ..model import State
from ..result import Result
from .adaptive import integrate_adaptive
from .base import Problem
from .fixed_step import integrate_fixed_step

Integrate = Callable[[Problem, str, State], Result]

INTEGRATORS: dict[str, Integrate] = {
    "symplectic_euler": integrate_fixed_step,
    "forward_euler": integrate_fixed_step,
    "rk4": integrate_fixed_step,
    "RK45": integrate_adaptive,
    "DOP853": integrate_adaptive,
    "LSODA": integrate_adaptive,
}

__all__ = ["INTEGRATORS", "Integrate", "Problem"]
