"""The first minute: three doors, the demo knee, joints from presets, each of which moves at once."""

import math

import bpy
import numpy as np
import pytest

from ..digests import differences, digest
from ..frames_shown import over_frames
from ..selecting import select
from ..undo_stage import OSIM
from ..undo_steps import undone_and_redone

NAMES = ("knee", "hip", "elbow", "shoulder", "wrist", "thumb", "jaw", "finger", "bead", "hinge")


def only_joint(part):
    (found,) = part("data.references").joints_of(bpy.context.scene)
    return found


def joint_on(part, item):
    """The joint that moves an object."""
    joints = part("data.references").joints_of(bpy.context.scene)
    return next(joint for joint in joints if child_of(part, joint).object == item)


def child_of(part, joint):
    return part("data.references").resolve(joint.condyle.joint.child)


def placed(part, joint, slider, value):
    """World matrix of the child where a slider is set."""
    joint[slider] = value
    joint.update_tag()
    bpy.context.view_layer.update()
    return np.array(child_of(part, joint).matrix, dtype=np.float64)


def sliders(part, joint):
    return part("data.joints").slider_names(joint.condyle.joint)


def ends(joint, slider):
    ui = joint.id_properties_ui(slider).as_dict()
    return ui["min"], ui["max"]


@pytest.mark.small
def test_the_doors_are_there_while_nothing_is_and_open(part, scene, make):
    panel = part("ui.welcome.panels")
    assert panel.is_empty(scene)
    item = make.box("Thigh")
    body = part("data.references").Body(item)
    part("making.bodies_and_joints").make_body(scene, body)
    assert not panel.is_empty(scene)
    part("making.bodies_and_joints").remove_body(body)
    assert panel.is_empty(scene)
    for settings in (item.condyle.soft, item.condyle.collider):
        settings.enabled = True
        assert not panel.is_empty(scene)
        settings.enabled = False
    assert bpy.ops.condyle.add_preset(preset="hinge") == {"FINISHED"}
    assert not panel.is_empty(scene)


@pytest.mark.small
def test_a_scene_that_shows_what_another_made_is_not_empty(part, scene, make):
    """Nothing was ever stored in it by itself: it offered to begin beside a button that bakes."""
    item = make.box("Thigh")
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(item))
    other = bpy.data.scenes.new("Other")
    assert part("ui.welcome.panels").is_empty(other)
    other.collection.objects.link(item)
    assert not part("ui.welcome.panels").is_empty(other)


@pytest.mark.small
def test_a_rig_with_a_body_is_not_an_empty_scene(part, scene, make):
    rig = make.armature("Rig", {"A": ((0, 0, 1), (0, 0, 0), None)})
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(rig, "A"))
    assert not part("ui.welcome.panels").is_empty(scene)


@pytest.mark.small
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_demo_knee_has_five_keyed_poses_and_is_fitted_by_one_press(part, scene, scale):
    scene.unit_settings.scale_length = scale
    assert bpy.ops.condyle.demo_knee() == {"FINISHED"}
    joint = only_joint(part)
    assert bpy.context.active_object == joint
    assert part("ui.welcome.panels").NextStepPanel.poll(bpy.context)
    frames, _, _ = part("reading.keyed_poses").keyed_samples(
        scene, part("reading.keyed_poses").source_of_joint(joint)
    )
    assert len(frames) == 5 and frames[0] == scene.frame_start and frames[-1] == scene.frame_end
    assert bpy.ops.condyle.fit() == {"FINISHED"}
    assert not part("ui.welcome.panels").NextStepPanel.poll(bpy.context)
    report = joint.condyle.joint.fit
    assert report.num_poses == 5
    # five control frames pass five poses exactly; Blender keeps them in single precision, 0.4 m from the hip
    assert report.worst_distance < 1e-3
    low, high = ends(joint, "coordinate")
    straight, bent = (placed(part, joint, "coordinate", value) for value in (low, high))
    turn = straight[:3, :3].T @ bent[:3, :3]
    assert math.degrees(math.acos((np.trace(turn) - 1.0) / 2.0)) == pytest.approx(120.0, abs=0.1)


def test_demo_knee_bakes_within_the_keyed_range(part, scene):
    bpy.ops.condyle.demo_knee()
    bpy.ops.condyle.fit()
    assert bpy.ops.condyle.bake() == {"FINISHED"}
    joint = only_joint(part)
    tibia = child_of(part, joint)
    femur = joint.parent
    angles = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        pose = np.array(femur.matrix_world.inverted() @ tibia.matrix)
        angles.append(math.degrees(math.atan2(pose[0, 2] - pose[2, 0], pose[0, 0] + pose[2, 2])))
    assert angles[0] == pytest.approx(60.0, abs=1.0)  # released there, where the fit left the slider
    assert min(angles) > 59.0 and 105.0 < max(angles) < 120.5
    assert not part("blender.session").findings
    assert bpy.ops.condyle.free_bake() == {"FINISHED"}


