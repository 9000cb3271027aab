"""The gallery: every joint of the registry is in it, swept over its ranges as its joint says."""

import numpy as np
import pytest

from blender_scenes import gallery_joints
from blender_scenes.gallery_joints import SWEEP_FRAMES, exhibits
from physics import joints

TITLES = [exhibit.title for exhibit in exhibits()]


@pytest.mark.small
def test_every_joint_of_the_registry_is_shown():
    shown = {exhibit.joint.type for exhibit in gallery_joints.whole_gallery()}
    assert len(shown) >= 25 and shown <= set(joints.REGISTRY)


def test_a_new_joint_is_shown_without_an_entry(monkeypatch):
    monkeypatch.setitem(joints.REGISTRY, "ratchet", joints.Hinge)
    (new,) = gallery_joints.whole_gallery()[len(exhibits()) :]
    assert new.title == "Ratchet" and new.ranges == ((-0.5, 0.5),)
    assert new.sweep().shape == (SWEEP_FRAMES + 1, 1)


@pytest.mark.parametrize("exhibit", exhibits(), ids=TITLES)
def test_sweep_passes_every_range_and_comes_back(exhibit):
    readings = exhibit.sweep()
    assert readings.shape == (SWEEP_FRAMES + 1, exhibit.joint.num_coordinates)
    for column, (low, high) in zip(readings.T, exhibit.ranges, strict=True):
        assert low - 1e-12 <= column.min() and column.max() <= high + 1e-12
        # six coordinates have 40 frames each: a quarter of the sine falls between two of them
        assert np.ptp(column) > 0.99 * (high - low)
    np.testing.assert_allclose(readings[[0, -1]], exhibit.rest_readings[None].repeat(2, axis=0), atol=1e-12)
    away = np.abs(readings - exhibit.rest_readings) > 1e-9
    assert away.sum(axis=1).max(initial=0) <= 1  # one at a time


@pytest.mark.parametrize("exhibit", exhibits(), ids=TITLES)
def test_readings_of_the_sweep_are_those_of_the_joint(exhibit):
    readings = exhibit.sweep()[::17]
    again = exhibit.joint.readings(exhibit.joint.from_readings(readings))
    np.testing.assert_allclose(again, readings, atol=1e-12)
    assert len(exhibit.captions()) == len(exhibit.ranges) <= 6


def test_gallery_in_blender_shows_the_joints():
    pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")
    from blender_scenes import gallery
    from blender_scenes.production import registered_addon

    with registered_addon():
        made = gallery.make()
        _, figures = gallery.measure(made, lambda share, text: None)
    assert figures["joints, coordinates"].startswith(f"{len(exhibits())}, ")
    for stand in made[1]:
        assert set(stand.root.keys()) == {"joint", *stand.exhibit.joint.reading_names}


def test_gallery_frames_every_exhibit_between_its_labels():
    pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")
    from blender_scenes import gallery

    points = np.random.default_rng(3).uniform(-0.1, 0.1, (40, 3))
    shot = gallery.framed(points, 0.2, 0.9, [])
    back = np.subtract(shot.eye, shot.target)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    upward = np.cross(back / np.linalg.norm(back), right)
    height = shot.width * gallery.TILE[1] / gallery.TILE[0]
    shares = 0.5 + (points - shot.target) @ upward / height
    assert shares.min() > 0.2 and shares.max() < 0.9
    assert np.abs((points - shot.target) @ right).max() < 0.5 * shot.width
