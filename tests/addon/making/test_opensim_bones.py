"""Bones of an imported OpenSim model from other kinds of files than .vtp."""

import bpy
import numpy as np
import pytest

from .levers import lever

__all__ = ["lever"]  # a fixture


def _stl():
    """The square of `VTP` as two triangles in binary STL."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], "<f4")
    triangles = b"".join(
        np.zeros(3, "<f4").tobytes() + corners[list(each)].tobytes() + b"\0\0"
        for each in ((0, 1, 2), (0, 2, 3))
    )
    return bytes(80) + np.array(2, "<u4").tobytes() + triangles


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("rod.obj", b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n"),
        ("meshes\\rod.obj", b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n"),
        ("rod.STL", _stl()),
    ],
)
def test_bones_of_other_kinds_of_files_are_read(part, scene, lever, file, data):
    lever.write_text(lever.read_text("utf-8").replace("rod.vtp", file), "utf-8")
    mesh = lever.parent / file.replace("\\", "/")
    mesh.parent.mkdir(exist_ok=True)
    mesh.write_bytes(data)
    assert bpy.ops.condyle.import_opensim(filepath=str(lever)) == {"FINISHED"}
    (skin,) = (item for item in scene.objects if item.type == "MESH" and item.data.name.startswith("rod"))
    found = {tuple(np.round(vertex.co, 6)) for vertex in skin.data.vertices}
    assert found == {(0, 0, 0), (1, 0, 0), (1, 2, 0), (0, 2, 0)}  # the file scales by 2 along y
    assert skin.parent == bpy.data.objects["rod"]
    assert [each.name for each in skin.data.materials] == ["Condyle Bone"]


def test_a_broken_mesh_is_named_and_leaves_nothing(part, scene, lever):
    lever.write_text(lever.read_text("utf-8").replace("rod.vtp", "rod.obj"), "utf-8")
    (lever.parent / "rod.obj").write_bytes(b"v 0 0 0\n")
    assert bpy.ops.condyle.import_opensim(filepath=str(lever)) == {"FINISHED"}
    assert any("rod.obj" in each.text for each in part("blender.session").findings)
    assert not [item for item in bpy.data.objects if item.type == "MESH" and item.name.startswith("rod.obj")]
    assert any(item.type == "MESH" and item.name.startswith("rod stick") for item in scene.objects)
