"""Force elements, deformable ground and wobbling masses against hand-written equations and closed forms."""

from typing import Any

import numpy as np
from scipy.integrate import quad, solve_ivp

import physics as ph

from .claim import Measurement, Plot, claim
from .plane_models import GRAVITY, GROUND, LENGTH, PLANE, links, rod_slope, two_link_difference

SOURCE = "Ertl et al. 1993, "
WOBBLING = {
    "mass": 3.0,
    "inertia": np.diag([0.06, 0.06, 0.02]),
    "axis": (0, 0, 1),
    "stiffness_along": 4e4,
    "stiffness_across": 1e4,
    "stiffness_rotation": 3.0,
}


@claim("forces.plane_two_links", source=SOURCE + "eqs. 9-11", at_most=1e-11)
def plane_two_links() -> float:
    """Accelerations of the plane two-link model against eqs. 9-11, with 11 differentiated twice, in 1000 random states
    under random ground forces and torques: largest relative difference.
    """
    rng = np.random.default_rng(0)
    return max(two_link_difference(rng) for _ in range(1000))


@claim("forces.free_flight", unit="m, rad", source=SOURCE + "eqs. 5", at_most=1e-12)
def free_flight() -> float:
    """Falling rod, 1 s of RK4 at 10 ms, against eqs. 5: largest difference of position and angle."""
    model = links(1)
    result = ph.simulate(model, model.state(q=[0.2, 1.0, 0.4], qd=[1.5, 2.0, 7.0]), 1.0, 1e-2, "rk4")
    t = result.t
    expected = np.stack([0.2 + 1.5 * t, 1.0 + 2.0 * t - 0.5 * GRAVITY * t**2, 0.4 + 7.0 * t], axis=1)
    return float(np.abs(result.q - expected).max())


@claim("forces.deformable_ground", unit="m, rad", source=SOURCE + "eqs. 6, 8", at_most=1e-6)
def deformable_ground() -> float:
    """Rod that falls on the ground of eq. 8 at three angles, 0.2 s with DOP853, against its three hand-written
    equations: largest difference of position and angle.
    """
    worst = 0.0
    for angle in (1.2, 0.5 * np.pi, 2.2):
        model = links(1, ground=GROUND)
        start = np.array([0.0, LENGTH[0] / 2 * np.sin(angle) + 0.01, angle, 0.8, -1.0, 0.5])
        tight: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-13}
        times = np.linspace(0.0, 0.2, 21)
        by_hand = solve_ivp(
            rod_slope, (0.0, 0.2), start, "DOP853", t_eval=times, args=(GROUND,), max_step=5e-4, **tight
        )
        state = model.state(q=start[:3], qd=start[3:])
        result = ph.simulate(model, state, 0.2, 1e-3, "DOP853", record_interval=0.01, **tight)
        worst = max(worst, float(np.abs(result.q - by_hand.y.T[:, :3]).max()))
    return worst


@claim("forces.bounces_by_damping", unit="m", source=SOURCE + "Fig. 2", at_least=1e-3)
def bounces_by_damping() -> Measurement:
    """Rod dropped on the ground of eq. 8 with three dampings: least decrease of the rebound height between dampings."""
    lines, tops = {}, []
    for damping in (5.0, 40.0, 200.0):
        model = links(1, ground=GROUND | {"damping": damping, "friction": 0.0})
        state = model.state(q=[0.0, LENGTH[0] / 2 + 0.3, np.pi / 2])
        result = ph.simulate(model, state, 0.6, 5e-5, "rk4", record_interval=2e-3)
        height = result.q[:, 1] - LENGTH[0] / 2
        landed = int(np.argmax(height < 0.0))
        tops.append(float(height[landed + int(np.argmin(height[landed : landed + 50])) :].max()))
        lines[f"d = {damping:g} N s/m"] = (result.t, height)
    plot = Plot(
        "rod_on_ground", "A rod dropped on deformable ground", "time [s]", "height of its end [m]", lines
    )
    return Measurement(float(-np.diff(tops).max()), {"heights of rebound [m]": tops}, (plot,))


