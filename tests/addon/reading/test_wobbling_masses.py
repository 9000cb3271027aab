"""Soft parts of a body: a share of its mass that wobbles on it."""

import numpy as np
import pytest


@pytest.fixture
def stone(part, scene, make, authoring):
    """A box of 4 kg on a slider along z that stands still: its soft parts sag."""
    item = make.box("Stone")
    joint = authoring.add_joint(scene, None, part("data.references").Body(item), "slider", name="Slider")
    joint.condyle.joint.axis = (0, 0, 1)
    joint.condyle.joint.coordinates[0].stiffness = 1e5
    settings = item.condyle.body.wobbling
    settings.enabled, settings.share, settings.sag_along, settings.damping = True, 0.5, 0.02, 1.0
    return item, joint


@pytest.mark.small
def test_soft_parts_take_their_share_and_sag_as_was_said(part, scene, stone, ph):
    item, _ = stone
    read = part("reading.scene").read(scene)
    assert read.model.body_names == ("Stone", "Stone soft parts") and len(read.bodies) == 1
    assert [body.mass for body in read.model.bodies] == pytest.approx([2.0, 2.0])
    scene.frame_end = 49
    scene.condyle.simulation.gravity = (0.0, 0.0, -9.80665)
    report = part("jobs.bake").bake_now(scene)
    assert report.bodies == ["Stone"] and part("baked.temporarily").is_baked(item)
    sag = report.result.poses[-1, 0, 2, 3] - report.result.poses[-1, 1, 2, 3]
    assert sag == pytest.approx(0.02, rel=0.02)


def test_what_does_not_hang_together_is_refused(part, scene, stone, ph):
    item, _ = stone
    for name, value, words in (
        ("share", 1.0, "between 0 and 1, got 1"),
        ("axis", (0.0, 0.0, 0.0), "axis of its soft parts is 0"),
    ):
        before = getattr(item.condyle.body.wobbling, name)
        before = tuple(before) if name == "axis" else before
        setattr(item.condyle.body.wobbling, name, value)
        with pytest.raises(ph.ModelError, match=words):
            part("reading.scene").read(scene)
        setattr(item.condyle.body.wobbling, name, before)
    assert np.isfinite(part("reading.scene").read(scene).model.bodies[1].mass)
