"""Bends beside obstacles that mass slides past are told by name, and no others."""

from __future__ import annotations

import numpy as np
import pytest

import physics as ph
from physics.muscles import Cylinder, MassPoints, PathPoint, Wrap
from physics.muscles.sharp import sharp_corners

ACROSS = np.eye(4)[:, [0, 2, 1, 3]] * [1, 1, -1, 1]  # its z is the hinges' y
SWEEP = np.stack([np.linspace(-0.6, 0.6, 61), np.linspace(0.7, -0.7, 61)], axis=1)


def arm(wrap: bool, rounding: float = 0.4, mass: float = 0.4) -> ph.Model:
    """Two bars on hinges; a muscle over four points, with wrap over a cylinder at the second hinge between the inner
    ones. A massless muscle "first" runs along the strand before that.
    """
    builder = ph.ModelBuilder()
    for name, parent in (("upper", None), ("lower", "upper")):
        place = np.eye(4)
        place[2, 3] = 0.0 if parent is None else -0.2
        builder.add_body(
            name,
            parent,
            joint=ph.joints.Hinge((0, 1, 0)),
            joint_in_parent=place,
            mass=0.3,
            inertia=0.004 * np.eye(3),
            com=(0, 0, -0.1),
        )
    origin, before = PathPoint(None, (0.05, 0.0, 0.1)), PathPoint("upper", (0.05, 0.0, -0.1))
    over = [Wrap(Cylinder(radius=0.03, body="lower", frame=ACROSS))] if wrap else []
    path = [
        origin,
        before,
        *over,
        PathPoint("lower", (0.05, 0.0, -0.1)),
        PathPoint("lower", (0.02, 0.0, -0.15)),
    ]
    masses = MassPoints.uniform(mass, 24) if mass else None
    builder.add_muscle("first", [origin, before])
    builder.add_muscle("cord", path, masses=masses, rounding=rounding)
    return builder.build()


def passed(model: ph.Model) -> int:
    """How often a mass point passes the second point of the path in the sweep."""
    found = []
    for q in SWEEP:
        first, whole = ph.muscle_lengths(model, model.state(q)).lengths
        shares = (np.arange(24) + 0.5) / 24
        found.append(np.count_nonzero(shares * whole <= first))
    return int(np.abs(np.diff(found)).sum())


def test_mass_that_slides_past_a_bend_beside_an_obstacle_is_told() -> None:
    model = arm(wrap=True)
    told = {corner.point: corner for corner in sharp_corners(model, SWEEP)}
    assert told[2].passed == passed(model) >= 3 and told[2].states == 61
    assert told.keys() <= {2, 3} and {corner.muscle for corner in told.values()} == {"cord"}
    assert str(told[2]).startswith(
        f"muscle 'cord': mass slides past point 2 of its path {passed(model)} times in 61"
    )


@pytest.mark.parametrize(
    "kind", [{"wrap": False}, {"wrap": True, "mass": 0.0}, {"wrap": True, "rounding": 0.0}]
)
def test_what_is_rounded_or_is_not_to_be_is_not_told(kind: dict[str, float]) -> None:
    assert sharp_corners(arm(**kind), SWEEP) == ()


def test_a_muscle_whose_mass_stays_where_it_is_is_not_told() -> None:
    assert sharp_corners(arm(wrap=True), SWEEP[30] + 1e-9 * SWEEP) == ()


def test_a_simulation_says_so() -> None:
    model = arm(wrap=True)
    state = model.state([0.5, -0.6], [1.0, -1.0])
    result = ph.simulate(model, state, duration=0.3, dt=2e-3)
    assert result.info["sharp_corners"] == [each._asdict() for each in sharp_corners(model, result.q)] != []
    plain = ph.simulate(arm(wrap=False), state, duration=0.01)
    assert "sharp_corners" not in plain.info
