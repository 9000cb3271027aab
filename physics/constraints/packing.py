"""Packs constraints into the flat arrays of the kernels, and makes the workspace of their rows."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from .. import kernels
from .._typing import FloatArray, IntArray
from ..joints.packing import Arrays, work_rows
from ..kernels import layout
from ..kernels.constraints import layout as rows
from .base import PackedConstraint
from .loops import local_loops

ConstraintArrays: TypeAlias = tuple[Any, Any, Any, Arrays, tuple[Any, Any, Any]]
System: TypeAlias = tuple[Any, ...]

# Constraints with more rows than this get workspaces of the size of their largest island.
DENSE = 96
# Fewer rows in the largest island are solved faster by dense factors.
FEWEST_LOCAL = 30


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


def make_system(
    arrays: Arrays,
    constraints: ConstraintArrays,
    more: int = 0,
    island: int = 0,
    fronts: int = 0,
    *,
    local: bool = False,
    coupled: IntArray | None = None,
) -> System:
    """Workspace for the rows of constraints and `more` other ones (see ``kernels.constraints.layout``).

    island: most rows whose matrix is formed, at least those of the constraints; 0 for all. fronts: room for the matrix
    of a large island's coordinates. local: whether the caller needs no responses to rows, so that loops may be solved
    cluster by cluster. coupled: coordinates of the trees that soft bodies couple, None without soft bodies.
    """
    contact, nv = kernels.contact, len(arrays[4])
    fixed = int(constraints[0][:, rows.CONSTRAINT_ROWS].sum())
    n = max(fixed + more, 1)
    trees, width, answer = _shape_of_rows(arrays, constraints)
    factors = 0 if coupled is None else nv
    if coupled is not None:
        answer, local = nv, False
        joined = np.isin(trees, trees[coupled])
        trees[joined] = trees[joined].min(initial=nv)
    block = _largest_block(arrays, constraints, trees) if fixed > DENSE else max(fixed, 1)
    island = max(min(island or n, n), block)
    space, _ = contact.impulse_layout.impulse_space(island)
    ints, large = np.int64, contact.sparse_layout
    jacobian = np.zeros((n, width)), np.zeros((n, width), ints), np.zeros((n, rows.SPAN_WIDTH), ints)
    response = np.zeros((n, answer)), np.zeros((n, rows.RANGES_WIDTH), ints)
    vectors = np.zeros((rows.WORK_VECTORS + factors, nv))
    many, tree_table = n if fronts else 1, np.zeros((nv + 1, rows.TREES_WIDTH), ints)
    tree_table[:nv, rows.TREE] = trees
    sparse = (
        np.zeros((contact.impulse_layout.VECTORS, many)),
        np.zeros((many, 3)),
        np.zeros((many, large.UNIT_WIDTH), ints),
        np.zeros((nv + 1, large.TREE_WIDTH), ints),
        np.zeros(fronts),
        np.zeros(fronts // large.ENTRIES_A_NEIGHBOUR, ints),
    )
    loops = local_loops(arrays, constraints[0]) if local and not more and block >= FEWEST_LOCAL else None
    return (
        np.zeros((n, rows.ROW_WIDTH)),
        jacobian,
        response,
        np.zeros((island, island)),
        np.zeros((max(fixed, 1), block)),
        np.zeros(max(fixed, 1), dtype=ints),
        np.zeros(max(fixed, 1)),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n, dtype=ints),
        np.zeros(n),
        np.zeros(n),
        np.zeros(nv),
        vectors,
        np.zeros(space),
        np.zeros(3 * n, dtype=ints),
        np.zeros((contact.spare_layout.SPARE_VECTORS, n)),
        np.zeros(n, dtype=ints),
        np.zeros((n, rows.ISLANDS_WIDTH), dtype=ints),
        tree_table,
        sparse,
        np.zeros(rows.STATISTICS),
        *(() if loops is None else (loops,)),
    )


def _shape_of_rows(arrays: Arrays, constraints: ConstraintArrays) -> tuple[IntArray, int, int]:
    """The number of each coordinate's tree, the most entries of a row, and the most coordinates that answer one."""
    body_int, nv = arrays[0], len(arrays[4])
    starts, counts = body_int[:, layout.DOF_START], body_int[:, layout.DOF_COUNT]
    roots = body_int[:, layout.ROOT]
    if arrays[3][layout.MUSCLE_MASSIVE] > 0.0:  # they may couple all trees
        return np.zeros(nv, dtype=np.int64), nv + 1, nv
    deep = counts.tolist()
    for i, parent in enumerate(body_int[:, layout.PARENT].tolist()):
        deep[i] += deep[parent] if parent >= 0 else 0
    heads = np.flatnonzero(roots == np.arange(len(roots)))
    last = body_int[heads, layout.TREE_END] - 1
    first, end = starts[heads], starts[last] + counts[last]
    width = max(2 * max(deep, default=0), 3)
    answer = int(np.sort(end - first)[-2:].sum())
    con_int, _, con_data, _, _ = constraints
    for record in con_int[con_int[:, rows.CONSTRAINT_KIND] == rows.COUPLING, rows.CONSTRAINT_DATA]:
        width, answer = max(width, 1 + int(con_data[record])), nv
    if (first[1:] < end[:-1]).any():  # trees whose bodies alternate share ranges
        answer = nv
    return np.repeat(starts[roots], counts), width, max(answer, 1)


def _largest_block(arrays: Arrays, constraints: ConstraintArrays, trees: IntArray) -> int:
    """Most rows of constraints that share trees, directly or through others."""
    con_int, _, con_data, _, _ = constraints
    leader = list(range(len(trees) + 1))
    sizes = [0] * len(leader)

    def lead(tree: int) -> int:
        while leader[tree] != tree:
            tree = leader[tree]
        return tree

    for row in con_int.tolist():
        if row[rows.CONSTRAINT_KIND] == rows.COUPLING:
            record = row[rows.CONSTRAINT_DATA]
            masters = con_data[record + 1 : record + 1 + 2 * int(con_data[record]) : 2].astype(int)
            touched = [int(trees[d]) for d in (row[rows.CONSTRAINT_BODY], *masters)]
        else:
            pair = row[rows.CONSTRAINT_BODY], row[rows.CONSTRAINT_OTHER]
            touched = [
                int(arrays[0][arrays[0][body, layout.ROOT], layout.DOF_START]) for body in pair if body >= 0
            ]
        first, *others = map(lead, touched)
        for other in others:
            if other != first:
                leader[other] = first
                sizes[first] += sizes[other]
        sizes[first] += row[rows.CONSTRAINT_ROWS]
    return max(sizes)


def jacobian_of(system: System, count: int) -> FloatArray:
    """The first rows of a system's Jacobian (count, nv)."""
    values, columns, spans = system[rows.SYSTEM_JACOBIAN]
    result = np.zeros((count, len(system[rows.SYSTEM_FREE])))
    row, place = np.nonzero(np.arange(values.shape[1]) < spans[:count, rows.SPAN_COUNT, None])
    np.add.at(result, (row, columns[row, place]), values[row, place])
    return result


def answers_of(system: System, count: int) -> FloatArray:
    """The responses (count, nv) to the first rows of a system."""
    response, ranges = system[rows.SYSTEM_RESPONSE]
    result = np.zeros((count, len(system[rows.SYSTEM_FREE])))
    for k, (first, end, second, last) in enumerate(ranges[:count].tolist()):
        result[k, first:end] = response[k, : end - first]
        result[k, second:last] = response[k, end - first : end - first + last - second]
    return result
