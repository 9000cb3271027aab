"""Three rods that fall on compliant ground with increasing damping. No Blender.

Ertl et al. 1993, Fig. 2: the motion in a vertical plane (eqs. 4 and 5) until an end meets the ground, which pushes back
by eq. 8. All three begin alike.
"""

import numpy as np

import physics as ph
from physics._typing import FloatArray

LENGTH, RADIUS, MASS = 1.0, 0.02, 1.0  # m, m, kg
INERTIA = MASS * LENGTH**2 / 12.0  # across the rod
STIFFNESS, EXPONENT, FRICTION, SMOOTH_SPEED = 3e5, 1.5, 0.3, 0.02  # a [N/m^b], b, mu, m/s
DAMPINGS = (2.0, 25.0, 150.0)  # d [N s/m]
NAMES = tuple(f"Rod {number}" for number in (1, 2, 3))
LANES = (-1.8, 0.0, 1.8)  # y [m]

PLACE = (0.0, 1.5, np.radians(55.0))  # x, z of the middle [m], angle from x towards z at first
VELOCITY = (0.55, 0.0, 0.6)
SECONDS = 2.0
TIME_STEP = 1.0 / 48000.0  # s; small, so that the jump of the damping force at touch-down is resolved

# the planes' axes: x as in the world, y upward
UPWARD = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])


def build_model(dampings: tuple[float, ...] = DAMPINGS, friction: float = FRICTION) -> ph.Model:
    """One rod per damping, each in its own vertical plane; x along the rod."""
    builder = ph.ModelBuilder()
    for name, lane, damping in zip(NAMES, LANES, dampings):
        plane = UPWARD.copy()
        plane[1, 3] = lane
        builder.add_body(
            name,
            joint=ph.joints.Planar(),
            joint_in_parent=plane,
            mass=MASS,
            inertia=np.diag([0.5 * MASS * RADIUS**2, INERTIA, INERTIA]),
        )
        ends = [[-0.5 * LENGTH, 0.0, 0.0], [0.5 * LENGTH, 0.0, 0.0]]
        builder.add_ground(
            f"{name} ground", name, ends, stiffness=STIFFNESS, exponent=EXPONENT, damping=damping,
            friction=friction, radius=RADIUS, smooth_speed=SMOOTH_SPEED,
        )  # fmt: skip
    return builder.build()


def start(model: ph.Model) -> ph.State:
    """First state: all rods have the same place and velocity in their planes."""
    count = model.num_bodies
    return model.state(q=PLACE * count, qd=VELOCITY * count)


def free_flight(times: FloatArray) -> FloatArray:
    """x, z and angle (n, 3) without ground (Ertl et al. 1993, eq. 5)."""
    flown = np.array(PLACE) + np.outer(times, VELOCITY)
    flown[:, 1] -= 0.5 * 9.81 * times**2
    return flown


def first_touch() -> float:
    """Time [s] at which the first end meets the ground."""
    times = np.arange(0.0, SECONDS, 1e-5)
    lower = free_flight(times)
    gap = lower[:, 1] - 0.5 * LENGTH * np.abs(np.sin(lower[:, 2])) - RADIUS
    return float(times[np.argmax(gap < 0.0)])


def ground_work(damping: float, q: FloatArray, qd: FloatArray) -> FloatArray:
    """Power (n,) [W] that the ground takes from one rod in coordinates (n, 3), by eq. 8: the power of damping and
    friction at both ends.
    """
    power = np.zeros(len(q))
    for half in (-0.5 * LENGTH, 0.5 * LENGTH):
        depth = RADIUS - (q[:, 1] + half * np.sin(q[:, 2]))
        sinking = -(qd[:, 1] + half * np.cos(q[:, 2]) * qd[:, 2])
        # friction acts where the rod touches, a radius below its end
        slip = qd[:, 0] - half * np.sin(q[:, 2]) * qd[:, 2] + RADIUS * qd[:, 2]
        elastic = STIFFNESS * np.maximum(depth, 0.0) ** EXPONENT
        push = np.where(depth > 0.0, np.maximum(elastic + damping * sinking, 0.0), 0.0)
        x = np.minimum(np.abs(slip) / SMOOTH_SPEED, 1.0)
        power += (push - elastic) * sinking + FRICTION * push * 0.5 * (3.0 - x**2) * x * np.abs(slip)
    return power


def rod_energy(q: FloatArray, qd: FloatArray) -> FloatArray:
    """Energy (n,) [J] of one rod and the ground under it, computed without `physics`."""
    energy = (
        0.5 * MASS * (qd[:, 0] ** 2 + qd[:, 1] ** 2) + 0.5 * INERTIA * qd[:, 2] ** 2 + 9.81 * MASS * q[:, 1]
    )
    for half in (-0.5 * LENGTH, 0.5 * LENGTH):
        depth = np.maximum(RADIUS - (q[:, 1] + half * np.sin(q[:, 2])), 0.0)
        energy = energy + STIFFNESS * depth ** (EXPONENT + 1.0) / (EXPONENT + 1.0)
    return energy


def balance(result: ph.Result) -> FloatArray:
    """Largest error of each rod's energy balance with the ground's work, over the energy at first."""
    found = []
    for k, damping in enumerate(DAMPINGS):
        q, qd = result.q[:, 3 * k : 3 * k + 3], result.qd[:, 3 * k : 3 * k + 3]
        power = ground_work(damping, q, qd)
        work = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(result.t))])
        energy = rod_energy(q, qd)
        found.append(np.abs(energy + work - energy[0]).max() / energy[0])
    return np.array(found)
