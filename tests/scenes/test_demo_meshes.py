"""The file of the add-on's demo: it is what the scenes' script makes, and the demo and the presets show it."""

import numpy as np
import pytest

bpy = pytest.importorskip("bpy", reason="bpy, Blender as a Python module, is not installed")

from addon.making import demo_knee  # noqa: E402
from blender_scenes import demo_meshes, knee_joint  # noqa: E402
from blender_scenes.anatomy import knee_kinematics as published  # noqa: E402


@pytest.fixture(scope="module")
def arrays():
    return demo_meshes.arrays()


def test_file_is_what_the_script_writes(arrays, tmp_path):
    with np.load(demo_meshes.FILE) as stored:
        assert list(stored) == list(arrays)
        for name, array in arrays.items():
            assert stored[name].dtype == array.dtype
            # two of 2^-25: vertices are within 0.5 m, and another machine may round the last digit otherwise
            np.testing.assert_allclose(stored[name], array, rtol=0, atol=6e-8, err_msg=name)
    assert demo_meshes.FILE.stat().st_size < 200_000
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    for path in (first, second):
        np.savez_compressed(path, **arrays)
    assert first.read_bytes() == second.read_bytes()


def own(item):
    """Vertices (n, 3) of a mesh object in its own axes."""
    return np.array([vertex.co for vertex in item.data.vertices])


def test_demo_shows_the_bones(arrays, scene):
    assert bpy.ops.condyle.demo_knee() == {"FINISHED"}
    for name in demo_knee.NAMES:
        mesh = bpy.data.objects[name].data
        made = np.array([vertex.co for vertex in mesh.vertices])
        np.testing.assert_array_equal(made, arrays[f"{name}_vertices"])
        np.testing.assert_array_equal(
            [polygon.vertices for polygon in mesh.polygons], arrays[f"{name}_faces"]
        )


@pytest.mark.parametrize("name", demo_meshes.PRESETS)
def test_preset_shows_its_bodies(part, scene, name):
    assert bpy.ops.condyle.add_preset(preset=name) == {"FINISHED"}
    preset = part("making.presets").BY_NAME[name]
    for title, (vertices, faces) in zip((preset.parent, preset.child), demo_meshes.PRESETS[name]):
        if faces:
            item, middle = bpy.data.objects[title], 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
            np.testing.assert_allclose(own(item), vertices - middle, rtol=0, atol=1e-6)
            assert [tuple(polygon.vertices) for polygon in item.data.polygons] == faces
        else:
            points = [point.co for point in bpy.data.objects[title].data.splines[0].bezier_points]
            np.testing.assert_allclose(points, vertices, rtol=0, atol=1e-6)


def test_figures_of_the_demo_are_those_of_the_published_knee():
    turn = published.BLENDER_FROM_OPENSIM
    assert demo_knee.SHANK_MASS == published.SHANK_MASS
    np.testing.assert_array_equal(demo_knee.SHANK_CENTER, turn @ published.SHANK_CENTER)
    np.testing.assert_array_equal(demo_knee.SHANK_INERTIA, turn @ np.diag(published.SHANK_INERTIA) @ turn.T)
    poses = published.tibia_poses(np.radians(np.linspace(0.0, knee_joint.RELEASE_DEGREES, 701)))
    shifts = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1) / demo_knee.LENGTH_SCALE
    assert abs(demo_knee.START - np.hypot(np.radians(0.1), shifts).sum()) < 1e-12
