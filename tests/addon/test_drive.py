"""The slider: native properties, drivers and constraints, which move the child with and without the add-on."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")

# A driver's curve is a cubic through samples a fortieth of a radian apart (1e-8 of its radius), in float32.
FOLLOWS = 2e-6
NUM_TYPES = 24  # joint types that the menus offer


@pytest.fixture
def knee(part, scene, make):
    """A spline knee with hand-placed control frames, driven: (scene, joint's Empty, child)."""
    body, authoring = part("references").Body, part("authoring")
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
    units, reader = part("units"), part("scene_to_model")
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
    curve = part("scene_to_model").read_joint(scene, joint)
    assert np.allclose((lower, upper), curve.range[0])
    for value in np.linspace(lower, upper, 37):
        assert np.abs(world_at(joint, value, shank) - expected(part, scene, joint, value)).max() < FOLLOWS


@pytest.mark.small
def test_sliders_follow_limits_and_settings_of_the_curve_at_once(part, knee, make):
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

    body, other_child = part("references").Body, make.box("Other", (1, 0, 0))
    other = part("authoring").add_joint(scene, None, body(other_child), name="Other joint")
    other.condyle.joint.frames_of = joint
    part("authoring").drive(scene, other, True)
    settings.periodic, settings.order = False, 4
    found = world_at(other, 0.9, other_child)
    assert np.abs(found - expected(part, scene, other, 0.9)).max() < FOLLOWS


@pytest.mark.small
def test_other_joints_with_one_coordinate_follow_theirs(part, scene, make):
    from mathutils import Matrix

    body, authoring = part("references").Body, part("authoring")
    scene.unit_settings.scale_length = 0.01
    a, b = make.box("A", (0, 0, 40), (10, 10, 40)), make.box("B", (0, 0, 0), (10, 10, 40))
    make.update()
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
            assert (
                np.abs(found - expected(part, scene, joint, value)).max() < 40 * FOLLOWS
            )  # a lever of 20 units


@pytest.mark.small
def test_a_keyed_slider_moves_the_child_without_the_add_on(part, knee, tmp_path):
    scene, joint, shank = knee
    for frame, value in ((1, 0.1), (11, 1.3)):
        joint["coordinate"] = value
        joint.keyframe_insert('["coordinate"]', frame=frame)
    wanted = {}
    for frame in (1, 4, 8, 11):
        scene.frame_set(frame)
        wanted[frame] = np.array(shank.matrix_world)
    path = tmp_path / "driven.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    for frame, matrix in seen_without_the_add_on(path, "Shank", wanted, tmp_path).items():
        assert np.abs(matrix - wanted[frame]).max() < 1e-6
    assert np.abs(wanted[11] - wanted[1]).max() > 0.1


def seen_without_the_add_on(path, name, frames, tmp_path):
    """World matrices of an object at frames in a Blender without the add-on, with scripts switched off."""
    script = (
        "import bpy, json, os, sys; bpy.ops.wm.read_factory_settings(use_empty=True)\n"
        f"bpy.ops.wm.open_mainfile(filepath={str(path)!r}, use_scripts=False); found = {{}}\n"
        "assert not hasattr(bpy.types.Object, 'condyle')\n"
        f"for frame in {tuple(frames)}:\n"
        "    bpy.context.scene.frame_set(frame)\n"
        f"    found[frame] = [list(row) for row in bpy.data.objects[{name!r}].matrix_world]\n"
        "print('FOUND' + json.dumps(found)); sys.stdout.flush(); os._exit(0)\n"
    )
    # A profile of its own: with factory settings Blender clears away the wheels of extensions that are not enabled.
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "user")}
    output = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    line = next(line for line in output.stdout.splitlines() if line.startswith("FOUND"))
    found = json.loads(line.removeprefix("FOUND"))
    return {int(frame): np.array(matrix) for frame, matrix in found.items()}


def test_a_bone_follows_too(part, scene, make):
    body, authoring = part("references").Body, part("authoring")
    rig = make.armature(
        "Rig", {"A": ((0, 0, 1), (0, 0, 0.5), None), "B": ((0, 0, 0.5), (0, 0, 0), "A")}, connect=True
    )
    rig.scale, rig.rotation_euler = (2, 2, 2), (0.1, 0.2, 0.3)
    make.update()
    joint = authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge")
    joint.condyle.joint.axis = (1, 0, 0)
    authoring.drive(scene, joint, True)
    joint["coordinate"] = 0.7
    joint.update_tag()
    make.update()
    found = part("units").split_scale(rig.matrix_world @ rig.pose.bones["B"].matrix, "B")[0]
    assert np.abs(found - expected(part, scene, joint, 0.7)).max() < FOLLOWS
    scene.frame_set(2)
    rig.pose.bones["A"].rotation_mode = "XYZ"
    rig.pose.bones["A"].rotation_euler.x = 0.4  # the joint is carried by its parent
    make.update()
    found = part("units").split_scale(rig.matrix_world @ rig.pose.bones["B"].matrix, "B")[0]
    assert np.abs(found - expected(part, scene, joint, 0.7)).max() < FOLLOWS


