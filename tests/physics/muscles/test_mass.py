"""Muscles of straight strands: lengths, mass points, what their mass does to the dynamics."""

import numpy as np
import pytest

import physics as ph
from physics.joints.functions import Polynomial, Wave
from physics.muscles import Condition, MassPoints, Moving, PathPoint
from physics.muscles.obstacles import Cylinder, Sphere
from physics.muscles.wrapping import Wrap

from .test_corners import check_dynamics, check_points, slope

INERTIA = np.diag([0.01, 0.02, 0.015])
DOWN = np.eye(4)
DOWN[:3, 3] = [0.0, 0.0, -0.3]
SHIFTED = np.eye(4)
SHIFTED[:3, 3] = [0.0, 0.0, 0.08]
ACROSS = np.eye(4)
ACROSS[:3, :3] = ph.lie.so3_exp(np.array([1.5, 0.1, 0.0]))
ACROSS[:3, 3] = [0.02, 0.0, 0.02]


def tree(muscles=True, **options):
    """Four bodies in two branches with a muscle within a branch and one between branches and the world."""
    builder = ph.ModelBuilder()
    root = builder.add_body(
        "a", joint=ph.joints.Hinge([0, 1, 0]), mass=1.0, inertia=INERTIA, com=(0.1, 0, -0.1)
    )
    for name, parent, joint in (
        ("c", root, ph.joints.Spherical()),
        ("d", "c", ph.joints.Hinge([0, 1, 0.3])),
        ("e", root, ph.joints.Hinge([1, 1, 0.3])),
    ):
        inertial = {"mass": 0.5, "inertia": 0.4 * INERTIA, "com": (0, 0.05, -0.1)}
        builder.add_body(name, parent, joint=joint, joint_in_parent=DOWN, **inertial)
    if muscles:
        add_muscles(builder, **options)
    return builder


def add_muscles(builder, moving=False, masses=None, tension=0.0, velocity_terms=True, wrapped=False):
    middle = (0.03, 0.02, -0.1)
    if moving:
        across = Moving("d.angle", Wave(0.02, 0.03, 0.01))
        middle = (across, 0.02, Moving("a.angle", Polynomial((-0.1, 0.02, 0.03))))
    builder.add_muscle(
        "within",
        [
            PathPoint("a", (0.02, 0.01, -0.05)),
            *([Wrap(Sphere(radius=0.09, body="c", frame=SHIFTED))] if wrapped else []),
            PathPoint("c", middle),
            *([Wrap(Cylinder(radius=0.09, body="d", frame=ACROSS))] if wrapped else []),
            PathPoint("d", (-0.02, 0, -0.15)),
        ],
        masses=masses or MassPoints.uniform(0.3, 7),
        tension=tension,
        velocity_terms=velocity_terms,
    )
    builder.add_muscle(
        "between",
        [
            PathPoint(None, (0.1, 0.2, 0.3)),
            PathPoint("e", (0.03, 0.02, -0.1), Condition("e.angle", -3.0, 3.0)),
            PathPoint("d", (-0.02, 0, -0.05)),
        ],
        mass=0.2,
        num_points=5,
        tension=tension,
    )


CASES = {
    "wrapped": {"wrapped": True, "moving": True},
    "fixed": {},
    "moving": {"moving": True},
    "tendons": {"masses": MassPoints.belly(0.3, 6, tendons=(0.1, 0.05), tendon_masses=(0.02, 0.03))},
}


@pytest.fixture(params=CASES)
def case(request):
    rng = np.random.default_rng(1)
    model = tree(tension=3.0, **CASES[request.param]).build()
    n = model.num_coordinates
    return model, 0.5 * rng.normal(size=n), rng.normal(size=n), rng.normal(size=n)


def test_lengths_have_exact_slopes(case):
    model, q, qd, _ = case
    found = ph.muscle_lengths(model, model.state(q, qd))
    expected = slope(lambda x: ph.muscle_lengths(model, model.state(x)).lengths, q)
    np.testing.assert_allclose(found.gradients, expected, atol=1e-8)
    np.testing.assert_allclose(found.rates, found.gradients @ qd, atol=1e-14)
    np.testing.assert_array_equal(found.moment_arms, -found.gradients)


