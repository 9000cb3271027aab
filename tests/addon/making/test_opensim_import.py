"""OpenSim models in the scene: what physics reads back is what the file says, and it bakes."""

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from ..said import codes, said
from .levers import SMALL, lever

__all__ = ["lever"]  # a fixture
MODELS = Path(__file__).parents[4] / "shared" / "models"


def test_an_import_evaluates_the_scene_as_often_however_many_muscles_it_has(part, scene, tmp_path):
    """An evaluation takes longer the larger the scene is."""
    begin, end = SMALL.index("<Thelen"), SMALL.index("</objects></ForceSet>")
    counts = []
    for copies in (1, 8):
        muscles = [SMALL[begin:end].replace('"cord"', f'"cord{number}"') for number in range(copies)]
        path = tmp_path / f"{copies}.osim"
        path.write_text(SMALL[:begin] + "".join(muscles) + SMALL[end:], "utf-8")
        evaluated = []
        bpy.app.handlers.depsgraph_update_post.append(evaluated.append)
        try:
            made = part("making.opensim_import").import_model(scene, str(path))
        finally:
            bpy.app.handlers.depsgraph_update_post.remove(evaluated.append)
        assert len(made.muscles) == copies
        counts.append(len(evaluated))
    assert counts[0] == counts[1] < 10


TIES = """<ConstraintSet><objects>
<PointConstraint name="pin"><socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/rod</socket_body_2>
<location_body_1>0 0 0.1</location_body_1><location_body_2>0 0 0.1</location_body_2></PointConstraint>
<PointConstraint name="off"><socket_body_1>/ground</socket_body_1><socket_body_2>/bodyset/rod</socket_body_2>
<location_body_1>0 0 0.2</location_body_1><location_body_2>0 0 0.1</location_body_2></PointConstraint>
<ConstantDistanceConstraint name="strut"><socket_body_1>/ground</socket_body_1>
<socket_body_2>/bodyset/rod</socket_body_2><location_body_1>1 0 0</location_body_1>
<location_body_2>0 -1 0</location_body_2><constant_distance>1.187</constant_distance></ConstantDistanceConstraint>
</objects></ConstraintSet>"""


def test_points_and_rods_of_the_file_are_connections(part, scene, tmp_path):
    path = tmp_path / "tied.osim"
    path.write_text(SMALL.replace("<ForceSet>", TIES + "<ForceSet>"), "utf-8")
    scene.unit_settings.scale_length = 0.5
    made = part("making.opensim_import").import_model(scene, str(path))
    assert ("import-constraint-apart", "off", pytest.approx(0.1)) in said(made.warnings)
    assert not {"pin", "strut"} & {each.values.get("name") for each in made.warnings}
    found = part("reading.scene").read(scene).model.constraints
    assert set(found) == {"pin", "strut"}
    assert np.isclose(found["strut"].length, 1.187)
    ends = {found["strut"].body: found["strut"].point, found["strut"].other: found["strut"].other_point}
    assert np.allclose(ends["rod"], (0.0, -1.0, 0.0), atol=1e-6)
    assert found["pin"].type == "point" and np.allclose(found["pin"].point, (0.0, 0.0, 0.1), atol=1e-6)
    made.bodies["rod"].location.x += 0.3  # moved away, by a slider perhaps, it still joins the same points
    bpy.context.view_layer.update()
    moved = part("reading.scene").read(scene).model.constraints["pin"]
    for name in ("point", "other_point"):
        assert np.allclose(getattr(moved, name), getattr(found["pin"], name), atol=1e-6)
    bpy.data.objects["pin"].condyle.connection.own_places = False  # as in files of earlier versions
    together = part("reading.scene").read(scene).model.constraints["pin"]
    assert not np.allclose(together.point, found["pin"].point, atol=0.1)


def test_a_point_on_a_line_stays_on_two_planes(part, scene, ph, tmp_path):
    line = """<ConstraintSet><objects><PointOnLineConstraint name="line"><socket_line_body>/ground</socket_line_body>
<socket_follower_body>/bodyset/rod</socket_follower_body><line_direction_vec>1 2 0.5</line_direction_vec>
<point_on_line>0.3 0 0.1</point_on_line><point_on_follower>0 -1 0</point_on_follower></PointOnLineConstraint>
</objects></ConstraintSet>"""
    path = tmp_path / "tied.osim"
    path.write_text(SMALL.replace("<ForceSet>", line + "<ForceSet>"), "utf-8")
    scene.unit_settings.scale_length = 0.5
    made = part("making.opensim_import").import_model(scene, str(path))
    assert not {"import-constraint-type", "import-constraint-apart"} & {*codes(made.warnings)}
    file, read = ph.read_opensim(path).build(), part("reading.scene").read(scene).model
    for q in (-0.2, 0.1, 0.7):
        wanted, found = (
            [each.value(model, model.state([q])) for each in model.constraints.values()]
            for model in (file, read)
        )
        np.testing.assert_allclose(np.ravel(found), np.ravel(wanted), atol=1e-6)  # places are kept in float32
        assert len(wanted) == 2 and np.abs(wanted).max() > 0.1


