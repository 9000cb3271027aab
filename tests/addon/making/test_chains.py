"""Chains on bones and objects: what they are made of, what is refused, presets."""

import itertools
import math

import bpy
import numpy as np
import pytest

from ..chain_rigs import add_chain, rig_with_tail, select_bones, tail


def chains_of(part, scene):
    """Names of the carrier and the link of each joint."""
    references = part("data.references")
    found = []
    for item in references.joints_of(scene):
        joint = item.condyle.joint
        found.append((references.resolve(joint.parent).name, references.resolve(joint.child).name))
    return sorted(found)


@pytest.mark.small
def test_each_bone_hangs_on_its_parent_by_a_ball_with_the_preset_s_spring(part, scene, make):
    rig = rig_with_tail(make, 3)
    assert add_chain(rig, *tail(rig), preset="EAR") == {"FINISHED"}
    names = ["Rig/Hips", *(f"Rig/{name}" for name in tail(rig))]
    assert chains_of(part, scene) == list(itertools.pairwise(names))
    assert not rig.pose.bones["Hips"].condyle.body.enabled  # it is animated, and needs no mass
    preset = part("making.chain_presets").BY_NAME["EAR"]
    for item in part("data.references").joints_of(scene):
        assert (item.condyle.joint.type, item.condyle.joint.start_from) == ("spherical", "SETTLED")
    for name in tail(rig):
        body = rig.pose.bones[name].condyle.body
        assert body.spring.enabled and body.spring.frequency == preset.frequency
        assert body.spring.damping_ratio == pytest.approx(preset.damping_ratio)
        assert (body.gravity, body.drag) == (1.0, 0.0)


def test_chains_branch_and_several_are_made_at_once(part, scene, make):
    bones = {"Hips": ((0, 0, 1), (0, 0, 1.1), None), "A": ((0, 0, 1.1), (0, 0, 1.2), "Hips")}
    bones |= {"B": ((0, 0, 1.2), (0.1, 0, 1.3), "A"), "C": ((0, 0, 1.2), (-0.1, 0, 1.3), "A")}
    bones |= {"Ear": ((0, 0.1, 1), (0, 0.2, 1), "Hips")}
    rig = make.armature("Rig", bones)
    add_chain(rig, "C", "Ear", "B", "A")
    pairs = [("A", "B"), ("A", "C"), ("Hips", "A"), ("Hips", "Ear")]
    assert chains_of(part, scene) == [(f"Rig/{above}", f"Rig/{below}") for above, below in pairs]


def test_wind_says_on_how_many_links_it_blows(part, scene, make, capsys):
    rig = rig_with_tail(make, 3)
    bpy.ops.condyle.add_wind()
    add_chain(rig, *tail(rig))
    rig.pose.bones["Tail.0"].condyle.body.fields = 0.0
    bpy.ops.condyle.add_wind()
    told = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Info: Wind")]
    assert ["no links" in told[0], "2 links" in told[1]] == [True, True]


def test_what_has_a_joint_keeps_it_and_later_links_join_it(part, scene, make):
    rig = rig_with_tail(make, 3)
    add_chain(rig, "Tail.0")
    rig.pose.bones["Tail.0"].condyle.body.spring.frequency = 7.0
    assert add_chain(rig, *tail(rig)) == {"FINISHED"}
    assert len(chains_of(part, scene)) == 3
    assert rig.pose.bones["Tail.0"].condyle.body.spring.frequency == 7.0
    with pytest.raises(RuntimeError, match="joints already"):
        add_chain(rig, *tail(rig))


def test_a_bone_without_a_parent_hangs_on_its_armature(part, scene, make):
    rig = make.armature("Rope", {"A": ((0, 0, 1), (0, 0, 0.5), None)})
    add_chain(rig, "A", preset="ROPE")
    assert chains_of(part, scene) == [("Rope", "Rope/A")]


