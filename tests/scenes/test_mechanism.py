"""A model of physics put into a scene through the add-on, and read back from it."""

import pytest

pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")

import bpy

import physics as ph
from blender_scenes import SceneError, beads_model, letters_model, mechanism
from blender_scenes.production import new_file


def in_scene(condyle, model, state):
    """The model in an empty file, every body an object without a mesh; the file's scene and the joints' Empties."""
    scene, (collection,) = new_file("Mechanism", ("Bodies",))
    objects = {name: bpy.data.objects.new(name, None) for name in model.body_names}
    for made in objects.values():
        collection.objects.link(made)
    return scene, mechanism.add_bodies(scene, model, state, objects)


@pytest.mark.small
def test_beads_are_read_back_and_share_their_wires_frames(condyle):
    flowers = beads_model.FLOWERS[1:]
    model = beads_model.build_model(flowers)
    state = beads_model.start(model, flowers)
    scene, joints = in_scene(condyle, model, state)
    assert mechanism.check_same_model(scene, model, state) < 1e-4
    first, second = (joints[flowers[0].bead(number)].condyle.joint for number in (0, 1))
    assert [part.type for part in first.parts] == ["spline_curve", "hinge"]
    assert len(first.frames) == beads_model.CONTROL_FRAMES and len(second.frames) == 0
    assert second.parts[0].frames_of == joints[flowers[0].bead(0)]


@pytest.mark.small
def test_letters_with_double_joints_are_read_back(condyle):
    kinds = (True,)
    model = letters_model.build_model(kinds)
    state = letters_model.start(model, kinds)
    scene, joints = in_scene(condyle, model, state)
    assert mechanism.check_same_model(scene, model, state) < 1e-4
    settings = joints[letters_model.name(3, True)].condyle.joint
    assert [part.inverted for part in settings.parts] == [False, True]
    assert settings.parts[1].frames_of.parent.name == letters_model.name(3, True)
    assert settings.hard_limits and settings.restitution == 0.0


def test_another_model_is_refused(condyle):
    flowers = beads_model.FLOWERS[:1]
    model = beads_model.build_model(flowers)
    state = beads_model.start(model, flowers)
    scene, _ = in_scene(condyle, model, state)
    other = ph.ModelBuilder.from_dict({**model.to_dict(), "gravity": [0.0, 0.0, -9.0]}).build()
    with pytest.raises(SceneError, match="accelerates otherwise than its model"):
        mechanism.check_same_model(scene, other, state)
