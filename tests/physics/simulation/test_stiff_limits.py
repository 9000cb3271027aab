"""Springs at limits that are far stiffer than a step of symplectic Euler could take explicitly."""

import numpy as np
import pytest

import physics as ph
from physics.geometry.exponential_coordinates import ReachCone
from physics.integrators.limit_steps import implicit_share
from physics.muscles import PathPoint
from tests.physics.small_models import alone, row

LENGTH, MASS = 0.2, 0.6


def rods(count):
    return [f"rod {k}" for k in range(count)]


def chain(count, limit=(0.0, 1.7), *, muscle=False, rope=False):
    """Rods in a row on hinges, on angles (a list of limits) or on balls (a function of all their coordinates)."""
    inertia = MASS * np.diag([LENGTH**2 / 12 + 1e-4, 3e-4, LENGTH**2 / 12 + 1e-4])
    if isinstance(limit, tuple):
        joint, limits = ph.joints.Hinge((1, 0, 0)), limit
    elif isinstance(limit, list):
        joint, limits = ph.joints.Euler("xyz"), limit
    else:
        joint, limits = ph.joints.Spherical(limit=limit), None
    link = {"mass": MASS, "com": (0, LENGTH / 2, 0), "inertia": inertia, "limits": limits}
    builder = row(rods(count), joint, (0, LENGTH, 0), **link)
    if rope:
        end = (0.3, 0.4, 0.1)
        cord = ph.constraints.DistanceConstraint(rods(count)[-1], None, (0, LENGTH, 0), end, 0.5, "rope")
        builder.add_constraint("rope", cord)
    if muscle:  # of next to no mass, with which a mass matrix takes the place of the recursion
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
    model = chain(1, (0.0, 3.0))
    start = model.state(q=[1.0])

    def end(dt, name="symplectic_euler"):
        return float(ph.simulate(model, start, dt=dt, duration=0.22, integrator=name).q[-1, 0])

    true = end(1e-5, "rk4")
    errors = [abs(end(dt) - true) for dt in (4e-3, 2e-3, 1e-3, 5e-4)]
    slope = np.polyfit(np.log([4e-3, 2e-3, 1e-3, 5e-4]), np.log(errors), 1)[0]
    assert 0.7 < slope < 1.6, errors


def test_a_held_coordinate_behind_its_limit_takes_its_spring_as_it_is():
    """Where it goes is given, so there is nothing to foresee: forces are those of the moment."""
    model = chain(1)
    motion = ph.Motion([0.0, 0.2], [-0.1, -0.3], interpolation="linear")
    options = {"motions": {"rod 0": motion}, "record_interval": 0.01}
    runs = [ph.simulate(model, model.state(q=[-0.1]), 0.19, dt, **options) for dt in (1e-3, 1e-4)]
    efforts = [run.efforts[1:, 0] for run in runs]
    # the step before a sample ends there, and its force is that of its beginning: 1e-3 of 0.1 rad
    assert efforts[0] == pytest.approx(efforts[1], rel=0.015)
    foreseen = np.abs(efforts[1]) * (1.0 + 1e-3 / 0.1)
    assert (np.abs(efforts[0]) < foreseen).all()


@pytest.mark.parametrize("integrator", ["bdf1", "sdirk2"])
@pytest.mark.parametrize("seed", range(3))
def test_implicit_methods_run_long_chains_that_strike_their_limits(integrator, seed):
    """Six links let fall between soft limits, at the default step: where a damper sets in a step has
    no end, time and again, but parts of it have.
    """
    link = {"com": (0.15, 0, 0), "inertia": np.diag([1e-3, 0.0075, 0.0075]), "limits": (-0.4, 0.35)}
    model = row(rods(6), ph.joints.Hinge(), (0.3, 0, 0), gravity=(0.0, -9.81, 0.0), **link).build()
    start = model.state(np.random.default_rng(seed).uniform(-0.38, 0.33, 6))
    result = ph.simulate(model, start, 3.0, integrator=integrator, record_interval=0.05)
    books = result.info["energy"]
    assert len(result.t) == 61 and result.info["divided"] > 3
    assert books["gained"] < 0.01 * books["most_kinetic"]


CONE = ReachCone((0, 1, 0), 0.6)
SEVERAL = {
    "cone": CONE,
    "rotation": ph.joints.RotationLimit((0.5, 0.4, 0.3)),
    "angles": [(-0.2, 0.2), (-0.2, 0.3), (-0.1, 0.1)],
}


@pytest.mark.parametrize(
    ("limit", "count"), [("cone", 4), ("cone", 10), ("rotation", 4), ("rotation", 10), ("angles", 3)]
)
def test_chains_of_balls_at_their_limits_run_at_the_usual_step(limit, count):
    """Limits of several coordinates are taken implicitly along their gradients: explicit steps of 1 ms blew up."""
    model = chain(count, SEVERAL[limit])
    rng = np.random.default_rng(count)
    q = 0.5 * rng.uniform(-0.1, 0.1, 3 * count)  # within all limits
    result = ph.simulate(model, model.state(q=q, qd=rng.normal(size=3 * count)), dt=1e-3, duration=2.0)
    energy = result.energy[:, 2] - result.energy[0, 2]
    # while rods strike limits that are some hundredths of a radian apart, at 50 rad/s, Euler's error of first order
    # shows, but it does not add up
    assert energy.max() < (0.6 if count == 10 else 0.01) * abs(energy.min())
    assert energy[-1] < 0.8 * energy.min()


