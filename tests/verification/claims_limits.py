"""Hard limits: momentum and energy of impacts through trees, and what rests on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph

from .claim import Measurement, claim
from .generators import links, random_body, unit_vector

TREES = 200
SOURCE = "Kim, Lee & Park 2014, joint limit analysis"
KINDS = ("hinge", "slider", "universal", "spline_curve", "spline_surface", "ellipsoid", "planar", "free")


def limited_tree(rng: Generator) -> tuple[Any, Any, float]:
    """A tree with a ball joint that stands at the edge of its cone and leaves it, its state, and its restitution."""
    restitution = float(rng.choice([0.0, rng.random(), 1.0]))
    axis = unit_vector(rng)
    cone = ph.joints.ReachCone(axis, 0.7)
    builder = ph.ModelBuilder(gravity=9.81 * unit_vector(rng))
    bodies: list[Any] = []
    ball = int(rng.integers(6))
    for index in range(6):
        values = random_body(rng, KINDS)
        if index == ball:
            values |= {"joint": ph.joints.Spherical(limit=cone), "limit_restitution": restitution}
        parent = bodies[rng.integers(len(bodies))] if bodies else None
        bodies.append(builder.add_body(f"body {index}", parent=parent, **values))
    model = builder.build()
    start = np.array(model.state().q)
    aside = np.cross(axis, unit_vector(rng))
    where = model.coordinate_slice(f"body {ball}")
    start[where] = 0.7 * aside / np.linalg.norm(aside)
    speeds = rng.standard_normal(model.num_coordinates)
    gradient = np.zeros(model.num_coordinates)
    gradient[where] = cone.gradient(start[where])
    speeds *= -np.sign(gradient @ speeds)
    return model, model.state(q=start, qd=speeds), restitution


def impact(rng: Generator) -> tuple[float, float, float]:
    """Of one impact: what of M (q'+ - q'-) is not along the gradient, the error of the speed along it, both relative,
    and the growth of the kinetic energy over what it was.
    """
    model, state, restitution = limited_tree(rng)
    dt = 1e-6  # long enough for the edge, known to 1e-16 rad, to be met at a known speed
    after = ph.simulate(model, state, dt, dt).qd[-1]
    free = state.qd + dt * ph.forward_dynamics(model, state)  # where the step would lead without the limit
    matrix = ph.mass_matrix(model, state)
    cone = next(joint.limit for joint in model.joints if joint.type == "spherical")
    where = next(model.coordinate_slice(body.name) for body in model.bodies if body.joint.type == "spherical")
    gradient = np.zeros(len(after))
    gradient[where] = cone.gradient(state.q[where])
    change = matrix @ (after - free)
    along = gradient * (gradient @ change) / (gradient @ gradient)
    before = max(gradient @ state.qd, gradient @ free)
    kinetic = [0.5 * qd @ matrix @ qd for qd in (free, after)]
    return (
        float(np.linalg.norm(change - along) / np.linalg.norm(change)),
        float(abs(gradient @ after + restitution * before) / abs(before)),
        float((kinetic[1] - kinetic[0]) / kinetic[0]),
    )


@claim(
    "limits.impact",
    f"impact of {TREES} random trees on the hard limit of a ball joint, restitution 0 to 1: momentum not along the "
    "limit's gradient, speed along it against -e times that before, growth of kinetic energy; largest, relative",
    source=SOURCE,
    at_most=1e-8,
)
def impacts() -> Measurement:
    rng = np.random.default_rng(14)
    found = np.array([impact(rng) for _ in range(TREES)])
    worst = found.max(axis=0)
    names = ("momentum aside", "speed along", "growth of kinetic energy")
    return Measurement(float(worst.max()), dict(zip(names, worst.tolist())))


@claim(
    "limits.rest",
    "chain of 10 hinges fallen onto its hard stops, 10 s at 1 ms: largest movement of a coordinate over the last 5 s",
    source="own",
    unit="rad",
    at_most=1e-10,
)
def rest() -> Measurement:
    builder = ph.ModelBuilder()
    body = None
    for index, link in enumerate(links(10)):
        values = link | {"joint_in_parent": link["joint_in_parent"] if index else level()}
        body = builder.add_body(
            f"link {index}",
            parent=body,
            joint=ph.joints.Hinge((0, 1, 0)),
            limits=(-1.0, 0.05),
            limit_restitution=0.0,
            **values,
        )
    model = builder.build()
    result = ph.simulate(model, model.state(), 10.0, 1e-3, record_interval=0.01)
    late = result.t > 5.0
    return Measurement(
        float(np.ptp(result.q[late], axis=0).max()), {"largest coordinate": float(result.q.max())}
    )


def level() -> Any:
    """A frame in which a rod that hangs along -z lies along x: gravity folds the chain onto its stops."""
    pose = np.eye(4)
    pose[:3, :3] = ph.lie.so3_exp(np.array([0.0, -0.5 * np.pi, 0.0]))
    return pose
