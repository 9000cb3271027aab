"""Runge-Kutta's order is kept where coordinates rest on hard limits, and impacts are near their instants."""

import numpy as np
import pytest

import physics as ph
from physics.contacts import Plane
from tests.physics.constraints.mechanisms import pose
from tests.physics.small_models import alone


def pendulums(stop: float, restitution: float) -> ph.Model:
    """Two links; the first leans on a stop, the second swings below it."""
    hinge = ph.joints.Hinge(axis=(0.0, 1.0, 0.0))
    leaning = {"limits": [(-1.0, stop)], "limit_restitution": restitution, "com": (0.5, 0.0, 0.0)}
    builder = alone("arm", hinge, mass=4.0, inertia=np.diag([0.02, 0.1, 0.1]), **leaning)
    link = {"mass": 1.0, "com": (0.4, 0.0, 0.0), "inertia": np.diag([0.01, 0.03, 0.03])}
    builder.add_body("weight", "arm", joint=hinge, joint_in_parent=pose((1.0, 0.0, 0.0)), **link)
    return builder.build()


def test_what_rests_on_a_limit_does_not_cost_the_order():
    model = pendulums(0.0, 0.0)
    errors = []
    for dt in (4e-3, 2e-3):
        result = ph.simulate(model, model.state(q=[0.0, 0.4]), duration=2.0, dt=dt, integrator="rk4")
        assert np.abs(result.q[:, 0]).max() < 1e-12  # it leans all the time: the weight pulls it down
        settled = result.energy[result.t > 0.1, 2]  # behind the steps in which the stop was met
        errors.append(np.abs(settled - settled[0]).max() / result.energy[:, 0].max())
    # the drift of RK4's energy is of order four or five; steps of first order would show as one
    assert 3.7 < np.log2(errors[0] / errors[1]) < 5.5
    assert errors[1] < 1e-8


def test_an_elastic_stop_keeps_the_energy():
    model = pendulums(0.3, 1.0)
    result = ph.simulate(model, model.state(q=[0.0, 0.4]), duration=2.0, dt=1e-3, integrator="rk4")
    total = result.energy[:, 2]
    # an impact is wrong by the forces' work in a 32nd of a step
    assert np.abs(total - total[0]).max() < 2e-3 * result.energy[:, 0].max()


def test_a_coordinate_is_let_go_where_its_limit_would_have_to_pull():
    model = pendulums(0.0, 0.0)
    lift = ph.Table([0.0, 0.5], [[0.0, 0.0], [-60.0, 0.0]])
    ends = []
    for dt in (2e-3, 1e-3, 1e-4):
        result = ph.simulate(
            model, model.state(q=[0.0, 0.4]), duration=0.7, dt=dt, integrator="rk4", tau=lift
        )
        assert np.abs(result.q[result.t < 0.1, 0]).max() < 1e-12
        ends.append(result.q[-1])
    assert ends[-1][0] < -0.3
    # it is let go up to a step late, where the force is nearly none
    errors = [np.abs(end - ends[-1]).max() for end in ends[:2]]
    assert max(errors) < 1e-6


@pytest.mark.parametrize("integrator", ["rk4", "sdirk2"])
@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_impacts_take_place_within_the_step(integrator, restitution):
    """A hinge driven against its stop: elastic, it keeps its energy but for the second order in the step of each of
    fifty impacts; else it comes to rest on the stop.
    """
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    link = {"mass": 1.0, "inertia": np.eye(3), "limit_restitution": restitution}
    builder.add_body("door", joint=ph.joints.Hinge(axis=(0.0, 0.0, 1.0)), limits=[(-3.0, 0.0)], **link)
    model = builder.build()
    result = ph.simulate(
        model, model.state(q=[-0.5]), 40.0, 1e-3, integrator, tau=[5.0], record_interval=0.01
    )
    energy = result.energy[:, 2] - 5.0 * result.q[:, 0]
    if restitution < 1.0:
        assert abs(result.q[-1, 0]) < 1e-12
        assert abs(result.qd[-1, 0]) < 1e-12
    else:
        # each impact is off by up to (5 dt)^2 = 2.5e-5 J; put at the step's end it would be 5 J dt 2.2 /s = 1.1e-2
        assert np.abs(energy - energy[0]).max() < 1e-3


