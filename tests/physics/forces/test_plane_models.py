"""The plane models of Ertl et al. 1993: free flight (eqs. 5), deformable ground (eq. 8), two links (eqs. 9-11)."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import physics as ph
from tests.verification.plane_models import (
    GRAVITY,
    GROUND,
    LENGTH,
    MASS,
    THETA,
    ground_force,
    links,
    lower_end,
    rod_slope,
    two_link_accelerations,
    two_link_difference,
    two_link_state,
)


@pytest.mark.parametrize("seed", range(20))
def test_two_links_have_the_accelerations_of_equations_9_to_11(seed):
    assert two_link_difference(np.random.default_rng(seed)) < 1e-12


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
