"""The sliders of every type of joint, and their ends."""

import bpy
import numpy as np
import pytest

NUM_TYPES = 25  # joint types that the menus offer


def sliders(part, joint):
    return part("sliders.sliders").slider_names(joint.condyle.joint)


def set_sliders(part, joint, values):
    for name, value in zip(sliders(part, joint), values):
        joint[name] = float(value)
    joint.update_tag()
    bpy.context.view_layer.update()


@pytest.mark.small
@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("kind", range(NUM_TYPES))
def test_every_joint_follows_its_sliders(part, scene, make, kind, inverted):
    body, authoring, reader = (
        part("data.references").Body,
        part("making.bodies_and_joints"),
        part("data.stored_joints"),
    )
    units = part("blender.units")
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
    body, authoring, reader = (
        part("data.references").Body,
        part("making.bodies_and_joints"),
        part("data.stored_joints"),
    )
    a = make.box("A")
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
    part("sliders.sliders").start_here(scene, joint)
    assert np.allclose([row.start for row in settings.coordinates], values)
    (found,) = part("reading.scene").read(scene).model.bodies
    assert found.joint == surface and found.joint.prescribed == (False, False, True)


@pytest.mark.small
@pytest.mark.parametrize("kind", ["ellipsoid", "scapulothoracic", "elliptic", "hinge"])
def test_the_rest_pose_is_where_the_child_is(scene, make, body, authoring, kind):
    """A joint over an ellipsoid does not begin at its own frame."""
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
    body, authoring, live = (
        part("data.references").Body,
        part("making.bodies_and_joints"),
        part("handlers.control_frames"),
    )
    a, b = make.box("A"), make.box("B")
    holder = make.empty("Letter")
    joint = authoring.add_joint(scene, body(a), body(b), "composite", name="Joint")
    number = sorted(part("data.joint_types").TYPES).index("spline_curve")
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
    curve = part("data.stored_joints").read_joint(scene, joint)
    assert np.abs(np.array(b.matrix_world) - curve.transform(np.array((0.1, 0.1)))).max() < 1e-6
    assert np.abs(np.array(b.matrix_world) - np.eye(4)).max() > 0.01


@pytest.mark.small
def test_limits_bound_the_sliders(part, scene, make, body, authoring):
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
    body, authoring, reader = (
        part("data.references").Body,
        part("making.bodies_and_joints"),
        part("data.stored_joints"),
    )
    a = make.box("A")
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
