"""Mass points that go round the corners of a path: smooth, exact, and on the polyline away from them."""

import numpy as np
import pytest

import physics as ph
from tests.verification.claims_muscle_paths import three_links


def arm(rounding):
    """Three links; the muscle runs over points that move, so that its mass points slide past them."""
    return three_links(rounding)[0]


STATE = ([0.6, -0.9, 0.8], [2.0, -3.0, 4.0])


def slope(function, x, step=1e-6):
    """Central differences by each component of x, along the last axis; good to about 1e-9."""
    return np.stack(
        [(function(x + step * e) - function(x - step * e)) / (2.0 * step) for e in np.eye(len(x))], axis=-1
    )


def check_points(model, name, q, qd):
    """The mass points of a muscle, whose Jacobians and biases are derivatives along the motion."""
    found = ph.muscle_points(model, model.state(q, qd), name)
    expected = slope(lambda x: ph.muscle_points(model, model.state(x), name).positions, q)
    np.testing.assert_allclose(found.jacobians, expected, atol=1e-8)
    np.testing.assert_allclose(found.velocities, found.jacobians @ qd, atol=1e-13)
    rate = slope(lambda t: ph.muscle_points(model, model.state(q + t[0] * qd), name).jacobians, np.zeros(1))
    np.testing.assert_allclose(found.biases, rate[..., 0] @ qd, atol=1e-7)
    return found


def test_points_at_corners_have_exact_jacobians_and_biases():
    model, raw = arm(0.4), arm(0.0)
    q, qd = map(np.array, STATE)
    found = check_points(model, "m", q, qd)
    away = np.linalg.norm(found.positions - ph.muscle_points(raw, raw.state(q, qd), "m").positions, axis=1)
    assert 3 < (away > 1e-5).sum() < 20  # some are off the polyline, the others on it


def check_dynamics(model, q, qd, qdd, tension=0.0):
    """Mass, forces and energy are those of the tree without muscles, of their mass points and their tension (Wang
    2022, eqs. 5.5-5.7).
    """
    state, lengths = model.state(q, qd), ph.muscle_lengths(model, model.state(q, qd))
    bare = ph.ModelBuilder.from_dict({k: v for k, v in model.to_dict().items() if k != "muscles"}).build()
    plain = bare.state(q, qd)
    mass = ph.mass_matrix(bare, plain)
    force = ph.inverse_dynamics(bare, plain, qdd) + tension * lengths.gradients.sum(axis=0)
    potential = ph.energy(bare, plain).potential + tension * lengths.lengths.sum()
    for muscle in model.muscles:
        points, m = ph.muscle_points(model, state, muscle.name), muscle.masses.masses
        mass = mass + np.einsum("i,iad,iae->de", m, points.jacobians, points.jacobians)
        push = points.jacobians @ qdd + points.biases - model.gravity
        force = force + np.einsum("i,iad,ia->d", m, points.jacobians, push)
        potential -= m @ points.positions @ model.gravity
    np.testing.assert_allclose(ph.mass_matrix(model, state), mass, atol=1e-14)
    np.testing.assert_allclose(ph.inverse_dynamics(model, state, qdd), force, atol=1e-12)
    np.testing.assert_allclose(ph.forward_dynamics(model, state, force), qdd, atol=1e-10)
    energy = ph.energy(model, state)
    assert energy.kinetic == pytest.approx(0.5 * qd @ mass @ qd, rel=1e-13)
    assert energy.potential == pytest.approx(potential, rel=1e-13)


def test_dynamics_are_those_of_the_points():
    model = arm(0.4)
    check_dynamics(model, *map(np.array, STATE), np.array([3.0, -2.0, 5.0]))
    assert len(model.with_inputs(None)) == 3


def test_energy_is_kept_past_corners():
    drift = {}
    for rounding in (0.0, 0.4):
        model = arm(rounding)
        energy = ph.simulate(model, model.state(*STATE), 0.5, 1e-3, integrator="rk4").energy[:, 2]
        drift[rounding] = np.ptp(energy)
    assert drift[0.4] < 1e-5  # J, of about 4
    assert drift[0.0] > 100.0 * drift[0.4]


def test_models_keep_the_rounding():
    model = arm(0.2)
    assert ph.ModelBuilder.from_dict(model.to_dict()).build() == model
    with pytest.raises(ph.ModelError, match="rounding"):
        arm(0.7)
