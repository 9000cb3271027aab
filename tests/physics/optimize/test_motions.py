"""Gradients of motions on joints that are prescribed."""

import numpy as np
import pytest

import physics as ph
from physics.constraints import CouplingConstraint
from physics.optimize.gradient import make_task
from physics.optimize.steps import Motion
from tests.physics.generators import random_surface
from tests.physics.optimize.problems import IMPLICIT, errors, of_body, of_coordinate

INERTIA = np.diag([0.02, 0.03, 0.02])
TIMES = np.linspace(0.0, 0.3, 7)


def carried(geared=False):
    """An arm with a ball on a free root; with a gear between its hinges."""
    builder, far = ph.ModelBuilder(), np.eye(4)
    far[0, 3] = 0.4
    shape = {"mass": 0.7, "com": (0.15, 0.0, 0.05), "inertia": INERTIA, "damping": 0.02}
    builder.add_body("root", joint=ph.joints.Free(), mass=1.0, inertia=INERTIA)
    builder.add_body("a", "root", joint=ph.joints.Hinge((0, 1, 0)), stiffness=1.0, **shape)
    builder.add_body("ball", "a", joint=ph.joints.Spherical(), joint_in_parent=far, **shape)
    builder.add_body("c", "ball", joint=ph.joints.Hinge((1, 1, 0)), joint_in_parent=far, **shape)
    if geared:
        bent = ph.joints.Polynomial((0.1, 0.5, 0.3))
        builder.add_constraint("gear", CouplingConstraint("c.angle", {"a.angle": 0.6}, bent))
    return builder.build()


def led(model, interpolation="cubic"):
    """A state, and a motion of the root that begins there."""
    values = 0.03 * np.random.default_rng(0).normal(size=(len(TIMES), 6))
    state = model.state(q=[*values[0], 0.3, 0.1, 0.3, -0.2, 0.2], qd=[*np.zeros(6), 1.0, 0.0, 0.5, -0.3, 1.0])
    motions = {"root": ph.Motion(TIMES, values, interpolation=interpolation)}
    return ph.assemble(model, state) if model.constraints else state, motions


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("interpolation", ["cubic", "linear"])
@pytest.mark.parametrize("geared", [False, True])
def test_on_a_prescribed_root(geared, interpolation, integrator):
    model = carried(geared)
    state, motions = led(model, interpolation)
    wanted = ph.objectives.Reach("c", (0.1, 0.2, 0.3), point=(0.2, 0.1, 0.4)) + 0.1 * ph.objectives.Rest()
    parameters = [
        *of_coordinate("a.angle"),
        *of_coordinate("ball.r_y"),
        *of_body("c"),
        ph.Parameter("gravity"),
    ]
    if geared:  # the start of a model with constraints is projected before the root is placed
        parameters = [each for each in parameters if each.kind not in ("position", "speed")]
    motion = Motion(model, state, 0.2, 2e-3, integrator, None, motions)
    off = errors(make_task(motion, wanted, parameters))
    assert max(off.values()) < 1e-6, off  # as the differences of losses
    assert np.median(list(off.values())) < 1e-8, off


def test_what_a_prescribed_coordinate_was_does_not_count():
    model = carried()
    state, motions = led(model)
    wanted = ph.objectives.Reach("c", (0.1, 0.2, 0.3)) + ph.objectives.Pose({"root.x": 1.0}, time=0.0)
    parameters = [ph.Parameter(kind, "root.x") for kind in ("torque", "position", "speed")]
    found = ph.gradient(
        model, state, 0.1, 2e-3, integrator="sdirk2", objective=wanted, parameters=parameters, motions=motions
    )
    assert list(found.by_parameter.values()) == [0.0, 0.0, 0.0]


def test_an_arm_reaches_on_a_moving_root():
    model = carried()
    state, motions = led(model)
    aim = np.array([0.3, 0.1, -0.5])
    wanted, span = ph.objectives.Reach("c", aim, point=(0.2, 0.0, 0.0)), (0.3, 3e-3)
    torques = [ph.Parameter("torque", name) for name in model.coordinate_names[6:]]
    options = {"integrator": "sdirk2", "motions": motions}
    free = ph.Table([0.0, 0.15, 0.3], np.zeros((3, model.num_coordinates)))
    found = ph.optimize(
        model,
        state,
        *span,
        **options,
        objective=wanted,
        parameters=torques,
        tau=free,
        starts="inverse kinematics",
        method="least squares",
    )
    result = ph.simulate(found.model, found.state, *span, **options, tau=found.inputs)
    pose = result.poses[-1][model.index("c")]
    assert (
        np.abs(pose[:3, :3] @ [0.2, 0.0, 0.0] + pose[:3, 3] - aim).max() < 1e-6
    )  # m: the search's tolerance


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_from_a_corner_of_a_given_motion(integrator):
    """Backward Euler begins with the velocity before the corner, and takes the mean to the end of its step."""
    model = carried()
    state, motions = led(model, "linear")
    q = np.array(state.q)
    q[:6] = motions["root"].values[2]
    state = model.state(q=q, qd=state.qd, time=float(TIMES[2]))
    wanted = ph.objectives.Reach("c", (0.1, 0.2, 0.3))
    motion = Motion(model, state, 0.02, 2e-3, integrator, None, motions)
    off = errors(make_task(motion, wanted, [*of_coordinate("a.angle"), *of_body("c")]))
    assert max(off.values()) < 1e-6, off  # as the differences of losses


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_a_moving_surface_keeps_its_pace(integrator):
    """Its time is prescribed by no motion: where and how fast it begins counts."""
    builder = ph.ModelBuilder()
    surface = random_surface(np.random.default_rng(3), moving=True)
    builder.add_body("sheet", joint=surface, mass=1.0, com=(0.1, 0.0, 0.05), inertia=INERTIA)
    model = builder.build()
    name = model.coordinate_names[int(np.argmax(model.prescribed))]
    state = model.state(qd=np.where(model.prescribed, 1.0, 0.3))
    wanted = ph.objectives.Reach(model.body_names[-1], (0.1, 0.2, 0.3))
    motion = Motion(model, state, 0.05, 1e-3, integrator)
    off = errors(make_task(motion, wanted, [ph.Parameter(kind, name) for kind in ("position", "speed")]))
    assert max(off.values()) < 1e-6, off


def test_a_start_that_is_assembled_before_motions_place_it_is_named():
    model = carried(geared=True)
    state, motions = led(model)
    given = {"integrator": "bdf1", "objective": ph.objectives.Rest(), "motions": motions}
    with pytest.raises(ph.ModelError, match=r"a\.angle"):
        ph.gradient(model, state, 0.2, 2e-3, **given, parameters=[ph.Parameter("position", "a.angle")])


@pytest.mark.parametrize("fault", [{"windows": [(0.05, 0.3)]}, {"kind": "velocity"}])
def test_motions_that_do_not_hold_or_do_not_place_are_named(fault):
    model = carried()
    state, motions = led(model)
    motions["a"] = ph.Motion(TIMES, 0.3 + TIMES, **fault)
    given = {
        "integrator": "bdf1",
        "objective": ph.objectives.Rest(),
        "parameters": [ph.Parameter("mass", "c")],
    }
    with pytest.raises(ph.ModelError, match=r"a\.angle"):
        ph.gradient(model, state, 0.2, 2e-3, **given, motions=motions)
