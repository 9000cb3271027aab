"""OpenSim models: what is read, what is named as not read, and files that are refused."""

from pathlib import Path

import numpy as np
import pytest

import physics as ph
from physics.geometry import lie
from physics.io.opensim_laws import law_of
from physics.io.opensim_notes import Notes
from physics.io.opensim_parts import OpenSimMuscle
from tests.physics.io.osim import GROUND, body, coordinate, hinged, joint, offset, write

MODELS = Path(__file__).resolve().parents[4] / "shared" / "models"


def test_a_pin_with_offset_frames(tmp_path):
    frames = offset("before", GROUND, "0.1 0.2 0.3", "0.3 -0.2 0.5") + offset(
        "behind", "/bodyset/arm", "0 0.4 0"
    )
    made = joint("PinJoint", "elbow", "before", "behind", coordinate("flexion"), frames)
    read = ph.read_opensim(write(tmp_path / "made.osim", body("arm"), made))
    model = read.build()
    assert read.name == "made" and not read.warnings
    assert read.coordinates["flexion"].coordinate == "arm.angle"
    assert np.array_equal(model.gravity, [0.0, -9.81, 0.0])
    turned = lie.so3_exp([0.3, 0, 0]) @ lie.so3_exp([0, -0.2, 0]) @ lie.so3_exp([0, 0, 0.5])
    pose = ph.body_poses(model, read.state(model, {"flexion": 0.7}))[0]
    expected = turned @ lie.so3_exp([0, 0, 0.7])
    assert np.allclose(pose[:3, :3], expected, atol=1e-14)
    assert np.allclose(pose[:3, 3], [0.1, 0.2, 0.3] - expected @ [0, 0.4, 0], atol=1e-14)


@pytest.mark.parametrize(
    ("kind", "count"),
    [("BallJoint", 3), ("GimbalJoint", 3), ("FreeJoint", 6), ("UniversalJoint", 2), ("PlanarJoint", 3)],
)
def test_joints_of_several_coordinates(tmp_path, kind, count):
    names = [f"c{k}" for k in range(count)]
    made = joint(kind, "j", GROUND, "arm", "".join(coordinate(name) for name in names))
    read = ph.read_opensim(write(tmp_path / "made.osim", body("arm"), made))
    model = read.build()
    assert list(read.coordinates) == names and model.num_coordinates == count
    values = dict(zip(names, np.linspace(0.2, 0.7, count)))
    pose = ph.body_poses(model, read.state(model, values))[0]
    turns = {"PlanarJoint": "z", "UniversalJoint": "xy"}.get(kind, "xyz")
    rotation = np.eye(3)
    for axis, value in zip(turns, values.values()):
        rotation = rotation @ lie.so3_exp(value * np.eye(3)["xyz".index(axis)])
    place = [*list(values.values())[len(turns) :], 0.0, 0.0, 0.0][:3]
    assert np.allclose(pose[:3, :3], rotation, atol=1e-14) and np.allclose(pose[:3, 3], place, atol=1e-14)


def test_joints_in_any_order_and_backward(tmp_path):
    """The hand comes before the arm that carries it; the last joint is given from child to parent."""
    made = (
        joint("PinJoint", "wrist", "arm", "hand", coordinate("wrist_angle"))
        + joint("PinJoint", "elbow", GROUND, "arm", coordinate("elbow_angle"))
        + joint("PinJoint", "knuckle", "finger", "hand", coordinate("knuckle_angle"))
    )
    read = ph.read_opensim(write(tmp_path / "made.osim", body("hand") + body("arm") + body("finger"), made))
    model = read.build()
    assert model.body_names == ("arm", "hand", "finger")
    pose = ph.body_poses(model, read.state(model, {"elbow_angle": 0.1, "knuckle_angle": 0.4}))[2]
    assert np.allclose(pose[:3, :3], lie.so3_exp([0, 0, 0.1 - 0.4]), atol=1e-14)


