"""Runs that lose their stability stop early, say why, and keep what was computed."""

import numpy as np
import pytest

import physics as ph
from tests.physics.constraints.mechanisms import four_bar
from tests.physics.small_models import alone, row

# these run beyond what is right
pytestmark = pytest.mark.filterwarnings("ignore::physics.errors.SimulationWarning")


def stiff_chain():
    names, link = [f"link{k}" for k in range(4)], {"com": (0.1, 0, 0), "inertia": 1e-3 * np.diag([1, 4, 4])}
    builder = row(names, ph.joints.Hinge(), (0.2, 0, 0), gravity=(0, -9.81, 0), **link)
    stay = {"stiffness": 2e4, "rest_length": 0.1}
    builder.add_spring("stay", "link3", (0.2, 0.0, 0.0), None, (0.8, 0.3, 0.0), **stay)
    return builder.build()


@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4"])
def test_a_step_too_long_is_told_long_before_numbers_end(integrator):
    model = stiff_chain()
    with pytest.raises(ph.DivergedError, match=r"energy jumps|no longer finite|half turn|singular") as caught:
        ph.simulate(model, model.state(), 10.0, dt=2e-2, integrator=integrator)
    error = caught.value
    assert error.body in model.body_names and 0.0 < error.time < 10.0
    kept = error.result
    assert len(kept.t) >= 2 and np.isfinite(kept.q).all() and kept.t[-1] <= error.time + 1e-9


def test_what_forces_do_is_no_leap():
    """A motor that speeds a wheel up, a spring let go, a fall onto a stop: energy grows, and it is told of nothing."""
    builder = alone("wheel", ph.joints.Hinge(), inertia=1e-4 * np.eye(3))
    builder.add_body(
        "mass", joint=ph.joints.Slider(), mass=0.1, inertia=np.eye(3), stiffness=1e4, rest=0.5, damping=0.1
    )
    inertial = {"mass": 0.1, "inertia": np.eye(3)}
    builder.add_body("stop", joint=ph.joints.Slider(), limits=(-0.2, 1.0), limit_restitution=0.5, **inertial)
    model = builder.build()
    result = ph.simulate(model, model.state(), 1.0, dt=1e-4, tau=[5.0, 0.0, 0.0])
    assert result.energy[-1, 0] > 1e3
    model, state = four_bar()
    motion = ph.Motion([0.0, 0.5, 0.6, 1.0], [state.q[0], state.q[0], state.q[0] + 1.0, state.q[0] + 1.0])
    ph.simulate(model, state, 1.0, motions={"crank": motion})


COARSE = [("rod", name, 0.3, 1.0, 1e-2) for name in ("symplectic_euler", "rk4", "sdirk2")]
PENCILS = [("pencil", "symplectic_euler", 0.19, 0.01, 5e-3), ("pencil", "sdirk2", 0.4, 0.01, 1e-2)]


@pytest.mark.parametrize("offset", [1e-6, 1e-4, 1e-2])
@pytest.mark.parametrize(("name", "integrator", "length", "mass", "dt"), PENCILS + COARSE)
def test_what_falls_from_upright_is_no_leap(name, integrator, length, mass, dt, offset):
    """A pencil stood on its tip gains exponentially, ten decades of kinetic energy, but no more than its height; from
    a larger offset it moves from the first look on.
    """
    rod = {"mass": mass, "com": (0, 0, length / 2), "inertia": mass * length**2 / 12.0 * np.eye(3)}
    model = alone(name, ph.joints.Hinge((0, 1, 0)), **rod).build()
    result = ph.simulate(model, model.state(q=[offset]), 4.0, dt=dt, integrator=integrator)
    assert result.q[:, 0].max() > 3.0


def oscillator():
    """1 kg on a spring, 100 rad/s."""
    return alone("mass", ph.joints.Slider(), gravity=(0, 0, 0), stiffness=1e4).build()


@pytest.mark.parametrize(
    ("integrator", "dt", "duration", "least", "most"),
    [
        (
            "forward_euler",
            1e-3,
            60.0,
            500.0,
            5e5,
        ),  # a hundredth more in each step: told within some stretches
        ("rk4", 0.0286, 60.0, 500.0, np.inf),
        # what doubles and doubles in each step is past anything by the time that it is looked at twelve times
        ("symplectic_euler", 0.0202, 60 * 0.0202, 0.0, 1e12),
        ("symplectic_euler", 0.06, 15 * 0.06, 0.0, 1e12),
        ("rk4", 0.031, 15 * 0.031, 0.0, 1e12),
        ("rk4", 0.085, 15 * 0.085, 0.0, 1e12),
    ],
)
def test_energy_that_grows_is_told(integrator, dt, duration, least, most):
    model = oscillator()
    with pytest.raises(ph.DivergedError) as caught:
        ph.simulate(model, model.state(q=[0.1]), duration, dt=dt, integrator=integrator)
    assert caught.value.body == "mass" and "energy jumps" in caught.value.reason
    energy = caught.value.result.energy[:, 2]
    assert energy[0] == pytest.approx(50.0) and energy[-1] > least and energy.max() < most


