"""Hard limits: momentum and energy of impacts in trees, and bodies that rest on them."""

from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph
from tests.physics.constraints.mechanisms import four_bar

from .claim import Measurement, claim
from .claims_impacts import instant
from .generators import links, random_body, unit_vector

TREES = 200
SOURCE = "Kim, Lee & Park 2014, joint limit analysis"
KINDS = ("hinge", "slider", "universal", "spline_curve", "spline_surface", "ellipsoid", "planar", "free")


def limited_tree(rng: Generator) -> tuple[Any, Any, float]:
    """A tree with a ball joint at the edge of its cone and moving out of it, its state, and its restitution."""
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
    """For one impact: the part of M (q'+ - q'-) off the gradient and the error of the speed along it, both relative,
    and the relative growth of the kinetic energy.
    """
    model, state, restitution = limited_tree(rng)
    # long enough for the edge, known to 1e-16 rad, to be hit at a speed that is known to 1e-8 rad/s
    after = instant(model, state, 1e-8)
    matrix = ph.mass_matrix(model, state)
    cone = next(joint.limit for joint in model.joints if joint.type == "spherical")
    where = next(model.coordinate_slice(body.name) for body in model.bodies if body.joint.type == "spherical")
    gradient = np.zeros(len(after))
    gradient[where] = cone.gradient(state.q[where])
    change = matrix @ (after - state.qd)
    along = gradient * (gradient @ change) / (gradient @ gradient)
    before = gradient @ state.qd
    kinetic = [0.5 * qd @ matrix @ qd for qd in (state.qd, after)]
    return (
        float(np.linalg.norm(change - along) / np.linalg.norm(change)),
        float(abs(gradient @ after + restitution * before) / abs(before)),
        float((kinetic[1] - kinetic[0]) / kinetic[0]),
    )


@claim("limits.impact", source=SOURCE, at_most=1e-7)
def impacts() -> Measurement:
    """Impact of {TREES} random trees on the hard limit of a ball joint, restitution 0 to 1: momentum off the limit's
    gradient, speed along it against -e times that before, growth of kinetic energy; largest, relative.
    """
    rng = np.random.default_rng(14)
    found = np.array([impact(rng) for _ in range(TREES)])
    worst = found.max(axis=0)
    names = ("momentum aside", "speed along", "growth of kinetic energy")
    return Measurement(float(worst.max()), dict(zip(names, worst.tolist())))


@claim("limits.rest", unit="rad", at_most=1e-10)
def rest() -> Measurement:
    """Chain of 10 hinges fallen onto its hard stops, 10 s at 1 ms: largest movement of a coordinate over the last
    5 s.
    """
    model = chain_on_stops(0.0)
    result = ph.simulate(model, model.state(), 10.0, 1e-3, record_interval=0.01)
    late = result.t > 5.0
    return Measurement(
        float(np.ptp(result.q[late], axis=0).max()), {"largest coordinate": float(result.q.max())}
    )


EDGE = 0.05  # rad


def chain_on_stops(restitution: float, cone: bool = False) -> Any:
    """Ten rods that gravity folds onto hard stops of their hinges, or onto the edges of ball joints' cones."""
    builder, body = ph.ModelBuilder(), None
    for index, link in enumerate(links(10)):
        values = link | {"joint_in_parent": link["joint_in_parent"] if index else level()}
        if cone:
            values["joint"] = ph.joints.Spherical(limit=ph.joints.ReachCone((0, 0, 1), EDGE))
        else:
            values |= {"joint": ph.joints.Hinge((0, 1, 0)), "limits": (-1.0, EDGE)}
        body = builder.add_body(f"link {index}", body, limit_restitution=restitution, **values)
    return builder.build()


def level() -> Any:
    """A frame in which a rod along -z lies along x: gravity folds the chain onto its stops."""
    pose = np.eye(4)
    pose[:3, :3] = ph.lie.so3_exp(np.array([0.0, -0.5 * np.pi, 0.0]))
    return pose


