"""Inverse dynamics of sampled motions: against motions with known torques, with noise, with forces from outside."""

import numpy as np
import pytest

import physics as ph
from physics.geometry.smoothing import spline_derivatives, weight_of_cutoff
from tests.physics.generators import random_inertia, random_state, random_tree


def tumbling(seed=0):
    """A free body with a ball joint and two hinges on it, and a spring and damper in one of them."""
    rng = np.random.default_rng(seed)
    builder = ph.ModelBuilder()

    def body(name, parent, joint, mass, **more):
        place = ph.lie.exp(np.array([0.3, -0.2, 0.1, 0.1, 0.2, -0.1])) if parent else None
        return builder.add_body(
            name,
            parent,
            joint=joint,
            joint_in_parent=place,
            mass=mass,
            inertia=random_inertia(rng, mass),
            **more,
        )

    trunk = body("trunk", None, ph.joints.Free(), 3.0)
    ball = body("ball", trunk, ph.joints.Spherical(), 2.0, com=(0.0, 0.1, 0.0))
    body("knee", ball, ph.joints.Hinge((1, 0, 0)), 1.0, com=(0, 0, -0.2), stiffness=2.0, damping=0.1)
    body("arm", trunk, ph.joints.Universal(), 1.0, com=(0, 0, -0.2))
    return builder.build()


def motion(model, t, turns=2.6):
    """Coordinates (T, nv) with rotation vectors that leave their chart, and their exact torques.

    Rotations are exp(a u) exp(b v) with smooth angles: their velocities are known.
    """
    u, v = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])
    a, ad, add = turns * np.pi * t, turns * np.pi + 0 * t, 0 * t
    b, bd, bdd = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    second = ph.lie.so3_exp(b[:, None] * v)
    r = ph.lie.so3_log(ph.lie.so3_exp(a[:, None] * u) @ second)
    turned = u @ second  # exp(b v)^T u
    w = ad[:, None] * turned + bd[:, None] * v
    wd = add[:, None] * turned + ad[:, None] * np.cross(turned, bd[:, None] * v) + bdd[:, None] * v
    exponential = ph.exponential_coordinates
    rotation = (r, exponential.rate_of_body_velocity(r, w), exponential.second_rate_of_body(r, w, wd))
    q, qd, qdd = np.zeros((3, len(t), model.num_coordinates))
    phases = np.arange(model.num_coordinates)
    for k, values in enumerate((q, qd, qdd)):
        values[:] = 0.4 * 5.0**k * np.sin(5.0 * t[:, None] + phases + 0.5 * np.pi * k)
    for first in (3, 6):  # of the free joint and of the ball
        for values, part in zip((q, qd, qdd), rotation):
            values[:, first : first + 3] = part
    tau = np.array([ph.inverse_dynamics(model, model.state(q=x, qd=y), z) for x, y, z in zip(q, qd, qdd)])
    return q, qd, qdd, tau


