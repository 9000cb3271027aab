"""Gradients through activations and fibres of muscles against differences of their losses."""

import numpy as np
import pytest

import physics as ph
from physics.muscles import Cylinder, DeGroote, Millard, PathPoint, Thelen, Wrap
from physics.optimize import gradient as module
from physics.optimize.gradient import make_task
from physics.optimize.steps import Motion
from tests.physics.optimize.problems import IMPLICIT, errors, of_body, of_coordinate

LAWS = {
    "millard": Millard(300.0, 0.12, 0.2),
    "thelen": Thelen(300.0, 0.12, 0.2),
    "degroote": DeGroote(300.0, 0.12, 0.2),
    "rigid": Millard(300.0, 0.12, 0.2, rigid_tendon=True),
}


# Tendons are stiff, and displaced points stretch them: with this share of a number, smaller than for other parameters,
# differences have an error of some 1e-7, by their order (it falls by 5^4 from shares five times larger).
SHARE = 2e-4


def arm(law, **options):
    """Two hinges, an excited muscle with states over an obstacle, and its antagonist with a constant excitation."""
    builder = ph.ModelBuilder()
    inertia = np.diag([0.02, 0.02, 0.01])
    upper = builder.add_body(
        "upper", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, com=(0, 0, -0.15), inertia=inertia, damping=0.2
    )
    elbow = np.eye(4)
    elbow[2, 3] = -0.3
    builder.add_body(
        "lower", upper, joint=ph.joints.Hinge((0, 1, 0)), joint_in_parent=elbow, mass=0.8, com=(0, 0, -0.12),
        inertia=inertia, damping=0.1, **options,
    )  # fmt: skip
    builder.add_input("drive", 0.4)
    bone = np.eye(4)
    bone[:3, :3] = ph.lie.so3_exp(np.array([0.5 * np.pi, 0.0, 0.0]))
    bone[2, 3] = -0.3
    path = [PathPoint(None, (0.06, 0.0, 0.0)), Wrap(Cylinder(body="upper", frame=bone, radius=0.03))]
    builder.add_muscle("front", [*path, PathPoint("lower", (0.03, 0.0, -0.05))], law=law, excitation="drive")
    back = [PathPoint("upper", (-0.04, 0.0, 0.02)), PathPoint("lower", (-0.03, 0.0, -0.02))]
    builder.add_muscle("back", back, law=law, excitation=0.2)
    return builder.build()


def task_of(model, integrator, qd=(0.5, 0.2)):
    start = model.state(q=[0.3, -0.6], qd=qd)
    wanted = (
        ph.objectives.Reach("lower", (0.2, 0.0, -0.4), point=(0.0, 0.0, -0.25)) + 0.01 * ph.objectives.Rest()
    )
    table = ph.Table([0.0, 0.02, 0.06], np.array([[0.1, 0.0, 0.3], [0.0, 0.1, 0.7], [0.2, 0.1, 0.1]]))
    parameters = [
        ph.Parameter("input", "drive"),
        *of_coordinate("upper.angle"),
        *of_coordinate("lower.angle"),
    ]
    parameters += [*of_body("lower"), ph.Parameter("points", "front"), ph.Parameter("points", "back", 1)]
    laws = ("front.max_isometric_force", "front.tendon_slack_length", "back.optimal_fibre_length")
    parameters += [ph.Parameter("radii", "front", 0), *(ph.Parameter("law", name) for name in laws)]
    return make_task(Motion(model, start, 0.06, 2e-3, integrator, table), wanted, parameters)


SLOW = [pytest.param(law, marks=pytest.mark.slow) for law in LAWS if law != "degroote"]


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("law", ["degroote", *SLOW])
def test_through_states(law, integrator):
    off = errors(task_of(arm(LAWS[law]), integrator), SHARE)
    assert max(off.values()) < 1e-6, off
    assert np.median(list(off.values())) < 1e-8, off


def test_in_pieces_as_in_one(monkeypatch):
    """Pieces begin with Newton's iteration anew, so they agree to its tolerance."""
    task = task_of(arm(LAWS["degroote"]), "sdirk2")
    value, whole = task.evaluate()
    monkeypatch.setattr(module, "MOST_KEPT", 0)
    again, parts = task.evaluate()
    assert np.isclose(value, again, rtol=1e-10)
    whole, parts = task.places.read(whole), task.places.read(parts)
    assert np.allclose(whole, parts, rtol=0.0, atol=1e-8 * np.abs(whole).max())


@pytest.mark.slow  # impulses compile for muscles
def test_with_a_hard_limit():
    """The elbow ends on its limit in the span; the same steps are stopped within the differences."""
    model = arm(LAWS["degroote"], limits=(-0.61, 2.0), limit_restitution=0.0)
    task = task_of(model, "bdf1", qd=[0.5, -1.0])
    assert task.whole().q[-1, 1] == pytest.approx(-0.61, abs=1e-9)
    off = errors(task, SHARE)
    assert max(off.values()) < 1e-5, off


@pytest.mark.parametrize(("drive", "listed"), [(0.0, True), (0.01, True), (0.4, False), (1.0, True)])
def test_excitations_at_or_beyond_an_end_of_their_range_are_one_sided(drive, listed):
    """The least activation is 0.01."""
    model, parameters = arm(LAWS["degroote"]), [ph.Parameter("input", "drive")]
    motion = Motion(model, model.state(), 4e-3, 2e-3, "bdf1", {"drive": drive})
    task = make_task(motion, ph.objectives.Rest(), parameters)
    assert task.gradient().one_sided == tuple(parameters * listed)
