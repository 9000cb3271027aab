"""Passive cords against their functions, their energy, and a body that hangs on one."""

import numpy as np
import pytest

import physics as ph
from physics.kernels.muscles.hill_tangents import muscle_force_tangent

j, Cord = ph.joints, ph.muscles.Cord
SPRING = j.PiecewisePolynomial([0.0, 0.2, 0.3, 1.0], [[0.0, 0.0, 0.0], [0.0, 5.0, 80.0], [1.3, 21.0, 0.0]])
LAWS = [
    Cord(SPRING),
    Cord(SPRING, j.Polynomial([0.5, 2.0])),
    Cord(SPRING, j.Polynomial([0.5, 2.0]), lengthening_only=True),
    Cord(
        j.CubicSpline([0.1, 0.3, 0.6, 0.9], [-2.0, 0.0, 5.0, 30.0]), damper=j.Polynomial([0.0, 0.4, 0.0, 0.1])
    ),
]


@pytest.mark.parametrize("law", LAWS, ids=range(len(LAWS)))
def test_force_slopes_and_energy(law):
    for length, speed in ((0.15, 0.3), (0.27, 0.4), (0.5, -0.7), (0.8, 0.9)):
        wanted = float(law.elastic(length))
        lost = 0.0
        if law.viscosity is not None and (speed > 0.0 or not law.lengthening_only):
            lost += float(law.viscosity(length)) * speed
        if law.damper is not None:
            lost += float(law.damper(speed))
        assert law.force(length, speed) == pytest.approx(wanted + lost, rel=1e-14)
        force, by = muscle_force_tangent(law.record, 0, length, speed, 0.0, 0.0, 0.0)
        assert force == law.force(length, speed) and by[2:] == (0.0, 0.0, 0.0)
        h = 1e-6  # central differences: h^2 of truncation, 1e-16 / h of round-off
        ahead, behind = (law.force(length + s, speed) for s in (h, -h))
        assert by[0] == pytest.approx((ahead - behind) / (2.0 * h), abs=1e-7)
        ahead, behind = (law.force(length, speed + s) for s in (h, -h))
        assert by[1] == pytest.approx((ahead - behind) / (2.0 * h), abs=1e-7)
        tendon, _, power, loss = law.energies(length, speed)
        assert tendon == power == 0.0 and loss == pytest.approx(lost * speed, abs=1e-14)
        ahead, behind = (law.energies(length + s)[1] for s in (h, -h))
        assert wanted == pytest.approx((ahead - behind) / (2.0 * h), abs=1e-7)


def test_a_body_hangs_on_a_cord():
    """The tension of a cord pulls, has no input, and is kept in files."""
    law = LAWS[2]
    builder = ph.ModelBuilder()
    builder.add_body("weight", joint=j.Slider((0, 0, -1)), mass=0.5, inertia=np.eye(3))
    path = [ph.muscles.PathPoint(None, (0, 0, 0)), ph.muscles.PathPoint("weight", (0, 0, 0))]
    builder.add_muscle("cord", path, law=law, excitation=0.0)
    model = builder.build()
    assert not model.inputs and not model.muscle_state_names
    state = model.state(q=[0.4], qd=[0.3])
    expected = 9.81 - law.force(0.4, 0.3) / 0.5
    assert ph.forward_dynamics(model, state)[0] == pytest.approx(expected, rel=1e-13)
    again = ph.ModelBuilder.from_dict(model.to_dict()).build()
    assert again == model and again.muscles[0].law == law


def test_refusals():
    with pytest.raises(ph.ModelError, match=r"elastic of a cord.*3"):
        Cord(3.0)
    with pytest.raises(ph.ModelError, match="no closed form"):
        Cord(j.TangentAngle(1.0, 2.0))
