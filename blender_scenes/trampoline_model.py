"""A ball on a trampoline and a bead on a springy wire: spline surfaces that bend under what is on them. No Blender.

The dynamic twin of `sheet_model`: there the surface moves as prescribed, here under the weight and inertia of the
bodies (Lee & Terzopoulos 2008, sec. 8).
"""

import numpy as np

import physics as ph
from physics._typing import FloatArray
from physics.geometry import splines

ORDER = 4
ROWS, SIDE = 9, 0.6  # control points along each side of the trampoline, m
SHEET = {"density": 0.6, "tension": 25.0, "bending": 0.01, "damping": 2e-3}  # kg/m^2, N/m, N m, s
BALL = (0.045, 0.5)  # radius, mass: m, kg
BALL_START = (0.12, 0.30)  # shares of the sides
POINTS, SPAN, SAG, BEHIND, HEIGHT = 13, 0.7, 0.16, 0.42, 0.16  # of the wire: number, m
WIRE = {"density": 0.05, "tension": 12.0, "bending": 0.01, "damping": 1e-3}  # kg/m, N, N m^2, s
BEAD = (0.022, 0.08)
BEAD_START = 0.12
DRAG = 0.02  # N s per unit of a coordinate: friction of a film of oil
SECONDS, TIME_STEP = 6.0, 1e-3


def sheet_joint() -> ph.joints.FlexibleSurface:
    """The trampoline at rest: its coordinates are shares of the sides."""
    side = SIDE * (splines.greville(splines.clamped_knots(ROWS, ORDER), ORDER) - 0.5)
    values = np.zeros((ROWS, ROWS, 6))
    values[..., 3], values[..., 4] = side[:, None], side[None, :]
    return ph.joints.FlexibleSurface(ph.joints.SplineSurface(values, order=ORDER))


def wire_joint() -> ph.joints.FlexibleSurface:
    """The wire at rest: a parabola behind the trampoline."""
    share = splines.greville(splines.clamped_knots(POINTS, ORDER), ORDER) - 0.5
    values = np.zeros((POINTS, 6))
    values[:, 3], values[:, 4] = SPAN * share, BEHIND
    values[:, 5] = HEIGHT + 4.0 * SAG * share**2
    return ph.joints.FlexibleSurface(ph.joints.SplineSurface(values, order=ORDER))


def model(damped: bool = True) -> ph.Model:
    """Ball and bead; the frame of the ball is where it touches the sheet."""
    builder = ph.ModelBuilder()
    radius, mass = BALL
    builder.add_body(
        "Ball", joint=sheet_joint(), mass=mass, com=(0.0, 0.0, radius), inertia=0.4 * mass * radius**2 * np.eye(3),
        damping=[0.0, 0.0, 0.0, DRAG * damped, DRAG * damped],
    )  # fmt: skip
    radius, mass = BEAD
    builder.add_body(
        "Bead", joint=wire_joint(), mass=mass, inertia=0.4 * mass * radius**2 * np.eye(3),
        damping=[0.0, 0.0, 0.0, DRAG * damped],
    )  # fmt: skip
    for name, body, law in (("Trampoline", "Ball", SHEET), ("Wire", "Bead", WIRE)):
        builder.add_flexible_surface(name, [body], **(law if damped else law | {"damping": 0.0}))
    return builder.build()


def start(of: ph.Model) -> ph.State:
    """First state: at rest, surfaces as they are without load."""
    return of.state({"Ball.q_1": BALL_START[0], "Ball.q_2": BALL_START[1], "Bead.q_1": BEAD_START})


def run(of: ph.Model, interval: float, seconds: float = SECONDS) -> ph.Result:
    """The motion, sampled at an interval [s]."""
    return ph.simulate(of, start(of), seconds, TIME_STEP, "rk4", record_interval=interval)


def sheet_points(nodes: FloatArray, count: int) -> FloatArray:
    """Points (T, count, count, 3) of the trampoline for its control points (T, n, 3)."""
    bases = splines.basis(splines.clamped_knots(ROWS, ORDER), ORDER, np.linspace(0.0, 1.0, count))
    return np.einsum("ai,bj,tijk->tabk", bases, bases, nodes.reshape(-1, ROWS, ROWS, 3))


def wire_points(nodes: FloatArray, count: int) -> FloatArray:
    """Points (T, count, 3) of the wire for its control points (T, n, 3)."""
    bases = splines.basis(splines.clamped_knots(POINTS, ORDER), ORDER, np.linspace(0.0, 1.0, count))
    return np.einsum("ai,tik->tak", bases, nodes)
