"""Joints held on given motions, and the forces that it takes."""

import numpy as np
import pytest
import scipy.interpolate

import physics as ph
from physics.motions import motion as motion_module
from tests.physics.constraints.mechanisms import bar, four_bar


def chain(count):
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    parent, start = None, 0.0
    for k in range(count):
        bar(builder, f"link{k}", parent, 0.2, start, mass=0.3)
        parent, start = f"link{k}", 0.2
    return builder.build()


def wave(times, rate):
    return 0.4 * np.sin(rate * times) ** 2


@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4"])
def test_a_held_joint_follows_and_its_force_is_that_of_inverse_dynamics(integrator):
    model = chain(3)
    times = np.linspace(0.0, 1.0, 201)
    motion = ph.Motion(times, wave(times, 3.0))
    result = ph.simulate(
        model, model.state(), 1.0, integrator=integrator, motions={"link1": motion}, record_interval=0.02
    )
    assert np.abs(result.q[:, 1] - wave(result.t, 3.0)).max() < 1e-9  # nodes of the spline
    slope = 0.4 * 3.0 * np.sin(6.0 * result.t)
    assert np.abs(result.qd[1:-1, 1] - slope[1:-1]).max() < 2e-4  # the spline's own error
    assert not result.efforts[:, [0, 2]].any()
    k = 25
    state = model.state(result.q[k], result.qd[k])
    hybrid = ph.hybrid_dynamics(model, state, {"link1": 0.4 * 18.0 * np.cos(6.0 * result.t[k])})
    # Euler's force is the mean over the step that leads to the sample
    tolerance = 1e-4 if integrator == "rk4" else 2e-2
    assert abs(hybrid.tau[1] - result.efforts[k, 1]) < tolerance * np.abs(result.efforts).max()


@pytest.mark.parametrize(("integrator", "order"), [("symplectic_euler", 1), ("rk4", 2)])
def test_returned_forces_bring_the_motion_back(integrator, order):
    """Half of twenty links on given motions; their forces fed into forward dynamics give the same motion.

    To first order with Euler's steps, to second with RK4's, whose forces are joined by straight lines.
    """
    model = chain(20)
    times = np.linspace(0.0, 0.5, 26)
    motions = {f"link{k}": ph.Motion(times, wave(times, 2.0 + 0.1 * k)) for k in range(0, 20, 2)}
    errors = []
    for dt in (1e-3, 5e-4):
        held = ph.simulate(model, model.state(), 0.5, dt=dt, integrator=integrator, motions=motions)
        # Euler's force recorded with a sample is that of the step before it
        tau = ph.Table(held.t[:-1], held.efforts[1:]) if order == 1 else ph.Table(held.t, held.efforts)
        free = ph.simulate(
            model, model.state(held.q[0], held.qd[0]), 0.5, dt=dt, integrator=integrator, tau=tau
        )
        errors.append(np.abs(free.q - held.q).max())
    assert errors[0] / errors[1] > 0.8 * 2.0**order


def test_windows_let_go():
    model = chain(2)
    motion = ph.Motion([0.0, 1.0], [0.0, 1.0], interpolation="linear", windows=[(0.0, 0.3)])
    result = ph.simulate(model, model.state(), 0.6, motions={"link0": motion}, record_interval=0.05)
    assert np.abs(result.q[:6, 0] - result.t[:6]).max() < 1e-12
    assert abs(result.q[-1, 0] - 0.6) > 0.05 and not result.efforts[8:].any()


