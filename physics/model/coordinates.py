"""The coordinates of a model that form rotation vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import layout
from .model import Model


def rotation_coordinates(model: Model) -> Any:
    """Indices of the coordinates of all rotation vectors of the model, three for each."""
    body_int, _, block_int, _, _ = model.arrays
    result: list[int] = []
    if not (block_int[:, layout.KIND] == layout.ROTATION_VECTOR).any():
        return np.array(result, dtype=np.int64)
    for row in body_int:
        for b in range(row[layout.BLOCK_START], row[layout.BLOCK_START] + row[layout.BLOCK_COUNT]):
            if block_int[b, layout.KIND] == layout.ROTATION_VECTOR:
                first = int(row[layout.DOF_START] + block_int[b, layout.COORDINATE])
                result += [first, first + 1, first + 2]
    return np.array(result, dtype=np.int64)
