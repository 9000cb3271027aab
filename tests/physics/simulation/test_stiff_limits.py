"""Springs at limits that are far stiffer than a step of symplectic Euler could take explicitly."""

from __future__ import annotations

import numpy as np
import pytest

import physics as ph
from physics.muscles import PathPoint

LENGTH, MASS = 0.2, 0.6


def chain(count, *, limits=(0.0, 1.7), radius=0.02, muscle=False):
    """Rods in a row that begin at their limits."""
    builder, parent = ph.ModelBuilder(), None
    inertia = MASS * np.diag([LENGTH**2 / 12 + radius**2 / 4, radius**2 / 2, LENGTH**2 / 12 + radius**2 / 4])
    place = np.eye(4)
    for i in range(count):
        builder.add_body(
            f"rod {i}",
            parent,
            joint=ph.joints.Hinge((1, 0, 0)),
            joint_in_parent=place,
            mass=MASS,
            com=(0, LENGTH / 2, 0),
            inertia=inertia,
            limits=limits,
        )
        parent, place = f"rod {i}", np.eye(4)
        place[1, 3] = LENGTH
    if muscle:
        points = [PathPoint(None, (0, -0.1, 0.1)), PathPoint("rod 0", (0, 0.1, 0.02))]
        builder.add_muscle("string", points, mass=1e-9, num_points=5)
    return builder.build()


@pytest.mark.parametrize("count", [4, 8, 20])
def test_a_long_chain_at_its_limits_keeps_its_energy_down_at_the_usual_step(count):
    """A chain leaves its coordinates far less inertia than they carry, by which their limits' springs are chosen."""
    model = chain(count)
    start = model.state(q=[0.01] * count)
    inertia = ph.mass_matrix(model, start)
    felt = 1.0 / np.diag(np.linalg.inv(inertia))
    assert (np.diag(inertia) / felt).max() > 25.0  # explicit steps of 1 ms cannot take that
    coarse = ph.simulate(model, start, dt=1e-3, duration=1.0, record_interval=0.05)
    fine = ph.simulate(model, start, dt=1e-4, duration=1.0, record_interval=0.05)
    energy = coarse.energy[:, 2] - coarse.energy[0, 2]
    assert energy.max() < 1e-9 * abs(energy.min())  # springs taken implicitly only ever lose some
    # Euler's error is of first order: ten steps' difference, of a motion of some 0.1 rad
    assert np.abs(coarse.q - fine.q).max() < 0.06
    assert np.abs(coarse.q[-1] - fine.q[-1]).max() < 0.01


def test_it_ends_at_the_limits_where_the_springs_carry_the_weight():
    """Rest is rest for any way to take a spring: the same as of a method that takes all forces implicitly."""
    model = chain(3)
    start = model.state(q=[0.01] * 3)
    runs = [
        ph.simulate(model, start, dt=1e-3, duration=3.0, integrator=name).q[-1]
        for name in ("symplectic_euler", "sdirk2")
    ]
    assert np.abs(runs[0] - runs[1]).max() < 1e-6  # what is left to swing after 3 s


def test_a_bounce_at_a_limit_is_of_first_order():
    model = chain(1, limits=(0.0, 3.0))
    start = model.state(q=[1.0])

    def end(dt, name="symplectic_euler"):
        return float(ph.simulate(model, start, dt=dt, duration=0.22, integrator=name).q[-1, 0])

    true = end(1e-5, "rk4")
    errors = [abs(end(dt) - true) for dt in (4e-3, 2e-3, 1e-3, 5e-4)]
    slope = np.polyfit(np.log([4e-3, 2e-3, 1e-3, 5e-4]), np.log(errors), 1)[0]
    assert 0.7 < slope < 1.6, errors


def test_a_mass_matrix_takes_them_as_the_recursion_does():
    models = [chain(4, muscle=muscle) for muscle in (False, True)]
    runs = [ph.simulate(model, model.state(q=[0.01] * 4), dt=1e-3, duration=0.2) for model in models]
    # a string of 1e-9 kg changes them by its mass over theirs, and contacts with limits by some times that
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-6


def test_a_held_coordinate_behind_its_limit_takes_its_spring_as_it_is():
    """Where it goes is given, so there is nothing to foresee: forces are those of the moment."""
    model = chain(1)
    motion = ph.Motion([0.0, 0.2], [-0.1, -0.3], interpolation="linear")
    efforts = [
        ph.simulate(
            model,
            model.state(q=[-0.1]),
            motions={"rod 0": motion},
            dt=dt,
            duration=0.19,
            record_interval=0.01,
        ).efforts[1:, 0]
        for dt in (1e-3, 1e-4)
    ]
    # the step before a sample ends there, and its force is that of its beginning: 1e-3 of 0.1 rad
    assert efforts[0] == pytest.approx(efforts[1], rel=0.015)
    foreseen = np.abs(efforts[1]) * (1.0 + 1e-3 / 0.1)
    assert (np.abs(efforts[0]) < foreseen).all()


@pytest.mark.parametrize("integrator", ["bdf1", "sdirk2"])
@pytest.mark.parametrize("seed", range(3))
def test_implicit_methods_run_long_chains_that_strike_their_limits(integrator, seed):
    """Six links let fall between soft limits, at the default step: where a damper sets in a step has
    no end, time and again.
    """
    builder, parent = ph.ModelBuilder(gravity=(0.0, -9.81, 0.0)), None
    for k in range(6):
        frame = np.eye(4)
        frame[0, 3] = 0.3 if k else 0.0
        parent = builder.add_body(
            f"link{k}",
            parent,
            joint=ph.joints.Hinge((0, 0, 1)),
            joint_in_parent=frame,
            mass=1.0,
            com=(0.15, 0, 0),
            inertia=np.diag([1e-3, 0.0075, 0.0075]),
            limits=(-0.4, 0.35),
        )
    model = builder.build()
    start = model.state(np.random.default_rng(seed).uniform(-0.38, 0.33, 6))
    result = ph.simulate(model, start, 3.0, integrator=integrator, record_interval=0.05)
    books = result.info["energy"]
    assert len(result.t) == 61 and result.info["substitutes"] > 3
    assert books["gained"] < 0.01 * books["most_kinetic"]
