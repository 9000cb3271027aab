"""Soft bodies: read at the first frame, carried by what is animated, baked to a file, freed, and refused by name."""

import struct

import bpy
import numpy as np
import pytest

from ..chain_rigs import add_chain, rig_with_tail, tail
from ..keying import set_keys
from ..said import codes
from ..selecting import select

LAST = 6


@pytest.fixture
def saved(scene, tmp_path):
    """The scene's file, saved; returns its folder."""
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    yield tmp_path
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)


@pytest.fixture
def belly(saved, make):
    """A soft box half inside a post that carries it to and fro."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    post, belly = (
        make.box("Post", (0.0, 0.0, 0.0), (0.1, 0.1, 0.4)),
        make.box("Belly", (0.1, 0, 0), (0.2, 0.1, 0.1)),
    )
    belly.parent = post
    set_keys(post, "location", {1: 0.0, 4: 0.1, LAST: 0.0}, axis=0)
    scene.frame_set(1)
    select(belly)
    bpy.ops.condyle.add_soft_body(preset="BELLY")
    belly.condyle.soft.lattice_size = 0.1
    scene.condyle.simulation.time_step = 0.01
    return belly


def vertices(item):
    """World places (k, 3) of the vertices that Blender shows."""
    shown = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    found = np.array([shown.matrix_world @ each.co for each in mesh.vertices])
    shown.to_mesh_clear()
    return found


def test_a_bake_is_the_embedded_mesh_and_free_bake_takes_it_away(part, belly, saved):
    scene, rest = bpy.context.scene, vertices(belly)
    report = part("jobs.bake").bake_now(scene)
    assert not report.warnings
    file = saved / "shot.condyle-Belly.pc2"
    modifier = belly.modifiers[0]
    assert modifier.type == "MESH_CACHE" and modifier.filepath == f"//{file.name}"
    head = struct.unpack("<12siiffi", file.read_bytes()[:32])
    assert head == (b"POINTCACHE2\0", 1, 8, 1.0, 1.0, LAST)
    soft = report.result.soft["Belly"]
    expected = soft.embed(rest)
    post = bpy.data.objects["Post"]
    for frame in range(1, LAST + 1):
        scene.frame_set(frame)
        # the file and Blender's matrices have single precision
        assert vertices(belly) == pytest.approx(expected[frame - 1], abs=1e-6)
        # what is animated is followed by a spline through what it shows at frames, off between keys by less than this
        attached = soft.nodes[frame - 1][list(soft.body.attached)] - post.location
        assert attached == pytest.approx(soft.nodes[0][list(soft.body.attached)], abs=1e-4)
    assert np.ptp(soft.nodes[:, :, 0] - soft.nodes[:, list(soft.body.attached)[:1], 0], axis=0).max() > 1e-4
    bpy.ops.condyle.free_bake()
    assert not file.exists() and not belly.modifiers and not belly.condyle.soft.cache
    scene.frame_set(1)
    assert vertices(belly) == pytest.approx(rest, abs=1e-7)


def test_files_and_modifiers_of_others_stay(part, belly, saved):
    scene = bpy.context.scene
    own = belly.modifiers.new("Own", "MESH_CACHE")
    own.show_viewport = False
    part("jobs.bake").bake_now(scene)
    file = saved / "shot.condyle-Belly.pc2"
    assert [each.name for each in belly.modifiers] == ["Condyle Soft Body", "Own"]
    bpy.ops.wm.save_as_mainfile(filepath=str(saved / "copy.blend"))
    bpy.ops.condyle.free_bake()  # the first file still shows its bake
    assert file.exists() and [each.name for each in belly.modifiers] == ["Own"]


def test_a_deleted_cache_is_told(part, belly, saved):
    part("jobs.bake").bake_now(bpy.context.scene)
    (saved / "shot.condyle-Belly.pc2").unlink()
    assert "cache-gone" in codes(part("jobs.scene_checks").check(bpy.context.scene))


@pytest.mark.small
def test_an_unsaved_file_is_refused_before_anything_runs(part, scene, make, ph):
    post, belly = make.box("Post"), make.box("Belly", (0.1, 0, 0), (0.2, 0.1, 0.1))
    belly.parent = post
    select(belly)
    bpy.ops.condyle.add_soft_body()
    with pytest.raises(ph.ModelError, match=r"'Belly'.*save the file"):
        part("jobs.bake").bake_now(scene)
    assert not belly.modifiers


def opened(belly):
    belly.data.clear_geometry()
    belly.data.from_pydata([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)], [], [(0, 1, 2)])


@pytest.mark.small
@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (opened, "'Belly'.*open"),
        (lambda belly: setattr(belly, "scale", (1.0, 2.0, 1.0)), "'Belly'.*scale"),
        (lambda belly: belly.vertex_groups.new(name="Held"), "'Belly'.*'Held'"),
        (lambda belly: setattr(belly, "parent", None), "'Belly'.*attached"),
        (lambda belly: setattr(belly, "location", (9.0, 0.0, 0.0)), "'Belly'.*no node"),
    ],
)
def test_bad_input_is_refused_by_name_before_anything_changes(scene, make, spoil, match):
    post, belly = make.box("Post"), make.box("Belly", (0.1, 0, 0), (0.2, 0.1, 0.1))
    belly.parent = post
    belly.condyle.soft.attached_group = "Held" if "Held" in match else ""
    spoil(belly)
    bpy.context.view_layer.update()
    select(belly)
    with pytest.raises(RuntimeError, match=match):
        bpy.ops.condyle.add_soft_body()
    assert not belly.condyle.soft.enabled and not scene.condyle.simulation.is_property_set("integrator")


def test_a_group_is_attached_to_the_nearest_body_and_still_ones_hold(part, belly):
    belly.parent.animation_data_clear()
    tip = belly.vertex_groups.new(name="Tip")
    tip.add([each.index for each in belly.data.vertices if each.co.x > 0.0], 1.0, "REPLACE")
    belly.condyle.soft.attached_group = "Tip"
    belly.condyle.soft.reach = 0.02
    belly.condyle.soft.law = "NEO_HOOKEAN"
    whole = part("reading.scene").read(bpy.context.scene)
    read = whole.soft[0]
    assert {read.nodes[node][0] for node in read.attached} == {read.nodes[:, 0].max()}
    assert set(read.attached.values()) == {part("reading.soft_shapes").HELD}
    model = part("animation.soft_bodies").added(whole, None, "linearly_implicit_euler").model
    assert model.soft_bodies[0].law == "neo_hookean"


def test_a_method_without_soft_bodies_is_refused(part, belly, ph):
    bpy.context.scene.condyle.simulation.integrator = "RK45"
    with pytest.raises(ph.ModelError, match=r"'RK45'.*'Belly'"):
        part("jobs.bake").bake_now(bpy.context.scene)
    assert not belly.modifiers


def test_it_rests_on_a_floor_beside_an_animated_collider(part, belly, make, ph):
    """The carrier goes down, and what it holds through the floor; the free end stays on it. Two animated colliders do
    not touch each other.
    """
    scene, post = bpy.context.scene, belly.parent
    post.animation_data_clear()
    set_keys(post, "location", {1: 0.0, 12: -0.1, 24: -0.1}, axis=2)
    floor = make.box("Floor", (0.0, 0.0, -0.12), (2.0, 2.0, 0.001))
    scene.frame_set(1)
    for item, shape in ((floor, "PLANE"), (post, "BOX")):
        item.condyle.collider.enabled = True
        item.condyle.collider.shape, item.condyle.collider.size = shape, (0.1, 0.1, 0.2)
    run = part("blender.compute_process").run
    taken = run(part("jobs.take").take(scene.session_uid, np.arange(1.0, 25.0), {}, to_bake=True))
    planned = run(part("jobs.shot").plan(taken))
    model, options = planned.read.model, planned.options
    motion = ph.simulate(
        model, planned.read.state, 23.0 / 24.0, 0.004, options["integrator"], motions=options["motions"]
    ).soft["Belly"]
    ground = motion.body.ground
    assert ground.colliders == ("Floor",) and ground.friction == belly.condyle.soft.friction
    places = motion.embed(ground.points)[-1]
    free = ground.points[:, 0] > 0.15
    # at its weight a twentieth of its vertices would be 2 mm deep; the carrier presses it, too
    assert -0.13 < places[free, 2].min() < -0.12
    assert places[~free, 2].min() == pytest.approx(-0.15, abs=1e-3)


def test_a_chain_with_colliders_and_a_belly_falls_on_a_floor(part, saved, make, ph):
    scene = bpy.context.scene
    rig, floor = rig_with_tail(make), make.box("Floor", (0.0, 0.0, 0.93), (2.0, 2.0, 0.001))
    add_chain(rig, *tail(rig))
    bpy.ops.object.mode_set(mode="OBJECT")
    floor.condyle.collider.enabled, floor.condyle.collider.shape = True, "PLANE"
    belly = make.box("Belly", (0, 0, 0), (0.1, 0.08, 0.1))
    belly.parent, belly.parent_type, belly.parent_bone = rig, "BONE", "Tail.2"
    make.update()
    belly.matrix_world.translation = (0.0, -0.25, 1.0)
    make.update()
    select(belly)
    bpy.ops.condyle.add_soft_body(preset="BELLY")
    belly.condyle.soft.lattice_size = 0.1
    scene.frame_start, scene.frame_end, scene.condyle.simulation.time_step = 1, 24, 0.005
    report = part("jobs.bake").bake_now(scene)
    model, found = report.result.model, report.result.info["constraints"]
    assert found["steps_with_contact"] > 0 and found["overlap"] < 1e-4
    assert belly.modifiers[0].type == "MESH_CACHE"
    radius = next(each.shape.radius for each in model.colliders if each.name == "Rig/Tail.3")
    scene.frame_set(24)
    end = rig.matrix_world @ rig.pose.bones["Tail.3"].tail
    assert 0.93 < end.z < 0.93 + radius  # the link's capsule lies in it, and is tilted
    scene.condyle.simulation.integrator = "sdirk2"
    with pytest.raises(ph.ModelError, match=r"'sdirk2'.*'Belly'"):
        part("jobs.bake").bake_now(scene)


def test_a_changed_soft_body_makes_its_bake_out_of_date(part, belly):
    scene = bpy.context.scene
    part("jobs.bake").bake_now(scene)
    changes = part("handlers.staleness").changes
    assert not changes(scene)
    belly.condyle.soft.sag = 0.1
    assert [each.code for each in changes(scene)] == ["changed-since-bake"]
    part("jobs.bake").bake_now(scene)
    assert not changes(scene)
    belly.data.vertices[0].co.x += 0.01
    assert [each.code for each in changes(scene)] == ["changed-since-bake"]


def test_a_bake_after_the_cache_is_lost_writes_it_again(part, belly, saved):
    scene, file = bpy.context.scene, saved / "shot.condyle-Belly.pc2"
    part("jobs.bake").bake_now(scene)
    before = file.read_bytes()
    file.unlink()
    part("jobs.bake").bake_now(scene)
    assert file.read_bytes() == before
    assert [each.type for each in belly.modifiers] == ["MESH_CACHE"]
    assert "cache-gone" not in codes(part("jobs.scene_checks").check(scene))