@pytest.mark.small
def test_demo_knee_goes_beside_what_is_there_and_bakes_in_its_range(part, scene, make):
    box = make.box("Crate", (0, 0, 0), (2, 2, 2))
    box.keyframe_insert("location", frame=1)
    scene.frame_end = 250
    make.update()
    bpy.ops.condyle.demo_knee()
    assert bpy.data.objects["Femur"].matrix_world.translation.x > 1.0
    assert scene.frame_end == 250
    scene.frame_end = 12
    assert part("data.frame_times").frame_range(scene)[-1] == 12


@pytest.mark.small
@pytest.mark.parametrize("scale", [1.0, 0.01])
@pytest.mark.parametrize("name", NAMES)
def test_a_preset_without_bodies_brings_some_and_moves_them(part, scene, name, scale):
    scene.unit_settings.scale_length = scale
    assert bpy.ops.condyle.add_preset(preset=name) == {"FINISHED"}
    joint = only_joint(part)
    settings = joint.condyle.joint
    wanted = part("making.presets").BY_NAME[name].coordinates
    assert settings.driven and [row.title for row in settings.coordinates] == [c.title for c in wanted]
    length = max(child_of(part, joint).object.dimensions) * scale
    assert 0.02 < length < 1.1  # metres, whatever the unit
    for slider, row, coordinate in zip(sliders(part, joint), settings.coordinates, wanted):
        low, high = ends(joint, slider)
        if name != "bead":
            assert (low, high) == pytest.approx(np.radians([coordinate.lower, coordinate.upper]), abs=1e-6)
        assert row.damping > 0.0
        before, after = (placed(part, joint, slider, value) for value in (low, high))
        assert np.abs(after - before)[:3].max() > 0.05 * min(1.0, length / scale)
        joint[slider] = min(max(0.0, low), high)


@pytest.mark.parametrize("name", NAMES)
def test_a_preset_bakes(part, scene, name):
    scene.frame_end = 12
    bpy.ops.condyle.add_preset(preset=name)
    child = child_of(part, only_joint(part))
    assert bpy.ops.condyle.bake() == {"FINISHED"}
    places = over_frames((1, 12), lambda: child.matrix)
    assert np.isfinite(places).all() and np.abs(places[1] - places[0]).max() > 1e-4


@pytest.mark.small
def test_at_zero_the_child_stays_where_it_was(part, scene, make):
    for name in sorted(set(NAMES) - {"bead"}):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        thigh = make.box("Thigh", (0.3, 0.1, 1.0))
        shank = make.box("Shank", (0.31, 0.12, 0.55))
        shank.rotation_euler = (0.3, -0.2, 0.5)
        make.update()
        before = np.array(shank.matrix_world)
        select(shank, thigh)
        assert bpy.ops.condyle.add_preset(preset=name) == {"FINISHED"}
        bpy.context.view_layer.update()
        # single precision, a metre from the origin, through a few followers
        assert np.abs(np.array(shank.matrix_world) - before).max() < 2e-6, name


@pytest.mark.small
def test_the_active_one_is_the_parent_unless_it_hangs_on_the_other(part, scene, make):
    def parent_of(first, second, **options):
        select(first, second)
        assert bpy.ops.condyle.add_preset(preset="hinge", **options) == {"FINISHED"}
        joint = only_joint(part)
        found = part("data.references").resolve(joint.condyle.joint.parent).object
        assert bpy.context.active_object == joint
        part("making.bodies_and_joints").remove_joint(scene, joint)
        make.update()
        return found

    upper, lower = make.box("Upper", (0, 0, 0.5)), make.box("Lower")
    assert parent_of(lower, upper) == upper
    assert parent_of(upper, lower) == lower
    assert parent_of(upper, lower, swap=True) == upper
    lower.parent = upper
    make.update()
    assert parent_of(upper, lower) == upper
    assert parent_of(lower, upper) == upper


@pytest.mark.small
def test_a_knee_bends_backward_and_an_elbow_forward_between_the_boxes(part, scene, make):
    for name, sign in (("knee", 1.0), ("elbow", -1.0)):
        upper = make.box(f"{name} upper", (0, 0, 0.5))
        lower = make.box(f"{name} lower", (0, 0, 0.04))
        select(lower, upper)
        bpy.ops.condyle.add_preset(preset=name)
        joint = next(j for j in part("data.references").joints_of(scene) if j.name.lower() == name)
        # the boxes are 0.4 high: they end at 0.3 and 0.24
        assert tuple(joint.matrix_world.translation) == pytest.approx((0, 0, 0.27), abs=1e-6)
        slider = sliders(part, joint)[0]
        assert sign * placed(part, joint, slider, math.radians(60.0))[1, 3] > 0.1


