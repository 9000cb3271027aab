"""Models written for OpenSim against OpenSim's reading of them: poses, muscle lengths (Delp et al. 2007)."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

opensim = pytest.importorskip("opensim", reason="OpenSim is only in the environment of the peers")

import physics as ph  # noqa: E402  (after the check that there is something to compare with)
from physics.io.opensim_out import angles  # noqa: E402
from tests.physics.generators import joint_makers, random_inertia, random_pose  # noqa: E402

from . import quiet_opensim  # noqa: E402
from .opensim_model import pose_of  # noqa: E402

pytestmark = pytest.mark.peers

POSE = 1e-9  # m: round-off of chains, angles and splines
LENGTH = 1e-6  # m: OpenSim's wraps end their search there
BALLS = ("spherical", "euler", "roll_pitch_yaw", "free")  # with a rotation vector here, three angles there
EXACT = (
    *("hinge", "slider", "fixed", "universal", "cylindrical", "planar", "translational", "roll_pitch_yaw"),
    *("spherical", "free", "scapulothoracic", "roll_pitch", "planar_translation", "reversed_hinge", "euler"),
)


def opened(model: ph.Model, folder: Path, tolerance: float) -> tuple[Any, Any, ph.OpenSimReport]:
    """OpenSim's model and state of a model that was written, and the report."""
    quiet_opensim()
    report = ph.write_opensim(model, folder / "written.osim", tolerance=tolerance)
    peer = opensim.Model(str(folder / "written.osim"))
    return peer, peer.initSystem(), report


def placed(peer: Any, state: Any, model: ph.Model, report: ph.OpenSimReport, q: np.ndarray) -> None:
    """Set OpenSim's coordinates; those of ball and free joints are angles."""
    coordinates = peer.getCoordinateSet()
    for name, value in zip(model.coordinate_names, q):
        if name in report.coordinates:
            coordinates.get(report.coordinates[name]).setLocked(state, False)
            coordinates.get(report.coordinates[name]).setValue(state, float(value), False)
    for body in model.bodies:
        if body.joint.type in BALLS:
            own = q[model.coordinate_slice(body.name)]
            pose = body.joint.transform(own)
            if getattr(body.joint, "rotation_first", body.joint.type == "roll_pitch_yaw"):
                pose = ph.lie.inverse(pose)
            joint = peer.getJointSet().get(f"{report.bodies[body.name]}_joint")
            numbers = [*angles(pose[:3, :3]), *pose[:3, 3]]
            for k in range(len(own)):
                joint.get_coordinates(k).setValue(state, float(numbers[k]), False)
    peer.realizePosition(state)


def apart(peer: Any, state: Any, model: ph.Model, report: ph.OpenSimReport, q: np.ndarray) -> float:
    """The largest difference of the bodies' poses."""
    placed(peer, state, model, report, q)
    poses = ph.body_poses(model, model.state(q=q))
    theirs = [peer.getBodySet().get(report.bodies[name]) for name in model.body_names]
    return max(
        np.abs(pose_of(body.getTransformInGround(state)) - pose).max() for body, pose in zip(theirs, poses)
    )


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", EXACT)
def test_joints(kind: str, turned: bool, tmp_path: Path) -> None:
    """Each between two bodies, either way round."""
    rng = np.random.default_rng(3)
    builder = ph.ModelBuilder()
    joint = joint_makers(rng)[kind]()
    if turned and kind in (*BALLS, "scapulothoracic"):
        pytest.skip("its coordinates are no angles, or OpenSim cannot turn it round")
    made = ph.joints.Inverted(joint) if turned else joint
    solid = {"mass": 1.0, "inertia": random_inertia(rng, 1.0)}
    builder.add_body("base", joint=ph.joints.Hinge(rng.normal(size=3)), **solid)
    places = {"joint_in_parent": random_pose(rng), "body_in_joint": random_pose(rng, 0.3)}
    builder.add_body("a b", "base", joint=made, **places, **solid)
    model = builder.build()
    peer, state, report = opened(model, tmp_path, 1e-9)
    assert not report.errors
    for _ in range(5):
        q = model.state(q=rng.uniform(-0.8, 0.8, model.num_coordinates)).q
        assert apart(peer, state, model, report, q) < POSE


@pytest.mark.parametrize("kind", ["spline_curve", "elliptic", "helical", "custom"])
def test_joints_as_splines(kind: str, tmp_path: Path) -> None:
    """Within the tolerance, and the error that is stated."""
    rng = np.random.default_rng(5)
    builder = ph.ModelBuilder()
    joint = joint_makers(rng)[kind]()
    limits = np.tile([-0.8, 0.8], (joint.num_coordinates, 1))
    for d, inner in enumerate(joint.range.reshape(-1, 2)):
        limits[d] = np.where(np.isfinite(inner), inner, limits[d])
    solid = {"mass": 1.0, "inertia": random_inertia(rng, 1.0)}
    builder.add_body("a", joint=joint, joint_in_parent=random_pose(rng), limits=limits, **solid)
    model = builder.build()
    peer, state, report = opened(model, tmp_path, 1e-5)
    error = report.errors["a"]
    assert 0.0 < error <= 1e-5 and report.notes
    for _ in range(20):
        assert apart(peer, state, model, report, rng.uniform(*limits.T)) < error + POSE