@pytest.mark.parametrize("rope", [False, True])
@pytest.mark.parametrize("limit", [*SEVERAL, "hinge"])
def test_a_mass_matrix_takes_limits_as_the_recursion_does(limit, rope):
    """What limits add couples a ball's coordinates: in accelerations, and in answers to impulses."""
    rng = np.random.default_rng(3)
    models = [chain(4, SEVERAL.get(limit, (0.0, 1.7)), muscle=muscle, rope=rope) for muscle in (False, True)]
    q, qd = rng.normal(size=(2, models[0].num_coordinates)) * [[0.15], [2.0]]
    runs = [ph.simulate(model, model.state(q=q, qd=qd), dt=1e-3, duration=0.1) for model in models]
    # a string of 1e-9 kg changes them by its mass over theirs, and contacts with limits by some times that
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-6
    assert np.abs(runs[0].qd - runs[1].qd).max() < 1e-4


def test_motion_along_the_rim_of_a_cone_is_not_held_back():
    link = {"com": (0, 0.2, 0), "inertia": np.diag([0.01, 0.002, 0.01])}
    model = alone("rod", ph.joints.Spherical(limit=CONE), gravity=(0, 0, 0), **link).build()
    start = model.state(q=[0.61, 0.0, 0.0], qd=[0.0, 3.0, 0.0])

    def end(dt, name="symplectic_euler"):
        result = ph.simulate(model, start, dt=dt, duration=2.0, integrator=name)
        return result.q[-1], result.energy[-1, 2]

    true, kept = end(1e-4, "rk4")
    ends, energies = zip(*map(end, (2e-3, 1e-3, 5e-4)))
    errors = [float(np.abs(q - true).max()) for q in ends]
    slope = np.polyfit(np.log([2e-3, 1e-3, 5e-4]), np.log(errors), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.2), errors
    # some 0.04 J went into the damper as it came to the rim; the rest turns on, at any step
    assert energies == pytest.approx([kept] * 3, abs=1e-5)


def test_a_ball_that_is_held_in_part_takes_its_limit_as_it_is():
    """Where one of the coordinates is given there is nothing to foresee."""
    model = chain(2, CONE)
    motion = ph.Motion([0.0, 0.3], np.array([[0.7, 0.0, 0.0], [0.8, 0.0, 0.1]]), interpolation="linear")
    start, motions = model.state(q=[0.7, 0, 0, 0, 0, 0]), {"rod 0": motion}
    runs = [ph.simulate(model, start, 0.2, dt, motions=motions) for dt in (1e-3, 1e-4)]
    efforts = [run.efforts[-1, :3] for run in runs]
    assert efforts[0] == pytest.approx(efforts[1], rel=0.02, abs=0.02)


def hinges(count):
    """Rods that hang out of their upper limits, all in a row."""
    link = {"com": (0.15, 0, 0), "inertia": np.diag([0.001, 0.0075, 0.0075]), "limits": (-0.5, 0.5)}
    return row(rods(count), ph.joints.Hinge((0, 1, 0)), (0.3, 0, 0), **link).build()


@pytest.mark.parametrize("dt", [2e-3, 1e-3, 5e-4])
def test_hinges_at_their_limits_come_to_rest_with_runge_kutta(dt):
    """With the limits' springs and dampers taken explicitly they trembled for ever, by 0.1 rad/s at 1 ms."""
    model = hinges(3)
    result = ph.simulate(model, model.state(), 8.0, dt, "rk4", record_interval=0.01)
    assert np.abs(result.qd[-100:]).max() < 1e-9
    implicit = ph.simulate(model, model.state(), 8.0, 1e-3, "sdirk2", record_interval=1.0)
    assert np.abs(result.q[-1] - implicit.q[-1]).max() < 1e-9  # rest is rest


@pytest.mark.parametrize("dt", [1e-3, 5e-4])
def test_more_hinges_at_their_limits_gain_no_energy_with_runge_kutta(dt):
    """These had leapt out of all bounds within a second or three."""
    model = hinges(5)
    energy = ph.simulate(model, model.state(), 4.0, dt, "rk4", record_interval=0.01).energy[:, 2]
    assert np.diff(energy).max() < 1e-6 * np.ptp(energy)  # of fourth order where it swings freely


def test_short_steps_of_runge_kutta_take_limits_as_they_are():
    """Taken implicitly they are of first order: only where they have to be."""
    model = hinges(3)
    assert implicit_share(model, model.state(), 1e-3) == 1e-3
    assert implicit_share(model, model.state(), 2.5e-4) == 0.0
    assert implicit_share(hinges(1), hinges(1).state(), 4e-3) == 0.0