def test_obstacles_are_in_the_way():
    rng = np.random.default_rng(1)
    q = 0.5 * rng.normal(size=6)
    around, straight = (tree(moving=True, wrapped=wrapped).build() for wrapped in (True, False))
    longer = ph.muscle_lengths(around, around.state(q)).lengths[0]
    assert longer > ph.muscle_lengths(straight, straight.state(q)).lengths[0] + 0.012
    assert ph.muscle_polyline(around, around.state(q), "within").shape == (63, 3)


@pytest.mark.parametrize("name", ["within", "between"])
def test_mass_points_have_exact_jacobians_and_biases(case, name):
    model, q, qd, _ = case
    check_points(model, name, q, qd)


def test_dynamics_are_those_of_the_mass_points(case):
    check_dynamics(*case, tension=3.0)


def test_derivatives_are_those_of_inverse_dynamics(case):
    model, q, qd, qdd = case
    found = ph.inverse_dynamics_derivatives(model, model.state(q, qd), qdd)
    by_q = slope(lambda x: ph.inverse_dynamics(model, model.state(x, qd), qdd), q, 1e-5)
    by_qd = slope(lambda x: ph.inverse_dynamics(model, model.state(q, x), qdd), qd, 1e-5)
    np.testing.assert_allclose(found.dq, by_q, atol=1e-7)
    np.testing.assert_allclose(found.dqd, by_qd, atol=1e-7)


def test_massless_muscles_give_tension_only():
    builder = tree(muscles=False)
    builder.add_input("pull", 2.0)
    path = [PathPoint("a", (0.02, 0.01, -0.05)), PathPoint("d", (-0.02, 0.0, -0.15))]
    builder.add_muscle("m", path, tension="pull")
    model = builder.build()
    bare = tree(muscles=False).build()
    rng = np.random.default_rng(2)
    q, qd = 0.5 * rng.normal(size=6), rng.normal(size=6)
    state = model.state(q, qd)
    gradient = ph.muscle_lengths(model, state).gradients[0]
    for pull, tau in ((2.0, None), (5.0, {"pull": 5.0})):
        expected = ph.forward_dynamics(bare, bare.state(q, qd), -pull * gradient)
        np.testing.assert_allclose(ph.forward_dynamics(model, state, tau), expected, atol=1e-11)
        dense = ph.forward_dynamics(model, state, tau, road="dense")
        np.testing.assert_allclose(dense, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("integrator", "order"), [("rk4", 4), ("sdirk2", 2), ("bdf1", 1), ("symplectic_euler", 1)]
)
def test_energy_is_kept_at_the_order_of_the_method(integrator, order):
    model = tree(tension=3.0, moving=True).build()
    rng = np.random.default_rng(3)
    state = model.state(0.5 * rng.normal(size=6), rng.normal(size=6))
    errors = []
    for dt in (4e-3, 2e-3):
        energy = ph.simulate(model, state, 0.04, dt, integrator=integrator).energy[:, 2]
        errors.append(abs(energy[-1] - energy[0]))
    # between two steps that are not yet asymptotic the order is met within half of one
    assert np.log2(errors[0] / errors[1]) > order - 0.5


@pytest.mark.parametrize("integrator", ["DOP853", "Radau", "LSODA"])
def test_adaptive_methods_keep_energy(integrator):
    model = tree(tension=3.0).build()
    state = model.state(0.3 * np.ones(6), np.ones(6))
    energy = ph.simulate(model, state, 0.05, integrator=integrator, rtol=1e-10, atol=1e-12).energy[:, 2]
    assert np.ptp(energy) < 1e-7


def test_without_velocity_terms_energy_drifts():
    """The quadratic velocity vector can be left out, to be compared with; the rest stays as it is."""
    rng = np.random.default_rng(3)
    q, qd = 0.5 * rng.normal(size=6), rng.normal(size=6)
    drift = {}
    for wanted in (True, False):
        model = tree(velocity_terms=wanted).build()
        still, moving = model.state(q), model.state(q, qd)
        if wanted:
            expected = ph.inverse_dynamics(model, still, qd), ph.mass_matrix(model, still)
        np.testing.assert_allclose(ph.inverse_dynamics(model, still, qd), expected[0], atol=1e-13)
        np.testing.assert_allclose(ph.mass_matrix(model, still), expected[1], atol=1e-15)
        energy = ph.simulate(model, moving, 0.1, 1e-3, integrator="rk4").energy[:, 2]
        drift[wanted] = np.ptp(energy)
    assert drift[True] < 1e-9  # of about 5 J
    assert drift[False] > 1e-3
