"""The slider: native properties, drivers and constraints, which move the child with and without the add-on."""

import bpy
import numpy as np
import pytest

from ..frames_shown import over_frames
from ..other_process import answer, run
from .test_joint_types import sliders

# A driver's curve is a cubic through samples a fortieth of a radian apart (1e-8 of its radius), in float32.
FOLLOWS = 2e-6


@pytest.fixture
def knee(scene, make, body, authoring):
    """A spline knee with hand-placed control frames, driven: (scene, joint's Empty, child)."""
    thigh, shank = make.box("Thigh", (0, 0, 0.4)), make.box("Shank")
    thigh.rotation_euler, thigh.scale = (0.3, -0.2, 0.5), (1.5, 1.5, 1.5)
    make.update()
    joint = authoring.add_joint(scene, body(thigh), body(shank), name="Knee")
    base = np.array(joint.matrix_world)
    for index in range(6):
        angle = 0.4 * index
        turn = np.eye(4)
        turn[:3, :3] = [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
        turn[:3, 3] = (-0.2 * np.sin(angle), 0.01 * angle, -0.2 * np.cos(angle))
        authoring.add_control_frame(scene, joint, base @ turn)
    authoring.drive(scene, joint, True)
    return scene, joint, shank


def world_at(joint, value, child):
    joint["coordinate"] = value
    joint.update_tag()
    bpy.context.view_layer.update()
    return np.array(child.matrix_world)


def expected(part, scene, joint, value):
    """World pose of the child at a coordinate, by physics."""
    units, reader = part("blender.units"), part("reading.scene")
    base = units.split_scale(joint.matrix_world, "joint")[0]
    pose = units.to_blender(reader.read_joint(scene, joint).transform(np.array([value])), scene)
    return base @ pose @ reader.child_in_joint(joint)


@pytest.mark.small
def test_the_child_follows_the_slider(part, knee):
    scene, joint, shank = knee
    lower, upper = (
        joint.id_properties_ui("coordinate").as_dict()["min"],
        joint.id_properties_ui("coordinate").as_dict()["max"],
    )
    curve = part("reading.scene").read_joint(scene, joint)
    assert np.allclose((lower, upper), curve.range[0])
    for value in np.linspace(lower, upper, 37):
        assert np.abs(world_at(joint, value, shank) - expected(part, scene, joint, value)).max() < FOLLOWS


@pytest.mark.small
def test_sliders_follow_limits_and_settings_of_the_curve_at_once(part, knee, make, body):
    scene, joint, shank = knee
    settings = joint.condyle.joint

    def slider():
        facts = joint.id_properties_ui("coordinate").as_dict()
        return facts["min"], facts["max"]

    whole = slider()
    row = settings.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", 0.25, 0.75
    assert slider() == (0.25, 0.75)
    assert 0.25 <= joint["coordinate"] <= 0.75
    row.limits = "NONE"
    assert slider() == whole
    for name, value in (("order", 5), ("outside", "clamp"), ("periodic", True)):
        setattr(settings, name, value)
        found = world_at(joint, 0.9, shank)
        assert np.abs(found - expected(part, scene, joint, 0.9)).max() < FOLLOWS, name

    other_child = make.box("Other", (1, 0, 0))
    other = part("making.bodies_and_joints").add_joint(scene, None, body(other_child), name="Other joint")
    other.condyle.joint.frames_of = joint
    part("making.bodies_and_joints").drive(scene, other, True)
    settings.periodic, settings.order = False, 4
    found = world_at(other, 0.9, other_child)
    assert np.abs(found - expected(part, scene, other, 0.9)).max() < FOLLOWS


@pytest.mark.small
def test_other_joints_with_one_coordinate_follow_theirs(part, scene, make, body, authoring):
    from mathutils import Matrix

    scene.unit_settings.scale_length = 0.01
    a, b = make.box("A", (0, 0, 40), (10, 10, 40)), make.box("B", (0, 0, 0), (10, 10, 40))
    joint = authoring.add_joint(scene, body(a), body(b), "hinge", Matrix.Translation((0, 0, 20)))
    for kind, values in (("hinge", (-7.0, 0.3, 2.0)), ("helical", (0.5, 3.0)), ("slider", (-0.2, 0.1))):
        joint.condyle.joint.type, joint.condyle.joint.axis, joint.condyle.joint.pitch = (
            kind,
            (0.6, 0.8, 0.0),
            2.0,
        )
        authoring.drive(scene, joint, True)
        for value in values:
            shown = value / 0.01 if kind == "slider" else value  # a length is keyed in Blender units
            found = world_at(joint, shown, b)
            # a lever of 20 units
            assert np.abs(found - expected(part, scene, joint, value)).max() < 40 * FOLLOWS


def moves_without_the_add_on(item, frames, tmp_path):
    """An object moves as here in a Blender without the add-on, with scripts switched off."""
    wanted, path = over_frames(frames, lambda: item.matrix_world), tmp_path / "driven.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    script = (
        "import bpy, json, os, sys; bpy.ops.wm.read_factory_settings(use_empty=True)\n"
        f"bpy.ops.wm.open_mainfile(filepath={str(path)!r}, use_scripts=False); found = {{}}\n"
        "assert not hasattr(bpy.types.Object, 'condyle')\n"
        f"for frame in {frames}:\n"
        "    bpy.context.scene.frame_set(frame)\n"
        f"    found[frame] = [list(row) for row in bpy.data.objects[{item.name!r}].matrix_world]\n"
        "print('FOUND' + json.dumps(found)); sys.stdout.flush(); os._exit(0)\n"
    )
    # A profile of its own: with factory settings Blender clears away the wheels of extensions that are not enabled.
    found = answer(run(script, tmp_path, BLENDER_USER_RESOURCES=str(tmp_path / "user")))
    assert np.abs(np.array([found[str(frame)] for frame in frames]) - wanted).max() < 1e-6
    assert np.abs(wanted[-1] - wanted[0]).max() > 0.1


