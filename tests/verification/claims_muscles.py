"""A muscle with mass on two bones, against closed-form equations."""

from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import physics as ph
from physics.muscles import PathPoint

from .claim import Measurement, Plot, claim

GRAVITY = 9.81
MASS = 1.0  # of each bone and of the muscle [kg]
INSERTION = 0.5  # of the second bone's length
STRAIGHT_AT = 0.3  # s
FIRST_ANGLE = np.radians(-25.0)
HINGE = (0.0, 1.0, 0.0)


def rod(mass: float, length: float) -> dict[str, Any]:
    """A thin rod below its joint."""
    inertia = mass * length**2 / 12.0
    return {
        "mass": mass,
        "inertia": np.diag([inertia, inertia, 1e-6 * inertia]),
        "com": (0, 0, -0.5 * length),
    }


def two_bones(length: float, num_points: int, bone_mass: float = MASS) -> ph.Model:
    """A double pendulum of rods; a straight muscle with this many mass points passes along the upper one."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -GRAVITY))
    below = np.eye(4)
    below[2, 3] = -length
    builder.add_body("upper", joint=ph.joints.Hinge(HINGE), **rod(bone_mass, length))
    builder.add_body(
        "lower", "upper", joint=ph.joints.Hinge(HINGE), joint_in_parent=below, **rod(bone_mass, length)
    )
    if num_points:
        path = [PathPoint(None, (0, 0, 0)), PathPoint("lower", (0, 0, -INSERTION * length))]
        builder.add_muscle("muscle", path, mass=MASS, num_points=num_points)
    return builder.build()


def muscle_inertia(length: float, insertion: float, angle: float) -> Any:
    """Mass matrix of a uniform straight muscle from the first joint to the second link, in closed form (2, 2)."""
    cosine = length * insertion * np.cos(angle)
    own = insertion**2
    corner = own + cosine
    return MASS / 3.0 * np.array([[length**2 + own + 2.0 * cosine, corner], [corner, own]])


def accelerations(length: float, q: Any, qd: Any) -> Any:
    """Accelerations of the two bones with the continuous muscle, from their Lagrangian."""
    insertion = INSERTION * length
    cosine, sine = np.cos(q[1]), np.sin(q[1])
    third = MASS * length**2 / 3.0
    half = 0.5 * MASS * length**2
    bones = np.array(
        [[5.0 * third + 2.0 * half * cosine, third + half * cosine], [third + half * cosine, third]]
    )
    mass = bones + muscle_inertia(length, insertion, q[1])
    slope = -sine * (half + MASS / 3.0 * length * insertion)  # derivative of the off-diagonal entry
    coriolis = slope * np.array([2.0 * qd[0] * qd[1] + qd[1] ** 2, -(qd[0] ** 2)])
    lower = MASS * GRAVITY * (0.5 * length + 0.5 * insertion) * np.sin(q[0] + q[1])
    upper = MASS * GRAVITY * 2.0 * length * np.sin(q[0])
    return np.linalg.solve(mass, -coriolis - [upper + lower, lower])


def straightening(length: float, angles: Any, until: float = 3.0) -> Any:
    """The continuous muscle's motion from rest until the first angle is zero."""

    def rates(_: float, y: Any) -> Any:
        return [*y[2:], *accelerations(length, y[:2], y[2:])]

    def zero(_: float, y: Any) -> float:
        return y[0]

    zero.terminal = True  # type: ignore[attr-defined]
    start = [*angles, 0.0, 0.0]
    return solve_ivp(rates, (0.0, until), start, "DOP853", events=zero, rtol=1e-11, atol=1e-12)


def set_up() -> tuple[float, Any]:
    """Length of the bones and the angles to release them from, so that both angles are 0 at 0.3 s."""

    def bent(second: float) -> float:
        return straightening(1.0, (FIRST_ANGLE, second)).y[1, -1]

    second = brentq(bent, np.radians(-15.0), np.radians(-10.0), xtol=1e-13)
    seconds = straightening(1.0, (FIRST_ANGLE, second)).t[-1]
    return (STRAIGHT_AT / seconds) ** 2, np.array([FIRST_ANGLE, second])


@claim("muscles.straighten", unit="rad", source="Wang 2022, Fig. 6.4", at_most=1e-3)
def straighten() -> Measurement:
    """Two bones and a muscle of equal mass (20 mass points), released bent: the larger of the two angles at 0.3 s, when
    both are zero by the equations of the continuous muscle; with the muscle's mass lumped onto the bones (details) they
    are not.
    """
    length, angles = set_up()
    lines, ends = {}, {}
    for label, model in (
        ("with the muscle", two_bones(length, 20)),
        ("lumped", two_bones(length, 0, 1.5 * MASS)),
    ):
        result = ph.simulate(model, model.state(q=angles), STRAIGHT_AT, 1e-3, "rk4")
        ends[label] = result.q[-1]
        for k, name in enumerate(("first angle", "second angle")):
            lines[f"{name}, {label}"] = (result.t, np.degrees(result.q[:, k]))
    plot = Plot(
        "muscle_straightens", "Two bones and a muscle of equal mass", "time [s]", "angle [degrees]", lines
    )
    details = {
        "angles at the start [degrees]": np.degrees(angles).tolist(),
        "length of a bone [m]": length,
        "angles at 0.3 s, lumped [degrees]": np.degrees(ends["lumped"]).tolist(),
    }
    return Measurement(float(np.abs(ends["with the muscle"]).max()), details, (plot,))


@claim("muscles.lumped_differs", unit="rad", source="Wang 2022, Fig. 6.4", at_least=0.02)
def lumped_differs() -> float:
    """The same with the muscle's mass lumped onto the bones: the larger angle at 0.3 s."""
    length, angles = set_up()
    model = two_bones(length, 0, 1.5 * MASS)
    result = ph.simulate(model, model.state(q=angles), STRAIGHT_AT, 1e-3, "rk4")
    return float(np.abs(result.q[-1]).max())


def inertia_error(num_points: int) -> float:
    """Largest error of the muscle's part of the mass matrix over its largest entry, at several angles."""
    length, errors = 0.4, []
    models = two_bones(length, num_points), two_bones(length, 0)
    for angle in np.linspace(-2.5, 2.5, 11):
        q = [0.3, angle]
        share = np.subtract(*(ph.mass_matrix(model, model.state(q=q)) for model in models))
        exact = muscle_inertia(length, INSERTION * length, angle)
        errors.append(np.abs(share - exact).max() / np.abs(exact).max())
    return float(max(errors))


@claim("muscles.inertia_by_points", source="Wang 2022, eq. 5.7, sec. 6.2.2", at_most=7e-4)
def inertia_by_points() -> Measurement:
    """The muscle's part of the mass matrix against the closed form of a uniform muscle, 20 mass points: error over the
    largest entry; it decreases with the square of their number (details).
    """
    counts = [1, 2, 5, 10, 20, 40, 80]
    errors = [inertia_error(count) for count in counts]
    plot = Plot(
        "muscle_inertia",
        "A muscle's inertia by the number of mass points",
        "mass points",
        "error over the largest entry",
        {"against the closed form": (counts, errors)},
        "xy",
    )
    details = {f"{count} points": error for count, error in zip(counts, errors)}
    return Measurement(errors[counts.index(20)], details, (plot,))
