"""Inverse kinematics in the scene: sliders of a tree by where points of bodies should be."""

import bpy
import numpy as np
import pytest

ACROSS = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])  # z of the joint's frame along y


def leg(part, make, scene, lower="hinge"):
    """Two boxes, the upper on a ball joint at the world, the lower on another joint: (upper, lower, their joints)."""
    upper, fore = (
        make.box("Upper", (0, 0, -0.25), (0.1, 0.1, 0.4)),
        make.box("Fore", (0, 0, -0.75), (0.1, 0.1, 0.4)),
    )
    body, joints = part("data.references").Body, []
    for parent, child, z, kind in ((None, upper, 0.0, "spherical"), (upper, fore, -0.5, lower)):
        frame = np.eye(4)
        frame[:3, :3], frame[2, 3] = ACROSS, z
        joints.append(
            part("making.bodies_and_joints").add_joint(
                scene, parent and body(parent), body(child), kind, frame, name=f"{child.name} Joint"
            )
        )
    make.update()
    return upper, fore, joints


def tip(item):
    return (np.array(item.matrix_world) @ (0.0, 0.0, -0.2, 1.0))[:3]


@pytest.fixture
def limb(part, scene, make):
    found = leg(part, make, scene)
    part("posing.inverse_kinematics").drive_all(scene)
    make.update()
    return found


def wish(part, scene, item, goal):
    made = part("posing.inverse_kinematics").point_wish(scene, part("data.references").Body(item), tip(item))
    made.goal[:3, 3] = goal
    return made


@pytest.mark.small
def test_the_tree_follows_a_point_of_a_body(part, scene, limb):
    _, fore, _ = limb
    outcome = part("posing.inverse_kinematics").reach_now(scene, [wish(part, scene, fore, (0.3, 0.2, -0.6))])
    assert outcome.met and outcome.told() == "reached"
    np.testing.assert_allclose(tip(fore), (0.3, 0.2, -0.6), atol=3e-5)
    # from there on a drag goes on in small steps, without a jump
    search = part("posing.inverse_kinematics").Reach(scene, [wish(part, scene, fore, (0.3, 0.2, -0.6))])
    for shift in np.linspace(0.0, 0.1, 11):
        goal = np.eye(4)
        goal[:3, 3] = (0.3 - shift, 0.2, -0.6 - shift)
        state, outcome = search.solve([goal])
        part("posing.inverse_kinematics").write(search.readings(state))
        bpy.context.view_layer.update()
        assert outcome.met
        np.testing.assert_allclose(tip(fore), goal[:3, 3], atol=3e-5)


@pytest.mark.small
def test_what_cannot_be_reached_is_approached_within_limits_and_told(part, scene, limb, make):
    _upper, fore, (_ball, knee) = limb
    outcome = part("posing.inverse_kinematics").reach_now(scene, [wish(part, scene, fore, (3.0, 0.0, 0.0))])
    assert not outcome.met
    # both boxes stretched out are 0.95 m long
    assert outcome.distances[0] == pytest.approx(2.05, abs=1e-4)
    assert "2.05 m from the target" in outcome.told()
    row = knee.condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper = "CUSTOM", 0.2, 0.5
    outcome = part("posing.inverse_kinematics").reach_now(scene, [wish(part, scene, fore, (0.1, 0.0, 0.0))])
    assert 0.2 - 1e-6 <= knee["coordinate"] <= 0.5 + 1e-6
    assert (
        knee["coordinate"] == pytest.approx(0.5, abs=1e-6) and "(at its limit: Fore: Angle)" in outcome.told()
    )


def test_nothing_that_moves_is_refused_before_anything_changes(part, scene, make, ph):
    _, fore, joints = leg(part, make, scene)
    with pytest.raises(ph.ModelError, match="Fore has no joint driven by sliders"):
        part("posing.inverse_kinematics").reach_now(scene, [wish(part, scene, fore, (0.3, 0.2, -0.6))])
    assert not any(item.condyle.joint.driven for item in joints)


