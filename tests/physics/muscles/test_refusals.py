"""What would go wrong in silence is told: short paths, pushes, obstacles of points that are away, sides of rings."""

import math

import numpy as np
import pytest

import physics as ph
from physics.geometry import lie
from physics.muscles import Condition, Cylinder, DoubleCylinder, MassPoints, PathPoint, Torus, Wrap
from physics.simulation.live import LiveRun


def slide(masses: MassPoints | None = None, tension: float | str = 0.0) -> ph.Model:
    """A body on a slide along x, 0.2 m from the muscle's origin at rest."""
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("Body", joint=ph.joints.Slider((1.0, 0.0, 0.0)), mass=1.0, inertia=np.eye(3))
    if isinstance(tension, str):
        builder.add_input(tension, 0.0)
    builder.add_muscle(
        "Cord", [PathPoint(None, (0, 0, 0)), PathPoint("Body", (0.2, 0, 0))], masses=masses, tension=tension
    )
    return builder.build()


@pytest.mark.parametrize(
    ("masses", "least"),
    [
        (MassPoints.uniform(1.0, 5), 0.0),
        (MassPoints.profile(1.0, [1, 2, 1]), 0.0),
        (MassPoints.belly(1.0, 5, tendons=(0.05, 0.1)), 0.15),
        (MassPoints.belly(1.0, 5, tendons=(0.05, 0.1), tendon_masses=(0.1, 0.1)), 0.15),
        (MassPoints([1.0], [0.08], [0.0]), 0.08),
        (MassPoints([1.0], [-0.07], [1.0]), 0.07),
    ],
)
def test_stiff_length_is_where_the_points_leave_their_order(masses: MassPoints, least: float) -> None:
    assert masses.stiff_length == pytest.approx(least, abs=1e-12)
    for length, right in ((least + 1e-6, True), (least - 1e-3, False)):
        if length <= 0.0:
            continue
        places = masses.offsets + masses.shares * length
        in_order = bool(
            (np.diff(places) >= -1e-12).all() and places.min() >= -1e-12 and places.max() <= length + 1e-12
        )
        assert in_order == right


@pytest.mark.parametrize(("offset", "share"), [(-0.1, 0.0), (0.1, 1.0)])
def test_mass_cannot_lie_off_the_path(offset: float, share: float) -> None:
    with pytest.raises(ph.ModelError, match=rf"got share {share:g} with offset {offset:g} m"):
        MassPoints([1.0, 1.0], [0.0, offset], [0.5, share])
    assert MassPoints([1.0, 1.0], [0.0, -offset], [0.5, share]).mass == 2.0


def test_a_path_shorter_than_its_tendons_is_told() -> None:
    model = slide(MassPoints.belly(0.5, 5, tendons=(0.05, 0.1)))
    with pytest.raises(ph.ModelError, match=r"'Cord' is 0.14 m long, .* need 0.15 m"):
        ph.simulate(model, model.state(q=[-0.06]), 0.1)
    with pytest.raises(ph.DivergedError, match=r"'Cord' is 0.14\d* m long") as told:
        ph.simulate(model, model.state(q=[0.0], qd=[-1.04]), 0.1, 1e-3, "rk4")
    assert 0.03 < told.value.time < 0.08 and told.value.body == "Body"
    assert told.value.result.q[-1, 0] < -0.05
    assert ph.simulate(model, model.state(q=[0.0], qd=[-0.2]), 0.1, 1e-3, "rk4").q[-1, 0] > -0.05


def test_a_path_shorter_than_its_tendons_is_told_of_samples() -> None:
    """Of points out of their order nothing is worked out."""
    model = slide(MassPoints.belly(0.5, 5, tendons=(0.05, 0.1)))
    with pytest.raises(ph.ModelError, match=r"'Cord' is 0.14 m long, .* need 0.15 m"):
        ph.muscle_points(model, model.state(q=[-0.06]), "Cord")
    assert (np.diff(ph.muscle_points(model, model.state(), "Cord").positions[:, 0]) > 0.0).all()
    times = np.linspace(0.0, 1.0, 21)
    short = -0.06 * np.sin(np.pi * times)[:, None]
    with pytest.raises(ph.ModelError, match=r"at sample 7 the path of muscle 'Cord' is 0.14\d* m long"):
        ph.inverse_dynamics_of_samples(model, times, short)
    long = ph.inverse_dynamics_of_samples(model, times, 0.5 * short)
    assert ph.rank_muscle_masses(model, long)[0].muscle == "Cord"
    with pytest.raises(ph.ModelError, match=r"at sample 0 the path of muscle 'Cord' is 0.1\d* m long"):
        ph.rank_muscle_masses(model, long._replace(q=long.q - 0.1))


