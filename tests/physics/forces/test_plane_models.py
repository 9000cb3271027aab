"""The plane models of Ertl et al. 1993: free flight in space (eqs. 5), deformable ground (eq. 8), two links."""

import numpy as np
from scipy.integrate import solve_ivp

import physics as ph
from tests.verification.plane_models import (
    GRAVITY,
    GROUND,
    MASS,
    THETA,
    ground_force,
    links,
    lower_end,
    two_link_accelerations,
    two_link_state,
)


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
