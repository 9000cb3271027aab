"""Hybrid dynamics: the torques of a prescribed motion reproduce it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray

from .claim import Measurement, Plot, claim
from .generators import chain, unit_vector

LINKS, DURATION = 20, 0.5
STEPS = (4e-3, 2e-3, 1e-3)
DRIVEN = tuple(range(0, LINKS, 2))


def driven_chain() -> Any:
    """Rods of 0.3 m with hinges in random directions."""
    rng = np.random.default_rng(11)
    axes = [unit_vector(rng) for _ in range(LINKS)]
    return chain(LINKS, lambda index: ph.joints.Hinge(axes[index]))


def given_accelerations(model: Any, time: float) -> dict[str, float]:
    """Accelerations of every other hinge, as in a swinging limb."""
    names = model.coordinate_names
    return {names[d]: 8.0 * np.cos(9.0 * time + d) for d in DRIVEN}


def runge_kutta(
    model: Any, dt: float, accelerations: Callable[[Any], FloatArray]
) -> tuple[FloatArray, FloatArray, list[Any]]:
    """Times (T,), coordinates (T, nv) and states of a motion from rest by RK4."""
    times = dt * np.arange(round(DURATION / dt) + 1)
    q, qd = 0.3 * np.cos(np.arange(LINKS)), np.zeros(LINKS)
    states = []
    for time in times:
        stages: list[tuple[FloatArray, FloatArray]] = []
        for share in (0.0, 0.5, 0.5, 1.0):
            dq, dqd = stages[-1] if stages else (qd, qd)
            x, v = (q + share * dt * dq, qd + share * dt * dqd) if stages else (q, qd)
            state = model.state(q=x, qd=v, time=time + share * dt)
            if not stages:
                states.append(state)
            stages.append((v, accelerations(state)))
        weights = (1.0, 2.0, 2.0, 1.0)
        q = q + dt / 6.0 * sum(w * v for w, (v, _) in zip(weights, stages))
        qd = qd + dt / 6.0 * sum(w * a for w, (_, a) in zip(weights, stages))
    return times, np.array([state.q for state in states]), states


def difference(model: Any, dt: float) -> float:
    """Largest deviation from the prescribed motion of a coordinate under the returned torques [rad]."""
    from scipy.interpolate import make_interp_spline

    def hybrid(state: Any) -> Any:
        return ph.hybrid_dynamics(model, state, given_accelerations(model, state.time))

    times, prescribed, states = runge_kutta(model, dt, lambda state: hybrid(state).qdd)
    torques = make_interp_spline(times, [hybrid(state).tau for state in states], k=5)
    fed = runge_kutta(model, dt, lambda state: ph.forward_dynamics(model, state, torques(state.time)))[1]
    return float(np.abs(fed - prescribed).max())


@cache
def differences() -> tuple[float, ...]:
    model = driven_chain()
    return tuple(difference(model, dt) for dt in STEPS)


@claim("dynamics.hybrid_fed_back", unit="rad", source="Wang 2022, sec. 4.6.5", at_most=1e-8)
def hybrid_fed_back() -> Measurement:
    """A chain of 20 links with half of its joints prescribed for 0.5 s, and the same chain under the torques that this
    needs (known at the steps, RK4 of 1 ms): largest difference of any angle.
    """
    errors = differences()
    plot = Plot(
        "hybrid",
        "Returned torques fed back",
        "step [s]",
        "largest difference [rad]",
        {"RK4": (list(STEPS), list(errors))},
        "xy",
    )
    return Measurement(errors[-1], {"errors": list(errors)}, (plot,))


@claim("dynamics.hybrid_order", source="Wang 2022, sec. 4.6.5", at_least=3.8)
def hybrid_order() -> Measurement:
    """Order in which that difference decreases with the step of RK4, from 4 ms to 1 ms."""
    errors = differences()
    slope = float(np.polyfit(np.log(STEPS), np.log(errors), 1)[0])
    return Measurement(slope, {"errors": list(errors)})
