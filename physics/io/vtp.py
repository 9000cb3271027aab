"""OpenSim's bone surfaces: VTK's XML files of polygons (``.vtp``), as ASCII text."""

import os
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError
from .opensim_xml import read_xml


def read_vtp(path: str | os.PathLike[str]) -> tuple[FloatArray, list[list[int]]]:
    """Points (n, 3) and polygons (indices of their points, in order) of a surface.

    Raises:
        FormatError: not such a file, not ASCII, or inconsistent.
        OSError: the file cannot be read.
    """
    root = read_xml(path, "a surface")
    piece = root.find("./PolyData/Piece")
    if root.tag != "VTKFile" or piece is None:
        raise FormatError(f"{path}: not a VTK file of polygons (element {root.tag!r})")
    points = _numbers(path, piece.find("./Points/DataArray"), "points").reshape(-1)
    polygons = piece.find("./Polys")
    named = {} if polygons is None else {part.get("Name"): part for part in polygons.iter("DataArray")}
    corners, ends = (
        _numbers(path, named.get(name), name).astype(np.int64) for name in ("connectivity", "offsets")
    )
    count = len(points) // 3
    if len(points) % 3 or (len(corners) and not 0 <= corners.min() <= corners.max() < count):
        raise FormatError(f"{path}: polygons refer to missing points")
    if len(ends) and (ends[0] < 0 or (np.diff(ends) < 0).any() or ends[-1] != len(corners)):
        raise FormatError(f"{path}: offsets of polygons do not match their connectivity")
    among = corners.tolist()
    return points.reshape(-1, 3), [among[begin:end] for begin, end in pairwise([0, *ends.tolist()])]


def _numbers(path: Any, node: Any, what: str) -> FloatArray:
    if node is None:
        raise FormatError(f"{path}: has no {what}")
    if node.get("format", "ascii") != "ascii":
        raise FormatError(f"{path}: its {what} are not ASCII text ({node.get('format')})")
    try:
        values: FloatArray = np.array((node.text or "").split(), dtype=np.float64)
    except ValueError as error:
        raise FormatError(f"{path}: its {what} are not numbers ({error})") from error
    if not np.isfinite(values).all():
        raise FormatError(f"{path}: its {what} are not finite")
    return values
