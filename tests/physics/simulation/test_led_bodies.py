"""What stands on bodies that given motions lead, or is held between them."""

import numpy as np
import pytest

import physics as ph
from physics.contacts import Plane
from tests.physics.simulation.test_contact_motion import CORNERS, HALF, cube
from tests.physics.small_models import alone


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2", "event_driven"])
@pytest.mark.parametrize("restitution", [0.1, 0.9])
def test_what_stands_on_a_platform_that_is_led_presses_evenly(restitution, integrator):
    """Restitution is of impacts: what a step's lift leaves a hair above the platform is none."""
    builder = alone("platform", ph.joints.Slider(), mass=5.0)
    builder.add_body("stone", joint=ph.joints.Slider(), mass=1.0, inertia=np.eye(3))
    builder.add_contact("on", "stone", [(0, 0, 0)], Plane(), other="platform", restitution=restitution)
    model, times = builder.build(), np.linspace(0.0, 2.0, 41)
    motions = {"platform": ph.Motion(times, 0.02 * np.sin(8.0 * times))}
    start = model.state(qd=[0.16, 0.16])
    result = ph.simulate(model, start, 1.9, 1e-3, integrator, motions=motions)
    exact = 6.0 * (9.81 - 64.0 * 0.02 * np.sin(8.0 * (result.t - 0.5e-3)))
    settled = result.t > 0.05  # it lifts off by the speed that the spline begins with
    # half a step aside, and the spline is 0.1 m/s^2 off the sine; alternating, it was 20 N off with 0.9
    assert np.abs(result.efforts[settled, 0] - exact[settled]).max() < 0.2
    assert np.abs(result.q[settled, 1] - result.q[settled, 0]).max() < 1e-6


def carried(joint):
    """A cube that stands on a carrier, for a motion to lead."""
    builder = alone("carrier", joint, mass=50.0, inertia=10.0 * np.eye(3))
    cube(builder, "cube")
    builder.add_contact("top", "cube", CORNERS, Plane(), other="carrier", friction=0.8)
    return builder.build()


def slip(model, state, duration, dt, motion, integrator="symplectic_euler"):
    """The way of the cube on its carrier."""
    poses = ph.simulate(model, state, duration, dt, integrator, motions={"carrier": motion}).poses
    on_table = np.linalg.inv(poses[:, 0]) @ poses[:, 1]
    return np.linalg.norm((on_table - on_table[0])[:, :3, 3], axis=1)


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2", "bdf1"])
def test_what_stands_on_a_turning_table_stays_where_it_is(integrator):
    """Led along tangents it crept outwards by half a step times its acceleration, here 2 mm/s at 1 ms."""
    model, speed, radius = carried(ph.joints.Hinge((0.0, 0.0, 1.0))), 2.0, 1.0
    on_edge, along = [radius, 0, HALF, 0, 0, 0], [0, radius * speed, 0, 0, 0, speed]
    state = model.state(q={"cube": on_edge}, qd={"cube": along})
    motion = ph.Motion([0.0, 4.0], [0.0, 4.0 * speed], interpolation="linear")
    moved = [slip(model, state, 3.0, dt, motion, integrator)[-1] for dt in (4e-3, 2e-3)]
    # of second order; before, 2.5 cm and 1.2 cm
    assert moved[1] < 1e-4 and moved[0] / moved[1] > 3.0, moved


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2", "bdf1"])
def test_what_stands_on_a_truck_that_speeds_up_stays_where_it_is(integrator):
    """With the truck's velocities at the steps' ends it ran ahead by half a step times what it gains: 1.2 cm here."""
    model, times = carried(ph.joints.Slider((1.0, 0.0, 0.0))), np.linspace(0.0, 2.0, 81)
    motion = ph.Motion(times, 1.5 * times**2)  # 3 m/s^2 up to 6 m/s
    state = model.state(q={"cube": [0, 0, HALF, 0, 0, 0]})
    # the first step knows no contact of a step before: half a step times what is gained in it, 24 um
    assert slip(model, state, 2.0, 4e-3, motion, integrator).max() < 5e-5


def test_what_stands_on_a_turning_table_that_speeds_up_stays_where_it_is():
    """It lags in turning while the table speeds up, and is held on it like what turns alike: 7 mm without that."""
    model, times = carried(ph.joints.Hinge((0.0, 0.0, 1.0))), np.linspace(0.0, 2.0, 81)
    motion, state = ph.Motion(times, 0.5 * times**2), model.state(q={"cube": [1.0, 0, HALF, 0, 0, 0]})
    moved = [slip(model, state, 2.0, dt, motion)[-1] for dt in (4e-3, 2e-3)]
    # of second order
    assert moved[1] < 5e-5 and moved[0] / moved[1] > 3.0, moved


def test_what_a_gripper_holds_stays_in_it_as_well_as_at_a_jaw_that_goes_at_the_steps_velocities():
    """One jaw is led, the other pressed on: what both say of the box's velocities must not contradict each other."""
    builder, half = ph.ModelBuilder(), 0.05
    builder.add_body("lift", joint=ph.joints.Slider((0.0, 0.0, 1.0)), mass=1.0, inertia=0.1 * np.eye(3))
    builder.add_body("arm", "lift", joint=ph.joints.Hinge((0.0, 1.0, 0.0)), mass=1.0, inertia=0.1 * np.eye(3))
    for name in ("left", "right"):
        slider = ph.joints.Slider((1.0, 0.0, 0.0))
        builder.add_body(name, "arm", joint=slider, mass=0.2, inertia=1e-3 * np.eye(3))
    builder.add_body("box", joint=ph.joints.Free(), mass=0.5, inertia=8e-4 * np.eye(3))
    pose = np.eye(4)
    pose[:3, :3] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    corners = half * np.array(CORNERS) / HALF
    builder.add_contact("at left", "box", corners, Plane(), other="left", pose=pose, friction=1.0)
    facing = np.diag([-1.0, -1.0, 1.0, 1.0]) @ pose
    builder.add_contact("at right", "box", corners, Plane(), other="right", pose=facing, friction=1.0)
    model, times = builder.build(), np.linspace(0.0, 2.0, 201)
    motions = {
        "lift": ph.Motion(times, 0.3 * (1.0 - np.cos(4.0 * times))),
        "arm": ph.Motion(times, 0.6 * np.sin(3.0 * times) ** 2),
        "left": ph.Motion([0.0], [-half]),
    }
    tau = np.zeros(model.num_coordinates)
    tau[model.coordinate_slice("right")] = -60.0
    start = model.state({"left": -half, "right": half})
    poses = ph.simulate(model, start, 2.0, motions=motions, tau=tau).poses
    held = np.linalg.inv(poses[:, model.index("arm")]) @ poses[:, model.index("box")]
    # half a step times a speed of 1.2 m/s; with mean velocities at the one jaw 1.07 mm
    assert np.abs(held - held[0])[:, 2, 3].max() < 7e-4