def test_a_start_off_the_constraints_is_brought_to_them(part, scene, tmp_path):
    """As OpenSim's assembly does; at 0.4 rad alone the rod's end is where it is tied."""
    pin = TIES[: TIES.index('<PointConstraint name="off"')] + "</objects></ConstraintSet>"
    place = f"<location_body_1>{np.sin(0.4)} {-np.cos(0.4)} 0</location_body_1>"
    pin = pin.replace("<location_body_1>0 0 0.1</location_body_1>", place).replace("0 0 0.1", "0 -1 0")
    path = tmp_path / "tied.osim"
    path.write_text(SMALL.replace("<ForceSet>", pin + "<ForceSet>"), "utf-8")
    made = part("making.opensim_import").import_model(scene, str(path))
    read = part("reading.scene").read(scene)
    assert set(codes(made.warnings)) == {"import-note"} and set(read.model.constraints) == {"pin"}
    assert read.state.q[0] == pytest.approx(0.4, abs=1e-6)  # stored in single precision


def test_a_start_that_meets_the_constraints_is_not_called_changed(part, scene, tmp_path, monkeypatch):
    """The search for it moves a coordinate by round-off."""
    pin = TIES[: TIES.index('<PointConstraint name="off"')] + "</objects></ConstraintSet>"
    path = tmp_path / "tied.osim"
    path.write_text(SMALL.replace("<ForceSet>", pin + "<ForceSet>"), "utf-8")
    reader = type(part("blender.physics_access").physics().read_opensim(path))
    state = reader.state

    def moved(self, model, values, assembled=True):
        found = state(self, model, values, assembled=assembled)
        return replace(found, q=found.q + 1e-12 * assembled)

    monkeypatch.setattr(reader, "state", moved)
    made = part("making.opensim_import").import_model(scene, str(path))
    assert not [each.text for each in made.warnings if "are changed" in each.text]


PATELLA = """<PinJoint name="second"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/cap</socket_child_frame><coordinates><Coordinate name="beta"/></coordinates></PinJoint>"""
CURVED = """<ConstraintSet><objects><CoordinateCouplerConstraint name="k"><coupled_coordinates_function><SimmSpline>
<x>-1 0 0.5 1.2</x><y>0.1 0 0.3 0.4</y></SimmSpline></coupled_coordinates_function>
<independent_coordinate_names>swing</independent_coordinate_names>
<dependent_coordinate_name>beta</dependent_coordinate_name></CoordinateCouplerConstraint></objects></ConstraintSet>"""


def test_a_coordinate_follows_another_along_a_curve(part, scene, tmp_path):
    cap = '<Body name="cap"><mass>0.1</mass><inertia>1e-4 1e-4 1e-4 0 0 0</inertia></Body>'
    text = SMALL.replace("</Body></objects>", f"</Body>{cap}</objects>")
    text = text.replace("</PinJoint></objects>", f"</PinJoint>{PATELLA}</objects>")
    path = tmp_path / "knee.osim"
    path.write_text(text.replace("<ForceSet>", CURVED + "<ForceSet>"), "utf-8")
    made = part("making.opensim_import").import_model(scene, str(path))
    assert "import-constraint-type" not in codes(made.warnings)
    tie, follower = bpy.data.objects["k"], bpy.data.objects["cap joint"]  # shown where it acts, as large
    assert np.allclose(tie.matrix_world, follower.matrix_world, atol=1e-6)
    assert tie.empty_display_size == follower.empty_display_size
    (curve,) = [each.function for each in part("reading.scene").read(scene).model.constraints.values()]
    scene.frame_start, scene.frame_end = 1, 13
    report = part("jobs.bake").bake_now(scene)
    swing, beta = (report.coordinates[f"{name} joint.angle"] for name in ("rod", "cap"))
    assert np.ptp(beta) > 0.01
    np.testing.assert_allclose(beta, curve(swing), atol=1e-8)  # of the constraint's solver


