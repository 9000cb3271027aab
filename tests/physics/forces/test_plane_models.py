"""The plane models of Ertl et al. 1993: free flight (eqs. 5), deformable ground (eq. 8), two links (eqs. 9-11).

Angles turn from x to z. Eqs. 12-14 are misprinted: two links are compared with eqs. 9-11, where 11 is differentiated
twice and 9c has its moments in the sense of the angle, as 10c has.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import physics as ph

GRAVITY = 9.81
MASS, LENGTH, THETA = (1.5, 2.5), (0.6, 0.9), (0.05, 0.2)
GROUND = {"stiffness": 3e4, "exponent": 1.5, "damping": 40.0, "friction": 0.4, "smooth_speed": 0.05}
# the plane x, z: joint axes x, y are x, z of the world
PLANE = np.array([[1.0, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])


def moved(x):
    pose = np.eye(4)
    pose[0, 3] = x
    return pose


def links(count, ground=None, forces=False):
    """One or two rods in the plane; the first is placed by its mass centre, its lower end may have ground or forces."""
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


def moment(r, f):
    """In the sense from x to z."""
    return r[0] * f[1] - r[1] * f[0]


def ground_force(z, velocity, ground=GROUND):
    """Eq. 8 at an end at height z, with friction against the sliding, smooth below a speed."""
    if z >= 0.0:
        return np.zeros(2)
    push = max(ground["stiffness"] * (-z) ** ground["exponent"] - ground["damping"] * velocity[1], 0.0)
    x = min(abs(velocity[0]) / ground["smooth_speed"], 1.0)
    rub = ground["friction"] * push * 0.5 * x * (3.0 - x * x)
    return np.array([-np.sign(velocity[0]) * rub, push])


def lower_end(y):
    """Height and velocity of the lower end of the first link, from (x, z, angle) and their rates."""
    half = LENGTH[0] / 2
    c, s = np.cos(y[2]), np.sin(y[2])
    n = len(y) // 2
    return y[1] - half * s, np.array([y[n] + half * s * y[n + 2], y[n + 1] - half * c * y[n + 2]])


def rod_slope(_, y, ground):
    """Eqs. 6 with the force of eq. 8 in place of the blow."""
    force = ground_force(*lower_end(y), ground)
    lever = -LENGTH[0] / 2 * np.array([np.cos(y[2]), np.sin(y[2])])
    rates = [force[0] / MASS[0], force[1] / MASS[0] - GRAVITY, moment(lever, force) / THETA[0]]
    return np.concatenate([y[3:], rates])


def two_link_accelerations(y, force, torque):
    """x_c1'', z_c1'', phi_1'', x_c2'', z_c2'', phi_2'' and F_12 of eqs. 9, 10 and 11 differentiated twice; y holds
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


def two_link_state(model, y):
    """The hinge turns the second link against the first."""
    q, qd = y[:4].copy(), y[4:].copy()
    q[3] -= q[2]
    qd[3] -= qd[2]
    return model.state(q=q, qd=qd)


@pytest.mark.parametrize("seed", range(20))
def test_two_links_have_the_accelerations_of_equations_9_to_11(seed):
    rng = np.random.default_rng(seed)
    model = links(2, forces=True)
    y = rng.normal(size=8) * [1, 1, 2, 2, 1, 1, 3, 3]
    force, torque = 20.0 * rng.normal(size=2), 5.0 * rng.normal()
    expected = two_link_accelerations(y, force, torque)
    state = two_link_state(model, y)
    tau = {"F_Gx": force[0], "F_Gz": force[1], "link_1.angle": -torque}  # T_12 turns the first link
    qdd = ph.forward_dynamics(model, state, tau)
    found = [*qdd[:3], qdd[2] + qdd[3]]
    assert np.abs(found - expected[[0, 1, 2, 5]]).max() < 1e-12 * np.abs(expected).max()
    second = ph.body_jacobian(model, state, "link_1") @ qdd + ph.body_bias(model, state, "link_1")
    twist = ph.body_jacobian(model, state, "link_1") @ state.qd
    centre = second[3:] + np.cross(twist[:3], twist[3:])  # of the mass centre, in the body's axes
    centre = (ph.body_poses(model, state)[1][:3, :3] @ centre)[[0, 2]]
    assert np.abs(centre - expected[3:5]).max() < 1e-12 * np.abs(expected).max()


