"""Models that will fall since nothing holds them are told, by the check of a scene and after an import."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from ..said import codes, culprit, said

pytestmark = pytest.mark.small

PLANAR = """<?xml version="1.0"?>
<OpenSimDocument Version="40000"><Model name="hopper"><gravity>0 -9.81 0</gravity>
<BodySet><objects><Body name="trunk"><mass>20</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet>
<JointSet><objects><PlanarJoint name="root"><socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/trunk</socket_child_frame><coordinates><Coordinate name="tilt"/>
<Coordinate name="forward"/><Coordinate name="height"/></coordinates></PlanarJoint></objects></JointSet>
</Model></OpenSimDocument>"""


@pytest.fixture
def walker(part, scene, make, body):
    """A pelvis on a free joint to the world, and a thigh that hangs from it."""
    add = part("making.bodies_and_joints").add_joint
    scene.frame_start, scene.frame_end = 1, 4
    pelvis, thigh = make.box("Pelvis", (0, 0, 1.5)), make.box("Thigh", (0, 0, 1))
    root = add(scene, None, body(pelvis), "free", Matrix.Translation((0, 0, 1.5)), name="Root")
    hip = add(scene, body(pelvis), body(thigh), "hinge", Matrix.Translation((0, 0, 1.25)), name="Hip")
    make.update()
    return {"pelvis": pelvis, "thigh": thigh, "root": root, "hip": hip}


def told(part, scene):
    return part("jobs.scene_checks").check(scene)


def connect(part, scene, item, kind, other=None):
    body = part("data.references").Body
    made = part("making.connections").add_connection(
        scene, None if other is None else body(other), body(item), kind, np.eye(4), None
    )
    bpy.context.view_layer.update()
    return made


def test_a_root_that_nothing_holds_is_a_hint_that_selects_its_joint(part, scene, walker):
    (hint,) = told(part, scene)
    assert said([hint]) == [("joint-will-fall", "Pelvis")]
    assert hint.is_hint and not hint.is_error and len(hint.text) <= part("ui.checks.panels").LONGEST
    assert bpy.ops.condyle.check_scene() == {"FINISHED"}
    assert part("blender.session").message == "No problems found, 1 hint"
    assert bpy.ops.condyle.select_culprit(index=0) == {"FINISHED"}
    assert bpy.context.view_layer.objects.active == walker["root"]
    assert part("jobs.bake").check_now(scene) == []  # a bake shows it


@pytest.mark.parametrize(
    "held",
    [
        *("gravity", "prescribed", "follow", "keyed", "controller", "spring", "torque"),
        *("driven torque", "limit", "fixed", "closing"),
    ],
)
def test_a_root_that_something_may_hold_is_not_told(part, scene, walker, held):
    root = walker["root"]
    settings = root.condyle.joint
    (down,) = (row for row in settings.coordinates if row.unit == "m" and row.label.endswith(("3", "z")))
    if held == "gravity":
        scene.condyle.simulation.gravity = (0, 0, 0)
    elif held in {"prescribed", "keyed"}:
        settings.prescribed = True
        if held == "keyed":  # it is let go of
            settings.keyframe_insert("prescribed", frame=1)
            settings.prescribed = False
            settings.keyframe_insert("prescribed", frame=3)
    elif held == "follow":
        settings.follow = 0.5
    elif held == "controller":
        settings.controller.enabled = True
    elif held == "spring":
        down.stiffness = 10.0
    elif held == "torque":
        down.torque = 100.0
    elif held == "driven torque":  # none in the first frame
        number = list(settings.coordinates).index(down)
        curve = root.driver_add(f"condyle.joint.coordinates[{number}].torque")
        curve.driver.expression = "100.0 * (frame - 1.0)"
    elif held == "limit":
        down.limits, down.lower, down.upper = "CUSTOM", -2.0, 2.0
    else:
        settings.type = "fixed"
    assert not any(each.is_hint for each in told(part, scene))


def test_what_the_hint_advises_for_a_joint_of_many_coordinates_can_be_done(part, scene, make, walker, ph):
    """Those of a joint that is no free one are not known by its child's pose, so that it takes sliders to lead it."""
    root, pelvis = walker["root"], walker["pelvis"]
    settings = root.condyle.joint
    settings.type = "composite"
    for kind in ("planar", "slider", "spherical"):
        settings.parts.add().type = kind
    make.update()
    (hint,) = (each for each in told(part, scene) if each.is_hint)
    assert hint.code == "undriven-will-fall"
    settings.prescribed = True
    with pytest.raises(ph.ModelError, match="'Root' has 7 coordinates, more than can be told"):
        part("jobs.bake").bake_now(scene)
    settings.prescribed = False
    part("making.bodies_and_joints").drive(scene, root, True)
    (hint,) = (each for each in told(part, scene) if each.is_hint)
    assert hint.code == "joint-will-fall"
    settings.prescribed = True
    before = np.array(pelvis.matrix_world)
    part("jobs.bake").bake_now(scene)
    scene.frame_set(4)
    assert np.abs(np.array(pelvis.matrix_world) - before).max() < 1e-5
    part("jobs.bake").free_bake(scene)
    settings.prescribed = False
    bpy.context.view_layer.objects.active = root
    assert bpy.ops.condyle.remove_joint() == {"FINISHED"}
    assert not [each for each in told(part, scene) if each.is_hint]
    part("jobs.bake").bake_now(scene)
    scene.frame_set(4)
    assert np.abs(np.array(pelvis.matrix_world) - before).max() < 1e-5


