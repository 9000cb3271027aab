"""Energy and momentum over seconds of undamped motion."""

from typing import Any

import numpy as np

import physics as ph

from .claim import Measurement, Plot, claim
from .generators import (
    JOINTS,
    TREE_JOINTS,
    chain,
    closed_frames,
    random_body,
    random_coordinates,
    spline_curve,
    surface,
    unit_vector,
)
from .knee import knee_model, released

DURATION = 10.0
STEP = 1e-3
NAMES = {"forward_euler": "forward Euler", "symplectic_euler": "symplectic Euler", "rk4": "RK4"}


def drift(
    label: str, model: Any, state: Any, integrator: str = "rk4", duration: float = DURATION
) -> Measurement:
    """Largest change of the total energy over the swing, which is the range of the kinetic energy."""
    result = ph.simulate(model, state, duration=duration, dt=STEP, integrator=integrator)
    kinetic, _, total = result.energy.T
    swing = np.ptp(kinetic)
    error = np.abs(total - total[0]) / swing
    every = max(1, len(error) // 2000)
    line = (result.t[1::every], np.maximum.accumulate(error)[1::every])
    plot = Plot(
        "energy_drift", "Energy drift at 1 ms", "time [s]", "drift so far / swing", {label: line}, "y"
    )
    details = {
        "swing [J]": swing,
        "drift at the end": error[-1],
        "largest q": result.q.max(),
        "least q": result.q.min(),
    }
    return Measurement(float(np.max(error)), details, (plot,))


def hinge_chain(num_bodies: int, seed: int) -> tuple[Any, Any]:
    """A chain of hinges about random axes, released from random angles of up to half a radian."""
    rng = np.random.default_rng(seed)
    axes = [unit_vector(rng) for _ in range(num_bodies)]
    model = chain(num_bodies, lambda index: ph.joints.Hinge(axes[index]))
    return model, model.state(q=rng.uniform(-0.5, 0.5, num_bodies))


@claim("energy.hinge_chain_rk4", at_most=1e-8)
def hinge_chain_rk4() -> Measurement:
    """Energy drift over the swing, chain of 5 hinges, RK4, 10 s at 1 ms."""
    return drift("5 hinges, RK4", *hinge_chain(5, seed=3))


KNEE = "energy drift over the swing, knee as a spline joint of order {order}, RK4, 10 s at 1 ms"
KNEE_SOURCE = "Lee & Terzopoulos 2008, eq. 26"
SYMPLECTIC = "largest energy error over the swing, {}, symplectic Euler, 100 s at 1 ms: bounded, no drift"
LONG = {"integrator": "symplectic_euler", "duration": 10.0 * DURATION}


@claim("energy.knee_symplectic_euler", SYMPLECTIC.format("cubic knee"), at_most=0.02, order=4, **LONG)
@claim("energy.knee_order_6_rk4", KNEE, source=KNEE_SOURCE, at_most=1e-8, order=6)
@claim("energy.knee_cubic_rk4", KNEE, source=KNEE_SOURCE, at_most=1e-5, order=4)
def knee_drift(order: int, integrator: str = "rk4", duration: float = DURATION) -> Measurement:
    model = knee_model(order)
    return drift(
        f"knee of order {order}, {NAMES[integrator]}", model, released(model, order), integrator, duration
    )


@claim("energy.hinge_chain_symplectic_euler", SYMPLECTIC.format("chain of 5 hinges"), at_most=0.02)
def hinge_chain_symplectic_euler() -> Measurement:
    return drift("5 hinges, symplectic Euler", *hinge_chain(5, seed=3), **LONG)


@claim("energy.spinning_body_momentum", source="Kim, Lee & Park 2014, eqs. 65-70", at_most=1e-8)
def spinning_body_momentum() -> Measurement:
    """Angular momentum of a free body that tumbles through a dozen chart changes, RK4, 10 s at 1 ms: largest change,
    relative.
    """
    inertia = np.diag([0.02, 0.03, 0.04])
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("body", joint=ph.joints.Free(), mass=1.0, inertia=inertia)
    model = builder.build()
    state = model.state(qd=[0.1, 0.2, 0.3, 3.0, 12.0, 1.0])  # about the middle axis: it flips repeatedly
    result = ph.simulate(model, state, duration=DURATION, dt=STEP, integrator="rk4")
    twists = np.array([model.joints[0].evaluate(q)[1] @ qd for q, qd in zip(result.q, result.qd)])
    momentum = np.einsum("tij,tj->ti", result.poses[:, 0, :3, :3], twists[:, :3] @ inertia)
    change = np.linalg.norm(momentum - momentum[0], axis=1) / np.linalg.norm(momentum[0])
    jumps = int(np.sum(np.linalg.norm(np.diff(result.q[:, 3:], axis=0), axis=1) > 1.0))
    return Measurement(float(np.max(change)), {"chart changes": jumps})


EVERY_JOINT_STEPS = (4e-3, 2e-3, 1e-3)


def chain_of_every_joint() -> tuple[Any, Any]:
    """A chain with one joint of every type, splines of an order that is smooth for RK4, in slow motion."""
    rng = np.random.default_rng(9)
    smooth = {
        "spline_curve": lambda rng: spline_curve(rng, order=6),
        "spline_curve_periodic": lambda rng: ph.joints.SplineCurve(
            closed_frames(rng, 12), order=6, periodic=True
        ),
        "spline_surface": lambda rng: surface(rng, shape=(8, 9), order=6),
        "spline_surface_inverted": lambda rng: ph.joints.Inverted(surface(rng, shape=(8, 9), order=6)),
        "spline_volume": lambda rng: surface(rng, shape=(7, 8, 7), order=6),
        "composite": lambda rng: ph.joints.Composite((spline_curve(rng, order=6), ph.joints.Hinge())),
    }
    kinds = [name for name in TREE_JOINTS if not name.startswith("spline_") and name != "composite"]
    makers = [JOINTS[name] for name in kinds] + list(smooth.values())
    builder = ph.ModelBuilder()
    body = None
    for index, make in enumerate(makers):
        values = random_body(rng, ("fixed",)) | {"joint": make(rng), "armature": 0.05, "stiffness": 20.0}
        rest, (low, high) = (
            random_coordinates(values["joint"], rng, largest_angle=0.5),
            values["joint"].range.T,
        )
        inside = np.isfinite(high - low)  # in the middle of it: at the ends of splines accelerations jump
        rest[inside] = 0.25 * (low[inside] + high[inside]) + 0.5 * rest[inside]
        body = builder.add_body(f"body {index}", parent=body, **values, rest=rest)
    model = builder.build()
    rest = np.concatenate([body.rest for body in model.bodies])
    return model, model.state(q=rest, qd=0.3 * rng.standard_normal(model.num_coordinates))


@claim("energy.every_joint_order", source="Lee & Terzopoulos 2008, eq. 26", at_least=3.8)
def every_joint_order() -> Measurement:
    """Order at which RK4 conserves the energy of a chain with a joint of every type, 0.2 s at 4, 2 and 1 ms (its steps
    lose energy at the fifth order).
    """
    model, state = chain_of_every_joint()
    errors = []
    for dt in EVERY_JOINT_STEPS:
        energy = ph.simulate(model, state, 0.2, dt, "rk4").energy
        errors.append(np.abs(energy[:, 2] - energy[0, 2]).max() / np.ptp(energy[:, 0]))
    slope = float(np.polyfit(np.log(EVERY_JOINT_STEPS), np.log(errors), 1)[0])
    return Measurement(slope, {"drift over the swing": dict(zip(EVERY_JOINT_STEPS, errors))})


TURNS = 1000


def thousand_turns(dt: float) -> tuple[float, float, int]:
    """Largest relative change of energy and of angular momentum over TURNS turns of a wobbling free body, and the
    number of chart changes.
    """
    inertia = np.diag([0.02, 0.03, 0.045])
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("body", joint=ph.joints.Spherical(), mass=1.0, inertia=inertia)
    model = builder.build()
    state = model.state(qd=[0.3, 0.2, 2.0 * np.pi])
    result = ph.simulate(model, state, float(TURNS), dt, "rk4", record_interval=0.05)
    momentum = []
    for q, qd in zip(result.q, result.qd):
        pose, subspace, _ = model.joints[0].evaluate(q)
        momentum.append(pose[:3, :3] @ inertia @ (subspace[:3] @ qd))
    start = momentum[0]
    change = np.linalg.norm(np.array(momentum) - start, axis=1).max() / np.linalg.norm(start)
    energy = np.abs(result.energy[:, 2] / result.energy[0, 2] - 1.0).max()
    return float(energy), float(change), int(result.info["chart_changes"])


@claim("energy.thousand_turns", source="Kim, Lee & Park 2014, eqs. 65-70", at_least=3.8, cost="slow")
def thousand_turns_order() -> Measurement:
    """Free body that wobbles through 1000 turns in exponential coordinates with reparametrization, RK4: order at which
    energy and angular momentum are conserved, at 20 and 10 ms (a jump at a change of chart would show as order 0).
    """
    steps = (0.02, 0.01)
    runs = [thousand_turns(dt) for dt in steps]
    orders = [float(np.log2(runs[0][k] / runs[1][k])) for k in range(2)]
    details = {
        "relative change of energy": [run[0] for run in runs],
        "relative change of angular momentum": [run[1] for run in runs],
        "chart changes": [run[2] for run in runs],
        "orders": orders,
    }
    return Measurement(min(orders), details)
