"""Models read from files against OpenSim's reading of them: poses, mass matrices, names (Delp et al. 2007)."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)

from . import quiet_opensim  # noqa: E402
from .opensim_model import pose_of  # noqa: E402

pytestmark = pytest.mark.peers

MODELS = Path(__file__).resolve().parents[4] / "shared" / "models"
FILES = (
    "arm26.osim",
    "leg6dof9musc.osim",
    "gait10dof18musc_subject01.osim",
    "gait2392_thelen2003muscle.osim",
)
POSE = 1e-12  # round-off of sines and products of lengths near 1 m
MASS = 1e-9  # of the largest entry; round-off of some hundred products
MOTIONS = {
    opensim.Coordinate.Rotational: "rotational",
    opensim.Coordinate.Translational: "translational",
    opensim.Coordinate.Coupled: "coupled",
}


def opened(
    file: str, smoothing: float | None = None, muscles: bool = True
) -> tuple[Any, Any, ph.OpenSimModel, ph.Model]:
    """OpenSim's model and state, and our model, of the same file."""
    path = MODELS / file
    if not path.exists():
        pytest.skip(f"the model {file} is not beside this checkout")
    quiet_opensim()
    peer = opensim.Model(str(path))
    state = peer.initSystem()
    read = ph.read_opensim(path, limits=False, smoothing=smoothing, muscles=muscles)
    return peer, state, read, read.build()


def coordinates_of(peer: Any, state: Any) -> list[Any]:
    """OpenSim's coordinates in the order of its speeds, each identified by the speed that it changes."""
    held = peer.getCoordinateSet()
    places = {}
    for k in range(held.getSize()):
        coordinate = held.get(k)
        coordinate.setLocked(state, False)
        before = coordinate.getValue(state)
        coordinate.setValue(state, before + 0.5, False)
        moved = state.getQ().to_numpy().copy()
        coordinate.setValue(state, before, False)
        places[int(np.argmax(np.abs(moved - state.getQ().to_numpy())))] = coordinate
    return [places[k] for k in range(len(places))]


def order(peer: Any, state: Any, read: ph.OpenSimModel, model: ph.Model) -> list[int]:
    """For each of OpenSim's coordinates, in the order of its speeds, its index in our model."""
    names = [coordinate.getName() for coordinate in coordinates_of(peer, state)]
    return [model.coordinate_names.index(read.coordinates[name].coordinate) for name in names]


def set_values(peer: Any, state: Any, q: np.ndarray) -> None:
    """Set OpenSim's coordinates, in the order of its speeds."""
    for k, value in enumerate(q):
        state.updQ().set(k, float(value))
    peer.realizePosition(state)


@pytest.mark.parametrize("file", FILES)
def test_poses_and_mass(file: str) -> None:
    peer, state, read, model = opened(file)
    ours = order(peer, state, read, model)
    frames = read.frames
    rng = np.random.default_rng(0)
    matter = peer.getMatterSubsystem()
    for _ in range(10):
        q = rng.uniform(-1.2, 1.2, len(ours))
        set_values(peer, state, q)
        mine = np.empty(len(ours))
        mine[ours] = q
        placed = model.state(q=mine)
        poses = dict(zip(model.body_names, ph.body_poses(model, placed)))
        for k in range(peer.getBodySet().getSize()):
            body = peer.getBodySet().get(k)
            place = frames[f"/bodyset/{body.getName()}"]
            pose = place.pose if place.body is None else poses[place.body] @ place.pose
            assert np.abs(pose - pose_of(body.getTransformInGround(state))).max() < POSE
        matrix = opensim.Matrix()
        matter.calcM(state, matrix)
        theirs = np.array([[matrix.get(i, j) for j in range(len(ours))] for i in range(len(ours))])
        mass = ph.mass_matrix(model, placed)[np.ix_(ours, ours)]
        assert np.abs(mass - theirs).max() < MASS * np.abs(theirs).max()


@pytest.mark.parametrize("file", FILES)
def test_coordinates(file: str) -> None:
    peer, state, read, model = opened(file)
    default = read.state(model)
    for name, coordinate in read.coordinates.items():
        theirs = peer.getCoordinateSet().get(name)
        assert coordinate.range == (theirs.getRangeMin(), theirs.getRangeMax())
        assert coordinate.clamped == theirs.get_clamped() and coordinate.locked == theirs.get_locked()
        assert coordinate.default == theirs.get_default_value()
        assert coordinate.motion == MOTIONS[theirs.getMotionType()]
        value = default.q[model.coordinate_names.index(coordinate.coordinate)]
        # for coupled coordinates OpenSim's assembly satisfies the constraint to about 1e-9
        assert value == pytest.approx(theirs.getValue(state), abs=1e-6)
    assert set(read.coordinates) == {c.getName() for c in coordinates_of(peer, state)}
    assert set(read.muscles) == {m.getName() for m in peer.getMuscles()}
    assert np.array_equal(model.gravity, [peer.getGravity().get(k) for k in range(3)])


@pytest.mark.parametrize("file", FILES)
def test_markers(file: str) -> None:
    peer, state, read, model = opened(file)
    placed = read.state(model)
    poses = dict(zip(model.body_names, ph.body_poses(model, placed)))
    set_values(peer, state, placed.q[order(peer, state, read, model)])
    assert len(read.markers) == peer.getMarkerSet().getSize()
    for k, marker in enumerate(read.markers):
        theirs = peer.getMarkerSet().get(k).getLocationInGround(state)
        pose = np.eye(4) if marker.body is None else poses[marker.body]
        place = pose[:3, :3] @ marker.location + pose[:3, 3]
        assert np.abs(place - [theirs.get(i) for i in range(3)]).max() < POSE


def test_walk_inverse_dynamics() -> None:
    """The recorded walk, from files only, against OpenSim at the same coordinates, speeds and accelerations."""
    peer, state, read, model = opened("gait10dof18musc_subject01.osim", muscles=False)
    motion = MODELS / "subject01_walk_IK.mot"
    times, q = ph.motion_samples(read, model, ph.read_storage(motion))
    samples = ph.inverse_dynamics_of_samples(model, times, q)
    solver = opensim.InverseDynamicsSolver(peer)
    ours = order(peer, state, read, model)
    for muscle in peer.getMuscles():
        muscle.set_appliesForce(False)
    state = peer.initSystem()
    peak = np.abs(samples.tau).max(axis=0)
    for k in range(0, len(times), 10):
        set_values(peer, state, samples.q[k][ours])
        for i, rate in enumerate(samples.qd[k][ours]):
            state.updU().set(i, float(rate))
        wanted = opensim.Vector(len(ours), 0.0)
        for i, acceleration in enumerate(samples.qdd[k][ours]):
            wanted.set(i, float(acceleration))
        theirs = solver.solve(state, wanted)
        found = np.array([theirs.get(i) for i in range(len(ours))])
        assert (np.abs(found - samples.tau[k][ours]) < 1e-9 * peak[ours]).all()


def test_nothing_is_left_in_the_folder_that_is_worked_in(tmp_path: Path) -> None:
    """OpenSim also writes its output to opensim.log, at any log level."""
    said = (
        "import sys; sys.path.insert(0, sys.argv[1]); from tests.verification.peers import quiet_opensim; "
        "quiet_opensim(); import opensim; model = opensim.Model(); model.initSystem(); model.printBasicInfo()"
    )
    root = str(Path(__file__).resolve().parents[3])
    done = subprocess.run([sys.executable, "-c", said, root], cwd=tmp_path, capture_output=True, text=True)
    assert "MODEL" in done.stdout and list(tmp_path.iterdir()) == []
