"""The falling rods: free flight, energy, and what damping and friction do. No Blender."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import rod_model

DT = 1.0 / 12000.0


@pytest.fixture(scope="module")
def fallen():
    model = rod_model.build_model()
    return ph.simulate(model, rod_model.start(model), rod_model.SECONDS, DT, "rk4")


def test_flight_is_that_of_the_closed_form(fallen):
    flown = fallen.t < rod_model.first_touch()
    wanted = np.tile(rod_model.free_flight(fallen.t[flown]), 3)
    np.testing.assert_allclose(fallen.q[flown], wanted, atol=1e-11)


def test_energy_is_what_the_ground_leaves(fallen):
    # the trapezoidal rule misses up to half a step of the damping force's jump, which grows with the damping
    assert (rod_model.balance(fallen) < (0.003, 0.005, 0.03)).all()


def test_energy_by_hand_is_the_models(fallen):
    by_hand = sum(rod_model.rod_energy(fallen.q[:, k : k + 3], fallen.qd[:, k : k + 3]) for k in (0, 3, 6))
    np.testing.assert_allclose(by_hand[::500], fallen.energy[::500, 2], rtol=1e-12)


def test_energy_stays_without_damping_and_friction():
    model = rod_model.build_model((0.0,), friction=0.0)
    result = ph.simulate(model, rod_model.start(model), rod_model.SECONDS, DT, "rk4")
    total = result.energy[:, 2]
    # contact begins and ends between steps, where the force is no polynomial: 1.7e-6 of it
    assert np.abs(total - total[0]).max() < 1e-5 * total[0]


def test_more_damping_leaves_less(fallen):
    left = [rod_model.rod_energy(fallen.q[-1:, k : k + 3], fallen.qd[-1:, k : k + 3])[0] for k in (0, 3, 6)]
    assert left[0] > 2.0 * left[1] > 4.0 * left[2]
