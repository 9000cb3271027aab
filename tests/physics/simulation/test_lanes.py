"""Worlds in the lanes of a register: motions are those of single runs to round-off; what they do not take is named."""

import warnings

import numpy as np
import pytest

import physics as ph
from physics.simulation import abreast
from tests.benchmarks.chains import revolute
from tests.benchmarks.trees import PARENTS, Tree
from tests.physics.generators import random_inertia, random_pose
from tests.verification.generators import random_state

# Other orders of sums. Accelerations have the round-off of the mass matrix's inverse: of the largest velocity, not of
# each one.
ROUND_OFF = 1e-12

JOINTS = {
    "hinges": [ph.joints.Hinge((1, 0, 0)), ph.joints.Hinge((0.6, 0.8, 0)), ph.joints.ReversedHinge()],
    "two axes": [ph.joints.Universal((1, 0, 0), (0, 1, 0)), ph.joints.Fixed(), ph.joints.Slider((0, 0, 1))],
    "floating": [ph.joints.Free(), ph.joints.Spherical(), ph.joints.Hinge((0, 1, 0)), ph.joints.Spherical()],
    "many axes": [
        ph.joints.Planar(),
        ph.joints.Helical((0, 1, 0), 0.2),
        ph.joints.Euler("xyz"),
        ph.joints.Inverted(ph.joints.Spherical()),
        ph.joints.Cylindrical((1, 0, 0)),
    ],
}


def tree(name: str) -> ph.Model:
    """Two trees of bodies in random places, the second with branches, with springs, dampers, limits and armature."""
    rng, joints = np.random.default_rng(len(name)), JOINTS[name]
    builder = ph.ModelBuilder(gravity=(0.3, -0.2, -9.81))
    for k, joint in enumerate(2 * joints):
        first = 0 if k < len(joints) else len(joints)
        parent = None if k == first else f"b{k - 1 if first == 0 else rng.integers(first, k)}"
        mass, simple = 1.0 + k, type(joint) in (ph.joints.Hinge, ph.joints.Slider)
        builder.add_body(
            f"b{k}",
            parent,
            joint=joint,
            mass=mass,
            inertia=random_inertia(rng, mass),
            com=0.1 * rng.normal(size=3),
            joint_in_parent=random_pose(rng),
            body_in_joint=random_pose(rng, 0.1),
            stiffness=3.0,
            rest=0.1,
            damping=0.2,
            armature=0.01,
            limits=[(-0.2, 0.3)] if simple else None,
        )
    return builder.build()


def both(model, states, duration, **wishes):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.SimulationWarning)
        return [ph.simulate_many(model, states, duration, lanes=lanes, **wishes) for lanes in (False, True)]


def assert_same(singles, lanes, tolerance):
    for single, result in zip(singles, lanes, strict=True):
        np.testing.assert_array_equal(single.t, result.t)
        for ours, theirs in ((single.q, result.q), (single.qd, result.qd)):
            np.testing.assert_allclose(ours, theirs, rtol=0.0, atol=tolerance * np.abs(single.qd).max())
        assert single.info.keys() == result.info.keys()
        assert single.info["chart_changes"] == result.info["chart_changes"]
        kinetic = single.info["energy"]["most_kinetic"] if "energy" in single.info else 0.0
        for name, value in single.info.get("energy", {}).items():
            assert value == pytest.approx(result.info["energy"][name], rel=1e-9, abs=1e-9 * kinetic)


@pytest.mark.parametrize("name", JOINTS)
@pytest.mark.parametrize("count", [1, 4, 7])
def test_a_step_is_that_of_single_runs(name, count):
    model, rng = tree(name), np.random.default_rng(count)
    states = [random_state(model, rng) for _ in range(count)]
    tau = rng.normal(size=model.num_coordinates)
    assert_same(*both(model, states, 1e-3, tau=tau, threads=2), ROUND_OFF)


def test_a_step_of_a_humanoid_is_that_of_single_runs():
    model, rng = Tree(PARENTS["humanoid"]).model(), np.random.default_rng(1)
    states = [random_state(model, rng) for _ in range(9)]
    assert_same(*both(model, states, 1e-3, threads=1), ROUND_OFF)


