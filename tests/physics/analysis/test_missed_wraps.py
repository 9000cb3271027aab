"""Muscles that go straight through an obstacle are told by name."""

import numpy as np
import pytest

import physics as ph
from physics.analysis.missed_wraps import missed_wraps
from physics.muscles import PathPoint, Sphere, SphereCappedCylinder, Wrap
from tests.physics.constraints.mechanisms import pose
from tests.physics.small_models import alone

RADIUS = 0.05


def pendulum(height: float) -> ph.Model:
    """A bar on a hinge about x with two muscles from the world, one by the true shortest path over a ball at the hinge.

    Args:
        height: of the wrapping muscle's origin above the ball's middle.
    """
    builder = alone("bar", ph.joints.Hinge((1, 0, 0)), com=(0, 0, -0.2))
    end = PathPoint("bar", (0, 0, -0.3))
    ball = Wrap(Sphere(radius=RADIUS), smoothing=0.0)
    builder.add_muscle("over", [PathPoint(None, (0, 0.001, height)), ball, end], tension=1.0)
    builder.add_muscle("plain", [PathPoint(None, (0, 0.2, 0.2)), end], tension=1.0)
    return builder.build()


@pytest.mark.filterwarnings("ignore::physics.errors.SimulationWarning")
def test_an_end_inside_is_told_with_how_often() -> None:
    model = pendulum(0.5 * RADIUS)
    result = ph.simulate(model, model.state(q=[0.4]), duration=0.02, dt=1e-3)
    (missed,) = result.info["missed_wraps"]
    assert missed == {"muscle": "over", "inside": 21, "unsolved": 0, "states": 21, "slipped": 0}
    assert [each._asdict() for each in missed_wraps(model, result.q)] == [missed]
    (found,) = result.diagnosis
    assert found == ("wrap-inside", {"muscle": "over", "count": 21, "states": 21})


def test_a_path_that_lies_on_its_obstacle_is_not_told() -> None:
    model = pendulum(3.0 * RADIUS)
    result = ph.simulate(model, model.state(q=[0.4]), duration=0.02, dt=1e-3)
    assert "missed_wraps" not in result.info
    over, straight = ph.muscle_lengths(model, model.state(q=[0.4])).lengths[0], 0.45
    assert over > straight - 0.02


@pytest.mark.parametrize("count", [1, 7, 25_000])
def test_long_motions_are_looked_at_in_twenty_thousand_states(count: int) -> None:
    model = pendulum(0.5 * RADIUS)
    (found,) = missed_wraps(model, np.full((count, 1), 0.3))
    assert found.states == min(count, 20_000) == found.inside


def test_one_state_of_a_long_motion_is_seen() -> None:
    """A ball on the bar that meets the muscle's origin in a single state of some thousand."""
    builder = alone("bar", ph.joints.Hinge((1, 0, 0)), com=(0, 0, -0.2))
    on_bar = pose((0, 0, -0.1))
    ball = Wrap(Sphere(radius=RADIUS, body="bar", frame=on_bar), smoothing=0.0)
    builder.add_muscle("cord", [PathPoint(None, (0, 0.001, -0.07)), ball, PathPoint("bar", (0, 0, -0.3))])
    model = builder.build()
    angles = np.full((2001, 1), 0.9)
    assert missed_wraps(model, angles) == ()
    angles[1001] = 0.0
    (found,) = missed_wraps(model, angles)
    assert (found.inside, found.states) == (1, 2001)


def post(side: str) -> ph.Model:
    """A muscle from beside the top of a rounded post to a body that turns about the post farther down."""
    builder = alone("ring", ph.joints.Hinge((0, 0, 1)), com=(0.05, 0, 0))
    round_ = SphereCappedCylinder(radius=RADIUS, length=0.1, side=side)
    path = [PathPoint(None, (0.05, 0.0, 0.08)), Wrap(round_, 1e-3), PathPoint("ring", (0.07, 0.0, -0.05))]
    builder.add_muscle("cord", path, tension=1.0)
    return builder.build()


@pytest.mark.slow
def test_what_slips_off_over_the_top_is_told() -> None:
    """A cord that is wound on keeps its side until no near path is longer any more; then it is another one."""
    model = post("counterclockwise")
    wound = np.radians(np.arange(60.0, 360.0))[:, None]
    (found,) = missed_wraps(model, wound)
    assert found.slipped == 1 and found.unsolved == found.inside == 0
    assert (found.muscle, found.states) == ("cord", 300)
    assert missed_wraps(model, wound[:120]) == ()