def test_torques_of_a_known_motion_come_back_and_the_error_falls_with_the_sampling():
    """Splines of degree 5 err by dt^6 in q and dt^4 in its second derivative; rotations turn more than once around."""
    model = tumbling()
    errors = []
    for count in (101, 201):
        t = np.linspace(0.0, 1.0, count)
        q, _, _, tau = motion(model, t)
        assert np.abs(np.diff(q[:, 3:6], axis=0)).max() > 1.0  # the chart changes within the samples
        found = ph.inverse_dynamics_of_samples(model, t, q)
        assert np.abs(found.q - q).max() < 1e-6
        inside = slice(count // 10, -(count // 10))  # ends of a spline are worse
        errors.append(np.abs(found.tau - tau)[inside].max() / np.abs(tau).max())
    assert errors[1] < 1e-6
    assert errors[1] < errors[0] / 12.0  # 16 in the limit


def test_torques_of_a_simulation_come_back():
    """A motion rolled out under torques that vary in time (symplectic steps err by dt: RK4)."""
    rng = np.random.default_rng(4)
    model = random_tree(rng, 4, ("hinge", "universal", "cylindrical"))
    t = np.linspace(0.0, 0.5, 251)
    phases = np.arange(model.num_coordinates)
    tau = np.sin(12.0 * t[:, None] + phases)
    states, state = [], random_state(rng, model)
    q, qd, dt = np.array(state.q), np.array(state.qd), t[1] - t[0]

    def rates(time, q, qd):
        force = np.sin(12.0 * time + phases)
        return ph.forward_dynamics(model, model.state(q=q, qd=qd), force)

    for time in t:
        states.append(q.copy())
        a1 = rates(time, q, qd)
        a2 = rates(time + dt / 2, q + dt / 2 * qd, qd + dt / 2 * a1)
        a3 = rates(time + dt / 2, q + dt / 2 * qd + dt**2 / 4 * a1, qd + dt / 2 * a2)
        a4 = rates(time + dt, q + dt * qd + dt**2 / 2 * a2, qd + dt * a3)
        q, qd = q + dt * qd + dt**2 / 6 * (a1 + a2 + a3), qd + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    found = ph.inverse_dynamics_of_samples(model, t, states)
    inside = slice(20, -20)
    assert np.abs(found.tau - tau)[inside].max() < 1e-4  # RK4's dt^4 over dt^2 of the second derivative


def test_smoothing_takes_noise_away():
    """1e-4 of noise in the samples at 500 Hz drowns second derivatives; a cutoff of 12 Hz leaves a few per cent."""
    model = tumbling()
    t = np.linspace(0.0, 1.0, 501)
    q, _, _, tau = motion(model, t, turns=1.4)
    noisy = q + 1e-4 * np.random.default_rng(1).normal(size=q.shape)
    inside = slice(50, -50)

    def error(**options):
        found = ph.inverse_dynamics_of_samples(model, t, noisy, **options)
        return np.abs(found.tau - tau)[inside].max() / np.abs(tau).max()

    assert error() > 1.0
    assert error(cutoff=12.0) < 0.05
    cutoffs = np.full(model.num_coordinates, 12.0)
    cutoffs[-1] = 15.0
    assert error(cutoff=cutoffs) < 0.05
    assert error(smoothing=weight_of_cutoff(t, 12.0, 5)) == error(cutoff=12.0)


@pytest.mark.parametrize("degree", [3, 5, 7])
def test_the_filter_is_a_butterworth_filter_run_both_ways(degree):
    t = np.linspace(0.0, 4.0, 1001)
    order, middle = degree + 1, slice(400, 600)
    weight = weight_of_cutoff(t, 6.0, degree)
    for frequency in (1.0, 6.0, 9.0):
        w = 2.0 * np.pi * frequency
        value, first, second = spline_derivatives(t, np.sin(w * t)[:, None], degree, weight)
        response = 1.0 / (1.0 + (np.sqrt(2.0) - 1.0) * (frequency / 6.0) ** order)
        # the ends are 4 s / 2 away, many time constants of the filter
        for k, (signal, wave) in enumerate(
            ((value, np.sin(w * t)), (first, np.cos(w * t)), (second, -np.sin(w * t)))
        ):
            # a cubic spline's second derivative is a polygon: (w dt)^2 / 12
            near = 2e-4 if degree > 3 or k < 2 else 5e-3
            assert np.abs(signal[middle, 0] - response * w**k * wave[middle]).max() < near * w**k


def test_smoothing_leaves_polynomials_alone_however_strong():
    t = np.linspace(0.0, 2.0, 2001)
    values = (1.0 + t - 0.3 * t**2)[:, None]
    value, first, second = spline_derivatives(t, values, 5, weight_of_cutoff(t, 5.0, 5))
    assert np.abs(value - values).max() < 1e-11
    assert np.abs(first[:, 0] - (1.0 - 0.6 * t)).max() < 1e-9
    assert np.abs(second + 0.6).max() < 1e-6
    with pytest.raises(ph.ModelError, match="the cutoff is too low"):
        spline_derivatives(t, values, 5, weight_of_cutoff(t, 0.05, 5))


def test_forces_from_outside_do_the_work_that_they_do():
    """tau falls by F . dx/dq_d + M . w_d, with dx/dq by differences of the poses."""
    model = tumbling(2)
    t = np.linspace(0.0, 0.2, 41)
    q = motion(model, t)[0]
    rng = np.random.default_rng(3)
    plates = np.linspace(-0.1, 0.3, 9)
    force, point, moment = rng.normal(size=(3, 9, 3))
    pushes = [
        ph.ExternalForce("knee", plates, force, point, moment),
        ph.ExternalForce("arm", plates, force[::-1]),
    ]
    found = ph.inverse_dynamics_of_samples(model, t, q, external_forces=pushes)
    alone = ph.inverse_dynamics_of_samples(model, t, q)
    n, step = 17, 1e-6

    def at(values):
        return np.array([np.interp(t[n], plates, column) for column in values.T])

    def poses(change):
        return ph.body_poses(model, model.state(q=alone.q[n] + change))

    knee, arm = model.index("knee"), model.index("arm")
    here = poses(0.0)
    local = here[knee][:3, :3].T @ (at(point) - here[knee][:3, 3])
    for d in range(model.num_coordinates):
        unit = step * np.eye(model.num_coordinates)[d]
        ahead, behind = poses(unit), poses(-unit)

        def moved(body, offset, ahead=ahead, behind=behind):
            change = ahead[body][:3, :3] @ offset - behind[body][:3, :3] @ offset
            return (change + ahead[body][:3, 3] - behind[body][:3, 3]) / (2 * step)

        turn = (ahead[knee][:3, :3] - behind[knee][:3, :3]) @ here[knee][:3, :3].T / (2 * step)
        work = at(force) @ moved(knee, local) + at(moment) @ ph.lie.vee(turn)
        work += at(force[::-1]) @ moved(arm, np.zeros(3))
        assert abs((alone.tau - found.tau)[n, d] - work) < 1e-7 * max(1.0, abs(work))


def test_a_standing_body_needs_nothing_but_the_ground():
    builder = ph.ModelBuilder()
    builder.add_body("box", joint=ph.joints.Free(), mass=70.0, com=(0.1, 0.0, 0.0), inertia=np.eye(3))
    model = builder.build()
    t = np.linspace(0.0, 1.0, 11)
    weight = np.tile([0.0, 0.0, 70.0 * 9.81], (11, 1))
    under = np.tile([0.1, 0.0, -1.0], (11, 1))
    ground = ph.ExternalForce("box", t, weight, under)
    found = ph.inverse_dynamics_of_samples(model, t, np.zeros((11, 6)), external_forces=ground)
    assert np.abs(found.tau).max() < 1e-9


def test_bad_input_is_told():
    model = tumbling()
    t = np.linspace(0.0, 1.0, 21)
    q = np.zeros((21, model.num_coordinates))
    force = ph.ExternalForce("knee", [0.0, 0.5], np.zeros((2, 3)))
    unsorted, broken = t.copy(), q.copy()
    unsorted[7] = unsorted[3]
    broken[4, 2] = np.nan
    uneven = np.full(model.num_coordinates, 6.0)
    uneven[4] = 7.0
    for arguments, options, message in (
        ((unsorted, q), {}, r"times of the samples must increase, got 0.3 before 0.15 at 7"),
        ((t, broken), {}, r"samples of the coordinates must be finite, got nan at \[4, 2\]"),
        ((t, q[:, 1:]), {}, r"samples of the coordinates must have shape \(21, 12\), got \(21, 11\)"),
        ((t[:5], q[:5]), {}, "at least 6 numbers are needed, got 5"),
        ((t, q), {"degree": 4}, r"degree must be one of \(3, 5, 7\), got 4"),
        ((t, q), {"cutoff": -6.0}, "cutoff must be positive, got -6"),
        ((t, q), {"cutoff": 6.0, "smoothing": 1.0}, "not both"),
        ((t, q), {"cutoff": uneven}, "must be one for the rotation vector of trunk"),
        ((t, q), {"smoothing": -1.0}, "smoothing must not be negative"),
        ((t, q), {"external_forces": [force]}, "given from 0 to 0.5 s, but the motion needs it at 1 s"),
        ((t, q), {"external_forces": [3.0]}, "must be an ExternalForce, got 3.0"),
    ):
        with pytest.raises(ph.ModelError, match=message):
            ph.inverse_dynamics_of_samples(model, *arguments, **options)
    away = ph.ExternalForce("hip", t, np.zeros((21, 3)))
    with pytest.raises(ph.ModelError, match="no body is named 'hip'"):
        ph.inverse_dynamics_of_samples(model, t, q, external_forces=away)
    with pytest.raises(
        ph.ModelError, match=r"force of the external force on 'knee' must have shape \(2, 3\)"
    ):
        ph.ExternalForce("knee", [0.0, 0.5], np.zeros((3, 3)))