def test_welded_bodies_without_mass_are_merged(tmp_path):
    made = joint("WeldJoint", "fix", GROUND, "base", frames=offset("f", "/bodyset/base", "1 0 0"))
    made = made.replace("/bodyset/base</socket_child_frame>", "f</socket_child_frame>")
    made += joint("PinJoint", "elbow", "base", "arm", coordinate("flexion"))
    read = ph.read_opensim(write(tmp_path / "m.osim", body("base", 0.0, "0 0 0 0 0 0") + body("arm"), made))
    model = read.build()
    assert model.body_names == ("arm",)
    assert read.frames["/bodyset/base"].body is None
    assert np.allclose(ph.body_poses(model, read.state(model))[0][:3, 3], [-1.0, 0.0, 0.0])
    assert not read.warnings and any(note.endswith(": base") for note in read.notes)


def test_merged_bodies_carry_others_whatever_the_order_of_joints(tmp_path):
    nothing = "0 0 0 0 0 0"
    bodies = body("base") + body("near", 0.0, nothing) + body("far", 0.0, nothing)
    frames = offset("f", "/bodyset/near", "0 0.2 0")
    made = joint("WeldJoint", "second", "f", "far", frames=frames)
    made += joint("WeldJoint", "first", "base", "near") + joint(
        "PinJoint", "elbow", GROUND, "base", coordinate("flexion")
    )
    read = ph.read_opensim(write(tmp_path / "m.osim", bodies, made))
    assert read.build().body_names == ("base",)
    assert read.frames["/bodyset/far"].body == "base"
    assert np.allclose(read.frames["/bodyset/far"].pose[:3, 3], [0.0, 0.2, 0.0])


def test_an_impossible_inertia_that_is_welded_adds_to_its_carrier(tmp_path):
    made = joint("PinJoint", "elbow", GROUND, "arm", coordinate("flexion"))
    made += joint("WeldJoint", "fix", "arm", "tip", frames=offset("f", "/bodyset/arm", "0.5 0 0"))
    made = made.replace("/bodyset/arm</socket_parent_frame>", "f</socket_parent_frame>")
    bodies = body("arm", 2.0) + body("tip", 1.0, "0 0 0.03 0 0 0")
    model = ph.read_opensim(write(tmp_path / "m.osim", bodies, made)).build()
    assert model.num_bodies == 1 and model.bodies[0].mass == 3.0
    mass = ph.mass_matrix(model, model.state())[0, 0]
    assert mass == pytest.approx(0.02 + 2.0 * 0.1**2 + 0.03 + 1.0 * 0.6**2, rel=1e-14)


def test_bodies_without_mass_that_move_keep_a_trace(tmp_path):
    made = joint("PinJoint", "a", GROUND, "link", coordinate("first"))
    made += joint("PinJoint", "b", "link", "arm", coordinate("second"))
    read = ph.read_opensim(write(tmp_path / "m.osim", body("link", 0.0, "0 0 0 0 0 0") + body("arm"), made))
    assert read.build().bodies[0].mass == 1e-9
    assert not read.warnings and [note.endswith(": link") for note in read.notes] == [True]


def test_a_ring_of_joints_is_closed(tmp_path):
    made = joint("PinJoint", "a", GROUND, "one", coordinate("first"))
    made += joint("PinJoint", "b", "one", "two", coordinate("second"))
    made += joint("WeldJoint", "c", GROUND, "two")
    read = ph.read_opensim(write(tmp_path / "m.osim", body("one") + body("two"), made))
    assert list(read.build().constraints) == ["c"]