@pytest.mark.parametrize("kind", ["point", "spring", "ground"])
def test_a_connection_of_any_of_its_bodies_to_the_world_may_hold_it(part, scene, make, walker, kind):
    other = make.box("Other", (3, 0, 1))
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(other), motion="FREE")
    made = connect(part, scene, walker["thigh"], kind)
    (hint,) = told(part, scene)  # of the other body, which it does not hold
    assert said([hint]) == [("will-fall", "Other")]
    assert culprit(part, hint).object == other
    made.condyle.connection.active = False
    assert [culprit(part, each).object for each in told(part, scene)] == [
        walker["root"],
        other,
    ]


def test_what_hangs_on_a_body_that_falls_falls_with_it(part, scene, make, walker):
    weight = make.box("Weight", (0, 0, 0.4))
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(weight), motion="FREE")
    tie = connect(part, scene, weight, "spring", walker["thigh"])
    (hint,) = told(part, scene)
    assert said([hint]) == [("joint-will-fall", "Pelvis")]
    tie.condyle.connection.active = False
    assert len(told(part, scene)) == 2


@pytest.mark.parametrize("held", [True, False])
def test_what_hangs_by_a_muscle_in_a_scene_without_joints_is_not_told_to_fall(part, scene, make, held):
    """A muscle was no connection: a body on a rope was said to fall without end."""
    body, weight, hook = (
        part("data.references").Body,
        make.box("Weight", (0, 0, 1)),
        make.box("Hook", (0, 0, 2)),
    )
    for item in (weight,) if held else (weight, hook):
        part("making.bodies_and_joints").make_body(scene, body(item), motion="FREE")
    part("making.muscles").add_muscle(
        scene, [(body(hook), (0, 0, 2)), (body(weight), (0, 0, 1))], name="Rope"
    )
    found = [each for each in codes(told(part, scene)) if each in {"nothing-holds", "will-fall"}]
    assert len(found) == (0 if held else 1)


@pytest.mark.parametrize("other", [None, "post"])
def test_a_muscle_from_the_world_may_hold_it(part, scene, make, body, walker, other):
    post = make.box("Post", (0, 0, 3))
    ends = [(body(post), (0, 0, 3)), (body(walker["thigh"]), (0, 0, 1))]
    if other is None:
        ends[0] = (body(walker["pelvis"]), (0, 0.1, 1.5))
    part("making.muscles").add_muscle(scene, ends, name="Rope")
    assert len([each for each in told(part, scene) if each.is_hint]) == (1 if other is None else 0)


@pytest.mark.parametrize(
    ("kind", "falls"), [("planar", True), ("slider", True), ("hinge", False), ("spherical", False)]
)
def test_a_joint_is_judged_by_whether_its_child_can_go_straight_down(
    part, scene, make, authoring, kind, falls
):
    box = make.box("Box", (0.3, 0, 1))
    on_edge = np.eye(4)
    on_edge[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]  # a plane of x and z
    frame = on_edge if kind == "planar" else np.eye(4)
    joint = authoring.add_joint(scene, None, part("data.references").Body(box), kind, frame, name="J")
    joint.condyle.joint.axis = (0, 0, 1)
    make.update()
    assert said(told(part, scene)) == [("joint-will-fall", "Box")] * falls


def test_of_many_the_first_is_named_and_selected(part, scene, make, walker):
    for number in range(6):
        stone = make.box(f"Stone {number}", (number, 2, 1))
        part("making.bodies_and_joints").make_body(scene, part("data.references").Body(stone), motion="FREE")
    root, stones = told(part, scene)
    assert culprit(part, root).object == walker["root"] and culprit(part, stones).object.name == "Stone 0"
    assert said([stones]) == [("will-fall", "Stone 0, Stone 1, Stone 2, Stone 3 and 2 others")]


def test_an_import_tells_of_what_it_made_alone(part, scene, make, tmp_path, walker):
    path = tmp_path / "hopper.osim"
    path.write_text(PLANAR, "utf-8")
    assert bpy.ops.condyle.import_opensim(filepath=str(path)) == {"FINISHED"}
    session = part("blender.session")
    (hint,) = (each for each in session.findings if each.is_hint)
    assert session.findings[0] is hint and hint.source == part("data.findings").CHECK
    assert said([hint]) == [("joint-will-fall", "trunk")]
    assert culprit(part, hint).object.name == "trunk joint" and "see the list" in session.message
    bpy.data.objects.remove(bpy.data.objects["hopper"])  # as an undo does with all that it made
    part("handlers.file_load").on_undo()
    assert hint not in session.findings


def test_an_import_that_hangs_on_a_hinge_has_no_hint(part, scene, tmp_path):
    path = tmp_path / "hinge.osim"
    one = PLANAR.replace("PlanarJoint", "PinJoint")
    path.write_text(one.replace('<Coordinate name="forward"/><Coordinate name="height"/>', ""), "utf-8")
    assert bpy.ops.condyle.import_opensim(filepath=str(path)) == {"FINISHED"}
    assert not [each for each in part("blender.session").findings if each.is_hint]
    assert "Warnings" not in part("blender.session").message
