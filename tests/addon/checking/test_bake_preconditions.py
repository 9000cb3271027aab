"""What would stop a bake is found before it is computed; sliders that show an older curve are told."""

import bpy
import numpy as np
import pytest

from ..said import codes, culprit
from .test_scene import leg, run  # noqa: F401

pytestmark = pytest.mark.small


def switched_off(scene, leg):
    leg["shank"].animation_data_create().use_nla = False
    scene.condyle.simulation.output.target = "STRIP"


def hard(scene, leg):
    settings = leg["knee"].condyle.joint
    settings.coordinates[0].limits, settings.hard_limits = "CUSTOM", True
    scene.condyle.simulation.integrator = "LSODA"


@pytest.mark.parametrize(
    ("change", "words", "about"),
    [
        (lambda scene, leg: setattr(scene, "frame_end", 1), "one frame only, 1", None),
        (lambda scene, leg: setattr(scene.render, "frame_map_new", 200), "time remapping", None),
        (lambda scene, leg: setattr(scene.condyle.start, "loop", True), "Blend Frames is", None),
        (lambda scene, leg: setattr(scene.condyle.simulation, "time_step", np.nan), "Time Step is nan", None),
        (switched_off, "its NLA is switched off", "shank"),
        (hard, "does not support the impulses of hard limits", None),
    ],
)
def test_what_would_be_refused_is_found_before_it_is_computed(part, scene, leg, ph, change, words, about):
    change(scene, leg)
    if "Blend" in words:
        scene.condyle.start.loop_blend = 9
    found = [finding for finding in run(part, scene) if finding.is_error]
    assert len(found) == 1 and words in found[0].text
    assert about is None or found[0].session_uid == leg[about].session_uid
    for way in ("bake_now", "check_now"):  # and in a batch's dry run
        with pytest.raises(ph.ModelError, match=words):
            getattr(part("jobs.bake"), way)(scene)
    assert not [item for item in scene.objects if part("baked.temporarily").is_baked(item)]


def test_a_slider_that_shows_an_older_curve_is_told_until_it_is_renewed(part, scene, make):
    """Control frames were moved while the add-on was off."""
    _, _, joint = make.driven_knee(part, scene)
    assert "stale-slider" not in codes(run(part, scene))
    frames = joint.condyle.joint.frames
    for frame in frames:
        frame.object.location.y += 0.02
    bpy.context.view_layer.update()
    (told,) = (finding for finding in run(part, scene) if finding.code == "stale-slider")
    assert culprit(part, told).object == joint and told.values["apart"].startswith("20 mm")
    bpy.context.view_layer.objects.active = joint
    assert bpy.ops.condyle.drive() == {"FINISHED"}
    assert "stale-slider" not in codes(run(part, scene))
