"""Impacts at the instants when they happen."""

from types import SimpleNamespace

import numpy as np
import pytest

import physics as ph
from physics.contacts import Plane
from physics.integrators.march import _root
from tests.physics.small_models import alone


def ball(restitution, friction=0.0):
    builder = alone("ball", ph.joints.Free(), mass=0.3, inertia=1e-3 * np.eye(3))
    builder.add_contact(
        "floor", "ball", [[0, 0, 0]], Plane(), radius=0.05, friction=friction, restitution=restitution
    )
    return builder.build()


def test_bounces_that_die_out_end_at_rest():
    model = ball(0.5, friction=0.4)
    start = model.state([0, 0, 0.15, 0, 0, 0], [0.5, 0, 0, 0, 0, 0])
    result = ph.simulate(model, start, 2.0, integrator="event_driven", record_interval=0.05)
    assert result.info["impacts"] >= 4 and result.info["constraints"]["steps_with_contact"] > 100
    assert abs(result.q[-1, 2] - 0.05) < 1e-6 and abs(result.qd[-1, 2]) < 1e-9
    # it rolls on without slip: the point of contact stands still
    v, w = result.qd[-1, :3], result.qd[-1, 3:]
    assert (np.diff(result.energy[:, 2]) < 1e-6).all()
    assert v[0] > 0.1 and np.isfinite(w).all()


@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_hard_limits(restitution):
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    link = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": 0.1 * np.eye(3), "limits": (-0.5, 2.0)}
    builder.add_body("arm", joint=ph.joints.Hinge(), limit_restitution=restitution, **link)
    model = builder.build()
    result = ph.simulate(model, model.state([0.5]), 2.0, integrator="event_driven", record_interval=0.02)
    assert result.q.min() > -0.5 - 1e-6
    if restitution == 1.0:
        assert np.abs(result.energy[:, 2] - result.energy[0, 2]).max() < 1e-6
    else:
        assert abs(result.q[-1, 0] + 0.5) < 1e-6 and abs(result.qd[-1, 0]) < 1e-9


def test_a_rope_grows_taut():
    builder = alone("ball", ph.joints.Translational())
    builder.add_constraint("rope", ph.constraints.DistanceConstraint("ball", length=0.5, sense="rope"))
    model = builder.build()
    state = model.state([0.1, 0.0, 0.0], [0.0, 0.0, 0.0])
    result = ph.simulate(model, state, 0.9, 1e-3, "event_driven", record_interval=0.01)
    drop = np.sqrt(0.5**2 - 0.1**2)
    taut = np.sqrt(2.0 * drop / 9.81)
    flying = result.t < taut
    assert result.info["impacts"] >= 1
    assert np.abs(result.q[flying, 2] + 0.5 * 9.81 * result.t[flying] ** 2).max() < 1e-9
    length = np.linalg.norm(result.q, axis=1)
    assert length.max() < 0.5 + 1e-5  # met to second order of the steps in which it is taut
    # what is left is the speed across the rope, sin(angle) of it, in the slack direction's swing
    k = np.argmax(result.t > taut + 5e-3)
    speed = np.linalg.norm(result.qd[k])
    assert abs(speed - 9.81 * taut * 0.1 / 0.5) < 0.1


@pytest.mark.parametrize("touching", [False, True])
def test_forces_in_flight_are_those_of_the_instant(touching):
    """A gear and a given motion take what DOP853 finds, at every sample of a flight; steps note their own."""
    builder = ph.ModelBuilder()
    for name, parent in (("arm", None), ("hand", "arm"), ("wheel", None)):
        inertial = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": 0.01 * np.eye(3)}
        builder.add_body(name, parent, joint=ph.joints.Hinge((0.0, 1.0, 0.0)), **inertial)
    builder.add_constraint("gear", ph.constraints.CouplingConstraint("wheel.angle", {"hand.angle": -2.0}))
    if touching:
        builder.add_body("block", joint=ph.joints.Slider((0.0, 0.0, 1.0)), mass=1.0, inertia=np.eye(3))
        builder.add_contact("floor", "block", [[0, 0, 0]], Plane())
    model = builder.build()
    times = np.linspace(0.0, 0.6, 13)
    motions = {"arm": ph.Motion(times, 0.2 * np.sin(6.0 * times))}
    start = model.state(qd=[1.2] + [0.0] * (model.num_coordinates - 1))
    found = ph.simulate(model, start, 0.5, 1e-3, "event_driven", motions=motions, record_interval=0.05)
    assert (found.info["constraints"]["steps_with_contact"] > 0) == touching
    best = ph.simulate(
        model, start, 0.5, 1e-3, "rk4" if touching else "DOP853", motions=motions, record_interval=0.05
    )
    # steps in contact are of first order
    near = 5e-2 if touching else 1e-6
    assert np.abs(best.efforts[:, 0]).min() > 0.1 and np.abs(best.constraint_forces["gear"]).min() > 0.05
    assert np.abs(found.efforts - best.efforts).max() < near * np.abs(best.efforts).max()
    difference = found.constraint_forces["gear"] - best.constraint_forces["gear"]
    assert np.abs(difference).max() < near * np.abs(best.constraint_forces["gear"]).max()


