"""Gradients of motions on constraints: loops, rods and couplings."""

import numpy as np
import pytest

import physics as ph
from physics import kernels
from physics.constraints import CouplingConstraint, DistanceConstraint
from physics.muscles import PathPoint, Tension
from physics.optimize import gradient as module
from physics.optimize.gradient import make_task
from physics.optimize.steps import Motion
from tests.physics.constraints.mechanisms import four_bar
from tests.physics.generators import TREE_KINDS, loop_frames, random_state, random_tree
from tests.physics.optimize.problems import IMPLICIT, errors, of_body, of_coordinate

# Newton's iteration ends at round-off of the stiff forces with which rows act on the motion;
# differences of losses have up to 1e-7 where a derivative is small beside the others.
ACCURACY, USUAL = 1e-6, 1e-8
INERTIA = np.diag([0.02, 0.03, 0.02])


def check(task):
    off = errors(task)
    assert max(off.values()) < ACCURACY, off
    assert np.median(list(off.values())) < USUAL, off


def wanted_of(body):
    reach = ph.objectives.Reach(body, (0.1, 0.2, 0.3), point=(0.2, 0.1, 0.4))
    return reach + 0.1 * ph.objectives.Rest() + 0.1 * ph.objectives.Effort()


def task_of(model, state, integrator, more=(), steps=40, dt=5e-3):
    """A task with parameters of every kind that a tree without muscles has, the start's among them."""
    names = model.coordinate_names
    parameters = [*of_coordinate(names[0]), *of_coordinate(names[1]), *of_body(model.body_names[-1]), *more]
    parameters.append(ph.Parameter("gravity"))
    tau = ph.Table([0.0, 0.1, 0.2], np.linspace(-1.0, 1.0, 3 * len(names)).reshape(3, -1))
    motion = Motion(model, state, steps * dt, dt, integrator, tau)
    return make_task(motion, wanted_of(model.body_names[-1]), parameters)


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("closure", ["point", "hinge", "joint"])
def test_four_bar(closure, integrator):
    """In a plane a point or a hinge has rows that depend on others, or that nothing moves."""
    model, state = four_bar(closure)
    check(task_of(model, ph.assemble(model, model.state(state.q, qd=np.full(len(state.q), 0.5))), integrator))


@pytest.mark.parametrize("integrator", IMPLICIT)
def test_coupling_with_a_ball(integrator):
    builder, far = ph.ModelBuilder(), np.eye(4)
    far[0, 3] = 0.4
    shape = {"mass": 0.7, "com": (0.15, 0.0, 0.0), "inertia": INERTIA, "damping": 0.02}
    builder.add_body("a", joint=ph.joints.Hinge((0, 1, 0)), stiffness=3.0, **shape)
    builder.add_body("b", "a", joint=ph.joints.Hinge((1, 1, 0)), joint_in_parent=far, **shape)
    builder.add_body("ball", "b", joint=ph.joints.Spherical(), joint_in_parent=far, **shape)
    bent = ph.joints.Polynomial((0.1, 0.5, 0.3))
    builder.add_constraint("gear", CouplingConstraint("b.angle", {"a.angle": 0.6}, bent))
    model = builder.build()
    state = model.state(q=[0.3, 0.2, 0.1, 0.3, -0.2], qd=[1.0, 0.0, 0.5, -0.3, 1.0])
    check(task_of(model, ph.assemble(model, state), integrator))


def rod_between(model, state, body, other):
    """A rod as long as the distance in the state."""
    at, on = (0.1, 0.1, 0.2), (0.1, -0.2, 0.1)
    poses = ph.body_poses(model, state)
    a, b = poses[model.index(body)], poses[model.index(other)]
    length = np.linalg.norm(a[:3, :3] @ at + a[:3, 3] - b[:3, :3] @ on - b[:3, 3])
    return DistanceConstraint(body, other, at, on, float(length))


@pytest.mark.parametrize("integrator", IMPLICIT)
@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 20))])
def test_random_trees_with_a_rod(seed, integrator):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 4, TREE_KINDS)
    state = random_state(rng, model)
    rod = rod_between(model, state, model.body_names[-1], model.body_names[0])
    model = model.altered(constraints={"rod": rod})
    state = model.state(q=state.q, qd=np.where(model.prescribed, 0.0, 0.5 * state.qd))
    check(task_of(model, ph.assemble(model, state), integrator, steps=40, dt=1e-3))


