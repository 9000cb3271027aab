"""Numbers of nodes in flat vectors and blocks, points of bodies, and what all stages hand on."""

from __future__ import annotations

from typing import TypeAlias

from .. import layout as tree
from ..algebra.access import load3, load_twist
from ..algebra.vectors import Array, Vector, scale_add3
from ..compiler.jit import inline
from ..forces.points import carried, material
from ..stepping.bundles import Implicit, Spaces
from . import layout as at

NOTHING = (0.0, 0.0, 0.0)
# arrays of the tree, mesh and workspace of the soft bodies (see `layout`), and those of implicit steps
Soft: TypeAlias = tuple[Array, Array, Array, Implicit, Spaces]


@inline
def number3(x: Array, j: int) -> Vector:
    return x[3 * j], x[3 * j + 1], x[3 * j + 2]


@inline
def write3(x: Array, j: int, value: Vector) -> None:
    x[3 * j], x[3 * j + 1], x[3 * j + 2] = value


@inline
def add_at(x: Array, j: int, share: float, value: Vector) -> None:
    """Add a share of a value to the numbers of node j."""
    write3(x, j, scale_add3(number3(x, j), share, value))


@inline
def count_free(mesh: Array) -> int:
    """How many nodes are free: those that the sparse factors have, then the modes of surfaces."""
    return int(mesh[at.NODES].shape[0] - mesh[at.BODIES].shape[0])


@inline
def column3(many: Array, j: int, c: int) -> Vector:
    """Numbers of node j in column c."""
    return many[3 * j, c], many[3 * j + 1, c], many[3 * j + 2, c]


@inline
def add_column(many: Array, j: int, c: int, share: float, value: Vector) -> None:
    for k in range(3):
        many[3 * j + k, c] += share * value[k]


@inline
def add_both(matrix: Array, d: int, e: int, value: float) -> None:
    """Add to an entry and to the one across the diagonal."""
    matrix[d, e] += value
    matrix[e, d] += value


@inline
def times(blocks: Array, b: int, x: Vector) -> Vector:
    return (
        blocks[b, 0] * x[0] + blocks[b, 4] * x[1] + blocks[b, 8] * x[2],
        blocks[b, 1] * x[0] + blocks[b, 5] * x[1] + blocks[b, 9] * x[2],
        blocks[b, 2] * x[0] + blocks[b, 6] * x[1] + blocks[b, 10] * x[2],
    )


@inline
def transposed_times(blocks: Array, b: int, x: Vector) -> Vector:
    return (
        blocks[b, 0] * x[0] + blocks[b, 1] * x[1] + blocks[b, 2] * x[2],
        blocks[b, 4] * x[0] + blocks[b, 5] * x[1] + blocks[b, 6] * x[2],
        blocks[b, 8] * x[0] + blocks[b, 9] * x[1] + blocks[b, 10] * x[2],
    )


@inline
def relative_place(mesh: Array, a: int, work: Array) -> Vector:
    """Place of attached node a from its tree's reference point, or the world's origin."""
    return carried(work, mesh[at.BODIES][a], load3(mesh[at.POINTS], a, 0))


@inline
def coordinate_moves(body_int: Array, d: int, i: int) -> bool:
    """Whether coordinate d moves body i."""
    found = False
    while i >= 0:
        first = body_int[i, tree.DOF_START]
        found |= first <= d < first + body_int[i, tree.DOF_COUNT]
        i = body_int[i, tree.PARENT]
    return found


@inline
def velocity_by(dof: Array, d: int, point: Vector) -> Vector:
    """Velocity of a point of a body that coordinate d moves by its unit speed."""
    return material(load_twist(dof, d, tree.SUBSPACE), point)


@inline
def add_load(loads: Array, body: int, lever: Vector, force: Vector) -> None:
    """Add a force on a body to the sums of `coupling.gather_loads`."""
    for j in range(3):
        loads[body, j] += force[j]
        for k in range(3):
            loads[body, 3 + 3 * j + k] += lever[j] * force[k]
