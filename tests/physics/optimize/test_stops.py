"""Gradients through hard limits: the set of limits that stop each step is that of the motion."""

import numpy as np
import pytest

import physics as ph
from physics.muscles import MassPoints, PathPoint
from physics.optimize import gradient as module
from physics.optimize.gradient import make_task
from physics.optimize.steps import Motion
from tests.physics.generators import smooth_frames
from tests.physics.optimize.problems import IMPLICIT, errors, of_body, of_coordinate

STEP = 2e-3


def stopping(seed):
    """A random arm with a spline joint that falls on hard limits, rests there and is lifted again by torques; but for
    seed 0 with a heavy muscle.
    """
    rng = np.random.default_rng(seed)
    builder, inertia = ph.ModelBuilder(), np.diag([0.02, 0.03, 0.025])
    builder.add_body(
        "base", joint=ph.joints.Spherical(), mass=2.0, com=(0, 0.02, -0.1), inertia=inertia, damping=1.0
    )
    place = ph.lie.exp(np.append(0.1 * rng.normal(size=3), [0.0, 0.0, -0.2]))
    builder.add_body(
        "upper", "base", joint=ph.joints.Hinge((0, 1, 0)), joint_in_parent=place, mass=1.0, com=(0.1, 0, -0.1),
        inertia=inertia, damping=0.1, stiffness=0.5, limits=(-2.0, 0.3), limit_restitution=0.0,
    )  # fmt: skip
    curve = ph.joints.SplineCurve(smooth_frames(rng, 7, 0.3), length_scale=0.5)
    builder.add_body(
        "sled", "upper", joint=curve, joint_in_parent=place, mass=0.5, inertia=inertia, damping=2.0
    )
    builder.add_body(
        "hand", "sled", joint=ph.joints.Slider((0, 0.3, -1)), mass=0.3, inertia=inertia, damping=0.5, stiffness=0.5,
        limits=(-0.1, 0.05), limit_restitution=0.0,
    )  # fmt: skip
    path = [
        PathPoint(None, (0.1, 0.0, 0.1)),
        PathPoint("upper", (0.05, 0.0, -0.1)),
        PathPoint("hand", (0, 0.1, 0)),
    ]
    builder.add_input("pull", 3.0)
    if seed:
        builder.add_muscle("cord", path, masses=MassPoints.uniform(0.1, 5), tension="pull")
    model = builder.build()
    start = {
        "base": 0.1 * rng.normal(size=3),
        "upper.angle": 0.2,
        "sled.q": 0.5 * curve.domain[1],
        "hand": [0.02],
    }
    state = model.state(q=start, qd={"upper.angle": 2.0, "hand": [0.1]})
    tau = np.zeros((3, model.num_coordinates + 1))
    tau[:, -1] = 3.0
    tau[:, 3], tau[:, 5] = [3.0, 0.0, -6.0], [1.0, 2.0, -4.0]
    wanted = (
        ph.objectives.Reach("hand", rng.normal(size=3), point=(0.1, 0.0, 0.2)) + 0.1 * ph.objectives.Rest()
    )
    wanted = (
        wanted + ph.objectives.Path("upper", [0.05, 0.2], rng.normal(size=(2, 3))) + ph.objectives.Effort()
    )
    return model, state, ph.Table([0.0, 0.15, 0.3], tau), wanted


def parameters_of(model):
    found = [
        *of_coordinate("upper.angle"),
        *of_coordinate("hand.distance"),
        ph.Parameter("frames", "sled", 3),
    ]
    return [*found, *of_body("upper"), ph.Parameter("input", "pull")]


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 6))])
def test_an_arm_that_falls_on_its_limits(seed, integrator, monkeypatch):
    model, state, tau, wanted = stopping(seed)
    result = ph.simulate(model, state, 0.3, STEP, integrator, tau=tau)
    on = np.abs(result.q[:, [3, 5]] - [0.3, 0.05]) < 1e-12
    assert on.any() and not on[-1].any()
    assert seed or on.all(axis=1).any()  # both coordinates at a time
    task = make_task(Motion(model, state, 0.3, STEP, integrator, tau), wanted, parameters_of(model))
    off = errors(task, 1e-5)
    # as in `test_gradient`, with differences ten times smaller: no step is stopped earlier or later within them
    assert max(off.values()) < 1e-6 and np.median(list(off.values())) < 1e-7, off
    whole = task.gradient()
    assert not whole.one_sided
    monkeypatch.setattr(module, "MOST_KEPT", 0)
    for parameter, slope in task.gradient().by_parameter.items():
        expected = whole.by_parameter[parameter]
        assert np.allclose(slope, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())


def test_a_step_that_only_touches_a_limit_is_one_sided():
    """A sled stops on its limit; one that begins there and leaves it is told as one-sided."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "sled",
        joint=ph.joints.Slider((1, 0, 0)),
        mass=2.0,
        inertia=np.eye(3),
        limits=(-1.0, 1.0),
        limit_restitution=0.0,
    )
    model = builder.build()
    speed, force = ph.Parameter("speed", "sled.distance"), ph.Parameter("torque", "sled.distance")
    given = {
        "integrator": "bdf1",
        "objective": ph.objectives.Pose({"sled.distance": 0.5}),
        "parameters": [speed, force],
    }
    stopped = ph.gradient(model, model.state(q=[0.9], qd=[0.5]), 0.4, 0.01, tau=[1.0], **given)
    assert stopped.one_sided == () and np.isclose(stopped.value, 0.25, rtol=1e-12)
    assert np.allclose(list(stopped.by_parameter.values()), 0.0, atol=1e-12)
    leaving = ph.gradient(model, model.state(q=[1.0], qd=[-0.5]), 0.4, 0.01, **given)
    assert leaving.one_sided == (speed, force)
    assert np.isclose(leaving.by_parameter[speed], 2.0 * 0.3 * 0.4, rtol=1e-11)
