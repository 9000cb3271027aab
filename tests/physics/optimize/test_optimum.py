"""Searches: an arm reaches, comes to rest, follows a path; bounds, starts, progress, cancelling."""

import numpy as np
import pytest

import physics as ph
from blender_scenes import arm_model
from physics.muscles import MassPoints
from physics.optimize import gradient, residuals, starts

HAND, STEP, SPAN = (0.0, 0.0, -0.4), 2e-3, 0.4
RUN = {"duration": SPAN, "dt": STEP, "integrator": "sdirk2"}


def arm(muscles=()):
    """The arm of the scene with the mass of some heads of its muscles."""
    builder = arm_model.skeleton()
    for name in muscles:
        masses = MassPoints.uniform(arm_model.HEADS[name].mass, 8)
        builder.add_muscle(name, arm_model.path(name), masses=masses)
    model = builder.build()
    return model, arm_model.start(model), [ph.Parameter("torque", name) for name in model.coordinate_names]


def place(model, state):
    """Of the hand (3,)."""
    frame = ph.body_poses(model, state)[1]
    return frame[:3, :3] @ HAND + frame[:3, 3]


def reached(found, target):
    """Miss [m] and largest speed [rad/s] at the end of a new simulation with what a search found."""
    result = ph.simulate(found.model, found.state, SPAN, STEP, "sdirk2", tau=found.inputs)
    frame = result.poses[-1, 1]
    return np.linalg.norm(frame[:3, :3] @ HAND + frame[:3, 3] - target), np.abs(result.qd[-1]).max()


AWAY = np.array([0.10, -0.06, 0.12])
TABLE = ph.Table(np.linspace(0.0, SPAN, 8), np.zeros((8, 4)))


@pytest.mark.parametrize(
    "muscles",
    [(), pytest.param(("triceps lateral", "triceps medial", "deltoid middle"), marks=pytest.mark.slow)],
)
def test_the_hand_reaches_by_constant_torques(muscles):
    model, state, torques = arm(muscles)
    target = place(model, state) + AWAY
    wanted = ph.objectives.Reach("Forearm", target, point=HAND) + 1e-6 * ph.objectives.Effort()
    found = ph.optimize(model, state, **RUN, objective=wanted, parameters=torques, most_gradients=40)
    assert found.gradients <= 40
    assert reached(found, target)[0] < 1e-3  # m: the requirement; it gets nearer


def test_the_hand_comes_to_rest():
    model, state, torques = arm()
    target = place(model, state) + AWAY
    hold = ph.Table(TABLE.times, np.tile(ph.inverse_dynamics(model, state), (8, 1)))
    wanted = ph.objectives.Reach("Forearm", target, point=HAND) + 1e-2 * ph.objectives.Rest()
    found = ph.optimize(
        model, state, **RUN, objective=wanted + 1e-9 * ph.objectives.Effort(), parameters=torques, tau=hold
    )
    miss, speed = reached(found, target)
    assert miss < 1e-3 and speed < 1e-3  # m, rad/s: the requirement


def test_the_hand_follows_a_path():
    model, state, torques = arm()
    times, begin = np.linspace(0.0, SPAN, 9), place(model, state)
    eased = 0.5 - 0.5 * np.cos(np.pi * times / SPAN)
    path = begin + eased[:, None] * AWAY
    hold = ph.Table(TABLE.times, np.tile(ph.inverse_dynamics(model, state), (8, 1)))
    wanted = ph.objectives.Path("Forearm", times, path, point=HAND)
    found = ph.optimize(
        model, state, **RUN, objective=wanted + 1e-9 * ph.objectives.Effort(), parameters=torques, tau=hold,
        most_gradients=100,
    )  # fmt: skip
    only = ph.gradient(
        found.model, found.state, **RUN, objective=wanted, parameters=torques, tau=found.inputs
    )
    assert np.sqrt(only.value) < 2e-3  # m, root mean square: the requirement


def sled():
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "sled", joint=ph.joints.Slider((1.0, 0.0, 0.0)), mass=2.0, inertia=np.eye(3), damping=1.0
    )
    return builder.build()