def test_coupled_and_locked_coordinates(tmp_path):
    made = joint("PinJoint", "a", GROUND, "one", coordinate("first", "<default_value>0.3</default_value>"))
    made += joint("PinJoint", "b", "one", "two", coordinate("second"))
    held = coordinate("third", "<default_value>-0.2</default_value><locked>true</locked>")
    made += joint("PinJoint", "c", "two", "three", held)
    rest = """<ConstraintSet><objects><CoordinateCouplerConstraint name="gear"><coupled_coordinates_function>
<LinearFunction><coefficients>2 0.1</coefficients></LinearFunction></coupled_coordinates_function>
<independent_coordinate_names>first</independent_coordinate_names>
<dependent_coordinate_name>second</dependent_coordinate_name><scale_factor>0.5</scale_factor>
</CoordinateCouplerConstraint></objects></ConstraintSet>"""
    bodies = body("one") + body("two") + body("three")
    read = ph.read_opensim(write(tmp_path / "m.osim", bodies, made, rest))
    model = read.build()
    state = read.state(model)
    assert np.allclose(state.q, [0.3, 0.35, -0.2]) and not read.warnings
    for constraint in model.constraints.values():
        assert np.abs(constraint.value(model, state)).max() < 1e-15


def test_what_follows_coordinates_of_unknown_joints_is_left_out(tmp_path):
    made = joint("PinJoint", "a", GROUND, "one", coordinate("first"))
    made += joint("StrangeJoint", "b", "one", "two", coordinate("second", "<range>0 1</range>"))
    points = """<PathPoint name="p1"><socket_parent_frame>/ground</socket_parent_frame><location>0 0.3 0</location>
</PathPoint><ConditionalPathPoint name="p2"><socket_parent_frame>/bodyset/one</socket_parent_frame>
<socket_coordinate>/jointset/b/second</socket_coordinate><range>-1 0.5</range></ConditionalPathPoint>
<PathPoint name="p3"><socket_parent_frame>/bodyset/two</socket_parent_frame></PathPoint>"""
    rest = f"""<ForceSet><objects><PathActuator name="cord"><GeometryPath name="geometrypath"><PathPointSet>
<objects>{points}</objects></PathPointSet></GeometryPath></PathActuator></objects></ForceSet>
<ConstraintSet><objects><CoordinateCouplerConstraint name="gear"><coupled_coordinates_function>
<LinearFunction><coefficients>2 0.1</coefficients></LinearFunction></coupled_coordinates_function>
<independent_coordinate_names>first</independent_coordinate_names>
<dependent_coordinate_name>second</dependent_coordinate_name>
</CoordinateCouplerConstraint></objects></ConstraintSet>"""
    path = write(tmp_path / "m.osim", body("one") + body("two"), made, rest)
    with pytest.raises(ph.errors.UnknownJointError, match="StrangeJoint 'b'"):
        ph.read_opensim(path)
    read = ph.read_opensim(path, allow_welds=True)
    assert not read.muscles and not read.build().constraints
    assert len(read.warnings) == 3  # nothing about the joint's entries
    for told in ("StrangeJoint 'b'", "CoordinateCouplerConstraint 'gear'", "cord"):
        assert any(warning.endswith(f": {told}") for warning in read.warnings), told


def test_ranges_of_clamped_coordinates_are_limits(tmp_path):
    told = "<range>-0.5 1.5</range><clamped>true</clamped>"
    path = hinged(tmp_path, coordinates=coordinate("flexion", told))
    assert ph.read_opensim(path).build().bodies[0].limits.tolist() == [[-0.5, 1.5]]
    assert not np.isfinite(ph.read_opensim(path, limits=False).build().bodies[0].limits).any()


def test_what_is_not_understood_is_named(tmp_path):
    rest = """<ForceSet><objects><BushingForce name="rubber"><translational_stiffness>1 1 1</translational_stiffness>
</BushingForce></objects></ForceSet><ControllerSet><objects><PrescribedController name="brain">
<enabled>true</enabled></PrescribedController></objects></ControllerSet><novelty>7</novelty>
<ProbeSet><objects/><groups/></ProbeSet>"""
    read = ph.read_opensim(hinged(tmp_path, rest, bodies=body("arm", rest="<hue>3</hue>")))
    told = "\n".join(read.warnings)
    for name in ("BushingForce 'rubber'", "ControllerSet", "novelty", "Body 'arm'/hue"):
        assert name in told, name
    assert "ProbeSet" not in told and len(read.warnings) == 4


