"""Simulations: conservation, charts, samples, cancellation, failure."""

import copy
import dataclasses
import itertools
import pickle

import numpy as np
import pytest

import physics as ph
from physics.joints.packing import Workspace
from tests.physics.generators import smooth_frames
from tests.physics.small_models import alone


def spinning_body():
    inertia = np.diag([0.3, 0.5, 0.6])
    return alone("top", ph.joints.Spherical(), gravity=(0, 0, 0), inertia=inertia).build(), inertia


def pendulum(**changes):
    rod = {"com": (0, 0, -0.5), "inertia": np.diag([0.1, 0.1, 0.01])} | changes
    return alone("rod", ph.joints.Hinge((0, 1, 0)), **rod).build()


def test_free_spin_changes_charts_and_conserves_momentum():
    """A torque-free body over many turns: angular momentum and energy at RK4's order, rotations without a jump."""
    model, inertia = spinning_body()
    state = model.state(q=[0.3, -0.2, 0.1], qd=[1.0, 4.0, 0.5])
    result = ph.simulate(model, state, 20.0, 2e-3, "rk4")
    assert np.ptp(result.energy[:, 2]) < 1e-8 * result.energy[0, 2]
    rotation = ph.lie.so3_exp(result.q)
    body_rate = np.einsum("tij,tj->ti", ph.lie.so3_right_jacobian(result.q), result.qd)
    momentum = np.einsum("tij,jk,tk->ti", rotation, inertia, body_rate)
    assert np.abs(momentum - momentum[0]).max() < 1e-8 * np.linalg.norm(momentum[0])
    quaternions = result.rotations["top"]
    assert np.abs(np.diff(result.q, axis=0)).max() > 1.0  # the chart did change
    assert np.abs(np.diff(quaternions, axis=0)).max() < 0.02  # at most |w| dt / 2


def test_adaptive_method_goes_on_through_chart_changes():
    model, _ = spinning_body()
    state = model.state(q=[0.3, -0.2, 0.1], qd=[1.0, 4.0, 0.5])
    exact = ph.simulate(model, state, 5.0, integrator="DOP853", rtol=1e-11, atol=1e-12, record_interval=0.1)
    stepped = ph.simulate(model, state, 5.0, 1e-3, "rk4", record_interval=0.1)
    assert exact.info["chart_changes"] > 0
    assert np.abs(ph.lie.so3_exp(exact.q) - ph.lie.so3_exp(stepped.q)).max() < 1e-7


@pytest.mark.parametrize("integrator", ["RK45", "DOP853", "LSODA", "Radau", "BDF", "event_driven"])
def test_adaptive_methods_agree_with_rk4_and_tell_their_steps(integrator):
    model = pendulum()
    state = model.state(q=[1.0])
    stepped = ph.simulate(model, state, 1.0, 1e-3, "rk4", record_interval=0.1)
    adaptive = ph.simulate(model, state, 1.0, integrator=integrator, record_interval=0.1)
    assert np.allclose(stepped.t, adaptive.t) and np.abs(stepped.q - adaptive.q).max() < 1e-6
    info = ph.simulate(model, state, 1.0, integrator=integrator).info
    assert 10 < info["steps"] < info["evaluations"]


def test_samples_do_not_change_the_motion():
    """Recording at another rate interpolates the same steps, to the cubic's error O(dt^4)."""
    model = pendulum()
    state = model.state(q=[1.0])
    every = ph.simulate(model, state, 1.0, 1e-3)
    frames = ph.simulate(model, state, 1.0, 1e-3, record_interval=1.001 / 29.97)
    assert np.array_equal(frames.q[-1], every.q[-1])
    assert frames.t[-1] == 1.0 and frames.t[1] == pytest.approx(1.001 / 29.97)
    exact = np.interp(frames.t, every.t, every.q[:, 0])
    assert np.abs(frames.q[:, 0] - exact).max() < 2e-6  # linear interpolation of the dense run: qdd dt^2 / 8


