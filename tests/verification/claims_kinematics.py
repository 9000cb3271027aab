"""Inverse kinematics of a leg, projection of poses on joints, Jacobians of bodies and of connectors."""

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.random import Generator

import physics as ph
from physics._typing import FloatArray
from physics.geometry import lie
from tests.physics.generators import loop_frames, smooth_frames
from tests.physics.leg import leg, random_leg_coordinates

from .claim import Measurement, claim
from .generators import random_state, random_tree

IK_SOURCE = "Lee & Terzopoulos 2008, Fig. 3"
LEG = (
    "leg (spherical hip with a cone, fitted spline knee, universal ankle, all within limits), {} pairs of a random "
    "start and a random pose of the foot: "
)
STARTS, FEW = 1000, 100
MOST_SEARCHES = 30
REACHED = f"share of goals reached to 1e-6 m and 1e-6 rad with up to {MOST_SEARCHES} searches"
SEARCH_TIME = "mean time of one search, which must fit into a frame at 60 Hz while dragging"


@cache
def leg_searches(count: int) -> dict[str, Any]:
    """Statistics of `count` searches: from the given start alone, and with further starts."""
    rng = np.random.default_rng(0)
    model = leg()
    solver = ph.InverseKinematics(model, ph.Target.pose("foot", np.eye(4)))
    reached, at_once, steps, searches, seconds = 0, 0, [], [], []
    for _ in range(count):
        goal = ph.body_poses(model, model.state(random_leg_coordinates(rng)))[2]
        start = model.state(random_leg_coordinates(rng))
        solver.set_goal(0, goal[:3, 3], goal[:3, :3])
        began = time.perf_counter()
        first = solver.solve(start, starts=1)
        seconds.append(time.perf_counter() - began)
        found = first if first.reachable else solver.solve(start, starts=MOST_SEARCHES)
        there = ph.body_poses(model, found.state)[2]
        true = np.abs(there[:3, 3] - goal[:3, 3]).max() < 1e-6
        true &= np.linalg.norm(lie.so3_log(there[:3, :3].T @ goal[:3, :3])) < 1e-6
        reached += found.reachable and true
        if first.reachable:
            at_once += 1
            steps.append(first.steps)
        searches.append(found.starts)
    return {
        "share": reached / count,
        "share at once": at_once / count,
        "mean steps": float(np.mean(steps)),
        "most steps": int(np.max(steps)),
        "most searches": int(np.max(searches)),
        "mean ms": 1e3 * float(np.mean(seconds[1:])),
        "median ms": 1e3 * float(np.median(seconds)),
    }


def leg_claim(count: int, figure: str) -> Measurement:
    found = leg_searches(count)
    return Measurement(found[figure], found)


for id, count, figure, what, bound in (
    ("reached_quick", FEW, "share", REACHED, {"at_least": 1.0, "cost": "quick"}),
    ("reached", STARTS, "share", REACHED, {"at_least": 1.0}),
    ("at_once", STARTS, "share at once", "share reached from the given start alone", {"at_least": 0.95}),
    ("time", STARTS, "mean ms", SEARCH_TIME, {"at_most": 16.0, "unit": "ms"}),
):
    kept = {"source": IK_SOURCE, "cost": "slow"} | bound
    claim(f"kinematics.leg_{id}", LEG.format(count) + what, **kept, count=count, figure=figure)(leg_claim)


@claim("kinematics.out_of_reach", unit="m", at_most=0.0, cost="slow")
def out_of_reach() -> Measurement:
    """The leg's heel with 100 targets 1.1 to 2 m from the hip: how much farther [m] the pose found is than the nearest
    of 20000 random ones (infinite if a target was called reachable).
    """
    rng = np.random.default_rng(1)
    model = leg()
    heel = np.array([-0.05, -0.04, 0.0])
    states = [random_leg_coordinates(rng) for _ in range(20000)]
    poses = ph.dynamics.observe(model, np.array(states), np.zeros((len(states), model.num_coordinates)))[0][
        :, 2
    ]
    heels = poses[:, :3, :3] @ heel + poses[:, :3, 3]
    worst, lied = -np.inf, 0
    for _ in range(100):
        direction = rng.normal(size=3)
        goal = rng.uniform(1.1, 2.0) * direction / np.linalg.norm(direction)
        found = ph.inverse_kinematics(model, ph.Target("foot", goal, at=heel), starts=5)
        lied += found.reachable
        best = np.linalg.norm(heels - goal, axis=1).min()
        worst = max(worst, float(found.position_errors[0]) - best)
    return Measurement(np.inf if lied else worst, {"called reachable": lied})


def random_curve(rng: Generator, closed: bool, order: int) -> Any:
    """A curve along a random motion; a closed one around a wavy ring."""
    frames = loop_frames(rng, 10) if closed else smooth_frames(rng, 10)
    return ph.joints.SplineCurve(frames, order=order, periodic=closed)


def random_surface(rng: Generator, directions: int) -> Any:
    """A patch with control values that vary by a third of its width."""
    shape = (8,) * directions
    grid = np.stack(np.meshgrid(*[np.linspace(-0.5, 0.5, m) for m in shape], indexing="ij"), axis=-1)
    values = 0.15 * rng.normal(size=(*shape, 6))
    values[..., 3 : 3 + directions] += grid
    return ph.joints.SplineSurface(values, periodic=tuple(bool(p) for p in rng.integers(0, 2, directions)))


def beside(rng: Generator, joint: Any, box: FloatArray, count: int) -> FloatArray:
    """Poses of the joint, and poses at increasing distances from it."""
    q = rng.uniform(*box.T, (count, len(box)))
    twists = rng.normal(size=(count, 6)) * rng.choice([0.0, 0.1, 0.5, 1.5], (count, 1))
    return np.asarray(joint.transform(q) @ lie.exp(twists))


