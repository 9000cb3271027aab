"""Muscles with mass beside constraints, limits, contacts and given motions: the same factor answers them all."""

import pickle

import numpy as np
import pytest

import physics as ph
from physics.contacts import Plane
from physics.joints.functions import Polynomial
from physics.muscles import Condition, MassPoints, Moving, PathPoint
from physics.muscles.obstacles import Cylinder
from physics.muscles.wrapping import Wrap

BAR = np.diag([0.01, 0.012, 0.002])


def chain(mass=0.5, limits=None, ground=False, constraint=False):
    """Three links in a row with a muscle from the world to the last one."""
    builder = ph.ModelBuilder()
    for k, parent in enumerate((None, "b0", "b1")):
        place = np.eye(4)
        place[:3, 3] = [0.3 if k else 0.0, 0.0, 0.0]
        options = {}
        if limits is not None and k == 1:
            options = {"limits": limits, "limit_restitution": 0.0}
        link = {"joint": ph.joints.Hinge([0, 1, 0.2 * k]), "mass": 1.0, "inertia": BAR, "com": (0.15, 0, 0)}
        builder.add_body(f"b{k}", parent, joint_in_parent=place, **options, **link)
    path = [
        PathPoint(None, (-0.1, 0.02, 0.1)),
        PathPoint("b1", (0.1, 0.02, 0.05)),
        PathPoint("b2", (0.2, 0, 0.03)),
    ]
    if mass:
        builder.add_muscle("m", path, mass=mass, num_points=9)
    if constraint:
        distance = ph.constraints.DistanceConstraint(
            "b2", None, point=(0.3, 0, 0), other_point=(0.5, 0.1, -0.4), length=0.3
        )
        builder.add_constraint("rod", distance)
    if ground:
        floor = Plane()
        builder.add_contact("floor", "b2", [(0.3, 0, 0)], floor, friction=0.5)
    return builder.build()


def test_held_coordinates_take_what_the_muscle_asks():
    model = chain()
    state = model.state([0.1, 0.5, -0.4], [1.0, -0.5, 2.0])
    given = {"b1.angle": 1.5}
    found = ph.hybrid_dynamics(model, state, given, tau=np.array([0.3, 0.0, -0.2]))
    tau = ph.inverse_dynamics(model, state, found.qdd)
    assert found.qdd[1] == pytest.approx(1.5)
    np.testing.assert_allclose(tau[[0, 2]], [0.3, -0.2], atol=1e-12)
    np.testing.assert_allclose(found.tau[1], tau[1], atol=1e-12)


def test_constraint_forces_see_the_muscle():
    """Against the bordered system with the whole mass matrix (Wang 2022, eq. 4.101)."""
    model = chain(constraint=True)
    state = ph.assemble(model, model.state([0.1, 0.5, -0.4], [1.0, -0.5, 2.0]))
    found = ph.constrained_dynamics(model, state)
    mass = ph.mass_matrix(model, state)
    free = ph.forward_dynamics(model, state)
    # what the rod brings is along M^-1 times one direction, the gradient of its value
    step = 1e-6
    value = lambda q: ph.body_poses(model, model.state(q))[2] @ np.array([0.3, 0, 0, 1.0])  # noqa: E731
    length = lambda q: np.linalg.norm(value(q)[:3] - np.array([0.5, 0.1, -0.4]))  # noqa: E731
    row = np.array(
        [(length(state.q + step * e) - length(state.q - step * e)) / (2 * step) for e in np.eye(3)]
    )
    direction = np.linalg.solve(mass, row)
    change = found.qdd - free
    np.testing.assert_allclose(change, direction * (change @ direction) / (direction @ direction), atol=1e-6)


@pytest.mark.parametrize("integrator", ["rk4", "symplectic_euler", "sdirk2"])
def test_a_constraint_keeps_energy_with_a_muscle(integrator):
    model = chain(constraint=True)
    state = ph.assemble(model, model.state([0.1, 0.5, -0.4]))
    result = ph.simulate(model, state, 0.1, 1e-3, integrator=integrator)
    bound = {"rk4": 1e-8, "symplectic_euler": 2e-2, "sdirk2": 1e-4}[integrator]
    assert np.ptp(result.energy[:, 2]) < bound
    assert result.info["constraints"]["drift_left"] < 1e-9


def test_a_hard_limit_stops_by_the_whole_mass_matrix():
    """The impulse leaves momentum along what the limit does not see: M (v+ - v-) has the limit's entry only."""
    model = chain(limits=(-0.5, 0.5))
    state = model.state([0.0, 0.4999, 0.2], [0.5, 3.0, -1.0])
    result = ph.simulate(model, state, 1e-4, 1e-4, integrator="forward_euler")
    mass = ph.mass_matrix(model, state)
    smooth = state.qd + 1e-4 * ph.forward_dynamics(model, state)
    impulse = mass @ (result.qd[-1] - smooth)
    np.testing.assert_allclose(impulse[[0, 2]], 0.0, atol=1e-12)
    assert impulse[1] < -0.01