@pytest.mark.parametrize("name", JOINTS)
def test_runs_with_samples_between_steps_are_those_of_single_runs(name, monkeypatch):
    """Of 80 steps, in several calls; fast enough that rotation vectors change their charts."""
    model, rng = tree(name), np.random.default_rng(4)
    states = [random_state(model, rng, speed=5.0) for _ in range(6)]
    states = [model.state(each.q, each.qd, 2.5) for each in states]
    monkeypatch.setattr(abreast, "LONGEST", 200)
    singles, lanes = both(model, states, 0.08, record_interval=0.0007, threads=2)
    assert name != "floating" or any(each.info["chart_changes"] for each in singles)
    # round-off grows along a motion; chaotic ones would need more
    assert_same(singles, lanes, 1e-9)


def test_a_world_that_lanes_lose_is_run_alone():
    model = revolute(6)
    states = [model.state(qd=rate * np.ones(6)) for rate in (1.0, 1e6, -1.0, 0.5, 2.0)]
    states[3] = model.state(q=1e6 * np.ones(6))  # more turns than lanes reduce
    singles, lanes = both(model, states, 0.05, threads=1)
    assert isinstance(singles[1], ph.DivergedError) and str(singles[1]) == str(lanes[1])
    np.testing.assert_array_equal(singles[3].q, lanes[3].q)
    kept = [0, 2, 4]
    assert_same([singles[k] for k in kept], [lanes[k] for k in kept], 1e-9)


def added_body(builder, joint, **more):
    builder.add_body("more", "b0", joint=joint, mass=1.0, inertia=np.eye(3), **more)


HINGE, END = ph.joints.Hinge((1, 0, 0)), (0, 0, 0.1)
REFUSED = {
    "the integrator 'rk4'": (lambda builder: None, {"integrator": "rk4"}),
    "generalized forces tau that change": (lambda builder: None, {"tau": lambda t: [0.0]}),
    "motions": (lambda builder: None, {"motions": {"b0": ph.Motion([0.0, 1.0], [[0.0], [1.0]])}}),
    "the joint of the coordinate 'more.": (
        lambda builder: added_body(builder, ph.joints.ConstantCurvature(1.0)),
        {},
    ),
    "the prescribed coordinate 'more.angle'": (
        lambda builder: added_body(builder, HINGE, limits=[(0, 0)]),
        {},
    ),
    "hard limits.*'more.angle'": (
        lambda builder: added_body(builder, HINGE, limits=[(-1, 1)], limit_restitution=0.0),
        {},
    ),
    "the force 'band'": (lambda builder: builder.add_spring("band", "b0", END, None, END, stiffness=1.0), {}),
    "the controller 'servo'": (lambda builder: builder.add_controller("servo", "b0", stiffness=1.0), {}),
    "the muscle 'pull'": (
        lambda builder: builder.add_muscle(
            "pull", [ph.muscles.PathPoint(None, (0, 0, 1)), ph.muscles.PathPoint("b0", END)]
        ),
        {},
    ),
    "the contact 'ball'": (lambda builder: builder.add_collider("ball", "b0", ph.contacts.Sphere(0.1)), {}),
    "the constraint 'pin'": (lambda builder: builder.add_loop_joint("pin", "b0", None, joint=HINGE), {}),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_lanes_do_not_take_is_named(words):
    builder, (add, wishes) = ph.ModelBuilder(), REFUSED[words]
    builder.add_body("b0", joint=HINGE, mass=1.0, inertia=np.eye(3))
    add(builder)
    model = builder.build()
    with pytest.raises(ph.ModelError, match=f"lanes do not take {words}"):
        ph.simulate_many(model, [model.state()] * 2, 0.1, lanes=True, **wishes)


def test_wrong_arguments_of_lanes_are_named():
    model = tree("hinges")
    later = [model.state(), model.state(time=1.0)]
    with pytest.raises(ph.ModelError, match=r"states of one time, got 1\.0 s of states\[1\]"):
        ph.simulate_many(model, later, 0.1, lanes=True)
    with pytest.raises(ph.ModelError, match="lanes must be True or False, got 'no'"):
        ph.simulate_many(model, later, 0.1, lanes="no")
    with pytest.raises(ph.ModelError, match="leave out lanes or the client"):
        ph.simulate_many(model, later, 0.1, lanes=True, client=object())
    for q in (np.full(6, np.nan), np.zeros(5), None):
        wrong = ph.State(q, np.zeros(6), 0.0, np.zeros(6, dtype=np.int64))
        with pytest.raises(ph.ModelError, match=r"states\[1\]"):
            ph.simulate_many(model, [model.state(), wrong], 0.1, lanes=True)
    assert ph.simulate_many(model, [], 0.1, lanes=True) == []
