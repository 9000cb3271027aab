"""Gradients of whole motions against differences of their losses, and against closed forms."""

import numpy as np
import pytest

import physics as ph
from physics.muscles import MassPoints, PathPoint, SphereCappedCylinder, Tension, Wrap
from physics.optimize import gradient as module
from physics.optimize.gradient import make_task
from physics.optimize.steps import Motion
from tests.physics.optimize.problems import (
    IMPLICIT,
    SHARE,
    differences,
    errors,
    of_body,
    of_coordinate,
    random_task,
)

# Five-point differences themselves have errors of about 1e-9 of the largest derivative, more for one that is small.
ACCURACY = 1e-6
USUAL = 1e-8


def check(task, share=SHARE, usual=USUAL):
    """All derivatives are accurate, and most of them nearly to the round-off of the differences."""
    off = errors(task, share)
    assert max(off.values()) < ACCURACY, off
    assert np.median(list(off.values())) < usual, off


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 20))]
)
def test_random_trees(seed, integrator):
    check(random_task(seed, integrator))


def test_a_slider_has_the_closed_form_of_backward_euler():
    """q_n = q_0 + n h q'_0 + n (n + 1) / 2 h^2 f / m; to round-off of some hundred operations."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("sled", joint=ph.joints.Slider((1.0, 0.0, 0.0)), mass=2.0, inertia=np.eye(3))
    model, steps, h, force = builder.build(), 40, 0.01, 3.0
    name = model.coordinate_names[0]
    wanted = ph.objectives.Pose({name: 0.0})
    parameters = [
        ph.Parameter(kind, where) for kind, where in (("torque", name), ("speed", name), ("mass", "sled"))
    ]
    start = model.state(q=[0.5], qd=[-0.3])
    found = ph.gradient(
        model, start, steps * h, h, integrator="bdf1", objective=wanted, parameters=parameters, tau=[force]
    )
    share = 0.5 * steps * (steps + 1) * h * h
    end = 0.5 - 0.3 * steps * h + share * force / 2.0
    expected = 2.0 * end * np.array([share / 2.0, steps * h, -share * force / 4.0])
    assert np.isclose(found.value, end * end, rtol=1e-11)
    assert np.allclose(list(found.by_parameter.values()), expected, rtol=1e-11)


def spinning(duration=1.2):
    """A ball joint with a spring that turns by several half turns, with a hinge on it."""
    builder = ph.ModelBuilder()
    inertia = np.diag([0.3, 0.2, 0.25])
    builder.add_body(
        "ball", joint=ph.joints.Spherical(), mass=1.0, com=(0.1, 0.0, 0.1), inertia=inertia, damping=0.05
    )
    builder.add_body(
        "arm", "ball", joint=ph.joints.Hinge((1.0, 1.0, 0.0)), mass=0.5, com=(0, 0, 0.2), inertia=inertia
    )
    model = builder.build()
    state = model.state(q=[0.1, -0.2, 0.3, 0.4], qd=[8.0, 5.0, 7.0, -1.0])
    wanted = ph.objectives.Reach("arm", (0.1, 0.2, 0.3), point=(0.2, 0.1, 0.4)) + 0.01 * ph.objectives.Rest()
    parameters = [*of_coordinate("ball.r_y"), *of_coordinate("arm.angle"), *of_body("ball")]
    return model, state, duration, wanted, parameters


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_through_changes_of_charts(integrator):
    """The speeds are such that no chart changes in another step within the differences."""
    model, state, duration, wanted, parameters = spinning()
    assert ph.simulate(model, state, duration, 2e-3, integrator).info["chart_changes"] > 1
    check(make_task(Motion(model, state, duration, 2e-3, integrator), wanted, parameters), 1e-4, 1e-7)


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_in_pieces_as_in_one(integrator, monkeypatch):
    """Pieces begin with Newton's iteration anew, so they agree to its tolerance."""
    model, state, duration, wanted, parameters = spinning()
    wanted = wanted + ph.objectives.Path("arm", [0.1, 1.0], np.ones((2, 3))) + ph.objectives.Effort()
    tau = ph.Table([0.0, 0.5, 1.1], np.linspace(0.0, 1.0, 12).reshape(3, 4))
    task = make_task(Motion(model, state, duration, 2e-3, integrator, tau), wanted, parameters)
    value, whole = task.evaluate()
    lengths = []
    simulated = type(task)._simulated
    monkeypatch.setattr(module, "MOST_KEPT", 0)
    monkeypatch.setattr(
        type(task), "_simulated", lambda *given: lengths.append(len((r := simulated(*given)).q)) or r
    )
    again, parts = task.evaluate()
    assert max(lengths) <= 1.1 * np.sqrt(task.steps) + 2
    assert np.isclose(value, again, rtol=1e-10)
    whole, parts = task.places.read(whole), task.places.read(parts)
    assert np.allclose(whole, parts, rtol=0.0, atol=1e-8 * np.abs(whole).max())