@pytest.mark.parametrize("everything", [False, True])
def test_what_is_fixed_goes_along(part, scene, make, everything):
    """A foot without a joint of its own that moves: it hangs on the shin in the simulation, and here."""
    upper, fore, (ball, _knee) = leg(part, make, scene, "fixed")
    if everything:
        assert len(part("posing.inverse_kinematics").drive_all(scene)) == 2
    else:
        part("sliders.sliders").set_driven(scene, ball, True)
    make.update()
    before = np.linalg.inv(np.array(upper.matrix_world)) @ np.array(fore.matrix_world)
    goal = np.array((0.4, 0.3, -0.8)) * 0.95 / 0.9434  # at the end's own distance from the ball
    outcome = part("posing.inverse_kinematics").reach_now(scene, [wish(part, scene, fore, goal)])
    after = np.linalg.inv(np.array(upper.matrix_world)) @ np.array(fore.matrix_world)
    np.testing.assert_allclose(after, before, atol=1e-6)
    distance = np.linalg.norm(tip(fore) - goal)
    assert (
        abs(distance - outcome.distances[0]) < 3e-5
        and np.abs(np.array(upper.matrix_world)[:3, :3] - ACROSS).max() > 0.1
    )


def test_what_does_not_follow_is_not_said_to_be_reached(part, scene, make, ph):
    """Its joint has no sliders, and it is no child of what moves in Blender: it stays where it is."""
    _upper, fore, (ball, _knee) = leg(part, make, scene)
    part("sliders.sliders").set_driven(scene, ball, True)
    make.update()
    with pytest.raises(ph.ModelError, match="Fore has no joint driven by sliders"):
        part("posing.inverse_kinematics").reach_now(scene, [wish(part, scene, fore, (0.4, 0.3, -0.8))])


def test_a_joint_without_sliders_keeps_its_pose(part, scene, make):
    upper, fore, (ball, knee) = leg(part, make, scene)
    part("sliders.sliders").set_driven(scene, ball, True)
    make.update()
    before = np.linalg.inv(np.array(upper.matrix_world)) @ np.array(fore.matrix_world)
    fore.parent, fore.matrix_parent_inverse = upper, upper.matrix_world.inverted()
    outcome = part("posing.inverse_kinematics").reach_now(scene, [wish(part, scene, fore, (0.4, 0.3, -0.8))])
    assert tuple(outcome.at_limits) == () and "coordinate" not in knee
    after = np.linalg.inv(np.array(upper.matrix_world)) @ np.array(fore.matrix_world)
    np.testing.assert_allclose(after, before, atol=1e-6)
    np.testing.assert_allclose(
        tip(fore) / np.linalg.norm(tip(fore)), np.array((0.4, 0.3, -0.8)) / 0.9434, atol=1e-3
    )


@pytest.mark.small
def test_targets_are_reached_followed_and_keyed(part, scene, limb):
    _, fore, (_ball, _knee) = limb
    bpy.context.view_layer.objects.active = fore
    assert bpy.ops.condyle.add_target() == {"FINISHED"}
    item = bpy.context.view_layer.objects.active
    assert item.name == "Fore Target" and item.condyle.target.body.object == fore
    np.testing.assert_allclose(item.matrix_world.translation, fore.matrix_world.translation, atol=1e-6)
    item.location = (0.3, 0.2, -0.4)
    assert bpy.ops.condyle.reach_targets() == {"FINISHED"}
    np.testing.assert_allclose(fore.matrix_world.translation, (0.3, 0.2, -0.4), atol=3e-5)
    scene.condyle.reach.live = True
    item.location = (0.2, 0.2, -0.4)
    bpy.context.view_layer.update()
    assert part("handlers.targets").follow() in (None, 0.01)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(fore.matrix_world.translation, (0.2, 0.2, -0.4), atol=1e-4)
    assert scene.condyle.reach.told == "reached"
    for frame, x in {1: 0.2, 10: 0.4}.items():
        item.location = (x, 0.2, -0.4)
        item.keyframe_insert("location", frame=frame)
    assert bpy.ops.condyle.key_joints(first=1, last=10) == {"FINISHED"}
    scene.condyle.reach.live = False
    for frame in (1, 4, 10):
        scene.frame_set(frame)
        np.testing.assert_allclose(fore.matrix_world.translation, item.matrix_world.translation, atol=1e-4)


def test_a_target_may_want_the_rotation_too(part, scene, body, limb):
    _, fore, _ = limb
    item = part("posing.ik_targets").add_target(scene, body(fore), fore.matrix_world.translation)
    item.condyle.target.use_rotation = True
    item.rotation_euler = (0.3, 0.0, 0.0)
    bpy.context.view_layer.update()
    outcome = part("posing.inverse_kinematics").reach_now(scene, part("posing.ik_targets").wishes_of(scene))
    # three of the ball and one of the hinge cannot do all six
    assert not outcome.met and outcome.angles[0] > 0.01
    item.location = np.array(fore.matrix_world.translation)
    item.rotation_euler = fore.matrix_world.to_euler()
    bpy.context.view_layer.update()
    assert part("posing.inverse_kinematics").reach_now(scene, part("posing.ik_targets").wishes_of(scene)).met


