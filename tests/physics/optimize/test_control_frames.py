"""Gradients by control frames of spline joints against differences of the losses."""

import numpy as np
import pytest

import physics as ph
from physics.muscles import MassPoints, PathPoint, SphereCappedCylinder, Tension, Wrap
from physics.optimize import gradient as module
from physics.optimize.control_frames import control_numbers
from physics.optimize.gradient import make_task
from physics.optimize.steps import Motion
from tests.physics.generators import smooth_frames
from tests.physics.optimize.problems import IMPLICIT, errors, random_task

SPLINES = ("spline_curve", "periodic_curve", "spline_surface", "moving_surface")
# as in `test_gradient`
ACCURACY, USUAL = 1e-6, 1e-8


def with_parameters(task, parameters):
    motion = Motion(
        task.model, task.state, task.steps * task.dt, task.dt, task.integrator,
        ph.Table(task.times, task.values["table"]) if len(task.times) > 1 else task.values["table"][0],
    )  # fmt: skip
    return make_task(motion, task.objective, parameters)


def of_frames(task):
    """The control frame of each spline joint that changes the loss most."""
    names = [body.name for body in task.model.bodies if len(control_numbers(body.joint))]
    every = with_parameters(task, [ph.Parameter("frames", name) for name in names]).gradient().by_parameter
    return [
        ph.Parameter("frames", each.name, int(np.argmax(np.abs(slope).max(axis=1))))
        for each, slope in every.items()
    ]


def check(task, parameters, share=1e-3, usual=USUAL):
    off = errors(with_parameters(task, parameters), share)
    assert max(off.values()) < ACCURACY, off
    assert np.median(list(off.values())) < usual, off


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize(
    "seed", [0, 2, *(pytest.param(s, marks=pytest.mark.slow) for s in (1, *range(3, 18), 19))]
)
def test_random_trees(seed, integrator):
    """Of seed 18 no joint is a spline."""
    task = random_task(seed, integrator, (*SPLINES, "hinge", "spherical"))
    check(task, [*of_frames(task), *task.places.parameters[:2]])


def knee(beyond):
    """A spline knee under a muscle with mass over an obstacle, one with a law, a limit, a law of the coordinate, a
    controller, and ground; at the curve's middle, or beyond its end.
    """
    builder, inertia = ph.ModelBuilder(), np.diag([0.02, 0.02, 0.01])
    builder.add_body("thigh", joint=ph.joints.Hinge((0, 1, 0)), mass=1.0, com=(0, 0, -0.15), inertia=inertia)
    frames = smooth_frames(np.random.default_rng(3), 6, 0.25)
    place = np.eye(4)
    place[2, 3] = -0.3
    joint = ph.joints.SplineCurve(frames, length_scale=0.5)
    end = float(joint.domain[1])
    q = end + 0.1 if beyond else 0.5 * end
    builder.add_body(
        "shank", "thigh", joint=joint, joint_in_parent=place, mass=0.8, com=(0, 0, -0.12), inertia=inertia,
        stiffness=3.0, rest=0.2, damping=0.2, limits=(-1.0, q - 0.05), limit_stiffness=50.0, limit_damping=0.3,
        elastic=ph.joints.Polynomial([0.1, 0.5, 0.3]),
    )  # fmt: skip
    builder.add_body("foot", "shank", joint=ph.joints.Spherical(), mass=0.2, inertia=0.1 * inertia)
    builder.add_input("pull", 20.0)
    bone = np.eye(4)
    bone[2, 3] = -0.28
    wrap = Wrap(SphereCappedCylinder(body="thigh", frame=bone, radius=0.04, length=0.1), 2e-3)
    path = [PathPoint(None, (0.08, 0.01, 0.1)), wrap, PathPoint("shank", (0.03, 0.0, -0.05))]
    builder.add_muscle("front", path, masses=MassPoints.uniform(0.3, 6), tension="pull")
    back = [PathPoint("thigh", (-0.05, 0.0, -0.1)), PathPoint("foot", (-0.04, 0.0, 0.02))]
    builder.add_muscle("back", back, law=Tension(50.0), excitation=0.4)
    builder.add_controller("servo", "shank", stiffness=2.0, damping=0.1, target=0.3)
    builder.add_ground("ground", "foot", [(0.0, 0.0, -0.1)], stiffness=10.0, damping=1.0, friction=0.5)
    builder.add_force("wind", "foot", (1.0, 0.5, 0.0), 1.0, point=(0.0, 0.1, -0.3), axes="body")
    model = builder.build()
    state = model.state(q={"thigh.angle": 0.3, "shank.q": q}, qd={"thigh.angle": 0.5, "shank.q": 0.4})
    wanted = ph.objectives.Reach("foot", (0.2, 0.0, -0.4), point=(0.0, 0.0, -0.25), time=0.02)
    wanted = wanted + ph.objectives.Path("shank", [0.01, 0.03], np.ones((2, 3))) + ph.objectives.Effort()
    parameters = [ph.Parameter(kind, "shank.q") for kind in ("torque", "position", "stiffness")]
    parameters += [ph.Parameter("input", "servo.q.target"), ph.Parameter("mass", "foot")]
    parameters += [ph.Parameter("points", "front", 0), ph.Parameter("points", "back")]
    return make_task(Motion(model, state, 0.04, 1e-3, "sdirk2"), wanted, parameters)


@pytest.mark.parametrize("beyond", [False, True])
def test_with_everything_that_acts_on_the_bodies_beyond(beyond, monkeypatch):
    task = knee(beyond)
    parameters = [*of_frames(task), *task.places.parameters]
    check(task, parameters, 1e-4, 1e-7)
    whole = with_parameters(task, parameters).gradient().by_parameter
    monkeypatch.setattr(module, "MOST_KEPT", 0)
    for parameter, slope in with_parameters(task, parameters).gradient().by_parameter.items():
        # Newton's iteration begins anew in each piece
        assert np.allclose(slope, whole[parameter], rtol=1e-7, atol=1e-8 * np.abs(slope).max())


def test_a_search_bends_a_curve():
    """A slider's path bends until its end meets the target; frames beyond half a turn keep their numbers."""
    frames = np.tile(np.eye(4), (6, 1, 1))
    frames[:, 0, 3] = np.linspace(0.0, 1.0, 6)
    frames[:, :3, :3] = ph.lie.so3_exp(np.array([3.1, 0.0, 0.0]))
    builder = ph.ModelBuilder(gravity=(0.0, 0.0, 0.0))
    builder.add_body("sled", joint=ph.joints.SplineCurve(frames), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    wanted = ph.objectives.Frame("sled", frames[3] @ ph.lie.exp(np.array([0.3, 0, 0, 0.0, 0.2, 0.1])))
    given = {"duration": 0.5, "dt": 0.01, "integrator": "bdf1", "objective": wanted}
    curve = ph.Parameter("frames", "sled")
    state = model.state(q=[0.1], qd=[1.0])
    found = ph.optimize(model, state, parameters=[curve], **given)
    assert found.value < 1e-9
    assert np.abs(found.parameters[curve][:, 0]).max() > np.pi
    assert np.array_equal(found.model.bodies[0].joint.knots, model.bodies[0].joint.knots)
    again = ph.gradient(found.model, found.state, parameters=[curve], **given)
    assert np.isclose(again.value, found.value, rtol=1e-6, atol=1e-15)
