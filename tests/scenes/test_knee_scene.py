"""The knee's scene in Blender, its pictures, and the whole demonstration."""

import os
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")

import bpy

from blender_scenes import SCENES, SceneError, knee_scene, picture, production, staging
from blender_scenes import __main__ as command
from blender_scenes.anatomy.knee_kinematics import FLEXION_DEGREES, keyed_poses, noisy_poses

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def knee():
    return knee_scene.new_scene(cell=5e-3)


@pytest.mark.small
def test_keys_are_the_published_poses(knee):
    figures = knee_scene.check_bones(knee)
    assert figures["key_error"] < 2e-6
    for index, degrees in enumerate(FLEXION_DEGREES):
        knee.scene.frame_set(1 + knee_scene.FRAMES_BETWEEN_KEYS * index)
        assert knee_scene.flexion_degrees(knee_scene.relative_pose(knee.leg)) == pytest.approx(
            degrees, abs=1e-4
        )


def test_twin_carries_the_noisy_poses(knee):
    for index, pose in enumerate(noisy_poses()):
        knee.scene.frame_set(1 + knee_scene.FRAMES_BETWEEN_KEYS * index)
        np.testing.assert_allclose(knee_scene.relative_pose(knee.twin), pose, atol=2e-6)  # single precision


def test_thigh_is_level_and_the_shank_is_at_a_right_angle(knee):
    femur = production.object_pose(knee.leg.femur)
    np.testing.assert_allclose(femur[:3, :3] @ [0, 0, -1], [1, 0, 0], atol=1e-6)
    knee.scene.frame_set(1 + knee_scene.FRAMES_BETWEEN_KEYS * FLEXION_DEGREES.index(90))
    shank = production.object_pose(knee.leg.tibia)[:3, :3] @ [0, 0, -1]
    np.testing.assert_allclose(shank, [0, 0, -1], atol=1e-6)


def test_wrong_keys_are_refused(knee):
    knee.leg.poses[3, 0, 3] += 1e-4
    with pytest.raises(SceneError, match="differ from the published ones by 1"):
        knee_scene.check_bones(knee)


def test_overlapping_bones_are_refused(knee, monkeypatch):
    shifted = keyed_poses()
    shifted[:, 2, 3] += 0.01
    monkeypatch.setattr(knee_scene, "tibia_poses", lambda flexion: shifted)
    with pytest.raises(SceneError, match=r"are -\d.* mm apart"):
        knee_scene.check_bones(knee)


def test_meshes_of_the_display_are_closed(knee):
    frames = staging.frames_object("Frames", keyed_poses(), 0.02, knee.stage)
    mesh = frames.data
    mesh.validate(verbose=False)
    uses = Counter(key for polygon in mesh.polygons for key in polygon.edge_keys)
    assert set(uses.values()) == {2}


def test_sheet_puts_the_pictures_in_reading_order():
    large = np.zeros((10, 4, 4), dtype=np.float32)
    small = [np.full((4, 3, 4), value, dtype=np.float32) for value in (0.1, 0.2, 0.3, 0.4)]
    whole = picture.sheet(large, small, columns=2, gap=2)
    assert whole.shape == (10, 4 + 2 * 5, 4)
    assert whole[-1, 6, 0] == np.float32(0.1)  # rows run upward
    assert whole[-1, -1, 0] == np.float32(0.2)
    assert whole[0, 6, 0] == np.float32(0.3)
    with pytest.raises(ValueError, match="11 pixels high, the small ones together 10"):
        picture.sheet(np.zeros((11, 4, 4), dtype=np.float32), small, columns=2, gap=2)


def test_written_picture_reads_back(tmp_path):
    shades = np.random.default_rng(1).integers(0, 256, (5, 7, 4)).astype(np.float32) / 255.0
    shades[..., 3] = 1.0
    path = tmp_path / "shades.png"
    picture.write_image(shades, path)
    assert path.read_bytes()[16:24] == struct.pack(">II", 7, 5)
    np.testing.assert_allclose(picture.read_image(str(path)), shades, atol=1e-6)
    assert [entry.name for entry in tmp_path.iterdir()] == ["shades.png"]


@pytest.mark.small
def test_render_shows_the_bones_and_leaves_nothing_behind(knee):
    before = (len(bpy.data.objects), len(bpy.data.cameras), knee.scene.frame_current)
    picture.prepare_render(knee.scene, samples=1)
    knee.scene.cycles.use_denoising = False
    shot = picture.Shot(
        (0.2, -1.0, 0.2), (0.2, 0.0, 0.2), 0.7, 61, (48, 36), [picture.Label("t", (0.05, 0.05))]
    )
    shown = picture.render(knee.scene, shot)
    assert shown.shape == (36, 48, 4)
    brightness = shown[..., :3].mean(axis=2)
    assert brightness[16:24].max() > 2.0 * np.median(brightness)  # the level thigh crosses the middle
    assert (len(bpy.data.objects), len(bpy.data.cameras), knee.scene.frame_current) == before


def run(*arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=1300,  # three scenes, with an empty cache of kernels
    )


def test_scene_that_is_not_there_is_named(tmp_path):
    done = run("-m", "blender_scenes", "elbow", "--out", tmp_path)
    assert done.returncode == 2
    assert f"no scene is called elbow; there are: {', '.join(SCENES)}" in done.stderr


def test_without_names_every_scene_is_built(tmp_path, monkeypatch):
    built = []
    monkeypatch.setattr(command, "build", lambda name, out, filmed: built.append(name))
    assert command.main(["--out", str(tmp_path)]) == 0
    assert built == list(SCENES)


@pytest.mark.slow
@pytest.mark.parametrize("names", [SCENES[first::8] for first in range(8)], ids="-".join)
def test_scenes_are_built_one_after_the_other(names, tmp_path):
    done = run("-m", "tests.compute_process", "blender_scenes", *names, "--draft", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.stem for path in tmp_path.glob("*.blend")} == set(names)
    pictures = {path.stem for path in tmp_path.glob("*.png")}
    assert pictures == set(names) - {"knee"}  # its pictures are the demo's


@pytest.mark.slow
def test_demo_does_all_that_it_says(tmp_path):
    done = run(ROOT / "build.py", "demo", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"knee.blend", "knee.png", "knee_plots.png"}
    assert (tmp_path / "knee.png").stat().st_size < 400_000  # it is in the README
    for word in ("8 control frames", "10, noisy, smoothed", "swing", "bake against simulation", "seconds"):
        assert word in done.stdout
