"""A scene becomes a model; what a scene can carry of bad input becomes one clear error, before anything is changed."""

import bpy
import numpy as np
import pytest

NUM_TYPES = 25  # joint types that the menus offer


@pytest.fixture
def knee(scene, make, body, authoring):
    """Two boxes with a hinge between them: (scene, joint's Empty, parent, child)."""
    from mathutils import Matrix

    thigh, shank = make.box("Thigh", (0, 0, 0.4)), make.box("Shank")
    joint = authoring.add_joint(
        scene, body(thigh), body(shank), "hinge", Matrix.Translation((0, 0, 0.2)), "Knee"
    )
    joint.condyle.joint.axis = (0, 1, 0)
    return scene, joint, thigh, shank


@pytest.mark.small
def test_a_hinge_between_two_boxes(part, knee):
    scene, joint, _, shank = knee
    row = joint.condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper, row.damping, row.start, row.start_speed = (
        "CUSTOM",
        -0.5,
        1.5,
        0.1,
        0.25,
        -2.0,
    )
    read = part("reading.scene").read(scene)
    (body,) = read.model.bodies
    assert body.name == "Shank" and body.parent == -1 and body.joint.type == "hinge"
    assert np.isclose(body.mass, 1000.0 * 0.1 * 0.1 * 0.4, rtol=1e-6)
    assert np.allclose(body.joint_in_parent[:3, 3], (0, 0, 0.2)) and np.allclose(
        body.body_in_joint[:3, 3], (0, 0, -0.2)
    )
    assert np.allclose(body.limits, [(-0.5, 1.5)]) and np.isclose(body.damping[0], 0.1)
    assert np.allclose(read.state.q, 0.25) and np.allclose(read.state.qd, -2.0)
    assert read.bodies[0].handle.find_in(bpy.data).object == shank and read.bodies[0].joint_name == "Knee"


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_the_unit_scale_is_in_lengths_and_nothing_else(part, scene, make, body, scale):
    from mathutils import Matrix

    scene.unit_settings.scale_length = scale
    thigh = make.box("Thigh", (0, 0, 0.4 / scale), np.array((0.1, 0.1, 0.4)) / scale)
    shank = make.box("Shank", (0, 0, 0), np.array((0.1, 0.1, 0.4)) / scale)
    make.update()
    matrix = Matrix.Translation((0, 0, 0.2 / scale))
    part("making.bodies_and_joints").add_joint(scene, body(thigh), body(shank), "hinge", matrix)
    (found,) = part("reading.scene").read(scene).model.bodies
    assert np.isclose(found.mass, 4.0, rtol=1e-6) and np.allclose(
        found.body_in_joint[:3, 3], (0, 0, -0.2), atol=1e-7
    )
    expected = 4.0 / 12.0 * np.array((0.01 + 0.16, 0.01 + 0.16, 0.02))
    assert np.allclose(np.diag(found.inertia), expected, rtol=1e-6)


def test_a_chain_through_bones_and_objects(part, scene, make, body, authoring):
    rig = make.armature("Rig")
    hand = make.box("Hand", (0, 0, -0.2), (0.1, 0.1, 0.1))
    limb = make.box("Limb", (0, 0, 0.25), (0.1, 0.1, 0.5))
    authoring.make_body(scene, body(rig, "B"), shape=limb, density=500.0)
    authoring.add_joint(scene, body(rig, "A"), body(rig, "B"), "spherical", name="Elbow")
    authoring.add_joint(scene, body(rig, "B"), body(hand), "universal", name="Wrist")
    read = part("reading.scene").read(scene)
    assert [entry.name for entry in read.bodies] == ["Rig/B", "Hand"]
    assert list(read.model.parent) == [-1, 0]
    assert np.isclose(read.model.bodies[0].mass, 2.5, rtol=1e-6)
    poses = part("blender.physics_access").physics().body_poses(read.model, read.state)
    for pose, entry in zip(poses, read.bodies):
        assert np.allclose(pose, np.array(entry.handle.find_in(bpy.data).matrix), atol=1e-6)