@pytest.mark.parametrize("integrator", ["symplectic_euler", "forward_euler", "rk4"])
def test_one_leap_is_told(integrator):
    """Ground so stiff that one step goes deep into it throws the body up with hundreds of times its energy."""
    builder = alone("box", ph.joints.Free(), inertia=0.01 * np.eye(3))
    builder.add_ground(
        "floor", "box", [(-0.1, 0.0, 0.0), (0.1, 0.0, 0.0)], stiffness=1e7, damping=4e4, friction=0.5
    )
    model = builder.build()
    with pytest.raises(ph.DivergedError, match=r"'box': its energy jumps") as caught:
        ph.simulate(model, model.state(q=[0, 0, 0.3, 0, 0.1, 0]), 2.0, dt=1e-3, integrator=integrator)
    assert 0.24 < caught.value.time < 0.5  # it falls for 0.24 s


def test_steps_that_would_leap_are_taken_in_parts():
    """A taut, undamped spring that a step swings past: linearized, it pulls with what it would far away: energy
    leapt by up to 1e4 times. Parts of such a step follow the spring.
    """
    link = {"com": (0, 0, -0.2), "inertia": np.diag([0.01, 0.08, 0.09])}
    axes = [(0, 1, 0), (1, 0, 0)]
    builder = row(["a", "b", "c"], lambda k: ph.joints.Hinge(axes[k % 2]), (0, 0, -0.4), **link)
    builder.add_spring("stay", "c", (0.1, 0, -0.4), None, (0.3, 0, -1.0), stiffness=1e5, rest_length=0.2)
    model = builder.build()
    divided = 0
    for shift in np.linspace(0.0, 0.02, 24):  # where in its swing a step comes is a matter of round-off
        start = model.state(q=[0.3 + shift, 0.2, 0.1])
        result = ph.simulate(model, start, 1.0, dt=1e-2, integrator="linearly_implicit_euler")
        divided += result.info["divided"]
        assert result.energy[:, 2].max() <= result.energy[0, 2]
    assert divided > 24


@pytest.mark.parametrize(
    ("share", "steps"),
    [(share, 500) for share in (0.2, 1.0, 1.5, 1.85, 1.88, 1.905, 1.91)]
    + [(share, 100) for share in (1.95, 1.99, 1.999, 1.9999)],
)
def test_coarse_steps_that_are_stable_are_no_leap(share, steps):
    """Up to close to the limit of 2 / frequency: the energy is up to 43 times off, but it does not grow. At the very
    limit it is up to 40,000 times off, and in the first steps it may be anywhere between.
    """
    model = oscillator()
    for phase in np.linspace(0.0, np.pi, 31):
        start = model.state(q=[0.1 * np.cos(phase)], qd=[10.0 * np.sin(phase)])
        result = ph.simulate(model, start, steps * share / 100.0, dt=share / 100.0)
        assert np.isfinite(result.q).all()


@pytest.mark.parametrize("integrator", ["symplectic_euler", "rk4", "sdirk2"])
def test_a_joint_that_moves_by_itself_may_drag_others(integrator):
    values, times = np.zeros((5, 8, 6)), np.linspace(0.0, 1.0, 8)
    values[..., 3], values[..., 5] = 3.0 * times**2, np.linspace(-0.5, 0.5, 5)[:, None]
    surface = ph.joints.SplineSurface(values, order=4, moving=True)
    builder = alone("car", surface, gravity=(0.0, 0.0, 0.0), mass=1e-2, inertia=1e-5 * np.eye(3))
    builder.add_body("load", joint=ph.joints.Slider((1, 0, 0)), mass=10.0, inertia=np.eye(3))
    rod = ph.constraints.DistanceConstraint("load", "car", (0, 0, 0), (0, 0, 0), length=0.5)
    builder.add_constraint("rod", rod)
    model = builder.build()
    start = ph.assemble(model, model.state([0.5, 0.0, -0.5]))
    result = ph.simulate(model, start, 0.95, integrator=integrator)
    assert result.energy[-1, 0] > 100.0


def test_a_spring_that_leaps_with_a_rotation_vector_s_chart_is_no_leap_of_a_step():
    link = {"inertia": 0.1 * np.eye(3), "stiffness": [0, 0, 0, 1, 1, 1], "rest": [0, 0, 0, 2, 0, 0]}
    model = alone("top", ph.joints.Free(), gravity=(0, 0, 0), **link).build()
    result = ph.simulate(model, model.state(qd=[0.0, 0.0, 0.0, 8.0, 0.3, 0.2]), 4.0, integrator="rk4")
    assert result.info["chart_changes"] > 2