def test_two_links_on_the_ground_move_as_equations_8_to_11_say():
    model = links(2, ground=GROUND)

    def slope(_, y):
        force = ground_force(*lower_end(y))
        return np.concatenate([y[4:], two_link_accelerations(y, force, 0.0)[[0, 1, 2, 5]]])

    start = np.array([0.0, 0.3, 1.3, 1.8, 0.4, -1.5, 0.3, -0.2])  # comes down on its lower end
    times = np.linspace(0.0, 0.3, 31)
    tight = {"rtol": 1e-11, "atol": 1e-12, "max_step": 1e-3}
    expected = solve_ivp(slope, (0.0, 0.3), start, method="DOP853", t_eval=times, **tight).y.T
    pressed = [lower_end(y)[0] < 0.0 for y in expected]
    assert any(pressed) and not all(pressed)
    options = {"record_interval": 0.01, "rtol": 1e-11, "atol": 1e-12}
    result = ph.simulate(model, two_link_state(model, start), 0.3, 1e-3, "DOP853", **options)
    found = result.q.copy()
    found[:, 3] += found[:, 2]
    # both methods cross the jump of d delta' in steps that their tolerances make short
    assert np.abs(found - expected[:, :4]).max() < 1e-6


def test_rod_in_free_flight_follows_equations_5():
    model = links(1)
    start = np.array([0.2, 1.0, 0.4, 1.5, 2.0, 7.0])
    t = np.linspace(0.0, 1.0, 11)
    expected = np.stack([0.2 + 1.5 * t, 1.0 + 2.0 * t - 0.5 * GRAVITY * t**2, 0.4 + 7.0 * t], axis=1)
    result = ph.simulate(model, model.state(q=start[:3], qd=start[3:]), 1.0, 1e-2, "rk4", record_interval=0.1)
    assert np.abs(result.q - expected).max() < 1e-13  # polynomials of second degree: exact but for round-off


def test_rod_in_free_flight_in_space_follows_equations_5():
    """The same rod on a free joint, its rotation vector going through its charts."""
    builder = ph.ModelBuilder(gravity=(0, 0, -GRAVITY))
    builder.add_body("rod", joint=ph.joints.Free(), mass=MASS[0], inertia=np.diag([0.5, 1.0, 1.0]) * THETA[0])
    model = builder.build()
    state = model.state(q=[0.2, 0, 1.0, 0, -0.4, 0], qd=[1.5, 0, 2.0, 0, -7.0, 0])
    result = ph.simulate(model, state, 1.0, 1e-3, "rk4", record_interval=0.1)
    t, pose = result.t, result.poses[:, 0]
    along = np.stack([np.cos(0.4 + 7.0 * t), np.zeros(len(t)), np.sin(0.4 + 7.0 * t)], axis=1)
    assert np.abs(pose[:, :3, 0] - along).max() < 1e-10
    assert np.abs(pose[:, 2, 3] - (1.0 + 2.0 * t - 0.5 * GRAVITY * t**2)).max() < 1e-12


@pytest.mark.parametrize("angle", [1.2, 1.5707963267948966, 2.2])
@pytest.mark.parametrize("integrator, tolerance", [("rk4", 4e-5), ("DOP853", 1e-6)])
def test_rod_on_the_ground_of_equation_8_against_its_own_equations(angle, integrator, tolerance):
    model = links(1, ground=GROUND)
    start = np.array([0.0, LENGTH[0] / 2 * np.sin(angle) + 0.01, angle, 0.8, -1.0, 0.5])
    times = np.linspace(0.0, 0.2, 21)
    tight = {"rtol": 1e-11, "atol": 1e-13, "max_step": 5e-4}
    solution = solve_ivp(rod_slope, (0.0, 0.2), start, "DOP853", t_eval=times, args=(GROUND,), **tight)
    assert min(lower_end(y)[0] for y in solution.y.T) < -1e-3
    state = model.state(q=start[:3], qd=start[3:])
    options = {"rtol": 1e-11, "atol": 1e-13} if integrator == "DOP853" else {}
    result = ph.simulate(model, state, 0.2, 1e-5, integrator, record_interval=0.01, **options)
    # RK4: d delta' jumps by 40 m/s^2 of acceleration where the end touches, for a part of a step of 1e-5 s, and 0.1 s
    # go by behind it; DOP853 brackets the jump by its tolerance
    assert np.abs(result.q - solution.y.T[:, :3]).max() < tolerance


def test_more_damping_of_the_ground_bounces_less():
    """Fig. 2: the same fall with three dampings."""
    tops = []
    for damping in (5.0, 40.0, 200.0):
        model = links(1, ground=GROUND | {"damping": damping, "friction": 0.0})
        state = model.state(q=[0.0, LENGTH[0] / 2 + 0.3, np.pi / 2])
        result = ph.simulate(model, state, 0.6, 5e-5, "rk4", record_interval=1e-3)
        landed = int(np.argmax(result.q[:, 1] < LENGTH[0] / 2))
        low = landed + int(np.argmin(result.q[landed:, 1]))
        tops.append(result.q[low:, 1].max() - LENGTH[0] / 2)
        energy = result.energy[:, 2]
        # energy grows by the integrator's error alone: that of the jump of d delta' met within a step
        assert np.diff(energy).max() < 1e-4 * energy[0]
    assert tops[0] > tops[1] > tops[2]
