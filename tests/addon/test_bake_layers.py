"""What a bake leaves of the user's layers in the NLA, and that it finds its own again."""

from __future__ import annotations

import numpy as np
import pytest

bpy = pytest.importorskip("bpy")
from .test_bake_targets import layer  # noqa: E402

pytestmark = pytest.mark.small


def keyed(make, frames, values):
    """An Empty with keys of its colour, which no bake touches."""
    item = make.empty("Item")
    for frame, value in zip(frames, values, strict=True):
        item.color = (value, value, value, 1.0)
        item.keyframe_insert("color", frame=frame)
    return item


def put(part, item, target):
    """A bake of nine frames in which the item stands still."""
    frames, zeros = np.arange(6.0, 15.0), np.zeros((9, 3))
    part("bake_targets").put(
        item, [part("curve_keys").KeyedPath("location", "Item", frames, zeros, zeros)], target
    )


def shown(scene, item, frames):
    found = []
    for frame in frames:
        scene.frame_set(frame)
        found.append(item.color[0])
    return np.array(found)


@pytest.mark.parametrize("target", ("NEW", "STRIP"))
@pytest.mark.parametrize("kind", ("muted", "empty", "muted strip"))
@pytest.mark.parametrize(
    ("blend", "influence", "extrapolation"),
    (("ADD", 1.0, "HOLD"), ("REPLACE", 0.25, "HOLD"), ("REPLACE", 1.0, "NOTHING")),
)
def test_an_action_blended_with_nothing_goes_on_as_it_did(
    part, scene, make, target, kind, blend, influence, extrapolation
):
    """Where no track plays a strip, Blender takes no notice of how the action in use is to be blended."""
    item = keyed(make, (5, 11), (0.1, 0.3))
    layer(item, blend, influence, extrapolation)
    (track,) = item.animation_data.nla_tracks
    if kind == "muted":
        track.mute = True
    elif kind == "empty":
        track.strips.remove(track.strips[0])
    else:
        track.strips[0].mute = True
    frames = range(1, 41)
    before = shown(scene, item, frames)
    put(part, item, target)
    np.testing.assert_allclose(shown(scene, item, frames), before, atol=1e-6)
    part("bake_targets").free(item)
    np.testing.assert_array_equal(shown(scene, item, frames), before)
