"""Models of others, in the folder that CONDYLE_OPENSIM_MODELS names: what OpenSim loads is read, and moves as there.

A list of public ones, and how to report: docs/file-formats.md.
"""

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import physics as ph
from physics.bodies.body import point_inertia

FOLDER = os.environ.get("CONDYLE_OPENSIM_MODELS", "")
FILES = sorted(Path(FOLDER).rglob("*.osim")) if FOLDER else []
POSE = 1e-9  # m: round-off of chains of some twenty joints, and of splines with knots 1e-4 apart
# of the largest entry: likewise, and bodies without inertia, which are points of radius 1e-5 m here
MASS = 1e-8
TRACE = 1e-8  # kg m^2: of bodies without mass, which get 1e-9 kg
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.\d+(?:[eE][-+]?\d+)?(?![\w.])")
LISTED, REFUSED = 451, 1  # files of the list of public models, and those of them that need not be read
MENDED = 1e-12  # of the largest entry: round-off of sums of inertias
LENGTH = 1e-9  # m: round-off of paths without surfaces, at poses that OpenSim's assembly realizes
NO_JOINT = "free_"  # begins OpenSim's names of the coordinates of bodies without a joint

pytestmark = pytest.mark.skipif(not FOLDER, reason="CONDYLE_OPENSIM_MODELS names no folder of models")
files = pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(FOLDER)) for path in FILES])


def loaded(path: Path, folder: Path) -> tuple[Any, Any, Path]:
    """OpenSim's model and state, and the file that both read.

    OpenSim rounds offsets and splines of versions before 4 to six digits, so that a copy has its numbers rounded.
    """
    opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")
    from tests.verification.peers import quiet_opensim

    quiet_opensim()
    text = path.read_bytes().decode("latin-1")
    version = re.search(r'Version="(\d+)"', text)
    if version and int(version[1]) < 40000:
        copy = folder / path.name
        copy.write_text(NUMBER.sub(lambda found: f"{float(found[0]):.6g}", text), "latin-1")
        path = copy
    try:
        peer = opensim.Model(str(path))
        return peer, peer.initSystem(), path
    except RuntimeError as error:
        pytest.skip(f"OpenSim does not load it: {str(error)[:100]}")


@files
@pytest.mark.peers
def test_it_is_read_and_moves_as_in_opensim(path: Path, tmp_path: Path) -> None:
    peer, state, path = loaded(path, tmp_path)
    from tests.verification.peers.opensim_model import pose_of

    read = ph.read_opensim(path, limits=False, muscles=False, allow_welds=True)
    if not read.builder.bodies or welded(read):
        return  # a file of geometry and welded bodies without mass, which builds no model
    model = read.build()
    if model.constraints and peer.getJointSet().getSize() > peer.getBodySet().getSize():
        pytest.skip("a ring of joints, which OpenSim opens elsewhere")
    state = with_our_inertias(peer, read, model)
    ours, theirs = places(peer, state, read, model)
    rods = any(body.joint.type == "constant_curvature" for body in model.bodies)
    reach = 0.5 if rods else 1.0  # OpenSim's rods bend by a quarter turn at most
    rng = np.random.default_rng(0)
    for _ in range(3):
        q = np.zeros(model.num_coordinates)
        q[ours] = rng.uniform(-reach, reach, len(ours))
        for slot, value in zip(theirs, q[ours]):
            state.updQ().set(slot, float(value))
        peer.realizePosition(state)
        placed = model.state(q=q)
        poses = dict(zip(model.body_names, ph.body_poses(model, placed)))
        for body in peer.getBodySet():
            place = read.frames[f"/bodyset/{body.getName()}"]
            pose = place.pose if place.body is None else poses[place.body] @ place.pose
            assert np.abs(pose - pose_of(body.getTransformInGround(state))).max() < POSE, body.getName()
        if rods:
            continue  # its velocities contradict their poses, see `peers.test_opensim`
        matrix = ph.mass_matrix(model, placed)[np.ix_(ours, ours)]
        expected = mass_matrix(peer, state, theirs)
        allowed = MASS * np.abs(expected).max(initial=0.0) + TRACE
        assert np.abs(matrix - expected).max(initial=0.0) < allowed


@files
@pytest.mark.peers
def test_paths_without_surfaces_are_as_long(path: Path, tmp_path: Path) -> None:
    peer, state, path = loaded(path, tmp_path)
    read = ph.read_opensim(path, limits=False, allow_welds=True)
    straight = {name for name, muscle in read.muscles.items() if not muscle.wraps}
    if not straight or welded(read):
        return
    model = read.build()
    ours, theirs = places(peer, type(state)(state), read, model)  # of a copy: it unlocks
    peer.realizePosition(state)
    q = model.state().q.copy()
    q[ours] = state.getQ().to_numpy()[theirs]
    lengths = dict(
        zip((each.name for each in model.muscles), ph.muscle_lengths(model, model.state(q=q)).lengths)
    )
    for muscle in peer.getMuscles():
        if muscle.getName() in straight & set(lengths):
            assert lengths[muscle.getName()] == pytest.approx(muscle.getLength(state), abs=LENGTH)


