"""OpenSim models of versions before 4: their layout in the words of version 4, and OpenSim 4.6's values."""

import numpy as np
import pytest

import physics as ph
from tests.physics.io.osim import GROUND, MUSCLE_19, body, joint, old_document, write

# OpenSim 4.6 (Body.getTransformInGround, SimbodyMatterSubsystem.calcM) for the file that the test writes, at shoulder
# 0.4 rad and elbow -0.7 rad: place of the hand, its z axis, upper triangle of the mass matrix; elbow as it is, reversed
PEER = {
    "false": [
        0.277014612753,
        0.639770500291,
        -0.115799011169,
        -0.270483938221,
        -0.395487080954,
        0.877740512887,
    ]
    + [0.371708411307, 0.010823405769, 0.016890561253],
    "true": [0.344080404729, 0.639021367627, -0.123677431966, 0.148764362054, -0.641190418691, 0.752824024299]
    + [0.405650245813, -0.040188125472, 0.008900424787],
}


@pytest.fixture
def old(tmp_path):
    def write(version=30000, rest="", **changes):
        path = tmp_path / "old.osim"
        path.write_text(old_document(version, rest, **changes))
        return path

    return write


@pytest.mark.parametrize(
    ("version", "reverse"), [(10901, "false"), (20303, "false"), (30000, "false"), (30000, "true")]
)
def test_joints_inside_bodies(old, version, reverse):
    read = ph.read_opensim(old(version, reverse=reverse))
    model = read.build()
    assert model.body_names == ("upper", "hand") and list(read.coordinates) == ["shoulder", "elbow"]
    assert not read.warnings and read.geometry[0].file == "arm.vtp"
    assert read.geometry[0].scale.tolist() == [2.0, 1.0, 1.0]
    state = read.state(model, {"shoulder": 0.4, "elbow": -0.7})
    pose, mass = ph.body_poses(model, state)[1], ph.mass_matrix(model, state)
    found = [*pose[:3, 3], *pose[:3, 2], *mass[0], mass[1, 1]]
    assert np.abs(np.array(found) - PEER[reverse]).max() < 1e-12  # figures that are given


def test_muscles_of_version_19_get_a_path(old):
    read = ph.read_opensim(old(10901, f"<ForceSet><objects>{MUSCLE_19}</objects></ForceSet>"))
    muscle = read.muscles["flexor"]
    first, via, moving = muscle.points
    assert first.body is None and via.coordinate == "elbow" and via.range == (-1.0, 0.5)
    assert muscle.parameters["pennation_angle_at_optimal"] == 0.2
    assert [follows for _, follows in moving.moves] == ["elbow"] * 3
    assert moving.location.tolist() == [0.05, 0.25, 0.0]
    assert not read.build().muscles[0].law.rigid_tendon


def test_what_is_switched_off_stays_off(old):
    rest = f"<ForceSet><objects>{MUSCLE_19}</objects></ForceSet>"
    off = rest.replace("<MusclePointSet>", "<isDisabled>true</isDisabled><MusclePointSet>")
    assert not ph.read_opensim(old(20303, off)).muscles["flexor"].active
    assert ph.read_opensim(old(20303, rest)).muscles["flexor"].active


def test_constraints_and_markers_name_bodies(old):
    rest = """<ConstraintSet><objects><WeldConstraint name="fix"><isDisabled>false</isDisabled><body_1>ground</body_1>
<body_2>hand</body_2><location_body_1>0.1 0 0</location_body_1><orientation_body_1>0 0 0.3</orientation_body_1>
<location_body_2>0 0.2 0</location_body_2></WeldConstraint><PointConstraint><body_1>ground</body_1>
<body_2>hand</body_2><location_body_1>0 0 1</location_body_1></PointConstraint></objects></ConstraintSet>
<MarkerSet><objects><Marker name="m"><body>hand</body><location>0.1 0.2 0.3</location></Marker>
<Marker name="n"><socket_parent_frame_connectee_name>/bodyset/hand</socket_parent_frame_connectee_name></Marker>
</objects></MarkerSet>"""
    read = ph.read_opensim(old(20303, rest))
    weld = read.build().constraints["fix"]
    assert weld.body == "hand" and weld.frame[:3, 3].tolist() == [0.0, 0.2, 0.0]
    assert weld.other_frame[:3, 3].tolist() == [0.1, 0.0, 0.0] and weld.other_frame[1, 0] == np.sin(0.3)
    assert read.build().constraints["pointconstraint"].other_point.tolist() == [0.0, 0.0, 1.0]
    assert [marker.body for marker in read.markers] == [
        "hand",
        "hand",
    ]  # the latter as of versions 3.3 to 4.0
    assert read.markers[0].location.tolist() == [0.1, 0.2, 0.3]


def test_versions_that_opensim_reads_no_more_are_refused(old):
    with pytest.raises(ph.FormatError, match=r"versions 10901 to 49999 .*'10900'"):
        ph.read_opensim(old(10900))


@pytest.mark.parametrize(("reverse", "place"), [("false", 0.3), ("true", -0.3)])
def test_joints_between_frames_with_sets_of_coordinates(tmp_path, reverse, place):
    """As versions on the way to 4 wrote them; a reversed slider moves its parent along x of its child."""
    own = f"<CoordinateSet><objects><Coordinate name='x'/></objects></CoordinateSet><reverse>{reverse}</reverse>"
    made = joint("SliderJoint", "s", GROUND, "a", rest=own).replace("<coordinates></coordinates>", "")
    path = write(tmp_path / "m.osim", body("a"), made)
    path.write_text(path.read_text().replace("40000", "30506"))
    read = ph.read_opensim(path)
    model = read.build()
    assert list(read.coordinates) == ["x"] and not read.warnings
    assert ph.body_poses(model, model.state(q=[0.3]))[0][:3, 3].tolist() == [place, 0.0, 0.0]
