"""What animates the things that a bake read: what of it makes the bake out of date, and what does not."""

import bpy
import pytest

from ..keying import curves_of, key_slider, set_keys
from .test_compare import changes

pytestmark = pytest.mark.small

TARGETS = ("NEW", "CURRENT", "STRIP")


def stays_up_to_date(part, scene, frames):
    for frame in frames:
        scene.frame_set(frame)
        assert changes(part, scene) == []


@pytest.fixture
def baked_swing(part, scene, swing):
    """A function that bakes a keyed bob on a hinge to a target."""

    def bake(target="NEW"):
        scene.condyle.simulation.output.target = target
        part("jobs.bake").bake_now(scene)
        assert changes(part, scene) == []
        return swing

    return bake


@pytest.mark.parametrize("target", TARGETS)
def test_another_action_in_the_place_of_the_bake_counts(part, scene, baked_swing, target):
    _, bob, _ = baked_swing(target)
    bob.animation_data.action = bpy.data.actions.new("Other")
    bob.location = (1, 1, 1)
    bob.keyframe_insert("location", frame=3)
    told = changes(part, scene)
    assert len(told) == 1 and told[0][1] == "Bob" and told[0][2].startswith("keys")
    part("jobs.bake").bake_now(scene)
    assert changes(part, scene) == []


@pytest.mark.parametrize("target", TARGETS)
def test_keys_of_what_moves_nothing_change_nothing(part, scene, baked_swing, target):
    _, bob, _ = baked_swing(target)
    bob.keyframe_insert("color", frame=7)
    bob.keyframe_insert("show_name", frame=7)
    assert changes(part, scene) == []


@pytest.mark.parametrize("target", TARGETS)
def test_another_name_of_an_action_and_its_slot_changes_nothing(part, scene, baked_swing, target):
    bob = baked_swing(target)[1]
    record = bob.condyle.bake
    for action in {record.action, record.previous_action, record.backup} - {None}:
        action.name = f"Other {action.name}"
        for slot in getattr(action, "slots", ()):
            if slot.name_display == "Stranger":
                action.slots.remove(slot)  # the choice would be in doubt
            else:
                slot.name_display = f"Other {slot.name_display}"
    assert changes(part, scene) == []


@pytest.fixture
def rig(scene, make, body, authoring):
    """Bones A and B below a Root, B on a hinge; keys of Root, B and of a bone beside them: (armature, its bones)."""
    scene.frame_start, scene.frame_end = 1, 6
    bones = {
        "Root": ((0, 0, 2), (0, 0, 1.5), None),
        "A": ((0, 0, 1.5), (0, 0, 1), "Root"),
        "B": ((0, 0, 1), (0.1, 0, 0.5), "A"),
        "Beside": ((1, 0, 0), (1, 0, 1), None),
    }
    item = make.armature("Rig", bones)
    for name in ("Root", "B", "Beside"):
        for frame in (1, 6):
            item.pose.bones[name].location = (0, 0.002 * frame, 0)
            item.pose.bones[name].keyframe_insert("location", frame=frame)
    item.pose.bones["Beside"].driver_add("scale", 0).driver.expression = "1.5"
    scene.frame_set(1)
    authoring.make_body(scene, body(item, "B"), mass=1.0, center=(0.1, 0.2, 0), inertia=(0.02, 0.01, 0.02))
    authoring.add_joint(scene, body(item, "A"), body(item, "B"), "hinge", name="Elbow")
    return item


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["B", "Root", "Beside"])
def test_another_name_of_a_bone_with_keys_changes_nothing(part, scene, rig, name, target):
    scene.condyle.simulation.output.target = target
    part("jobs.bake").bake_now(scene)
    rig.pose.bones[name].name = f"Other {name}"
    assert changes(part, scene) == []
    part("making.duplicates").mend()
    assert changes(part, scene) == []


@pytest.mark.parametrize("name", ["B", "Root", "Beside"])
def test_another_name_of_a_bone_changes_nothing_where_the_baked_action_is_put_aside(part, scene, rig, name):
    """Blender gives the name to no curve then, neither of that action nor of the one before."""
    scene.condyle.simulation.output.target = "CURRENT"
    part("jobs.bake").bake_now(scene)
    rig.animation_data.action = None
    assert changes(part, scene) == []
    rig.pose.bones[name].name = f"Other {name}"
    assert changes(part, scene) == []


