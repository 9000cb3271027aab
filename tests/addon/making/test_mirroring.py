"""Joints mirrored onto the other side: bones, objects, every type of joint; rotations stay rotations."""

import json

import bpy
import numpy as np
import pytest

from ..selecting import select

FLIP = np.diag([-1.0, 1.0, 1.0, 1.0])


def rigid(matrix):
    return np.array(matrix.normalized())


def image(pose):
    return FLIP @ pose @ FLIP


def set_sliders(part, joint, share):
    """Put a joint's only slider at a share of its range; returns the value."""
    shown = joint.id_properties_ui("coordinate").as_dict()
    joint["coordinate"] = shown["min"] + share * (shown["max"] - shown["min"])
    joint.update_tag()
    return joint["coordinate"]


@pytest.fixture
def legs(part, scene, make, authoring):
    """An armature with two legs, the left knee keyed, fitted and driven: `legs(scale, roll)` -> (rig, joint)."""

    def made(scale=1.0, roll=0.0):
        scene.unit_settings.scale_length = 1.0 / scale
        bones = {}
        for side, x in ((".L", 0.1), (".R", -0.1)):
            hip, knee, foot = (
                (x * scale, 0.0, 0.9 * scale),
                (1.1 * x * scale, 0.05 * scale, 0.5 * scale),
                (x * scale, 0, 0),
            )
            bones["Thigh" + side] = (hip, knee, None)
            bones["Shank" + side] = (knee, foot, "Thigh" + side)
        rig = make.armature("Rig", bones)
        rig.location, rig.rotation_euler = (0.3 * scale, 0.2 * scale, 0.0), (0.1, 0.2, 0.7)
        bpy.ops.object.mode_set(mode="EDIT")
        for bone in rig.data.edit_bones:
            bone.roll = 0.4 if bone.name.endswith("L") else -0.4 + roll
        bpy.ops.object.mode_set(mode="OBJECT")
        bone = rig.pose.bones["Shank.L"]
        for number, angle in enumerate(np.linspace(0.0, 1.8, 10)):
            bone.rotation_quaternion = (np.cos(angle / 2), np.sin(angle / 2), 0.05 * angle, 0.1 * angle)
            bone.location = np.array((0.01 * angle, 0.01 * angle**2, -0.01 * angle)) * scale
            for path in ("location", "rotation_quaternion"):
                bone.keyframe_insert(path, frame=1 + number)
        make.update()
        body = part("data.references").Body
        joint = authoring.add_joint(scene, body(rig, "Thigh.L"), body(rig, "Shank.L"), name="Knee.L")
        select(joint)
        assert bpy.ops.condyle.fit(num_frames=6) == {"FINISHED"}
        return rig, joint

    return made


@pytest.mark.small
@pytest.mark.parametrize(("scale", "roll"), [(1.0, 0.0), (100.0, 0.0), (0.01, 0.9), (1.0, 0.9)])
def test_a_knee_of_bones_gets_its_mirror_image(part, scene, legs, scale, roll):
    rig, joint = legs(scale, roll)
    row = joint.condyle.joint.coordinates[0]
    row.limits, row.lower, row.upper, row.stiffness, row.rest = "CUSTOM", 0.1, 1.2, 3.0, 0.3
    # how the legs stand now does not matter
    rig.pose.bones["Thigh.L"].rotation_quaternion = (0.9, 0.2, 0.3, -0.1)
    bpy.context.view_layer.update()
    assert bpy.ops.condyle.mirror_joint() == {"FINISHED"}
    other = bpy.data.objects["Knee.R"]
    assert bpy.context.active_object == other and other.condyle.joint.driven
    own = other.condyle.joint.coordinates[0]
    assert [getattr(own, name) for name in ("lower", "upper", "stiffness", "rest")] == [
        getattr(row, name) for name in ("lower", "upper", "stiffness", "rest")
    ]
    rests = {bone.name: np.array(bone.matrix_local) for bone in rig.data.bones}
    offset = np.linalg.inv(image(rests["Shank.L"])) @ rests["Shank.R"]
    above = np.linalg.inv(image(rests["Thigh.L"])) @ rests["Thigh.R"]
    for share in (0.0, 0.4, 1.0):
        assert set_sliders(part, joint, share) == pytest.approx(set_sliders(part, other, share), rel=1e-5)
        bpy.context.view_layer.update()
        poses = {bone.name: np.array(bone.matrix) for bone in rig.pose.bones}
        left = np.linalg.inv(poses["Thigh.L"]) @ poses["Shank.L"]
        right = np.linalg.inv(poses["Thigh.R"]) @ poses["Shank.R"]
        wanted = np.linalg.inv(above) @ image(left) @ offset
        assert np.abs(right - wanted)[:3, :3].max() < 2e-5
        assert np.abs(right - wanted)[:3, 3].max() < 2e-5 * scale
    for frame in other.condyle.joint.frames:
        assert np.linalg.det(np.array(frame.object.matrix_world)[:3, :3]) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.small
