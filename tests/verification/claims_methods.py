"""Requirements on every method: closed loops, rest on limits and contacts, impacts at their instants."""

from typing import Any

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.contacts import Plane

from .claim import Measurement, claim
from .claims_contacts import RESIDUAL_SOURCE, dropped_rod, slope, stack
from .claims_impacts import struck_tree
from .mechanisms import LOOPS, closure
from .plane_models import LENGTH, MASS, PLANE, THETA

IMPLICIT = ("linearly_implicit_euler", "bdf1", "sdirk2")
RESTING = ("symplectic_euler", "forward_euler", "rk4", *IMPLICIT, "event_driven")


IMPLICIT_CLOSURE: dict[str, Any] = {"unit": "m, rad", "source": "Wang 2022, sec. 3.11", "at_most": 1e-8}


@claim("closure.minute_implicit", cost="slow", **IMPLICIT_CLOSURE, duration=60.0)
@claim("closure.implicit", **IMPLICIT_CLOSURE, duration=2.0)
def implicit_closure(duration: float) -> Measurement:
    """The mechanisms of closure.quick released for {duration:g} s of linearly implicit Euler, BDF1 and SDIRK2 at 2 ms:
    largest distance of frames that close a loop.
    """
    details: dict[str, Any] = {}
    worst = 0.0
    for name, make in LOOPS.items():
        model, state = make()
        for integrator in IMPLICIT:
            result = ph.simulate(model, state, duration, 2e-3, integrator, record_interval=0.02)
            apart = closure(model, result.poses)
            way = float(np.ptp(result.q[result.t >= 0.5 * duration], axis=0).max())
            details[f"{name}, {integrator}"] = {"closure": apart, "way in the second half": way}
            worst = max(worst, apart)
    return Measurement(worst, details)


def arm_on_stop() -> tuple[ph.Model, Any]:
    """An arm that rests on the hard stop of its hinge."""
    builder = ph.ModelBuilder()
    arm = {"mass": 1.0, "com": (0.5, 0.0, 0.0), "inertia": 0.1 * np.eye(3)}
    builder.add_body(
        "arm", joint=ph.joints.Hinge((0, 1, 0)), limits=(-1.0, 0.4), limit_restitution=0.3, **arm
    )
    model = builder.build()
    return model, model.state(q=[0.4])


def resting() -> dict[str, tuple[ph.Model, Any]]:
    return {
        "cube on a slope": slope(np.arctan(0.4) - np.radians(0.05), 0.7, 0.4),
        "three cubes": stack(np.array([1.0, 3.0, 30.0])),
        "arm on its stop": arm_on_stop(),
    }


@claim("contacts.rest_of_every_method", unit="m, rad", at_most=1e-10)
def rest_of_every_method() -> Measurement:
    """Cube on a slope 0.05 degrees below the friction angle, three stacked cubes of 1, 3 and 30 kg, an arm on its hard
    stop, 0.2 s at 1 ms with every method that supports contacts: largest movement in the last 0.1 s.
    """
    details = {}
    for name, (model, state) in resting().items():
        for integrator in RESTING:
            result = ph.simulate(model, state, 0.2, 1e-3, integrator, record_interval=0.02)
            late = result.q[result.t > 0.09]
            details[f"{name}, {integrator}"] = float(np.ptp(late, axis=0).max())
    return Measurement(max(details.values()), details)


@claim("contacts.residual_of_every_method", source=RESIDUAL_SOURCE, at_most=1e-9)
def residual_of_every_method() -> Measurement:
    """The same models at rest, and a rod that bounces on a rough floor (restitution 0.5, 2 s), with the same methods:
    largest residual of any step.
    """
    details = {}
    scenes = {name: (scene, 0.2) for name, scene in resting().items()}
    scenes["bouncing rod"] = dropped_rod(0.5, 0.2), 2.0
    for name, ((model, state), duration) in scenes.items():
        for integrator in RESTING:
            run = ph.simulate(model, state, duration, 1e-3, integrator, record_interval=duration)
            told = run.info["constraints"]
            if not told["most_rows"]:
                raise ValueError(f"{name}, {integrator}: no contact occurred")
            details[f"{name}, {integrator}"] = told["residual"]
    return Measurement(max(details.values()), details)


def with_loop(rng: np.random.Generator, model: ph.Model, state: Any) -> tuple[ph.Model, Any]:
    """The tree with a point of one body constrained to one of another, with matching velocities."""
    poses = ph.body_poses(model, state)
    first, second = rng.choice(model.num_bodies, 2, replace=False)
    point = 0.2 * rng.standard_normal(3)
    world = poses[first] @ [*point, 1.0]
    there = np.linalg.solve(poses[second], world)[:3]
    builder = ph.ModelBuilder.from_dict(model.to_dict())
    held = ph.constraints.PointConstraint(f"body {first}", f"body {second}", point, there)
    builder.add_constraint("loop", held)
    closed = builder.build()
    return closed, ph.assemble(closed, closed.state(q=state.q, qd=state.qd))