def test_what_opensim_does_not_heed_either_is_no_warning(tmp_path):
    """Units by other names, entries of older versions."""
    point = """<ForceSet><objects><Thelen2003Muscle name="m"><GeometryPath><PathPointSet><objects><PathPoint name="p">
<socket_parent_frame>/ground</socket_parent_frame></PathPoint><MovingPathPoint name="e"><location>1 2 3</location>
<socket_parent_frame>/bodyset/arm</socket_parent_frame></MovingPathPoint></objects></PathPointSet></GeometryPath>
</Thelen2003Muscle></objects></ForceSet><length_units>m</length_units><force_units>newtons</force_units>"""
    read = ph.read_opensim(hinged(tmp_path, point))
    assert not read.warnings and read.notes == ("location is not read: MovingPathPoint 'e'/location",)
    read = ph.read_opensim(hinged(tmp_path, "<length_units>mm</length_units>"))
    assert read.warnings == ("'mm' are taken as meters: length_units",)


def test_thelens_law_has_a_least_activation():
    """OpenSim refuses less than 0.01; Millard's law may have none."""
    notes = Notes()
    for kind, least in (("Thelen2003Muscle", 0.01), ("Millard2012EquilibriumMuscle", 0.0)):
        law = law_of(OpenSimMuscle("m", kind, (), parameters={"minimum_activation": 0.0}), notes)
        assert law.minimum_activation == least
    assert notes.lines(physics=True) == ("minimum_activation is increased to 0.01: m",)


def test_an_error_says_where_once():
    """So that those of one cause share a line."""
    notes = Notes()
    for name in "ab":
        notes.warn(f"it applies no force: m.osim/ForceSet/{name}: no body", f"m.osim/ForceSet/{name}")
    assert notes.lines(physics=True) == ("it applies no force: no body: ForceSet/a, ForceSet/b",)


def test_what_a_law_has_and_ours_has_not_is_named():
    numbers = {"max_isometric_force": 100.0, "odd": 3.0, "default_activation": 0.1}
    flags = {"ignore_tendon_compliance": True, "strange": True, "off": False}
    notes = Notes()
    law = law_of(OpenSimMuscle("flexor", "Thelen2003Muscle", (), parameters=numbers, flags=flags), notes)
    assert law.rigid_tendon and law.max_isometric_force == 100.0
    assert notes.lines(physics=True) == ("strange is not supported: flexor",)
    assert notes.lines(physics=False) == ("odd of a Thelen2003Muscle is not read: flexor",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<OpenSimDocument Version='50000'><Model/></OpenSimDocument>", "10901 to 49999"),
        ("<OpenSimDocument Version='40000'/>", "contains no model"),
        ("<OpenSimDocument Version='40000'><Model>", "not XML"),
        ("", "not XML"),
        (
            "<!DOCTYPE m [<!ENTITY a 'aaaa'>]><OpenSimDocument Version='40000'><Model name='&a;'/></OpenSimDocument>",
            "document type",
        ),
        ("<a>" * 300 + "</a>" * 300, "deeper"),
        ("<?xml version='1.0' encoding='nonsense'?><OpenSimDocument/>", "not XML: unknown encoding"),
        ("<?xml version='1.0' encoding='utf-7'?><OpenSimDocument/>", "not XML: multi-byte"),
    ],
)
def test_files_that_are_no_models(tmp_path, text, told):
    path = tmp_path / "bad.osim"
    path.write_text(text)
    with pytest.raises(ph.FormatError, match=told):
        ph.read_opensim(path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("/bodyset/arm", "/bodyset/leg", "unknown frame"),
        ("<gravity>0 -9.81 0", "<gravity>0 -9.81", "gravity must be 3 numbers"),
        ("<mass>1.0", "<mass>nan", "mass must be finite"),
        ("<mass>1.0", "<mass>heavy", "mass must be numbers"),
        (
            '<Coordinate name="flexion">',
            '<Coordinate name="flexion"><range>2 1</range>',
            "Coordinate 'flexion': the range of this coordinate is reversed: 2 to 1",
        ),
    ],
)
def test_models_that_contradict_themselves(tmp_path, old, new, told):
    path = hinged(tmp_path)
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(ph.FormatError, match=told):
        ph.read_opensim(path)


