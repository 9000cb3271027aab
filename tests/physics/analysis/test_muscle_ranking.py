"""Which muscles' mass matters for a motion."""

import numpy as np
import pytest

import physics as ph
from physics.analysis.muscle_ranking import _without
from physics.geometry import lie
from physics.muscles import Cylinder, MassPoints, PathPoint, Wrap
from tests.physics.constraints.mechanisms import pose
from tests.physics.small_models import alone

BAR = np.diag([0.01, 0.01, 0.002])


def arm():
    """Two links with a heavy and a light muscle over the same path, and one without mass."""
    builder = ph.ModelBuilder()
    place = pose((0, 0, -0.3))
    builder.add_body("a", joint=ph.joints.Hinge([0, 1, 0]), mass=1.0, inertia=BAR, com=(0, 0, -0.15))
    inertial = {"mass": 1.0, "inertia": BAR, "com": (0, 0, -0.1)}
    builder.add_body("b", "a", joint=ph.joints.Hinge([0, 1, 0]), joint_in_parent=place, **inertial)
    path = [PathPoint("a", (0.03, 0, 0.0)), PathPoint("b", (0.03, 0, -0.1))]
    builder.add_muscle("light", path, mass=0.01)
    builder.add_muscle("none", path)
    builder.add_muscle("heavy", path, mass=0.4)
    return builder.build()


def motion(count=25):
    t = np.linspace(0.0, 1.0, count)[:, None]
    phase, size = np.array([0.0, 1.0]), np.array([0.4, 0.8])
    q = size * np.sin(6.0 * t + phase)
    samples = ph.SampledDynamics(q, q, 6.0 * size * np.cos(6.0 * t + phase), -36.0 * q, t[:, 0])
    return samples


@pytest.mark.parametrize("against", ["lumped", "massless"])
def test_the_heavier_muscle_comes_first(against):
    model, samples = arm(), motion()
    ranked = ph.rank_muscle_masses(model, samples, against)
    assert [effect.muscle for effect in ranked] == ["heavy", "light"]
    assert ranked[0].mass == pytest.approx(0.4)
    # at the small shares that they have, effects go with masses
    np.testing.assert_allclose(ranked[0].changes, 40.0 * ranked[1].changes, rtol=1e-9)
    assert 0.0 < ranked[1].share < ranked[0].share < 1.0
    assert ranked[0].coordinate in model.coordinate_names


def test_lumped_mass_is_all_there():
    model = arm()
    muscle = model.muscles[2]
    lumped = _without(model, muscle, np.zeros(2), "lumped")
    assert [body.mass for body in lumped.bodies] == pytest.approx([1.2, 1.2])
    assert [known.num_points for known in lumped.muscles] == [20, 0, 0]
    # where the points are fixed they weigh the same
    weights = [ph.energy(each, each.state()).potential for each in (model, lumped)]
    assert weights[0] == pytest.approx(weights[1])


def test_mass_alone_is_taken_off():
    """The path over an obstacle, which pulls, is smoothed as before."""
    builder = alone("a", ph.joints.Hinge([0, 1, 0]), inertia=BAR, com=(0, 0, -0.15))
    over = Wrap(Cylinder(radius=0.05, frame=lie.exp([np.pi / 2, 0, 0, 0, 0, 0])))
    path = [PathPoint(None, (0.1, 0, 0.1)), over, PathPoint("a", (0.05, 0, -0.1))]
    builder.add_muscle("m", path, mass=0.1, tension=100.0)
    model = builder.build()
    for against in ("lumped", "massless"):
        bare = _without(model, model.muscles[0], np.zeros(1), against)
        for angle in np.linspace(-0.6, 0.6, 9):
            lengths = [ph.muscle_lengths(each, each.state([angle])).lengths for each in (model, bare)]
            assert lengths[0] == pytest.approx(lengths[1], abs=1e-15)


def test_lumped_mass_lies_by_the_end_that_is_nearer():
    """With a long tendon at the origin most of the belly is by the insertion."""
    builder = ph.ModelBuilder()
    place = pose((0, 0, -0.3))
    hinge = ph.joints.Hinge([0, 1, 0])
    builder.add_body("a", joint=hinge, mass=1.0, inertia=BAR)
    builder.add_body("b", "a", joint=hinge, joint_in_parent=place, mass=1.0, inertia=BAR)
    path = [PathPoint("a", (0.0, 0, 0.0)), PathPoint("b", (0.0, 0, -0.1))]
    builder.add_muscle("m", path, masses=MassPoints.belly(0.1, 10, tendons=(0.25, 0.0)))
    model = builder.build()
    lumped = _without(model, model.muscles[0], np.zeros(2), "lumped")
    assert [body.mass for body in lumped.bodies] == pytest.approx([1.0, 1.1])


def test_bad_arguments_are_told():
    with pytest.raises(ph.ModelError, match="against must be one of"):
        ph.rank_muscle_masses(arm(), motion(), "nothing")
