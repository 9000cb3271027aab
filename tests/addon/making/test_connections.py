"""Constraints between bodies, springs and ground: from the operator to the bake, and what they refuse."""

import bpy
import numpy as np
import pytest

from ..keying import set_keys
from ..selecting import select

KINDS = (
    *("point", "hinge", "weld", "distance", "planar_connector", "segmented_planar_connector"),
    *("coupling", "spring", "ground", "bushing"),
)


def shift(x=0.0, y=0.0, z=0.0):
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def turned_to_x(x=0.0, y=0.0, z=0.0):
    """A frame whose z axis is the world's x axis."""
    pose = shift(x, y, z)
    pose[:3, :3] = np.array([[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    return pose


@pytest.fixture
def pair(part, scene, make, authoring):
    """Two boxes that hang side by side on hinges about x, 12 frames: (left, right, joints)."""
    scene.frame_start, scene.frame_end = 1, 13
    bodies, joints = [], []
    for name, x in (("Left", 0.0), ("Right", 0.5)):
        bodies.append(make.box(name, (x, 0, 0)))
    make.update()
    for body in bodies:
        x = body.location.x
        joints.append(
            authoring.add_joint(
                scene,
                None,
                part("data.references").Body(body),
                "hinge",
                matrix=turned_to_x(x, 0.0, 0.3),
                name=f"{body.name} Hinge",
            )
        )
    return *bodies, joints


@pytest.fixture
def connect(part, scene):
    def made(kind, other, body, matrix=None, **options):
        reference = part("data.references").Body
        return part("making.connections").add_connection(
            scene, other and reference(other), reference(body), kind, matrix, **options
        )

    return made


def pose_at(scene, item, frame):
    scene.frame_set(frame)
    return np.array(item.matrix_world)


def test_the_kinds_of_the_menu_are_those_of_physics(part, ph):
    kinds = part("data.connection_kinds").KINDS
    assert tuple(kinds) == KINDS
    assert set(kinds) == set(ph.constraints.REGISTRY) - {"rolling"} | {"spring", "ground", "bushing"}
    assert sorted(kind.number for kind in kinds.values()) == list(range(len(kinds)))


@pytest.mark.small
@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read_drawn_and_baked(part, scene, make, pair, connect, kind, scale):
    """At another unit scale the same lengths are other ones in metres; nothing else may change."""
    left, right, joints = pair
    scene.unit_settings.scale_length = scale
    joints[0].condyle.joint.coordinates[0].start_speed = 0.3
    frame = shift(0.25)
    if kind in {"planar_connector", "segmented_planar_connector"}:  # across the way of the point
        frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    if kind == "ground":  # which a body must not begin in
        frame[2, 3] = -0.25
    item = connect(kind, left, right, frame)
    read = part("reading.scene").read(scene)
    if kind == "spring":
        (spring,) = read.model.springs
        assert np.isclose(spring.rest_length, 0.25 * scale, rtol=1e-6)
    elif kind == "bushing":
        (bushing,) = read.model.forces
        assert bushing.type == kind and np.allclose(bushing.damping, (0.1, 0.1, 0.1, 100.0, 100.0, 100.0))
    elif kind == "ground":
        (ground,) = read.model.contacts
        assert len(ground.points) == 8 and np.isclose(np.abs(ground.points).max(), 0.2 * scale, rtol=1e-6)
    else:
        (constraint,) = read.model.constraints.values()
        assert constraint.type == kind
        values = constraint.value(read.model, read.state)
        assert np.abs(values).max() < 1e-6
    shape = part("ui.overlay.connections").drawing(scene, item)
    assert (shape is None) == (kind == "coupling")
    if shape is not None:
        assert np.isfinite(shape.points).all() and np.abs(shape.points).max() < 2.0
    if scale != 1.0:
        return
    report = part("jobs.bake").bake_now(scene)
    for name, object_ in (("Left", left), ("Right", right)):
        assert np.abs(pose_at(scene, object_, 13) - report.poses[name][-1]).max() < 4e-6
    kept = scene.condyle.simulation.statistics
    assert kept.constrained == (kind not in {"spring", "bushing"}) and kept.steps > 400
    if kind not in {
        "spring",
        "ground",
        "bushing",
    }:  # redundant rows contradict each other by the rounding of float32
        assert kept.drift_left < 1e-6 and kept.largest == item.name


def test_a_gear_couples_two_joints(part, scene, pair, connect):
    left, right, joints = pair
    item = connect("coupling", left, right)
    coupling = item.condyle.connection.coupling
    assert (coupling.joint, coupling.leader) == (joints[1], joints[0])
    coupling.ratio = -2.0
    joints[0].condyle.joint.coordinates[0].start = 0.2
    joints[1].condyle.joint.coordinates[0].start = 0.1
    report = part("jobs.bake").bake_now(scene)
    led, leads = (report.coordinates[f"{name} Hinge.angle"] for name in ("Right", "Left"))
    assert np.ptp(leads) > 1e-4
    np.testing.assert_allclose(led - 0.1, -2.0 * (leads - 0.2), atol=1e-8)


def test_a_four_bar_linkage_stays_closed(part, scene, make, authoring, connect):
    """Crank, coupler and rocker on hinges about y; the rocker's end is held to the world."""
    scene.frame_start, scene.frame_end = 1, 25
    reference = part("data.references").Body
    corners = [(0, 0, 0), (0, 0, 1), (2, 0, 1.5), (2, 0, 0)]
    bars, parent = [], None
    for name, start, end in zip(("Crank", "Coupler", "Rocker"), corners[:-1], corners[1:]):
        middle = 0.5 * (np.array(start) + end)
        bars.append(make.box(name, middle, (0.1, 0.1, 0.3)))
        make.update()
        frame = shift(*start)
        frame[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
        joint = authoring.add_joint(scene, parent, reference(bars[-1]), "hinge", matrix=frame)
        joint.condyle.joint.coordinates[0].start_speed = 1.0
        parent = reference(bars[-1])
    closing = shift(*corners[-1])
    closing[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    item = connect("hinge", None, bars[-1], closing)
    report = part("jobs.bake").bake_now(scene)
    local = np.linalg.inv(report.poses["Rocker"][0]) @ [*corners[-1], 1.0]
    ends = report.poses["Rocker"] @ local
    assert np.abs(ends[:, :3] - corners[-1]).max() < 1e-5  # frames in float32 are no closer to a plane
    assert np.abs(report.poses["Crank"][-1] - report.poses["Crank"][0]).max() > 0.1
    assert scene.condyle.simulation.statistics.largest == item.name


@pytest.mark.parametrize("swap", [False, True])
def test_a_rope_lets_fall_until_it_is_taut(part, scene, make, connect, swap):
    scene.frame_start, scene.frame_end = 1, 25
    hook, stone = make.box("Hook", (0, 0, 1)), make.box("Stone", (0, 0, 0.5))
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(stone), motion="FREE")
    bodies = (stone, hook) if swap else (hook, stone)
    settings = connect("distance", *bodies).condyle.connection
    settings.sense, settings.as_placed, settings.length = "rope", False, 1.0
    assert hook.condyle.body.motion == ("FREE" if swap else "HELD")
    hook.condyle.body.motion = "HELD"
    report = part("jobs.bake").bake_now(scene)
    heights = report.poses["Stone"][:, 2, 3]
    times = report.times
    falling = times < 0.3
    np.testing.assert_allclose(heights[falling], 0.5 - 0.5 * 9.81 * times[falling] ** 2, atol=0.01)
    assert np.isclose(heights[-1], 0.0, atol=2e-3)


@pytest.mark.parametrize("contact", ["RIGID", "SOFT"])
def test_a_box_comes_to_rest_on_the_ground(part, scene, make, connect, contact):
    scene.frame_start, scene.frame_end = 1, 49
    floor, box = make.box("Floor", (0, 0, 0), (4, 4, 0.001)), make.box("Crate", (0, 0, 0.4), (0.4, 0.4, 0.4))
    floor.rotation_euler.y = 0.1  # less than friction holds
    floor.scale = (1.0, 2.0, 1.0)
    make.update()
    item = connect("ground", floor, box)
    assert item.condyle.connection.to_world and item.condyle.connection.ground.surface == floor
    assert not floor.condyle.body.enabled and box.condyle.body.motion == "FREE"
    item.condyle.connection.ground.contact = contact
    box.condyle.body.density = 100.0
    report = part("jobs.bake").bake_now(scene)
    last, before = report.poses["Crate"][-1], report.poses["Crate"][-3]
    assert np.abs(last - before).max() < 2e-3  # creeps slower than 1 cm a second
    normal = np.array([np.sin(0.1), 0.0, np.cos(0.1)])
    np.testing.assert_allclose(last[:3, 2], normal, atol=0.01)
    height = last[:3, 3] @ normal
    assert np.isclose(height, 0.2, atol=1e-5) if contact == "RIGID" else 0.19 < height < 0.2


def test_a_body_that_its_animation_leads_through_the_ground_is_told(part, scene, make, body, connect):
    floor, ram = make.box("Floor", (0, 0, 0), (4, 4, 0.001)), make.box("Ram", (0, 0, 0.5), (0.4, 0.4, 0.4))
    joint = part("making.bodies_and_joints").add_joint(scene, None, body(ram), "slider", name="Guide")
    joint.condyle.joint.axis, joint.condyle.joint.prescribed = (0, 0, 1), True
    set_keys(ram, "location", {1: 0.5, 9: 0.1}, axis=2)
    scene.frame_end = 9
    connect("ground", floor, ram).condyle.connection.ground.contact = "RIGID"
    (warning,) = part("jobs.bake").bake_now(scene).warnings
    assert (warning.code, warning.values["contact"]) == ("contact-overlap", "Ground Ram")


def test_points_of_the_ground_come_from_a_vertex_group_or_the_origin(part, scene, make, connect, ph):
    box = make.box("Crate", (0, 0, 0.4))
    ground = connect("ground", None, box).condyle.connection.ground
    ground.points = "ORIGIN"
    assert part("reading.scene").read(scene).model.contacts[0].points.shape == (1, 3)
    ground.points = "GROUP"
    with pytest.raises(ph.ModelError, match=r"Ground Crate'.*no vertex group '' \(it has none\)"):
        part("reading.scene").read(scene)
    group = box.vertex_groups.new(name="Feet")
    group.add([0, 1, 2], 1.0, "ADD")
    ground.vertex_group = "Feet"
    assert part("reading.scene").read(scene).model.contacts[0].points.shape == (3, 3)


def test_a_bent_plane_takes_its_corners_from_a_curve(part, scene, make, pair, connect):
    _left, right, _ = pair
    item = connect("segmented_planar_connector", None, right, shift(0.5, 0.0, -0.2))
    assert len(item.condyle.connection.corners) == 3
    curve = bpy.data.curves.new("Profile", "CURVE")
    spline = curve.splines.new("POLY")
    spline.points.add(2)
    for point, place in zip(spline.points, [(-1, 0, 0), (0, 0, 0), (1, 0, 1)]):
        point.co = (*place, 1.0)
    profile = bpy.data.objects.new("Profile", curve)
    profile.location = (0.5, 0.0, -0.2)
    scene.collection.objects.link(profile)
    make.update()
    item.condyle.connection.profile = profile
    (constraint,) = part("reading.scene").read(scene).model.constraints.values()
    np.testing.assert_allclose(constraint.segments, [(-1, 0), (0, 0), (1, 1)], atol=1e-6)


def test_what_is_not_in_use_is_left_out_and_what_is_wrong_is_named(part, scene, make, pair, connect, ph):
    left, right, _ = pair
    read = part("reading.scene").read
    item = connect("weld", left, right, shift(0.25))
    settings = item.condyle.connection
    settings.active = False
    assert not read(scene).model.constraints
    settings.active = True
    right.condyle.body.enabled = False
    with pytest.raises(ph.ModelError, match=r"Right is not a body"):
        read(scene)
    right.condyle.body.enabled = True
    settings.body.object = None
    with pytest.raises(ph.ModelError, match=rf"{item.name}.*: its body is missing"):
        read(scene)
    part("data.references").point_at(settings.body, part("data.references").Body(left))
    with pytest.raises(ph.ModelError, match="the same body on both sides"):
        read(scene)
    stone = make.box("Stone", (2, 0, 0))
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(stone))
    part("data.references").point_at(settings.body, part("data.references").Body(stone))
    assert read(scene).model.constraints[item.name].body == "Left"  # the held side counts as the world
    settings.to_world = True
    with pytest.raises(ph.ModelError, match="neither Stone nor the other side is simulated"):
        read(scene)
    settings.to_world, settings.kind = False, "planar_connector"
    with pytest.raises(ph.ModelError, match="Stone, whose points it constrains, is fixed"):
        read(scene)


def test_bodies_that_start_off_their_constraints_are_moved_and_told(part, scene, pair, connect):
    left, right, joints = pair
    connect("distance", left, right).condyle.connection.end.location.z -= 0.2
    joints[0].condyle.joint.coordinates[0].start = 0.5
    report = part("jobs.bake").bake_now(scene)
    assert any(each.code.endswith("by-constraints") for each in report.warnings), report.warnings


@pytest.mark.parametrize("place", ["AUTO", "CURSOR", "CONTACT"])
def test_the_operator_puts_it_at_the_cursor_or_the_contact(part, scene, pair, place):
    left, right, _ = pair
    scene.cursor.location = (0.1, 0.2, 0.3)
    select(left, right)
    assert bpy.ops.condyle.add_connection("EXEC_DEFAULT", kind="planar_connector", place=place) == {
        "FINISHED"
    }
    item = bpy.context.active_object
    settings = item.condyle.connection
    assert settings.enabled and item.parent == left
    place_now = np.array(item.matrix_world)
    if place == "CONTACT":
        assert np.isclose(place_now[0, 3], 0.05, atol=1e-6)
        np.testing.assert_allclose(place_now[:3, 2], [1, 0, 0], atol=1e-6)
        assert np.isclose(settings.end.matrix_world.translation.x, 0.45, atol=1e-6)
    else:
        np.testing.assert_allclose(place_now[:3, 3], [0.1, 0.2, 0.3], atol=1e-6)
    assert bpy.ops.condyle.add_end() == {"FINISHED"}
    assert settings.end.parent == right
    assert bpy.ops.condyle.remove_connection() == {"FINISHED"}
    assert not part("data.references").connections_of(scene)
    assert not [each for each in bpy.data.objects if each.condyle.frame_of is not None]


def test_corners_are_added_and_removed(part, scene, pair, connect):
    _, right, _ = pair
    item = connect("segmented_planar_connector", None, right, shift(0.5))
    bpy.context.view_layer.objects.active = item
    rows = item.condyle.connection.corners
    bpy.ops.condyle.add_corner()
    a, b, c = (np.array(row.place) for row in list(rows)[-3:])
    np.testing.assert_allclose(c, 2 * b - a, atol=1e-6)
    for _ in range(4):
        bpy.ops.condyle.remove_corner()
    assert not len(rows) and not bpy.ops.condyle.remove_corner.poll()


def test_undo_takes_it_back_and_the_message_with_it(part, scene, pair):
    left, right, _ = pair
    select(left, right)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.condyle.add_connection("EXEC_DEFAULT", kind="weld")
    bpy.ops.ed.undo_push(message="added")
    part("blender.session").tell("something about it", "ERROR")
    bpy.ops.ed.undo()
    scene = bpy.context.scene
    assert not part("data.references").connections_of(scene) and part("blender.session").message == ""
    bpy.ops.ed.redo()
    assert len(part("data.references").connections_of(bpy.context.scene)) == 1


@pytest.mark.small
def test_it_survives_renaming_saving_and_loading_and_duplicates_follow(part, scene, pair, connect, tmp_path):
    left, right, _joints = pair
    item = connect("spring", left, right)
    left.name, item.name = "Links", "Feder"
    path = str(tmp_path / "spring.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    scene = bpy.context.scene
    (item,) = part("data.references").connections_of(scene)
    assert [spring.name for spring in part("reading.scene").read(scene).model.springs] == ["Feder"]
    for each in scene.objects:
        each.select_set(True)
    bpy.ops.object.duplicate()
    copies = [each for each in part("data.references").connections_of(scene) if each != item]
    assert len(copies) == 1
    copied = copies[0].condyle.connection
    assert copied.end != item.condyle.connection.end and copied.end.condyle.frame_of == copies[0]
    assert copied.body.object not in (None, item.condyle.connection.body.object)
    assert len(part("reading.scene").read(scene).model.springs) == 2


def test_a_bone_is_held_too(part, scene, make, body, connect):
    rig = make.armature("Rig")
    for bone in ("A", "B"):
        part("making.bodies_and_joints").make_body(scene, body(rig, bone), mass=1.0, inertia=(0.1, 0.1, 0.1))
    part("making.bodies_and_joints").add_joint(scene, body(rig, "A"), body(rig, "B"), "hinge")
    item = part("making.connections").add_connection(
        scene, body(rig, "A"), body(rig, "B"), "spring", end=(0, 0, 0)
    )
    rig.pose.bones["B"].name = "C"
    (spring,) = part("reading.scene").read(scene).model.springs
    np.testing.assert_allclose(spring.point, [0, 0.5, 0], atol=1e-6)  # the bone's own axes: y along it
    assert item.condyle.connection.end.parent_bone == "C"


def test_balls_touch_ground_at_points_of_the_body_or_at_an_end(part, scene, make, pair, connect, ph):
    _, right, _ = pair
    item = connect("ground", None, right, shift(0.0, 0.0, -0.25))
    ground, read = item.condyle.connection.ground, part("reading.scene").read
    ground.contact, ground.radius, ground.friction = "BALL", 0.02, 0.3
    balls = read(scene).model.forces
    assert len(balls) == 8 and np.allclose(
        [(ball.radius, ball.static_friction) for ball in balls], (0.02, 0.3)
    )
    ground.points, ground.law = "END", '{"dynamic_friction": 0.1, "dissipation": 2}'
    with pytest.raises(ph.ModelError, match="its end is missing: press Add End, or choose other Points"):
        read(scene)
    part("making.connections").set_end(scene, item, (0.5, 0.0, -0.24))
    (ball,) = read(scene).model.forces
    assert np.allclose(ball.center, (0.0, 0.0, -0.24), atol=1e-6)
    assert ball.dynamic_friction == 0.1 and ball.static_friction == pytest.approx(0.3)
    shape = part("ui.overlay.connections").drawing(scene, item)
    assert np.abs(shape.points - (0.5, 0.0, -0.24)).max(axis=1).min() < 0.1
    ground.law = '{"bounce": 1}'
    with pytest.raises(ph.ModelError, match="bounce"):
        read(scene)
