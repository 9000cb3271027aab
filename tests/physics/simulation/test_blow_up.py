"""Runs that lose their stability stop early, say why, and keep what was computed."""

from __future__ import annotations

import numpy as np
import pytest

import physics as ph
from tests.physics.constraints.mechanisms import bar, four_bar


def stiff_chain():
    builder = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0))
    parent, start = None, 0.0
    for k in range(4):
        bar(builder, f"link{k}", parent, 0.2, start)
        parent, start = f"link{k}", 0.2
    builder.add_spring(
        "stay", "link3", (0.2, 0.0, 0.0), None, (0.8, 0.3, 0.0), stiffness=2e4, rest_length=0.1
    )
    return builder.build()


@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4"])
def test_a_step_too_long_is_told_long_before_numbers_end(integrator):
    model = stiff_chain()
    with pytest.raises(ph.DivergedError, match=r"energy leaps|no longer finite|half turn|singular") as caught:
        ph.simulate(model, model.state(), 10.0, dt=2e-2, integrator=integrator)
    error = caught.value
    assert error.body in model.body_names and 0.0 < error.time < 10.0
    kept = error.result
    assert len(kept.t) >= 2 and np.isfinite(kept.q).all() and kept.t[-1] <= error.time + 1e-9


def test_what_forces_do_is_no_leap():
    """A motor that speeds a wheel up, a spring let go, a fall onto a stop: energy grows, and it is told of nothing."""
    builder = ph.ModelBuilder()
    builder.add_body("wheel", joint=ph.joints.Hinge(), mass=1.0, inertia=1e-4 * np.eye(3))
    builder.add_body(
        "mass", joint=ph.joints.Slider(), mass=0.1, inertia=np.eye(3), stiffness=1e4, rest=0.5, damping=0.1
    )
    builder.add_body(
        "stop",
        joint=ph.joints.Slider(),
        mass=0.1,
        inertia=np.eye(3),
        limits=(-0.2, 1.0),
        limit_restitution=0.5,
    )
    model = builder.build()
    result = ph.simulate(model, model.state(), 1.0, dt=1e-4, tau=[5.0, 0.0, 0.0])
    assert result.energy[-1, 0] > 1e3
    model, state = four_bar()
    motion = ph.Motion([0.0, 0.5, 0.6, 1.0], [state.q[0], state.q[0], state.q[0] + 1.0, state.q[0] + 1.0])
    ph.simulate(model, state, 1.0, motions={"crank": motion})


@pytest.mark.parametrize(
    ("integrator", "length", "dt"), [("symplectic_euler", 0.19, 5e-3), ("sdirk2", 0.4, 1e-2)]
)
def test_what_falls_from_upright_is_no_leap(integrator, length, dt):
    """A pencil stood on its tip gains exponentially, ten decades of kinetic energy, but no more than its height."""
    builder = ph.ModelBuilder()
    inertia = 0.01 * length**2 / 12.0 * np.eye(3)
    builder.add_body(
        "pencil", joint=ph.joints.Hinge(axis=(0, 1, 0)), mass=0.01, com=(0, 0, length / 2), inertia=inertia
    )
    model = builder.build()
    result = ph.simulate(model, model.state(q=[1e-6]), 3.0, dt=dt, integrator=integrator)
    assert result.q[:, 0].max() > 3.0


def oscillator(stiffness=1e4):
    """1 kg on a spring, 100 rad/s."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body(
        "mass", joint=ph.joints.Slider(), mass=1.0, inertia=0.01 * np.eye(3), stiffness=stiffness
    )
    return builder.build()


@pytest.mark.parametrize(("integrator", "dt"), [("forward_euler", 1e-3), ("rk4", 0.0286)])
def test_energy_that_grows_slowly_is_told_before_it_is_a_thousandfold(integrator, dt):
    model = oscillator()
    with pytest.raises(ph.DivergedError, match="energy leaps") as caught:
        ph.simulate(model, model.state(q=[0.1]), 60.0, dt=dt, integrator=integrator)
    energy = caught.value.result.energy[:, 2]
    assert energy[-1] > 10.0 * energy[0]
    if integrator == "forward_euler":  # a hundredth more in each step: told within a few stretches of steps
        assert energy[-1] < 1000.0 * energy[0]


@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4"])
def test_one_leap_is_told(integrator):
    """Ground so stiff that one step goes deep into it throws the body up with hundreds of times its energy."""
    builder = ph.ModelBuilder()
    builder.add_body("box", joint=ph.joints.Free(), mass=1.0, inertia=0.01 * np.eye(3))
    builder.add_ground(
        "floor", "box", [(-0.1, 0.0, 0.0), (0.1, 0.0, 0.0)], stiffness=1e7, damping=1e4, friction=0.5
    )
    model = builder.build()
    with pytest.raises(ph.DivergedError, match=r"'box': its energy leaps") as caught:
        ph.simulate(model, model.state(q=[0, 0, 0.3, 0, 0.1, 0]), 2.0, dt=1e-3, integrator=integrator)
    assert 0.24 < caught.value.time < 0.4  # it falls for 0.24 s


@pytest.mark.parametrize("share", [0.2, 1.0, 1.5, 1.9])
@pytest.mark.parametrize("start", [{"q": [0.1]}, {"qd": [1.0]}])
def test_coarse_steps_that_are_stable_are_no_leap(share, start):
    """Up to close to the limit of 2 / frequency: the energy is up to twenty times off, but it does not grow."""
    model = oscillator()
    result = ph.simulate(model, model.state(**start), 500 * share / 100.0, dt=share / 100.0)
    assert np.isfinite(result.q).all()