def excess_over_grid(joint: Any, poses: FloatArray, box: FloatArray, samples: int) -> float:
    """Largest excess of a projection's distance over that of the nearest point of a dense grid."""
    axes = [np.linspace(*ends, samples) for ends in box]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(box))
    back = lie.inverse(joint.transform(places))
    nearest = [np.linalg.norm(lie.log(back @ pose), axis=1).min() for pose in poses]
    return float(np.max(ph.project(joint, poses).distance - nearest))


PROJECTION = (
    "projection of random poses, on and up to far off {}, against the nearest of a dense grid: worst excess"
)


SOME = PROJECTION.format("10 spline curves (20 poses each)")
ROUGH = PROJECTION.format("20 rough spline surfaces of two coordinates (10 poses each)")
ALL = PROJECTION.format("50 spline curves of orders 4 to 6, open and closed (40 poses each)")


@claim("kinematics.projection_curves", ALL, unit="rad", at_most=1e-9, cost="slow", curves=50, poses=40)
@claim("kinematics.projection_quick", SOME, unit="rad", at_most=1e-9, curves=10, poses=20)
def projection_on_curves(curves: int, poses: int) -> float:
    rng = np.random.default_rng(2)
    worst = -np.inf
    for index in range(curves):
        joint = random_curve(rng, bool(index % 2), 4 + index % 3)
        start = float(joint.knots[joint.order - 1])
        box = np.array([[start, start + joint.period]]) if joint.periodic else joint.range
        worst = max(worst, excess_over_grid(joint, beside(rng, joint, box, poses), box, 4001))
    return worst


@claim("kinematics.projection_surfaces", ROUGH, unit="rad", at_most=1e-9, cost="slow")
def projection_surfaces() -> float:
    rng = np.random.default_rng(3)
    worst = -np.inf
    for _ in range(20):
        joint = random_surface(rng, 2)
        worst = max(worst, excess_over_grid(joint, beside(rng, joint, joint.domain, 10), joint.domain, 150))
    return worst


@claim("kinematics.projection_volumes", at_most=0.02, cost="slow")
def projection_volumes() -> Measurement:
    """Projection of 400 random poses on 4 rough spline joints of three coordinates, against a search from twice as many
    samples in each direction: share for which that search is nearer.
    """
    from physics.kinematics import projection

    rng = np.random.default_rng(4)
    missed, worst, kept = 0, 0.0, projection.SPAN_SAMPLES
    for _ in range(4):
        joint = random_surface(rng, 3)
        poses = beside(rng, joint, joint.domain, 100)
        found = ph.project(joint, poses).distance
        try:
            projection.SPAN_SAMPLES = tuple(2 * count for count in kept)
            finer = ph.project(joint, poses).distance
        finally:
            projection.SPAN_SAMPLES = kept
        missed += int((found > finer + 1e-9).sum())
        worst = max(worst, float((found - finer).max()))
    return Measurement(missed / 400, {"worst excess [rad]": worst})


def rate(quantity: Callable[[Any], Any], state: Any) -> Any:
    """Central difference of fourth order along the motion with constant velocities of the coordinates."""
    step = 1e-4

    def at(t: float) -> Any:
        return quantity(ph.State(state.q + t * state.qd, state.qd, state.time + t, state.chart))

    return (8.0 * (at(step) - at(-step)) - (at(2.0 * step) - at(-2.0 * step))) / (12.0 * step)


def body_error(model: Any, state: Any, name: str) -> float:
    """Difference between a body's J' q' and the rate of J q'."""
    change = rate(lambda there: ph.body_jacobian(model, there, name) @ there.qd, state)
    return float(np.abs(change - ph.body_bias(model, state, name)).max())


def connector_error(connector: Any, model: Any, state: Any) -> float:
    """Difference between a connector's J q' and its value's rate, and between its bias and the rate of J q'."""
    speed = rate(lambda there: connector.value(model, there), state)
    change = rate(lambda there: connector.jacobian(model, there) @ there.qd, state)
    errors = speed - connector.jacobian(model, state) @ state.qd, change - connector.bias(model, state)
    return float(np.abs(errors).max())


# A spline's third derivative jumps at knots that a stencil of 4e-4 may cross.
@claim(
    "kinematics.jacobians",
    "J and J' q' of the last body, and value, J and J' q' of planar connectors (single and segmented) to the first "
    "and to the world, on 50 random trees, against differences along motions: largest relative error",
    source="Lee & Terzopoulos 2008, eqs. 14-15; ArtiSynth's guide, 3.4.13-14",
    at_most=1e-6,
)
def jacobians() -> Measurement:
    rng = np.random.default_rng(5)
    worst = {"body": 0.0, "connectors": 0.0}
    for index in range(50):
        model = random_tree(rng, 2 + index % 8)
        state = random_state(model, rng)
        name = model.body_names[-1]
        scale = 1.0 + float(np.abs(state.qd).max()) ** 3
        worst["body"] = max(worst["body"], body_error(model, state, name) / scale)
        for other in (model.body_names[0], None):
            frame = lie.exp(rng.normal(size=6))
            corners = [(-2.0, 1.0), (-0.5, 0.0), (0.5, 0.3), (3.0, 2.0)]
            options = {"point": rng.normal(size=3), "other": other, "frame": frame}
            for connector in (
                ph.constraints.PlanarConnector(name, **options),
                ph.constraints.SegmentedPlanarConnector(name, segments=corners, **options),
            ):
                worst["connectors"] = max(
                    worst["connectors"], connector_error(connector, model, state) / scale
                )
    return Measurement(max(worst.values()), worst)
