"""Frequency, damping, gravity and drag of chains are tuned while they run, and bake as they were tuned."""

import numpy as np
import pytest

from tests.addon.chain_rigs import add_chain, rig_with_tail, select_bones, tail
from tests.addon.live.test_run import Hand

bpy = pytest.importorskip("bpy")


@pytest.fixture
def rig(scene, make):
    made = rig_with_tail(make, 3)
    add_chain(made, *tail(made), frequency=3.0, damping_ratio=1.0, gravity=0.5)
    scene.frame_start, scene.frame_end = 1, 25
    return made


def tune(rig, **figures):
    """Turn the sliders of the active link in the panel."""
    body = rig.pose.bones["Tail.2"].condyle.body
    for name, value in figures.items():
        setattr(body if name in ("gravity", "drag") else body.spring, f"{name}_selected", value)


def poses(rig):
    bpy.context.view_layer.update()
    return np.array([rig.pose.bones[name].matrix for name in tail(rig)])


@pytest.mark.small
def test_a_slider_sets_all_selected_links(part, scene, make, rig):
    select_bones(rig, "Tail.0", "Tail.2")
    tune(rig, frequency=1.5, drag=2.0)
    settings = [rig.pose.bones[name].condyle.body for name in tail(rig)]
    assert [each.spring.frequency for each in settings] == [1.5, 3.0, 1.5]
    assert [each.drag for each in settings] == [2.0, 0.0, 2.0]
    assert not rig.pose.bones["Hips"].condyle.body.spring.enabled


@pytest.mark.parametrize("explicit", [True, False])
def test_a_run_comes_to_rest_where_a_bake_of_what_was_tuned_begins(part, scene, make, rig, explicit):
    if not explicit:
        scene.condyle.simulation.integrator = "bdf1"
    seen = {}

    def look(key):
        return lambda _run: seen.update({key: poses(rig)})

    def turn(_run):
        select_bones(rig, *tail(rig))
        tune(rig, frequency=2.0, gravity=0.8, drag=0.5)

    Hand(part, scene, [(0.05, look("begun")), (0.1, turn), (1.9, look("rests"))], duration=2.0).walk()
    part("jobs.bake").bake_now(scene)
    scene.frame_set(1)
    settled = poses(rig)
    assert np.abs(seen["rests"] - seen["begun"]).max() > 5e-3
    # a critically damped swing of 2 Hz is over after 1.8 s but for 1e-9; bones are float32
    assert np.abs(seen["rests"] - settled).max() < 2e-5


def test_what_a_run_is_told_are_the_numbers_of_the_model_of_a_bake(part, scene, make, rig):
    read = part("reading.scene").read
    knobs, snapshot = part("live.knobs"), part("reading.snapshot")
    live = bpy.context.window_manager.condyle_live
    live.gravity = scene.condyle.simulation.gravity
    before = read(snapshot.take(scene))
    reader = knobs.Reader(live, before)
    assert not reader.changes(live)
    select_bones(rig, *tail(rig))
    tune(rig, frequency=1.1, damping_ratio=0.4, gravity=0.7, drag=3.0)
    told, model = reader.changes(live), read(scene).model
    reader.forget()
    assert told["controllers"] and reader.changes(live) == told  # as for the next round of a run
    for controller in model.controllers:
        gains, body = told["controllers"][controller.name], model.bodies[controller.body]
        assert gains["stiffness"] == controller.stiffness.tolist()
        assert gains["damping"] == controller.damping.tolist() and gains["armature"] == body.armature.tolist()
        forces = {each.name: each for each in model.forces}
        load, push = told["loads"][body.name], forces[f"{body.name} gravity"]
        held = {each.name: each for each in before.model.forces}[push.name]
        assert load["force"] == pytest.approx(push.force - held.force, rel=1e-12)
        assert load["damping"] == pytest.approx(forces[f"{body.name} drag"].linear, rel=1e-12)
    live.gravity = (0.0, 0.0, -2.0)  # shares are of the gravity that there is now
    last = reader.changes(live)["loads"][body.name]["force"]
    assert last[2] == pytest.approx(body.mass * (-0.3 * -2.0 - -0.5 * -9.81), rel=1e-6)


def test_reset_brings_back_what_the_run_began_with(part, scene, make, rig):
    def turn(_run):
        tune(rig, frequency=0.7, gravity=0.0)
        assert bpy.ops.condyle.live_reset.poll()

    select_bones(rig, *tail(rig))
    assert not bpy.ops.condyle.live_reset.poll()
    Hand(part, scene, [(0.05, turn)], duration=0.2).walk()
    body = rig.pose.bones["Tail.1"].condyle.body
    assert (body.spring.frequency, body.gravity) == (pytest.approx(0.7), 0.0)
    assert bpy.ops.condyle.live_reset() == {"FINISHED"}
    assert (body.spring.frequency, body.gravity) == (3.0, 0.5)
    assert not bpy.ops.condyle.live_reset.poll()


def test_links_of_chains_have_no_sliders_of_torques(part, scene, make):
    rig = rig_with_tail(make, 2, connect=False)
    add_chain(rig, *tail(rig), preset="BELLY")
    Hand(part, scene, duration=0.1).walk()
    assert not len(bpy.context.window_manager.condyle_live.sliders)
