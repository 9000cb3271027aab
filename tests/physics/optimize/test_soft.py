"""Gradients of motions with soft bodies against differences of their losses."""

import numpy as np
import pytest

import physics as ph
from physics.dynamics import inverse_dynamics
from physics.muscles import PathPoint
from physics.optimize import gradient as module
from physics.optimize.gradient import make_task
from physics.optimize.parameters import OF_SOFT
from physics.optimize.starts import stiff
from physics.optimize.steps import Motion
from tests.physics.optimize.problems import IMPLICIT, errors, of_body, of_coordinate
from tests.physics.soft.blocks import grid

# Five-point differences with steps of 1e-4 of the numbers are off by about 1e-16 of these, and by the tolerance of
# Newton's iteration over the step: 1e-13 / 1e-4 of the loss, more for derivatives that are small beside it.
SHARE, ACCURACY, USUAL = 1e-4, 1e-7, 1e-9
DAMPING = (0.5, 0.02)  # of mass and stiffness: turning by 5 rad/s, it changes forces by a tenth


def carried(joint=None, ends=None, nodes=(1, 1, 1), bodies=1, **more):
    """Bodies in a row, and a block of which the first nodes, or those in ends, are attached."""
    builder, parent = ph.ModelBuilder(), None
    place = np.eye(4)
    for name in "ab"[:bodies]:
        builder.add_body(
            name, parent, joint=joint or ph.joints.Hinge((0, 1, 0)), joint_in_parent=place.copy(), mass=0.3,
            com=(0.05, 0, 0.01), inertia=np.diag([1e-3, 2e-3, 1.5e-3]), damping=0.02,
        )  # fmt: skip
        parent, place[0, 3] = name, 0.05
    places, tets = grid(*nodes, 0.05)
    attached = ends or dict.fromkeys(np.flatnonzero(places[:, 0] == 0.0).tolist(), "a")
    material = {"young": 3e3, "density": 1000.0, "damping": DAMPING, **more}
    builder.add_soft_body("fat", places, tets=tets, attached=attached, **material)
    return builder


def check(model, integrator, start, speed, span=0.024, more=()):
    """All derivatives of a motion under a table of torques."""
    rng, goals = np.random.default_rng(1), ph.objectives
    body, nv = model.body_names[-1], model.num_coordinates
    name = model.coordinate_names[-1]
    wanted = goals.Reach(body, (0.1, 0.2, 0.3), point=(0.1, 0.0, 0.02)) + 0.01 * goals.Rest() + goals.Effort()
    rows = 0.2 * rng.normal(size=(3, nv))
    if model.num_inputs:
        rows = np.concatenate([rows, 3.0 + rng.normal(size=(3, model.num_inputs))], axis=1)
    tau = ph.Table([0.0, 0.5 * span, 0.9 * span], rows)
    motion = Motion(model, model.state(q=start, qd=speed), span, 2e-3, integrator, tau)
    soft = [ph.Parameter(kind, "fat") for kind in ("young", *OF_SOFT)]
    parameters = [*of_coordinate(name), *of_body(body), *soft, *more]
    off = errors(make_task(motion, wanted, parameters), SHARE)
    assert max(off.values()) < ACCURACY, off
    assert np.median(list(off.values())) < USUAL, off


@pytest.mark.parametrize("law", ["corotated", "neo_hookean"])
@pytest.mark.parametrize("integrator", IMPLICIT)
def test_on_a_hinge(integrator, law):
    """With springs that are stretched and compressed."""
    springs = [(0, 7, 20.0, 0.1), (4, 3, 15.0, 0.06)]
    model = carried(law=law, springs=springs).build()
    check(model, integrator, [0.3], [5.0], more=[ph.Parameter("gravity")])


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_on_two_bodies_with_a_muscle(integrator):
    ends = {0: "a", 1: "a", 2: "a", 10: "b", 11: "b"}
    builder = carried(ends=ends, nodes=(2, 1, 1), bodies=2, law="neo_hookean")
    builder.add_input("pull", 3.0)
    path = [PathPoint(None, (0, 0, 0.1)), PathPoint("a", (0.1, 0, 0.03)), PathPoint("b", (0.05, 0, 0.02))]
    builder.add_muscle("cord", path, tension="pull", mass=0.02)
    more = [ph.Parameter("input", "pull"), ph.Parameter("points", "cord")]
    check(builder.build(), integrator, [0.2, -0.4], [3.0, -5.0], more=more)


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_through_a_change_of_chart(integrator):
    model, start, speed = carried(ph.joints.Spherical()).build(), [0.3, 2.9, -0.2], [3.0, 14.0, 2.0]
    state = model.state(q=start, qd=speed)
    assert ph.simulate(model, state, 0.08, 2e-3, integrator).info["chart_changes"] == 1
    check(model, integrator, start, speed, span=0.08)


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_beside_a_second_one_of_springs(integrator):
    """Attached to a body whose frame is not its joint's, and to the world."""
    builder, turn = carried(bodies=2), ph.lie.so3_exp(np.array([0.3, -0.2, 0.5]))
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = turn, (0.1, 0.02, -0.03)
    builder.add_body(
        "c", "b", joint=ph.joints.Hinge((0, 1, 0)), joint_in_parent=frame, body_in_joint=frame,
        mass=0.2, com=(0.02, 0.01, 0.0), inertia=1e-3 * np.eye(3),
    )  # fmt: skip
    nodes = np.array([[0.2, 0, 0], [0.25, 0.02, 0.03], [0.3, 0, 0], [0.1, 0.1, 0.02], [0.3, 0.05, 0.1]])
    springs = [(a, b, 20.0, 0.9 * np.linalg.norm(nodes[a] - nodes[b])) for a in range(5) for b in range(a)]
    ends = {0: "c", 1: "c", 2: None}
    builder.add_soft_body("net", nodes, springs=springs, density=0.1, damping=DAMPING, attached=ends)
    more = [ph.Parameter(kind, "net") for kind in OF_SOFT]
    check(builder.build(), integrator, [0.2, -0.4, 0.3], [3.0, -5.0, 2.0], more=more)


