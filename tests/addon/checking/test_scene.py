"""The scene check: errors that stop a bake, warnings that do not, and the click that selects what each is about."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ..keying import key_slider, set_keys
from ..said import culprit, said
from ..selecting import select

pytestmark = pytest.mark.small


@pytest.fixture
def leg(part, scene, make, body):
    """Hip, thigh and shank on two hinges that hang from a held pelvis."""
    add = part("making.bodies_and_joints").add_joint
    pelvis, thigh, shank = (
        make.box(name, (0, 0, z)) for name, z in (("Pelvis", 1.5), ("Thigh", 1), ("Shank", 0.5))
    )
    scene.frame_start, scene.frame_end = 1, 4
    hip = add(scene, body(pelvis), body(thigh), "hinge", Matrix.Translation((0, 0, 1.25)), name="Hip")
    knee = add(scene, body(thigh), body(shank), "hinge", Matrix.Translation((0, 0, 0.75)), name="Knee")
    make.update()
    return {"pelvis": pelvis, "thigh": thigh, "shank": shank, "hip": hip, "knee": knee}


def run(part, scene):
    return part("jobs.scene_checks").check(scene)


def by_hand(item, mass=1.0, inertia=(0.01, 0.01, 0.01)):
    settings = item.condyle.body
    settings.mass_source, settings.mass, settings.inertia_diagonal = "MANUAL", mass, inertia


def test_a_sound_scene_has_nothing_to_tell(part, scene, leg):
    assert run(part, scene) == []
    assert bpy.ops.condyle.check_scene() == {"FINISHED"}
    assert part("blender.session").message == "No problems found" and not part("blender.session").findings


def test_all_errors_are_found_at_once_and_stop_a_bake(part, scene, leg, ph):
    by_hand(leg["thigh"], mass=0.0)
    by_hand(leg["shank"], inertia=(0.01, 0.01, 0.05))
    found = run(part, scene)
    assert [finding.is_error for finding in found] == [True, True]
    assert "mass" in found[0].text and culprit(part, found[0]).object == leg["thigh"]
    assert "inertia" in found[1].text and culprit(part, found[1]).object == leg["shank"]
    with pytest.raises(ph.ModelError, match=r"mass .*Thigh.*; and 1 more, see the list beside Check Scene"):
        part("jobs.bake").bake_now(scene)
    assert len(part("blender.session").findings) == 2 and not leg["thigh"].condyle.channels.baked
    assert bpy.ops.condyle.select_culprit(index=1) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == leg["shank"]
    assert bpy.context.selected_objects == [leg["shank"]]
    assert bpy.ops.condyle.clear_findings() == {"FINISHED"} and not part("blender.session").findings


def test_two_joints_of_one_body_and_reversed_limits_are_errors(part, scene, leg, ph):
    double = leg["knee"].copy()
    scene.collection.objects.link(double)
    row = leg["hip"].condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", 1.0, -1.0
    found = run(part, scene)
    texts = [finding.text for finding in found]
    assert "joints 'Knee' and 'Knee.001' both move Shank; remove one" in texts[0]
    assert any("limit" in text for text in texts[1:]) and all(finding.is_error for finding in found)
    assert culprit(part, found[0]).object == double
    with pytest.raises(ph.ModelError, match="both move Shank"):
        part("jobs.bake").bake_now(scene)


def test_a_joint_without_its_child_is_named(part, scene, leg):
    leg["knee"].condyle.joint.child.object = None
    (finding,) = run(part, scene)
    assert finding.is_error and "its child is missing" in finding.text
    assert culprit(part, finding).object == leg["knee"]


def test_a_slider_outside_of_limits_is_told(part, scene, leg):
    row = leg["knee"].condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", 0.0, 1.0
    part("sliders.sliders").set_driven(scene, leg["knee"], True)
    assert run(part, scene) == []
    leg["knee"]["coordinate"] = 1.5  # as keys or a script may set it
    finding, _ = run(part, scene)  # it does not stand at its start either
    assert said([finding]) == [("slider-outside-limits", "Knee", "Angle", "85.94°", "0°", "57.3°")]
    assert not finding.is_error and culprit(part, finding).object == leg["knee"]


def test_keys_beyond_the_ends_of_a_slider_are_told(part, scene, leg):
    leg["hip"].condyle.joint.coordinates[0].limits = "CUSTOM"  # from -1 to 1
    part("making.bodies_and_joints").drive(scene, leg["hip"], True)
    key_slider(leg["hip"], {1: 0.0, 3: 1.0})
    assert run(part, scene) == []
    leg["hip"]["coordinate"] = 2.0
    leg["hip"].keyframe_insert('["coordinate"]', frame=4)
    (found,) = run(part, scene)
    assert said([found]) == [("keys-outside-slider", "Hip", "Angle", "0°", "114.6°", "-57.3°", "57.3°")]
    assert not found.is_error and culprit(part, found).object == leg["hip"]


def test_a_hinge_keyed_beyond_its_slider_is_not_told_of_a_round(part, scene, leg):
    """Its slider has several; a curve that repeats would turn it back."""
    part("making.bodies_and_joints").drive(scene, leg["hip"], True)
    key_slider(leg["hip"], {1: 0.0, 3: 30.0})
    (found,) = run(part, scene)
    assert said([found]) == [("keys-outside-slider", "Hip", "Angle", "0°", "1719°", "-1440°", "1440°")]


def test_keys_of_more_than_a_round_are_told_and_a_cyclic_curve_goes_on(part, scene, make, body):
    """The slider of a closed curve ends after a round."""
    bpy.ops.curve.primitive_bezier_circle_add(radius=1.0)
    wire, bead = bpy.context.active_object, make.box("Bead", (1, 0, 0), (0.1, 0.1, 0.1))
    joint = part("making.presets_making").add(scene, "bead", body(wire), body(bead))
    length = joint.id_properties_ui("coordinate").as_dict()["max"]
    scene.frame_start, scene.frame_end, scene.condyle.start.source = 1, 17, "POSE"
    key_slider(joint, {1: 0.0, 9: 2.0 * length})
    (found,) = run(part, scene)
    assert found.code == "keys-over-a-turn"
    assert (found.values["coordinate"], found.values["first"]) == ("Along the Wire", "0")
    (curve,) = part("blender.compat").curves_in_use(joint)
    curve.keyframe_points[1].co.y = length
    for key in curve.keyframe_points:
        key.interpolation = "LINEAR"
    curve.modifiers.new("CYCLES")
    curve.update()
    joint.condyle.joint.prescribed = True
    assert run(part, scene) == []
    by_slider = {}
    for bake in (False, True):
        if bake:
            part("jobs.bake").bake_now(scene)
        for frame in (3, 8, 11, 16):
            scene.frame_set(frame)
            by_slider.setdefault(frame, []).append(np.array(bead.matrix_world))
    assert np.abs(by_slider[3][0] - by_slider[11][0]).max() < 1e-5
    assert np.abs(by_slider[3][0] - by_slider[8][0]).max() > 0.5
    for slider, baked in by_slider.values():
        assert np.abs(slider - baked).max() < 1e-4


def test_rest_and_start_outside_of_limits_are_told(part, scene, leg):
    row = leg["knee"].condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", 0.0, 1.0
    row.stiffness, row.rest, row.start = 2.0, 1.5, -0.5
    found = run(part, scene)
    assert said(found) == [
        ("rest-outside-limits", "Knee", "angle", "85.94°", "0°", "57.3°"),
        ("start-outside-limits", "Knee", "angle", "-28.65°", "0°", "57.3°"),
    ]
    assert {culprit(part, finding).object for finding in found} == {leg["knee"]} and not found[0].is_error
    report = part("jobs.bake").bake_now(scene)
    assert report.warnings == found
    assert [culprit(part, finding).object for finding in part("blender.session").findings] == [
        leg["knee"]
    ] * 2


def test_a_body_that_its_joint_cannot_reach_is_told_with_the_distance(part, scene, leg):
    leg["shank"].location.x += 0.02
    bpy.context.view_layer.update()
    (finding,) = run(part, scene)
    (code, *called, apart), *_ = said([finding])
    assert (code, *called) == ("out-of-reach", "Shank", "Knee")
    far = float(apart.split(" mm")[0])
    assert 0.0 < far <= 20.0 and culprit(part, finding).object == leg["shank"]
    leg["shank"].location.x -= 0.02
    bpy.context.view_layer.update()
    turned = Matrix.Translation((0, 0, 0.75)) @ Matrix.Rotation(0.4, 4, leg["knee"].condyle.joint.axis)
    leg["shank"].matrix_world = turned @ Matrix.Translation((0, 0, -0.75)) @ leg["shank"].matrix_world
    bpy.context.view_layer.update()
    assert run(part, scene) == []  # it can be reached, though not by the start values


def test_bodies_that_nothing_holds_are_told(part, scene, make):
    ball = make.box("Ball", (0, 0, 3))
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(ball), motion="FREE")
    (finding,) = run(part, scene)
    assert finding.code == "nothing-holds" and culprit(part, finding).object == ball
    scene.condyle.simulation.gravity = (0, 0, 0)
    assert run(part, scene) == []


def test_muscles_with_loose_points_are_told(part, scene, leg, make, body):
    make.update()
    muscles = part("making.muscles")
    thigh, shank = body(leg["thigh"]), body(leg["shank"])
    places = [(0.1, 0, 1.1), (0.12, 0, 0.8), (0.1, 0, 0.6)]
    muscle = muscles.add_muscle(scene, list(zip((thigh, thigh, shank), places)), name="Vastus")
    points = part("reading.muscle_points")
    assert run(part, scene) == []
    points.release(muscle, 1)
    (finding,) = run(part, scene)
    assert said([finding]) == [("loose-points", "Vastus", "2")]
    assert culprit(part, finding).object == muscle
    for index in (1, 2):
        points.hook(muscle, index, thigh, places[index])
    (finding,) = run(part, scene)
    assert finding.is_error and culprit(part, finding).object == muscle


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"mass": 1e6}, ("odd-density", "Shank", pytest.approx(1e6))),
        ({"mass": 1e-7}, ("odd-density", "Shank", pytest.approx(1e-7))),
        ({"inertia_diagonal": (50.0, 50.0, 50.0)}, ("odd-inertia", "Shank", "5 m", "424 mm")),
        ({"inertia_diagonal": (2e-9, 2e-9, 2e-9)}, ("odd-inertia", "Shank", "0.0316 mm", "424 mm")),
        ({"center_of_mass": (0, 0, 50)}, ("centre-of-mass-outside", "Shank", "49.8 m", "424 mm")),
    ],
)
def test_figures_that_no_such_body_has_are_told(part, scene, leg, figures, told):
    settings = leg["shank"].condyle.body
    settings.mass_source, settings.mass, settings.inertia_diagonal = "MANUAL", 2.0, (0.03, 0.03, 0.01)
    if "mass" in figures:
        settings.inertia_diagonal = np.array(settings.inertia_diagonal) * figures["mass"]
    for name, value in figures.items():
        setattr(settings, name, value)
    (finding,) = run(part, scene)
    assert said([finding])[0][: len(told)] == told and culprit(part, finding).object == leg["shank"]


def test_a_bad_mass_is_told_beside_a_joint_that_is_not_complete(part, scene, make, body):
    thigh, shank = make.keyed_knee()
    part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), name="Knee")
    shank.condyle.body.mass_source, shank.condyle.body.mass = "MANUAL", 0.0
    first, second = run(part, scene)
    assert "no control points" in first.text and "mass of body" in second.text


def test_a_new_obstacle_lies_across_a_muscle_and_leaves_its_points_out(part, scene, leg, make, body):
    make.update()
    muscles = part("making.muscles")
    thigh, shank = body(leg["thigh"]), body(leg["shank"])
    muscle = muscles.add_muscle(
        scene, [(thigh, (0.0, -0.04, 1.0)), (shank, (0.0, -0.04, 0.6))], name="Vastus"
    )
    scene.cursor.location = (0.0, 0.0, 0.8)
    select(muscle)
    assert bpy.ops.condyle.add_obstacle() == {"FINISHED"}
    obstacle = bpy.context.object
    make.update()
    assert obstacle.parent in (leg["thigh"], leg["shank"])  # no body is selected: not on the world
    assert abs(obstacle.matrix_world.col[2].x) == pytest.approx(1.0)
    assert run(part, scene) == []
    obstacle.condyle.obstacle.radius = 0.25  # both ends are 0.204 m from its axis
    (finding,) = run(part, scene)
    assert said([finding]) == [("point-in-obstacle", "Vastus", obstacle.name, "1, 2")]
    assert culprit(part, finding).object == muscle
    bpy.ops.object.delete()
    # a turned cursor says how it lies: along the strand, whose points leave less room than usual
    scene.cursor.rotation_euler, scene.cursor.location = (0.1, 0.0, 0.0), (0.0, -0.02, 0.6)
    muscle.select_set(True)
    bpy.context.view_layer.objects.active = muscle
    muscle.condyle.muscle.obstacles.clear()
    bpy.ops.condyle.add_obstacle()
    assert 0.7 * 0.02 < bpy.context.object.condyle.obstacle.radius < 0.9 * 0.02
    assert bpy.context.object.parent == leg["shank"]
    scene.cursor.rotation_euler = (0.0, 0.0, 0.0)


def test_a_bone_is_selected_in_the_pose(part, scene, make, body):
    rig = make.armature("Rig")
    part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge", name="Elbow")
    rig.pose.bones["B"].condyle.body.mass = 0.0
    (finding,) = run(part, scene)
    assert finding.is_error and culprit(part, finding) == body(rig, "B")
    part("blender.session").findings = [finding]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    assert bpy.ops.condyle.select_culprit(index=0) == {"FINISHED"}
    assert bpy.context.active_pose_bone == rig.pose.bones["B"]
    assert [bone.name for bone in bpy.context.selected_pose_bones] == ["B"]
    bpy.ops.object.mode_set(mode="OBJECT")


def test_lines_find_what_they_name(part, scene, make):
    findings = part("data.findings")
    one, longer = make.box("Knee"), make.box("Knee.001")
    for text, item in (
        ("joint 'Knee.001' is far", longer),
        ("Knee rests outside", one),
        ("nothing to see in Kneecap", None),
        ("Knee.001 and Knee", longer),
    ):
        found = culprit(part, part("data.finding_list").named(scene, findings.error(None, text)))
        assert (found.object if found else None) == item
    gone = findings.about(one, "no-motion")
    bpy.data.objects.remove(one)
    assert culprit(part, gone) is None


def test_the_arrow_of_a_line_about_what_was_deleted_leads_nowhere(part, scene, leg):
    by_hand(leg["shank"], mass=0.0)
    assert bpy.ops.condyle.check_scene() == {"FINISHED"}
    (finding,) = part("blender.session").findings

    def arrow():
        context, panel = MagicMock(), MagicMock()
        context.scene, context.region.width = scene, 300
        part("ui.checks.panels").WarningsPanel.draw(panel, context)
        return panel.layout.row.return_value.row.return_value.enabled

    assert arrow() is True
    bpy.context.view_layer.objects.active = leg["shank"]
    with bpy.context.temp_override(selected_objects=[leg["shank"]], active_object=leg["shank"]):
        assert bpy.ops.object.delete() == {"FINISHED"}
    assert culprit(part, finding) is not None  # the joint still names it
    assert arrow() is False
    with pytest.raises(RuntimeError, match="no longer exists"):
        bpy.ops.condyle.select_culprit(index=0)
    part("blender.session").findings = []


def test_the_check_leaves_no_trace(part, scene, leg):
    scene.frame_set(3)
    leg["shank"].location.x = 0.3
    before = np.array(leg["shank"].matrix_basis)
    run(part, scene)
    assert scene.frame_current == 3 and np.array_equal(np.array(leg["shank"].matrix_basis), before)


def test_reversed_limits_are_told_of_their_joint_in_its_unit(part, scene, leg):
    row = leg["hip"].condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", 1.0, -1.0
    (finding,) = run(part, scene)
    assert (
        finding.text == "joint 'Hip': the lower limit of Angle must be below the upper, got 57.3° and -57.3°"
    )
    assert finding.is_error and culprit(part, finding).object == leg["hip"]


def test_a_body_that_is_animated_is_told_of_no_more(part, scene, leg):
    pelvis = leg["pelvis"]
    set_keys(pelvis, "location", {1: 0.0, 4: 3.0}, axis=0)
    assert run(part, scene) == [] and scene.frame_current == 1


def test_a_muscle_that_joins_nothing_simulated_is_left_out_and_told(part, scene, leg, make, body):
    floor = make.box("Floor", (1, 0, 0))
    muscle = part("making.muscles").add_muscle(
        scene, [(body(leg["pelvis"]), (0, 0, 1.5)), (body(floor), (1, 0, 0))], "Cord"
    )
    (finding,) = run(part, scene)
    assert said([finding]) == [("muscle-left-out", "Cord")]
    assert culprit(part, finding).object == muscle
    assert part("reading.scene").read(scene).muscles == ()


@pytest.mark.parametrize("idle", ["influence", "target"])
def test_a_constraint_that_does_nothing_is_not_in_the_way(part, scene, leg, idle, ph):
    shank = leg["shank"]
    constraint = shank.constraints.new("COPY_LOCATION")
    constraint.target = leg["pelvis"]
    assert "would override" in run(part, scene)[0].text
    if idle == "target":
        constraint.target = None
        assert run(part, scene) == []
        return
    constraint.influence = 0.0
    assert run(part, scene) == []
    constraint.keyframe_insert("influence", frame=1)  # a switch that may be thrown later
    assert "would override" in run(part, scene)[0].text


def test_lines_about_what_is_gone_are_not_shown(part, scene, make):
    one, other = make.box("One"), make.box("Other")
    findings, panel = part("data.findings"), part("ui.checks.panels").WarningsPanel
    part("data.finding_list").show(
        scene.session_uid, [findings.about(item, "no-motion") for item in (one, other)]
    )
    assert [number for number, _ in part("data.finding_list").shown(scene)] == [0, 1]
    bpy.data.objects.remove(one)
    assert [number for number, _ in part("data.finding_list").shown(scene)] == [1] and panel.poll(bpy.context)
    bpy.data.objects.remove(other)
    assert not panel.poll(bpy.context)


@pytest.mark.parametrize("done", ["FINISHED", "CANCELLED"])
@pytest.mark.parametrize("is_shown", [True, False])
def test_the_list_opens_after_a_check_that_has_found_something(
    part, scene, make, monkeypatch, done, is_shown
):
    """And what the check answers is what Blender gets: a step back for one that failed would undo something else."""
    operators, opened = part("ui.checks.operators"), []
    window = SimpleNamespace(
        app=SimpleNamespace(background=False),
        ops=SimpleNamespace(wm=SimpleNamespace(call_panel=lambda name: opened.append(name))),
    )
    monkeypatch.setattr(operators, "bpy", window)
    line = part("data.findings").about(make.box("Box"), "no-motion")
    part("data.finding_list").show(scene.session_uid if is_shown else 0, [line])
    operator = SimpleNamespace(execute=lambda _context: {done})
    assert operators.CheckScene.invoke(operator, bpy.context, None) == {done}
    assert opened == ["CONDYLE_PT_warnings"] * (is_shown and done == "FINISHED")
