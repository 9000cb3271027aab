"""Forward and inverse dynamics and the mass matrix agree with each other on random trees of every joint."""

import pickle

import numpy as np
import pytest

import physics as ph
from tests.physics.generators import random_inertia, random_state, random_tree


@pytest.mark.parametrize("seed", range(25))
def test_forward_dynamics_solves_the_mass_matrix(seed):
    """ABA against M^-1 (tau - bias) and against RNEA; relative, scaled by the condition of M."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(1, 30)))
    if model.num_coordinates == 0:
        return
    state = random_state(rng, model)
    tau = rng.normal(size=model.num_coordinates)
    qdd = ph.forward_dynamics(model, state, tau)
    matrix = ph.mass_matrix(model, state)
    bias = ph.inverse_dynamics(model, state)
    # the residual of M qdd = tau - bias is round-off of its own terms, whatever the condition of M
    scale = np.abs(matrix) @ np.abs(qdd) + np.abs(bias) + np.abs(tau)
    free = ~model.prescribed  # whatever the forces, a prescribed coordinate does not accelerate
    assert not qdd[model.prescribed].any()
    assert np.abs(matrix @ qdd + bias - tau)[free].max(initial=0.0) < 1e-11 * scale.max()
    assert np.abs(ph.inverse_dynamics(model, state, qdd) - tau)[free].max(initial=0.0) < 1e-11 * scale.max()


def test_accelerations_by_name():
    builder = ph.ModelBuilder()
    for name, parent in (("a", None), ("b", "a")):
        builder.add_body(name, parent, mass=1.0, com=(0.2, 0, 0), joint=ph.joints.Hinge(), inertia=np.eye(3))
    model = builder.build()
    state, plain = model.state(q=[0.3, 0.4], qd=[1.0, 2.0]), [0.0, 1.5]
    for named in ({"b.angle": 1.5}, {model.bodies[1]: 1.5}):
        for solve in (ph.inverse_dynamics, ph.joint_reactions):
            assert np.array_equal(solve(model, state, named), solve(model, state, plain))
        ours = ph.inverse_dynamics_derivatives(model, state, named)
        assert np.array_equal(ours.dq, ph.inverse_dynamics_derivatives(model, state, plain).dq)
    with pytest.raises(ph.ModelError, match=r"'b.angel'; did you mean 'b.angle'"):
        ph.inverse_dynamics(model, state, {"b.angel": 1.5})


def test_mass_matrix_gives_the_kinetic_energy():
    rng = np.random.default_rng(100)
    for _ in range(10):
        model = random_tree(rng, 8)
        state = random_state(rng, model)
        kinetic = 0.5 * state.qd @ ph.mass_matrix(model, state) @ state.qd
        assert np.isclose(kinetic, ph.energy(model, state).kinetic, rtol=1e-11)


def test_accelerations_do_not_depend_on_the_distance_from_the_origin():
    """A free body ten kilometres away turns as one at the origin: positions are kept relative to the tree's root."""

    def model_at(position):
        builder = ph.ModelBuilder()
        inertia = random_inertia(np.random.default_rng(1), 1.0)
        base = builder.add_body("base", joint=ph.joints.Free(), mass=1.0, inertia=inertia)
        tip = {"joint": ph.joints.Hinge(), "mass": 0.5, "inertia": inertia}
        builder.add_body("tip", base, joint_in_parent=ph.lie.exp(np.array([0, 1, 0, 0.1, 0, 0])), **tip)
        model = builder.build()
        q = [*position, 0.4, -0.2, 0.1, 0.6]
        return ph.forward_dynamics(model, model.state(q=q, qd=[1, 2, 3, 1, -1, 2, 3]))

    near, far = model_at([0, 0, 0]), model_at([1e4, -1e4, 1e4])
    assert np.abs(far - near).max() < 1e-9 * np.abs(near).max()  # 1e4 m times 2e-16 over a lever of 1e-3 m


