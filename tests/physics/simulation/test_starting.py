"""Starts and motions that contradict contacts, hard limits or constraints are told, not simulated."""

import numpy as np
import pytest

import physics as ph
from tests.physics.constraints.mechanisms import bar
from tests.physics.small_models import alone


def hinged(**limits):
    builder = ph.ModelBuilder()
    inertial = {"mass": 1.0, "com": (0, 0, -0.5), "inertia": 0.1 * np.eye(3)}
    builder.add_body("rod", joint=ph.joints.Hinge(axis=(0, 1, 0)), **limits, **inertial)
    return builder


def test_a_start_beyond_a_hard_limit_is_refused():
    model = hinged(limits=[(-0.5, 0.5)], limit_restitution=0.0).build()
    with pytest.raises(ph.ModelError, match=r"rod.angle is 0.2 beyond a hard limit at the start"):
        ph.simulate(model, model.state([0.7]), 0.1)
    ph.simulate(model, model.state([0.5005]), 0.1)  # written with few digits


def test_a_start_inside_an_obstacle_is_refused():
    builder = alone("ball", ph.joints.Translational())
    builder.add_contact("floor", "ball", [(0, 0, 0)], ph.contacts.Plane(), radius=0.1)
    model = builder.build()
    with pytest.raises(
        ph.ModelError, match=r"contact 'floor' begins 0.05 m inside its obstacle: move body 'ball'"
    ):
        ph.simulate(model, model.state([0.0, 0.0, 0.05]), 0.1)


def test_a_motion_beyond_a_hard_limit_is_refused():
    model = hinged(limits=[(-0.5, 0.5)], limit_restitution=0.0).build()
    motion = ph.Motion([0.0, 1.0], [0.0, 0.8], interpolation="linear")
    with pytest.raises(
        ph.ModelError, match=r"motion of 'rod.angle' goes to 0.8 at t = 1 s, beyond the hard limits"
    ):
        ph.simulate(model, model.state(), 1.0, motions={"rod": motion})
    before = ph.Motion([0.0, 1.0], [0.0, 0.8], interpolation="linear", windows=[(0.0, 0.5)])
    ph.simulate(model, model.state(), 1.0, motions={"rod": before})


@pytest.mark.parametrize(
    ("integrator", "touching"),
    [
        *(
            (name, False)
            for name in ("symplectic_euler", "rk4", "sdirk2", "RK45", "DOP853", "LSODA", "Radau", "BDF")
        ),
        ("event_driven", False),
        ("event_driven", True),
    ],
)
def test_motions_that_contradict_a_constraint_are_told(integrator, touching):
    builder = ph.ModelBuilder()
    bar(builder, "first", None, 0.2, 0.0, mass=0.3)
    bar(builder, "second", None, 0.2, 0.5, mass=0.3)
    builder.add_constraint("gear", ph.constraints.CouplingConstraint("second.angle", {"first.angle": 0.5}))
    if touching:
        builder.add_body("block", joint=ph.joints.Slider((0.0, 0.0, 1.0)), mass=1.0, inertia=np.eye(3))
        builder.add_contact("floor", "block", [[0, 0, 0]], ph.contacts.Plane())
    model = builder.build()
    turn = ph.Motion([0.0, 1.0], [0.0, 1.0], interpolation="linear")
    motions = {"first": turn, "second": turn}
    with pytest.raises(ph.DivergedError, match=r"constraint 'gear' is violated by") as caught:
        ph.simulate(model, model.state(), 1.0, integrator=integrator, motions=motions)
    # off by half of t, and told beyond 1e-3; the time is that before the step that ends there
    assert 0.001 <= caught.value.time < 0.004
    assert caught.value.time - 1.01e-3 < caught.value.result.t[-1] < caught.value.time + 1e-9
