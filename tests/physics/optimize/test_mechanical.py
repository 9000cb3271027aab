"""Momentum, energy and forces of muscles as objectives, and products, against differences."""

import numpy as np
import pytest

import physics as ph
from physics.model.observation import observe
from physics.muscles import PathPoint
from physics.optimize.control_frames import Displaced
from physics.optimize.gradient import make_task
from physics.optimize.losses import Span
from physics.optimize.steps import Motion
from tests.physics.generators import random_state, random_tree, smooth_frames
from tests.physics.optimize.problems import IMPLICIT, errors, of_coordinate
from tests.physics.optimize.test_muscle_states import LAWS, arm

goals = ph.objectives
STEP = 1e-4  # five-point differences: 1e-16 of the fifth derivative, and round-off 1e-12


def evaluated(model, wanted, q, qd):
    """The loss of one state."""
    none = np.zeros((1, 0))
    span = Span(model, 0.0, 1.0, 0, 0, q[None], qd[None], np.zeros((1, len(q))), none, Displaced(model, ()))
    return wanted.evaluate(span)


@pytest.mark.parametrize("seed", range(4))
def test_slopes(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5)
    state, linear, angular = random_state(rng, model), rng.normal(size=3), rng.normal(size=3)
    q, qd = np.array(state.q), np.array(state.qd)
    pose = goals.Pose({model.coordinate_names[0]: 0.3})
    for wanted in (
        goals.Momentum(linear),
        goals.Momentum(angular=angular),
        goals.Energy(),
        goals.Energy(stored=False),
        goals.Momentum(linear, angular) * goals.Rest() + 0.5 * (goals.Rest() * pose),
    ):
        wanted.check(model, 0.0, 1.0)
        loss = evaluated(model, wanted, q, qd)
        for slopes, ways in ((loss.by_q, np.eye(2, 1)), (loss.by_qd, np.eye(2, 1, -1))):
            expected = []
            for way in STEP * np.eye(len(q)):
                near, far = (
                    evaluated(model, wanted, *(np.stack([q, qd]) + k * ways * way)).value
                    - evaluated(model, wanted, *(np.stack([q, qd]) - k * ways * way)).value
                    for k in (1.0, 2.0)
                )
                expected.append((8.0 * near - far) / (12.0 * STEP))
            assert np.abs(slopes[0] - expected).max() < 1e-9 * (1.0 + abs(loss.value)), wanted


@pytest.mark.parametrize("seed", range(4))
def test_values(seed):
    """Against differences of poses along the velocities."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5)
    state = random_state(rng, model)
    q, qd = np.array(state.q), np.array(state.qd)
    poses = {
        k: observe(model, (q + k * STEP * qd)[None], qd[None], anywhere=True)[0][0] for k in range(-2, 3)
    }

    def rate(values):
        return (8.0 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12.0 * STEP)

    center, linear, angular, mass = np.zeros(3), np.zeros(3), np.zeros(3), 0.0
    for i, body in enumerate(model.bodies):
        places = {k: each[i][:3, :3] @ body.com + each[i][:3, 3] for k, each in poses.items()}
        turns = {k: ph.lie.so3_log(each[i][:3, :3] @ poses[0][i][:3, :3].T) for k, each in poses.items()}
        push, turn = body.mass * rate(places), poses[0][i][:3, :3]
        angular += np.cross(places[0], push) + turn @ body.inertia @ turn.T @ rate(turns)
        center, linear, mass = center + body.mass * places[0], linear + push, mass + body.mass
    angular -= np.cross(center / mass, linear)
    for wanted, least in (
        (goals.Momentum(linear, angular), 0.0),
        (goals.Energy(), observe(model, q[None], qd[None], anywhere=True)[1][0, 2]),
    ):
        assert abs(evaluated(model, wanted, q, qd).value - least) < 1e-9 * (1.0 + abs(least))


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("law", LAWS)
def test_forces_of_muscles(law, integrator):
    """The tolerance is that of differences with stiff tendons, see `test_muscle_states`."""
    model = arm(LAWS[law])
    start = model.state(q=[0.3, -0.6], qd=[0.5, 0.2])
    wanted = 1e-3 * goals.MuscleForce("front") + 1e-4 * goals.MuscleForce("back", 20.0, 0.03)
    wanted += goals.Energy(stored=False) * goals.Rest() + 1e-3 * goals.Momentum((1.0, 0.0, 0.0), time=0.02)
    table = ph.Table([0.0, 0.02, 0.06], np.array([[0.1, 0.0, 0.3], [0.0, 0.1, 0.7], [0.2, 0.1, 0.1]]))
    parameters = [ph.Parameter("input", "drive"), *of_coordinate("lower.angle")]
    task = make_task(Motion(model, start, 0.06, 1e-3, integrator, table), wanted, parameters)
    off = errors(task, 2e-4)
    assert max(off.values()) < 1e-6, off


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_by_control_frames(integrator):
    """Frames change the rates of a spline joint, too."""
    builder, inertia = ph.ModelBuilder(), np.diag([0.02, 0.03, 0.025])
    builder.add_body("thigh", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, com=(0, 0, -0.15), inertia=inertia)
    joint = ph.joints.SplineCurve(smooth_frames(np.random.default_rng(3), 6, 0.25), length_scale=0.5)
    place = ph.lie.exp(np.array([0.0, 0.1, 0.0, 0.0, 0.0, -0.3]))
    builder.add_body(
        "shank", "thigh", joint=joint, joint_in_parent=place, mass=0.8, com=(0.02, 0, -0.2), inertia=inertia
    )
    ends = [PathPoint(None, (0.06, 0.1, 0.1)), PathPoint("shank", (0.03, 0.0, -0.15))]
    builder.add_muscle("front", ends, law=LAWS["millard"], excitation=0.3)
    model = builder.build()
    wanted = goals.Momentum((0.1, 0.0, 0.2), (0.0, 0.1, 0.0)) + goals.Energy(stored=False, time=0.02)
    wanted += 1e-2 * goals.MuscleForce("front")
    start = model.state(q=[0.3, 0.45], qd=[1.0, 0.7])
    task = make_task(
        Motion(model, start, 0.04, 1e-3, integrator), wanted, [ph.Parameter("frames", "shank", 2)]
    )
    assert max(errors(task).values()) < 1e-6


def test_refusals():
    model = arm(LAWS["rigid"])
    for wanted, kind, name in (
        (goals.Momentum((0.0, 0.0, 0.0)), "mass", "upper"),
        (goals.Rest() + goals.MuscleForce("front"), "law", "front.max_isometric_force"),
        (goals.Rest() * goals.Energy(stored=False), "inertia", "lower"),
    ):
        with pytest.raises(ph.ModelError, match=f"{name}.*objective"):
            ph.gradient(
                model, model.state(), 0.01, 1e-3, integrator="bdf1", objective=wanted,
                parameters=[ph.Parameter(kind, name)],
            )  # fmt: skip
    for wanted, named in (
        (goals.Energy(), "front"),
        (goals.Momentum(), "momentum"),
        (goals.MuscleForce("biceps"), "biceps"),
    ):
        with pytest.raises(ph.ModelError, match=named):
            wanted.check(model, 0.0, 1.0)