def test_limits_hold_and_are_chosen_from_the_inertia():
    model = pendulum(limits=(-0.2, 0.5))
    result = ph.simulate(model, model.state(q=[0.4], qd=[2.0]), 3.0, 1e-3)
    assert result.q.max() < 0.6 and result.q.min() > -0.3
    small = pendulum(mass=1e-6, inertia=1e-6 * np.diag([0.1, 0.1, 0.01]), limits=(-0.2, 0.5))
    lighter = ph.simulate(small, small.state(q=[0.4], qd=[2.0]), 3.0, 1e-3)
    assert np.allclose(lighter.q, result.q, atol=1e-9)  # the limit scales with what it stops


def test_cancelling_keeps_what_was_computed():
    model = pendulum()
    seen = []

    def progress(fraction):
        seen.append(fraction)
        return len(seen) < 3

    with pytest.raises(ph.CancelledError) as caught:
        ph.simulate(model, model.state(q=[1.0]), 100.0, 1e-4, progress=progress)
    assert 1 <= len(caught.value.result.t) < 1_000_001
    assert all(a <= b for a, b in itertools.pairwise(seen))


def test_tau_table_is_followed():
    """A torque that cancels gravity's holds the rod still; a ramp makes the exact double integral on a free hinge."""
    model = alone("disc", ph.joints.Hinge(), gravity=(0, 0, 0), inertia=np.diag([1.0, 1.0, 2.0])).build()
    ramp = ph.Table([0.0, 1.0], [[0.0], [6.0]])
    result = ph.simulate(model, model.state(), 1.0, 0.01, "rk4", tau=ramp)
    assert result.q[-1, 0] == pytest.approx(0.5, rel=1e-12)  # 3 t -> 1.5 t^2 -> 0.5 t^3


def test_state_is_left_alone():
    model = pendulum()
    state = model.state(q=[1.0])
    ph.simulate(model, state, 0.1)
    assert state.q[0] == 1.0 and state.time == 0.0
    later = ph.simulate(model, model.state(q=[1.0], time=5.0), 0.1)
    assert later.t[0] == 5.0 and later.t[-1] == pytest.approx(5.1)


def test_workspace_is_only_scratch():
    workspace = Workspace(2, 3)
    workspace.flags[:] = 7
    assert workspace.clear()[2].tolist() == [0, 0]


def two_balls():
    builder = ph.ModelBuilder()
    for name in "ab":
        builder.add_body(name, joint=ph.joints.Spherical(), mass=1.0, com=(0, 0, 0.1), inertia=np.eye(3))
    return builder.build()


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda m: ph.simulate(m, m.state(), -1.0), "duration must be positive, got -1"),
        (lambda m: ph.simulate(m, m.state(), np.nan), "duration"),
        (lambda m: ph.simulate(m, m.state(), 1.0, dt=0.0), "dt must be positive"),
        (lambda m: ph.simulate(m, m.state(), 1.0, dt=2.0), "longer than the duration"),
        (lambda m: ph.simulate(m, m.state(), 1.0, integrator="midpoint"), "midpoint"),
        (lambda m: ph.simulate(m, m.state(), 1.0, tau=[1.0, 2.0]), "tau"),
        (lambda m: ph.simulate(m, m.state(), 1.0, tau=ph.Table([0.0, 0.0], [[0.0], [1.0]])), "increase"),
        (lambda m: ph.simulate(None, m.state(), 1.0), "a model is needed"),
        (lambda m: ph.simulate(m, "start", 1.0), "a state is needed"),
        (lambda m: ph.simulate(m, two_balls().state(), 1.0), "does not belong"),
        (lambda m: ph.simulate(m, m.state(), 1.0, integrator=[]), "unknown integrator"),
        (lambda m: ph.simulate(m, m.state(), 1.0, progress=5), "progress must be callable"),
        (lambda m: ph.simulate(m, m.state(), 1e6, 1e-9), "use a longer interval"),
        (lambda m: ph.simulate(m, m.state(), "long"), "duration must be numbers"),
        (lambda m: ph.simulate(m, m.state(), 1.0, tau=ph.Table([0, [1]], [[0.0]])), "times of tau"),
        (lambda m: ph.forward_dynamics(m, m.state(qd=[1e200])), "not finite"),
        (lambda m: m.state(q={"rod": [1, [2]]}), "q of 'rod'"),
        (lambda m: m.index([]), "no body is named"),
        (
            lambda m: ph.simulate(two_balls(), alone("free", ph.joints.Free()).build().state(), 1.0),
            "does not belong",
        ),
    ],
)
def test_bad_arguments_are_named(call, words):
    with pytest.raises(ph.ModelError, match=words):
        call(pendulum())