def search(**options):
    """A sled that is pushed for a second, to 0.7 m if it may."""
    model = sled()
    name = model.coordinate_names[0]
    given = {"parameters": [ph.Parameter("torque", name)], "objective": ph.objectives.Pose({name: 0.7})}
    return ph.optimize(model, model.state(), 1.0, 0.02, integrator="bdf1", **(given | options))


def test_a_linear_search_is_exact_and_keeps_within_bounds():
    name = sled().coordinate_names[0]
    force, damping = ph.Parameter("torque", name), ph.Parameter("damping", name)
    free = search()
    assert free.converged and free.value < 1e-12
    within = search(bounds={force: (None, 1.0)})
    assert within.parameters[force] == 1.0 and within.value > 0.01
    # the force is too small for the goal: the search takes all damping away, and no more than that
    slow = search(parameters=[damping], tau=[2.0])
    assert slow.parameters[damping] == 0.0
    assert slow.model.arrays[4][0, 2] == 0.0 and sled().arrays[4][0, 2] == 1.0


def test_the_best_of_several_starts_counts():
    name = sled().coordinate_names[0]
    force = ph.Parameter("torque", name)
    found = search(starts=[{force: 50.0}, {force: -3.0}])
    assert found.value < 1e-12 and found.gradients > 2


def test_progress_is_told_and_cancels():
    told = []

    def progress(count, least):
        told.append((count, least))
        return count < 3

    with pytest.raises(ph.CancelledError) as error:
        search(progress=progress)
    assert [count for count, _ in told] == [1, 2, 3]
    best = error.value.result
    assert best.value == told[-1][1] and best.gradients == 3 and not best.converged
    assert len(ph.simulate(best.model, best.state, 1.0, 0.02, "bdf1", tau=best.inputs).t) > 1


def test_a_limit_of_gradients_ends_a_search_unconverged():
    for most in (1, 2):
        found = search(most_gradients=most)
        assert found.gradients == most and not found.converged and str(most) in found.reason


def at_rest(model, state):
    """The hand at rest at another place, with little effort."""
    goals, target = ph.objectives, place(model, state) + AWAY
    reach = goals.Reach("Forearm", target, point=HAND)
    return target, reach + 1e-2 * goals.Rest() + 1e-9 * goals.Effort()


def test_least_squares_bring_the_hand_to_rest_with_fewer_gradients():
    model, state, torques = arm()
    target, wanted = at_rest(model, state)
    search = {"objective": wanted, "parameters": torques, "tau": TABLE, "method": "least squares"}
    found = ph.optimize(model, state, **RUN, **search, starts="inverse kinematics", most_gradients=12)
    miss, speed = reached(found, target)
    assert miss < 1e-4 and speed < 1e-3  # m, rad/s


def test_starts_of_torques_leave_other_parameters_of_their_coordinates():
    model, state, torques = arm()
    _, wanted = at_rest(model, state)
    more = [ph.Parameter("damping", model.coordinate_names[0])]
    task = gradient.make_task(
        gradient.Motion(model, state, SPAN, STEP, "sdirk2", TABLE), wanted, [*torques, *more]
    )
    before, row = task.places.read(task.values), starts.from_inverse_kinematics(task)
    assert row[-1] == before[-1] and np.abs(row[:-1] - before[:-1]).max() > 0.0


def test_residuals_are_square_roots_of_the_loss_and_their_slopes_agree_with_differences():
    goals = ph.objectives
    model, state, torques = arm()
    names = model.coordinate_names
    wanted = (
        2.0 * goals.Reach("Forearm", (0.1, 0.2, 0.3), point=HAND, time=0.3)
        + 0.5 * goals.Rest(names[:2])
        + goals.Pose({names[3]: 0.4})
        + 0.7 * goals.Aim("Forearm", (0.5, -0.3, 0.2), (0.0, 0.3, -1.0), point=HAND)
        + 1e-3 * goals.Effort(names[:3])
    )
    random = np.random.default_rng(3)
    tau = ph.Table(TABLE.times, random.normal(0.0, 1.0, (8, 4)))
    task = gradient.make_task(gradient.Motion(model, state, SPAN, STEP, "sdirk2", tau), wanted, torques)
    squares, row = residuals.SumOfSquares(task), task.places.read(task.values)
    values, slopes = squares.values(task), squares.slopes(task)
    assert values @ values == pytest.approx(task.loss(), rel=1e-12)  # round-off
    assert 2.0 * values @ slopes == pytest.approx(task.places.read(task.evaluate()[1]), rel=1e-9, abs=1e-12)
    way = random.normal(0.0, 1.0, len(row))
    ahead, behind = (squares.values(task.with_values(row + s * 1e-4 * way)) for s in (1.0, -1.0))
    assert (ahead - behind) / 2e-4 == pytest.approx(slopes @ way, rel=1e-6, abs=1e-8)  # second order