def test_every_joint_type_of_physics_is_offered(part, ph):
    types = part("data.joint_types")
    offered = [item[0] for item in types.search_items()]
    assert len(set(offered)) == len(offered) == NUM_TYPES
    # every type can be run backward; a new one is in the menu with its line there
    assert {*offered, "inverted"} <= set(ph.joints.REGISTRY)
    numbers = [each.number for each in types.TYPES.values()]
    assert sorted(numbers) == list(range(NUM_TYPES))


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("kind", range(NUM_TYPES))
def test_every_joint_type_is_read(part, make, knee, ph, kind, inverted):
    scene, joint, _, _ = knee
    settings = joint.condyle.joint
    name = make.shaped(part, scene, joint, kind)
    settings.inverted = inverted
    found = part("reading.scene").read_joint(scene, joint)
    assert found.type == ("inverted" if inverted else name)
    assert [row.label for row in settings.coordinates] == list(found.reading_names)
    assert [row.unit for row in settings.coordinates] == list(found.reading_units)
    assert ph.joints.from_dict(found.to_dict()) == found
    (body,) = part("reading.scene").read(scene).model.bodies
    assert body.joint == found


def corrupt(name):
    """Ways in which a knee can be wrong, and what the error must say."""
    return pytest.param(*CASES[name], id=name)


def _add_second_joint(part, scene, joint, thigh, shank):
    copy = joint.copy()
    scene.collection.objects.link(copy)


def _make_cycle(part, scene, joint, thigh, shank):
    body = part("data.references").Body
    part("making.bodies_and_joints").add_joint(scene, body(shank), body(thigh), "hinge", name="Back")


def put(path, value):
    """Set an attribute, given by its path from "scene", "joint", "parent" or "child"."""
    first, *way, last = path.split(".")

    def damage(part, scene, joint, parent, child):
        item = {"scene": scene, "joint": joint, "parent": parent, "child": child}[first]
        for name in way:
            item = item[int(name)] if name.isdigit() else getattr(item, name)
        setattr(item, last, value)

    return damage


CASES = {
    "zero mass": (lambda p, s, j, t, c: by_hand(c, mass=0.0), "mass of body 'Shank' must be positive"),
    "NaN mass": (lambda p, s, j, t, c: by_hand(c, mass=float("nan")), "mass of body 'Shank'"),
    "inertia not positive": (
        lambda p, s, j, t, c: by_hand(c, diagonal=(1, 1, -1)),
        "inertia of body 'Shank'",
    ),
    "triangle inequality": (lambda p, s, j, t, c: by_hand(c, diagonal=(1, 1, 5)), "inertia of body 'Shank'"),
    "zero density": (put("child.condyle.body.density", 0.0), "Shank: density must be positive"),
    "open mesh": (lambda p, s, j, t, c: open_mesh(c), "Shank: its mesh is not closed"),
    "no mesh": (lambda p, s, j, t, c: lose_mesh(c), "its mesh has no faces"),
    "missing parent": (put("joint.condyle.joint.parent.object", None), "'Knee': its parent is missing"),
    "missing child": (put("joint.condyle.joint.child.object", None), "'Knee': its child is missing"),
    "child no body": (put("child.condyle.body.enabled", False), "child Shank is not a body"),
    "parent elsewhere": (lambda p, s, j, t, c: s.collection.objects.unlink(t), "parent Thigh is in no scene"),
    "own parent": (
        lambda p, s, j, t, c: setattr(j.condyle.joint.parent, "object", c),
        "Shank is its own parent",
    ),
    "cycle": (_make_cycle, "a cycle of joints .*: remove one"),
    "two joints": (_add_second_joint, "both move Shank"),
    "reversed limits": (
        lambda p, s, j, t, c: limits(j, 1.0, -1.0),
        r"joint .*: the lower limit of Angle must be below the upper, got 57\.3° and -57\.3°",
    ),
    "NaN start": (put("joint.condyle.joint.coordinates.0.start", float("nan")), "q of 'Shank'"),
    "no axis": (put("joint.condyle.joint.axis", (0, 0, 0)), "joint 'Knee': hinge joint axis"),
    "non-uniform scale": (put("child.scale", (1, 2, 1)), r"Shank: non-uniform scale \(1, 2, 1\)"),
    "mirrored": (put("child.scale", (-1, 1, 1)), "Shank: its scale is negative"),
    "no control points": (
        put("joint.condyle.joint.type", "spline_curve"),
        "it has no control points: fit it",
    ),
    "too few control points": (
        lambda p, s, j, t, c: (same_frames(p, s, j), setattr(j.condyle.joint, "order", 5)),
        "joint 'Knee': it has 4 control points, but a curve of order 5 needs at least 5: add some",
    ),
    "coincident control points": (
        lambda p, s, j, *_: same_frames(p, s, j),
        "control frames 0 and 1 coincide",
    ),
    "control point deleted": (lambda p, s, j, *_: lost_frame(p, s, j), "control point 2 was deleted"),
    "NaN gravity": (put("scene.condyle.simulation.gravity", (0, 0, float("nan"))), "gravity"),
    "coordinates out of step": (
        lambda p, s, j, t, c: j.condyle.joint.coordinates.clear(),
        "1 coordinates but settings for 0",
    ),
}