def test_whole_numbers_in_a_state_are_numbers():
    model = pendulum()
    given = dataclasses.replace(model.state(), q=np.array([1]))
    assert np.array_equal(ph.simulate(model, given, 0.3).q, ph.simulate(model, model.state(q=[1.0]), 0.3).q)


@pytest.mark.parametrize("duration, interval", [(0.3, 0.1), (0.7, 0.1), (1.0, 0.3)])
def test_samples_end_where_the_run_ends(duration, interval):
    model = pendulum()
    for integrator in ("RK45", "rk4"):
        result = ph.simulate(model, model.state(), duration, 0.01, integrator, record_interval=interval)
        assert result.t[-1] == duration


def test_adaptive_method_without_a_sample_between_charts():
    model, _ = spinning_body()
    fast = model.state(qd=[20.0, 0.0, 0.0])
    result = ph.simulate(model, fast, 2.0, integrator="DOP853", record_interval=1.0)
    angle = 40.0 % (2.0 * np.pi)
    assert np.allclose(ph.lie.so3_exp(result.q[-1]), ph.lie.so3_exp(np.array([angle, 0, 0])), atol=1e-7)


def test_leaving_a_closed_range_stops_the_run_which_can_be_looked_at():
    joint = ph.joints.SplineCurve(smooth_frames(np.random.default_rng(0), 7), outside="error")
    model = alone("bead", joint).build()
    with pytest.raises(ph.DivergedError, match="range") as caught:
        ph.simulate(model, model.state(q=[1.0], qd=[5.0]), 5.0, 1e-3)
    assert np.isfinite(caught.value.result.poses).all() and np.isfinite(caught.value.result.energy).all()
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.body == "bead" and str(again) == str(caught.value)


def test_coordinates_that_do_the_same_are_told():
    """Two parallel hinges without a body between them: round-off must not pass for inertia."""
    axis = (0.3, 0.5, 0.7)
    joint = ph.joints.Composite((ph.joints.Hinge(axis), ph.joints.Hinge(axis)))
    model = alone("rod", joint, com=(0, 0, -0.5)).build()
    for angle in (0.3, 1.1, 2.0):
        with pytest.raises(ph.ModelError, match="moves no inertia"):
            ph.forward_dynamics(model, model.state(q=[angle, angle]))


def test_a_ball_that_spins_off_is_told():
    model = alone("ball", ph.joints.Spherical(), stiffness=1e12).build()
    with pytest.raises(ph.DivergedError, match="finite"):
        ph.simulate(model, model.state(q=[0.1, 0.2, 0.3]), 10.0, 0.1)


def test_limits_are_chosen_where_the_joint_is():
    """Inertia is judged inside a closed range, whatever the limits leave open."""
    frames = smooth_frames(np.random.default_rng(1), 7)
    for knots, limits in ((None, (None, 0.5)), (1.0 + ph.splines.clamped_knots(7, 4), "range")):
        builder = alone("bead", ph.joints.SplineCurve(frames, knots=knots, outside="error"), limits=limits)
        hinge = {"joint": ph.joints.Hinge(), "mass": 1.0, "inertia": np.eye(3), "limits": (-1, 1)}
        builder.add_body("flap", "bead", **hinge)
        assert builder.build().arrays[4][:, 6].min() > 0.0