@pytest.mark.parametrize("restitution", [0.0, 0.1, 0.5])
def test_what_is_pushed_up_a_slope_comes_to_rest_on_it(restitution):
    """Its speed along the contact is that of both coordinates, the held one's too: else it would hit without end."""
    angle, speed = 0.1, 0.5
    slope = np.eye(4)
    slope[:3, :3] = ph.lie.exp(np.array([0.0, -angle, 0.0, 0.0, 0.0, 0.0]))[:3, :3]
    builder = ph.ModelBuilder()
    inertia = 0.1 * np.eye(3)
    builder.add_body("cart", joint=ph.joints.Slider((1, 0, 0)), mass=1.0, inertia=inertia)
    builder.add_body("bead", "cart", joint=ph.joints.Slider((0, 0, 1)), mass=1.0, inertia=inertia)
    builder.add_contact("floor", "bead", [(0, 0, 0)], Plane(), pose=slope, restitution=restitution)
    model = builder.build()
    times = np.linspace(0.0, 1.0, 11)
    options = {"integrator": "event_driven", "motions": {"cart": ph.Motion(times, speed * times)}}
    result = ph.simulate(model, model.state(q=[0.0, 0.2]), 0.7, **options)
    assert result.info["impacts"] < 20
    assert result.q[-1] == pytest.approx([0.35, 0.35 * np.tan(angle)], abs=1e-9)


def test_what_a_spring_presses_on_comes_to_rest():
    """With more than its weight: bounces are not told from rest by that alone."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, -1e-3))
    joint = ph.joints.Slider((0, 0, 1))
    builder.add_body("bead", joint=joint, mass=1.0, inertia=0.1 * np.eye(3), stiffness=50.0, rest=-0.1)
    builder.add_contact("floor", "bead", [(0, 0, 0)], Plane(), restitution=0.3)
    model = builder.build()
    result = ph.simulate(model, model.state(q=[0.2]), 1.0, integrator="event_driven")
    # each bounce takes 0.3 of the time of the one before: soon eight of them take less than a step
    assert result.info["impacts"] < 40 and abs(result.q[-1, 0]) < 1e-9


@pytest.mark.parametrize("duration", [1.0, 1.00037, 1.00001])
@pytest.mark.parametrize("dt", [2e-4, 1e-3])
def test_forces_and_speeds_of_what_is_in_touch_are_right_to_the_end(dt, duration):
    """No last step is a short one, over which what whole steps change would be divided."""
    builder = alone("stone", ph.joints.Translational(), inertia=0.1 * np.eye(3))
    builder.add_constraint("rope", ph.constraints.DistanceConstraint("stone", length=1.0, sense="rope"))
    model = builder.build()
    start = model.state(q=[0.6, 0.0, 0.0])  # falls 0.8 m, then swings
    result = ph.simulate(
        model, start, dt=dt, duration=duration, integrator="event_driven", record_interval=0.01
    )
    swings = result.t > 0.45
    wanted = (result.qd**2).sum(axis=1) - 9.81 * result.q[:, 2]
    tension = result.constraint_forces["rope"][:, 0]
    # a step's force is that of its middle: half a step of 1 ms changes it by some 0.3 %
    assert tension[swings] == pytest.approx(wanted[swings], rel=5.0 * dt)
    along = (result.q * result.qd).sum(axis=1) / np.linalg.norm(result.q, axis=1)
    # first order: it turns by 3 rad/s, at 3 m/s
    assert np.abs(along[swings]).max() < 10.0 * dt


def test_an_event_that_the_way_back_onto_constraints_passes_is_met_at_once():
    """The step before it ended short of the event, and what it was led back to lies beyond: no sign is left to look
    for within the next step, which ended the run with SciPy's ValueError.
    """

    def touch(t, y):
        return float(y[0])

    touch.direction = -1.0
    step = SimpleNamespace(t_old=0.1, t=0.2)
    assert _root(touch, lambda t: np.array([-1e-7 - (t - 0.1)]), step) == 0.1
    assert _root(touch, lambda t: np.array([0.05 - (t - 0.1)]), step) == pytest.approx(0.15, abs=1e-12)