@pytest.mark.slow
@pytest.mark.parametrize("integrator", IMPLICIT)
def test_control_frames_and_a_muscle_in_a_loop(integrator):
    builder, far = ph.ModelBuilder(), np.eye(4)
    far[0, 3] = 0.4
    shape = {"mass": 0.7, "com": (0.15, 0.0, 0.05), "inertia": INERTIA, "damping": 0.02}
    curve = ph.joints.SplineCurve(loop_frames(np.random.default_rng(1), 9), order=5, periodic=True)
    builder.add_body("a", joint=ph.joints.Hinge((0, 1, 0)), stiffness=3.0, **shape)
    builder.add_body("b", "a", joint=curve, joint_in_parent=far, **shape)
    builder.add_body("ball", "b", joint=ph.joints.Spherical(), joint_in_parent=far, **shape)
    builder.add_input("drive", 0.3)
    path = [PathPoint(None, (-0.05, 0.0, -0.1)), PathPoint("b", (0.1, 0.1, 0.02))]
    builder.add_muscle("back", path, law=Tension(50.0), excitation="drive")
    model = builder.build()
    state = model.state(q=[0.3, 1.2, 0.1, 0.3, -0.2], qd=[1.0, 0.4, 0.5, -0.3, 1.0])
    model = model.altered(constraints={"rod": rod_between(model, state, "ball", "a")})
    more = [ph.Parameter("frames", "b"), ph.Parameter("input", "drive"), ph.Parameter("points", "back")]
    motion = Motion(model, ph.assemble(model, model.state(state.q, state.qd)), 0.2, 5e-3, integrator)
    check(make_task(motion, wanted_of("ball"), [*of_coordinate("a.angle"), *of_body("ball"), *more]))


def test_in_pieces_as_in_one(monkeypatch):
    """Pieces begin with Newton's iteration anew, so they agree to its tolerance."""
    model, state = four_bar("point")
    task = task_of(model, state, "sdirk2")
    value, whole = task.evaluate()
    monkeypatch.setattr(module, "MOST_KEPT", 0)
    again, parts = task.evaluate()
    assert np.isclose(value, again, rtol=1e-10)
    whole, parts = task.places.read(whole), task.places.read(parts)
    assert np.allclose(whole, parts, rtol=0.0, atol=1e-8 * np.abs(whole).max())


def test_a_linkage_is_driven_to_a_place():
    """Two torques of the crank bring the coupler's end to where another pair of torques had it."""
    model, state = four_bar("point")
    tau = np.zeros((2, 3))
    tau[:, 0] = 6.0, -2.0
    span = {"duration": 0.4, "dt": 0.01, "integrator": "sdirk2"}
    made = ph.simulate(model, state, 0.4, 0.01, "sdirk2", tau=ph.Table([0.0, 0.4], tau))
    poses = ph.body_poses(model, model.state(q=made.q[-1]))
    end = poses[1][:3, :3] @ [2.0, 0.0, 0.0] + poses[1][:3, 3]
    wanted = ph.objectives.Reach("coupler", end, point=(2.0, 0.0, 0.0))
    torques = [ph.Parameter("torque", "crank.angle")]
    free = ph.Table([0.0, 0.4], np.zeros((2, 3)))
    found = ph.optimize(model, state, **span, objective=wanted, parameters=torques, tau=free)
    assert found.converged
    assert found.value < 1e-12  # a square of metres, at the search's tolerance
    again = ph.simulate(found.model, found.state, 0.4, 0.01, "sdirk2", tau=found.inputs)
    assert abs(again.q[-1] - made.q[-1]).max() < 1e-5


def test_rows_that_depend_on_others():
    """A system of rows of which one is the sum of two is solved by factors with a compliance."""
    rng, nv, count = np.random.default_rng(5), 6, 3
    leading, (jacobian, ahead) = rng.normal(size=(nv, nv)), rng.normal(size=(2, count, nv))
    leading = leading @ leading.T + np.eye(nv)
    jacobian[2], ahead[2] = jacobian[0] + jacobian[1], ahead[0] + ahead[1]
    solved = kernels.adjoint.rows
    vectors, dof = np.zeros((solved.VECTORS, nv + count)), np.zeros((nv, kernels.layout.DOF_WORK_WIDTH))
    matrix, pivots = np.zeros((nv + count, nv + count)), np.zeros(nv + count, dtype=np.int64)
    rows = None, None, None, jacobian, ahead, None, None, matrix, pivots, vectors
    full = np.block([[leading, ahead.T], [jacobian, np.zeros((count, count))]])
    right = full @ rng.normal(size=nv + count)
    assert solved.factorize_bordered(rows, leading, leading, dof) == -1
    kernels.algebra.lu.lu_solve(matrix, pivots, right_side := right.copy())
    # rows are off by the compliance times their forces, and responses are below 20
    assert np.abs(full @ right_side - right).max() < 20.0 * solved.DEPENDENT * np.abs(right).max()
