"""Many simulations on several threads: the same bits as one after the other, and none is lost where one fails."""

import threading
import warnings

import numpy as np
import pytest

import physics as ph
from physics.simulation.simulate import make_problem
from physics.simulation.together import runs_together
from tests.physics.constraints.mechanisms import bar, four_bar
from tests.verification.generators import random_state, smooth_frames


def same(ours, theirs):
    for name in ("t", "q", "qd"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))


def double_pendulum():
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    bar(builder, "arm", None, 0.3, 0.0)
    bar(builder, "hand", "arm", 0.3, 0.3)
    return builder.build()


@pytest.mark.parametrize("threads", [None, 1, 2, 5])
def test_results_are_those_of_single_runs_to_the_bit(threads):
    rng, model = np.random.default_rng(11), double_pendulum()
    states = [model.state(q=q, qd=qd) for q, qd in rng.normal(size=(7, 2, 2))]
    wishes = {"dt": 1e-3, "record_interval": 0.01}
    together = ph.simulate_many(model, states, 0.05, threads=threads, **wishes)
    for state, result in zip(states, together, strict=True):
        same(result, ph.simulate(model, state, 0.05, **wishes))


def jointed_tree():
    """Every kind of joint, with springs, limits and forces, for short runs."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    frames = smooth_frames(np.random.default_rng(5), 6)
    joints = [
        ph.joints.Free(),
        ph.joints.Spherical(),
        ph.joints.SplineCurve(frames),
        ph.joints.Slider((1, 0, 0)),
    ]
    parent = None
    for k, joint in enumerate(joints):
        body = {"mass": 1.0 + k, "inertia": np.diag([0.1, 0.2, 0.15]), "stiffness": 3.0}
        limits = [(-0.1, 0.2)] if k == 3 else None
        parent = builder.add_body(f"b{k}", parent, joint=joint, limits=limits, **body)
    builder.add_spring("spring", parent, (0, 0, 0), None, (0, 0, 1), stiffness=20.0)
    return builder.build()


@pytest.mark.parametrize(
    "integrator", ["symplectic_euler", "textbook_symplectic_euler", "forward_euler", "rk4"]
)
@pytest.mark.parametrize(
    "speed", [0.3, 30.0]
)  # slow runs go together; of fast ones those with findings go alone
def test_short_runs_in_one_call_are_single_runs_to_the_bit(integrator, speed):
    model, rng = jointed_tree(), np.random.default_rng(4)
    states = [random_state(model, rng, largest_angle=3.0, speed=speed) for _ in range(70)]
    states = [model.state(state.q, state.qd, 2.5) for state in states]
    wishes = {"dt": 1e-3, "integrator": integrator, "record_interval": 0.003, "tau": np.full(11, 0.2)}
    problem, _ = make_problem(model, states[0], 0.04, **wishes)
    assert runs_together(problem, states) == (integrator != "rk4")  # it looks ahead at limits, from its start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ph.SimulationWarning)
        found = ph.simulate_many(model, states, 0.04, threads=2, **wishes)
        for state, result in zip(states, found, strict=True):
            try:
                alone = ph.simulate(model, state, 0.04, **wishes)
            except ph.DivergedError as error:
                assert str(result) == str(error)
                continue
            same(result, alone)
            assert result.info == alone.info


def test_constraints_of_one_model_have_workspaces_of_their_own():
    model, start = four_bar()
    rates = [ph.constrained_dynamics(model, start).qdd * share for share in (0.0, 0.2, 0.4, 0.6)]
    states = [ph.assemble(model, model.state(q=start.q, qd=rate)) for rate in rates]
    together = ph.simulate_many(model, states, 0.2, threads=2)
    for state, result in zip(states, together, strict=True):
        same(result, ph.simulate(model, state, 0.2))


def test_a_run_that_diverges_stands_in_its_place_and_the_others_are_there():
    model = double_pendulum()
    states = [model.state(qd=[rate, -rate]) for rate in (1.0, 1e5, -1.0)]
    first, failed, last = ph.simulate_many(model, states, 0.1, threads=2)
    assert isinstance(failed, ph.DivergedError) and failed.body == "hand" and len(failed.result.t)
    assert first.t[-1] == last.t[-1] == 0.1


def test_a_wrong_state_is_named_before_anything_runs():
    model, asked = double_pendulum(), []
    states = [model.state(), ph.State(np.array([np.nan, 0.0]), np.zeros(2), 0.0, np.zeros(2, dtype=np.int64))]
    with pytest.raises(ph.ModelError, match=r"states\[1\].*finite"):
        ph.simulate_many(model, states, 0.1, tau=lambda t: asked.append(t) or [0.0, 0.0])
    assert not asked
    q, chart = np.zeros(2), np.zeros(2, dtype=np.int64)
    for bad in (
        states[1],
        ph.State(None, q, 0.0, chart),
        ph.State(q, q, 0.0, np.array([np.nan, 0.0])),
        ph.State(np.array(["x", "y"]), q, 0.0, chart),
        ph.State(q, q, [0.0], chart),
    ):
        with pytest.raises(ph.ModelError, match=r"states\[1\]"):
            ph.simulate_many(model, [model.state(), bad], 0.1)
    with pytest.raises(ph.ModelError, match="threads must be at least 1, got 0"):
        ph.simulate_many(model, states[:1], 0.1, threads=0)
    with pytest.raises(ph.ModelError, match=r"threads must be a whole number, got 1\.5"):
        ph.simulate_many(model, states[:1], 0.1, threads=1.5)
    with pytest.raises(ph.ModelError, match=r"client must be a distributed\.Client, got 3"):
        ph.simulate_many(model, states[:1], 0.1, client=3)
    assert ph.simulate_many(model, [], 0.1) == []


def test_an_interrupt_in_any_thread_ends_all_of_them():
    model, before = double_pendulum(), threading.active_count()

    def interrupted(t, q, qd):
        if threading.current_thread() is not threading.main_thread():
            raise KeyboardInterrupt
        return [0.0, 0.0]

    with pytest.raises(KeyboardInterrupt):
        ph.simulate_many(model, [model.state()] * 50, 0.5, tau=interrupted, threads=2)
    assert threading.active_count() == before