def test_a_driven_loop():
    """A crank that turns evenly drives the four-bar linkage; what it takes is the power that the energy gains."""
    model, state = four_bar()
    state = ph.assemble(model, ph.State(state.q, np.array([0.0, 0.0, 0.0]), 0.0, state.chart))
    rate = 1.5
    motion = ph.Motion([0.0, 4.0], [state.q[0], state.q[0] + 4.0 * rate], interpolation="linear")
    result = ph.simulate(model, state, 0.4, dt=2.5e-4, motions={"crank": motion})
    power = result.efforts[:, 0] * rate
    gained = result.energy[:, 2] - result.energy[10, 2]
    done = np.cumsum(power) * 2.5e-4
    # left Riemann sum of Euler's steps: first order of the step
    assert np.abs(gained[11:] - (done[11:] - done[10])).max() < 5e-3 * np.abs(gained).max()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ph.Motion([], []), "at least 1 numbers"),
        (lambda: ph.Motion([0.0, 0.0], [1.0, 2.0]), "must increase, got 0 before 0"),
        (lambda: ph.Motion([0.0, 1.0], [1.0]), "values of a motion must be"),
        (lambda: ph.Motion([0.0], [np.nan]), "must be finite, got nan"),
        (lambda: ph.Motion([0.0], [0.0], kind="jerk"), "position, velocity, acceleration, got 'jerk'"),
        (lambda: ph.Motion([0.0], [0.0], interpolation="x"), "cubic, periodic, linear, got 'x'"),
        (lambda: ph.Motion([0.0, 1.0], [0.0, 1.0], leaps=[0.0]), "leaps of a motion"),
        (lambda: ph.Motion([0.0, 1.0], [0.0, 1.0], "velocity", leaps=[1.0]), "leaps .* velocity"),
        (lambda: ph.Motion([0.0], [0.0], windows=[(1.0, 0.0)]), "windows of a motion"),
        (lambda: ph.Motion([0.0], [0.0], first_slope=[1.0, 2.0]), "slope of a cubic motion must be"),
        (lambda: ph.Motion([0.0], [0.0], "position", "linear", first_slope=[1.0]), "of a linear one"),
        (lambda: ph.Motion([0.0], [0.0], first_slope=[np.inf]), "first slope of a motion must be finite"),
    ],
)
def test_bad_values_are_named(make, words):
    with pytest.raises(ph.ModelError, match=words):
        make()


def test_bad_names_are_told():
    model = chain(2)
    motion = ph.Motion([0.0], [0.0])
    for motions, words in (
        (
            {"link0.angel": motion},
            "motions: no coordinate or body is named 'link0.angel'; did you mean 'link0.angle'",
        ),
        ({"link0": 3.0}, "motion of 'link0' must be a Motion"),
        ({"link0": motion, "link0.angle": motion}, "two motions"),
        ([motion], "motions must be"),
        ({"link0": ph.Motion([0.0], [[0.0, 1.0]])}, "needs 1 coordinates, got 2"),
    ):
        with pytest.raises(ph.ModelError, match=words):
            ph.simulate(model, model.state(), 0.1, motions=motions)


def test_velocities_and_accelerations_are_integrated():
    times = np.linspace(0.0, 1.0, 11)
    model = chain(1)
    for kind, values, expected in (
        ("velocity", 2.0 * times, lambda t: 0.3 + t**2),
        ("acceleration", np.full(11, 2.0), lambda t: 0.3 + 0.5 * t + t**2),
    ):
        motion = ph.Motion(times, values, kind=kind, interpolation="linear")
        state = model.state([0.3], [0.5 if kind == "acceleration" else 0.0])
        result = ph.simulate(model, state, 1.0, motions={"link0.angle": motion}, record_interval=0.1)
        assert np.abs(result.q[:, 0] - expected(result.t)).max() < 1e-12


@pytest.mark.parametrize(
    "integrator", ["symplectic_euler", "forward_euler", "rk4", "linearly_implicit_euler", "bdf1", "sdirk2"]
)
@pytest.mark.parametrize("rate", [100, 730])  # of the table [1/s]: its times are those of steps, or not
def test_corners_of_a_given_motion_are_felt(integrator, rate):
    """A pendulum on a base that is shaken along straight lines swings as on one that is shaken smoothly."""
    builder = ph.ModelBuilder()
    builder.add_body("base", joint=ph.joints.Slider(axis=(1, 0, 0)), mass=1.0, inertia=0.01 * np.eye(3))
    inertial = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": 0.02 * np.eye(3)}
    builder.add_body("bob", "base", joint=ph.joints.Hinge(axis=(0, 1, 0)), **inertial)
    model = builder.build()
    times = np.arange(0.0, 1.5, 1.0 / rate)
    values = 0.1 * (1.0 - np.cos(4.0 * times))
    ends = []
    for interpolation in ("cubic", "linear"):
        motion = ph.Motion(times, values, interpolation=interpolation)
        result = ph.simulate(model, model.state(), 1.0, 2e-3, integrator, motions={"base": motion})
        assert np.abs(result.q[:, 0] - np.interp(result.t, times, values)).max() < 3e-5  # what lines are off
        ends.append(result.q[-1, 1])
    assert abs(ends[0]) > 0.25 and abs(ends[1] - ends[0]) < 0.01