def test_a_tension_cannot_push() -> None:
    model = slide(tension="pull")
    state = model.state()
    assert ph.forward_dynamics(model, state, {"pull": 2.0})[0] == pytest.approx(-2.0)
    message = "input 'pull', .* 'Cord', .* got -2"
    with pytest.raises(ph.ModelError, match=message):
        ph.forward_dynamics(model, state, {"pull": -2.0})
    table = ph.Table([0.0, 1.0], [[0.0, 1.0], [0.0, -2.0]])
    for tau in (table, lambda t: np.array([0.0, -2.0]), lambda t, q, qd: np.array([0.0, -2.0])):
        with pytest.raises(ph.ModelError, match=message):
            ph.simulate(model, state, 0.01, tau=tau)


def test_obstacles_on_both_sides_of_a_point_that_may_be_away() -> None:
    """Both sides must have the same, over which the path runs on without the point."""
    builder = ph.ModelBuilder()
    builder.add_body("Body", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, inertia=np.eye(3))
    wrap, other = (
        Wrap(Cylinder(radius=radius, frame=lie.exp([0, 0, 0, 0.15, 0, 0]))) for radius in (0.01, 0.02)
    )
    middle = PathPoint(None, (0.1, 0, 0.01), Condition("Body.angle", 0.0, 1.0))
    ends = PathPoint(None, (0, 0.005, 0)), PathPoint("Body", (0.3, 0, 0))
    with pytest.raises(
        ph.ModelError, match=r"'Cord' with a condition on 'Body.angle' lies between two wraps"
    ):
        builder.add_muscle("Cord", [ends[0], wrap, middle, other, ends[1]])
    builder.add_muscle("Cord", [ends[0], wrap, middle, ends[1]])
    builder.add_muscle("same", [ends[0], wrap, middle, Wrap.from_dict(wrap.to_dict()), ends[1]])
    builder.add_muscle("without", [ends[0], wrap, ends[1]])
    model = builder.build()
    lengths = ph.muscle_lengths(model, model.state(q=[-0.1])).lengths
    assert lengths[1] == lengths[2] > math.dist((0, 0.005, 0), (0.3 * math.cos(0.1), 0, 0.3 * math.sin(0.1)))


@pytest.mark.parametrize("side", ["+x", "clockwise", (1.0, 0.0, 0.0)])
def test_a_ring_has_no_sides(side: object) -> None:
    with pytest.raises(ph.ModelError, match="torus"):
        Torus(major_radius=0.1, minor_radius=0.02, side=side)


def test_a_second_cylinder_has_its_own_side() -> None:
    with pytest.raises(ph.ModelError, match="along its axis z"):
        DoubleCylinder(radius=0.1, second_radius=0.1, second_frame=np.eye(4), second_side="+z")


def test_the_event_driven_method_refuses_states_of_muscles() -> None:
    builder = ph.ModelBuilder()
    builder.add_body("Body", joint=ph.joints.Slider((1, 0, 0)), mass=1.0, inertia=np.eye(3))
    law = ph.muscles.Thelen(max_isometric_force=10.0, optimal_fibre_length=0.1, tendon_slack_length=0.1)
    builder.add_muscle("Cord", [PathPoint(None, (0, 0, 0)), PathPoint("Body", (0.2, 0, 0))], law=law)
    model = builder.build()
    with pytest.raises(ph.ModelError, match=r"'event_driven' does not advance 'Cord.activation'"):
        ph.simulate(model, model.state(), 0.1, integrator="event_driven")


def test_a_path_shorter_than_its_tendons_is_told_of_loops() -> None:
    """By a cycle that makes it so, and by the blend from a cycle's end back to its begin."""
    model = slide(MassPoints.belly(0.5, 5, tendons=(0.05, 0.1)))
    with pytest.raises(ph.DivergedError, match=r"'Cord' is 0.14\d* m long"):
        ph.simulate_loop(model, model.state(q=[0.0], qd=[-1.04]), 0.1, dt=1e-3)
    thrown, options = model.state(q=[-0.049], qd=[0.9]), {"dt": 1e-3, "tau": [-20.0]}
    assert ph.simulate(model, thrown, 0.1, **options).q.min() > -0.05
    with pytest.raises(ph.DivergedError, match=r"'Cord' is 0.14\d* m long"):
        ph.simulate_loop(model, thrown, 0.1, most_cycles=1, blend=0.09, **options)


def test_a_path_shorter_than_its_tendons_ends_a_live_run() -> None:
    model = slide(MassPoints.belly(0.5, 5, tendons=(0.05, 0.1)))
    clock = [0.0]

    def now() -> float:
        clock[0] += 1e-4
        return clock[0]

    def sleep(seconds: float) -> None:
        clock[0] += seconds

    run = LiveRun(
        model, model.state(q=[0.0], qd=[-1.04]), 1e-3, "rk4", list, lambda *_: None, longest=5.0, clock=now, sleep=sleep
    )  # fmt: skip
    with pytest.raises(ph.DivergedError, match=r"'Cord' is 0.14\d* m long") as told:
        run.run()
    assert told.value.result.t[-1] < told.value.time + 0.1  # it ends at the next picture