def test_dampings_of_zero_have_the_limit_of_small_ones():
    """Differences of simulations would need negative ones."""
    found = []
    for damping in (0.0, 1e-10):
        model = carried(damping=(damping, damping)).build()
        parameters = [ph.Parameter(kind, "fat") for kind in ("young", *OF_SOFT)]
        motion = Motion(model, model.state(q=[0.3], qd=[5.0]), 0.024, 2e-3, "sdirk2", None)
        wanted = ph.objectives.Reach("a", (0.1, 0.2, 0.3), point=(0.1, 0.0, 0.02))
        task = make_task(motion, wanted, parameters)
        found.append(task.places.read(task.evaluate()[1]))
    # the first order in 1e-10 s over a few of the stiffest periods, 1e-3 s
    assert np.allclose(*found, rtol=1e-6, atol=0.0) and np.all(found[0] != 0.0)


def test_in_pieces_as_in_one(monkeypatch):
    """Pieces begin with Newton's iteration anew, so they agree to its tolerance."""
    model = carried().build()
    wanted, parameters = ph.objectives.Reach("a", (0.1, 0.2, 0.3)), [*of_coordinate("a.angle"), *of_body("a")]
    state = model.state(q=[0.3], qd=[5.0])
    task = make_task(Motion(model, state, 0.06, 2e-3, "sdirk2"), wanted, parameters)
    value, whole = task.evaluate()
    monkeypatch.setattr(module, "MOST_KEPT", 0)
    again, parts = task.evaluate()
    assert np.isclose(value, again, rtol=1e-11)
    whole, parts = task.places.read(whole), task.places.read(parts)
    assert np.allclose(whole, parts, rtol=0.0, atol=1e-9 * np.abs(whole).max())


def test_a_search_begins_with_torques_that_hold_all_nodes():
    """The weight of a block of 1 kg/dm^3 in front of the hinge, and of the body, in closed form."""
    model = carried().build()
    fat, body = model.soft_bodies[0], model.bodies[0]
    moment = -9.81 * (fat.masses @ fat.nodes[:, 0] + body.mass * body.com[0])
    wanted, parameters = ph.objectives.Rest(), [ph.Parameter("torque", "a.angle")]
    rigid = stiff(make_task(Motion(model, model.state(), 0.02, 2e-3, "bdf1"), wanted, parameters))
    assert np.allclose(inverse_dynamics(rigid.model, rigid.state), moment, rtol=1e-13)
    given = {"integrator": "bdf1", "objective": wanted, "parameters": parameters}
    # nodes swing a little
    assert ph.optimize(model, model.state(), 0.02, 2e-3, **given).value < 1e-6


def refused(what):
    """A model, and more arguments, of which there is no gradient."""
    if what == "net":
        values = np.outer(np.arange(4.0), [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        joint = ph.joints.FlexibleSurface(ph.joints.SplineSurface(values))
        builder = ph.ModelBuilder()
        builder.add_body("a", joint=joint, mass=1.0, inertia=np.eye(3))
        builder.add_flexible_surface("net", ["a"], density=1.0, tension=1.0)
        return builder.build(), {}
    builder = carried(ground={"stiffness": 100.0} if what == "fat" else None)
    if what == "rod":
        rod = ph.constraints.DistanceConstraint("a", None, (1, 0, 0), (1, 1, 0), length=1.0)
        builder.add_constraint("rod", rod)
    if what == "stop":
        limits = {"limits": (-1.0, 1.0), "limit_restitution": 0.0}
        builder.add_body("b", "a", joint=ph.joints.Hinge(), mass=1.0, inertia=np.eye(3), **limits)
    return builder.build(), {"motions": {"a": 0.1}} if what == "motion" else {}


@pytest.mark.parametrize(
    ("what", "told"),
    [("net", "'net'"), ("fat", "'fat'"), ("rod", "'rod'"), ("motion", "'a'"), ("stop", "'fat'")],
)
def test_what_has_no_gradient_is_named(monkeypatch, what, told):
    monkeypatch.setattr(module, "make_problem", None)  # before anything runs
    model, more = refused(what)
    wanted, parameters = ph.objectives.Rest(), [ph.Parameter("torque", model.coordinate_names[0])]
    given = {"integrator": "bdf1", "objective": wanted, "parameters": parameters, **more}
    with pytest.raises(ph.ModelError, match=told):
        ph.gradient(model, model.state(), 0.02, 2e-3, **given)