def test_the_drag_works_from_a_script_and_says_why_it_is_grey(part, scene, make):
    _, fore, _ = leg(part, make, scene)
    bpy.context.view_layer.objects.active = fore
    assert not bpy.ops.condyle.drag.poll()
    assert bpy.ops.condyle.drive_all() == {"FINISHED"} and not bpy.ops.condyle.drive_all.poll()
    assert bpy.ops.condyle.drag(goal=(0.2, 0.1, -0.6)) == {"FINISHED"}
    np.testing.assert_allclose(fore.matrix_world.translation, (0.2, 0.1, -0.6), atol=3e-5)


@pytest.mark.small
def test_bones_follow_as_objects_do(part, scene, make, body, authoring):
    rig = make.armature(
        "Rig", {"upper": ((0, 0, 0), (0, 0, -0.5), None), "lower": ((0, 0, -0.5), (0, 0, -1), "upper")}
    )
    for parent, child, z in ((None, "upper", 0.0), ("upper", "lower", -0.5)):
        frame = np.eye(4)
        frame[:3, :3], frame[2, 3] = ACROSS, z
        authoring.add_joint(
            scene, parent and body(rig, parent), body(rig, child), "hinge", frame, name=f"{child} joint"
        )
    part("posing.inverse_kinematics").drive_all(scene)
    make.update()
    bone = rig.pose.bones["lower"]
    made = part("posing.inverse_kinematics").point_wish(
        scene, body(rig, "lower"), rig.matrix_world @ bone.tail
    )
    made.goal[:3, 3] = (0.4, 0.0, -0.7)
    assert part("posing.inverse_kinematics").reach_now(scene, [made]).met
    np.testing.assert_allclose(rig.matrix_world @ bone.tail, (0.4, 0.0, -0.7), atol=3e-5)


def test_no_numba_and_no_scipy_for_it():
    """In a Blender of its own, since other tests of this one may have imported them."""
    import subprocess
    import sys

    code = (
        "import sys, numpy as np; from addon.blender import physics_access;"
        "ph = physics_access.physics(); b = ph.ModelBuilder();"
        "b.add_body('a', joint=ph.joints.Hinge(), mass=1.0, inertia=np.eye(3));"
        "m = b.build(); ph.inverse_kinematics(m, ph.Target('a', position=(0.0, 1.0, 0.0), at=(1.0, 0.0, 0.0)));"
        "print(sorted({'numba', 'scipy'} & set(sys.modules)))"
    )
    if "bl_ext" in part_name():
        pytest.skip("the installed add-on has another name")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def part_name():
    import os

    return os.environ.get("CONDYLE_INSTALLED_MODULE", "")


@pytest.mark.parametrize("bone", [False, True])
@pytest.mark.parametrize("kind", range(24))
def test_every_joint_is_led_to_a_pose_that_it_can_take(part, scene, make, body, authoring, kind, bone):
    base = make.box("A", (0, 0, 0.4))
    child = body(make.box("B", (0.1, 0, 0)))
    if bone:
        child = body(make.armature("Rig", {"B": ((0.1, 0, 0), (0.3, 0, 0), None)}), "B")
    make.update()
    joint = authoring.add_joint(scene, body(base), child, "hinge", name="Joint")
    name = make.shaped(part, scene, joint, kind)
    authoring.take_rest_pose(joint)
    if name == "fixed":
        return
    authoring.drive(scene, joint, True)
    names = part("data.joints").slider_names(joint.condyle.joint)
    limits = [joint.id_properties_ui(each).as_dict() for each in names]
    before = [joint[each] for each in names]
    random = np.random.default_rng(kind)
    for each, limit, value in zip(names, limits, before):
        low, high = max(limit["min"], value - 0.3), min(limit["max"], value + 0.3)
        joint[each] = float(random.uniform(low, high))
    joint.update_tag()
    make.update()
    goal = np.array(child.matrix)
    for each, value in zip(names, before):
        joint[each] = value
    joint.update_tag()
    make.update()
    item = part("posing.ik_targets").add_target(scene, child, child.matrix.translation)
    item.condyle.target.use_rotation = True
    item.matrix_world = goal.T
    make.update()
    outcome = part("posing.inverse_kinematics").reach_now(scene, part("posing.ik_targets").wishes_of(scene))
    assert outcome.distances[0] < 1e-4 and outcome.angles[0] < 1e-3, (name, outcome)
    np.testing.assert_allclose(np.array(child.matrix), goal, atol=2e-3)
