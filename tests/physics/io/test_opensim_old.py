"""OpenSim models of versions before 4: their layout in the words of version 4, and OpenSim 4.6's values."""

import numpy as np
import pytest

import physics as ph
from tests.physics.io.osim import MUSCLE_19, old_document

# OpenSim 4.6 (Body.getTransformInGround, SimbodyMatterSubsystem.calcM) for the file that the test writes: the hand in
# ground at shoulder 0.4 rad and elbow -0.7 rad, with the elbow's joint from the upper arm and reversed, and mass matrix
HAND = {
    "false": [
        [0.9173396363972045, -0.29210688225235104, -0.2704839382208407, 0.27701461275303313],
        [0.17075636255304746, 0.9024589926675218, -0.39548708095356777, 0.6397705002906071],
        [0.359625160607954, 0.3166091216221237, 0.877740512887135, -0.11579901116861498],
    ],
    "true": [
        [-0.07427584297548222, -0.9860792380600203, 0.14876436205372284, 0.34408040472894474],
        [0.7518994056484771, -0.15336926277485585, -0.6411904186911747, 0.6390213676274897],
        [0.6550804400497303, 0.06423087655377965, 0.7528240242987634, -0.12367743196642295],
    ],
}
MASS = {
    "false": [[0.3717084113070859, 0.010823405769385886], [0.010823405769385886, 0.01689056125337835]],
    "true": [[0.4056502458131513, -0.040188125472253255], [-0.040188125472253255, 0.008900424786854072]],
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
    # round-off of some products of lengths and sines near 1
    assert np.abs(ph.body_poses(model, state)[1][:3] - HAND[reverse]).max() < 1e-13
    assert np.abs(ph.mass_matrix(model, state) - MASS[reverse]).max() < 1e-13


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
