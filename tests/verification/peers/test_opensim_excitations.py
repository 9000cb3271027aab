"""Torques shared among muscles against OpenSim's StaticOptimization (Anderson & Pandy 2001)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from . import quiet_opensim  # noqa: E402
from .opensim_model import external_loads, read_table, write_table  # noqa: E402
from .test_opensim_models import MODELS  # noqa: E402
from .test_opensim_samples import PLATES  # noqa: E402

pytestmark = pytest.mark.peers

CLOSE = 1e-3  # of activations from 0.01 to 1: OpenSim's optimizer stops at 1e-6 of their squares
INSIDE = slice(3, -3)  # near the ends of a motion splines of other ends have other accelerations
RESERVE, RESIDUAL = 10.0, 1000.0
#: a motion of each model: middle and swing of coordinates [rad, m], others stay
SWINGS = {
    "arm26.osim": {"r_shoulder_elev": (0.4, 0.3), "r_elbow_flex": (1.0, 0.6)},
    "leg6dof9musc.osim": {
        "hip_flexion_r": (0.3, 0.3),
        "knee_angle_r": (-0.6, 0.4),
        "ankle_angle_r": (0.0, 0.2),
    },
}
TIMES = np.linspace(0.0, 1.0, 201)


def for_both(file: str, folder: Path) -> tuple[Any, ph.OpenSimModel]:
    """A model on the same terms for both, OpenSim's and ours.

    In OpenSim 4.6 the active force along the tendon of a Millard muscle lacks the cosine of its pennation (0.4 rad in
    the soleus: 13 % of its strength, 0.04 of its activation), which is therefore 0. A force on a path over an ellipsoid
    has another moment arm than the path's length has (0.5 mm for the long head of biceps: 1.8e-3 of its activation):
    paths are straight.
    """
    if not (MODELS / file).exists():
        pytest.skip(f"the model {file} is not beside this checkout")
    quiet_opensim()
    peer = opensim.Model(str(MODELS / file))
    peer.initSystem()
    for muscle in peer.getMuscles():
        if muscle.getConcreteClassName().startswith("Millard"):
            muscle.setPennationAngleAtOptimalFiberLength(0.0)
    for body in peer.getBodyList():
        surfaces = body.getWrapObjectSet()
        for k in range(surfaces.getSize()):
            surfaces.get(k).set_active(False)
    peer.finalizeConnections()
    peer.printToXML(str(folder / file))
    peer = opensim.Model(str(folder / file))
    peer.initSystem()
    return peer, ph.read_opensim(folder / file, limits=False)


def theirs(peer: Any, folder: Path, motion: Path, loads: str, span: tuple[float, float]) -> dict[str, Any]:
    """Activations by OpenSim's tool, with a reserve for each coordinate."""
    reserves = opensim.ForceSet()
    for k in range(peer.getCoordinateSet().getSize()):
        coordinate = peer.getCoordinateSet().get(k)
        if coordinate.isConstrained(peer.getWorkingState()):
            continue
        actuator = opensim.CoordinateActuator(coordinate.getName())
        actuator.setName(f"{coordinate.getName()}_reserve")
        actuator.setOptimalForce(RESIDUAL if coordinate.getName().startswith("pelvis") else RESERVE)
        actuator.setMinControl(-1e6)
        actuator.setMaxControl(1e6)
        reserves.cloneAndAppend(actuator)
    reserves.printToXML(str(folder / "reserves.xml"))
    static = opensim.StaticOptimization()
    static.setStartTime(span[0])
    static.setEndTime(span[1])
    static.setUseModelForceSet(True)
    static.setConvergenceCriterion(1e-6)
    static.setMaxIterations(1000)
    static.setStepInterval(10)
    peer.addAnalysis(static)
    peer.printToXML(str(folder / "model.osim"))
    tool = opensim.AnalyzeTool()
    tool.setName("shared")
    tool.setModelFilename(str(folder / "model.osim"))
    tool.setCoordinatesFileName(str(motion))
    tool.setInitialTime(span[0])
    tool.setFinalTime(span[1])
    tool.setResultsDir(str(folder))
    tool.setReplaceForceSet(False)
    files = opensim.ArrayStr()
    files.append(str(folder / "reserves.xml"))
    tool.setForceSetFiles(files)
    tool.setExternalLoadsFileName(loads)
    tool.getAnalysisSet().cloneAndAppend(static)
    tool.printToXML(str(folder / "setup.xml"))
    assert opensim.AnalyzeTool(str(folder / "setup.xml")).run()
    return read_table(folder / "shared_StaticOptimization_activation.sto")


def smooth_walk(read: ph.OpenSimModel, model: ph.Model) -> tuple[dict[str, Any], dict[str, Any]]:
    """A recorded walk without noise, sampled so often that all splines agree, and its ground forces."""
    times, q = ph.motion_samples(read, model, ph.read_storage(MODELS / "subject01_walk_IK.mot"))
    spline = make_interp_spline(times, ph.inverse_dynamics_of_samples(model, times, q, cutoff=6.0).q, 5)
    often = np.linspace(times[20], times[-20], 4 * (len(times) - 40))
    names = {each.coordinate: name for name, each in read.coordinates.items()}
    plates = read_table(MODELS / "subject01_walk_grf.mot")
    ground = {name: np.interp(often, plates["time"], column) for name, column in plates.items()}
    walk = dict(zip([names[name] for name in model.coordinate_names], spline(often).T))
    return {"time": often, **walk}, {**ground, "time": often}


@pytest.mark.parametrize("file", [*SWINGS, "gait10dof18musc_subject01.osim"])
def test_activations(tmp_path: Path, file: str) -> None:
    peer, read = for_both(file, tmp_path)
    model = read.build()
    forces, loads, columns, motion = [], "", {"time": TIMES}, tmp_path / "motion.mot"
    for number, (name, (middle, size)) in enumerate(SWINGS.get(file, {}).items()):
        columns[name] = middle + size * np.sin(2.0 * np.pi * TIMES + number)
    if file not in SWINGS:
        columns, ground = smooth_walk(read, model)
        write_table(tmp_path / "ground.mot", ground)
        loads = str(tmp_path / "loads.xml")
        external_loads(Path(loads), tmp_path / "ground.mot", list(PLATES))
        for body, *parts in PLATES:
            rows = (np.stack([ground[part + axis] for axis in "xyz"], 1) for part in parts)
            forces.append(ph.ExternalForce(body, ground["time"], *rows))
    write_table(motion, columns)
    span = float(columns["time"][0]), float(columns["time"][-1])
    times, q = ph.motion_samples(read, model, ph.read_storage(motion))
    places = {name: model.coordinate_names.index(each.coordinate) for name, each in read.coordinates.items()}
    write_table(
        motion, {"time": times} | {name: q[:, k] for name, k in places.items()}
    )  # coupled ones as well
    samples = ph.inverse_dynamics_of_samples(model, times, q, external_forces=forces)
    reserves = {
        each.coordinate: RESIDUAL if name.startswith("pelvis") else RESERVE
        for name, each in read.coordinates.items()
    }
    ours = ph.excitations(model, samples, reserves=reserves, bounds=(0.01, 1.0), passive=False)
    expected = theirs(peer, tmp_path, motion, loads, span)
    for name, activations in zip(ours.muscles, ours.activations.T):
        difference = np.interp(expected["time"], times, activations) - expected[name]
        assert np.abs(difference[INSIDE]).max() < CLOSE, name
    assert ours.activations.max() > 0.3
