"""The swing of a recorded walk without muscle mass against OpenSim's inverse dynamics (Wang 2022, sec. 6.2.8)."""

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from .. import walk  # noqa: E402
from .test_opensim_models import opened, order  # noqa: E402

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("share", [0.0, 1e-9])
def test_swing_without_muscle_mass(share: float) -> None:
    """Same coordinates, speeds and accelerations; a billionth of the mass in the muscles changes nothing."""
    peer, state, read, own = opened(walk.SUBJECT.name)
    model = walk.subject(share)
    ours = order(peer, state, read, own)
    assert model.coordinate_names == own.coordinate_names
    for k in range(peer.getForceSet().getSize()):
        peer.updForceSet().get(k).set_appliesForce(False)
    state = peer.initSystem()
    times, q = walk.samples(model)
    motion = ph.inverse_dynamics_of_samples(model, times, q, cutoff=walk.CUTOFF)
    begin, end = walk.swing()
    solver = opensim.InverseDynamicsSolver(peer)
    theirs, mine = [], []
    for k in np.nonzero((times >= begin) & (times <= end))[0]:
        for place, d in enumerate(ours):
            state.updQ().set(place, float(motion.q[k, d]))
            state.updU().set(place, float(motion.qd[k, d]))
        asked = opensim.Vector(len(ours), 0.0)
        for place, d in enumerate(ours):
            asked.set(place, float(motion.qdd[k, d]))
        found = np.empty(len(ours))
        found[ours] = solver.solve(state, asked).to_numpy()
        theirs.append(found)
        mine.append(motion.tau[k])
    difference = np.abs(np.array(mine) - theirs).max(axis=0) / np.abs(theirs).max(axis=0)
    assert len(theirs) > 20
    # round-off, and the billionth
    assert difference.max() < 1e-6