@pytest.mark.small
def test_the_slider_rests_under_a_bake_and_during_a_fit(part, scene, make):
    body, authoring, tasks = part("references").Body, part("authoring"), part("tasks")
    thigh, shank = make.keyed_knee()
    joint = authoring.add_joint(scene, body(thigh), body(shank))
    tasks.fit_now(scene, joint)
    keys = joint.condyle.joint.fit.worst_distance
    authoring.drive(scene, joint, True)
    joint["coordinate"] = 1.0
    assert np.isclose(
        tasks.fit_now(scene, joint).worst_distance_mm, keys, rtol=1e-3
    )  # the keys, not the slider
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


def sliders(part, joint):
    return part("drive").slider_names(joint.condyle.joint)


def set_sliders(part, joint, values):
    for name, value in zip(sliders(part, joint), values):
        joint[name] = float(value)
    joint.update_tag()
    bpy.context.view_layer.update()


@pytest.mark.small
@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("kind", range(NUM_TYPES))
def test_every_joint_follows_its_sliders(part, scene, make, kind, inverted):
    body, authoring, reader = part("references").Body, part("authoring"), part("joint_reading")
    units = part("units")
    scene.unit_settings.scale_length = 0.5
    a, b = make.box("A", (0, 0, 0.4)), make.box("B", (0.1, 0, 0))
    a.rotation_euler, a.scale = (0.3, -0.2, 0.5), (1.5, 1.5, 1.5)
    make.update()
    joint = authoring.add_joint(scene, body(a), body(b), "hinge", name="Joint")
    name = make.shaped(part, scene, joint, kind)
    joint.condyle.joint.inverted = inverted
    authoring.take_rest_pose(joint)
    authoring.drive(scene, joint, True)
    rows = joint.condyle.joint.coordinates
    names = sliders(part, joint)
    assert len(names) == len(rows) and all(isinstance(joint[each], float) for each in names)
    found = reader.read_joint(scene, joint)
    random = np.random.default_rng(kind)
    for turn in range(5):
        a.rotation_euler.z = 0.1 * turn
        make.update()
        limits = [joint.id_properties_ui(each).as_dict() for each in names]
        values = np.array([random.uniform(max(each["min"], -3.0), min(each["max"], 3.0)) for each in limits])
        set_sliders(part, joint, values)
        readings = [value * 0.5 if row.unit == "m" else value for value, row in zip(values, rows)]
        pose = units.to_blender(found.transform(found.from_readings(np.array(readings))), scene)
        expected = units.split_scale(joint.matrix_world, "joint")[0] @ pose @ reader.child_in_joint(joint)
        # float32, with levers of up to 6 units and turns of 8
        assert np.abs(np.array(b.matrix_world) - expected).max() < 3e-5, name
    authoring.remove_joint(scene, joint)
    assert {item.name for item in bpy.data.objects} == {"A", "B"} and not b.constraints


def test_a_surface_of_three_directions_follows_its_sliders(part, scene, make):
    body, authoring, reader = part("references").Body, part("authoring"), part("joint_reading")
    a = make.box("A")
    make.update()
    joint = authoring.add_joint(scene, None, body(a), "spline_surface", name="Joint")
    settings = joint.condyle.joint
    settings.grid, settings.sequence, settings.moving = (4, 5, 4), "xyz", True
    random = np.random.default_rng(0)
    for x, y, z in np.ndindex(4, 5, 4):
        frame = make.smooth_poses(1, turn=0.3, reach=0.0)[0]
        frame[:3, 3] = np.array((x, y, z)) + random.uniform(-0.3, 0.3, 3)
        authoring.add_control_frame(scene, joint, frame)
    authoring.drive(scene, joint, True)
    assert sliders(part, joint) == ["coordinate q_1", "coordinate q_2", "coordinate time"]
    surface = reader.read_joint(scene, joint)
    for values in random.uniform(0.0, 1.0, (5, 3)):
        set_sliders(part, joint, values)
        assert np.abs(np.array(a.matrix_world) - surface.transform(values)).max() < 3e-6
    settings.coordinates[0].start = 0.0
    part("drive").start_here(scene, joint)
    assert np.allclose([row.start for row in settings.coordinates], values)
    (found,) = part("scene_to_model").read(scene).model.bodies
    assert found.joint == surface and found.joint.prescribed == (False, False, True)