def test_warnings_of_one_cause_are_one(part):
    findings = part("data.findings")
    found = [findings.about(None, "import-constraint-type", name=f"c{k}", type="coupling") for k in range(7)]
    found.insert(1, findings.about(None, "import-constraint-type", name="r", type="rolling"))
    found.append(findings.about(None, "import-note", message="all is well"))
    assert said(findings.gathered(found)) == [
        ("import-constraint-type", "c0, c1, c2, c3, c4 and 2 others", "coupling"),
        ("import-constraint-type", "r", "rolling"),
        ("import-note", "all is well"),
    ]


def test_muscles_that_miss_an_obstacle_for_one_reason_are_one_line(part):
    findings, points = part("data.findings"), {"obstacle": "Elbow", "points": "2"}
    found = [findings.about(None, "point-in-obstacle", muscle=name, **points) for name in "abcdef"]
    found.append(findings.about(None, "import-note", message="all is well"))
    first, _ = findings.gathered(found, findings.MUSCLE)
    assert "inside: a, b, c, d, e and 1 other. Move" in first.text


def test_an_inertia_on_the_bound_survives_single_precision(part, scene, tmp_path):
    """Toes of public models were mended to 0.00045, 0.00055, 0.001, and a bake refused what was stored."""
    path = tmp_path / "toes.osim"
    path.write_text(SMALL.replace("0.2 0.01 0.2 0 0 0", "0.0001 0.0002 0.001 0 0 0"), "utf-8")
    part("making.opensim_import").import_model(scene, str(path))
    moments = np.linalg.eigvalsh(part("reading.scene").read(scene).model.bodies[0].inertia)
    assert np.allclose(moments, [0.00045, 0.00055, 0.001], rtol=3e-6)  # of the stored numbers


@pytest.mark.parametrize("fibre", [0.05, 0.4])
def test_bellies_of_short_fibres_are_no_discs(part, fibre):
    """A soleus of 5 cm of fibres became a disc of 9 cm on a tendon."""
    length, force = 0.3, 3500.0
    volume = force * fibre / 6e5
    shares, radius = part("making.opensim_muscles").belly(length, volume, length - fibre)
    tube = part("blender.physics_access").part("analysis.muscle_drawing").tube_volume(length, shares)
    assert 2.0 * radius <= 0.4 * length * (1.0 - sum(shares)) or sum(shares) == 0.0
    assert tube * radius**2 == pytest.approx(volume)  # round-off


@pytest.mark.small
def test_a_model_stands_upright_with_all_that_it_has(part, scene, lever):
    assert bpy.ops.condyle.import_opensim(filepath=str(lever)) == {"FINISHED"}
    rod = bpy.data.objects["rod"]
    assert bpy.context.active_object.name == "lever" and rod.condyle.body.enabled
    skin = next(item for item in scene.objects if item.type == "MESH" and item.data.name.startswith("rod"))
    assert skin.parent == rod and len(skin.data.polygons) == 1
    assert np.allclose([vertex.co[1] for vertex in skin.data.vertices], [0, 0, 2, 2])
    assert np.allclose(scene.condyle.simulation.gravity, (0, 0, -9.81))
    read = part("reading.scene").read(scene)
    assert np.allclose(read.state.q, [0.3])
    assert np.allclose(read.model.bodies[0].limits, [[-1.5, 1.5]])
    row = bpy.data.objects["rod joint"].condyle.joint.coordinates[0]
    assert row.limits == "CUSTOM" and np.allclose((row.lower, row.upper), (-1.5, 1.5))
    assert row.title == "swing"  # sliders have the file's names
    # the rod hangs down, turned by 0.3 about the file's z, which points backward
    down = np.array(rod.matrix_world)[:3, :3] @ [0, -1, 0]
    assert np.allclose(down, [np.sin(0.3), 0.0, -np.cos(0.3)], atol=1e-6)
    assert any("lost.vtp" in finding.text for finding in part("blender.session").findings)
    assert "lost.vtp" in bpy.data.texts["lever import"].as_string()
    (made,) = read.model.muscles
    assert made.name == "cord" and [each.radius for each in made.strands[0].obstacles] == pytest.approx(
        [0.05]
    )