def test_a_joint_that_is_there_is_brought_up_to_date(part, scene, legs):
    _, joint = legs()
    assert bpy.ops.condyle.mirror_joint() == {"FINISHED"}
    other = bpy.data.objects["Knee.R"]
    before = len(bpy.data.objects)
    select(joint)
    joint.condyle.joint.frames[2].object.location.x += 0.02
    assert bpy.ops.condyle.mirror_joint() == {"FINISHED"}
    assert len(bpy.data.objects) == before
    read = part("data.stored_joints").control_frames
    assert np.allclose(read(scene, other), image(read(scene, joint)), atol=1e-6)
    select(other)  # and back: nothing changes
    now = read(scene, joint)
    assert bpy.ops.condyle.mirror_joint() == {"FINISHED"}
    assert np.allclose(read(scene, joint), now, atol=1e-6)


@pytest.fixture
def hips(part, scene, make, authoring):
    """A pelvis with two thighs, objects; `hips(right)` gives the left joint, the right thigh turned by a matrix."""

    def made(kind="hinge", right=None):
        pelvis = make.box("Pelvis", (0, 0, 1.0))
        body = part("data.references").Body
        thighs = [make.box(f"Thigh{side}", (x, 0.05, 0.7)) for side, x in ((".L", 0.1), (".R", -0.1))]
        thighs[1].rotation_mode = "QUATERNION"
        if right is not None:
            thighs[1].rotation_quaternion = right
        make.update()
        matrix = make.on_ball(0.4, 0.3, 0.1)
        matrix[:3, 3] += 0.05, 0.0, 0.9
        joint = authoring.add_joint(scene, body(pelvis), body(thighs[0]), kind, matrix.tolist(), name="Hip.L")
        select(joint)
        return joint

    return made


REFUSED = {"custom"}
#: joints that do not slide: both sides have the same coordinates
TURNING = {
    *("hinge", "universal", "skewed_universal", "euler", "spherical", "reversed_hinge", "roll_pitch"),
    *("roll_pitch_yaw",),
}


@pytest.mark.parametrize("number", range(25))
def test_every_type_of_joint_moves_as_in_a_mirror(part, scene, make, hips, ph, number):
    joint = hips()
    name = make.shaped(part, scene, joint, number)
    bpy.context.view_layer.update()
    if name in REFUSED:
        with pytest.raises(ph.ModelError, match="no mirror image"):
            part("making.mirroring").mirror(scene, joint)
        assert "Hip.R" not in bpy.data.objects
        return
    settings = joint.condyle.joint
    other = part("making.mirroring").mirror(scene, joint).joint
    signs = []
    for row in settings.coordinates:
        row.start, row.lower, row.upper = 0.123, 0.1, 0.4
    part("making.mirroring").mirror(scene, joint)
    for own in other.condyle.joint.coordinates:
        signs.append(np.sign(own.start))
        assert (own.lower, own.upper) == pytest.approx((0.1, 0.4) if signs[-1] > 0 else (-0.4, -0.1))
    assert name not in TURNING or min(signs) > 0
    read, rest = part("data.stored_joints").read_joint, part("data.stored_joints").child_in_joint
    one, two = read(scene, joint), read(scene, other)
    for values in np.random.default_rng(1).uniform(0.0, 0.3, (3, len(signs))):
        left, right = (
            each.transform(each.from_readings(v)) for each, v in ((one, values), (two, values * signs))
        )
        left = rigid(joint.matrix_world) @ left @ rest(joint)
        right = rigid(other.matrix_world) @ right @ rest(other)
        assert np.abs(right - image(left)).max() < 2e-5


