"""What animates the things that a bake read: what of it makes the bake out of date, and what does not."""

from __future__ import annotations

import pytest

bpy = pytest.importorskip("bpy")

pytestmark = pytest.mark.small

TARGETS = ("NEW", "CURRENT", "OVERWRITE", "STRIP")


def changes(part, scene):
    return part("staleness").changes(scene)


def stays_up_to_date(part, scene, frames):
    for frame in frames:
        scene.frame_set(frame)
        assert changes(part, scene) == []


@pytest.fixture
def baked_swing(part, scene, swing):
    """A function that bakes a keyed bob on a hinge to a target."""

    def bake(target="NEW"):
        scene.condyle.simulation.output.target = target
        part("tasks").bake_now(scene)
        assert changes(part, scene) == []
        return swing

    return bake


@pytest.mark.parametrize("target", TARGETS)
def test_another_action_in_the_place_of_the_bake_counts(part, scene, baked_swing, target):
    _, bob, _ = baked_swing(target)
    bob.animation_data.action = bpy.data.actions.new("Other")
    bob.location = (1, 1, 1)
    bob.keyframe_insert("location", frame=3)
    told = changes(part, scene)
    assert len(told) == 1 and told[0].startswith("Bob: keys")
    part("tasks").bake_now(scene)
    assert changes(part, scene) == []