def by_hand(item, mass=1.0, diagonal=(0.1, 0.1, 0.1)):
    settings = item.condyle.body
    settings.mass_source, settings.mass, settings.inertia_diagonal = "MANUAL", mass, diagonal


def open_mesh(item):
    import bmesh

    shape = bmesh.new()
    shape.from_mesh(item.data)
    shape.faces.ensure_lookup_table()
    shape.faces.remove(shape.faces[0])
    shape.to_mesh(item.data)


def lose_mesh(item):
    item.condyle.body.shape = None
    item.data.clear_geometry()


def limits(joint, lower, upper):
    row = joint.condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", lower, upper


def same_frames(part, scene, joint):
    joint.condyle.joint.type = "spline_curve"
    for z in (0, 0, 1, 2):
        pose = np.eye(4)
        pose[2, 3] = z
        part("making.bodies_and_joints").add_control_frame(scene, joint, pose)


def lost_frame(part, scene, joint):
    same_frames(part, scene, joint)
    bpy.context.scene.collection.children["Condyle"].objects.unlink(joint.condyle.joint.frames[2].object)


@pytest.mark.parametrize(("damage", "message"), [corrupt(name) for name in CASES])
def test_bad_input_is_one_clear_error(part, knee, ph, make, damage, message):
    scene, joint, thigh, shank = knee
    damage(part, scene, joint, thigh, shank)
    make.update()
    actions = set(bpy.data.actions.keys())
    with pytest.raises(ph.ModelError, match=message):
        part("jobs.bake").bake_now(scene)
    assert set(bpy.data.actions.keys()) == actions and shank.animation_data is None


def test_an_empty_scene_says_what_to_do(part, scene, ph):
    with pytest.raises(ph.ModelError, match="Nothing to simulate: add a joint"):
        part("reading.scene").read(scene)


def test_a_held_body_needs_no_mass(part, knee):
    scene, _, thigh, _ = knee
    open_mesh(thigh)
    assert part("reading.scene").read(scene).model.num_bodies == 1


def test_a_bone_is_found_again_after_renaming(part, scene, make):
    references, authoring = part("data.references"), part("making.bodies_and_joints")
    rig = make.armature("Rig")
    authoring.make_body(scene, references.Body(rig, "B"), mass=1.0)
    joint = authoring.add_joint(scene, references.Body(rig, "A"), references.Body(rig, "B"), "hinge")
    child = joint.condyle.joint.child
    rig.pose.bones["B"].name = "Forearm"
    assert references.resolve(child).bone == "Forearm"
    references.relink(child)
    assert child.bone_name == "Forearm"
    rig.data.bones["A"].name = "B"  # another bone takes the old name
    assert references.resolve(child).bone == "Forearm"
    assert [entry.name for entry in part("reading.scene").read(scene).bodies] == ["Rig/Forearm"]
