"""Feedback laws: a figure that stands by them, a leg that pushes while it touches, the same bits in every run."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest

import physics as ph
from physics.forces.feedback import pack_feedback
from physics.kernels.stepping import feedback as kernels
from physics.simulation.knobs import Knobs
from tests.physics.constraints.mechanisms import pose
from tests.physics.generators import random_state, random_tree
from tests.physics.simulation.test_live import run

FIXED = ("symplectic_euler", "forward_euler", "rk4", "linearly_implicit_euler", "bdf1", "sdirk2")


def figure(gain=-1200.0, rate=-350.0):
    """Shank, thigh and trunk on a fixed foot; springs hold knee and hip, feedback of the mass centre the ankle."""
    builder = ph.ModelBuilder()
    parent, inertia = None, np.diag([0.5, 0.5, 0.05])
    for name, length, mass in (("shank", 0.45, 7.0), ("thigh", 0.45, 15.0), ("trunk", 0.8, 40.0)):
        above = {"joint_in_parent": pose((0.0, 0.0, 0.45))} if parent else {}
        spring = {"stiffness": 3000.0, "damping": 60.0} if parent else {}
        builder.add_body(
            name,
            parent,
            joint=ph.joints.Hinge((0.0, 1.0, 0.0)),
            mass=mass,
            com=(0.0, 0.0, length / 2),
            inertia=inertia,
            **above,
            **spring,
        )
        parent = name
    ankle = "shank.angle"
    if gain:
        builder.add_feedback("lean", ankle, gain=gain, signal="center", direction=(1.0, 0.0, 0.0))
        builder.add_feedback("sway", ankle, gain=rate, signal="center", direction=(1.0, 0.0, 0.0), rate=True)
    return builder.build()


def leg(gain=0.6):
    """A knee between two masses over damped ground: an input turns it only while the lower one is loaded."""
    builder = ph.ModelBuilder()
    inertia = np.eye(3) * 0.02
    builder.add_body("foot", joint=ph.joints.Slider((0.0, 0.0, 1.0)), mass=1.0, inertia=inertia)
    builder.add_body("trunk", "foot", joint=ph.joints.Slider((0.0, 0.0, 1.0)), mass=3.0, inertia=inertia)
    builder.add_ground("sole", "foot", (0.0, 0.0, 0.0), stiffness=4e3, damping=60.0)
    builder.add_input("push")
    builder.add_wrench(
        "leg", "trunk", (0, 0, 0), (0, 0, 1), "push", axes="other", other="foot", point=(0, 0, 0)
    )
    builder.add_feedback("hold", "push", gain=gain * 100.0, signal="touch", gate="foot", load=30.0)
    builder.add_feedback("damp", "push", gain=-20.0, coordinate="trunk.distance", rate=True, gate="foot")
    return builder.build()


@pytest.mark.parametrize("integrator", FIXED)
def test_a_figure_stands_by_feedback_of_its_mass_centre(integrator):
    model, falling = figure(), figure(0.0)
    start = {"q": [0.06, -0.03, 0.05]}
    result = ph.simulate(model, model.state(**start), 4.0, 1e-3, integrator)
    assert np.abs(result.q[-1]).max() < 0.01
    fallen = ph.simulate(falling, falling.state(**start), 1.5, 1e-3, integrator)
    assert abs(fallen.q[-1, 0]) > 1.0


def given_law(model, gain=60.0, load=30.0):
    """The laws of `leg` as a function, from the formulas of the ground: F = a depth + d rate, x^2 (3 - 2 x)."""

    def push(t, q, qd):
        depth = max(-q[0], 0.0)
        force = max(4e3 * depth - 60.0 * qd[0], 0.0) if depth else 0.0
        x = min(force / load, 1.0)
        touch = x * x * (3.0 - 2.0 * x)
        return np.array([0.0, 0.0, gain * touch - 20.0 * qd[1] * touch])

    return push


@pytest.mark.parametrize("integrator", FIXED)
def test_a_leg_pushes_only_while_its_foot_touches(integrator):
    model, silent = leg(), leg().altered(feedback_laws=())
    start = {"q": [0.05, 0.3], "qd": [0.0, -0.5]}
    result = ph.simulate(model, model.state(**start), 0.6, 1e-3, integrator)
    same = ph.simulate(silent, silent.state(**start), 0.6, 1e-3, integrator, tau=given_law(model))
    # round-off of two formulas for one force, over 600 steps of stiff ground
    assert np.allclose(result.q, same.q, rtol=0.0, atol=1e-10)
    passive = ph.simulate(silent, silent.state(**start), 0.6, 1e-3, integrator)
    flying = int(np.argmax(result.q[:, 0] < 0.0))
    assert np.array_equal(result.q[:flying], passive.q[:flying]) and flying > 50
    assert abs(result.q[-1, 1] - passive.q[-1, 1]) > 0.1


def test_runs_of_every_kind_have_the_same_bits():
    model, q = leg(), [[0.05, 0.3], [0.02, 0.2], [0.0, 0.25]]
    states = [model.state(q=each, qd=[0.0, -0.5]) for each in q]
    for integrator in ("symplectic_euler", "sdirk2"):
        alone = [ph.simulate(model, each, 0.3, 1e-3, integrator) for each in states]
        many = ph.simulate_many(model, states, 0.3, 1e-3, integrator, threads=2)
        for one, other in zip(alone, many):
            assert one.q.tobytes() == other.q.tobytes() and one.qd.tobytes() == other.qd.tobytes()
        live, _ = run(model, [], 0.2, state=states[0], integrator=integrator)
        count = len(live.t)
        assert 200 < count < 301 and live.q.tobytes() == alone[0].q[:count].tobytes()


@pytest.mark.parametrize("integrator", ["symplectic_euler", "sdirk2"])
def test_gains_and_levels_can_be_turned_while_a_model_runs(integrator):
    model, turned = leg(), {"hold": {"gain": 90.0}, "damp": {"gain": -10.0, "level": 0.2}}
    changed = model.altered(feedback_laws=[replace(law, **turned[law.name]) for law in model.feedback_laws])
    start = {"q": [0.05, 0.3], "qd": [0.0, -0.5]}
    first = ph.simulate(changed, changed.state(**start), 0.3, 1e-3, integrator)
    live, _ = run(
        model, [(0.0, {"feedback": turned})], 0.2, state=model.state(**start), integrator=integrator
    )
    assert live.q.tobytes() == first.q[: len(live.t)].tobytes()
    knobs = Knobs(model, (np.zeros(1), np.zeros((1, 3))))
    for wrong in ({"grasp": {"gain": 1.0}}, {"hold": {"load": 1.0}}, {"hold": {"gain": np.nan}}):
        with pytest.raises(ph.ModelError, match="feedback"):
            knobs.turn({"feedback": {"damp": {"gain": 5.0}} | wrong})
    assert knobs.feedback[0][0].tobytes() == pack_feedback(model)[0][0].tobytes()


@pytest.mark.parametrize("integrator", ["symplectic_euler", "sdirk2"])
def test_a_model_with_motions_has_the_laws_too(integrator):
    """A body beside the figure that follows a motion makes the other family of steps, and the same motion."""
    model, builder = figure(), ph.ModelBuilder.from_dict(figure().to_dict())
    builder.add_body("clock", joint=ph.joints.Slider((0.0, 0.0, 1.0)), mass=1e-9, inertia=1e-9 * np.eye(3))
    other, start = builder.build(), [0.06, -0.03, 0.05]
    motions = {"clock": ph.Motion([0.0, 1.0], [[0.0], [1.0]])}
    one = ph.simulate(model, model.state(q=start), 0.5, 1e-3, integrator)
    two = ph.simulate(other, other.state(q=[*start, 0.0]), 0.5, 1e-3, integrator, motions=motions)
    # the mass centre is another one by 1e-9 / 62
    assert np.allclose(one.q, two.q[:, :3], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_signals_are_those_of_the_poses_and_their_rates(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 5)
    builder, numbers = ph.ModelBuilder.from_dict(tree.to_dict()), rng.normal(size=(3, 3))
    places = {"other": tree.body_names[1], "other_point": numbers[1], "direction": numbers[2]}
    for k, kind in enumerate(
        (
            {"coordinate": tree.coordinate_names[-1]},
            {"signal": "point", "body": tree.body_names[-1], "point": numbers[0], **places},
            {"signal": "center", **places},
        )
    ):
        for rate in (False, True):
            free = tree.coordinate_names[int(np.argmin(tree.prescribed))]
            builder.add_feedback(f"{k} {rate}", free, gain=1.0, rate=rate, **kind)
    model = builder.build()
    state, h = random_state(rng, model), 1e-6

    def signals(q):
        packed, spaces = pack_feedback(model), model.workspace().clear()
        kernels.hold_feedback(
            (np.zeros(1), np.zeros((1, len(q))), *packed), model.arrays, q, state.qd, spaces
        )
        laws = packed[0][0]
        return np.array(
            [kernels.signal_of(model.arrays, laws, k, q, state.qd, spaces[0])[0] for k in range(len(laws))]
        )

    found, poses = signals(state.q), ph.body_poses(model, state)
    masses = np.array([body.mass for body in model.bodies])
    center = sum(m * (p[:3, :3] @ b.com + p[:3, 3]) for m, p, b in zip(masses, poses, model.bodies))
    point, away = (p[:3, :3] @ x + p[:3, 3] for p, x in zip((poses[-1], poses[1]), numbers))
    n = numbers[2] / np.linalg.norm(numbers[2])
    expected = [state.q[-1], n @ (point - away), n @ (center / masses.sum() - away)]
    assert np.allclose(found[::2], expected, rtol=0.0, atol=1e-12)  # round-off
    rates = (signals(state.q + h * state.qd) - signals(state.q - h * state.qd))[::2] / (2.0 * h)
    assert np.allclose(found[1::2], rates, rtol=1e-6, atol=1e-6)  # of differences of second order


def test_a_tension_never_pushes():
    path = [ph.muscles.PathPoint(None, (0.5, 0.0, 0.0)), ph.muscles.PathPoint("sled", (0.0, 0.0, 0.0))]
    builder = ph.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("sled", joint=ph.joints.Slider((1.0, 0.0, 0.0)), mass=2.0, inertia=np.eye(3))
    builder.add_input("pull", 1.0)
    builder.add_muscle("cord", path, tension="pull")
    builder.add_feedback("slack", "pull", gain=-100.0, level=-1.0, coordinate="sled.distance")
    model = builder.build()
    for integrator in ("symplectic_euler", "bdf1"):
        assert not ph.simulate(model, model.state(), 0.1, 1e-3, integrator).q.any()


def test_files_have_laws_and_models_that_differ_in_them_differ(tmp_path):
    model = leg()
    described = json.loads(json.dumps(model.to_dict()))
    again = ph.ModelBuilder.from_dict(described).build()
    ph.save_model(model, tmp_path / "leg.json")
    for other in (again, pickle.loads(pickle.dumps(model)), ph.load_model(tmp_path / "leg.json").model):
        assert other == model and other.feedback_laws == model.feedback_laws
    assert leg(0.7) != model and leg().altered(feedback_laws=()) != model
    assert described["feedback_laws"][0] == {
        "name": "hold",
        "of": "push",
        "gain": 60.0,
        "signal": "touch",
        "gate": "foot",
        "load": 30.0,
    }


@pytest.mark.parametrize(
    "wrong, named",
    [
        ({"of": "nothing"}, "'of' .*'nothing'"),
        ({"coordinate": "knee"}, "'coordinate' .*'knee'"),
        ({"signal": "point"}, "'body' .*None"),
        ({"other": "arm"}, "'other' .*'arm'"),
        ({"gate": "trunk"}, "'gate' .*'trunk'"),
        ({"signal": "touch"}, "'gate' .*None"),
        ({"signal": "touch", "gate": "foot", "rate": True}, "rate"),
        ({"signal": "pressure"}, "signal .*'pressure'"),
        ({"gain": np.nan}, "gain"),
        ({"load": 0.0}, "load"),
        ({"name": "hold"}, "'hold'"),
    ],
)
def test_a_bad_law_is_named(wrong, named):
    builder = ph.ModelBuilder.from_dict(leg().to_dict())
    values = {"name": "new", "of": "push", "gain": 1.0, "coordinate": "trunk.distance"}
    with pytest.raises(ph.ModelError, match=named):
        builder.add_feedback(**(values | wrong))
    assert len(builder.feedback_laws) == 2


@pytest.mark.parametrize("integrator", ["RK45", "Radau", "event_driven"])
def test_methods_without_steps_of_one_length_refuse(integrator):
    model = leg()
    with pytest.raises(ph.ModelError, match="'hold'"):
        ph.simulate(model, model.state(), 0.1, 1e-3, integrator)
