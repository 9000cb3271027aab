"""Blender's force fields act on chains as on Blender's own particles, also animated, moving, and live."""

import numpy as np
import pytest

from tests.addon.chain_rigs import add_chain, rig_with_tail
from tests.addon.live.test_run import Hand
from tests.addon.said import codes

from ..keying import make_keys, set_keys

bpy = pytest.importorskip("bpy")
WIND, DRAG = ("WIND", {"strength": 3.0, "flow": 0.0}), ("DRAG", {"linear_drag": 0.2, "quadratic_drag": 1.5})
FADING = {"falloff_power": 1.5, "use_min_distance": True, "distance_min": 0.3}
CONE = {"falloff_type": "CONE", "falloff_power": 1.0, "radial_falloff": 0.2}
TUBE = {"falloff_type": "TUBE", "falloff_power": 1.0, "radial_falloff": 2.0, "z_direction": "POSITIVE"}


def field(kind, location=(0.3, -0.3, 0.7), **settings):
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.object.effector_add(type=kind, location=location, rotation=(0.3, 0.2, 0.1))
    made = bpy.context.object
    made.name = kind.title()
    for name, value in settings.items():
        setattr(made.field, name, value)
    return made


@pytest.fixture
def link(part, scene, make):
    """A bone that slides freely, without gravity: its spring takes 100 s for a swing."""
    rig = rig_with_tail(make, 1, connect=False)
    add_chain(rig, "Tail.0", preset="BELLY", frequency=0.01, damping_ratio=0.0, gravity=0.0)
    (joint,) = part("data.references").joints_of(scene)
    joint.condyle.joint.start_from = "POSE"
    scene.gravity, scene.render.fps, scene.frame_start, scene.frame_end = (0.0, 0.0, 0.0), 25, 1, 11
    return rig


def middle(rig):
    bone = rig.pose.bones["Tail.0"]
    return np.array(rig.matrix_world @ (0.5 * (bone.head + bone.tail)))


def particle(scene, place):
    """Places (F, 3) of Blender's particle of 1 kg, which begins there at the first frame."""
    mesh = bpy.data.meshes.new("Emitter")
    mesh.from_pydata([place], [], [])
    item = bpy.data.objects.new("Emitter", mesh)
    scene.collection.objects.link(item)
    item.modifiers.new("Dust", "PARTICLE_SYSTEM")
    dust = item.particle_systems[0].settings
    dust.count, dust.frame_start, dust.frame_end, dust.lifetime, dust.emit_from = 1, 1, 1, 500, "VERT"
    dust.normal_factor, dust.mass, dust.subframes, dust.use_emit_random = 0.0, 1.0, 20, False
    found = []
    for frame in range(1, 12):
        scene.frame_set(frame)
        there = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0].particles[0]
        found.append(tuple(there.location))
    return np.array(found)


@pytest.mark.parametrize(
    ("fields", "even"),
    [
        ([("WIND", {"strength": 3.0})], True),
        ([WIND, DRAG], False),
        ([("WIND", {"strength": 8.0, "shape": "POINT", **CONE})], False),
        ([("WIND", {"strength": -8.0, "shape": "LINE", "flow": 0.5, **TUBE})], False),
        ([("FORCE", {"strength": 2.0, "use_max_distance": True, "distance_max": 2.0, **FADING})], False),
        ([("FORCE", {"strength": 2.0, "shape": "LINE", "flow": 0.5, "use_gravity_falloff": True})], False),
        ([("VORTEX", {"strength": 2.0, **FADING})], False),
        ([("VORTEX", {"strength": 2.0, "shape": "POINT", "flow": 0.4})], False),
    ],
)
def test_a_link_moves_as_a_particle_of_blender_does(part, scene, make, link, fields, even):
    scene.unit_settings.scale_length = 0.5
    for kind, settings in fields:
        field(kind, **settings)
    place = middle(link)
    dust = particle(scene, place)
    report = part("jobs.bake").bake_now(scene)
    kinds = {each.type for each in report.result.model.forces}
    assert ("force_field" in kinds) != even  # kernels of their own are compiled where they are needed alone
    moved = []
    for frame in range(1, 12):
        scene.frame_set(frame)
        moved.append(middle(link))
    assert np.linalg.norm(dust[-1] - place) > 0.05
    # the first order of steps of 1 ms in 0.4 s, and a spring of 0.01 Hz
    assert np.abs(np.array(moved) - dust).max() < 0.01 * np.linalg.norm(dust[-1] - place)


