"""Balls that roll without slip on spline surfaces."""

from functools import cache
from typing import Any

import numpy as np

import physics as ph
from tests.physics.constraints.test_rolling import RADIUS, ball_on, net

from .claim import Measurement, claim

SOURCE = "Lee & Terzopoulos 2008, sec. 8"
TILT = 0.3
BOWL = np.array([0.4, 0.2])  # heights in x^2, y^2 [1/m]


def slips(model: Any, result: Any) -> float:
    """Largest tangential speed of the ball's contact point, from poses and twists only [m/s]."""
    surface = model.bodies[0].joint.joints[0]
    place = np.asarray(model.bodies[0].joint_in_parent)
    worst = 0.0
    for q, qd, pose in zip(result.q, result.qd, result.poses[:, 0]):
        frame = place @ surface.transform(q[:2])
        touch, tangents = frame[:3, 3], frame[:3, :2]
        state = model.state(q=q, qd=qd)
        twist = ph.body_jacobian(model, state, "ball") @ qd
        spin, going = pose[:3, :3] @ twist[:3], pose[:3, :3] @ twist[3:]
        slip = tangents.T @ (going + np.cross(spin, touch - pose[:3, 3]))
        worst = max(worst, float(np.abs(slip).max()))
    return worst


@claim("rolling.slope", unit="m", source=SOURCE, at_most=1e-10)
def slope() -> Measurement:
    """Ball thrown across a slope of 0.3 rad, rolling, 0.3 s of RK4 at 1 ms, against the parabola with 5/7 g sin(a):
    largest distance.
    """
    values = net(lambda grid: np.zeros(grid.shape[:2]))
    model = ball_on(ph.joints.SplineSurface(values, order=(4, 4)), slope=TILT)
    start = model.state().q
    scale = model.bodies[0].joint.joints[0].evaluate(start[:2])[1][3, 0]  # metres per unit of a parameter
    # thrown across at 0.5 m/s: it rotates in the other sense about x
    thrown = ph.assemble(model, model.state(q=start, qd=[0.0, 0.5 / scale, -0.5 / RADIUS, 0.0, 0.0]))
    result = ph.simulate(model, thrown, 0.3, 1e-3, "rk4", record_interval=0.01)
    begin = result.poses[0, 0, :3, 3]
    speed = ph.body_jacobian(model, thrown, "ball") @ thrown.qd
    across = result.poses[0, 0, :3, :3] @ speed[3:]
    downhill = np.array([np.cos(TILT), 0.0, -np.sin(TILT)])
    fall = 5.0 / 7.0 * 9.81 * np.sin(TILT)
    expected = begin + np.outer(result.t, across) + 0.5 * fall * np.outer(result.t**2, downhill)
    away = float(np.linalg.norm(result.poses[:, 0, :3, 3] - expected, axis=1).max())
    return Measurement(
        away, {"speed across [m/s]": float(across[1]), "largest slip [m/s]": slips(model, result)}
    )


@cache
def in_bowl(duration: float) -> tuple[Any, Any]:
    """A ball released on the side of a bowl that is twice as steep along x as along y; its frames are normal to it."""
    values = net(lambda grid: grid**2 @ BOWL)
    slopes = 2.0 * values[..., 3:5] * BOWL
    normals = np.concatenate([-slopes, np.ones((9, 9, 1))], axis=-1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    axes = np.cross([0.0, 0.0, 1.0], normals)
    sines = np.linalg.norm(axes, axis=-1, keepdims=True)
    frames = np.broadcast_to(np.eye(4), (9, 9, 4, 4)).copy()
    frames[..., :3, :3] = ph.lie.so3_exp(axes / np.maximum(sines, 1e-12) * np.arcsin(sines))
    frames[..., :3, 3] = values[..., 3:]
    model = ball_on(ph.joints.SplineSurface.from_frames(frames, order=(6, 6)))
    start = model.state(model.state().q + [0.3, 0.1, 0.0, 0.0, 0.0])
    return model, ph.simulate(model, start, duration, 1e-3, "rk4", record_interval=0.02)


@claim("rolling.bowl_energy", source=SOURCE, at_most=1e-8)
def bowl_energy() -> Measurement:
    """Energy drift over the swing of a ball that rolls to and fro in a bowl, 4 s of RK4 at 1 ms."""
    result = in_bowl(4.0)[1]
    swing = np.ptp(result.energy[:, 0])
    drift = np.abs(result.energy[:, 2] - result.energy[0, 2]).max()
    return Measurement(float(drift / swing), {"swing [J]": float(swing)})


@claim("rolling.bowl_slip", unit="m/s", source=SOURCE, at_most=1e-10)
def bowl_slip() -> Measurement:
    """Tangential speed of the ball's contact point over these 4 s, from poses and twists: largest."""
    model, result = in_bowl(4.0)
    speeds = np.gradient(result.poses[:, 0, :3, 3], result.t, axis=0)
    return Measurement(slips(model, result), {"fastest [m/s]": float(np.linalg.norm(speeds, axis=1).max())})
