"""The hand-written plane models of Ertl et al. 1993: a rod, deformable ground (eq. 8), two links (eqs. 9-11).

Angles are positive from x to z. Eqs. 12-14 are misprinted. Two links use eqs. 9-11, with 11 differentiated twice and
the moments of 9c in the sense of the angle, as in 10c.
"""

from typing import Any

import numpy as np

import physics as ph

GRAVITY = 9.81
MASS, LENGTH, THETA = (1.5, 2.5), (0.6, 0.9), (0.05, 0.2)
GROUND = {"stiffness": 3e4, "exponent": 1.5, "damping": 40.0, "friction": 0.4, "smooth_speed": 0.05}
# the plane x, z: x, y of the joint are x, z of the world
PLANE = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])


def moved(x: float) -> Any:
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


def links(count: int, ground: dict[str, float] | None = None, forces: bool = False) -> ph.Model:
    """One or two rods in the plane; the first has coordinates of its mass centre, and ground or forces at its end."""
    builder = ph.ModelBuilder(gravity=(0, 0, -GRAVITY))
    for k in range(count):
        builder.add_body(
            f"link_{k}",
            None if k == 0 else "link_0",
            joint=ph.joints.Hinge() if k else ph.joints.Planar(),
            joint_in_parent=moved(LENGTH[0] / 2) if k else PLANE,
            body_in_joint=moved(LENGTH[1] / 2) if k else None,
            mass=MASS[k],
            inertia=np.diag([0.5, 1.0, 1.0]) * THETA[k],
        )
    if ground:
        builder.add_ground("ground", "link_0", (-LENGTH[0] / 2, 0, 0), **ground)
    if forces:
        for axis, name in ((0, "F_Gx"), (2, "F_Gz")):
            builder.add_input(name)
            builder.add_force(name, "link_0", np.eye(3)[axis], name, point=(-LENGTH[0] / 2, 0, 0))
    return builder.build()


def moment(r: Any, f: Any) -> float:
    """Moment, positive from x to z."""
    return r[0] * f[1] - r[1] * f[0]


def ground_force(z: float, velocity: Any, ground: dict[str, float] = GROUND) -> Any:
    """Eq. 8 at an end at height z, with friction against sliding, smooth below a speed."""
    if z >= 0.0:
        return np.zeros(2)
    push = max(ground["stiffness"] * (-z) ** ground["exponent"] - ground["damping"] * velocity[1], 0.0)
    x = min(abs(velocity[0]) / ground["smooth_speed"], 1.0)
    rub = ground["friction"] * push * 0.5 * x * (3.0 - x * x)
    return np.array([-np.sign(velocity[0]) * rub, push])


def lower_end(y: Any) -> tuple[float, Any]:
    """Height and velocity of the lower end of the first link, from (x, z, angle) and their rates."""
    half = LENGTH[0] / 2
    c, s = np.cos(y[2]), np.sin(y[2])
    n = len(y) // 2
    return y[1] - half * s, np.array([y[n] + half * s * y[n + 2], y[n + 1] - half * c * y[n + 2]])


def rod_slope(_: float, y: Any, ground: dict[str, float]) -> Any:
    """Eqs. 6 with the force of eq. 8 instead of the impact."""
    force = ground_force(*lower_end(y), ground)
    lever = -LENGTH[0] / 2 * np.array([np.cos(y[2]), np.sin(y[2])])
    rates = [force[0] / MASS[0], force[1] / MASS[0] - GRAVITY, moment(lever, force) / THETA[0]]
    return np.concatenate([y[3:], rates])


def two_link_accelerations(y: Any, force: Any, torque: float) -> Any:
    """x_c1'', z_c1'', phi_1'', x_c2'', z_c2'', phi_2'' and F_12 of eqs. 9, 10 and 11 differentiated twice; y is
    x_c1, z_c1, phi_1, phi_2 and their rates.
    """
    c, s = np.cos(y[2:4]), np.sin(y[2:4])
    square = y[6:8] ** 2
    half = np.array(LENGTH) / 2
    a, b = np.zeros((8, 8)), np.zeros(8)
    upper, lower = half[0] * np.array([c[0], s[0]]), -half[1] * np.array([c[1], s[1]])  # r_12, r_21
    a[0, [0, 6]], b[0] = [MASS[0], -1.0], force[0]  # 9a
    a[1, [1, 7]], b[1] = [MASS[0], -1.0], force[1] - MASS[0] * GRAVITY  # 9b
    a[2, [2, 6, 7]], b[2] = [THETA[0], upper[1], -upper[0]], moment(-upper, force) + torque  # 9c
    a[3, [3, 6]] = [MASS[1], 1.0]  # 10a
    a[4, [4, 7]], b[4] = [MASS[1], 1.0], -MASS[1] * GRAVITY  # 10b
    a[5, [5, 6, 7]], b[5] = [THETA[1], -lower[1], lower[0]], -torque  # 10c
    # 11a, 11b: x_c1 + l_1 / 2 cos phi_1 = x_c2 - l_2 / 2 cos phi_2, and with sines
    a[6, [0, 2, 3, 5]] = [1.0, -half[0] * s[0], -1.0, -half[1] * s[1]]
    b[6] = half[0] * c[0] * square[0] + half[1] * c[1] * square[1]
    a[7, [1, 2, 4, 5]] = [1.0, half[0] * c[0], -1.0, half[1] * c[1]]
    b[7] = half[0] * s[0] * square[0] + half[1] * s[1] * square[1]
    return np.linalg.solve(a, b)


def two_link_state(model: ph.Model, y: Any) -> ph.State:
    """The state of the model; its hinge rotates the second link relative to the first."""
    q, qd = y[:4].copy(), y[4:].copy()
    q[3] -= q[2]
    qd[3] -= qd[2]
    return model.state(q=q, qd=qd)


def two_link_difference(rng: np.random.Generator) -> float:
    """Largest difference of accelerations from eqs. 9-11 in a random state under random forces, relative."""
    model = links(2, forces=True)
    y = rng.normal(size=8) * [1, 1, 2, 2, 1, 1, 3, 3]
    force, torque = 20.0 * rng.normal(size=2), 5.0 * rng.normal()
    expected = two_link_accelerations(y, force, torque)
    state = two_link_state(model, y)
    tau = {"F_Gx": force[0], "F_Gz": force[1], "link_1.angle": -torque}  # T_12 turns the first link
    qdd = ph.forward_dynamics(model, state, tau)
    jacobian = ph.body_jacobian(model, state, "link_1")
    second, twist = jacobian @ qdd + ph.body_bias(model, state, "link_1"), jacobian @ state.qd
    centre = second[3:] + np.cross(twist[:3], twist[3:])  # of the mass centre, in the body's axes
    centre = (ph.body_poses(model, state)[1][:3, :3] @ centre)[[0, 2]]
    found = np.array([*qdd[:3], *centre, qdd[2] + qdd[3]])
    return float(np.abs(found - expected[:6]).max() / np.abs(expected[:6]).max())