def finger(stop):
    """Three links, the outer joints coupled, with a hard limit."""
    link = {"mass": 0.3, "com": (0.05, 0.0, 0.01), "inertia": np.diag([1e-4, 3e-4, 3e-4]), "damping": 0.002}
    hinge, parent, builder = ph.joints.Hinge((0.0, 1.0, 0.0)), None, ph.ModelBuilder()
    for k in range(3):
        limits = {"limits": (-0.5, stop), "limit_restitution": 0.0} if k == 2 else {}
        at = pose((0.1, 0.0, 0.0))
        parent = builder.add_body(f"f{k}", parent, joint=hinge, joint_in_parent=at, **link, **limits)
    builder.add_constraint("coupling", ph.constraints.CouplingConstraint("f2.angle", {"f1.angle": 1.5}))
    return builder.build()


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "bdf1", "sdirk2"])
def test_forces_are_those_of_statics_where_something_rests_beside_a_coupling(integrator):
    """A finger whose outer joints are coupled, at their hard limit by gravity, on a knuckle that is led slowly."""
    model, times = finger(0.6), np.linspace(0.0, 2.0, 21)
    motion = ph.Motion(times, 0.01 * np.sin(times))
    options = {"motions": {"f0": motion}, "record_interval": 0.01}
    result = ph.simulate(model, model.state([0.0, 0.4, 0.6]), 2.0, 1e-3, integrator, **options)
    still = result.t > 0.2
    assert np.ptp(result.q[still, 1]) < 1e-9
    needed = [ph.inverse_dynamics(model, model.state(q), np.zeros(3))[0] for q in result.q[still]]
    # accelerations of 0.01 rad/s^2 take 1e-3 N m; without the limit's force it would be half of 1.3 N m
    assert np.abs(result.efforts[still, 0] - needed).max() < 2e-3


@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4", "sdirk2"])
def test_an_impact_beside_a_coupling_takes_one_impulse(integrator):
    """What leads the knuckle feels it once: the step behind it knows of no forces of the impact."""
    model, motion = finger(0.6), ph.Motion([0.0, 1.0, 2.0, 3.0], [0.0, 0.01, 0.03, 0.06])
    start = model.state([0.0, 0.38, 0.57], [0.0, 4.0, 6.0])
    impulses = []
    for method in ("bdf1", integrator):
        result = ph.simulate(model, start, 0.02, 1e-3, method, motions={"f0": motion})
        impulses.append(1e-3 * result.efforts[1:, 0].sum())
        assert abs(result.q[-1, 2] - 0.6) < 1e-9
    # first order: the weight of some 1.3 N m over a step
    assert abs(impulses[0]) > 0.1 and abs(impulses[1] - impulses[0]) < 3e-3


@pytest.mark.parametrize("integrator", ["sdirk2", "rk4"])
@pytest.mark.parametrize("tilt", [0.17, 0.27])
def test_a_cube_that_has_landed_stays_at_rest(integrator, tilt):
    """What rests is at no gap with no speed but for round-off, whose ratio is no instant of an impact: taken as one,
    the cube hopped by itself, or rocked and walked for ever.
    """
    half = 0.1
    corners = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    builder = alone("cube", ph.joints.Free(), inertia=0.00667 * np.eye(3))
    builder.add_contact("floor", "cube", corners, Plane(), friction=0.5, restitution=0.3)
    model = builder.build()
    start = model.state([0.0, 0.0, 0.3 + 0.2 * (tilt - 0.02), 0.0, tilt, 0.0])
    result = ph.simulate(model, start, 4.0, 1e-3, integrator)
    late = result.t > 1.5
    assert (
        np.abs(result.qd[late]).max() < 1e-9
    )  # m/s, rad/s: round-off of impulses; hops begin with 1.5e-3 m/s
    assert np.ptp(result.q[late], axis=0).max() < 1e-9