def test_a_bone_follows_too(part, scene, make, body, authoring):
    rig = make.armature("Rig", connect=True)
    rig.scale, rig.rotation_euler = (2, 2, 2), (0.1, 0.2, 0.3)
    make.update()
    joint = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge")
    joint.condyle.joint.axis = (1, 0, 0)
    authoring.drive(scene, joint, True)
    joint["coordinate"] = 0.7
    joint.update_tag()
    make.update()
    found = part("blender.units").split_scale(rig.matrix_world @ rig.pose.bones["B"].matrix, "B")[0]
    assert np.abs(found - expected(part, scene, joint, 0.7)).max() < FOLLOWS
    scene.frame_set(2)
    rig.pose.bones["A"].rotation_mode = "XYZ"
    rig.pose.bones["A"].rotation_euler.x = 0.4  # the joint is carried by its parent
    make.update()
    found = part("blender.units").split_scale(rig.matrix_world @ rig.pose.bones["B"].matrix, "B")[0]
    assert np.abs(found - expected(part, scene, joint, 0.7)).max() < FOLLOWS


@pytest.mark.small
def test_the_slider_rests_under_a_bake_and_during_a_fit(part, scene, make, body):
    authoring, tasks = part("making.bodies_and_joints"), part("jobs.bake")
    thigh, shank = make.keyed_knee()
    joint = authoring.add_joint(scene, body(thigh), body(shank))
    tasks.fit_now(scene, joint)
    keys = joint.condyle.joint.fit.worst_distance
    authoring.drive(scene, joint, True)
    joint["coordinate"] = 1.0
    # the keys, not the slider
    assert np.isclose(tasks.fit_now(scene, joint).worst_distance_mm, keys, rtol=1e-3)
    assert not any(constraint.mute for constraint in shank.constraints)
    scene.frame_end = 5
    report = tasks.bake_now(scene)
    scene.frame_set(5)
    assert all(constraint.mute for constraint in shank.constraints)
    assert np.abs(np.array(shank.matrix_world) - report.poses["Shank"][4]).max() < FOLLOWS
    tasks.free_bake(scene)
    assert not any(constraint.mute for constraint in shank.constraints)
    authoring.drive(scene, joint, False)
    assert not shank.constraints


def test_the_sliders_of_a_surface_move_the_child_without_the_add_on(
    part, scene, make, body, authoring, tmp_path
):
    a = make.box("A")
    joint = authoring.add_joint(scene, None, body(a), name="Joint")
    number = sorted(part("data.joint_types").TYPES).index("spline_surface")
    make.shaped(part, scene, joint, number)
    authoring.drive(scene, joint, True)
    for frame, value in ((1, 0.1), (11, 0.9)):
        for name in sliders(part, joint):
            joint[name] = value
            joint.keyframe_insert(f'["{name}"]', frame=frame)
    moves_without_the_add_on(a, (1, 6, 11), tmp_path)


@pytest.mark.parametrize(
    ("kind", "stored", "soft"),
    [("hinge", None, np.pi), ("slider", None, np.pi), ("hinge", (0.0, 2.27), None)],
)
def test_the_mouse_moves_a_slider_without_limits_in_a_useful_range(
    scene, make, body, authoring, kind, stored, soft
):
    """A hinge's ran from -1440 to 1440 degrees: 14 degrees a pixel."""
    joint = authoring.add_joint(
        scene, body(make.box("Held")), body(make.box("Moved", (0, 0, 1))), kind, name="J"
    )
    row = joint.condyle.joint.coordinates[0]
    row.limits = "NONE"
    if stored:
        row.lower, row.upper = stored
    authoring.drive(scene, joint, True)
    ends = joint.id_properties_ui("coordinate").as_dict()
    assert (ends["soft_min"], ends["soft_max"]) == pytest.approx(stored or (-soft, soft))
    assert ends["max"] >= 8.0 * np.pi - 1e-6


@pytest.mark.parametrize(
    ("limits", "soft"),
    [((-5.0, 5.0), (-np.pi, np.pi)), ((-1.0, 5.0), (-1.0, np.pi)), ((3.5, 5.0), (3.5, 5.0))],
)
def test_the_mouse_reaches_the_range_of_a_ball_whose_limits_lie_beyond_half_a_turn(
    scene, make, body, authoring, limits, soft
):
    """Its slider ended for the mouse at half a turn on both sides, and could not be dragged."""
    held, moved = make.box("Held"), make.box("Moved", (0, 0, 1))
    joint = authoring.add_joint(scene, body(held), body(moved), "spherical", name="Ball")
    row = joint.condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", *limits
    authoring.drive(scene, joint, True)
    ends = joint.id_properties_ui("coordinate r_x").as_dict()
    assert (ends["soft_min"], ends["soft_max"]) == pytest.approx(soft)
