"""Inputs, position controllers and keyframed targets, in every integrator."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import physics as ph
from tests.physics.dynamics.test_derivatives import difference

INERTIA = 0.5


def arm(gravity=(0, 0, 0), **changes):
    """A wheel with a controller: inertia 0.5, stiffness 8, damping 1."""
    builder = ph.ModelBuilder(gravity=gravity)
    builder.add_body("wheel", joint=ph.joints.Hinge(), mass=1.0, inertia=np.eye(3) * INERTIA)
    builder.add_controller("motor", "wheel", **({"stiffness": 8.0, "damping": 1.0, "target": 0.7} | changes))
    return builder.build()


@pytest.mark.parametrize(
    "integrator, tolerance",
    # the methods' orders at steps of 1e-3
    [
        ("symplectic_euler", 2e-3),
        ("forward_euler", 5e-3),
        ("linearly_implicit_euler", 1e-2),
        ("bdf1", 1e-2),
        ("sdirk2", 1e-5),
        ("rk4", 1e-10),
        ("DOP853", 1e-7),
        ("LSODA", 1e-5),
        ("Radau", 1e-6),
    ],
)
def test_step_response_is_that_of_a_damped_oscillator(integrator, tolerance):
    model = arm()
    result = ph.simulate(model, model.state(), 2.0, 1e-3, integrator)
    decay = 1.0 / (2.0 * INERTIA)
    rate = np.sqrt(8.0 / INERTIA - decay**2)
    t = result.t
    swing = np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
    assert np.abs(result.q[:, 0] - 0.7 * (1.0 - swing)).max() < tolerance


def test_targets_may_be_given_by_name_as_a_row_and_as_a_table():
    model = arm()
    assert model.input_names == ("motor.angle.target", "motor.angle.rate") and model.num_inputs == 2
    state = model.state(q=[0.1], qd=[0.2])
    expected = (8.0 * (0.3 - 0.1) + 1.0 * (0.5 - 0.2) + 4.0) / INERTIA
    tau = {"motor.angle.target": 0.3, "motor.angle.rate": 0.5, "wheel.angle": 4.0}
    for given in (tau, [4.0, 0.3, 0.5]):
        assert np.isclose(ph.forward_dynamics(model, state, given)[0], expected, rtol=1e-14)
    assert np.isclose(ph.forward_dynamics(model, state)[0], (8.0 * 0.6 - 0.2) / INERTIA, rtol=1e-14)
    dense = ph.forward_dynamics(model, state, tau, road="dense")
    assert np.isclose(dense[0], expected, rtol=1e-14)
    inputs = {"motor.angle.target": 0.3, "motor.angle.rate": 0.5}
    assert np.isclose(ph.inverse_dynamics(model, state, [expected], inputs)[0], 4.0, rtol=1e-13)
    tables = [ph.Table([0.0, 1.0], [[4.0, 0.3, 0.5]] * 2), tau]
    ends = [ph.simulate(model, state, 1.0, 1e-2, "rk4", tau=given).q[-1, 0] for given in tables]
    assert ends[0] == ends[1]


def test_force_limit_bounds_what_the_controller_does():
    model = arm(force_limit=0.5)
    for target, expected in ((10.0, 0.5), (-10.0, -0.5), (0.01, 0.08)):
        acceleration = ph.forward_dynamics(model, model.state(), {"motor.angle.target": target})[0]
        assert np.isclose(acceleration * INERTIA, expected, rtol=1e-14)


def test_controller_does_not_count_as_energy():
    model = arm()
    assert ph.energy(model, model.state(q=[0.3], qd=[1.0])).total == 0.5 * INERTIA


def test_keyframes_are_smooth_curves_with_their_rates():
    model = arm()
    times, values = [0.0, 0.4, 1.0, 1.5], [0.0, 1.0, 0.5, 0.5]
    table = ph.keyframe_table(model, {"motor.angle": (times, values)}, 0.01, tau=[2.0])
    curve = CubicSpline(times, values, bc_type="clamped")
    assert np.abs(table.values[:, 1] - curve(table.times)).max() < 1e-13
    assert np.abs(table.values[:, 2] - curve(table.times, 1)).max() < 1e-12
    assert (table.values[:, 0] == 2.0).all() and set(times) <= set(table.times)


def test_stiff_controller_follows_its_keyframes():
    model = arm(stiffness=5e4, damping=400.0)
    times, values = [0.0, 0.5, 1.0], [0.0, 1.0, 0.2]
    table = ph.keyframe_table(model, {"motor.angle": (times, values)}, 1e-3)
    result = ph.simulate(model, model.state(), 1.2, 1e-4, "rk4", tau=table)
    expected = np.interp(result.t, table.times, table.values[:, 1])
    # it lags by inertia times acceleration over stiffness: 0.5 * 40 / 5e4
    assert np.abs(result.q[:, 0] - expected).max() < 5e-4


def test_one_key_is_a_constant_and_forces_follow_inputs_too():
    builder = ph.ModelBuilder(gravity=(0, 0, 0))
    builder.add_body("mass", joint=ph.joints.Slider(), mass=2.0, inertia=np.eye(3))
    builder.add_input("thrust")
    builder.add_force("jet", "mass", (0, 0, 1), "thrust")
    model = builder.build()
    table = ph.keyframe_table(model, {"thrust": ([0.0], [3.0])})
    result = ph.simulate(model, model.state(), 1.0, 0.1, "rk4", tau=table)
    assert np.isclose(result.q[-1, 0], 0.5 * 1.5, rtol=1e-13)
    ramp = ph.Table([0.0, 1.0], [[0.0, 0.0], [0.0, 6.0]])
    result = ph.simulate(model, model.state(), 1.0, 0.1, "rk4", tau=ramp)
    assert np.isclose(result.q[-1, 0], 3.0 / 6.0, rtol=1e-13)  # t^3 / 2 / 6 * 6


def test_derivatives_and_files_know_controllers(tmp_path):
    builder = ph.ModelBuilder()
    builder.add_input("wind", 3.0)
    for k in range(2):
        builder.add_body(
            f"link_{k}", f"link_{k - 1}" if k else None, joint=ph.joints.Planar(), mass=1.0, inertia=np.eye(3)
        )
        limit = [1.0, None, 2.0] if k else None
        builder.add_controller(f"drive_{k}", f"link_{k}", stiffness=[5, 6, 7], damping=0.3, force_limit=limit)
    builder.add_force("gust", "link_1", (1, 2, 3), "wind", point=(0.1, 0.2, 0.3))
    model = builder.build()
    rng = np.random.default_rng(0)
    state = model.state(q=rng.normal(size=6), qd=rng.normal(size=6))
    assert difference(model, state, rng.normal(size=6)) < 1e-8
    ph.save_model(model, tmp_path / "model.json")
    again = ph.load_model(tmp_path / "model.json").model
    assert again == model and again.input_names == model.input_names and model.num_inputs == 13
    assert np.array_equal(again.with_inputs(None), model.with_inputs(None))


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda b: b.add_controller("m", "wheel", stiffness=1.0), "there is a controller named 'm' already"),
        (lambda b: b.add_controller("n", "wheel", stiffness=1.0), "'wheel', has a controller already"),
        (lambda b: b.add_controller("n", "rim", stiffness=-1.0), "stiffness of controller 'n' must not be negative"),
        (lambda b: b.add_controller("n", "rim", stiffness=1.0, force_limit=0.0), "force_limit .* must be positive"),
        (lambda b: b.add_controller("n", "rim", stiffness=[1, 2]), r"stiffness .* must have shape \(1,\)"),
        (lambda b: b.add_controller("n", "stand", stiffness=1.0), "'stand', has no coordinates to move"),
        (lambda b: b.add_controller("n", "hub", stiffness=1.0), "body of controller 'n' is missing: 'hub'"),
        (lambda b: b.add_input("m.angle.target"), "there is an input named 'm.angle.target' already"),
        (lambda b: b.add_input("push", np.nan), "value of input 'push' must be finite"),
        (lambda b: (b.add_input("rim.angle"), b.build()), "input 'rim.angle' has the name of a coordinate"),
        (
            lambda b: (b.add_input("n.angle.rate"), b.add_controller("n", "rim", stiffness=1.0)),
            "controller 'n' .* 'n.angle.rate'",
        ),
    ],
)  # fmt: skip
def test_bad_controllers_and_inputs_are_named(call, words):
    builder = ph.ModelBuilder()
    builder.add_body("stand", joint=ph.joints.Fixed(), mass=1.0, inertia=np.eye(3))
    for name in ("wheel", "rim"):
        builder.add_body(name, joint=ph.joints.Hinge(), mass=1.0, inertia=np.eye(3))
    builder.add_controller("m", "wheel", stiffness=1.0)
    with pytest.raises(ph.ModelError, match=words):
        call(builder)
    assert len(builder.controllers) == 1


@pytest.mark.parametrize(
    "tau, words",
    [
        ([0.0, 0.0], r"tau must have shape \(1,\) or \(3,\) with the inputs, got \(2,\)"),
        ({"motor": 1.0}, "tau names no coordinate and no input: 'motor'"),
        ({"wheel.angle": np.inf}, "wheel.angle of tau must be finite"),
        (
            ph.Table([0.0], [[0.0, 1.0]]),
            r"values of tau must have shape \(..., 1\) or \(..., 3\) with the inputs, got \(1, 2",
        ),
        (ph.Table([0.0, 1.0], [[0.0], [1.0], [2.0]]), "values of tau must be a row at each of 2 times"),
    ],
)
def test_bad_inputs_of_a_simulation_are_named(tau, words):
    model = arm()
    with pytest.raises(ph.ModelError, match=words):
        ph.simulate(model, model.state(), 1.0, tau=tau)


@pytest.mark.parametrize(
    "keys, words",
    [
        ({}, "keys must be"),
        ({"motor": ([0.0], [1.0])}, "keys name no input or controller's coordinate: 'motor'"),
        ({"motor.angle": [0.0, 1.0, 2.0]}, r"keys of 'motor.angle' must be \(times, values\)"),
        ({"motor.angle": ([1.0, 0.0], [1.0, 2.0])}, "times of 'motor.angle' must increase"),
        ({"motor.angle": ([0.0, 1.0], [1.0])}, r"values of 'motor.angle' must have shape \(2,\)"),
    ],
)
def test_bad_keyframes_are_named(keys, words):
    with pytest.raises(ph.ModelError, match=words):
        ph.keyframe_table(arm(), keys)
