"""Lengths and moment arms along random motions: where ours jump, so do OpenSim's, but for a few that are counted.

With CONDYLE_OPENSIM_MODELS, the models in that folder follow, of which one muscle of a hundred may jump by itself.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)
from physics.io.opensim_parts import follow_drivers  # noqa: E402

from . import quiet_opensim  # noqa: E402
from .test_opensim_models import MODELS  # noqa: E402

pytestmark = [pytest.mark.peers, pytest.mark.slow]

FOLDER = os.environ.get("CONDYLE_OPENSIM_MODELS", "")
# jumps of ours alone: ends of cylinders and sides of ellipsoids, see docs/known-limits.md; they may only become fewer
ALONE = {
    "arm26.osim": 1,
    "more/subject_walk_scaled.osim": 0,
    "more/ThoracoscapularShoulderModel.osim": 3,
}
FILES = [MODELS / name for name in ALONE] + (sorted(Path(FOLDER).rglob("*.osim")) if FOLDER else [])
POSES = 50
ARM, LENGTH = 2e-3, 2e-5  # a jump of a slope and of a length [m], far above what both change over
SHORT = 2e-6  # [rad]
WIDE = 2e-3  # [rad] over which OpenSim's lengths are looked at, as its paths end at tolerances


class Motion:
    """Our lengths and slopes from one random pose to the next, by the farthest coordinate's way."""

    def __init__(self, model: ph.Model, start: np.ndarray, stop: np.ndarray) -> None:
        self.model, self.start, self.step = model, start, stop - start
        self.way = float(np.abs(self.step).max()) or 1.0
        self.state = model.state()

    def q(self, s: float) -> np.ndarray:
        q = (self.start + s / self.way * self.step)[None]
        follow_drivers(self.model, q, np.zeros_like(q))
        return q[0]

    def at(self, s: float) -> np.ndarray:
        found = ph.muscle_lengths(self.model, replace(self.state, q=self.q(s)))
        rate = (self.q(s + 1e-6) - self.q(s)) / 1e-6
        return np.array([found.lengths, found.moment_arms @ rate])

    def jumps(
        self, u: float, v: float, x: np.ndarray, y: np.ndarray, of: np.ndarray
    ) -> list[tuple[int, float]]:
        """Muscles among `of` that jump between u and v, and where."""
        slope = np.abs(y[1] - x[1]) > ARM
        length = np.abs(y[0] - x[0] - 0.5 * (v - u) * (x[1] + y[1])) > LENGTH
        of = of & (slope | length)
        if not of.any() or v - u < SHORT:
            return [(int(k), u) for k in np.flatnonzero(of)]
        middle = 0.5 * (u + v)
        z = self.at(middle)
        return self.jumps(u, middle, x, z, of) + self.jumps(middle, v, z, y, of)


def ranges(read: ph.OpenSimModel, model: ph.Model) -> np.ndarray:
    """Least and largest coordinates (2, nv); those that are held stay."""
    found = np.tile(read.state(model).q, (2, 1))
    for coordinate in read.coordinates.values():
        k = model.coordinate_index(coordinate.coordinate)
        if not (coordinate.locked or model.prescribed[k]):
            found[:, k] = np.clip(coordinate.range, -np.pi, np.pi)
    return found


def their_length(
    peer: Any, state: Any, read: ph.OpenSimModel, model: ph.Model, name: str, q: np.ndarray
) -> float:
    for key, coordinate in read.coordinates.items():
        theirs = peer.getCoordinateSet().get(key.split("/")[-1])
        theirs.setLocked(state, False)
        theirs.setValue(state, float(q[model.coordinate_index(coordinate.coordinate)]), False)
    peer.realizePosition(state)
    return float(
        opensim.PathActuator.safeDownCast(peer.getForceSet().get(name)).getGeometryPath().getLength(state)
    )


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_where_ours_jump(path: Path, record_property: Any) -> None:
    if not path.exists():
        pytest.skip(f"the model {path.name} is not beside this checkout")
    quiet_opensim()
    try:
        peer = opensim.Model(str(path))
        state = peer.initSystem()
    except RuntimeError as error:
        pytest.skip(f"OpenSim does not load it: {str(error)[:100]}")
    read = ph.read_opensim(path, limits=False, smoothing=0.0)
    model = read.build()
    # conditional points jump in both
    steady = [bool(m.strands) and not any(point.condition for point in m.points) for m in model.muscles]
    rng, alone, together = np.random.default_rng(0), [], 0
    knots = rng.uniform(*ranges(read, model), (2, model.num_coordinates))
    motion = Motion(model, *knots)
    places = np.linspace(0.0, motion.way, POSES + 1)
    values = [motion.at(s) for s in places]
    events: dict[tuple[int, int], float] = {}
    for k in range(POSES):
        for muscle, s in motion.jumps(*places[k : k + 2], *values[k : k + 2], np.array(steady)):
            events.setdefault((muscle, round(s / WIDE)), s)
    for (muscle, _), s in events.items():
        name = model.muscles[muscle].name
        around = [s - WIDE, s, s + SHORT, s + WIDE]
        a, b, c, d = (their_length(peer, state, read, model, name, motion.q(each)) for each in around)
        smooth = abs(c - b) < 5e-5 and abs((d - c) - (b - a)) < 1e-2 * WIDE
        together += not smooth
        alone += [name] if smooth else []
    record_property("jumps", f"{len(alone)} of ours alone {alone}, {together} of both, {sum(steady)} muscles")
    known = {MODELS / file: count for file, count in ALONE.items()}
    assert len(alone) <= known.get(path, 0.01 * sum(steady) * POSES), alone