def test_frames_given_in_each_other(tmp_path):
    frames = offset("a", "../b") + offset("b", "../a")
    made = joint("PinJoint", "elbow", "a", "arm", coordinate("flexion"), frames)
    with pytest.raises(ph.FormatError, match="relative to itself"):
        ph.read_opensim(write(tmp_path / "m.osim", body("arm"), made))


def test_meshes_that_are_not_found_are_told_in_a_line(tmp_path):
    """A skeleton has dozens, whose names filled the panel."""
    meshes = "".join(f'<Mesh name="m{k}"><mesh_file>bone{k}.vtp</mesh_file></Mesh>' for k in range(9))
    made = body("arm").replace("</Body>", f"<attached_geometry>{meshes}</attached_geometry></Body>")
    link = joint("PinJoint", "elbow", "/ground", "arm", coordinate("flexion"))
    read = ph.read_opensim(write(tmp_path / "m.osim", made, link))
    (told,) = read.notes
    assert told == "geometry not found: bone0.vtp, bone1.vtp, bone2.vtp, bone3.vtp, bone4.vtp and 4 more"


@pytest.mark.skipif(not MODELS.is_dir(), reason="the folder of models is not beside this checkout")
def test_models_of_others_are_read_whole():
    for path in sorted(MODELS.glob("*.osim")):
        read = ph.read_opensim(path)
        assert not read.warnings  # but notes: meshes that are not there, and bodies that were merged
        assert read.build().num_coordinates == len(read.coordinates)


def test_held_coordinates(tmp_path):
    """Locked, prescribed to be constant, or clamped to one value; OpenSim 4.6 keeps all of them under gravity."""
    fixed = "<prescribed_function><Constant><value>0.4</value></Constant></prescribed_function>"
    made = "".join(
        joint("PinJoint", f"j{k}", parent, child, coordinate(f"q{k}", rest))
        for k, (parent, child, rest) in enumerate(
            (
                (GROUND, "a", "<default_value>0.3</default_value><locked>true</locked>"),
                ("a", "b", f"{fixed}<prescribed>true</prescribed>"),
                ("b", "c", "<range>0.7 0.7</range><clamped>true</clamped>"),
                ("c", "d", ""),
            )
        )
    )
    bodies = "".join(body(name) for name in "abcd")
    read = ph.read_opensim(write(tmp_path / "m.osim", bodies, made))
    model = read.build()
    assert not read.warnings and not model.constraints
    assert model.prescribed.tolist() == [True, True, True, False]
    assert model.state().q.tolist() == [0.3, 0.4, 0.7, 0.0] and not model.state().qd.any()
    qdd = ph.forward_dynamics(model, model.state())
    assert not qdd[:3].any() and abs(qdd[3]) > 1.0


@pytest.mark.parametrize(
    ("given", "mended"),  # the least that adds to the smaller two what the largest exceeds them by
    [("0.01 0.02 0.0301 0 0 0", [0.01005, 0.02005, 0.0301]), ("0.01 0.02 0.025 0 0 0", [0.01, 0.02, 0.025])],
)
def test_an_impossible_inertia_is_mended_by_the_least(tmp_path, given, mended):
    read = ph.read_opensim(hinged(tmp_path, bodies=body("arm", inertia=given)))
    assert np.allclose(np.diag(read.build().bodies[0].inertia), mended, rtol=1e-12)
    assert len(read.warnings) == (mended[0] != 0.01)


def test_a_body_of_mass_without_inertia_is_a_point(tmp_path):
    """OpenSim 4.6's mass matrix of the hinge is m r^2; ours within round-off of it."""
    read = ph.read_opensim(hinged(tmp_path, bodies=body("arm", 2.0, "0 0 0 0 0 0")))
    model = read.build()
    assert not read.warnings
    assert ph.mass_matrix(model, model.state())[0, 0] == pytest.approx(2.0 * 0.1**2, rel=1e-7)