@pytest.mark.small
@pytest.mark.parametrize("kind", ["ellipsoid", "scapulothoracic", "elliptic", "hinge"])
def test_the_rest_pose_is_where_the_child_is(part, scene, make, kind):
    """A joint over an ellipsoid does not begin at its own frame."""
    body, authoring = part("references").Body, part("authoring")
    scene.unit_settings.scale_length = 0.1
    a, b = make.box("A", (0, 0, 4)), make.box("B", (1, 0, 0))
    b.rotation_euler = (0.1, 0.2, 0.3)
    make.update()
    before = np.array(b.matrix_world)
    joint = authoring.add_joint(scene, body(a), body(b), kind, matrix=np.array(a.matrix_world))
    joint.condyle.joint.semi_axes = (1.0, 2.0, 3.0)
    authoring.take_rest_pose(joint)
    authoring.drive(scene, joint, True)
    make.update()
    assert np.abs(np.array(b.matrix_world) - before).max() < 1e-5


def test_a_joint_on_another_joints_curve_follows_it(part, scene, make):
    body, authoring, live = part("references").Body, part("authoring"), part("live")
    a, b = make.box("A"), make.box("B")
    make.update()
    holder = make.empty("Letter")
    joint = authoring.add_joint(scene, body(a), body(b), "composite", name="Joint")
    number = sorted(part("features.joints.types").TYPES).index("spline_curve")
    for item in (holder, joint):
        make.shaped(part, scene, item, number)
    settings = joint.condyle.joint
    settings.type = "composite"
    for _ in range(2):
        settings.parts.add().type = "spline_curve"
    settings.parts[1].inverted, settings.parts[1].frames_of = True, holder
    authoring.drive(scene, joint, True)
    set_sliders(part, joint, (0.1, 0.1))
    assert np.abs(np.array(b.matrix_world) - np.eye(4)).max() < 1e-6  # both curves are the same
    holder.condyle.joint.frames[1].object.location.x += 0.1
    make.update()
    live._moved.add(holder.session_uid)
    live.renew()
    make.update()
    curve = part("joint_reading").read_joint(scene, joint)
    assert np.abs(np.array(b.matrix_world) - curve.transform(np.array((0.1, 0.1)))).max() < 1e-6
    assert np.abs(np.array(b.matrix_world) - np.eye(4)).max() > 0.01


@pytest.mark.small
def test_limits_bound_the_sliders(part, scene, make):
    body, authoring = part("references").Body, part("authoring")
    a, b = make.box("A"), make.box("B")
    joint = authoring.add_joint(scene, body(a), body(b), "euler")
    row = joint.condyle.joint.coordinates[1]
    row.limits, row.lower, row.upper = "CUSTOM", -0.5, 0.75
    authoring.drive(scene, joint, True)
    bounds = joint.id_properties_ui("coordinate angle_2").as_dict()
    assert np.allclose((bounds["min"], bounds["max"]), (-0.5, 0.75))
    for value, shown in ((2.0, 0.75), (-2.0, 0.5), (0.25, 0.25)):  # keys may set a slider beyond its ends
        set_sliders(part, joint, (0.0, value, 0.0))
        make.update()
        assert b.matrix_world.to_quaternion().angle == pytest.approx(shown, abs=1e-6)


@pytest.mark.parametrize("inverted", [False, True])
def test_a_ball_stops_at_its_limit_whatever_the_sliders_say(part, scene, make, ph, inverted):
    body, authoring, reader = part("references").Body, part("authoring"), part("joint_reading")
    a = make.box("A")
    make.update()
    joint = authoring.add_joint(scene, None, body(a), "spherical")
    settings = joint.condyle.joint
    settings.inverted, settings.axis, settings.cone_angle = inverted, (0.6, 0.0, 0.8), 0.7
    settings.rotation_limit = (0.5, 0.9, 1.3)
    authoring.drive(scene, joint, True)
    random = np.random.default_rng(1)
    stopped = 0
    for limit in ("NONE", "CONE", "ROTATION"):
        settings.ball_limit = limit  # the drivers follow
        found = reader.read_joint(scene, joint)
        for values in (np.zeros(3), np.array((0.0, 0.6, 0.0)), *random.uniform(-2.0, 2.0, (20, 3))):
            angle, most = np.linalg.norm(values), np.inf
            axis = values / max(angle, 1e-12)
            if limit == "ROTATION":
                most = np.linalg.norm(axis * settings.rotation_limit)
            elif limit == "CONE":
                cone = (found.joint if inverted else found).limit
                angles = np.linspace(0.0, angle, 20001)
                beyond = cone.value(angles[:, None] * axis) < 0.0
                most = angles[np.argmax(beyond)] if beyond.any() else np.inf
            set_sliders(part, joint, values)
            expected = found.transform(min(angle, most) * axis)
            stopped += angle > most
            tolerance = 3e-4 if limit == "CONE" else 2e-6  # the cone's edge is searched for in steps
            assert np.abs(np.array(a.matrix_world) - expected).max() < tolerance, (limit, values, angle, most)
    assert stopped > 20