@pytest.mark.small
def test_abduction_leads_outward_on_both_sides(part, scene, make):
    pelvis = make.box("Pelvis", (0, 0, 1.0), (0.4, 0.2, 0.2))
    for side in (1.0, -1.0):
        thigh = make.box(f"Thigh {side:+g}", (0.1 * side, 0, 0.65))
        select(thigh, pelvis)
        bpy.ops.condyle.add_preset(preset="hip")
        joint = joint_on(part, thigh)
        abduction = sliders(part, joint)[1]
        assert side * (placed(part, joint, abduction, 0.5)[0, 3] - 0.1 * side) > 0.05


@pytest.mark.small
@pytest.mark.parametrize(
    ("preset", "number", "turn"), [("hip", 1, (0, -1, 0)), ("hip", 2, (0, 0, 1)), ("elbow", 1, (0, 0, -1))]
)
def test_equal_values_on_both_sides_mirror_each_other_below_the_parent(
    part, scene, make, preset, number, turn
):
    """Abduction and external rotation of a thigh right below its parent, pronation: told apart by names alone."""
    for side, sign in ((".L", 1.0), (".R", -1.0)):
        upper, lower = make.box(f"Upper{side}", (0, 0, 1.0)), make.box(f"Lower{side}", (0, 0, 0.4))
        select(lower, upper)
        bpy.ops.condyle.add_preset(preset=preset)
        joint = joint_on(part, lower)
        slider = sliders(part, joint)[number]
        start = placed(part, joint, slider, 0.0)
        moved = (placed(part, joint, slider, 0.3) @ np.linalg.inv(start))[:3, :3]
        axis = np.array([moved[2, 1] - moved[1, 2], moved[0, 2] - moved[2, 0], moved[1, 0] - moved[0, 1]])
        assert sign * axis @ turn == pytest.approx(2.0 * math.sin(0.3), rel=1e-5)  # transforms are float32


@pytest.mark.small
@pytest.mark.parametrize(("left", "right", "aside"), [("Hand.L", "Hand.R", 0.0), ("Palm", "Palm", 0.8)])
def test_a_hand_goes_farther_to_the_little_finger_and_a_thumb_outward_on_both_sides(
    part, scene, make, left, right, aside
):
    """With the palm to the front; by their names, or by where they are."""
    for preset, number, farther in (("wrist", 1, -1.0), ("thumb", 1, 1.0)):
        for name, side in ((left, 1.0), (right, -1.0)):  # of the figure: its left, its right
            arm = make.box(f"{preset} arm {side:+g}", (aside * side, 0, 0.5))
            hand = make.box(name, (aside * side, 0, 0.04))
            select(hand, arm)
            bpy.ops.condyle.add_preset(preset=preset)
            joint = joint_on(part, hand)
            slider = sliders(part, joint)[number]
            largest = max(ends(joint, slider), key=abs)
            start = placed(part, joint, slider, 0.0)
            moved = placed(part, joint, slider, largest) - start
            outward = side * (moved @ (0.0, 0.0, -0.2, 1.0))[0]
            assert farther * outward > 0.02, (preset, name)
            for item in (joint, arm, hand):
                item.name = f"Done {preset} {side:+g}"


@pytest.mark.small
def test_a_shoulder_blade_turns_upward_within_its_limits_on_both_sides(part, scene, make):
    for side in (1.0, -1.0):  # of the figure, which faces the front view: its left, its right
        thorax = make.box(f"Thorax {side:+g}", (2.0 * side, 0, 0), (0.3, 0.22, 0.4))
        blade = make.box(f"Blade {side:+g}", ((2.0 + 0.06) * side, 0.13, 0.05), (0.1, 0.024, 0.15))
        select(blade, thorax)
        bpy.ops.condyle.add_preset(preset="shoulder")
        joint = joint_on(part, blade)
        tips = np.array([(0.05 * side, 0, 0, 1), (-0.05 * side, 0, 0, 1)])  # away from the spine, next to it
        upward, winging = sliders(part, joint)[2:]
        at_rest = placed(part, joint, upward, 0.0)
        for slider, tip, axis, least in ((upward, 0, 2, 0.02), (winging, 1, 1, 0.01)):
            # by the larger of its limits the outer end goes up, and the inner edge off the ribs
            largest = max(ends(joint, slider), key=abs)
            moved = placed(part, joint, slider, largest) - at_rest
            assert (moved @ tips[tip])[axis] > least
            placed(part, joint, slider, 0.0)