def test_contacts_and_muscles_go_together():
    model = chain(ground=True)
    result = ph.simulate(model, model.state([-0.5, 0.3, 0.0]), 0.5, 1e-3)
    heights = (result.poses[:, 2] @ np.array([0.3, 0, 0, 1.0]))[:, 2]
    assert heights.min() > -1e-4
    assert result.info["constraints"]["steps_with_contact"] > 0


@pytest.mark.parametrize("points", [5, 10, 20])
def test_mass_of_a_muscle_over_two_links(points):
    """Origin at the root, insertion at r along link 2 of a planar two-link arm whose link 1 has length l:
    M = m / 3 [[l^2 + r^2 + 2 l r cos t2, r^2 + l r cos t2], [., r^2]]; midpoints leave 1 / (4 n^2) of it.
    """
    length, reach, mass, angle = 0.35, 0.2, 0.7, 0.8
    builder = ph.ModelBuilder()
    upper = builder.add_body("upper", joint=ph.joints.Hinge([0, 0, 1]), mass=1.0, inertia=BAR)
    place = np.eye(4)
    place[0, 3] = length
    lower = builder.add_body(
        "lower", upper, joint=ph.joints.Hinge([0, 0, 1]), joint_in_parent=place, mass=1.0, inertia=BAR
    )
    bare = ph.mass_matrix(builder.build(), builder.build().state([0.3, angle]))
    path = [PathPoint(None, (0, 0, 0)), PathPoint(lower, (reach, 0, 0))]
    builder.add_muscle("m", path, masses=MassPoints.uniform(mass, points))
    model = builder.build()
    found = ph.mass_matrix(model, model.state([0.3, angle])) - bare
    cross = length * reach * np.cos(angle)
    expected = np.array([[length**2 + reach**2 + 2 * cross, reach**2 + cross], [reach**2 + cross, reach**2]])
    np.testing.assert_allclose(found, mass / 3.0 * expected * (1.0 - 0.25 / points**2), rtol=1e-12)


def test_models_with_muscles_go_there_and_back():
    model = chain()
    again = ph.ModelBuilder.from_dict(model.to_dict()).build()
    assert again == model
    assert again.muscles[0].mass == pytest.approx(0.5)


def test_what_will_not_do_is_told():
    builder = ph.ModelBuilder()
    builder.add_body("b", joint=ph.joints.Hinge([0, 1, 0]), mass=1.0, inertia=BAR)
    ends = [PathPoint(None, (0, 0, 0)), PathPoint("b", (0.1, 0, 0))]
    for arguments, text in (
        ({"path": ends[:1]}, "at least an origin and an insertion"),
        ({"path": [*ends, PathPoint("x", (0, 0, 0))]}, "'x'"),
        ({"path": [ends[1], ends[1]]}, "would move nothing"),
        ({"path": ends, "mass": -1.0}, "must not be negative"),
        ({"path": ends, "tension": "pull"}, "input of muscle 'm' is missing: 'pull'"),
    ):
        with pytest.raises(ph.ModelError, match=text):
            builder.add_muscle("m", **arguments)
    assert not builder.muscles
    builder.add_muscle("m", ends)
    with pytest.raises(ph.ModelError, match="already"):
        builder.add_muscle("m", ends)


def test_model_files_keep_muscles(tmp_path):
    builder = ph.ModelBuilder.from_dict(chain(mass=0.0).to_dict())
    builder.add_input("pull", 3.0)
    moving = Moving("b1.angle", Polynomial((0.1, 0.02)))
    path = [
        PathPoint(None, (-0.1, 0.0, 0.1)),
        PathPoint("b0", (0.1, moving, 0.02), Condition("b1.angle", -1.0, 1.0)),
        Wrap([Cylinder(radius=0.02, body="b1", length=0.3)]),
        PathPoint("b1", (0.1, 0.0, 0.02)),
    ]
    masses = MassPoints.belly(0.3, 4, tendons=(0.05, 0.1), tendon_masses=(0.0, 0.02))
    builder.add_muscle("m", path, masses=masses, tension="pull", velocity_terms=False)
    builder.add_muscle("n", path[:1] + path[3:], mass=0.1, num_points=3, tension=2.0)
    model = builder.build()
    ph.save_model(model, tmp_path / "model.json")
    assert ph.load_model(tmp_path / "model.json").model == model
    assert pickle.loads(pickle.dumps(model)) == model