def test_objects_hang_on_their_parents_and_the_first_carries_them(part, scene, make):
    boxes = [make.box(name, (0, 0, -0.5 * number)) for number, name in enumerate("abc")]
    for above, below in itertools.pairwise(boxes):
        below.parent, below.matrix_parent_inverse = above, above.matrix_world.inverted()
    make.update()
    bpy.ops.object.select_all(action="SELECT")
    assert bpy.ops.condyle.add_chain(preset="ROPE") == {"FINISHED"}
    assert chains_of(part, scene) == [("a", "b"), ("b", "c")]
    assert boxes[1].condyle.body.mass_source == "MESH" and not boxes[0].condyle.body.enabled


def test_objects_without_a_parent_are_refused(part, scene, make):
    make.box("a")
    bpy.ops.object.select_all(action="SELECT")
    with pytest.raises(RuntimeError, match="has no parent"):
        bpy.ops.condyle.add_chain()
    assert not bpy.data.objects["a"].condyle.schema_version


@pytest.mark.small
def test_bones_that_cannot_be_keyed_are_refused_and_nothing_is_changed(part, scene, make):
    rig = rig_with_tail(make, 3)
    line = bpy.data.curves.new("Line", "CURVE")
    points = line.splines.new("BEZIER").bezier_points
    points.add(1)
    points[1].co = points[1].handle_left = points[1].handle_right = 0.0, 0.1, -1.0
    constraint = rig.pose.bones["Tail.2"].constraints.new("SPLINE_IK")
    constraint.target, constraint.chain_count = bpy.data.objects.new("Line", line), 2
    constraint.y_scale_mode, constraint.use_curve_radius = "NONE", False
    scene.collection.objects.link(constraint.target)
    make.update()
    with pytest.raises(RuntimeError, match="Spline IK"):
        add_chain(rig, *tail(rig))
    assert not chains_of(part, scene) and not rig.pose.bones["Tail.0"].condyle.body.enabled


def test_connected_bones_do_not_slide(part, scene, make):
    rig = rig_with_tail(make, 1)
    with pytest.raises(RuntimeError, match="is connected"):
        add_chain(rig, "Tail.0", preset="BELLY")


def test_a_linked_rig_is_refused_with_the_reason(part, scene, make, tmp_path):
    rig = rig_with_tail(make, 1)
    bpy.data.libraries.write(str(tmp_path / "rig.blend"), {rig}, fake_user=True)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(tmp_path / "rig.blend"), link=True) as (_, wanted):
        wanted.objects = ["Rig"]
    bpy.context.scene.collection.objects.link(bpy.data.objects["Rig"])
    make.update()
    body = part("data.references").Body(bpy.data.objects["Rig"], "Tail.0")
    tuning = part("making.chains").Tuning(2.0, 0.3)
    with pytest.raises(Exception, match="library override"):
        part("making.chains").add(bpy.context.scene, [body], "spherical", tuning)


def tube(make, rig, radius, length, bones):
    """A closed tube about the tail of a rig, each vertex moved by the bone beside it."""
    import bmesh

    mesh, rings = bpy.data.meshes.new("Skin"), 4 * len(bones)
    shape = bmesh.new()
    bmesh.ops.create_cone(
        shape, cap_ends=True, segments=32, radius1=radius, radius2=radius, depth=length * len(bones)
    )
    bmesh.ops.bisect_edges(
        shape,
        edges=[each for each in shape.edges if abs(each.verts[0].co.z - each.verts[1].co.z) > 1e-6],
        cuts=rings - 1,
    )
    for vertex in shape.verts:
        x, y, z = vertex.co
        vertex.co = (x, -0.5 * length * len(bones) - z, y + 1.0)
    shape.normal_update()
    shape.to_mesh(mesh)
    shape.free()
    item = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(item)
    for number, name in enumerate(bones):
        group = item.vertex_groups.new(name=name)
        for vertex in mesh.vertices:
            if number * length - 1e-6 <= -vertex.co.y <= (number + 1) * length + 1e-6:
                group.add([vertex.index], 0.5, "REPLACE")
    item.parent = rig
    item.modifiers.new("Rig", "ARMATURE").object = rig
    make.update()
    return item


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_bones_weigh_as_much_as_their_skin(part, scene, make, scale):
    rig = rig_with_tail(make, 3)
    tube(make, rig, 0.03, 0.1, tail(rig))
    rig.scale = (scale,) * 3
    make.update()
    add_chain(rig, *tail(rig))
    # a prism of 32 sides; faces between two bones count by half for each
    whole = 0.5 * 32 * math.sin(2.0 * math.pi / 32) * 0.03**2 * 0.3 * 1000.0 * scale**3
    masses = [rig.pose.bones[name].condyle.body.mass for name in tail(rig)]
    assert sum(masses) == pytest.approx(whole, rel=1e-5)
    assert masses == pytest.approx([whole / 3.0] * 3, rel=0.01)
    inertia = rig.pose.bones["Tail.1"].condyle.body.inertia_diagonal
    cylinder = masses[1] / 12.0 * (3.0 * 0.03**2 + 0.1**2) * scale**2
    assert inertia[0] == pytest.approx(cylinder, rel=0.3)  # a capsule of the same mass, rounder


