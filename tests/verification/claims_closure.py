"""Closed loops over minutes: drift, energy, forces, and curve joints with their inverses."""

from typing import Any

import numpy as np

import physics as ph
from physics.dynamics.constraint_wrenches import constraint_wrenches

from .claim import Measurement, claim
from .claims_dynamics import norm
from .mechanisms import LOOPS, closure, rider_alone, there_and_back

STEP = 1e-3
PICTURES = 1.0 / 24.0  # s: not a multiple of the step
SAMPLES = 0.02  # s: a multiple of the step
MINUTE = 60.0


def drifts(names: tuple[str, ...], duration: float, integrator: str) -> Measurement:
    """The largest violation of closure of the mechanisms, with the solver's drift statistics."""
    details: dict[str, Any] = {}
    for name in names:
        model, state = LOOPS[name]()
        result = ph.simulate(model, state, duration, STEP, integrator, record_interval=PICTURES)
        told = result.info["constraints"]
        details[name] = {
            "closure": closure(model, result.poses),
            "before the projection of a step": told["drift"],
            "steps unmet": told["steps_unmet"],
            "way of the coordinates": float(np.ptp(result.q, axis=0).max()),
        }
    return Measurement(max(entry["closure"] for entry in details.values()), details)


NAMES = tuple(LOOPS)
DRIFT = (
    "four-bar linkage, slider-crank, one of Jansen's legs, a ring of eight spline joints, and a curve joint with its "
    "inverse, released for {:g} s of {} at 1 ms: largest distance of frames that close a loop, from the bodies' poses"
)
# Bounds: the project promises 1e-8; each step ends with rows within 1e-12.
for id, seconds, integrator, method, cost in (
    ("quick", 2.0, "symplectic_euler", "symplectic Euler", "quick"),
    ("minute_symplectic_euler", MINUTE, "symplectic_euler", "symplectic Euler", "slow"),
    ("minute_rk4", MINUTE, "rk4", "RK4", "slow"),
):
    shared = {"unit": "m, rad", "source": "Wang 2022, sec. 3.11", "at_most": 1e-8}
    text = DRIFT.format(seconds, method)
    claim(f"closure.{id}", text, **shared, cost=cost, names=NAMES, duration=seconds, integrator=integrator)(
        drifts
    )


def energy_drift(name: str) -> tuple[float, float]:
    """Energy drift over the swing, RK4 for 5 s; and its increase from the first second to the last."""
    model, state = LOOPS[name]()
    energy = ph.simulate(model, state, 5.0, STEP, "rk4", record_interval=SAMPLES).energy
    return float(np.abs(energy[:, 2] - energy[0, 2]).max()), float(np.ptp(energy[:, 0]))


@claim("closure.energy", at_most=1e-7)
def energy() -> Measurement:
    """Energy drift over the swing of the undamped linkages with hinges (four-bar, slider-crank, Jansen's leg), RK4, 5 s
    at 1 ms: largest.
    """
    found = {name: energy_drift(name) for name in ("four-bar", "slider-crank", "Jansen's leg")}
    shares = {name: change / swing for name, (change, swing) in found.items()}
    return Measurement(max(shares.values()), shares)


def force_differences(name: str, moments: int = 2) -> dict[str, float]:
    """Accelerations and the closure's generalized forces against one system of all bodies, during motion."""
    model, state = LOOPS[name]()
    result = ph.simulate(model, state, 1.0, STEP, "rk4", record_interval=1.0 / moments)
    rng = np.random.default_rng(4)
    worst = {"accelerations": 0.0, "push": 0.0}
    for q, qd in zip(result.q[1:], result.qd[1:]):
        now = ph.assemble(model, model.state(q=q, qd=qd))
        tau = rng.standard_normal(model.num_coordinates)
        system = ph.constrained_bodies(model, now, tau)
        found = ph.constrained_dynamics(model, now, tau)
        maximal = ph.maximal_coordinates(model, now)
        rates = maximal.jacobian_product(found.qdd) + maximal.jacobian_rate_product
        pushes = [
            maximal.jacobian_transpose_product(wrenches)
            for wrenches in (constraint_wrenches(maximal, found.forces), system.constraint_wrenches)
        ]
        for key, ours, theirs in (("accelerations", rates, system.accelerations), ("push", *pushes)):
            worst[key] = max(worst[key], norm(ours - theirs) / norm(theirs))
    return worst


@claim("closure.forces", source="Wang 2022, eqs. 3.40 and 4.101", at_most=1e-9)
def forces() -> Measurement:
    """The same five mechanisms in motion, under random torques: accelerations of all bodies, and generalized forces of
    the closures (redundant rows leave the multipliers undetermined), against one system of all bodies with joints and
    closures as rows: largest relative difference.
    """
    details = {name: force_differences(name) for name in NAMES}
    return Measurement(max(max(entry.values()) for entry in details.values()), details)


@claim("closure.curve_and_inverse", source="Lee & Terzopoulos 2008, Fig. 5c", at_most=1e-9)
def curve_and_inverse() -> Measurement:
    """A body on a spline curve, with a second one on it by the inverted curve that is welded to the world: largest
    difference of either coordinate from the motion of the body alone, 3 s of RK4 at 1 ms.
    """
    runs = [
        ph.simulate(*make(), 3.0, STEP, "rk4", record_interval=SAMPLES)
        for make in (there_and_back, rider_alone)
    ]
    apart = float(np.abs(runs[0].q - runs[1].q).max())
    return Measurement(apart, {"way of the coordinate": float(np.ptp(runs[1].q))})
