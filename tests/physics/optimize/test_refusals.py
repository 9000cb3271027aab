"""What a gradient or a search does not take is named before anything runs."""

import numpy as np
import pytest

import physics as ph
from physics import contacts
from physics.muscles import Moving, PathPoint
from physics.optimize import gradient as module
from tests.physics.generators import smooth_frames


def pendulum(**options):
    builder = ph.ModelBuilder()
    builder.add_body("bob", joint=ph.joints.Hinge(), mass=1.0, com=(0.3, 0, 0), inertia=np.eye(3), **options)
    return builder


@pytest.fixture
def given(monkeypatch):
    """Arguments that are right, for a model that must not run."""

    def run(*_, **__):
        raise AssertionError("it ran")

    monkeypatch.setattr(module, "make_problem", run)
    model = pendulum().build()
    parameters = [ph.Parameter("torque", "bob.angle")]
    wanted = ph.objectives.Reach("bob", (0.0, 0.0, 0.0))
    return {
        "model": model, "state": model.state(), "duration": 0.1, "dt": 0.01, "integrator": "sdirk2",
        "objective": wanted, "parameters": parameters,
    }  # fmt: skip


NO_BODY = ph.objectives.Reach("nobody", (0.0, 0.0, 0.0))
LATE = ph.objectives.Reach("bob", (0.0, 0.0, 0.0), time=0.2)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("integrator", "rk4", "rk4"),
        ("integrator", None, "None"),
        ("duration", 0.105, "0.105"),
        ("duration", np.nan, "nan"),
        ("dt", -0.01, "-0.01"),
        ("tau", [np.nan], "nan"),
        ("tau", [0.0, 1.0], "(2,)"),
        ("tau", lambda t: [0.0], "function"),
        ("parameters", [], "at least one"),
        ("parameters", ["torque"], "torque"),
        ("parameters", [ph.Parameter("torque", "bob.angel")], "bob.angel"),
        ("parameters", [ph.Parameter("mass", "bib")], "bib"),
        ("parameters", [ph.Parameter("input", "pull")], "pull"),
        ("parameters", [ph.Parameter("gravity", "earth")], "earth"),
        ("parameters", [ph.Parameter("young", "fat")], "fat"),
        ("parameters", [ph.Parameter("torque", "bob.angle", 0)], "index"),
        ("parameters", [ph.Parameter("center", "bob", 3)], "3"),
        ("parameters", 2 * [ph.Parameter("mass", "bob")], "twice"),
        ("parameters", [ph.Parameter("frames", "bob")], "hinge"),
        ("parameters", [ph.Parameter("frames", "bib")], "bib"),
        ("parameters", [ph.Parameter("points", "rope")], "rope"),
        ("parameters", [ph.Parameter("radii", "rope")], "rope"),
        ("parameters", [ph.Parameter("law", "rope.max_force")], "rope"),
        ("objective", "reach", "reach"),
        ("objective", NO_BODY, "nobody"),
        ("objective", 2.0 * NO_BODY, "nobody"),
        ("objective", LATE, "0.2"),
        ("objective", ph.objectives.Reach("bob", (0.0, np.inf, 0.0)), "inf"),
        ("objective", ph.objectives.Path("bob", [0.0, 0.1], np.zeros((3, 3))), "(2, 3)"),
        ("objective", ph.objectives.Follow([0.0, 0.1], np.zeros((2, 3))), "(2, 3)"),
        ("objective", ph.objectives.Pose({"bob.x": 1.0}), "bob.x"),
        ("objective", ph.objectives.Rest(["bob.x"]), "bob.x"),
        ("objective", ph.objectives.Effort(["pull"]), "pull"),
        ("objective", ph.objectives.Frame("bob", np.ones((4, 4))), "bob"),
        ("objective", ph.objectives.Custom(lambda t, q, qd, tau: 1.0), "four"),
        ("objective", ph.objectives.Custom(lambda t, q, qd, tau: (1.0, q, qd, q[:0])), "tau"),
        ("objective", np.nan * LATE, "nan"),
    ],
)
def test_bad_arguments_are_named_before_anything_runs(given, name, value, told):
    with pytest.raises(ph.ModelError) as error:
        ph.gradient(**(given | {name: value}))
    assert told in str(error.value)