def edit_key(strip):
    curve = curves_of(strip)[0]
    curve.keyframe_points[0].co[1] += 5.0


@pytest.fixture
def above(part, scene, make, body):
    """An Empty on which the parent of a hinge hangs."""
    scene.frame_start, scene.frame_end = 1, 6
    held, swung, item = make.box("Held", (0, 0, 1)), make.box("Swung", (0, 0, 0.5)), make.empty("Above")
    held.parent = item
    make.update()
    part("making.bodies_and_joints").add_joint(scene, body(held), body(swung), "hinge", name="Hinge")
    return item


@pytest.mark.parametrize(
    "edit",
    [
        edit_key,
        lambda strip: setattr(strip, "mute", True),
        lambda strip: setattr(strip, "blend_type", "ADD"),
        lambda strip: setattr(strip, "frame_start_raw", 3.0),
        lambda strip: setattr(strip, "influence", 0.5),
        lambda strip: setattr(strip.id_data.animation_data.nla_tracks[0], "mute", True),
    ],
)
def test_what_is_changed_in_the_nla_is_told(part, scene, above, edit):
    set_keys(above, "location", {1: 0.0, 6: 0.3}, axis=0)
    data = above.animation_data
    action, data.action = data.action, None
    strip = data.nla_tracks.new().strips.new("Strip", 1, action)
    strip.use_auto_blend = False
    scene.frame_set(1)
    part("jobs.bake").bake_now(scene)
    stays_up_to_date(part, scene, (1, 3, 6))
    edit(strip)
    told = changes(part, scene)
    assert len(told) == 1 and told[0][1] == "Above" and told[0][2].startswith("keys")


def key(owner, path, values, **options):
    for frame, value in values.items():
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame, **options)


def test_settings_that_are_keyed_change_nothing_in_time(part, scene, above, rig):
    """Of the scene, of a body that is an object, of one that is a bone; what is not keyed of them still counts."""
    simulation, swung = scene.condyle.simulation, bpy.data.objects["Swung"]
    key(simulation, "gravity", {1: (0, 0, -9.81), 6: (0, 0, -1)}, index=2)
    key(scene.condyle.start, "preroll", {1: 1, 6: 3})
    key(swung.condyle.body, "density", {1: 1000.0, 6: 2000.0})
    for frame, mass in ((1, 1.0), (6, 2.0)):
        rig.pose.bones["B"].condyle.body.mass = mass
        rig.keyframe_insert('pose.bones["B"].condyle.body.mass', frame=frame)
    scene.frame_set(1)
    part("jobs.bake").bake_now(scene)
    stays_up_to_date(part, scene, (1, 3, 6))
    simulation.gravity[0] = 1.0
    assert changes(part, scene) == [("changed-since-bake", "Scene", "gravity")]
    simulation.gravity[0] = 0.0
    for item in (scene, swung, rig):
        curves = own_curves(part, item)
        next(each for each in curves if "condyle" in each.data_path).keyframe_points[0].co[1] += 0.5
    assert changes(part, scene) == [
        ("changed-since-bake", "Scene", "keys"),
        ("changed-since-bake", "Rig/B", "keys"),
        ("changed-since-bake", "Swung", "keys"),
    ]


def test_another_bone_in_a_joint_is_told(part, scene, rig):
    part("jobs.bake").bake_now(scene)
    joint = bpy.data.objects["Elbow"].condyle.joint
    part("data.references").point_at(joint.parent, part("data.references").Body(rig, "Root"))
    assert ("changed-since-bake", "Elbow", "parent: bone") in changes(part, scene)


def own_curves(part, item):
    """Curves of the action from before a bake, or without one of that in use."""
    action = item.condyle.bake.previous_action or item.animation_data.action
    return list(part("blender.compat").all_curves(action))


def slide(part, joint, value):
    joint["coordinate"] = value
    joint.update_tag()
    bpy.context.view_layer.update()


