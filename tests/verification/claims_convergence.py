"""Convergence orders of fixed-step integrators on knees; claims_integrators has those of every method on a chain."""

from typing import Any

import numpy as np

import physics as ph

from .claim import Measurement, Plot, claim
from .claims_energy import NAMES
from .claims_joints import smooth_interval
from .knee import knee_model, released


def final(model: Any, state: Any, duration: float, dt: float, integrator: str) -> np.ndarray:
    """Coordinates and velocities at the end."""
    result = ph.simulate(
        model, state, duration=duration, dt=dt, integrator=integrator, record_interval=duration
    )
    return np.concatenate([result.q[-1], result.qd[-1]])


def order(
    label: str, model: Any, state: Any, integrator: str, duration: float, steps: tuple[float, ...]
) -> Measurement:
    """Slope of log(error) over log(step); the reference is RK4 at a tenth of the smallest step or 0.1 ms."""
    reference = final(model, state, duration, min(min(steps) / 10.0, 1e-4), "rk4")
    errors = [np.linalg.norm(final(model, state, duration, dt, integrator) - reference) for dt in steps]
    slope = float(np.polyfit(np.log(steps), np.log(errors), 1)[0])
    line = {f"{label}, {NAMES[integrator]}: {slope:.2f}": (list(steps), errors)}
    plot = Plot("convergence", "Convergence", "step [s]", "error at the end", line, "xy")
    return Measurement(slope, {"steps [s]": steps, "errors": errors}, (plot,))


# Steps small enough for the leading term to dominate, and large enough for errors above round-off.
FIRST_ORDER_STEPS = (2e-3, 1e-3, 5e-4, 2.5e-4)
FOURTH_ORDER_STEPS = (0.02, 0.01, 0.005, 0.0025)
DURATION = 0.5


def knee_order(spline_order: int, integrator: str, steps: tuple[float, ...], duration: float) -> Measurement:
    model = knee_model(spline_order)
    label = f"knee of order {spline_order}"
    return order(label, model, released(model, spline_order), integrator, duration, steps)


@claim("convergence.symplectic_euler_knee", at_most=1.05, at_least=0.95)
def symplectic_euler_knee() -> Measurement:
    """Order of symplectic Euler on the cubic knee."""
    return knee_order(4, "symplectic_euler", FIRST_ORDER_STEPS, DURATION)


@claim("convergence.rk4_knee_order_6", at_most=4.3, at_least=3.8)
def rk4_knee_order_6() -> Measurement:
    """Order of RK4 on the knee of spline order 6."""
    return knee_order(6, "rk4", FOURTH_ORDER_STEPS, DURATION)


@claim("convergence.rk4_knee_cubic_within_a_span", at_most=4.3, at_least=3.8)
def rk4_knee_cubic_within_a_span() -> Measurement:
    # A cubic's accelerations have kinks at the knots, so the order shows only between them.
    """Order of RK4 on the cubic knee while it stays within one knot span."""
    model = knee_model(4)
    joint = model.joints[0]
    knots = np.unique(joint.knots)
    middle = len(knots) // 2
    start = model.state(q=[0.6 * knots[middle] + 0.4 * knots[middle + 1]])
    duration = 0.08
    result = ph.simulate(model, start, duration=duration, dt=1e-3, integrator="rk4")
    lower, upper = smooth_interval(joint, 0, float(start.q[0]))
    if not (lower < result.q.min() and result.q.max() < upper):
        raise ValueError(f"the knee leaves its knot span [{lower:g}, {upper:g}]: q reaches {result.q[-1]}")
    return order("cubic knee between knots", model, start, "rk4", duration, FOURTH_ORDER_STEPS)
