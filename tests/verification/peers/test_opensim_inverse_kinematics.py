"""Markers of a recorded walk, with a locked coordinate and a coupler, against OpenSim's inverse kinematics."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from .. import walk  # noqa: E402
from .test_opensim_models import opened, order  # noqa: E402

pytestmark = pytest.mark.peers

LOCKED, VALUE = "ankle_angle_l", 0.1
COUPLED, DRIVER, RATIO = "ankle_angle_r", "knee_angle_r", -0.3
MARKERS = 3  # on each body
ANGLE = 1e-3  # rad and m: what a report of joint angles resolves
EVERY = 10  # frames


def constrained(path: Path) -> Any:
    """The subject as a file with a locked coordinate, a coupler and markers, and its own reading of it."""
    peer, _, read, plain = opened(walk.SUBJECT.name, muscles=False)
    rng = np.random.default_rng(0)
    for k in range(peer.getBodySet().getSize()):
        body = peer.getBodySet().get(k)
        for number in range(MARKERS):
            place = opensim.Vec3(*rng.uniform(-0.1, 0.1, 3))
            peer.addMarker(opensim.Marker(f"{body.getName()}_{number}", body, place))
    peer.updForceSet().clearAndDestroy()
    peer.updCoordinateSet().get(LOCKED).set_locked(True)
    peer.updCoordinateSet().get(LOCKED).set_default_value(VALUE)
    coupler = opensim.CoordinateCouplerConstraint()
    coupler.setName("follows")
    names = opensim.ArrayStr()
    names.append(DRIVER)
    coupler.setIndependentCoordinateNames(names)
    coupler.setDependentCoordinateName(COUPLED)
    coupler.setFunction(opensim.LinearFunction(RATIO, 0.0))
    peer.addConstraint(coupler)
    peer.finalizeConnections()
    peer.printToXML(str(path))
    return plain, read


def test_walk_with_lock_and_coupler(tmp_path: Path) -> None:
    """The walk does not obey them: both spread what is left over the other coordinates, by the same weights."""
    file = tmp_path / "constrained.osim"
    plain, source = constrained(file)
    times, q = ph.motion_samples(source, plain, ph.read_storage(walk.beside(walk.WALK)))
    read = ph.read_opensim(file, limits=False)
    model = read.build()
    peer = opensim.Model(str(file))
    state = peer.initSystem()
    markers = [m for m in read.markers if m.name.rsplit("_", 1)[-1] in "012" and m.body is not None]
    weights = {m.name: 1.0 + k % 3 for k, m in enumerate(markers)}
    lost = markers[5].name  # missing in every second frame
    goals = []
    for k, row in enumerate(q[::EVERY]):
        poses = dict(zip(plain.body_names, ph.body_poses(plain, plain.state(row))))
        goals.append([poses[m.body][:3, :3] @ m.location + poses[m.body][:3, 3] for m in markers])
        if k % 2:
            goals[-1][5] = np.full(3, np.nan)
    assert lost in weights

    table = opensim.TimeSeriesTableVec3()
    table.setColumnLabels([m.name for m in markers])
    for time, frame in zip(times[::EVERY], goals):
        table.appendRow(float(time), opensim.RowVectorVec3([opensim.Vec3(*place) for place in frame]))
    asked = opensim.SetMarkerWeights()
    for name, weight in weights.items():
        asked.cloneAndAppend(opensim.MarkerWeight(name, weight))
    reference = opensim.MarkersReference(table, asked)
    solver = opensim.InverseKinematicsSolver(
        peer, reference, opensim.SimTKArrayCoordinateReference(), float("inf")
    )
    solver.setAccuracy(1e-10)
    ours = order(peer, peer.initSystem(), read, model)
    state = peer.initSystem()

    # OpenSim's weights multiply the squares
    targets = [
        ph.Target(m.body, (0, 0, 0), at=m.location, position_weight=np.sqrt(weights[m.name])) for m in markers
    ]
    search = ph.InverseKinematics(model, targets)
    found = read.state(model)
    off, apart = 0.0, 0.0
    for k, (time, frame) in enumerate(zip(times[::EVERY], goals)):
        state.setTime(float(time))
        (solver.track if k else solver.assemble)(state)
        for number, place in enumerate(frame):
            search.set_goal(number, place)
        solution = search.solve(found)
        found = solution.state
        assert solution.converged
        off = max(off, np.abs(found.q[ours] - state.getQ().to_numpy()).max())
        apart = max(apart, np.abs(found.q - q[EVERY * k]).max())

        def value(name: str, q: Any = found.q) -> float:
            return float(q[model.coordinate_names.index(read.coordinates[name].coordinate)])

        assert value(LOCKED) == VALUE
        assert abs(value(COUPLED) - RATIO * value(DRIVER)) < 1e-9
    assert off < ANGLE
    assert apart > 0.1  # the lock and the coupler change the pose