def wobbling(normal: Any = None, joint: ph.joints.Joint | None = None, **numbers: float) -> ph.Model:
    """A bone with a wobbling mass; fixed if no joint is given."""
    builder = ph.ModelBuilder(gravity=(0, 0, 0))
    bone = np.diag([0.05, 0.05, 0.01])
    builder.add_body("bone", joint=joint or ph.joints.Fixed(), mass=2.0, com=(0.05, 0, 0.2), inertia=bone)
    damping = {"damping_along": 0.0, "damping_across": 0.0, "damping_rotation": 0.0}
    builder.add_wobbling_mass("flesh", "bone", normal=normal, **(WOBBLING | damping | numbers))
    return builder.build()


@claim("forces.wobbling_rotation", source=SOURCE + "eq. 16a", at_most=1e-8)
def wobbling_rotation() -> float:
    """Small rotations of a wobbling mass, 2 s of RK4 at 1 ms, against the damped oscillator of eq. 16a: largest
    difference relative to the first angle.
    """
    inertia, stiffness, damping, angle = 0.06, WOBBLING["stiffness_rotation"], 0.02, 1e-3
    model = wobbling(normal=(0, 1, 0), damping_rotation=damping)
    decay = damping / (2.0 * inertia)
    rate = np.sqrt(stiffness / inertia - decay**2)
    result = ph.simulate(model, model.state(q={"flesh": [0, 0, angle]}), 2.0, 1e-3, "rk4")
    swing = np.exp(-decay * result.t) * (np.cos(rate * result.t) + decay / rate * np.sin(rate * result.t))
    return float(np.abs(result.q[:, 2] / angle - swing).max())


@claim("forces.wobbling_period", source=SOURCE + "eqs. 16b, 16c", at_most=1e-7)
def wobbling_period() -> float:
    """Displacement of a wobbling mass along and across its segment after one period of the cubic spring, by quadrature:
    largest difference relative to the amplitude.
    """
    amplitude, worst, model = 0.02, 0.0, wobbling()
    # x = sin u removes the singularity of dx / sqrt(1 - x^4)
    quarter = quad(lambda u: 1.0 / np.sqrt(1.0 + np.sin(u) ** 2), 0.0, 0.5 * np.pi, epsabs=1e-13)[0]
    for direction, stiffness in (((1, 0, 0), 4e4), ((0, 1, 0), 1e4), ((0, 0.6, 0.8), 1e4)):
        period = 4.0 * np.sqrt(2.0 * 3.0 / stiffness) / amplitude * quarter
        state = model.state(q=[*(amplitude * np.array(direction)), 0, 0, 0])
        end = ph.simulate(model, state, period, period / 2000, "rk4", record_interval=period / 4).q[:, :3]
        expected = np.outer([1.0, 0.0, -1.0, 0.0, 1.0], direction)
        worst = max(worst, float(np.abs(end / amplitude - expected).max()))
    return worst


@claim("forces.wobbling_energy", at_most=1e-12)
def wobbling_energy() -> Measurement:
    """Bone and strongly damped wobbling mass in free flight, 1 s of RK4 at 1 ms: largest growth of the energy between
    samples, relative to the initial energy.
    """
    strong = {"damping_along": 60.0, "damping_across": 40.0, "damping_rotation": 0.3}
    model = wobbling(joint=ph.joints.Free(), **strong)
    rng = np.random.default_rng(0)
    state = model.state(q=0.02 * rng.normal(size=12), qd=rng.normal(size=12))
    energy = ph.simulate(model, state, 1.0, 1e-3, "rk4").energy[:, 2]
    return Measurement(
        float(np.diff(energy).max() / energy[0]), {"left of the energy": energy[-1] / energy[0]}
    )


@claim("forces.wobbling_equations", source=SOURCE + "sec. 3", at_most=14, at_least=14)
def wobbling_equations() -> float:
    """Second-order equations of the plane model of three links with wobbling masses."""
    builder, place = ph.ModelBuilder(), PLANE.copy()
    for k in range(3):
        builder.add_body(
            f"link_{k}",
            f"link_{k - 1}" if k else None,
            joint=ph.joints.Hinge() if k else ph.joints.Planar(),
            joint_in_parent=place,
            body_in_joint=ph.lie.inverse(PLANE),
            mass=2.0,
            inertia=np.diag([0.05, 0.05, 0.01]),
        )
        place = PLANE.copy()
        place[2, 3] = 0.4
        numbers = {"damping_along": 60.0, "damping_across": 40.0, "damping_rotation": 0.3}
        builder.add_wobbling_mass(f"flesh_{k}", f"link_{k}", normal=(0, 1, 0), **(WOBBLING | numbers))
    return float(builder.build().num_coordinates)
