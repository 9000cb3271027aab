"""Meshes of bones."""

import numpy as np
import pytest

import physics as ph
from physics.io.vtp import read_vtp

VTP = """<?xml version="1.0"?><VTKFile type="PolyData"><PolyData><Piece>
<Points><DataArray NumberOfComponents="3" format="ascii">0 0 0  1 0 0  1 1 0  0 1 0</DataArray></Points>
<Polys><DataArray Name="connectivity" format="ascii">0 1 2 0 2 3</DataArray>
<DataArray Name="offsets" format="ascii">3 6</DataArray></Polys></Piece></PolyData></VTKFile>
"""


def test_points_and_polygons(tmp_path):
    path = tmp_path / "a.vtp"
    path.write_text(VTP, "utf-8")
    points, polygons = read_vtp(path)
    assert points.shape == (4, 3) and polygons == [[0, 1, 2], [0, 2, 3]]
    assert np.array_equal(points[2], [1, 1, 0])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("VTKFile", "Other", "not a VTK file of polygons"),
        ("0 2 3", "0 2 4", "missing points"),
        (">3 6<", ">3 5<", "do not match their connectivity"),
        (">3 6<", ">-3 6<", "do not match their connectivity"),
        ('Name="offsets" format="ascii"', 'Name="offsets" format="binary"', "offsets are not ASCII"),
        ("1 0 0", "1 x 0", "points are not numbers"),
        ("1 0 0", "1 nan 0", "points are not finite"),
        ('Name="offsets"', 'Name="other"', "has no offsets"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, told):
    path = tmp_path / "bad.vtp"
    path.write_text(VTP.replace(old, new), "utf-8")
    with pytest.raises(ph.FormatError, match=rf"bad\.vtp.*{told}"):
        read_vtp(path)
