"""Which coordinates of a joint are rotation vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import layout
from .model import Model


def rotation_coordinates(model: Model) -> Any:
    """First, second and third coordinate of every rotation vector of the model, one after the other."""
    body_int, _, block_int, _, _ = model.arrays
    found: list[int] = []
    if not (block_int[:, layout.KIND] == layout.ROTATION_VECTOR).any():
        return np.array(found, dtype=np.int64)
    for row in body_int:
        for b in range(row[layout.BLOCK_START], row[layout.BLOCK_START] + row[layout.BLOCK_COUNT]):
            if block_int[b, layout.KIND] == layout.ROTATION_VECTOR:
                first = int(row[layout.DOF_START] + block_int[b, layout.COORDINATE])
                found += [first, first + 1, first + 2]
    return np.array(found, dtype=np.int64)