def test_warnings_of_an_import_go_with_it(part, scene, lever):
    session, findings, on_undo = (
        part("blender.session"),
        part("data.findings"),
        part("handlers.file_load").on_undo,
    )
    assert bpy.ops.condyle.import_opensim(filepath=str(lever)) == {"FINISHED"}
    own = findings.Finding("no-motion")
    session.findings = [*session.findings, own]
    told = list(session.findings)
    on_undo()
    assert session.findings == told and len(told) > 1
    bpy.data.objects.remove(bpy.data.objects["lever"])  # as an undo of the import does with all that it made
    on_undo()
    assert session.findings == [own]


def test_warnings_of_an_import_stay_until_the_next_one(part, scene, lever):
    session, findings = part("blender.session"), part("data.findings")
    assert bpy.ops.condyle.import_opensim(filepath=str(lever)) == {"FINISHED"}
    notes = [each for each in session.findings if each.source == findings.IMPORT]
    baked = findings.of_source([findings.Finding("no-motion")], findings.BAKE)
    part("data.finding_list").show(scene.session_uid, baked)
    assert notes and session.findings == [*baked, *notes]
    part("data.finding_list").show(scene.session_uid, [])
    assert session.findings == notes
    assert "'lever import'" in session.message and "lever import" in bpy.data.texts
    bpy.ops.condyle.check_scene()  # says how the scene is now
    assert not [each for each in session.findings if each.source == findings.IMPORT]
    assert bpy.ops.condyle.import_opensim(filepath=str(lever)) == {"FINISHED"}
    assert codes(session.findings).count(notes[0].code) == codes(notes).count(notes[0].code)


def test_activations_at_the_start_are_named(part, scene, lever):
    """Here a muscle begins as active as it is excited at the first frame."""
    read = part("making.opensim_import").import_model
    assert "import-activations" not in codes(read(scene, lever).warnings)
    given = "<default_activation>0.2</default_activation><max_isometric_force>"
    lever.write_text(SMALL.replace("<max_isometric_force>", given), "utf-8")
    assert ("import-activations", "'cord' (0.2)") in said(read(scene, lever).warnings)


def test_a_model_stands_beside_what_would_hide_it(part, scene, make, lever):
    imported = part("making.opensim_import").import_model
    first = np.array(imported(scene, str(lever)).ground.matrix_world)
    assert np.allclose(first[:3, 3], 0.0)
    make.box("Cube", (0, 0, 0), (2, 2, 2))
    second = imported(scene, str(lever))
    moved = np.array(second.ground.matrix_world)
    assert moved[0, 3] > 1.0 and np.allclose(moved[:, :3], first[:, :3]) and np.allclose(moved[1:3, 3], 0.0)
    shift = (
        np.array(second.bodies["rod"].matrix_world)[:3, 3]
        - np.array(bpy.data.objects["rod"].matrix_world)[:3, 3]
    )
    assert np.allclose(shift, moved[:3, 3], atol=1e-6)


def test_a_model_stands_on_a_floor(part, scene, make, lever):
    imported = part("making.opensim_import").import_model
    make.box("Floor", (0, 0, -0.05), (100, 100, 0.1))
    assert np.allclose(np.array(imported(scene, str(lever)).ground.matrix_world)[:3, 3], 0.0)


def test_a_model_stands_beside_bodies_that_lost_their_meshes(part, scene, lever):
    imported = part("making.opensim_import").import_model
    imported(scene, str(lever))
    for item in [each for each in scene.objects if each.type != "EMPTY"]:
        bpy.data.objects.remove(item)
    assert np.array(imported(scene, str(lever)).ground.matrix_world)[0, 3] > 0.1


def test_a_model_is_imported_into_a_collection_that_is_not_shown(part, scene, lever):
    part("making.bodies_and_joints").collection_of(scene)
    for layer in bpy.context.view_layer.layer_collection.children:
        layer.exclude = True
    assert bpy.ops.condyle.import_opensim(filepath=str(lever)) == {"FINISHED"}
    assert (
        "lever imported: 1 body, 1 muscle, 1 obstacle" in part("blender.session").message
        and "rod" in scene.objects
    )


def test_a_bad_file_changes_nothing(part, scene, tmp_path):
    path = tmp_path / "bad.osim"
    path.write_text(SMALL[:-300], "utf-8")
    with pytest.raises(RuntimeError, match=r"bad\.osim"):
        bpy.ops.condyle.import_opensim(filepath=str(path))
    with pytest.raises(RuntimeError, match=r"Error: [^\[]*none\.osim: No such file"):
        bpy.ops.condyle.import_opensim(filepath=str(tmp_path / "none.osim"))
    assert not len(scene.objects)