def stopped_loop(restitution: float) -> Any:
    """A four-bar linkage whose crank falls onto a hard stop."""
    description = four_bar("hinge")[0].to_dict()
    description["bodies"][0] |= {"limits": [[0.8, None]], "limit_restitution": [restitution]}
    return ph.ModelBuilder.from_dict(description).build()


def rows_at_limits(model: Any, q: Any) -> Any:
    """Inward unit gradients (m, nv) of the active limits."""
    rows = []
    for body in model.bodies:
        where = model.coordinate_slice(body.name)
        limit = getattr(body.joint, "limit", None)
        if limit is not None:
            found = [(limit.value(q[where]), limit.gradient(q[where]))]
        else:
            bounds = zip((1.0, -1.0), body.limits.T)
            found = [(sense * (q[where] - bound)[0], np.array([sense])) for sense, bound in bounds]
        for gap, gradient in found:
            if abs(gap) < 1e-9:
                rows.append(np.zeros(model.num_coordinates))
                rows[-1][where] = gradient / np.linalg.norm(gradient)
    return np.array(rows).reshape(-1, model.num_coordinates)


def residual_at_rest(model: Any, result: Any, dt: float) -> tuple[float, int]:
    """|l - proj(l - r u)| / |l| of the last step's impulses l, from momentum only, and the number of active limits.

    The change of M q' beyond known forces is due to limits and constraints; a part outside the span of their rows
    counts in full.
    """
    before, after = (model.state(q=result.q[k], qd=result.qd[k]) for k in (-2, -1))
    matrix = ph.mass_matrix(model, before)
    impulse = matrix @ (after.qd - before.qd - dt * ph.forward_dynamics(model, before))
    limits = rows_at_limits(model, before.q)
    closing = np.concatenate(
        [np.zeros((0, len(impulse)))]
        + [entry.jacobian(model, before) for entry in model.constraints.values()]
    )
    # a plane linkage's hinges have rows normal to the plane, along which nothing moves
    closing = closing[np.linalg.norm(closing, axis=1) > 0.0]
    rows = np.concatenate([limits, closing])
    found = np.linalg.lstsq(rows.T, impulse, rcond=None)[0]
    aside = np.linalg.norm(impulse - rows.T @ found)
    masses = 1.0 / np.einsum("ri,ir->r", rows, np.linalg.solve(matrix, rows.T))  # r: effective mass of a row
    wanted = found - masses * (rows @ after.qd)
    wanted[: len(limits)] = np.maximum(wanted[: len(limits)], 0.0)
    off = np.hypot(np.linalg.norm(found - wanted), aside)
    return float(off / np.linalg.norm(found)), len(limits)


STOPPED = {
    "hinges": chain_on_stops,
    "cones of ball joints": lambda restitution: chain_on_stops(restitution, cone=True),
    "four-bar linkage": stopped_loop,
}


@claim("limits.residual", at_most=1e-9)
def residual() -> Measurement:
    """Ten hinges on their hard stops, ten ball joints at the edges of their cones, a four-bar linkage whose crank rests
    on a stop, restitution 0 and 0.5, 10 s at 1 ms: residual |l - proj_K(l - r u)| / |l| of any step by the solver, and
    of the last one at rest by the bodies' momentum; largest.
    """
    details: dict[str, Any] = {}
    for name, make in STOPPED.items():
        for restitution in (0.0, 0.5):
            model = make(restitution)
            start = model.state()
            if model.constraints:
                start = ph.assemble(model, model.state([1.2, -1.0, -1.8]))
            result = ph.simulate(model, start, 10.0, 1e-3)
            resting, rows = residual_at_rest(model, result, 1e-3)
            if not rows:
                raise ValueError(f"{name}: nothing rests on a limit")
            told = result.info["constraints"]["residual"]
            details[f"{name}, restitution {restitution:g}"] = {
                "told": told,
                "at rest": resting,
                "limits": rows,
            }
    return Measurement(max(max(entry["told"], entry["at rest"]) for entry in details.values()), details)
