"""Inverse dynamics of a recorded walk with its ground reaction against OpenSim's tool (Delp et al. 2007)."""

from pathlib import Path

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from . import quiet_opensim  # noqa: E402
from .opensim_model import external_loads, our_whole_model, read_table, write_table  # noqa: E402

pytestmark = pytest.mark.peers

MODELS = Path(__file__).resolve().parents[4] / "shared" / "models"
SUBJECT = MODELS / "gait10dof18musc_subject01.osim"
PLATES = (
    ("calcn_r", "ground_force_v", "ground_force_p", "ground_torque_"),
    ("calcn_l", "1_ground_force_v", "1_ground_force_p", "1_ground_torque_"),
)

END = 30


@pytest.mark.skipif(not SUBJECT.exists(), reason="the model gait10dof18musc is not beside this checkout")
@pytest.mark.parametrize("with_ground", [False, True])
def test_walk(tmp_path: Path, with_ground: bool) -> None:
    quiet_opensim()
    peer = opensim.Model(str(SUBJECT))
    peer.initSystem()
    model, names = our_whole_model(peer)
    walk, plates = read_table(MODELS / "subject01_walk_IK.mot"), read_table(MODELS / "subject01_walk_grf.mot")
    # at the times of the motion: OpenSim does not interpolate linearly between samples
    ground = {name: np.interp(walk["time"], plates["time"], column) for name, column in plates.items()}

    tool = opensim.InverseDynamicsTool()
    tool.setModel(peer)
    tool.setCoordinatesFileName(str(MODELS / "subject01_walk_IK.mot"))
    tool.setStartTime(float(walk["time"][0]))
    tool.setEndTime(float(walk["time"][-1]))
    excluded = opensim.ArrayStr()
    excluded.append("Muscles")
    tool.setExcludedForces(excluded)
    if with_ground:
        write_table(tmp_path / "ground.mot", ground)
        external_loads(tmp_path / "loads.xml", tmp_path / "ground.mot", list(PLATES))
        tool.setExternalLoadsFileName(str(tmp_path / "loads.xml"))
    tool.setResultsDir(str(tmp_path))
    tool.setOutputGenForceFileName("forces.sto")
    assert tool.run()
    theirs = read_table(tmp_path / "forces.sto")

    units = [1.0 if name in ("pelvis_tx", "pelvis_ty") else np.pi / 180.0 for name in names]
    q = np.stack([unit * walk[name] for unit, name in zip(units, names)], axis=1)
    forces = [
        ph.ExternalForce(
            body, ground["time"], *(np.stack([ground[part + axis] for axis in "xyz"], 1) for part in parts)
        )
        for body, *parts in PLATES
    ]
    found = ph.inverse_dynamics_of_samples(
        model, walk["time"], q, external_forces=forces if with_ground else ()
    )
    for d, name in enumerate(names):
        kind = "force" if name in ("pelvis_tx", "pelvis_ty") else "moment"
        difference = np.abs(found.tau[:, d] - theirs[f"{name}_{kind}"])
        # OpenSim writes 8 decimals, and its splines have other ends, whose effect decays by 0.43 per sample
        assert difference[END:-END].max() < 1e-7
        assert np.abs(found.tau[:, d]).max() > 1.0