@files
@pytest.mark.peers
def test_paths_over_one_cylinder_or_sphere_are_as_long(path: Path) -> None:
    """Within 1e-6 of the shortest one on OpenSim's stretch and way, but where it depends on the order of the ends."""
    pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")
    from tests.verification.peers.jumps import Sweep
    from tests.verification.peers.wrapped_lengths import EXACT, OVER, compare

    if OVER.search(path.read_bytes()):
        over_one = [each for each in compare(Sweep(path), 3) if each.kind in EXACT]
        assert not [each for each in over_one if not each.same and not each.cause]


@pytest.mark.skipif(len(FILES) < LISTED, reason="the folder has fewer files than the list of public models")
def test_as_many_are_read() -> None:
    refused = []
    for path in FILES:
        try:
            ph.read_opensim(path, muscles=False, allow_welds=True)
        except ph.FormatError as error:
            refused.append(str(error))
    assert len(refused) <= REFUSED, refused


def welded(read: ph.OpenSimModel) -> bool:
    """Whether a joint became a weld, so that bodies move otherwise than in OpenSim."""
    return any("becomes a weld" in warning for warning in read.warnings)


def with_our_inertias(peer: Any, read: ph.OpenSimModel, model: ph.Model) -> Any:
    """OpenSim's state after impossible inertias, which it does not mend, became ours; others are equal."""
    import opensim

    for body in model.bodies:
        parts = []  # merged bodies: the mass, its centre and the inertia about it, in the body's frame
        for each in peer.getBodySet():
            place = read.frames[f"/bodyset/{each.getName()}"]
            if place.body == body.name and each.getMass() > 0.0:
                turn, com = place.pose[:3, :3], each.getMassCenter().to_numpy()
                inertia = turn @ symmetric([each.get_inertia().get(k) for k in range(6)]) @ turn.T
                parts.append((each.getMass(), place.place(com), inertia))
        if not parts or not peer.getBodySet().contains(body.name):
            continue
        mass = sum(each for each, _, _ in parts)
        com = sum(each * where for each, where, _ in parts) / mass
        theirs = sum(inertia + point_inertia(each, where - com) for each, where, inertia in parts)
        off = body.inertia - theirs
        if np.abs(off).max() > MENDED * np.abs(body.inertia).max():
            own = peer.getBodySet().get(body.name)
            entries = symmetric([own.get_inertia().get(k) for k in range(6)]) + off
            own.set_inertia(opensim.Vec6(*entries[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist()))
    return peer.initSystem()


def symmetric(entries: list[float]) -> np.ndarray:
    """Inertia (3, 3) of OpenSim's six numbers."""
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def places(peer: Any, state: Any, read: ph.OpenSimModel, model: ph.Model) -> tuple[list[int], list[int]]:
    """Our indices of the coordinates, and the slots of OpenSim's q, in the order of these."""
    found = {}
    coordinates = peer.getCoordinateSet()
    for k in range(coordinates.getSize()):
        coordinate = coordinates.get(k)
        joint, name = coordinate.getAbsolutePathString().split("/")[-2:]
        key = f"{joint}/{name}" if f"{joint}/{name}" in read.coordinates else name
        if key not in read.coordinates:
            assert name.startswith(NO_JOINT) or any(repr(name) in told for told in read.warnings), name
            continue
        coordinate.setLocked(state, False)
        coordinate.setIsPrescribed(state, False)
        before = state.getQ().to_numpy().copy()
        value = coordinate.getValue(state)
        coordinate.setValue(state, value + 0.5, False)
        slot = int(np.argmax(np.abs(state.getQ().to_numpy() - before)))
        coordinate.setValue(state, value, False)
        found[slot] = model.coordinate_names.index(read.coordinates[key].coordinate)
    slots = sorted(found)
    return [found[slot] for slot in slots], slots


def mass_matrix(peer: Any, state: Any, slots: list[int]) -> np.ndarray:
    """OpenSim's mass matrix by the rates of its coordinates; speeds of balls and ellipsoids are angular."""
    import opensim

    matrix = opensim.Matrix()
    peer.getMatterSubsystem().calcM(state, matrix)
    count = state.getNU()
    speeds = np.array([[matrix.get(i, j) for j in range(count)] for i in range(count)]).reshape(count, count)
    rates = np.zeros((state.getNQ(), count))
    for k in range(count):
        for j in range(count):
            state.updU().set(j, float(j == k))
        peer.realizeVelocity(state)
        rates[:, k] = state.getQDot().to_numpy()
    across = np.linalg.pinv(rates[slots])
    return across.T @ speeds @ across
