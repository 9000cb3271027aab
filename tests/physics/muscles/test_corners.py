"""Mass points that go round the corners of a path: smooth, exact, and on the polyline away from them."""

import numpy as np
import pytest

import physics as ph
from physics.muscles import PathPoint

BAR = np.diag([0.004, 0.004, 0.001])


def arm(rounding, num_points=24):
    """Three links; the muscle runs over points that move, so that its mass points slide past them."""
    builder = ph.ModelBuilder()
    place = np.eye(4)
    place[2, 3] = -0.2
    for k, parent in enumerate((None, "b0", "b1")):
        link = {"joint": ph.joints.Hinge([0, 1, 0.1 * k]), "mass": 0.3, "inertia": BAR, "com": (0, 0, -0.1)}
        builder.add_body(f"b{k}", parent, joint_in_parent=place if k else None, **link)
    path = [
        PathPoint(None, (0.05, 0, 0.1)),
        PathPoint("b0", (0.05, 0.01, -0.08)),
        PathPoint("b1", (0.04, 0.0, -0.1)),
        PathPoint("b2", (0.03, 0, -0.12)),
    ]
    builder.add_muscle("m", path, mass=0.4, num_points=num_points, rounding=rounding)
    return builder.build()


STATE = ([0.6, -0.9, 0.8], [2.0, -3.0, 4.0])


def slope(function, x, step=1e-6):
    """Central differences by each component of x, along the last axis; good to about 1e-9."""
    return np.stack(
        [(function(x + step * e) - function(x - step * e)) / (2.0 * step) for e in np.eye(len(x))], axis=-1
    )


def test_points_at_corners_have_exact_jacobians_and_biases():
    model, raw = arm(0.4), arm(0.0)
    q, qd = map(np.array, STATE)
    found = ph.muscle_points(model, model.state(q, qd), "m")
    away = np.linalg.norm(found.positions - ph.muscle_points(raw, raw.state(q, qd), "m").positions, axis=1)
    assert 3 < (away > 1e-5).sum() < 20  # some are off the polyline, the others on it
    expected = slope(lambda x: ph.muscle_points(model, model.state(x), "m").positions, q)
    np.testing.assert_allclose(found.jacobians, expected, atol=1e-8)
    np.testing.assert_allclose(found.velocities, found.jacobians @ qd, atol=1e-13)
    rate = slope(lambda t: ph.muscle_points(model, model.state(q + t[0] * qd), "m").jacobians, np.zeros(1))[
        ..., 0
    ]
    np.testing.assert_allclose(found.biases, rate @ qd, atol=1e-7)


def check_dynamics(model, name, q, qd, qdd):
    """Mass, forces and energy of a model are those of the tree without its muscle, and of the muscle's mass points."""
    state, m = model.state(q, qd), model.muscles[0].masses.masses
    points = ph.muscle_points(model, state, name)
    bare = ph.ModelBuilder.from_dict({k: v for k, v in model.to_dict().items() if k != "muscles"}).build()
    plain = bare.state(q, qd)
    mass = ph.mass_matrix(bare, plain) + np.einsum("i,iad,iae->de", m, points.jacobians, points.jacobians)
    push = points.jacobians @ qdd + points.biases - model.gravity
    force = ph.inverse_dynamics(bare, plain, qdd) + np.einsum("i,iad,ia->d", m, points.jacobians, push)
    np.testing.assert_allclose(ph.mass_matrix(model, state), mass, atol=1e-14)
    np.testing.assert_allclose(ph.inverse_dynamics(model, state, qdd), force, atol=1e-12)
    np.testing.assert_allclose(ph.forward_dynamics(model, state, force), qdd, atol=1e-10)
    energy, height = ph.energy(model, state), np.einsum("i,ia,a", m, points.positions, model.gravity)
    assert energy.kinetic == pytest.approx(0.5 * qd @ mass @ qd, rel=1e-13)
    assert energy.potential == pytest.approx(ph.energy(bare, plain).potential - height, rel=1e-13)


def test_dynamics_are_those_of_the_points():
    model = arm(0.4)
    check_dynamics(model, "m", *map(np.array, STATE), np.array([3.0, -2.0, 5.0]))
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