def test_an_unknown_kind_of_parameter_is_named():
    with pytest.raises(ph.ModelError, match="weight"):
        ph.Parameter("weight", "bob")


def built(what):
    """A model with something that has no gradient."""
    if what == "bounce":
        return pendulum(limits=(-1.0, 1.0), limit_restitution=0.2).build()
    builder = pendulum()
    if what == "stops":
        builder = pendulum(limits=(-1.0, 1.0), limit_restitution=0.0)
    if what in ("rope", "stops"):
        sense = "rope" if what == "rope" else "rod"
        tie = ph.constraints.DistanceConstraint("bob", None, (1, 0, 0), (1, 1, 0), length=1.0, sense=sense)
        builder.add_constraint("rope", tie)
    elif what == "ball":
        builder.add_collider("ball", "bob", contacts.Sphere(0.1), restitution=0.5)
    return builder.build()


@pytest.mark.parametrize(
    ("what", "told"), [("bounce", "bob"), ("rope", "rope"), ("stops", "rope"), ("ball", "ball")]
)
def test_what_has_no_gradient_is_named(given, what, told):
    model = built(what)
    with pytest.raises(ph.ModelError, match=told):
        ph.gradient(**(given | {"model": model, "state": model.state()}))


def test_frames_whose_coordinate_changes_with_them_are_named(given):
    builder = ph.ModelBuilder()
    joint = ph.joints.SplineCurve(smooth_frames(np.random.default_rng(0), 6), coordinate="arc_length")
    builder.add_body("bob", joint=joint, mass=1.0, inertia=np.eye(3))
    model = builder.build()
    given |= {"model": model, "state": model.state(), "parameters": [ph.Parameter("frames", "bob")]}
    with pytest.raises(ph.ModelError, match="arc_length"):
        ph.gradient(**given)


def test_points_that_move_in_their_bodies_are_named(given):
    builder = pendulum()
    moving = Moving("bob.angle", ph.joints.Linear(0.1))
    path = [PathPoint(None, (0, 1, 0)), PathPoint("bob", (0.1, moving, 0)), PathPoint("bob", (0.3, 0, 0))]
    builder.add_muscle("cord", path, tension=1.0)
    model = builder.build()
    given |= {"model": model, "state": model.state(), "parameters": [ph.Parameter("points", "cord")]}
    with pytest.raises(ph.ModelError, match="point 1 of muscle 'cord'"):
        ph.gradient(**given)
    with pytest.raises(ph.ModelError, match="3"):
        ph.gradient(**(given | {"parameters": [ph.Parameter("points", "cord", 3)]}))


TORQUE = ph.Parameter("torque", "bob.angle")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("method", "newton", "newton"),
        ("bounds", {ph.Parameter("mass", "bob"): (0.0, 1.0)}, "mass"),
        ("bounds", {TORQUE: (1.0, 0.0)}, "reversed"),
        ("bounds", {TORQUE: (0.0, 1.0, 2.0)}, "upper"),
        ("bounds", {TORQUE: (np.nan, 1.0)}, "nan"),
        ("starts", [], "starts"),
        ("starts", [{TORQUE: [0.0, 1.0]}], "(2,)"),
        ("starts", [{ph.Parameter("mass", "bob"): 1.0}], "mass"),
        ("most_gradients", 0, "0"),
        ("progress", 1, "callable"),
    ],
)
def test_bad_arguments_of_a_search_are_named(given, name, value, told):
    with pytest.raises(ph.ModelError) as error:
        ph.optimize(**(given | {name: value}))
    assert told in str(error.value)