def test_copies_stay_locked():
    model = pickle.loads(pickle.dumps(two_balls()))
    assert not model.bodies[0].inertia.flags.writeable
    joint = copy.deepcopy(ph.joints.SplineCurve(smooth_frames(np.random.default_rng(1), 7)))
    assert not joint.frames.flags.writeable
    assert not pickle.loads(pickle.dumps(model.state())).q.flags.writeable


def test_rotations_of_bodies_with_awkward_names():
    two = ph.joints.Composite((ph.joints.Spherical(), ph.joints.Slider(), ph.joints.Spherical()))
    builder = alone("a", two, armature=0.1, com=(0, 0, 0.1))  # seven coordinates of six freedoms
    builder.add_body("a.2", joint=ph.joints.Spherical(), mass=1.0, inertia=np.eye(3), com=(0, 0, 0.1))
    model = builder.build()
    state = model.state(q={"a": [0.1, 0, 0, 0.5, 0, 0.1, 0]})
    assert len(ph.simulate(model, state, 0.01).rotations) == 3


@pytest.mark.parametrize("integrator", ["RK45", "DOP853", "LSODA", "Radau", "BDF"])
def test_a_step_far_beyond_soft_ground_is_tried_again_shorter(integrator):
    """In free flight steps grow long; where one ends deep in the ground its forces leave no numbers."""
    corners = 0.1 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    builder = alone("box", ph.joints.Free(), inertia=0.01 * np.eye(3))
    builder.add_ground("ground", "box", corners, stiffness=3e4, exponent=1.5, damping=30.0, friction=0.5)
    model = builder.build()
    state = model.state(q=[0.0, 0.0, 0.3, 0.3, 0.2, 0.0], qd=[1.0, 0.0, 0.0, 0.0, 1.0, 0.0])
    result = ph.simulate(model, state, 0.8, integrator=integrator, record_interval=0.01, rtol=1e-6, atol=1e-8)
    assert len(result.t) == 81
    exact = ph.simulate(model, state, 0.3, integrator="rk4", dt=1e-5, record_interval=0.3)
    assert np.abs(result.q[30] - exact.q[-1]).max() < 1e-3  # it has touched down, and the paths part slowly


@pytest.mark.parametrize("integrator", ["symplectic_euler", "bdf1", "rk4", "sdirk2"])
def test_a_run_that_ends_within_a_step_goes_on_as_one_that_does_not(integrator):
    """Speeds of samples within a step are those of that instant: a cubic's ran ahead of Euler's by most of a step."""
    model = alone("arm", ph.joints.Hinge((0, 1, 0)), com=(0.15, 0, 0), inertia=0.01 * np.eye(3)).build()
    start = model.state(q=[0.2], qd=[1.0])
    whole = ph.simulate(model, start, 0.8, 1e-3, integrator)
    part = ph.simulate(model, start, 0.15037, 1e-3, integrator)
    rest = ph.simulate(model, model.state(part.q[-1], part.qd[-1]), 0.8 - 0.15037, 1e-3, integrator)
    # second order of a step of 1 ms; running ahead it was 0.01
    assert np.abs(rest.q[-1] - whole.q[-1]).max() < 1e-4


@pytest.mark.parametrize("integrator", ["symplectic_euler", "bdf1"])
def test_samples_of_a_given_motion_within_a_step_are_the_motion_s(integrator):
    """Its speeds are the slopes of its places, with Euler's methods, too."""
    builder = alone("arm", ph.joints.Hinge())
    model, times = builder.build(), np.linspace(0.0, 1.0, 9)
    motion = ph.Motion(times, 0.6 * np.sin(6.0 * np.pi * times), interpolation="periodic")
    options = {"motions": {"arm": motion}, "record_interval": 1.0 / 24.0}
    coarse, fine = (
        ph.simulate(model, model.state(), 1.0, dt, integrator, **options) for dt in (1e-3, 1.0 / 24e3)
    )
    # a cubic's speeds are off by some dt^3 of the fourth derivative, straight ones by 4e-4
    assert np.abs(coarse.qd - fine.qd).max() < 1e-6