def muscled(wrapped=False, mass=True):
    """Two hinges, a muscle with mass that follows a tension, and one that is excited."""
    builder = ph.ModelBuilder()
    inertia = np.diag([0.02, 0.02, 0.01])
    upper = builder.add_body(
        "upper", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, com=(0, 0, -0.15), inertia=inertia
    )
    elbow = np.eye(4)
    elbow[2, 3] = -0.3
    builder.add_body(
        "lower", upper, joint=ph.joints.Hinge((0, 1, 0)), joint_in_parent=elbow, mass=0.8, com=(0, 0, -0.12),
        inertia=inertia, damping=0.1,
    )  # fmt: skip
    builder.add_input("pull", 30.0)
    builder.add_input("drive", 0.3)
    path = [PathPoint(None, (0.08, 0.01, 0.1)), PathPoint("lower", (0.03, 0.0, -0.05))]
    if wrapped:
        bone = np.eye(4)
        bone[2, 3] = -0.28
        bone[:3, :3] = ph.lie.so3_exp(np.array([0.5 * np.pi, 0.0, 0.0]))
        path.insert(1, Wrap(SphereCappedCylinder(body="upper", frame=bone, radius=0.05, length=0.1), 2e-3))
    masses = MassPoints.uniform(0.3, 6) if mass else None
    builder.add_muscle("front", path, masses=masses, tension="pull")
    back = [PathPoint("upper", (-0.05, 0.0, -0.1)), PathPoint("lower", (-0.04, 0.0, 0.02))]
    builder.add_muscle("back", back, law=Tension(50.0), excitation="drive")
    return builder.build()


@pytest.mark.parametrize("wrapped", [False, True])
def test_pull_of_muscles(wrapped):
    model = muscled(wrapped)
    state = model.state(q=[0.3, -0.6], qd=[0.5, 0.2])
    wanted = ph.objectives.Reach("lower", (0.2, 0.0, -0.4), point=(0.0, 0.0, -0.25))
    parameters = [
        ph.Parameter("input", "pull"),
        ph.Parameter("input", "drive"),
        *of_coordinate("lower.angle"),
    ]
    parameters += [*of_body("upper"), ph.Parameter("points", "front"), ph.Parameter("points", "back", 1)]
    parameters += [ph.Parameter("law", "back.max_force")]
    if wrapped:
        parameters.append(ph.Parameter("radii", "front"))
    check(make_task(Motion(model, state, 0.1, 2e-3, "sdirk2"), wanted, parameters), usual=1e-7)
    with pytest.raises(ph.ModelError, match="front"):
        make_task(Motion(model, state, 0.1, 2e-3, "sdirk2"), wanted, [ph.Parameter("gravity")])


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_inputs_of_forces_and_controllers_with_limits_and_ground(integrator):
    """A limit acts from the start, and the foot stays in the ground: nothing switches within the differences."""
    builder = ph.ModelBuilder()
    inertia = np.diag([0.05, 0.04, 0.03])
    base = builder.add_body("base", joint=ph.joints.Free(), mass=2.0, inertia=inertia, com=(0.02, 0.0, 0.01))
    builder.add_body(
        "leg", base, joint=ph.joints.Hinge((0, 1, 0)), mass=0.7, com=(0, 0, -0.2), inertia=inertia,
        limits=(-1.0, 0.2), limit_stiffness=200.0, limit_damping=1.0,
    )  # fmt: skip
    builder.add_body(
        "locked", base, joint=ph.joints.Hinge((1, 0, 0)), mass=0.3, inertia=inertia, limits=(0.1, 0.1)
    )
    builder.add_ground("ground", base, [(0.1, 0.1, 0), (-0.1, 0.1, 0), (0, -0.1, 0)], stiffness=3e3, damping=5.0,
                       friction=0.5)  # fmt: skip
    builder.add_input("push", 2.0)
    builder.add_force("wind", "leg", (1.0, 0.5, 0.0), "push", point=(0.0, 0.1, -0.3), axes="body")
    builder.add_controller("servo", "leg", stiffness=8.0, damping=0.5, target=0.4)
    model = builder.build()
    q = {"base": [0.05, 0.02, -0.03, 0.0, 0.0, -0.03], "leg.angle": 0.3, "locked.angle": 0.1}
    state = model.state(q=q, qd={"base": [0.1, 0.2, 0.0, 0.3, 0.1, 0.0]})
    wanted = (
        ph.objectives.Reach("leg", (0.2, 0.0, -0.4), point=(0.0, 0.0, -0.25)) + 0.01 * ph.objectives.Rest()
    )
    wanted = wanted + 1e-3 * ph.objectives.Effort(["push", "leg.angle"])
    parameters = [ph.Parameter("input", name) for name in model.input_names]
    parameters += [ph.Parameter("gravity"), *of_body("leg"), *of_coordinate("leg.angle"), *of_body("locked")]
    check(make_task(Motion(model, state, 0.02, 1e-3, integrator), wanted, parameters), 1e-4, 1e-7)


