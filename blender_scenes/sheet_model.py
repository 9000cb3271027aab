"""A ball on a sheet that deforms with time: a spline surface whose last direction is time. No Blender.

Lee & Terzopoulos 2008, Fig. 5d: the ball slides under gravity over the surface, whose motion is prescribed. A hill
circles in a bowl and pushes the ball about.
"""

from typing import Any

import numpy as np

import physics as ph
from physics import joints
from physics._typing import FloatArray
from physics.geometry import splines

ORDER = 4
ROWS, LAYERS = 9, 8  # control values along each side, and in one period
SIDE = 0.6  # m
PERIOD = 4.0  # s, of the hill's way round
BOWL = 0.6  # 1/m: height of the rim over the square of its distance from the middle
HILL, HILL_RADIUS, HILL_WAY = 0.15, 0.12, 0.15  # m: height, size, distance from the middle

BALL_RADIUS, BALL_MASS = 0.03, 0.2  # m, kg
DAMPING = 0.02  # N s per unit of the coordinate, which is SIDE long: friction of a film of oil
START = (0.25, 0.62)  # shares of the sides
SECONDS = 8.0
TIME_STEP = 2e-3


def hill_middle(time: FloatArray) -> FloatArray:
    """Places of the hill (..., 2) [m]."""
    angle = 2.0 * np.pi * np.asarray(time) / PERIOD
    return HILL_WAY * np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def control_values() -> FloatArray:
    """Control values (ROWS, ROWS, LAYERS, 6): places on a net, heights of bowl and hill, z axis about the normal."""
    side = SIDE * (splines.greville(splines.clamped_knots(ROWS, ORDER), ORDER) - 0.5)
    times = splines.greville(time_knots(), ORDER)
    x, y, time = np.meshgrid(side, side, times, indexing="ij")
    away = np.stack([x, y], axis=-1) - hill_middle(time)
    hill = HILL * np.exp(-np.sum(away**2, axis=-1) / HILL_RADIUS**2)
    slopes = 2.0 * BOWL * np.stack([x, y], axis=-1) - 2.0 * hill[..., None] * away / HILL_RADIUS**2
    values = np.zeros((ROWS, ROWS, LAYERS, 6))
    # z axis (sin b, -sin a cos b, cos a cos b) of Rx(a) Ry(b) along (-slope_x, -slope_y, 1)
    values[..., 0] = np.arctan(slopes[..., 1])
    values[..., 1] = -np.arctan(slopes[..., 0] * np.cos(values[..., 0]))
    values[..., 3], values[..., 4] = x, y
    values[..., 5] = BOWL * (x**2 + y**2) + hill
    return values


def time_knots() -> FloatArray:
    """Knots (LAYERS + ORDER,) of the closed direction of time [s]."""
    return splines.periodic_knots(LAYERS, ORDER, 0.0, PERIOD)


def side_knots() -> FloatArray:
    return splines.clamped_knots(ROWS, ORDER)


def surface() -> joints.SplineSurface:
    """The sheet as a joint of three coordinates: two along it, and time."""
    return joints.SplineSurface(
        control_values(),
        order=ORDER,
        knots=(side_knots(), side_knots(), time_knots()),
        periodic=(False, False, True),
        moving=True,
    )


def layer_weights(times: FloatArray) -> FloatArray:
    """Share (n, LAYERS) that each layer of control values has in the sheet at times (n,)."""
    knots = splines.unrolled_knots(time_knots(), ORDER)
    bases = splines.basis(knots, ORDER, np.asarray(times) % PERIOD)
    weights = bases[:, :LAYERS].copy()
    weights[:, : ORDER - 1] += bases[:, LAYERS:]
    return weights


def inertia() -> FloatArray:
    """Inertia of the solid ball about its middle (3, 3) [kg m^2]."""
    return 0.4 * BALL_MASS * BALL_RADIUS**2 * np.eye(3)


def model(joint: Any = None, damping: float = DAMPING) -> ph.Model:
    """The ball on the moving sheet, or on another joint; the joint's frame is at the point of contact."""
    joint = surface() if joint is None else joint
    builder = ph.ModelBuilder()
    builder.add_body(
        "Ball", joint=joint, mass=BALL_MASS, com=(0.0, 0.0, BALL_RADIUS), inertia=inertia(),
        damping=[damping] * 2 + [0.0] * (joint.num_coordinates - 2),
    )  # fmt: skip
    return builder.build()


def start(of: ph.Model) -> ph.State:
    """First state: at rest on the sheet, near its rim."""
    return of.state(q=[*START, *([0.0] * (of.num_coordinates - 2))])
