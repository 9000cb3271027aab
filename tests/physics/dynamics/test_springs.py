"""Springs between points of bodies: against their energy, between trees, through files."""

import numpy as np
import pytest

import physics as ph
from physics.io import load_model, save_model
from tests.physics.generators import random_inertia, random_state, random_tree


def sprung(seed, damping=0.0):
    """A forest of random trees with springs across them and to the world."""
    rng = np.random.default_rng(seed)
    builder = ph.ModelBuilder.from_dict(
        random_tree(rng, 7, ("hinge", "spherical", "universal", "free")).to_dict()
    )
    for k, (a, b) in enumerate([(0, 4), (2, 6), (5, None)]):
        other = None if b is None else f"body_{b}"
        points = rng.normal(size=(2, 3)) * 0.2
        builder.add_spring(
            f"spring {k}",
            f"body_{a}",
            points[0],
            other,
            points[1],
            stiffness=rng.uniform(5, 20),
            damping=damping,
            rest_length=rng.uniform(0.0, 0.5),
        )
    return rng, builder.build()


def ends(model, state, spring):
    poses = ph.body_poses(model, state)

    def world(body, point):
        return point if body < 0 else poses[body][:3, :3] @ point + poses[body][:3, 3]

    return world(spring.body, spring.point), world(spring.other, spring.other_point)


@pytest.mark.parametrize("seed", range(5))
def test_forces_are_the_slope_of_the_energy(seed):
    rng, model = sprung(seed)
    state = model.state(q=random_state(rng, model).q)
    bare = ph.ModelBuilder.from_dict(model.to_dict() | {"springs": []}).build()
    force = ph.inverse_dynamics(bare, state) - ph.inverse_dynamics(model, state)

    def stored(q):
        at = model.state(q=q)
        total = 0.0
        for spring in model.springs:
            a, b = ends(model, at, spring)
            total += 0.5 * spring.stiffness * (np.linalg.norm(b - a) - spring.rest_length) ** 2
        return total

    step = 1e-5
    slopes = [
        (stored(state.q + step * e) - stored(state.q - step * e)) / (2.0 * step)
        for e in np.eye(model.num_coordinates)
    ]
    assert np.abs(force + slopes).max() < 1e-7 * max(np.abs(force).max(), 1.0)
    energies = [ph.energy(m, state).potential for m in (model, bare)]
    assert np.isclose(energies[0] - energies[1], stored(state.q), rtol=1e-12)


def test_damping_takes_the_power_of_its_stretching():
    rng, model = sprung(7, damping=3.0)
    _, still = sprung(7)
    state = random_state(rng, model)
    power = state.qd @ (ph.inverse_dynamics(model, state) - ph.inverse_dynamics(still, state))
    step, lost = 1e-6, 0.0
    for spring in model.springs:
        lengths = []
        for sense in (1.0, -1.0):
            a, b = ends(model, model.state(q=state.q + sense * step * state.qd), spring)
            lengths.append(np.linalg.norm(b - a))
        lost += 3.0 * ((lengths[0] - lengths[1]) / (2.0 * step)) ** 2
    assert np.isclose(power, lost, rtol=1e-6)


def test_forward_is_the_inverse_of_inverse_dynamics_with_springs():
    rng, model = sprung(3, damping=1.0)
    state, tau = random_state(rng, model), rng.normal(size=model.num_coordinates)
    qdd = ph.forward_dynamics(model, state, tau)
    assert np.abs(ph.inverse_dynamics(model, state, qdd) - tau).max() < 1e-10 * np.abs(qdd).max()


def test_mass_on_a_spring_swings_as_the_textbook_says():
    builder = ph.ModelBuilder(gravity=(0, 0, 0))
    inertia = random_inertia(np.random.default_rng(0), 2.0)
    builder.add_body("mass", joint=ph.joints.Slider(), mass=2.0, inertia=inertia)
    builder.add_spring("spring", "mass", (0, 0, 0), None, (0, 0, -1.0), stiffness=50.0, rest_length=1.0)
    model = builder.build()
    result = ph.simulate(model, model.state(q=[0.1]), 2.0, 1e-3, "rk4")
    assert np.abs(result.q[:, 0] - 0.1 * np.cos(5.0 * result.t)).max() < 1e-11


def test_springs_come_back_from_a_file(tmp_path):
    _, model = sprung(1, damping=0.5)
    save_model(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json").model
    assert again == model and [s.name for s in again.springs] == ["spring 0", "spring 1", "spring 2"]


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"name": "spring 0"}, "there is a spring named 'spring 0' already"),
        ({"body": "rib"}, "body of spring 'new' is missing: 'rib'"),
        ({"other": "body_0"}, "both ends of spring 'new' are on one body 'body_0'"),
        ({"stiffness": -1.0}, "stiffness of spring 'new' must not be negative, got -1"),
        ({"point": (0, 0, np.nan)}, "point of spring 'new' must be finite"),
    ],
)
def test_bad_springs_are_named_and_not_added(changes, words):
    builder = ph.ModelBuilder.from_dict(sprung(0)[1].to_dict())
    values = {
        "name": "new",
        "body": "body_0",
        "point": (0, 0, 0),
        "other": "body_1",
        "other_point": (0, 0, 0),
    }
    with pytest.raises(ph.ModelError, match=words):
        builder.add_spring(**{**values, "stiffness": 1.0, **changes})
    assert len(builder.springs) == 3
