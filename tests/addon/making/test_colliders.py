"""Colliders: what is fitted, how they are read, and that chains stay out of them."""

import bpy
import numpy as np
import pytest

from ..chain_rigs import add_chain, rig_with_tail, select_bones, tail
from ..selecting import select


def add_collider(*items, **options):
    if bpy.context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    select(*items)
    return bpy.ops.condyle.add_collider(**options)


def mesh(name, make, *, location=(0, 0, 0), scale=(1, 1, 1)):
    """An object with a mesh that an operator of bmesh makes."""
    import bmesh

    item = bpy.data.objects.new(name, bpy.data.meshes.new(name))
    shape = bmesh.new()
    make(bmesh.ops, shape)
    shape.to_mesh(item.data)
    shape.free()
    item.location, item.scale = location, scale
    bpy.context.scene.collection.objects.link(item)
    bpy.context.view_layer.update()
    return item


def ball(name, radius, **placed):
    return mesh(
        name, lambda ops, at: ops.create_uvsphere(at, u_segments=24, v_segments=16, radius=radius), **placed
    )


def floor(size=1.0, **placed):
    return mesh("Floor", lambda ops, at: ops.create_grid(at, x_segments=1, y_segments=1, size=size), **placed)


def read(part, scene):
    return part("reading.scene").read(scene).model