def test_the_sliders_of_a_surface_move_the_child_without_the_add_on(part, scene, make, tmp_path):
    body, authoring = part("references").Body, part("authoring")
    a = make.box("A")
    make.update()
    joint = authoring.add_joint(scene, None, body(a), name="Joint")
    number = sorted(part("features.joints.types").TYPES).index("spline_surface")
    make.shaped(part, scene, joint, number)
    authoring.drive(scene, joint, True)
    for frame, value in ((1, 0.1), (11, 0.9)):
        for name in sliders(part, joint):
            joint[name] = value
            joint.keyframe_insert(f'["{name}"]', frame=frame)
    wanted = {}
    for frame in (1, 6, 11):
        scene.frame_set(frame)
        wanted[frame] = np.array(a.matrix_world)
    path = tmp_path / "surface.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True)
    for frame, matrix in seen_without_the_add_on(path, "A", wanted, tmp_path).items():
        assert np.abs(matrix - wanted[frame]).max() < 1e-6
    assert np.abs(wanted[11] - wanted[1]).max() > 0.1


@pytest.fixture
def chain(scene, make):
    """Boxes A, B and C under one another, B driven on A; and a function that joins a child to a parent."""
    boxes = [make.box(name, (0, 0, 1 - 0.4 * number)) for number, name in enumerate("ABC")]
    make.update()

    def select(*items):
        for item in bpy.context.view_layer.objects:
            item.select_set(item in items)
        bpy.context.view_layer.objects.active = items[-1]

    select(boxes[1], boxes[0])
    assert bpy.ops.condyle.add_preset(preset="hinge") == {"FINISHED"}
    return boxes, select


def carried_along(scene, parent, child):
    """Turn the hinge of the chain; whether the child keeps its place on its parent, which moved by this much."""
    hinge = next(item for item in scene.objects if "coordinate" in item)
    before, there = np.linalg.inv(parent.matrix_world) @ np.array(child.matrix_world), child.location.copy()
    hinge["coordinate"] = 0.6
    hinge.update_tag()
    bpy.context.view_layer.update()
    after = np.linalg.inv(parent.matrix_world) @ np.array(child.matrix_world)
    return np.abs(after - before).max() < 1e-6, (child.matrix_world.translation - there).length


@pytest.mark.small
@pytest.mark.parametrize("kind", ["fixed", "hinge", "chosen later"])
def test_a_joint_added_to_a_chain_that_sliders_move_goes_along_at_once(scene, chain, kind):
    (_, b, c), select = chain
    select(c, b)
    assert bpy.ops.condyle.add_joint(kind="spline_curve" if " " in kind else kind) == {"FINISHED"}
    if " " in kind:
        assert bpy.ops.condyle.choose_type(kind="fixed") == {"FINISHED"}
    stays, moved = carried_along(scene, b, c)
    assert stays and moved > 0.1
    assert bpy.ops.condyle.add_target() == {"FINISHED"}


@pytest.mark.small
@pytest.mark.parametrize("why", ["curve", "keys", "child"])
def test_a_joint_waits_for_its_sliders_where_it_is_no_curve_yet_or_they_would_hide_a_motion(
    part, scene, chain, why
):
    (_, b, c), select = chain
    if why == "keys":
        c.keyframe_insert("location", frame=1)
    if why == "child":
        c.parent, c.matrix_parent_inverse = b, b.matrix_world.inverted()
        bpy.context.view_layer.update()
    select(c, b)
    assert bpy.ops.condyle.add_joint(kind="spline_curve" if why == "curve" else "hinge") == {"FINISHED"}
    joint = part("references").joint_of(scene, part("references").Body(c))
    assert not joint.condyle.joint.driven and not c.constraints