@pytest.mark.small
@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_a_bead_follows_a_round_wire_without_end(part, scene, make, scale):
    bpy.ops.curve.primitive_nurbs_circle_add(radius=0.5, location=(0.2, 0, 1))
    wire = bpy.context.active_object
    wire.scale = (scale, scale, scale)
    bead = make.box("Bead", (0.2 + 0.5 * scale, 0, 1), (0.05, 0.05, 0.05))
    select(wire, bead)  # whichever is active, the curve is the wire
    assert bpy.ops.condyle.add_preset(preset="bead") == {"FINISHED"}
    joint = only_joint(part)
    assert child_of(part, joint).object == bead and joint.condyle.joint.periodic
    low, high = ends(joint, "coordinate")
    assert np.array(bead.matrix_world.translation) == pytest.approx(
        (0.2 + 0.5 * scale, 0, 1), abs=0.02 * scale
    )
    for value in np.linspace(low, high, 17):
        away = placed(part, joint, "coordinate", value)[:3, 3] - (0.2, 0, 1)
        # the curve passes near its control frames, not through them: within 2 % with one every 17 degrees
        assert np.linalg.norm(away) == pytest.approx(0.5 * scale, rel=0.02)


@pytest.mark.small
def test_what_cannot_be_is_said_and_changes_nothing(part, scene, make):
    upper, lower = make.box("Upper", (0, 0, 0.5)), make.box("Lower")
    select(lower, upper)
    before = digest()
    with pytest.raises(RuntimeError, match="Upper is not a curve, but a bead needs one"):
        bpy.ops.condyle.add_preset(preset="bead")
    lower.scale = (1, 2, 1)
    make.update()
    changed = digest()
    with pytest.raises(RuntimeError, match="Lower: non-uniform scale"):
        bpy.ops.condyle.add_preset(preset="knee")
    assert differences(changed, digest()) == []
    lower.scale = (1, 1, 1)
    make.update()
    assert differences(before, digest()) == []
    part("making.bodies_and_joints").make_body(scene, part("data.references").Body(lower), density=0.0)
    changed = digest()
    with pytest.raises(RuntimeError, match="Lower: density must be positive"):
        bpy.ops.condyle.add_preset(preset="knee")
    assert differences(changed, digest()) == []
    third = make.box("Third")
    select(upper, lower, third)
    with pytest.raises(RuntimeError, match="More than two are selected"):
        bpy.ops.condyle.add_preset(preset="knee")
    upper.select_set(False)
    bpy.context.view_layer.objects.active = upper
    with pytest.raises(RuntimeError, match="not one of the two selected"):
        bpy.ops.condyle.add_preset(preset="knee")


@pytest.mark.small
def test_an_open_mesh_gets_its_mass_from_its_box(part, scene, make):
    upper, lower = make.box("Upper", (0, 0, 0.5)), make.box("Lower", size=(0.1, 0.2, 0.4))
    mesh = lower.data
    mesh.clear_geometry()
    mesh.from_pydata([(-0.05, -0.1, -0.2), (0.05, -0.1, 0.2), (0.05, 0.1, 0.2)], [], [(0, 1, 2)])
    make.update()
    select(lower, upper)
    assert bpy.ops.condyle.add_preset(preset="elbow") == {"FINISHED"}
    settings = lower.condyle.body
    assert settings.mass_source == "MANUAL"
    assert settings.mass == pytest.approx(0.5 * 1000.0 * 0.1 * 0.2 * 0.4)
    assert settings.inertia_diagonal[0] == pytest.approx(settings.mass * (0.2**2 + 0.4**2) / 12.0)
    assert upper.condyle.body.mass_source == "MESH"


@pytest.mark.small
@pytest.mark.parametrize("name", NAMES)
def test_undo_and_redo_of_a_preset_with_its_own_bodies(scene, name):
    changed, undone, redone = undone_and_redone("add_preset", {"preset": name})
    assert changed and undone == redone == []


@pytest.mark.small
def test_an_imported_model_moves_by_sliders_after_one_more_press(part, scene, tmp_path):
    path = tmp_path / "lever.osim"
    path.write_text(OSIM, "utf-8")
    assert bpy.ops.condyle.import_opensim(filepath=str(path)) == {"FINISHED"}
    assert not part("ui.welcome.panels").is_empty(scene)
    assert bpy.ops.condyle.drive_all() == {"FINISHED"}
    joint = only_joint(part)
    before, after = (placed(part, joint, "coordinate", value) for value in (0.0, 0.5))
    turn = before[:3, :3].T @ after[:3, :3]
    assert math.acos((np.trace(turn) - 1.0) / 2.0) == pytest.approx(0.5, abs=1e-5)


@pytest.mark.small
@pytest.mark.parametrize("name", ["bead", "knee"])
def test_bodies_that_a_preset_makes_bake_without_a_word_about_their_turns(part, scene, name):
    bpy.ops.condyle.add_preset(preset=name)
    scene.frame_end = 40
    bpy.ops.condyle.bake()
    assert not [each.text for each in part("blender.session").findings if each.code == "swinging-angles"]
