"""What a bake keeps as text may be anything, by a broken file or a script: that is told, and nothing is lost."""

import json

import bpy
import pytest

from ..said import said
from .test_free_bake import keys

pytestmark = pytest.mark.small

BROKEN = ("{", "null", "7", '["a", 7]', '{"Scene": 3}', "no JSON", "[" * 100_000)
TARGETS = ("NEW", "CURRENT", "STRIP")


@pytest.mark.parametrize("text", BROKEN)
def test_what_a_bake_was_made_of_is_told_to_be_broken(part, scene, baked, text):
    """The look at changes ended with JSONDecodeError or KeyError, in the panel's timer and when another scene baked."""
    output = scene.condyle.simulation.output
    output.read = text
    (line,) = part("handlers.staleness").changes(scene)
    assert said([line]) == [("record-of-scene", scene.name)]
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(baked[0])
    part("baking.write").note_read(other, part("reading.prints").prints(other))
    assert output.read == text  # it is not this scene's to mend
    assert bpy.ops.condyle.free_bake() == {"FINISHED"}
    assert line.text in part("blender.session").message and not output.read


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", ("{", '{"a": 1}', "[1]"))
def test_a_bake_that_does_not_know_what_it_keyed_is_freed_without_loss(part, scene, baked, text, target):
    """Free Bake, a new bake, a fit and the look at changes ended with JSONDecodeError."""
    _, shank, _ = baked
    part("jobs.bake").free_bake(scene)
    own, mode = keys(part, shank), shank.rotation_mode
    scene.condyle.simulation.output.target = target
    part("jobs.bake").bake_now(scene)
    made, record = shank.condyle.bake.action.name, shank.condyle.bake
    record.paths = record.figures = record.bones = text
    record.blend_type = record.extrapolation = shank.condyle.channels.rotation_mode = "NONE SUCH"
    lost = {(f"record-of-{what}", "Shank") for what in ("channels", "properties", "bones")}
    assert lost <= set(said(part("handlers.staleness").changes(scene)))
    with part("baked.temporarily").without_bake(scene):
        assert keys(part, shank) == own
    warnings = part("jobs.bake").bake_now(scene).warnings  # frees the one in place
    assert lost <= set(said(warnings))
    assert bpy.data.actions[made].use_fake_user  # what may be the user's in it is not lost
    shank.condyle.bake.paths = text
    assert bpy.ops.condyle.free_bake() == {"FINISHED"}
    (found,) = (each for each in warnings if each.code == "record-of-channels")
    assert found.text in part("blender.session").message
    assert keys(part, shank) == own and shank.rotation_mode == mode
    assert not shank.condyle.bake.paths and not part("baked.temporarily").is_baked(shank)


@pytest.mark.parametrize("known", [True, False], ids=["one", "all"])
def test_a_broken_record_of_one_hook_loses_no_other_and_is_told(part, scene, arm, known):
    """All hooks were shown when the bake was freed, and nothing said so."""
    muscle = arm[3]
    first, second = muscle.modifiers.keys()
    muscle.modifiers[second].show_viewport = False
    part("jobs.bake").bake_now(scene)
    hooks = part("baking.muscles").HOOKS
    assert not part("handlers.staleness").changes(scene)
    kept = json.loads(muscle.data[hooks])
    muscle.data[hooks] = json.dumps({**kept, first: [1]} if known else [])
    (line,) = part("handlers.staleness").changes(scene)
    named = first if known else f"{first}, {second}"
    assert said([line]) == [("record-of-hooks", muscle.name, named)]
    assert bpy.ops.condyle.free_bake() == {"FINISHED"}
    assert line.text in part("blender.session").message
    assert muscle.modifiers[second].show_viewport != known and muscle.modifiers[first].show_viewport


def test_an_armature_that_is_a_body_beside_its_bones_has_prints(part, scene, make):
    """Its own body was looked for among the bones."""
    rig = make.armature("Rig", {"Root": ((0, 0, 3), (0, 0, 4), None), "Tip": ((0, 0, 4), (0, 0, 5), "Root")})
    rig.pose.bones["Tip"].condyle.body.enabled = rig.condyle.body.enabled = True
    assert {"Rig", "Rig/Tip"} <= part("reading.prints").prints(scene).keys()
