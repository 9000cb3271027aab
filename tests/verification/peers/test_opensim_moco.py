"""The least excitations of a reach, beside OpenSim Moco's direct collocation of the same problem."""

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from . import quiet_opensim  # noqa: E402
from .test_opensim_models import MODELS  # noqa: E402
from .test_opensim_search import ACTIVE, GOAL, SPAN, START, alone  # noqa: E402

pytestmark = pytest.mark.peers

ROWS, STEP, LEAST = 21, 2.5e-3, 0.01


def solve(folder):
    """Moco's controls at the ends of its mesh intervals, between which they are linear, into a file."""
    quiet_opensim()
    study = opensim.MocoStudy()
    problem, model = study.updProblem(), opensim.Model(str(folder / "arm.osim"))
    problem.setModelProcessor(opensim.ModelProcessor(model))
    problem.setTimeBounds(0.0, SPAN)
    model = opensim.Model(str(folder / "arm.osim"))
    model.initSystem()
    for name in START:
        path = model.getCoordinateSet().get(name).getAbsolutePathString()
        problem.setStateInfo(path + "/value", [-1.0, 2.5], START[name], GOAL[name])
        problem.setStateInfo(path + "/speed", [-50.0, 50.0], 0.0, 0.0)
    muscles = [muscle.getAbsolutePathString() for muscle in model.getMuscles()]
    for path in muscles:
        problem.setControlInfo(path, [LEAST, 1.0])
        problem.setStateInfo(path + "/activation", [LEAST, 1.0], ACTIVE)
    problem.addGoal(opensim.MocoControlGoal("effort"))
    solver = study.initCasADiSolver()
    solver.set_num_mesh_intervals(ROWS - 1)
    solver.set_optim_convergence_tolerance(1e-5)
    solver.set_optim_constraint_tolerance(1e-6)
    solver.set_verbosity(0)
    solution = study.solve()
    columns = [list(solution.getControlNames()).index(path) for path in muscles]
    values = solution.getControlsTrajectoryMat()[::2, columns]
    names = [path.split("/")[-1] for path in muscles]
    np.savez(folder / "excitations.npz", times=solution.getTimeMat()[::2], values=values, names=names)


def effort(file):
    """Integral of the squares of piecewise linear excitations."""
    a, b = file["values"][:-1], file["values"][1:]
    return float((np.diff(file["times"])[:, None] * (a * a + a * b + b * b) / 3.0).sum())


def test_a_reach_beside_moco(tmp_path):
    if not (MODELS / "arm26.osim").exists():
        pytest.skip("the model arm26.osim is not beside this checkout")
    alone("with_de_grootes_muscles", tmp_path)
    alone("solve", tmp_path, "test_opensim_moco")
    with np.load(tmp_path / "excitations.npz") as file:
        least = effort(file)
    read = ph.read_opensim(tmp_path / "arm.osim", limits=False)
    model = read.build()
    coordinates = {name: read.coordinates[name].coordinate for name in GOAL}
    state = model.state(
        q={coordinates[name]: value for name, value in START.items()},
        muscle_states=dict.fromkeys(model.muscle_state_names, ACTIVE),
    )
    wanted = ph.objectives.Pose({coordinates[name]: value for name, value in GOAL.items()})
    wanted = wanted + ph.objectives.Rest() + ph.objectives.Effort(model.input_names)
    table = np.zeros((ROWS, model.num_coordinates + model.num_inputs))
    table[:, model.num_coordinates :] = 0.1
    parameters = [ph.Parameter("input", name) for name in model.input_names]
    found = ph.optimize(
        model, state, SPAN, STEP, integrator="sdirk2", objective=wanted, parameters=parameters, method="SLSQP",
        tau=ph.Table(np.linspace(0.0, SPAN, ROWS), table), bounds=dict.fromkeys(parameters, (LEAST, 1.0)),
        starts="inverse kinematics",
    )  # fmt: skip
    assert found.converged
    values, names = (
        found.inputs.values[:, model.num_coordinates :],
        [n.split(".")[0] for n in model.input_names],
    )
    np.savez(tmp_path / "excitations.npz", times=found.inputs.times, values=values, names=names)
    with np.load(tmp_path / "excitations.npz") as file:
        # both are discrete: ours by steps of order two, Moco's by 20 intervals, which miss the goal by up to 0.05 rad
        assert abs(effort(file) / least - 1.0) < 0.02
    alone("end_in_opensim", tmp_path)
    assert np.allclose(np.load(tmp_path / "end.npy")[0], list(GOAL.values()), atol=3e-3)
