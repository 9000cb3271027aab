"""Torques of a motion shared among muscles."""

from dataclasses import replace

import numpy as np
import pytest

import physics as ph
from tests.physics.small_models import row

TIMES = np.linspace(0.0, 0.5, 26)
# round-off, times the ratio of forces in the model
CLOSE = 1e-9


def arm(law, coupled=False):
    """Two hinges with a flexor and an extensor each, and a muscle over both."""
    builder = row(["upper", "lower"], ph.joints.Hinge((0, 1, 0)), (0.0, 0.0, -0.3))
    paths = {
        "front": [(None, 0.05, 0.1), ("upper", 0.03, -0.2)],
        "back": [(None, -0.05, 0.1), ("upper", -0.03, -0.2)],
        "flexor": [("upper", 0.04, -0.05), ("lower", 0.04, -0.1)],
        "extensor": [("upper", -0.04, -0.05), ("lower", -0.04, -0.1)],
        "long": [(None, 0.05, 0.12), ("lower", 0.05, -0.15)],
    }
    for name, ends in paths.items():
        path = [ph.muscles.PathPoint(body, (x, 0.0, z)) for body, x, z in ends]
        length = ends[0][2] - ends[1][2] + 0.3 * (ends[1][0] == "lower")
        fitted = replace(MUSCLE, optimal_fibre_length=0.6 * length, tendon_slack_length=0.4 * length)
        builder.add_muscle(name, path, law=fitted if law is MUSCLE else law)
    if coupled:
        half = ph.constraints.CouplingConstraint("lower.angle", {"upper.angle": 0.5})
        builder.add_constraint("half", half)
    return builder.build()


def moved(model):
    """A motion of the arm, in which the lower hinge has half the upper one's angle."""
    swing = 0.4 * np.sin(5.0 * TIMES + 0.3)
    return ph.inverse_dynamics_of_samples(model, TIMES, np.stack([swing, 0.5 * swing], axis=1))


MUSCLE = ph.muscles.Millard(2000.0, 0.15, 0.1, pennation=0.2, damping=0.1, rigid_tendon=True)


@pytest.mark.parametrize("law", [ph.muscles.Tension(2000.0), MUSCLE])
@pytest.mark.parametrize("coupled", [False, True])
def test_what_is_found_moves_the_model_so(law, coupled):
    model = arm(law, coupled)
    motion = moved(model)
    found = ph.excitations(model, motion, reserves={"upper.angle": 5.0})
    assert found.muscles == ("front", "back", "flexor", "extensor", "long")
    assert found.activations.min() >= (0.0 if law is not MUSCLE else 0.01)
    assert found.activations.max() > 0.02
    assert np.abs(found.reserves).max() < 2.0
    for k in range(len(TIMES)):
        states = found.activations[k] if model.num_muscle_states else None
        state = model.state(motion.q[k], motion.qd[k], muscle_states=states)
        needed = ph.inverse_dynamics(model, state, motion.qdd[k], found.inputs[k, 2:]) - found.reserves[k]
        free = np.array([1.0, 0.5]) if coupled else np.eye(2)
        assert np.abs(free @ needed).max() < CLOSE * np.abs(motion.tau).max()
        read = ph.muscle_lengths(model, state)
        for number, muscle in enumerate(model.muscles):
            activation = found.activations[k, number]
            given = [activation] if muscle.state_names else []
            force = muscle.law.force(read.lengths[number], read.rates[number], activation, given)
            assert found.forces[k, number] == pytest.approx(force, rel=CLOSE, abs=1e-9), muscle.name


def test_no_other_activations_have_a_lesser_sum():
    model = arm(ph.muscles.Tension(300.0))
    motion, strength = moved(model), 2.0
    found = ph.excitations(model, motion, reserves=strength, bounds=(0.05, 0.2))
    ends = [0, 0]
    for k in range(len(TIMES)):
        state = model.state(motion.q[k], motion.qd[k])
        arms = 300.0 * ph.muscle_lengths(model, state).moment_arms
        slope = found.activations[k] - arms @ found.reserves[k] / strength**2
        low, high = found.activations[k] <= 0.05 + 1e-12, found.activations[k] >= 0.2 - 1e-12
        assert np.abs(slope[~low & ~high]).max(initial=0.0) < 1e-8
        assert slope[low].min(initial=0.0) > -1e-8
        assert slope[high].max(initial=0.0) < 1e-8
        ends[0] += low.sum()
        ends[1] += high.sum()
    assert min(ends) > 0


def test_muscles_on_one_input_pull_alike():
    model = arm(ph.muscles.Tension(2000.0))
    shared = model.to_dict()
    shared["muscles"][1]["excitation"] = shared["muscles"][0]["excitation"]
    model = ph.ModelBuilder.from_dict(shared).build()
    found = ph.excitations(model, moved(model))
    assert (found.activations[:, 0] == found.activations[:, 1]).all()


def test_refusals():
    model = arm(MUSCLE)
    motion = moved(model)
    bare = row(["upper", "lower"], ph.joints.Hinge((0, 1, 0)), (0.0, 0.0, -0.3))
    bare.add_input("pull")
    path = [ph.muscles.PathPoint(None, (0.1, 0.0, 0.0)), ph.muscles.PathPoint("upper", (0.1, 0.0, -0.1))]
    held = bare.build()
    bare.add_muscle("cord", path, tension="pull")
    for told, of, options in (
        ("no coordinate is named 'elbow'", model, {"reserves": {"elbow": 1.0}}),
        ("must be one positive number, got 0", model, {"reserves": 0.0}),
        ("bounds must be", model, {"bounds": (0.5, 0.2)}),
        ("'cord' shares no torques", bare.build(), {}),
        ("there is none to share torques", held, {}),
    ):
        with pytest.raises(ph.ModelError, match=told):
            ph.excitations(of, motion, **options)
    with pytest.raises(ph.ModelError, match="q of the motion"):
        ph.excitations(model, motion._replace(q=motion.q[:3]))