@claim("contacts.residual_of_struck_loops", source=RESIDUAL_SOURCE, at_most=1e-9)
def residual_of_struck_loops() -> Measurement:
    """40 random trees of 8 bodies with a loop, with possibly redundant rows, that hit one to four walls at once, 20
    steps of 1 ms of four methods: largest residual of any step.
    """
    details: dict[str, float] = {}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        closed, start = with_loop(rng, *struck_tree(rng, 1 + seed % 4, bool(seed % 2))[:2])
        for integrator in ("symplectic_euler", "rk4", "sdirk2", "event_driven"):
            told = ph.simulate(closed, start, 0.02, 1e-3, integrator).info["constraints"]
            details[integrator] = max(details.get(integrator, 0.0), told["residual"])
    return Measurement(max(details.values()), details)


HEIGHT, GRAVITY, RADIUS = 0.5, 9.81, 0.05


def ball(restitution: float) -> tuple[ph.Model, Any]:
    """A ball half a metre over the floor."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    builder.add_body("ball", joint=ph.joints.Free(), mass=0.3, inertia=1e-3 * np.eye(3))
    builder.add_contact("floor", "ball", [[0, 0, 0]], Plane(), radius=RADIUS, restitution=restitution)
    model = builder.build()
    return model, model.state(q=[0.0, 0.0, HEIGHT + RADIUS, 0.0, 0.0, 0.0])


def bounces(restitution: float, times: FloatArray) -> FloatArray:
    """Heights (n,) of a point that falls from HEIGHT and bounces, in closed form."""
    speed = np.sqrt(2.0 * GRAVITY * HEIGHT)
    begin, heights = -speed / GRAVITY, np.zeros_like(times)
    while begin < times[-1] and speed > 1e-9:
        end = begin + 2.0 * speed / GRAVITY
        now = (times >= begin) & (times < end)
        since = times[now] - begin
        heights[now] = speed * since - 0.5 * GRAVITY * since**2
        begin, speed = end, restitution * speed
    return heights


# Bounces shorter than a few steps of 1 ms are skipped: g dt^2 is 1e-5 m.
@claim("impacts.event_driven_ball", unit="m", source="Ertl et al. 1993, eqs. 5-7", at_most=3e-5)
def event_driven_ball() -> Measurement:
    """Ball that falls half a metre, restitution 1, 0.8 and 0.5, 3 s of the event-driven method, against the closed form
    of its bounces (also after the last of them): largest distance.
    """
    details = {}
    for restitution in (1.0, 0.8, 0.5):
        model, state = ball(restitution)
        run = ph.simulate(model, state, 3.0, 1e-3, "event_driven", record_interval=0.01)
        off = np.abs(run.q[:, 2] - RADIUS - bounces(restitution, run.t)).max()
        details[f"restitution {restitution:g}"] = {"distance": float(off), "impacts": run.info["impacts"]}
    return Measurement(max(entry["distance"] for entry in details.values()), details)


@claim("impacts.event_driven_rod", source="Ertl et al. 1993, eqs. 5-7", at_most=1e-6)
def event_driven_rod() -> Measurement:
    """Elastic rod with rounded ends that tumbles and bounces on a smooth floor for 3 s of the event-driven method:
    largest change of the energy, relative to that of the fall.
    """
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    inertia = np.diag([0.5, 1.0, 1.0]) * THETA[0]
    builder.add_body("rod", joint=ph.joints.Planar(), joint_in_parent=PLANE, mass=MASS[0], inertia=inertia)
    half = 0.5 * LENGTH[0]
    ends = [(-half, 0.0, 0.0), (half, 0.0, 0.0)]
    builder.add_contact("floor", "rod", ends, Plane(), radius=0.01, restitution=1.0)
    model = builder.build()
    state = model.state(q=[0.0, 0.8, 0.4], qd=[0.5, 0.0, 1.0])
    run = ph.simulate(model, state, 3.0, 1e-3, "event_driven", record_interval=0.01)
    energy = run.energy[:, 2]
    fall = MASS[0] * GRAVITY * 0.8
    details = {"impacts": run.info["impacts"], "forward [m]": float(run.q[-1, 0] - run.q[0, 0])}
    return Measurement(float(np.abs(energy - energy[0]).max() / fall), details)
