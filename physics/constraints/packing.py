"""Packs constraints into the flat arrays of the kernels, and makes the workspace of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import kernels
from .._typing import FloatArray
from ..joints.packing import Arrays, work_rows
from ..kernels import layout
from ..kernels.constraints import layout as rows
from .base import PackedConstraint

ConstraintArrays: TypeAlias = tuple[Any, Any, Any, Arrays, tuple[Any, Any, Any]]
System: TypeAlias = tuple[Any, ...]


def pack_constraints(
    packed: Sequence[PackedConstraint], arrays: Arrays, body_frames: Sequence[FloatArray]
) -> ConstraintArrays:
    """The arrays of constraints on the model packed in `arrays` (see ``kernels.constraints.layout``).

    body_frames: the frames of the bodies relative to their link frames.
    """
    con_int = np.zeros((len(packed), rows.CONSTRAINT_INT_WIDTH), dtype=np.int64)
    con_float = np.zeros((len(packed), rows.CONSTRAINT_FLOAT_WIDTH))
    data: list[FloatArray] = []
    marks = [constraint.marked for constraint in packed if constraint.marked is not None]
    marked = _marked_model(arrays, marks)
    size, first, mark = 0, 0, len(arrays[0])
    for k, constraint in enumerate(packed):
        values = constraint.data
        if constraint.marked is not None:
            values = np.array([mark], dtype=np.float64)
            mark += 1
        con_int[k] = [
            constraint.kind,
            constraint.body,
            constraint.other,
            constraint.locks,
            first,
            constraint.rows,
            constraint.sense,
            size,
        ]
        con_float[k] = constraint.float_row(body_frames)
        data.append(values)
        size += len(values)
        first += constraint.rows
    con_data = np.concatenate([*data, np.zeros(1)])
    for array in (con_int, con_float, con_data):
        array.flags.writeable = False
    nv = len(arrays[4])
    spaces = (
        work_rows(len(marked[0]), nv),
        np.zeros((nv, layout.DOF_WORK_WIDTH)),
        np.zeros(2, dtype=np.int64),
    )
    return con_int, con_float, con_data, marked, spaces


def _marked_model(arrays: Arrays, marks: Sequence[tuple[int, int]]) -> Arrays:
    """The model's arrays with a body appended after the first factors of each marked joint."""
    if not marks:
        return arrays
    body_int, body_float, block_int, data, dof_float = arrays
    ints, floats = [body_int], [body_float]
    for number, (body, blocks) in enumerate(marks):
        row, values = body_int[body].copy(), body_float[body].copy()
        row[layout.BLOCK_COUNT] = blocks
        row[layout.VISITED] = len(body_int) + number
        if row[layout.PARENT] < 0:
            row[layout.ROOT] = len(body_int) + number
        ints.append(row[None])
        floats.append(values[None])
    return np.concatenate(ints), np.concatenate(floats), block_int, data, dof_float


def make_system(num_rows: int, nv: int) -> System:
    """Workspace for at most num_rows rows (see ``kernels.constraints.layout``)."""
    n = max(num_rows, 1)
    space, order = kernels.contact.impulse_layout.impulse_space(n)
    return (
        np.zeros((n, rows.ROW_WIDTH)),
        np.zeros((n, nv)),
        np.zeros((n, nv)),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros(n, dtype=np.int64),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, dtype=np.int64),
        np.zeros(n),
        np.zeros(n),
        np.zeros(nv),
        np.zeros(space),
        np.zeros(order, dtype=np.int64),
        np.zeros((kernels.contact.row_impulses.SPARE_VECTORS, n)),
        np.zeros(rows.STATISTICS),
        np.zeros((n, 2), dtype=np.int64),
    )