def test_hinge_pendulum_against_the_textbook():
    builder = ph.ModelBuilder(gravity=(0, 0, -9.81))
    inertia = np.diag([0.02, 0.02, 0.001])
    builder.add_body(
        "rod", joint=ph.joints.Hinge((0, 1, 0)), mass=2.0, com=(0, 0, -0.5), inertia=inertia, damping=0.1
    )
    model = builder.build()
    state = model.state(q=[0.3], qd=[0.7])
    expected = (-2.0 * 9.81 * 0.5 * np.sin(0.3) - 0.1 * 0.7) / (0.02 + 2.0 * 0.25)
    assert np.isclose(ph.forward_dynamics(model, state)[0], expected, rtol=1e-14)


def test_model_is_a_value():
    rng = np.random.default_rng(3)
    model = random_tree(rng, 6)
    again = ph.ModelBuilder.from_dict(model.to_dict()).build()
    assert again == model and hash(again) == hash(model)
    copy = pickle.loads(pickle.dumps(model))
    assert copy == model and not copy.arrays[1].flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        model.arrays[1][0, 0] = 1.0


def test_parents_may_come_later_in_a_description():
    model = random_tree(np.random.default_rng(4), 5)
    description = model.to_dict()
    description["bodies"] = description["bodies"][::-1]
    again = ph.ModelBuilder.from_dict(description).build()
    assert set(again.body_names) == set(model.body_names)


def body(**changes):
    return {"joint": ph.joints.Hinge(), "mass": 1.0, "inertia": np.eye(3), **changes}


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"mass": 0.0}, "mass of body 'bone' must be positive, got 0"),
        ({"mass": -1.0}, "got -1"),
        ({"mass": np.nan}, "finite, got nan"),
        ({"inertia": np.diag([1.0, 1.0, -0.1])}, "positive definite"),
        ({"inertia": np.diag([1.0, 1.0, 3.0])}, "triangle inequality"),
        ({"inertia": np.triu(np.ones((3, 3)))}, "symmetric"),
        ({"com": (0.0, np.inf, 0.0)}, "com of body 'bone'"),
        ({"limits": (1.0, -1.0)}, "reversed"),
        ({"stiffness": -2.0}, "stiffness of body 'bone' must not be negative"),
        ({"parent": "hip"}, "parent 'hip' of body 'bone' is missing"),
        ({"joint": "hinge"}, "must be one of physics.joints"),
        ({"joint_in_parent": 2.0 * np.eye(4)}, "joint_in_parent of body 'bone'"),
    ],
)
def test_bad_bodies_are_named_and_not_added(changes, words):
    builder = ph.ModelBuilder()
    with pytest.raises(ph.ModelError, match=words):
        builder.add_body("bone", **body(**changes))
    assert builder.bodies == []


def test_bad_descriptions_are_named():
    builder = ph.ModelBuilder()
    builder.add_body("a", **body())
    builder.add_body("b", "a", **body())
    description = builder.build().to_dict()
    cycle = {**description, "bodies": [dict(entry) for entry in description["bodies"]]}
    cycle["bodies"][0]["parent"] = "b"
    with pytest.raises(ph.FormatError, match="cycle"):
        ph.ModelBuilder.from_dict(cycle)
    missing = {**description, "bodies": [dict(description["bodies"][1])]}
    with pytest.raises(ph.FormatError, match="parent 'a' of body 'b' is missing"):
        ph.ModelBuilder.from_dict(missing)
    unknown = {**description, "colour": "red"}
    with pytest.raises(ph.FormatError, match="colour"):
        ph.ModelBuilder.from_dict(unknown)


def test_singular_rotation_vector_is_refused():
    builder = ph.ModelBuilder()
    builder.add_body("ball", **body(joint=ph.joints.Spherical()))
    model = builder.build()
    with pytest.raises(ph.ModelError, match="singular"):
        model.state(q=[2.0 * np.pi, 0.0, 0.0])
    assert model.state(q={"ball": [0.1, 0.2, 0.3]}).q[2] == 0.3
    with pytest.raises(ph.ModelError, match="'bat'"):
        model.state(q={"bat": 1.0})