MODELS = Path(__file__).resolve().parents[4] / "shared" / "models"
FILES: dict[
    str, tuple[str, ...]
] = {  # with muscles that wrap over two objects in turn, whose order OpenSim takes from
    "arm26.osim": (),  # the ranges of the original file
    "leg6dof9musc.osim": (),
    "gait10dof18musc_subject01.osim": (),
    "gait2392_thelen2003muscle.osim": (),
    "more/subject_walk_scaled.osim": ("gaslat_r", "gaslat_l"),
    "more/ThoracoscapularShoulderModel.osim": ("SerratusAnterior_I",),
}


def length(peer: Any, state: Any, name: str) -> float:
    force = peer.getForceSet().get(name)
    return float(opensim.PathActuator.safeDownCast(force).getGeometryPath().getLength(state))


@pytest.mark.parametrize("file", FILES)
def test_models_that_were_read_are_written_back(file: str, tmp_path: Path) -> None:
    """OpenSim's poses and muscle lengths are those of the file that was read."""
    path = MODELS / file
    if not path.exists():
        pytest.skip(f"the model {file} is not beside this checkout")
    read = ph.read_opensim(path, limits=False)
    model = read.build()
    peer, state, report = opened(model, tmp_path, 1e-9)
    assert not report.errors
    first = opensim.Model(str(path))
    system = first.initSystem()
    rng = np.random.default_rng(1)
    for _ in range(3):
        q = read.state(model).q + rng.uniform(-0.2, 0.2, model.num_coordinates) * ~model.prescribed
        for coordinate in read.coordinates.values():  # beyond the ranges OpenSim's moving points do not move
            index = model.coordinate_index(coordinate.coordinate)
            q[index] = np.clip(q[index], *coordinate.range)
        assert apart(peer, state, model, report, q) < POSE
        for name, coordinate in read.coordinates.items():
            theirs = first.getCoordinateSet().get(name)
            theirs.setLocked(system, False)
            theirs.setValue(system, float(q[model.coordinate_index(coordinate.coordinate)]), False)
        first.realizePosition(system)
        for muscle in model.muscles:
            found = length(peer, state, report.muscles[muscle.name])
            if muscle.name not in FILES[file]:
                assert abs(found - length(first, system, muscle.name)) < LENGTH, muscle.name


def stripped(model: ph.Model) -> ph.Model:
    """Without what OpenSim's format cannot hold: mass along paths, contact, ground, springs on rotation vectors."""
    described = model.to_dict()
    for kind in ("forces", "controllers", "contacts"):
        described.pop(kind, None)
    for body in described["bodies"]:
        if body["joint"]["type"] in BALLS:
            body |= {"stiffness": 0.0, "damping": 0.0, "limits": None}
        body["armature"] = 0.0
    for muscle in described.get("muscles", ()):
        muscle.pop("masses", None)
        for item in muscle["path"]:
            for obstacle in item.get("obstacles", ()):
                if obstacle["type"] == "sphere_capped_cylinder":
                    obstacle["type"] = "cylinder"
                if isinstance(obstacle["side"], str) and "clockwise" in obstacle["side"]:
                    obstacle["side"] = "shorter"
            if "obstacles" in item:
                item["smoothing"] = 0.0
    return ph.ModelBuilder.from_dict(described).build()


def demo(name: str) -> ph.Model:
    from blender_scenes import arm_model, driven_knee_model, finger_model, hand_model

    made = {
        "arm": lambda: arm_model.build_model(),
        "finger": lambda: finger_model.build_model(True),
        "driven knee": lambda: driven_knee_model.build_model("Spline"),
        "hand": lambda: hand_model.build_model(),
    }
    return stripped(made[name]())


TWICE = {  # muscles over two surfaces in turn, between which OpenSim divides the path by iterations
    "arm": ("deltoid posterior",),
    "driven knee": ("rectus femoris",),
}


@pytest.mark.parametrize("name", ["arm", "driven knee", "finger", "hand"])
def test_demo_models(name: str, tmp_path: Path) -> None:
    """Exact joints to round-off, fitted ones and the muscles that they move within the error that is stated."""
    model = demo(name)
    peer, state, report = opened(model, tmp_path, 1e-4)
    error = max(report.errors.values(), default=0.0)
    assert error <= 1e-4
    q = model.state().q
    for k in range(3):
        assert (
            apart(peer, state, model, report, q + 0.1 * k) < POSE + 1.5 * error
        )  # on levers of at most half a metre
        lengths = ph.muscle_lengths(model, model.state(q=q + 0.1 * k)).lengths
        for muscle, ours in zip(model.muscles, lengths):
            difference = abs(length(peer, state, report.muscles[muscle.name]) - ours)
            assert muscle.name in TWICE.get(name, ()) or difference < LENGTH + 1.5 * error, muscle.name