@pytest.mark.parametrize(
    ("source", "counts"), [("SETTINGS", False), ("POSE", True), ("MOTION", True), ("FOLLOW", True)]
)
@pytest.mark.parametrize("target", ["NEW", "STRIP"])
def test_a_slider_that_is_not_keyed_counts_where_it_is_read(part, scene, above, source, counts, target):
    joint = bpy.data.objects["Hinge"]
    part("making.bodies_and_joints").drive(scene, joint, True)
    scene.condyle.simulation.output.target = target
    scene.condyle.simulation.output.extras = {"COORDINATES"}
    if source == "FOLLOW":
        joint.condyle.joint.prescribed = True
    else:
        scene.condyle.start.source = source
    scene.frame_set(1)
    part("jobs.bake").bake_now(scene)
    stays_up_to_date(part, scene, (1, 3, 6))
    slide(part, joint, 0.7)
    told = [("changed-since-bake", "Hinge", "angle: slider")] if counts else []
    assert changes(part, scene) == told
    slide(part, joint, 0.0)
    assert changes(part, scene) == []


def test_a_slider_that_is_keyed_changes_nothing_in_time(part, scene, above):
    joint = bpy.data.objects["Hinge"]
    part("making.bodies_and_joints").drive(scene, joint, True)
    scene.condyle.start.source = "MOTION"
    key_slider(joint, {1: 0.0, 6: 0.5})
    scene.frame_set(1)
    part("jobs.bake").bake_now(scene)
    stays_up_to_date(part, scene, (1, 3, 6))
    own_curves(part, joint)[0].keyframe_points[0].co[1] = 0.2
    assert changes(part, scene) == [("changed-since-bake", "Hinge", "keys")]


def test_what_is_keyed_in_one_direction_is_told_in_the_others(part, scene, above):
    key(above, "location", {1: (0, 0, 0), 6: (0, 0, 0.3)}, index=2)
    key(above, "delta_location", {1: (0, 0, 0), 6: (0, 0, 0.3)}, index=2)
    scene.frame_set(1)
    part("jobs.bake").bake_now(scene)
    stays_up_to_date(part, scene, (1, 3, 6))
    above.location.x = 3.0
    assert changes(part, scene) == [("changed-since-bake", "Above", "location")]
    above.location.x, above.delta_location.x = 0.0, 1.0
    assert changes(part, scene) == [("changed-since-bake", "Above", "delta location")]


def test_what_has_muted_keys_alone_is_told_where_it_is_moved(part, scene, above):
    key(above, "location", {1: (0, 0, 0), 6: (0, 0, 0.3)})
    list(part("blender.compat").curves_in_use(above))[2].mute = True
    scene.frame_set(1)
    above.location.z = 0.5
    part("jobs.bake").bake_now(scene)
    stays_up_to_date(part, scene, (1, 3, 6))
    above.location.z = 2.0
    assert changes(part, scene) == [("changed-since-bake", "Above", "location")]


def test_a_pose_that_is_not_keyed_of_a_bone_above_a_body_is_told(part, scene, rig):
    root = rig.pose.bones["Root"]
    scene.condyle.simulation.output.target = "STRIP"
    part("jobs.bake").bake_now(scene)
    stays_up_to_date(part, scene, (1, 3, 6))
    rig.pose.bones["Beside"].rotation_quaternion = (0.8, 0.6, 0, 0)
    assert changes(part, scene) == []
    root.rotation_quaternion = (0.8, 0.6, 0, 0)
    assert changes(part, scene) == [("changed-since-bake", "Rig", "pose")]
    root.rotation_quaternion = (1, 0, 0, 0)
    root.name = "Pelvis"
    assert changes(part, scene) == []


def test_another_name_of_what_a_muscle_is_stuck_to_changes_nothing(part, scene, arm):
    upper, lower, _, muscle = arm
    part("jobs.bake").bake_now(scene)
    upper.name, lower.name, muscle.name = "Humerus", "Ulna", "Brachialis"
    assert changes(part, scene) == []
    hooks = list(part("reading.muscle_points").hooks(muscle).values())
    hooks[1].object = upper  # stuck to something else
    (told,) = changes(part, scene)
    assert told[1] == "Brachialis" and told[2].startswith("hook")
