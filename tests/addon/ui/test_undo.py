"""Undo and redo of every operator that the add-on registers bring back the whole file, animation and all.

A new operator without an entry in RECIPES (`undo_stage`) fails the first test here.
"""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from ..digests import differences, digest
from ..undo_stage import RECIPES, named, stage, stage_file  # noqa: F401
from ..undo_steps import refused_in_edit_mode, undone_and_redone

#: what is about the job that is computing, or the live run (with none the buttons are grey), and about what is told
CHANGES_NOTHING = {
    *("cancel", "live_stop", "live_record", "check_scene", "clear_findings", "show_text"),
    *("save_shot",),
}


def operators():
    """Names of all operators that are registered as condyle.*."""
    return sorted(dir(bpy.ops.condyle))


@pytest.mark.small
def test_every_registered_operator_has_a_recipe(condyle):
    assert set(operators()) == RECIPES.keys() | CHANGES_NOTHING


@pytest.mark.small
@pytest.mark.parametrize("name", RECIPES)
def test_undo_and_redo(stage, name):
    options = RECIPES[name]()
    assert refused_in_edit_mode(name), "there a step of undo holds what is edited alone"
    changed, undone, redone = undone_and_redone(name, options)
    assert (undone, redone) == ([], [])
    assert changed, "it changed nothing"


@pytest.mark.small
@pytest.mark.parametrize("name", sorted(CHANGES_NOTHING))
def test_what_has_no_step_of_undo_changes_nothing(part, stage, monkeypatch, tmp_path, name):
    """A job or a live run that they end makes its own step, if it has written anything."""
    session, told = part("blender.session"), []
    run = SimpleNamespace(
        recorded=(None, None),
        stop=lambda: told.append("live_stop"),
        has_soft=False,
        start_recording=lambda: told.append("live_record"),
    )
    if name == "clear_findings":
        RECIPES["select_culprit"]()
    elif name not in ("check_scene", "save_shot", "show_text"):
        monkeypatch.setattr(session, "job", part("jobs.operator").Job("Bake", 0.0))
        monkeypatch.setattr(session, "live", run)
    before = digest()
    operator = getattr(bpy.ops.condyle, name)
    options = {"directory": str(tmp_path)} if name == "save_shot" else {}
    assert operator("EXEC_DEFAULT", True, **options) == {"FINISHED"}
    assert differences(before, digest()) == [] and "UNDO" not in operator.bl_options
    assert told == [name] or session.job is None or session.job.cancel_wanted


@pytest.mark.small
@pytest.mark.parametrize("name", RECIPES)
def test_an_operator_that_changes_data_can_be_undone(condyle, name):
    operator = getattr(bpy.ops.condyle, name)
    assert {"REGISTER", "UNDO"} <= set(operator.bl_options)


def test_the_digest_sees_what_it_should(part, stage):
    """Each of these changes is one that an operator might make by mistake."""
    base = digest()
    spare, rig = named("Spare"), named("Rig")
    strip = spare.animation_data.nla_tracks[0].strips[0]
    curve = next(iter(part("blender.compat").all_curves(strip.action)))
    changes = (
        lambda: setattr(strip, "influence", 0.5),
        lambda: setattr(named("Thigh").animation_data.drivers[0].driver, "expression", "1 * var"),
        lambda: spare.id_properties_ui("figure").update(max=3.0),
        lambda: setattr(named("Thigh").data.shape_keys.key_blocks["Bulge"], "value", 0.5),
        lambda: setattr(rig.pose.bones["B"].condyle.body, "mass", 3.0),
        lambda: setattr(rig.animation_data, "action_influence", 0.5),
        lambda: rig.pose.bones["A"].constraints.new("COPY_ROTATION"),
        lambda: setattr(named("Biceps").modifiers[0], "strength", 0.5),
        lambda: spare.keyframe_insert('["figure"]', frame=4),
        lambda: bpy.data.collections["Condyle"].objects.link(spare),
        lambda: setattr(spare.animation_data.action, "use_fake_user", True),
        lambda: setattr(strip.action, "frame_start", 2.0),
        lambda: setattr(curve.keyframe_points[0], "easing", "EASE_IN"),
        lambda: setattr(rig.data.bones["A"], "use_deform", False),
        lambda: setattr(spare.data.vertices[0], "co", (1.0, 2.0, 3.0)),
        lambda: spare.vertex_groups.new(name="Group"),
        lambda: spare.data.materials.append(bpy.data.materials.new("Paint")),
        lambda: setattr(bpy.data.materials["Paint"], "diffuse_color", (1.0, 0.0, 0.0, 1.0)),
        lambda: setattr(bpy.context.scene.unit_settings, "scale_length", 0.01),
        lambda: setattr(bpy.context.scene.render, "fps", 30),
        lambda: setattr(bpy.context.view_layer.layer_collection.children[0], "exclude", True),
    )
    for change in changes:
        change()
        now = digest()
        assert len(differences(base, now)) >= 1
        base = now
    assert np.isclose(spare["figure"], 0.25)