@pytest.mark.parametrize("kind", ["velocity", "acceleration"])
def test_a_run_goes_on_where_it_was_cut(kind):
    builder = ph.ModelBuilder()
    builder.add_body("cart", joint=ph.joints.Slider(), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    motions = {"cart": ph.Motion([0.0, 1.0, 3.0], [1.0, 2.0, -1.0], kind=kind, interpolation="linear")}
    whole = ph.simulate(model, model.state(), 2.0, 0.1, motions=motions)
    state = model.state()
    for _ in range(2):
        part = ph.simulate(model, state, 1.0, 0.1, motions=motions)
        state = model.state(part.q[-1], part.qd[-1], time=part.t[-1])
    assert np.abs(state.q - whole.q[-1]).max() < 1e-12
    assert np.abs(state.qd - whole.qd[-1]).max() < 1e-12


# what a method is off at steps of 0.2 ms behind an impulse, which fixed steps give over the step it falls into
OFF = {"symplectic_euler": 0.01, "rk4": 0.01, "sdirk2": 0.01, "linearly_implicit_euler": 0.1}
ALL_METHODS = ["symplectic_euler", "rk4", "sdirk2", "linearly_implicit_euler", "DOP853", "event_driven"]


def swing(integrator, motion, dt=2e-4):
    """A chain of three whose middle joint gets a motion behind a free beginning."""
    model = chain(3)
    state = model.state([0.3, -0.2, 0.5], [1.0, 2.0, -1.0])
    return ph.simulate(model, state, 0.6, dt=dt, integrator=integrator, motions={"link1": motion})


@pytest.mark.parametrize("integrator", ALL_METHODS)
@pytest.mark.parametrize("kind", ["position", "velocity", "acceleration"])
def test_a_window_catches_a_moving_joint_and_what_hangs_on_it_feels_it(integrator, kind):
    values = {"position": [0.1, 0.6], "velocity": [1.0, -2.0], "acceleration": [0.0, -3.0]}[kind]
    motion = ph.Motion([0.2, 0.5], values, kind=kind, interpolation="linear", windows=[(0.2, 0.5)])
    result, best = swing(integrator, motion), swing("DOP853", motion, 1e-3)
    assert np.abs(result.q[-1] - best.q[-1]).max() < OFF.get(integrator, 1e-6)
    before, after = np.searchsorted(result.t, [0.2 - 1e-6, 0.2 + 2e-3])
    if kind != "position":  # it goes on from where it is
        assert abs(result.q[after, 1] - result.q[before, 1]) < 0.02
    if kind != "acceleration":  # the others feel how it is caught
        assert np.abs(result.qd[after] - result.qd[before])[[0, 2]].min() > 0.1


@pytest.mark.parametrize("integrator", ALL_METHODS)
def test_corners_are_felt_by_every_method(integrator):
    corner = ph.Motion([0.0, 0.2, 0.4], [-0.2, 0.2, -0.4], interpolation="linear")
    result, best = swing(integrator, corner), swing("DOP853", corner, 1e-3)
    assert np.abs(result.q[-1] - best.q[-1]).max() < OFF.get(integrator, 1e-6)


def test_methods_without_impulses_agree_at_their_order_where_a_window_begins():
    """Nothing is left of the step before, which had another coordinate free."""
    motion = ph.Motion(
        [0.2, 0.5], [0.0, -3.0], kind="acceleration", interpolation="linear", windows=[(0.2, 0.5)]
    )
    best = swing("DOP853", motion, 1e-3).q[-1]
    assert np.abs(swing("rk4", motion).q[-1] - best).max() < 1e-6
    first, second = (np.abs(swing("sdirk2", motion, dt).q[-1] - best).max() for dt in (4e-4, 2e-4))
    assert 3.5 < first / second < 4.5


def test_a_single_time_without_hold_is_refused():
    with pytest.raises(ph.ModelError, match=r"single time 0\.5 .* hold"):
        ph.Motion([0.5], [1.0], hold=False)


@pytest.mark.parametrize("integrator", ["rk4", "symplectic_euler", "sdirk2", "DOP853", "event_driven"])
def test_a_rotation_vector_that_is_given_turns_on_beyond_the_limit_of_its_chart(integrator):
    """A ball joint that is led twice around an axis does what a hinge does."""
    found = []
    times = np.linspace(0.0, 1.0, 41)
    angles = 2.0 + 4.0 * np.pi * times**2
    for root, turns in (
        (ph.joints.Hinge((0.0, 1.0, 0.0)), angles),
        (ph.joints.Spherical(), np.outer(angles, [0.0, 1.0, 0.0])),
    ):
        builder = ph.ModelBuilder(gravity=(0.0, 0.0, -9.81))
        for name, parent, joint in (
            ("root", None, root),
            ("swing", "root", ph.joints.Hinge((1.0, 0.0, 0.0))),
        ):
            builder.add_body(
                name, parent, joint=joint, mass=1.0, inertia=np.diag([0.02, 0.03, 0.02]), com=(0.1, 0, -0.2)
            )
        model = builder.build()
        q = np.append(np.atleast_1d(turns[0]), 0.0)
        motions = {"root": ph.Motion(times, turns)}
        result = ph.simulate(
            model, model.state(q), 1.0, dt=1e-3, integrator=integrator, motions=motions, record_interval=0.025
        )
        found.append((result.poses, result.efforts[:, len(q) // 3]))
    # the same equations in other coordinates: round-off, or what SciPy makes of its tolerance of 1e-8 a step
    tolerance = 1e-6 if integrator in {"DOP853", "event_driven"} else 1e-9
    np.testing.assert_allclose(found[1][0], found[0][0], atol=tolerance)
    np.testing.assert_allclose(found[1][1], found[0][1], atol=100.0 * tolerance)


@pytest.mark.parametrize("integrator", ["DOP853", "RK45", "Radau", "event_driven"])
def test_a_ball_joint_that_is_let_go_beyond_the_limit_of_its_chart_goes_on(integrator):
    """Led around an axis that tilts, by 5 rad, then free: as with RK4, which changes its chart between two steps."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -9.81))
    inertia = np.diag([0.02, 0.03, 0.02])
    builder.add_body("ball", joint=ph.joints.Spherical(), mass=1.0, inertia=inertia, com=(0.1, 0, -0.2))
    model = builder.build()
    times = np.linspace(0.0, 0.2, 9)
    turns = np.stack([2.0 * times, 25.0 * times, 10.0 * times**2], axis=1)
    options = {"motions": {"ball": ph.Motion(times, turns, hold=False)}, "record_interval": 0.05}
    found = {
        name: ph.simulate(model, model.state(), 0.6, 1e-4, name, **options).poses
        for name in ("rk4", integrator)
    }
    # the cut of a step of RK4 where the motion ends is of first order in 1e-4
    np.testing.assert_allclose(found[integrator], found["rk4"], atol=2e-3)


@pytest.mark.parametrize("integrator", ALL_METHODS)
def test_a_run_that_ends_with_its_motion_moves_to_its_end(integrator):
    """The last sample has the velocity and the force with which the motion comes to its last time, not those of rest
    behind it.
    """
    model, times = chain(1), np.linspace(0.0, 0.5, 26)
    motion = ph.Motion(times, np.sin(3.0 * times))
    result = ph.simulate(model, model.state(), 0.5, 1e-3, integrator, motions={"link0": motion})
    # the slope at an end is of sixth order: that of a swing in a hundred samples
    assert abs(result.qd[-1, 0] - 3.0 * np.cos(1.5)) < 2e-8
    ends = ((1, 3.0), (1, result.qd[-1, 0]))
    spline = scipy.interpolate.CubicSpline(times, np.sin(3.0 * times), bc_type=ends)
    right = ph.inverse_dynamics(model, model.state(result.q[-1], result.qd[-1]), [spline(0.5, 2)])[0]
    # Euler's force is the mean over the last step
    assert abs(result.efforts[-1, 0] - right) < (2e-3 if "euler" in integrator else 1e-9) * abs(right)


@pytest.mark.parametrize("integrator", ["LSODA", "DOP853", "event_driven"])
def test_breaks_that_differ_by_round_off_are_one(integrator):
    """A time of the table and the end of a window, of which one was summed up."""
    model, times = chain(2), np.linspace(0.0, 0.6, 13)
    assert times[5] != 0.25 and abs(times[5] - 0.25) < 1e-15
    motion = ph.Motion(times, wave(times, 4.0), interpolation="linear", windows=[(0.1, 0.25)])
    result = ph.simulate(
        model, model.state(), 0.4, integrator=integrator, motions={"link0": motion}, record_interval=0.05
    )
    assert np.abs(result.q[2:6, 0] - wave(result.t[2:6], 4.0)).max() < 1e-9 and not result.efforts[6:].any()


def geared():
    """Three sliders, two of them geared."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    for name in "abc":
        builder.add_body(name, joint=ph.joints.Slider((1, 0, 0)), mass=1.0, inertia=np.eye(3))
    coupling = ph.constraints.CouplingConstraint("b.distance", {"a.distance": 1.0})
    builder.add_constraint("gear", coupling)
    return builder.build()


@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4", "bdf1", "sdirk2"])
def test_a_velocity_catches_within_a_step_where_the_joint_is(integrator):
    """At 24 pictures a second windows open between steps of 1 ms: held from the next step on, but from where it is."""
    model, picture = geared(), 1.0 / 24.0
    window = (10 * picture, 20 * picture)
    motion = ph.Motion([0.0, 1.0], [1.0, 1.0], interpolation="linear", kind="velocity", windows=[window])
    start = model.state([0, 0, 0], [3.0, 3.0, 0.0])
    result = ph.simulate(
        model, start, 0.8, 1e-3, integrator, motions={"a": motion}, record_interval=0.25 * picture
    )
    caught = 10 * picture
    expected = 3.0 * np.minimum(result.t, caught) + np.maximum(result.t - caught, 0.0)
    assert np.abs(result.q[:, 0] - expected).max() < 2.1e-3  # of a step at 2 m/s too fast
    assert np.abs(result.q[:, 1] - result.q[:, 0]).max() < 1e-9
    later = result.t > caught + 1e-3
    assert np.abs(result.qd[later, 0] - 1.0).max() < 1e-9


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2", "event_driven"])
@pytest.mark.parametrize("dt", [1e-3, 1.00000005e-3, 7e-4])
@pytest.mark.parametrize("let_go", [False, True])
def test_a_motion_that_ends_with_the_run_moves_on_to_the_last(integrator, dt, let_go):
    """Whether steps meet the end or not, and whether it was let go and caught in between: no rest that comes after the
    run shows in its last step.
    """
    builder = ph.ModelBuilder()
    for name, parent in (("arm", None), ("bob", "arm")):
        frame = np.eye(4)
        frame[2, 3] = -0.5 if parent else 0.0
        inertial = {"mass": 1.0, "com": (0, 0, -0.25), "inertia": 0.02 * np.eye(3)}
        builder.add_body(name, parent, joint=ph.joints.Hinge((0, 1, 0)), joint_in_parent=frame, **inertial)
    model = builder.build()
    frames = np.arange(9) / 24.0
    whole = np.arange(13) / 24.0
    start = model.state(q=[0.0, 0.0], qd=[3.0, 0.0])

    def run(times):
        windows = [(0.0, 2.0 / 24.0), (5.0 / 24.0, times[-1] + 1.0)] if let_go else None
        motions = {"arm": ph.Motion(times, 0.5 * np.sin(6.0 * times), windows=windows)}
        return ph.simulate(model, start, frames[-1], dt, integrator, motions=motions)

    ends, goes_on = run(frames), run(whole)
    # splines of few and of more keys: what follows the last key bends the one before
    assert abs(ends.qd[-1, 0] - 3.0 * np.cos(2.0)) < 0.01
    assert np.abs(ends.qd[-1] - goes_on.qd[-1]).max() < 0.02
    assert abs(ends.efforts[-1, 0] - goes_on.efforts[-1, 0]) < 1.0


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2"])
def test_a_joint_that_is_free_for_less_than_a_step_is_caught_where_it_is(integrator):
    """No step sees it free: it leapt back to where its motion would have led it from its first time on."""
    model = chain(1)
    motion = ph.Motion([0.0, 1.0], [1.0, 1.0], "velocity", "linear", windows=[(0.1, 0.5011), (0.5013, 1.0)])
    result = ph.simulate(model, model.state([0.3], [0.5]), 0.8, 1e-3, integrator, motions={"link0": motion})
    assert np.diff(result.q[150:, 0]) == pytest.approx(1e-3, abs=1e-12)  # 1 rad/s
    assert result.qd[-1, 0] == pytest.approx(1.0, abs=1e-12)


def test_the_rate_of_given_positions_is_the_slope_of_their_values():
    times = np.linspace(0.0, 2.0, 9)
    motion, h = ph.Motion(times, np.sin(times)), 1e-5
    for t in (0.3, 1.1, 1.9):
        slope = (motion.start(0, 0.0, 0.0, t + h) - motion.start(0, 0.0, 0.0, t - h)) / (2.0 * h)
        assert abs(motion.rate(0, t) - slope) < 1e-9  # h^2 / 6, and round-off / h


def test_a_motion_of_many_runs_is_fitted_once(monkeypatch):
    fitted, model, spline = [], chain(2), motion_module._spline
    monkeypatch.setattr(motion_module, "_spline", lambda *given: fitted.append(1) or spline(*given))
    times = np.linspace(0.0, 1.0, 9)
    made = {"link1": ph.Motion(times, wave(times, 3.0))}
    packed = [motion_module.pack_motions(model, made, model.state(time=time)) for time in (0.0, 0.0, 0.5)]
    assert len(fitted) == 1 and np.array_equal(packed[0][1], packed[1][1])