def test_bones_without_skin_weigh_as_much_as_a_capsule(part, scene, make):
    rig = rig_with_tail(make, 1, 0.1)
    add_chain(rig, "Tail.0")
    mass = 1000.0 * math.pi * (0.02**2 * 0.06 + 4.0 / 3.0 * 0.02**3)
    assert rig.pose.bones["Tail.0"].condyle.body.mass == pytest.approx(mass, rel=1e-5)


def test_a_mass_of_the_user_s_own_is_kept(part, scene, make):
    rig = rig_with_tail(make, 1)
    body = part("data.references").Body(rig, "Tail.0")
    part("making.bodies_and_joints").make_body(scene, body, mass=3.0)
    add_chain(rig, "Tail.0")
    assert rig.pose.bones["Tail.0"].condyle.body.mass == 3.0


def test_figures_that_are_given_go_before_the_preset_s(part, scene, make):
    rig = rig_with_tail(make, 1)
    add_chain(rig, "Tail.0", preset="HAIR", frequency=5.0)
    body = rig.pose.bones["Tail.0"].condyle.body
    preset = part("making.chain_presets").BY_NAME["HAIR"]
    assert (body.spring.frequency, body.drag) == (5.0, preset.drag)


def test_figures_of_the_last_call_do_not_go_to_another_preset(part, scene, make):
    """A button offers what the operator was called with last."""
    rig = rig_with_tail(make, 1)
    add_chain(rig, "Tail.0", preset="EAR", figures_of="TAIL", frequency=9.0)
    assert rig.pose.bones["Tail.0"].condyle.body.spring.frequency == 4.0


def test_copy_to_selected_sets_all_links_that_are_selected(part, scene, make):
    rig = rig_with_tail(make, 4)
    add_chain(rig, *tail(rig))
    bones = [rig.pose.bones[name] for name in tail(rig)]
    active = bones[1].condyle.body
    active.spring.frequency, active.gravity, active.drag = 9.0, 0.5, 1.5
    select_bones(rig, "Hips", "Tail.0", "Tail.2", "Tail.1")
    assert bpy.ops.condyle.copy_to_selected() == {"FINISHED"}
    assert [bone.condyle.body.spring.frequency for bone in bones] == pytest.approx([9.0, 9.0, 9.0, 1.2])
    assert [bone.condyle.body.gravity for bone in bones] == [0.5, 0.5, 0.5, 1.0]
    assert not rig.pose.bones["Hips"].condyle.body.enabled
    select_bones(rig, "Tail.0", "Hips")
    assert not bpy.ops.condyle.copy_to_selected.poll()


def test_presets_are_sound(part):
    for each in part("making.chain_presets").CHAIN_PRESETS:
        assert each.kind in part("data.joint_types").TYPES
        assert each.frequency > 0.0 and np.isfinite([each.damping_ratio, each.gravity, each.drag]).all()