@pytest.mark.small
@pytest.mark.parametrize("preset", ["hip", "thumb", "wrist", "shoulder"])
def test_a_slider_of_the_other_side_does_what_its_title_says(part, scene, make, body, preset):
    """The child of both sides moves alike at the same value, but where the title is the opposite one: there against."""
    opposites = part("making.mirroring").TITLES
    title_of = part("ui.joints.panels").title_of
    sides = {}
    for side, x in ((".L", 1.0), (".R", -1.0)):
        upper = make.box("Upper" + side, (0.3 * x, 0, 0.6), (0.2, 0.15, 0.3))
        sides[side] = upper, make.box("Lower" + side, (0.4 * x, 0.05, 0.1), (0.1, 0.12, 0.4))
    make.update()
    joint = part("making.presets_making").add(scene, preset, *map(body, sides[".L"]))
    other = part("making.mirroring").mirror(scene, joint).joint
    names = part("data.joints").slider_names(joint.condyle.joint)
    rows = list(zip(names, joint.condyle.joint.coordinates, other.condyle.joint.coordinates))
    titles = [row.title for _, row, _ in rows]
    for name, row, own in rows:
        sign = 1.0 if own.title == row.title else -1.0
        assert sign > 0.0 or opposites[row.title] == title_of(own)
        assert preset == "shoulder" or sign > 0.0  # a left blade's type is that of a right one
        assert (own.lower, own.upper) == pytest.approx(sorted((sign * row.lower, sign * row.upper)))
        before = joint[name], other[name]
        joint[name], other[name] = 0.15, 0.15 * sign
        poses = {}
        for each, (_, lower) in zip((joint, other), sides.values()):
            each.update_tag()
            bpy.context.view_layer.update()
            poses[each] = np.array(lower.matrix_world)
        assert np.abs(poses[other] - image(poses[joint])).max() < 2e-5
        joint[name], other[name] = before
    kept = np.array(joint.matrix_world)
    assert part("making.mirroring").mirror(scene, other).joint == joint
    assert [row.title for _, row, _ in rows] == titles
    assert np.abs(np.array(joint.matrix_world) - kept).max() < 2e-6


@pytest.mark.small
def test_a_title_of_one_s_own_says_where_the_other_side_runs_against_it(part, scene, hips):
    joint = hips("free")
    rows = joint.condyle.joint.coordinates
    for row in rows:
        row.title = f"Wobble {row.label}"
    titles = [row.title for row in rows]
    other = part("making.mirroring").mirror(scene, joint).joint
    told = [row.title for row in other.condyle.joint.coordinates]
    # across x: the way along it, and the turns about the two axes in the mirror
    assert [a == b for a, b in zip(told, titles)] == [row.label in ("y", "z", "r_x") for row in rows]
    assert {a.removeprefix(b) for a, b in zip(told, titles)} == {"", ", reversed"}
    part("making.mirroring").mirror(scene, other)
    assert [row.title for row in rows] == titles


@pytest.mark.small
def test_axes_of_the_other_side_may_be_others(part, scene, hips):
    """The right thigh is built turned by half a turn about z."""
    joint = hips("slider", right=(0.0, 0.0, 0.0, 1.0))
    made = part("making.mirroring").mirror(scene, joint)
    assert made.warnings == ()
    one, two = (part("data.stored_joints").child_in_joint(each) for each in (joint, made.joint))
    left, right = rigid(joint.matrix_world) @ one, rigid(made.joint.matrix_world) @ two
    assert np.allclose(right, image(left) @ np.diag([-1.0, -1.0, 1.0, 1.0]), atol=1e-6)
    assert np.allclose(right, rigid(bpy.data.objects["Thigh.R"].matrix_world), atol=1e-6)


@pytest.mark.small
def test_a_joint_that_closes_a_loop_leaves_the_one_that_carries_alone(part, scene, make, authoring, hips):
    carrying = hips()
    carrying.condyle.joint.controller.enabled, carrying.condyle.joint.controller.stiffness = True, 7.0
    mirror = part("making.mirroring").mirror
    other = mirror(scene, carrying).joint
    assert other.condyle.joint.controller.enabled and other.condyle.joint.controller.stiffness == 7.0
    settings, body = carrying.condyle.joint, part("data.references").Body
    ground = make.box("Ground", (0, 0, 0))
    loop = authoring.add_joint(
        scene, body(ground), body(settings.child.object), "spherical", name="A Loop.L", closes_loop=True
    )
    first, second = mirror(scene, loop), mirror(scene, loop)
    assert not first.renewed and second.renewed and first.joint == second.joint not in (None, other)
    assert first.joint.condyle.joint.closes_loop and not other.condyle.joint.closes_loop
    assert other.condyle.joint.type == "hinge" and mirror(scene, carrying).joint == other


