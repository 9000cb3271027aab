"""Inertia of a muscle's length: energy A L'^2 / 2, A J^T J in the mass matrix, no weight."""

import json

import numpy as np
import pytest

import physics as ph
from physics.muscles import MassPoints

from .test_slopes import ACCURACY, PATHS, STEP, around, difference, states, tree

ARMATURE = 0.7
WAYS = {name: PATHS[name]() for name in ("straight", "moving")} | {"sphere": around("sphere", 5e-3)}
MASSES = {"alone": None, "massive": MassPoints.uniform(0.3, 7)}


@pytest.mark.parametrize("mass", MASSES)
@pytest.mark.parametrize("way", WAYS)
def test_dynamics_are_those_of_the_length(way, mass):
    options = {"tension": 3.0, "masses": MASSES[mass]}
    model, bare = tree([WAYS[way]], armature=ARMATURE, **options), tree([WAYS[way]], **options)
    state, qdd = states(model)
    lengths = ph.muscle_lengths(bare, state)
    arm, bias = lengths.gradients[0], ph.muscle_length_biases(bare, state)[0]
    mass_matrix = ph.mass_matrix(bare, state) + ARMATURE * np.outer(arm, arm)
    force = ph.inverse_dynamics(bare, state, qdd) + ARMATURE * arm * (arm @ qdd + bias)
    # round-off
    np.testing.assert_allclose(ph.mass_matrix(model, state), mass_matrix, atol=1e-12)
    np.testing.assert_allclose(ph.inverse_dynamics(model, state, qdd), force, atol=1e-11)
    np.testing.assert_allclose(ph.forward_dynamics(model, state, force), qdd, atol=1e-9)
    kinetic = ph.energy(bare, state).kinetic + 0.5 * ARMATURE * lengths.rates[0] ** 2
    assert ph.energy(model, state).kinetic == pytest.approx(kinetic, rel=1e-13)
    assert difference(model, state, qdd, STEP) < ACCURACY


@pytest.mark.parametrize("way", ["straight", "sphere"])
@pytest.mark.parametrize(
    ("integrator", "order"), [("rk4", 4), ("sdirk2", 2), ("bdf1", 1), ("symplectic_euler", 1)]
)
def test_energy_is_kept_at_the_order_of_the_method(integrator, order, way):
    model, errors = tree([WAYS[way]], tension=3.0, armature=ARMATURE), []
    state = states(model)[0]
    for dt in (4e-3, 2e-3):
        energy = ph.simulate(model, state, 0.04, dt, integrator=integrator).energy[:, 2]
        errors.append(abs(energy[-1] - energy[0]))
    # between two steps that are not yet asymptotic the order is met within half of one
    assert np.log2(errors[0] / errors[1]) > order - 0.5


def test_it_is_saved_and_loaded(tmp_path):
    model = tree([WAYS["straight"]], armature=ARMATURE)
    ph.save_model(model, tmp_path / "model.json")
    again = ph.load_model(tmp_path / "model.json").model
    assert again == model and again.muscles[0].armature == ARMATURE
    assert "armature" not in json.dumps(tree([WAYS["straight"]]).to_dict()["muscles"])
    with pytest.raises(ph.ModelError, match="armature of muscle 'm0'"):
        tree([WAYS["straight"]], armature=-1.0)
