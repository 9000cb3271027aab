"""Lengths and moment arms of whole models' muscles against OpenSim 4.6 (Delp et al. 2007)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from .test_opensim_models import coordinates_of, opened, order, set_values  # noqa: E402

pytestmark = pytest.mark.peers

LENGTH = 1e-13  # round-off of a sum of at most ten lengths below 1 m
ARM = 1e-12  # the same, of its derivative
POSES = 12


def placed_at(
    peer: Any, state: Any, read: ph.OpenSimModel, model: ph.Model, rng: np.random.Generator, share: float
) -> ph.State:
    """Both at a share of each coordinate's range, or anywhere in it where the share is negative; our state."""
    coordinates = coordinates_of(peer, state)
    low = np.array([max(coordinate.getRangeMin(), -3.0) for coordinate in coordinates])
    high = np.array([min(coordinate.getRangeMax(), 3.0) for coordinate in coordinates])
    q = rng.uniform(low, high) if share < 0.0 else low + share * (high - low)
    mine = np.empty(len(q))
    mine[order(peer, state, read, model)] = q
    set_values(peer, state, q)
    return model.state(q=mine)


def compare(peer: Any, state: Any, read: ph.OpenSimModel, model: ph.Model, ours: ph.State) -> np.ndarray:
    """Largest differences of lengths and moment arms of each muscle (muscles, 2)."""
    found = ph.muscle_lengths(model, ours)
    worst = np.zeros((len(model.muscles), 2))
    for k, muscle in enumerate(model.muscles):
        theirs = peer.getMuscles().get(muscle.name)
        worst[k, 0] = abs(theirs.getLength(state) - found.lengths[k])
        for name, coordinate in read.coordinates.items():
            arm = found.moment_arms[k, model.coordinate_names.index(coordinate.coordinate)]
            if arm != 0.0:
                miss = abs(theirs.computeMomentArm(state, peer.getCoordinateSet().get(name)) - arm)
                worst[k, 1] = max(worst[k, 1], miss)
    return worst


@pytest.mark.parametrize(
    "file", ["leg6dof9musc.osim", "gait10dof18musc_subject01.osim", "gait2392_thelen2003muscle.osim"]
)
def test_points_fixed_moving_and_conditional(file: str) -> None:
    peer, state, read, model = opened(file)
    assert [muscle.name for muscle in model.muscles] == [m.getName() for m in peer.getMuscles()]
    rng = np.random.default_rng(0)
    for share in [*np.linspace(0.02, 0.98, POSES), *np.full(POSES, -1.0)]:
        ours = placed_at(peer, state, read, model, rng, share)
        worst = compare(peer, state, read, model, ours)
        assert worst[:, 0].max() < LENGTH and worst[:, 1].max() < ARM
