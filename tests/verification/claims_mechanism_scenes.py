"""Scenes of mechanisms with loops, ground and prescribed motions: their accuracy, and the time of a step."""

import time
from typing import Any

import numpy as np

import physics as ph
from blender_scenes import hand_model, jumper_model, rod_model, walker_model

from .claim import Measurement, claim
from .step_search import largest_step

WALK = 60.0  # s
WALKER_MS = 1e3 * walker_model.TIME_STEP


@claim("scenes.walker_closure", unit="m", at_most=1e-8, cost="slow")
def walker_closure() -> Measurement:
    """Largest violation of the 36 hinges that close the loops of a machine on twelve of Jansen's legs in {WALK:g} s of
    walking, steps of {WALKER_MS:.2f} ms.
    """
    model = walker_model.build_model()
    began = time.perf_counter()
    options = {"motions": walker_model.drive(WALK), "record_interval": 0.025}
    result = ph.simulate(model, walker_model.start(model), WALK, walker_model.TIME_STEP, **options)
    spent = time.perf_counter() - began
    details = {
        "way [m]": float(result.poses[-1, 0, 0, 3]),
        "seconds a step": spent / result.info["steps"],
        "solver": result.info["constraints"],
    }
    return Measurement(walker_model.closure(model, result.poses), details)


@claim("steps.rod_symplectic_euler", unit="ms", at_least=2.0, cost="slow")
def rod_symplectic_euler() -> float:
    """Largest step of symplectic Euler for the three falling rods: 10 s with the energy never above twice the
    initial.
    """
    model = rod_model.build_model()
    return largest_step(model, rod_model.start(model), 0.0, "symplectic_euler")


@claim("steps.walker_symplectic_euler", unit="ms", at_least=6.0, cost="slow")
def walker_symplectic_euler() -> Measurement:
    """Largest step, in multiples of the scene's, at which the machine on twelve legs walks 4 s upright (3 degrees),
    with its loops closed to 1e-8 m, and as far as at the scene's step within a tenth.
    """
    model = walker_model.build_model()
    largest, ways = 0.0, {}
    for multiple in (1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24):
        dt = multiple * walker_model.TIME_STEP
        try:
            result = ph.simulate(
                model, walker_model.start(model), 4.0, dt, motions=walker_model.drive(4.0), record_interval=dt
            )
        except ph.DivergedError:
            break
        frame = result.poses[:, 0]
        ways[f"{1e3 * dt:.2f} ms"] = float(frame[-1, 0, 3])
        first = next(iter(ways.values()))
        upright = frame[:, 2, 2].min() > np.cos(np.radians(3.0))
        if not upright or abs(frame[-1, 0, 3] - first) > 0.1 * first:
            break
        if walker_model.closure(model, result.poses) > 1e-8:
            break
        largest = 1e3 * dt
    return Measurement(largest, ways)


TIMED = 1000  # steps


def step_time(
    model: Any, state: Any, dt: float, integrator: str = "symplectic_euler", **options: Any
) -> Measurement:
    """Milliseconds per step, the best of five runs, with compiled kernels."""
    rare = {"record_interval": TIMED * dt}
    ph.simulate(model, state, 10 * dt, dt, integrator, **options)
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        ph.simulate(model, state, TIMED * dt, dt, integrator, **rare, **options)
        seconds.append(time.perf_counter() - began)
    return Measurement(1e3 * min(seconds) / TIMED, {"coordinates": model.num_coordinates})


@claim("time.rod_step", unit="ms", at_most=0.05, cost="slow")
def rod_step() -> Measurement:
    """Time of a step of three rods, Runge-Kutta 4."""
    model = rod_model.build_model()
    return step_time(model, rod_model.start(model), rod_model.TIME_STEP, "rk4")


@claim("time.walker_step", unit="ms", at_most=15.0, cost="slow")
def walker_step() -> Measurement:
    """Time of a step of the machine on twelve legs: 74 bodies, 180 rows of constraints, the shaft prescribed."""
    model = walker_model.build_model()
    state, dt = walker_model.start(model), walker_model.TIME_STEP
    return step_time(model, state, dt, "symplectic_euler", motions=walker_model.drive())


@claim("time.hand_step", unit="ms", at_most=1.0, cost="slow")
def hand_step() -> Measurement:
    """Time of a step of the hand: 19 bodies, 19 rows of constraints, elbow and ball prescribed."""
    model = hand_model.the_model()
    state, dt = hand_model.start(model), hand_model.TIME_STEP
    return step_time(model, state, dt, "symplectic_euler", motions=hand_model.motions())


@claim("time.jumper_step", unit="ms", at_most=0.5, cost="slow")
def jumper_step() -> Measurement:
    """Time of a step of the jumping figure with wobbling masses, 16 coordinates, SDIRK2."""
    model, plan = jumper_model.build_model(True), jumper_model.WOBBLING_PLAN
    tau = jumper_model.controls(model, plan)
    return step_time(model, jumper_model.start(model, plan), jumper_model.TIME_STEP, "sdirk2", tau=tau)
