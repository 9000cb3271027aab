"""Curves of force laws at the points that define them, their slopes, and the length's bias beside them."""

from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.muscles import Cylinder, Ellipsoid, Millard, PathPoint, SphereCappedCylinder, Thelen, Wrap

NUMBERS = {"max_isometric_force": 1000.0, "optimal_fibre_length": 0.1, "tendon_slack_length": 0.2}
LAWS: dict[str, Any] = {"millard": Millard(**NUMBERS), "thelen": Thelen(**NUMBERS)}
STEP = 1e-4


@pytest.mark.parametrize("name", LAWS)
def test_curves(name: str) -> None:
    law = LAWS[name]
    strain = law.passive_strain_one if name == "millard" else law.passive_strain
    for curve, x in (
        ("active", 1.0),
        ("passive", 1.0 + strain),
        ("tendon", 1.0 + law.tendon_strain),
        ("velocity", 0.0),
    ):
        assert law.curve(curve, x)[0] == pytest.approx(1.0, abs=1e-12)  # the definition, to round-off
        places = np.linspace(-0.9, 0.8, 7) if curve == "velocity" else x * np.linspace(0.7, 1.05, 7)
        value, slope = law.curve(curve, places + STEP * np.arange(-1, 2)[:, None])
        assert value.shape == slope.shape == (3, 7)
        # second order: the third derivative, at most 1e3 here, by the step's square over 6
        assert np.abs((value[2] - value[0]) / (2.0 * STEP) - slope[1]).max() < 1e-5 * np.abs(slope).max()
    with pytest.raises(ph.ModelError, match="no curve"):
        law.curve("other", 1.0)
    with pytest.raises(ph.ModelError, match="finite"):
        law.curve("active", [1.0, np.nan])


@pytest.mark.parametrize(
    "obstacle",
    [
        None,
        Cylinder(radius=0.05, side="+x"),
        Ellipsoid(radii=(0.05, 0.05, 0.08), side="+x"),
        SphereCappedCylinder(radius=0.05, length=0.02, side="+x"),
    ],
)
def test_biases_of_lengths(obstacle: Any) -> None:
    """L'' = J q'' + bias, along a motion with constant velocities against differences of L'."""
    builder = ph.ModelBuilder()
    builder.add_body("a", joint=ph.joints.Hinge((0, 0, 1)), mass=1.0, inertia=np.eye(3))
    place = np.eye(4)
    place[:3, 3] = (0.01, -0.2, 0.0)
    builder.add_body(
        "b", "a", joint=ph.joints.Hinge((1, 0, 0.2)), joint_in_parent=place, mass=1.0, inertia=np.eye(3)
    )
    wraps = [] if obstacle is None else [Wrap(obstacle)]
    builder.add_muscle(
        "m", [PathPoint(None, (0.03, 0.12, 0.01)), *wraps, PathPoint("b", (0.02, -0.05, 0.02))]
    )
    model = builder.build()
    q, qd = np.array([-0.3, 0.2]), np.array([1.3, -0.7])
    rates = [
        ph.muscle_lengths(model, model.state(q=q + t * qd, qd=qd)).rates[0]
        for t in STEP * np.array([-2, -1, 1, 2])
    ]
    slope = (rates[0] - 8.0 * rates[1] + 8.0 * rates[2] - rates[3]) / (12.0 * STEP)
    bias = ph.muscle_length_biases(model, model.state(q=q, qd=qd))
    assert bias.shape == (1,)
    # fourth order: round-off of rates, 1e-13 where geodesics are integrated, by the step
    assert bias[0] == pytest.approx(slope, abs=1e-8)