SHAPES = {
    "SPHERE": lambda: ball("Item", 0.3),
    "PLANE": lambda: floor(),
    "CONVEX": lambda: mesh(
        "Item",
        lambda ops, at: ops.create_cone(at, cap_ends=True, segments=9, radius1=1, radius2=0.5, depth=2),
    ),
    "MESH": lambda: mesh("Item", lambda ops, at: ops.create_cone(at, segments=9, radius1=1, depth=2)),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_the_shape_that_fits_a_mesh(scene, kind):
    item = SHAPES[kind]()
    assert add_collider(item) == {"FINISHED"}
    assert item.condyle.collider.enabled and item.condyle.collider.shape == kind


@pytest.mark.small
def test_lengths_are_those_of_the_mesh_with_its_scale(part, scene, make):
    table = make.box("Table", (1, 2, 3), (2, 1, 0.1))
    table.scale = (0.5, 1, 2)
    head, wall = ball("Head", 0.3, location=(0, 0, 2), scale=(2, 2, 2)), floor(location=(0, 5, 0))
    wall.rotation_euler = (0.5 * np.pi, 0, 0)
    make.update()
    add_collider(table, head, wall)
    assert table.condyle.collider.shape == "BOX"
    add_chain(rig_with_tail(make), "Tail.0", "Tail.1")
    found = {each.name: each for each in read(part, scene).colliders}
    # meshes and properties are float32
    assert found["Table"].shape.half_sizes == pytest.approx([0.5, 0.5, 0.1], rel=1e-6)
    assert found["Table"].pose[:3, 3] == pytest.approx([1, 2, 3], rel=1e-6)
    assert found["Head"].shape.radius == pytest.approx(0.6, rel=1e-6)
    assert found["Floor"].pose[:3, 2] == pytest.approx([0, -1, 0], abs=1e-6)
    assert all(each.body == -1 for each in found.values() if each.name in {"Table", "Head", "Floor"})


def test_a_bone_is_the_capsule_of_its_skin(scene, make):
    rig = rig_with_tail(make)
    skin = mesh("Skin", lambda ops, at: ops.create_cone(at, segments=32, radius1=0.1, radius2=0.1, depth=0.4))
    skin.location, skin.rotation_euler = (0, 0.1, 1), (0.5 * np.pi, 0, 0)
    skin.vertex_groups.new(name="Hips").add(range(64), 1.0, "REPLACE")
    skin.modifiers.new("Rig", "ARMATURE").object = rig
    make.update()
    select_bones(rig, "Hips")
    bpy.ops.condyle.add_collider()
    found = rig.pose.bones["Hips"].condyle.collider
    assert found.shape == "CAPSULE" and found.radius == pytest.approx(0.1, rel=1e-5)
    assert found.length == pytest.approx(0.2, rel=1e-5)  # the skin is 0.4 long
    assert tuple(found.center) == pytest.approx((0, 0.1, 0), abs=1e-6)


def test_a_chain_without_colliders_has_none_in_its_model(part, scene, make):
    rig = rig_with_tail(make)
    add_chain(rig, *tail(rig))
    assert not read(part, scene).colliders
    item = make.box("Far", (5, 0, 0))
    add_collider(item)
    names = [each.name for each in read(part, scene).colliders]
    assert names == ["Far", *(f"Rig/{name}" for name in tail(rig))]
    item.condyle.collider.active = False
    assert not read(part, scene).colliders


def test_links_touch_no_links_and_not_what_they_begin_in(part, scene, make):
    rig = rig_with_tail(make)
    add_chain(rig, *tail(rig))
    add_collider(ball("Ball", 0.15, location=(0, 0, 1)))
    solids = part("reading.colliders")
    model = read(part, scene)
    first, *links = model.colliders

    def touches(one, other):
        return bool(set(one.groups) & set(other.groups)) and not (
            set(one.groups) & set(other.ignores) or set(other.groups) & set(one.ignores)
        )

    assert not any(touches(one, other) for one in links for other in links)
    # Tail.0 and .1 are in the ball, or by their radius
    assert [touches(first, link) for link in links] == [False, False, True, True]
    mass = rig.pose.bones["Tail.0"].condyle.body.mass
    assert links[0].shape.radius == pytest.approx(np.sqrt(mass / (1000.0 * np.pi * 0.1)), rel=1e-6)
    assert solids.INSIDE + "Ball" in first.groups


def test_what_is_told_of_colliders(part, scene, make):
    rig = rig_with_tail(make)
    skin = ball("Skin", 0.15, location=(0, 0, 1))
    add_chain(rig, *tail(rig))
    add_collider(skin)
    skin.modifiers.new("Rig", "ARMATURE").object = rig
    found = {each.code: each for each in part("jobs.scene_checks").check(scene)}
    assert found["collider-deforms"].values == {"collider": "Skin"}
    assert found["begins-in-collider"].values == {"bodies": "Rig/Tail.0, Rig/Tail.1", "collider": "Skin"}
    assert found["begins-in-collider"].is_hint
    for name in tail(rig):
        rig.pose.bones[name].condyle.collider.active = False
    assert "colliders-alone" in {each.code for each in part("jobs.scene_checks").check(scene)}


def test_collision_groups_and_collections(part, scene, make):
    rig = rig_with_tail(make)
    add_chain(rig, *tail(rig))
    one, other = make.box("One", (5, 0, 0)), make.box("Other", (6, 0, 0))
    add_collider(one, groups="left, right")
    add_collider(other)
    near = bpy.data.collections.new("Near")
    scene.collection.children.link(near)
    near.objects.link(other)
    rig.pose.bones["Tail.3"].condyle.collider.collection = near
    rig.pose.bones["Tail.2"].condyle.collider.groups = "left"
    found = {each.name: each for each in read(part, scene).colliders}
    touch = part("reading.colliders").may_touch
    pairs = {(a, b) for a in found for b in ("One", "Other") if a != b and touch(found[a], found[b])}
    free = {(f"Rig/Tail.{k}", name) for k in (0, 1) for name in ("One", "Other")}
    assert pairs == free | {("Rig/Tail.2", "One"), ("Rig/Tail.3", "Other")}


def test_what_has_no_surface_is_refused_and_nothing_is_changed(scene, make):
    rig, box = rig_with_tail(make), make.box("Box")
    with pytest.raises(RuntimeError, match="select its bones"):
        add_collider(box, rig)
    assert not box.condyle.collider.enabled and not box.condyle.schema_version
    select_bones(rig, "Hips")
    with pytest.raises(RuntimeError, match="no skin"):
        bpy.ops.condyle.add_collider(shape="CONVEX")
    with pytest.raises(RuntimeError, match="no faces"):
        bpy.ops.condyle.add_collider(shape="MESH")


def test_copied_muted_removed_and_cleaned_up(scene, make):
    boxes = [make.box(name) for name in "ABC"]
    add_collider(*boxes)
    boxes[2].condyle.collider.friction = 1.25
    assert bpy.ops.condyle.copy_to_selected() == {"FINISHED"}
    assert [item.condyle.collider.friction for item in boxes] == [1.25] * 3
    bpy.ops.condyle.mute()
    assert not any(item.condyle.collider.active for item in boxes)
    bpy.ops.condyle.mute()
    assert all(item.condyle.collider.active for item in boxes)
    select(boxes[0])
    assert bpy.ops.condyle.remove_collider() == {"FINISHED"}
    assert not boxes[0].condyle.collider.enabled
    bpy.ops.condyle.clean_up(scope="SCENE")
    assert not any(item.condyle.schema_version for item in boxes)


def test_the_overlay_draws_what_is_selected_or_asked_for(part, scene, make):
    drawing = part("ui.overlay.drawing")
    box, head = make.box("Box", (1, 0, 0), (0.2, 0.4, 0.6)), ball("Head", 0.3)
    add_collider(box, head)
    select(box)
    (only,) = drawing.collider_parts(bpy.context)
    ends = np.concatenate([each.moved(only.place).ends for each in only.lines]).reshape(-1, 3)
    assert np.ptp(ends, axis=0) == pytest.approx([0.2, 0.4, 0.6], rel=1e-6) and ends[:, 0].min() > 0.8
    scene.condyle.overlay.show_colliders = True
    assert {each.name for each in drawing.collider_parts(bpy.context)} == {"Box", "Head"}
    for shape in ("SPHERE", "CAPSULE", "PLANE", "CONVEX", "MESH"):
        bpy.ops.condyle.add_collider(shape=shape)
        parts = {each.name: each for each in drawing.collider_parts(bpy.context)}
        assert np.isfinite(parts["Box"].lines[0].ends).all() and parts["Box"].lines[0] is not only.lines[0]


def deepest(scene, rig, names, radius, gap):
    """Largest penetration [m] of capsules of bones at all frames; gap: distance of a place from the collider."""
    worst = -np.inf
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        for name in names:
            bone = rig.pose.bones[name]
            head, tip = (np.array(rig.matrix_world @ end) for end in (bone.head, bone.tail))
            along = (tip - head) / np.linalg.norm(tip - head)
            head, tip = head + radius * along, tip - radius * along
            worst = max(worst, *(radius - gap(head + s * (tip - head)) for s in np.linspace(0, 1, 11)))
    return worst


def test_a_limp_chain_lies_on_the_floor_and_on_a_ball_that_moves(part, scene, make, ph):
    rig = rig_with_tail(make, 6)
    add_chain(rig, *tail(rig), preset="ROPE")
    add_collider(floor(size=3, location=(0, 0, 0.75)))
    head = ball("Head", 0.1, location=(0.25, -0.45, 0.9))
    head.keyframe_insert("location", frame=1)
    head.location.x = -0.1
    head.keyframe_insert("location", frame=30)
    scene.frame_end = 30
    add_collider(head)
    report = part("jobs.bake").bake_now(scene)
    assert not report.warnings
    names = tail(rig)[1:]
    radius = next(each.shape.radius for each in read(part, scene).colliders if each.name == "Rig/Tail.1")
    # contacts are solved at the steps' ends; a step at 1 m/s is 1 mm, of which a tenth is left at the most
    assert deepest(scene, rig, names, radius, lambda at: at[2] - 0.75) < 1e-4
    assert (
        deepest(
            scene, rig, names, radius, lambda at: np.linalg.norm(at - head.matrix_world.translation) - 0.1
        )
        < 5e-4
    )
    assert part("handlers.staleness").changes(scene) == []
    head.condyle.collider.margin = 0.01
    assert part("handlers.staleness").changes(scene)


def test_colliders_go_with_a_saved_and_appended_rig(scene, make, tmp_path):
    rig = rig_with_tail(make)
    select_bones(rig, "Hips")
    bpy.ops.condyle.add_collider(friction=0.75)
    bpy.ops.object.mode_set(mode="OBJECT")
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(path) as (_, wanted):
        wanted.objects = ["Rig"]
    found = wanted.objects[0].pose.bones["Hips"].condyle.collider
    assert found.enabled and found.friction == 0.75 and found.shape == "CAPSULE"