def test_strengths_follow_their_keys_and_fields_their_carriers(part, scene, make, link):
    wind = field("WIND", flow=0.0)
    for frame, strength in ((1, 0.0), (11, 10.0)):
        wind.field.strength = strength
        wind.keyframe_insert("field.strength", frame=frame)
    make_keys(wind, "LINEAR")
    axis = np.array(wind.matrix_world)[:3, 2]
    place = middle(link)
    part("jobs.bake").bake_now(scene)
    scene.frame_set(11)
    # a force that grows evenly: a t^2 / 6
    assert middle(link) - place == pytest.approx(axis * 10.0 * 0.4**2 / 6.0, abs=1e-3)
    part("jobs.bake").free_bake(scene)

    wind.field.type, wind.field.shape, wind.field.strength = "FORCE", "POINT", 2.0
    wind.animation_data_clear()
    ends = np.array([[0.3, -0.3, 0.7], [0.3, 0.3, 0.7]])
    set_keys(wind, "location", {1: ends[0], 11: ends[1]})
    make_keys(wind, "LINEAR")
    scene.frame_set(1)
    report = part("jobs.bake").bake_now(scene)
    assert {each.other for each in report.result.model.forces if each.type == "force_field"} != {-1}
    x, v, step = place.copy(), np.zeros(3), 1e-3
    for k in range(400):
        away = x - ends[0] - (ends[1] - ends[0]) * (k + 0.5) / 400
        v += step * 2.0 * away / np.linalg.norm(away)
        x += step * v
    scene.frame_set(11)
    assert middle(link) - place == pytest.approx(x - place, abs=1e-3) and np.linalg.norm(x - place) > 0.1


def test_live_has_the_numbers_of_a_bake_and_turns_the_strength(part, scene, make, link):
    wind = field("WIND", strength=2.0, falloff_power=1.0)
    live = Hand(part, scene, duration=0.3, record=True).walk().baked.result
    part("jobs.bake").free_bake(scene)
    whole = part("jobs.bake").bake_now(scene).result
    rows = min(len(live.t), len(whole.t))
    assert rows > 6 and live.q[:rows].tobytes() == whole.q[:rows].tobytes()
    part("jobs.bake").free_bake(scene)

    def turn(_run):
        (slider,) = bpy.context.window_manager.condyle_live.sliders
        assert slider.strength == 2.0
        slider.strength = -6.0

    turned = Hand(part, scene, [(0.05, turn)], duration=0.3, record=True).walk().baked.result
    assert np.abs(turned.q[rows - 1] - whole.q[rows - 1]).max() > 0.02
    part("jobs.bake").free_bake(scene)
    assert bpy.ops.condyle.live_keep() == {"FINISHED"} and wind.field.strength == -6.0


@pytest.mark.small
def test_fields_act_on_links_of_chains_by_their_share(part, scene, make, link):
    wind, read = field("WIND", strength=2.0), part("reading.scene").read

    def forces():
        return {each.name: each for each in read(scene).model.forces if "Wind" in each.name}

    settings = link.pose.bones["Tail.0"].condyle.body
    push, flow = forces()["Rig/Tail.0 in Wind"], forces()["Rig/Tail.0 in Wind (flow)"]
    assert np.linalg.norm(push.force) == pytest.approx(settings.mass) and flow.linear == settings.mass
    settings.fields = 0.5
    assert np.linalg.norm(forces()["Rig/Tail.0 in Wind"].force) == pytest.approx(0.5 * settings.mass)
    settings.fields = 0.0
    assert not forces()
    settings.fields = 1.0
    assert "field-ignored" not in codes(part("jobs.scene_checks").check(scene))
    prints = part("reading.prints").prints(scene)
    wind.field.flow = 0.25
    assert part("reading.prints").prints(scene) != prints
    wind.field.type = "TURBULENCE"
    assert not forces() and "field-ignored" in codes(part("jobs.scene_checks").check(scene))
    wind.field.type = "WIND"
    settings.spring.enabled = False
    assert not forces() and wind not in [each.object for each in part("reading.carriers").wanted(scene)]