@pytest.mark.parametrize("name", ["arm26", "leg6dof9musc"])
def test_physics_reads_back_what_the_file_says(part, scene, ph, name):
    path = MODELS / f"{name}.osim"
    if not path.exists():
        pytest.skip(f"no {path}: the models are not beside the project")
    made = part("making.opensim_import").import_model(scene, str(path), [str(MODELS / "geometry")])
    read = part("reading.scene").read(scene)
    wanted = ph.read_opensim(path)
    model = wanted.build()
    state = wanted.state(model)
    expected, found = ph.muscle_lengths(model, state), ph.muscle_lengths(read.model, read.state)
    names = [muscle.name for muscle in read.model.muscles]
    rows = [names.index(muscle.name) for muscle in model.muscles]
    columns = [read.model.coordinate_names.index(each) for each in model.coordinate_names]
    # places are kept in float32
    assert np.abs(expected.lengths - found.lengths[rows]).max() < 1e-6
    assert np.abs(expected.gradients - found.gradients[rows][:, columns]).max() < 1e-6
    matrix = ph.mass_matrix(read.model, read.state)[np.ix_(columns, columns)]
    assert np.abs(ph.mass_matrix(model, state) - matrix).max() < 1e-5
    laws = {muscle.name: muscle.law for muscle in read.model.muscles}
    for muscle in model.muscles:
        law = laws[muscle.name]
        assert (law is None) == (muscle.law is None)
        if law is not None:
            there, here = muscle.law.to_dict(), law.to_dict()
            assert there.keys() == here.keys() and there["type"] == here["type"]
            figures = [key for key in there if isinstance(there[key], float)]
            assert np.allclose([here[key] for key in figures], [there[key] for key in figures], rtol=1e-6)
    assert set(codes(made.warnings)) <= {"import-note", "import-activations"}
    assert len(made.muscles) == len(wanted.muscles)


def test_the_arm_bakes(part, scene):
    path = MODELS / "arm26.osim"
    if not path.exists():
        pytest.skip(f"no {path}: the models are not beside the project")
    made = part("making.opensim_import").import_model(scene, str(path))
    made.muscles["BRA"].condyle.muscle.excitation = 1.0
    scene.frame_end = 4
    report = part("jobs.bake").bake_now(scene)
    assert np.isfinite(report.result.q).all()
    assert all(item.data.shape_keys is not None for item in made.muscles.values())
    assert part("jobs.bake").free_bake(scene) >= 8


def test_a_bake_of_a_model_on_sliders_is_up_to_date(part, scene, lever):
    """The obstacle's body is carried by sliders, which the bake mutes."""
    part("making.opensim_import").import_model(scene, str(lever))
    part("posing.inverse_kinematics").drive_all(scene)
    scene.frame_end = 2
    part("jobs.bake").bake_now(scene)
    changes = part("handlers.staleness").changes
    assert changes(scene) == []
    bpy.data.objects["rod joint"]["coordinate"] += 0.1
    bpy.context.view_layer.update()
    assert changes(scene) == []  # a bake begins at the start values
    bpy.data.objects["drum"].scale.x = 1.1
    assert [each.code for each in changes(scene)] == ["changed-since-bake"]


def test_a_path_passes_a_surface_on_one_strand_at_a_time(part, scene, ph, tmp_path):
    osim = pytest.importorskip("tests.physics.io.osim")
    path = osim.wrapped(tmp_path, at="0.2 0 0", radius=0.02, ball="<length>1</length><quadrant>x</quadrant>")
    text = (
        path.read_text()
        .replace("WrapSphere", "WrapCylinder")
        .replace('"flexion">', '"flexion"><default_value>-2.2</default_value>')
    )
    path.write_text(text)
    wanted = ph.read_opensim(path)
    model = wanted.build()
    length = ph.muscle_lengths(model, wanted.state(model)).lengths[0]
    made = part("making.opensim_import").import_model(scene, str(path), [])
    (muscle,) = made.muscles.values()
    lengths = part("reading.muscle_lengths")
    assert muscle.condyle.muscle.wraps_once
    assert lengths.true_length(scene, muscle) == pytest.approx(length, abs=1e-6)  # places are in float32
    read = part("reading.scene").read(scene)
    assert ph.muscle_lengths(read.model, read.state).lengths[0] == pytest.approx(length, abs=1e-6)
    muscle.condyle.muscle.wraps_once = False
    assert lengths.true_length(scene, muscle) > length + 0.1