def test_what_least_squares_cannot_take_is_refused():
    goals = ph.objectives
    model, state, torques = arm()
    for wanted in (goals.Frame("Forearm", np.eye(4)), -1.0 * goals.Rest()):
        with pytest.raises(ph.ModelError):
            ph.optimize(model, state, **RUN, objective=wanted, parameters=torques, method="least squares")
    with pytest.raises(ph.ModelError):
        ph.optimize(model, state, **RUN, objective=goals.Rest(), parameters=torques, starts="anywhere")


def test_goals_are_met_exactly_with_the_least_effort():
    """A sled reaches 0.3 m at rest: its force is then 6 m d / T^2 (1 - 2 t / T)."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("sled", joint=ph.joints.Slider((1.0, 0.0, 0.0)), mass=2.0, inertia=np.eye(3))
    model, name = builder.build(), "sled.distance"
    wanted = ph.objectives.Pose({name: 0.3}) + ph.objectives.Rest() + ph.objectives.Effort()
    times = np.linspace(0.0, 0.5, 6)
    found = ph.optimize(
        model, model.state(), 0.5, 1e-3, integrator="sdirk2", objective=wanted, method="SLSQP",
        parameters=[ph.Parameter("torque", name)], tau=ph.Table(times, np.zeros((6, 1))),
    )  # fmt: skip
    end = ph.simulate(found.model, found.state, 0.5, 1e-3, "sdirk2", tau=found.inputs)
    assert found.converged and end.q[-1, 0] == pytest.approx(0.3, abs=1e-9) and abs(end.qd[-1, 0]) < 1e-9
    most = 6.0 * 2.0 * 0.3 / 0.5**2
    # a sum over the steps' ends: a row at an end of the table weighs 1.5 % less or more than in an integral
    assert np.allclose(found.inputs.values[:, 0], most * (1.0 - 4.0 * times), atol=0.02 * most)
    assert found.value == pytest.approx(most * most * 0.5 / 3.0, rel=1e-3)


def test_the_best_of_several_starts_meets_the_goals():
    """Of a pendulum that may swing up either way; in both orders the same one."""
    builder = ph.ModelBuilder()
    builder.add_body(
        "bob", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, com=(0, 0, -0.3), inertia=0.01 * np.eye(3)
    )
    model, name = builder.build(), "bob.angle"
    torque, times = ph.Parameter("torque", name), np.linspace(0.0, 1.0, 6)
    tau = ph.Table(times, np.zeros((6, 1)))
    starts = [{torque: np.full(6, 0.1)}, {torque: 6.0 * np.cos(6.0 * times)}]
    wanted = ph.objectives.Pose({name: 1.0}) + ph.objectives.Rest() + ph.objectives.Effort()
    found = [
        ph.optimize(
            model, model.state(), 1.0, 5e-3, integrator="sdirk2", objective=wanted, parameters=[torque], tau=tau,
            method="SLSQP", starts=order,
        )
        for order in (starts, starts[::-1], starts[:1], starts[1:])
    ]  # fmt: skip
    values = [each.value for each in found]
    assert values[0] == pytest.approx(values[1], rel=1e-12) == pytest.approx(min(values[2:]), rel=1e-12)
    end = ph.simulate(model, model.state(), 1.0, 5e-3, "sdirk2", tau=found[0].inputs)
    assert end.q[-1, 0] == pytest.approx(1.0, abs=1e-6)
