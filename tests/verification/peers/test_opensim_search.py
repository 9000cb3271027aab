"""Excitations that a search finds move OpenSim's model as ours."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from . import quiet_opensim  # noqa: E402
from .test_opensim_models import MODELS  # noqa: E402

pytestmark = pytest.mark.peers

START = {"r_shoulder_elev": 0.0, "r_elbow_flex": 0.3}
GOAL = {"r_shoulder_elev": 0.3, "r_elbow_flex": 0.9}
SPAN, STEP, ROWS, ACTIVE = 0.4, 2e-3, 9, 0.05


def alone(call, folder, module="test_opensim_search"):
    """A function of a module in a process of its own: what other tests read stays in OpenSim as defaults."""
    code = f"import pathlib; from tests.verification.peers import {module}; "
    code += f"{module}.{call}(pathlib.Path({str(folder)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=True)


def with_de_grootes_muscles(folder):
    """The arm with rigid tendons and straight paths (over ellipsoids OpenSim's have other moment arms)."""
    quiet_opensim()
    model = opensim.Model(str(MODELS / "arm26.osim"))
    model.initSystem()
    opensim.DeGrooteFregly2016Muscle.replaceMuscles(model)
    forces = model.updForceSet()
    for k in range(forces.getSize()):
        opensim.DeGrooteFregly2016Muscle.safeDownCast(forces.get(k)).set_ignore_tendon_compliance(True)
    for body in model.getBodyList():
        surfaces = body.getWrapObjectSet()
        for k in range(surfaces.getSize()):
            surfaces.get(k).set_active(False)
    model.finalizeConnections()
    model.printToXML(str(folder / "arm.osim"))


def end_in_opensim(folder):
    """Coordinates and speeds at the end, into a file, for the excitations in another."""
    quiet_opensim()
    with np.load(folder / "excitations.npz") as file:
        times, values, names = file["times"], file["values"], file["names"].tolist()
    model, controller = opensim.Model(str(folder / "arm.osim")), opensim.PrescribedController()
    for column, muscle in enumerate(names):
        controller.addActuator(model.getMuscles().get(muscle))
        law = opensim.PiecewiseLinearFunction()
        for time, value in zip(times, values[:, column]):
            law.addPoint(float(time), float(value))
        controller.prescribeControlForActuator(muscle, law)
    model.addController(controller)
    state, coordinates = model.initSystem(), model.getCoordinateSet()
    for name, value in START.items():
        coordinates.get(name).setValue(state, value)
        coordinates.get(name).setSpeedValue(state, 0.0)
    for muscle in names:
        model.getMuscles().get(muscle).setActivation(state, ACTIVE)
    manager = opensim.Manager(model)
    manager.setIntegratorAccuracy(1e-8)
    manager.initialize(state)
    state = manager.integrate(SPAN)
    each = [coordinates.get(name) for name in GOAL]
    np.save(folder / "end.npy", np.array([[one.getValue(state), one.getSpeedValue(state)] for one in each]).T)


def test_excitations_of_a_search_in_opensim(tmp_path):
    if not (MODELS / "arm26.osim").exists():
        pytest.skip("the model arm26.osim is not beside this checkout")
    alone("with_de_grootes_muscles", tmp_path)
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
        tau=ph.Table(np.linspace(0.0, SPAN, ROWS), table), bounds=dict.fromkeys(parameters, (0.01, 1.0)),
    )  # fmt: skip
    assert found.converged
    names, values = [name.split(".")[0] for name in model.input_names], found.inputs.values
    np.savez(
        tmp_path / "excitations.npz",
        times=found.inputs.times,
        values=values[:, model.num_coordinates :],
        names=names,
    )
    alone("end_in_opensim", tmp_path)
    end = np.load(tmp_path / "end.npy")
    fine = ph.simulate(model, found.state, SPAN, STEP / 8.0, "sdirk2", tau=found.inputs)
    columns = [model.coordinate_index(coordinates[name]) for name in GOAL]
    # the error of a method of order two: the search's own steps end 64 times farther off, by some 1e-3
    assert np.allclose(end[0], fine.q[-1, columns], atol=5e-5)
    assert np.allclose(end[1], fine.qd[-1, columns], atol=1e-3)
    assert np.allclose(end[0], list(GOAL.values()), atol=3e-3)
