"""Mass points of muscles over path points: exact rates of their Jacobians, and energy."""

from typing import Any

import numpy as np

import physics as ph
from physics.joints.functions import Polynomial, Wave
from physics.muscles import Condition, Cylinder, MassPoints, Moving, PathPoint, Sphere, Wrap

from .claim import Measurement, Plot, claim

DURATION, STEP = 10.0, 1e-3
DIFFERENCE = 1e-5  # s


def place(x: float, y: float, z: float) -> Any:
    """A pose without rotation."""
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def limb() -> ph.ModelBuilder:
    """A hinge, a ball and a hinge in series, and a branch from the first body."""
    builder = ph.ModelBuilder()
    inertia = np.diag([0.01, 0.02, 0.015])
    for name, parent, joint in (
        ("a", None, ph.joints.Hinge([0, 1, 0])),
        ("b", "a", ph.joints.Spherical()),
        ("c", "b", ph.joints.Hinge([0, 1, 0.3])),
        ("d", "a", ph.joints.Hinge([1, 1, 0.3])),
    ):
        where = None if parent is None else place(0, 0, -0.3)
        builder.add_body(
            name, parent, joint=joint, joint_in_parent=where, mass=0.6, inertia=inertia, com=(0, 0.02, -0.1)
        )
    return builder


def every_path() -> ph.Model:
    """A muscle of each kind of path: straight, over fixed, moving, conditional points, over obstacles, with tendons."""
    builder = limb()
    ends = PathPoint(None, (0.1, 0.2, 0.3)), PathPoint("c", (-0.02, 0, -0.15))
    moving = (
        Moving("c.angle", Wave(0.02, 0.03, 0.01)),
        0.02,
        Moving("a.angle", Polynomial((-0.1, 0.02, 0.03))),
    )
    middle = PathPoint("b", (0.03, 0.02, -0.1))
    paths = {
        "straight": ends,
        "fixed points": (
            PathPoint("d", (0.03, 0.0, -0.1)),
            PathPoint("a", (0.03, 0.0, -0.2)),
            middle,
            ends[1],
        ),
        "moving point": (PathPoint("a", (0.02, 0.01, -0.05)), PathPoint("b", moving), ends[1]),
        "conditional point": (
            ends[0],
            PathPoint("d", (0.0, 0.02, -0.1), Condition("d.angle", -3.0, 3.0)),
            middle,
            ends[1],
        ),
        "over obstacles": (
            PathPoint("a", (0.02, 0.01, -0.05)),
            Wrap([Sphere(radius=0.09, body="b", frame=place(0, 0, 0.08))]),
            middle,
            Wrap([Cylinder(radius=0.09, body="c", frame=place(0.02, 0, 0.02))]),
            ends[1],
        ),
    }
    for name, path in paths.items():
        builder.add_muscle(name, path, mass=0.2, num_points=20)
    tendons = MassPoints.belly(0.2, 10, tendons=(0.1, 0.08), tendon_masses=(0.02, 0.02))
    builder.add_muscle("tendons", paths["fixed points"], masses=tendons)
    return builder.build()


@claim(
    "muscles.jacobian_rates",
    "J' q' of the mass points of every kind of path, against central differences of J along 20 random motions",
    unit="m/s^2",
    source="Wang 2022, eqs. 5.5, 5.24-5.28",
    at_most=1e-7,
)
def jacobian_rates() -> Measurement:
    model, rng = every_path(), np.random.default_rng(11)
    nv, worst = model.num_coordinates, dict.fromkeys((muscle.name for muscle in model.muscles), 0.0)
    for _ in range(20):
        q, qd = rng.uniform(-0.5, 0.5, nv), rng.uniform(-1.0, 1.0, nv)
        for name in worst:
            rates = [
                ph.muscle_points(model, model.state(q + x * qd, qd), name).jacobians @ qd
                for x in (2 * DIFFERENCE, DIFFERENCE, -DIFFERENCE, -2 * DIFFERENCE)
            ]
            slope = (-rates[0] + 8.0 * rates[1] - 8.0 * rates[2] + rates[3]) / (12.0 * DIFFERENCE)
            biases = ph.muscle_points(model, model.state(q, qd), name).biases
            worst[name] = max(worst[name], float(np.abs(biases - slope).max()))
    return Measurement(max(worst.values()), worst)


def three_links(rounding: float = 0.4, velocity_terms: bool = True) -> tuple[ph.Model, ph.State]:
    """Three links with a heavy muscle over points of all of them, thrown so that mass points slide past these."""
    builder = ph.ModelBuilder()
    bar = np.diag([0.004, 0.004, 0.001])
    for k, parent in enumerate((None, "b0", "b1")):
        link = {"joint": ph.joints.Hinge([0, 1, 0.1 * k]), "mass": 0.3, "inertia": bar, "com": (0, 0, -0.1)}
        builder.add_body(f"b{k}", parent, joint_in_parent=place(0, 0, -0.2) if k else None, **link)
    path = [
        PathPoint(None, (0.05, 0, 0.1)),
        PathPoint("b0", (0.05, 0.01, -0.08)),
        PathPoint("b1", (0.04, 0.0, -0.1)),
        PathPoint("b2", (0.03, 0, -0.12)),
    ]
    builder.add_muscle("m", path, mass=0.4, num_points=24, rounding=rounding, velocity_terms=velocity_terms)
    model = builder.build()
    return model, model.state([0.6, -0.6, 0.5], [1.0, -1.0, 1.0])


@claim("muscles.path_point_energy", source="Wang 2022, sec. 6.2.3", at_most=1e-4, cost="slow")
def path_point_energy() -> Measurement:
    """Energy drift over the swing of three links with a heavy muscle over path points, SDIRK2, 1 ms, 10 s; with sharp
    corners and without the quadratic velocity vector in details.
    """
    details, lines = {}, {}
    for label, integrator, options in (
        ("SDIRK2", "sdirk2", {}),
        ("RK4", "rk4", {}),
        ("SDIRK2, raw corners", "sdirk2", {"rounding": 0.0}),
        ("SDIRK2, without velocity terms", "sdirk2", {"velocity_terms": False}),
    ):
        model, state = three_links(**options)
        result = ph.simulate(model, state, DURATION, STEP, integrator)
        error = np.abs(result.energy[:, 2] - result.energy[0, 2]) / np.ptp(result.energy[:, 0])
        details[label] = float(error.max())
        lines[label] = (result.t[1::10], np.maximum.accumulate(error)[1::10])
    plot = Plot(
        "muscle_energy",
        "Energy drift with a heavy muscle at 1 ms",
        "time [s]",
        "drift so far / swing",
        lines,
        "y",
    )
    return Measurement(details["SDIRK2"], details, (plot,))