def test_one_row_of_a_table_and_one_axis():
    task = random_task(1, "sdirk2", ("hinge", "spherical"))
    body, name = task.model.body_names[-1], task.model.coordinate_names[0]
    wanted = ph.objectives.Reach(body, (0.0, 0.0, 0.0))
    whole = [ph.Parameter("torque", name), ph.Parameter("center", body), ph.Parameter("gravity")]
    single = [ph.Parameter(each.kind, each.name, 1) for each in whole]
    given = {"integrator": "sdirk2", "objective": wanted, "tau": ph.Table(task.times, task.values["table"])}
    found = ph.gradient(task.model, task.state, 0.04, 1e-3, parameters=whole + single, **given).by_parameter
    for all_of_them, one in zip(whole, single):
        assert found[one].shape == () and found[one] == found[all_of_them][1]


def test_the_loss_is_that_of_the_simulation():
    task = random_task(2, "sdirk2")
    body, target = task.model.body_names[-1], np.array([0.1, 0.2, 0.3])
    tau = ph.Table(task.times, task.values["table"])
    end = ph.simulate(task.model, task.state, 0.04, 1e-3, "sdirk2", tau=tau).poses[-1, -1]
    found = ph.gradient(
        task.model, task.state, 0.04, 1e-3, integrator="sdirk2", tau=tau,
        objective=ph.objectives.Reach(body, target, point=(0.0, 0.0, 0.1)), parameters=[ph.Parameter("gravity")],
    )  # fmt: skip
    off = end[:3, :3] @ (0.0, 0.0, 0.1) + end[:3, 3] - target
    assert np.isclose(found.value, off @ off, rtol=1e-12)


def test_at_the_end_of_a_range_a_derivative_is_one_sided():
    model = muscled(mass=False)
    wanted = ph.objectives.Reach("lower", (0.2, 0.0, -0.4))
    parameters = [
        ph.Parameter("input", "pull"),
        ph.Parameter("damping", "upper.angle"),
        ph.Parameter("mass", "upper"),
    ]
    task = make_task(Motion(model, model.state(q=[0.3, -0.6]), 0.02, 1e-3, "bdf1"), wanted, parameters)
    assert task.gradient().one_sided == (parameters[1],)
    slack = make_task(Motion(model, model.state(), 0.02, 1e-3, "bdf1", {"pull": 0.0}), wanted, parameters)
    assert set(slack.gradient().one_sided) == set(parameters[:2])


def test_limits_derived_from_masses_stay_as_they_are():
    builder = ph.ModelBuilder()
    builder.add_body(
        "a", joint=ph.joints.Hinge(), mass=1.0, com=(0.3, 0.1, 0), inertia=np.eye(3), limits=(-1.0, 0.1)
    )
    model = builder.build()
    wanted = ph.objectives.Pose({"a.angle": 0.0})
    task = make_task(
        Motion(model, model.state(q=[0.3]), 0.02, 1e-3, "sdirk2"), wanted, [ph.Parameter("mass", "a")]
    )
    assert np.isclose(task.places.read(task.evaluate()[1])[0], differences(task)[0], rtol=1e-7)
    assert np.array_equal(task.with_values(np.array([2.0])).model.arrays[4], model.arrays[4])
