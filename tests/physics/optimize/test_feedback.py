"""Gradients through feedback laws against differences, and gains found by a search."""

import numpy as np
import pytest

import physics as ph
from physics.optimize.gradient import Motion, make_task
from tests.physics.constraints.mechanisms import pose
from tests.physics.forces.test_feedback import figure
from tests.physics.generators import random_state, random_tree
from tests.physics.optimize.problems import IMPLICIT, SHARE, errors, of_body, of_coordinate

# As in test_gradient: five-point differences have errors of about 1e-9 of the largest derivative, more for small ones.
ACCURACY, USUAL = 1e-6, 1e-8


def check(task, share=SHARE):
    off = errors(task, share)
    assert max(off.values()) < ACCURACY, off
    assert np.median(list(off.values())) < USUAL, off


def of_laws(model):
    return [ph.Parameter(kind, law.name) for law in model.feedback_laws for kind in ("gain", "level")]


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(s, marks=pytest.mark.slow) for s in (2, 3))])
def test_random_trees_with_every_signal(seed, integrator):
    """Signals and rates of a coordinate, a point and the mass centre, touch and gates."""
    rng = np.random.default_rng(seed)
    builder = ph.ModelBuilder.from_dict(random_tree(rng, 4).to_dict())
    names = [body.name for body in builder.bodies]
    builder.add_ground(
        "floor", names[-1], rng.normal(size=(2, 3)), stiffness=2.0, damping=0.1, plane=pose((0, 0, 9))
    )
    builder.add_ground(
        "plate", names[-1], (0.1, 0.2, 0.0), stiffness=0.9, other=names[1], plane=pose((0, 0, 9))
    )
    tree = builder.build()
    free = [name for name, held in zip(tree.coordinate_names, tree.prescribed) if not held]
    places = {"other": names[1], "other_point": rng.normal(size=3), "direction": rng.normal(size=3)}
    kinds = [{"coordinate": str(rng.choice(tree.coordinate_names))}, {"signal": "center", **places}]
    point = {"signal": "point", "body": names[-1], "point": rng.normal(size=3), **places}
    kinds += [point, point | {"signal": "center", "gate": names[-1], "load": 90.0}]
    for k, kind in enumerate(kinds):
        for rate in (False, True):
            numbers = {"gain": 0.2 * rng.normal(), "level": rng.normal(), "rate": rate}
            builder.add_feedback(f"{k} {rate}", str(rng.choice(free)), **numbers, **kind)
    touch = {"signal": "touch", "gate": names[-1], "load": 90.0}
    builder.add_feedback("touch", free[0], gain=2.0, level=0.3, **touch)
    model = builder.build()
    state = random_state(rng, model)
    state = model.state(q=state.q, qd=np.where(model.prescribed, 1.0, 0.5 * state.qd))
    table = ph.Table([0.0, 0.02, 0.03], rng.normal(size=(3, model.num_coordinates)))
    wanted = ph.objectives.Reach(names[-1], rng.normal(size=3), point=rng.normal(size=3))
    wanted += 0.3 * ph.objectives.Rest()
    parameters = [*of_laws(model), *of_coordinate(free[-1]), *of_body(names[-1]), ph.Parameter("gravity")]
    check(make_task(Motion(model, state, 0.04, 1e-3, integrator, table), wanted, parameters))


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_on_constraints_with_a_cord_that_slackens(integrator):
    """A tension that a law would make negative stays 0 for a while, where it has no derivative."""
    builder = ph.ModelBuilder.from_dict(figure().to_dict())
    builder.add_body("ball", joint=ph.joints.Slider((0.0, 0.0, 1.0)), mass=2.0, inertia=np.eye(3))
    builder.add_constraint("tie", ph.constraints.CouplingConstraint("ball.distance", {"thigh.angle": -0.3}))
    path = [ph.muscles.PathPoint(None, (0.5, 0.0, 0.2)), ph.muscles.PathPoint("trunk", (0.0, 0.0, 0.3))]
    builder.add_input("pull", 40.0)
    builder.add_muscle("cord", path, tension="pull")
    place = {"signal": "point", "body": "trunk", "point": (0.0, 0.0, 0.8), "direction": (1.0, 0.0, 0.0)}
    builder.add_feedback("slack", "pull", gain=-900.0, level=0.1, rate=True, **place)
    model = builder.build()
    state = ph.assemble(model, model.state(q=[0.06, -0.03, 0.05, 0.0], qd=[0.4, 0.0, 0.0, 0.0]))
    wanted = ph.objectives.Reach("trunk", (0.1, 0.0, 1.6), point=(0.0, 0.0, 0.8)) + 0.1 * ph.objectives.Rest()
    parameters = [
        *of_laws(model),
        *of_body("thigh"),
        *of_coordinate("thigh.angle"),
        ph.Parameter("input", "pull"),
    ]
    task = make_task(Motion(model, state, 0.3, 2e-3, integrator), wanted, parameters)
    speeds = (
        np.diff(ph.simulate(model, state, 0.3, 2e-3, integrator).poses[:, 2] @ (0, 0, 0.8, 1.0), axis=0)
        / 2e-3
    )
    pulls = 40.0 - 900.0 * (speeds[:, 0] - 0.1)
    assert pulls.min() < -1.0 and pulls.max() > 1.0
    check(task, 0.01 * SHARE)  # few differences reach over an instant at which the cord slackens


def test_a_search_finds_gains_that_bring_a_figure_upright():
    model = figure(-700.0, -30.0)
    state, names = model.state(q=[0.06, -0.03, 0.05]), ("lean", "sway")
    parameters = [ph.Parameter("gain", name) for name in names]
    keywords = {"duration": 0.8, "dt": 4e-3, "integrator": "bdf1"}
    upright = ph.objectives.Pose({"shank.angle": 0.0}) + 0.1 * ph.objectives.Rest()
    before = ph.gradient(model, state, objective=upright, parameters=parameters, **keywords).value
    found = ph.optimize(model, state, objective=upright, parameters=parameters, **keywords)
    assert found.value < 1e-2 * before
    gains = [law.gain for law in found.model.feedback_laws]
    assert gains[0] < -700.0 and gains[1] < -30.0
    after = ph.simulate(found.model, found.state, 4.0, 4e-3, "bdf1", tau=found.inputs)
    assert np.abs(after.q[-1]).max() < 1e-3


def test_what_has_no_gradient_is_named():
    model = figure()
    wanted, law = ph.objectives.Effort(), ph.Parameter("gain", "lean")
    keywords = {"duration": 0.1, "dt": 1e-2, "integrator": "bdf1", "parameters": [law]}
    with pytest.raises(ph.ModelError, match="'lean'"):
        ph.gradient(model, model.state(), objective=wanted, **keywords)
    with pytest.raises(ph.ModelError, match="'lead'"):
        make_task(
            Motion(model, model.state(), 0.1, 1e-2, "bdf1"),
            ph.objectives.Rest(),
            [ph.Parameter("gain", "lead")],
        )