@pytest.mark.small
def test_what_cannot_be_seen_is_told_and_what_is_missing_refused(part, scene, make, body, hips, ph):
    joint = hips("hinge", right=(0.9, 0.3, 0.1, 0.2))
    (warning,) = part("making.mirroring").mirror(scene, joint).warnings
    assert "Thigh.R is not at the mirrored pose now" in warning
    bpy.data.objects["Thigh.R"].name = "Other"
    select(joint)
    with pytest.raises(RuntimeError, match=r"Thigh\.L has no other side: no body is named 'Thigh\.R'"):
        bpy.ops.condyle.mirror_joint()
    bpy.data.objects["Thigh.L"].name = "Thigh"
    with pytest.raises(RuntimeError, match=r"Thigh has no other side: its name has no side"):
        bpy.ops.condyle.mirror_joint()
    rig = make.armature(
        "Rig", {"A.L": ((0.1, 0, 1), (0.1, 0, 0.5), None), "A.R": ((-0.3, 0, 1), (-0.1, 0, 0.5), None)}
    )
    bones = part("making.bodies_and_joints").add_joint(scene, None, body(rig, "A.L"), "hinge")
    with pytest.raises(ph.ModelError, match=r"Rig/A\.R is .* from the mirror image of Rig/A\.L"):
        part("making.mirroring").mirror(scene, bones)


@pytest.mark.small
def test_a_mass_by_hand_is_mirrored_too(part, scene, legs):
    rig, _ = legs(roll=0.9)
    source = rig.pose.bones["Shank.L"].condyle.body
    source.mass, source.center_of_mass = 3.0, (0.01, 0.2, 0.03)
    source.inertia_diagonal, source.inertia_products = (0.05, 0.01, 0.055), (0.001, -0.002, 0.003)
    assert bpy.ops.condyle.mirror_joint() == {"FINISHED"}
    other = rig.pose.bones["Shank.R"].condyle.body
    rests = {bone.name: np.array(bone.matrix_local) for bone in rig.data.bones}
    place = rests["Shank.L"] @ [*source.center_of_mass, 1.0]
    assert np.allclose(rests["Shank.R"] @ [*other.center_of_mass, 1.0], FLIP @ place, atol=1e-5)

    def turned(body, rotation):
        xy, xz, yz = body.inertia_products
        inertia = np.diag(body.inertia_diagonal) + np.array([[0, xy, xz], [xy, 0, yz], [xz, yz, 0]])
        return rotation @ inertia @ rotation.T

    wanted = turned(source, FLIP[:3, :3] @ rests["Shank.L"][:3, :3])
    assert np.allclose(turned(other, rests["Shank.R"][:3, :3]), wanted, atol=1e-7) and other.mass == 3.0


@pytest.mark.small
def test_a_coordinate_without_a_title_says_where_it_runs_against_the_other_side(part, scene, hips):
    """What the panel shows; mirrored back it is without a title again."""
    joint = hips("free")
    title_of = part("ui.joints.panels").title_of
    rows = joint.condyle.joint.coordinates
    assert {row.title for row in rows} == {""}
    other = part("making.mirroring").mirror(scene, joint).joint
    for row, own in zip(rows, other.condyle.joint.coordinates):
        against = row.label not in ("y", "z", "r_x")
        assert title_of(own) == title_of(row) + (", reversed" if against else "")
    part("making.mirroring").mirror(scene, other)
    assert {row.title for row in rows} == {""}


def test_laws_of_a_coordinate_that_runs_the_other_way_are_reversed(part, scene, hips, ph):
    joint = hips("free")
    kinds, read = ph.joints, part("blender.physics_access").part("joints.functions").function_from_dict
    laws = {
        "elastic": kinds.PiecewisePolynomial([-0.3, 0.1, 0.5], [[1.0, -2.0, 3.0], [2.0, 0.5, 1.0]]),
        "viscosity": kinds.Polynomial([2.0, 0.3, 0.1]),
        "damper": kinds.CubicSpline([-1.0, 0.0, 0.5, 2.0], [-3.0, 0.0, 1.0, 2.0]),
    }
    for row in joint.condyle.joint.coordinates:
        row.laws = json.dumps({name: law.to_dict() for name, law in laws.items()})
    other = part("making.mirroring").mirror(scene, joint).joint
    x = np.linspace(-3.0, 3.0, 40)
    for row in other.condyle.joint.coordinates:
        sign = 1.0 if row.label in ("y", "z", "r_x") else -1.0
        for name, described in json.loads(row.laws).items():
            force = 1.0 if name == "viscosity" else sign
            np.testing.assert_allclose(
                read(described)(sign * x), force * laws[name](x), atol=1e-12
            )  # round-off
    joint.condyle.joint.coordinates[0].laws = '{"spring": 1}'
    with pytest.raises(ph.ModelError, match=r"joint 'Hip\.L': Laws has 'spring'; there are elastic"):
        part("reading.scene").read(scene)
