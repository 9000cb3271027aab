"""Scenes of mechanisms with loops, ground and prescribed motions: their accuracy, and the time of a step."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import physics as ph
from blender_scenes import hand_model, jumper_model, rod_model, walker_model

from .claim import Measurement, claim
from .step_search import largest_step

WALK = 60.0  # s


@claim(
    "scenes.walker_closure",
    f"largest violation of the 36 hinges that close the loops of a machine on twelve of Jansen's legs in "
    f"{WALK:g} s of walking, steps of {1e3 * walker_model.TIME_STEP:.2f} ms",
    unit="m",
    source="own",
    cost="slow",
    at_most=1e-8,
)
def walker_closure() -> Measurement:
    model = walker_model.build_model()
    began = time.perf_counter()
    result = ph.simulate(
        model,
        walker_model.start(model),
        WALK,
        walker_model.TIME_STEP,
        motions=walker_model.drive(WALK),
        record_interval=0.025,
    )
    spent = time.perf_counter() - began
    details = {
        "way [m]": float(result.poses[-1, 0, 0, 3]),
        "seconds a step": spent / result.info["steps"],
        "solver": result.info["constraints"],
    }
    return Measurement(walker_model.closure(model, result.poses), details)


@claim(
    "scenes.hand_hyper_reduced",
    "accelerations of an open, moving hand of 25 degrees of freedom with coupled fingertips: as constraints "
    "against hyper-reduced coordinates, over the largest acceleration",
    unit="1",
    source="Wang 2022, sec. 4.6.2",
    cost="slow",
    at_most=1e-11,
)
def hand_hyper_reduced() -> float:
    reduced, constrained = hand_model.free_accelerations()
    return float(np.abs(reduced - constrained).max() / np.abs(reduced).max())


@claim(
    "scenes.hand_fingertips",
    f"largest error of a fingertip or a coupling while elbow and ball follow prescribed motions, "
    f"{hand_model.SECONDS:g} s",
    unit="m, rad",
    source="Wang 2022, sec. 6.1.3",
    cost="slow",
    at_most=1e-10,
)
def hand_fingertips() -> Measurement:
    model = hand_model.the_model()
    result = ph.simulate(
        model, hand_model.start(model), hand_model.SECONDS, hand_model.TIME_STEP, motions=hand_model.motions()
    )
    tips, couplings = hand_model.tip_gap(result), hand_model.coupling_gap(result)
    details = {"fingertips [m]": tips, "couplings [rad]": couplings, "work": hand_model.work_balance(result)}
    return Measurement(max(tips, couplings), details)


@claim(
    "scenes.rod_energy",
    "energy of three falling rods against the dissipation by damping and friction of the ground by eq. 8, over the "
    "initial energy; work by the trapezoidal rule, which crosses the jump of the damping force at touch-down",
    unit="1",
    source="Ertl et al. 1993, eq. 8",
    cost="slow",
    at_most=0.01,
)
def rod_energy() -> Measurement:
    model = rod_model.build_model()
    result = ph.simulate(model, rod_model.start(model), rod_model.SECONDS, rod_model.TIME_STEP, "rk4")
    found = rod_model.balance(result)
    return Measurement(float(found.max()), {f"d = {d:g}": x for d, x in zip(rod_model.DAMPINGS, found)})


@claim(
    "steps.rod_symplectic_euler",
    "largest step of symplectic Euler for the three falling rods: 10 s with the energy never above twice the initial",
    unit="ms",
    source="own",
    cost="slow",
    at_least=2.0,
)
def rod_symplectic_euler() -> float:
    model = rod_model.build_model()
    return largest_step(model, rod_model.start(model), 0.0, "symplectic_euler")


@claim(
    "steps.walker_symplectic_euler",
    "largest step, in multiples of the scene's, at which the machine on twelve legs walks 4 s upright (3 degrees), "
    "with its loops closed to 1e-8 m, and as far as at the scene's step within a tenth",
    unit="ms",
    source="own",
    cost="slow",
    at_least=6.0,
)
def walker_symplectic_euler() -> Measurement:
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


@claim(
    "scenes.jumper_momentum",
    "change of the jumping figure's angular momentum between take-off and landing, relative, rigid and with "
    f"wobbling masses; SDIRK2, steps of {1e3 * jumper_model.TIME_STEP:.2f} ms",
    unit="1",
    source="Ertl et al. 1993, Fig. 5",
    cost="slow",
    at_most=1e-5,
)
def jumper_momentum() -> Measurement:
    found, details = [], {}
    for wobbling, plan in ((False, jumper_model.RIGID), (True, jumper_model.WOBBLING_PLAN)):
        result = jumper_model.jump(jumper_model.build_model(wobbling), plan)
        course = jumper_model.course(result)
        turning = jumper_model.angular_momentum(result, slice(course.takeoff + 2, course.landing - 1))
        found.append(float(np.ptp(turning) / abs(turning.mean())))
        turned = np.degrees(result.q[course.touch, 2] - result.q[-1, 2])
        details["wobbling" if wobbling else "rigid"] = {
            "momentum [kg m^2/s]": float(turning.mean()),
            "flight [s]": float(result.t[course.landing] - result.t[course.takeoff]),
            "turned [degrees]": float(turned),
        }
    return Measurement(max(found), details)


TIMED = 1000  # steps


def step_time(model: Any, state: Any, dt: float, integrator: str, **options: Any) -> Measurement:
    """Milliseconds per step, the best of five runs, with compiled kernels."""
    rare = {"record_interval": TIMED * dt}
    ph.simulate(model, state, 10 * dt, dt, integrator, **options)
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        ph.simulate(model, state, TIMED * dt, dt, integrator, **rare, **options)
        seconds.append(time.perf_counter() - began)
    return Measurement(1e3 * min(seconds) / TIMED, {"coordinates": model.num_coordinates})


STEP = "time of a step of {}"


@claim(
    "time.rod_step",
    STEP.format("three rods, Runge-Kutta 4"),
    unit="ms",
    source="own",
    cost="slow",
    at_most=0.05,
)
def rod_step() -> Measurement:
    model = rod_model.build_model()
    return step_time(model, rod_model.start(model), rod_model.TIME_STEP, "rk4")


@claim(
    "time.walker_step",
    STEP.format("the machine on twelve legs: 74 bodies, 180 rows of constraints, the shaft prescribed"),
    unit="ms",
    source="own",
    cost="slow",
    at_most=15.0,
)
def walker_step() -> Measurement:
    model = walker_model.build_model()
    state, dt = walker_model.start(model), walker_model.TIME_STEP
    return step_time(model, state, dt, "symplectic_euler", motions=walker_model.drive())


@claim(
    "time.hand_step",
    STEP.format("the hand: 19 bodies, 19 rows of constraints, elbow and ball prescribed"),
    unit="ms",
    source="own",
    cost="slow",
    at_most=1.0,
)
def hand_step() -> Measurement:
    model = hand_model.the_model()
    state, dt = hand_model.start(model), hand_model.TIME_STEP
    return step_time(model, state, dt, "symplectic_euler", motions=hand_model.motions())


@claim(
    "time.jumper_step",
    STEP.format("the jumping figure with wobbling masses, 16 coordinates, SDIRK2"),
    unit="ms",
    source="own",
    cost="slow",
    at_most=0.5,
)
def jumper_step() -> Measurement:
    model, plan = jumper_model.build_model(True), jumper_model.WOBBLING_PLAN
    tau = jumper_model.controls(model, plan)
    return step_time(model, jumper_model.start(model, plan), jumper_model.TIME_STEP, "sdirk2", tau=tau)
