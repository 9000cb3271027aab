"""Impulses of islands with many contacts (see `sparse`)."""

from __future__ import annotations

import math

from .. import layout as tree
from ..algebra.vectors import Array
from ..compiler.jit import inline, shared
from ..constraints import layout as con
from . import impulse_layout as solver
from . import sparse_layout as at
from .impulse_residual import contact_miss
from .impulses import SWEEPS, approach, centre, gather, search
from .newton import LARGEST, choose, defect
from .spare_layout import FRICTION, IMPULSE, JAMMED, RESTITUTION, RIGHT
from .sparse import find_sparse_speeds, prepare_sparse
from .sparse_order import find_masses, lay_out, list_units, order_trees

# Islands with fewer rows are solved with the matrix of their rows; so are those with more where nothing else helps,
# unless they have many and are near to a solution: their matrices take minutes.
FEW_ROWS, MANY_ROWS = 48, 240
# Relative defect that islands with many rows may keep.
ROUGH = 1e-5
# Relative defect that is accepted where Newton's steps end nowhere.
NEAR = 0.5 * JAMMED


@shared
def sparse_residual(cones: int, m: int, sparse: Array) -> tuple[float, float]:
    """`natural_residual` and `overgrown` of the vectors' impulses."""
    space, blocks = sparse[at.VECTOR_ROWS], sparse[at.BLOCKS]
    total, size, asked, i = 0.0, 0.0, 0.0, 0
    for i in range(m):
        size += space[solver.IMPULSE, i] ** 2
        own = blocks[i, (i % 3) if i < cones else 0]
        asked += (space[solver.RIGHT, i] / own) ** 2 if own > 0.0 else 0.0
    for i in range(0, cones, 3):
        x = space[solver.IMPULSE, i], space[solver.IMPULSE, i + 1], space[solver.IMPULSE, i + 2]
        u = space[solver.SPEED, i], space[solver.SPEED, i + 1], space[solver.SPEED, i + 2]
        total += contact_miss(x, u, space[solver.SCALE, i], space[solver.FRICTION, i])
    for i in range(cones, m):
        total += min(space[solver.SCALE, i] * space[solver.SPEED, i], space[solver.IMPULSE, i]) ** 2
    residual = math.sqrt(total / size if size > 0.0 else total)
    return residual, max(math.sqrt(size / asked) / LARGEST, 1.0) if asked > 0.0 else 1.0


@inline
def is_large(count: int, kinds: Array, spare: Array) -> bool:
    """Whether an island's rows are many, without equalities and rebounds."""
    alike = count >= FEW_ROWS
    for i in range(count if alike else 0):
        alike = alike and kinds[i] != con.EQUALITY and not spare[RESTITUTION, i] > 0.0
    return alike


@shared
def arrange(
    cones: int,
    m: int,
    body_int: Array,
    work: Array,
    dof: Array,
    trees: Array,
    statistics: Array,
    flags: Array,
    sparse: Array,
) -> int:
    """Order of the island's trees, and their mass matrices; returns their number, 0 if the island must be solved
    otherwise. Flags fronts without room.
    """
    count, room = list_units(cones, m, trees, sparse), sparse[at.FRONTS].shape[0]
    if count <= 0:
        return 0
    need = lay_out(count, sparse) if order_trees(count, sparse) else room + 1
    statistics[con.WIDEST] = max(statistics[con.WIDEST], float(need))
    if need > room:
        flags[tree.STATUS] = tree.TOO_MANY_CONTACTS
        return 0
    return count if find_masses(body_int, count, work, dof, sparse) else 0


@inline
def still_hold(cones: int, m: int, space: Array, order: Array) -> bool:
    """Whether the first impulses meet all conditions and nothing slides (see `centre`)."""
    value, size = defect(0, cones, m, space, solver.IMPULSE, solver.SPEED)
    choose(0, cones, m, space, order)
    slides, states = False, order.shape[0] // 3
    for i in range(0, cones, 3):
        slides |= order[states + i] == solver.SLIDE
    return value <= solver.CLOSE * solver.CLOSE * size and not slides


@shared
def solve_large(
    first: int, end: int, body_int: Array, work: Array, dof: Array, system: Array, flags: Array
) -> float:
    """Impulses of the island's rows, members[first:end], from those in spare; returns the solver's residual, -1 where
    they must be solved otherwise.
    """
    own = system[con.SYSTEM_SPARSE]
    space, units = own[at.OWN_VECTORS], own[at.OWN_UNITS]
    sparse = (
        system[con.SYSTEM_JACOBIAN],
        system[con.SYSTEM_RESPONSE],
        system[con.SYSTEM_VECTORS],
        space,
        own[at.OWN_BLOCKS],
        units,
        own[at.OWN_TREES],
        own[at.OWN_FRONTS],
        own[at.OWN_LISTS],
    )
    count, spare, order = end - first, system[con.SYSTEM_SPARE], system[con.SYSTEM_SOLVER_ORDER]
    _, cones, m = gather(
        count, system[con.SYSTEM_SOLVER_KINDS], spare[FRICTION], spare[IMPULSE], space, order
    )
    for i in range(m):
        units[i, at.UNIT_ROW] = system[con.SYSTEM_ROW_ISLANDS][first + order[i], con.MEMBER]
        space[solver.RIGHT, i] = spare[RIGHT, order[i]]
    warm = prepare_sparse(cones, m, sparse)
    if not (warm and still_hold(cones, m, space, order)):
        trees = system[con.SYSTEM_TREES]
        number = arrange(cones, m, body_int, work, dof, trees, system[con.SYSTEM_STATISTICS], flags, sparse)
        if number == 0:
            return -1.0
        if approach(0, cones, m, space, order, 0 if warm else SWEEPS, number, sparse):
            centre(0, cones, m, space, order, number, sparse)
        else:
            value, whole = defect(0, cones, m, space, solver.IMPULSE, solver.SPEED)
            if value > NEAR * NEAR * whole:
                for i in range(m):
                    spare[IMPULSE, order[i]] = space[solver.IMPULSE, i]
                search(0, cones, m, space, order, number, sparse)
                if not defect(0, cones, m, space, solver.IMPULSE, solver.SPEED)[0] <= value:
                    for i in range(m):
                        space[solver.IMPULSE, i] = spare[IMPULSE, order[i]]
                    find_sparse_speeds(m, sparse)
    residual, beyond = sparse_residual(cones, m, sparse)
    enough = JAMMED if m < MANY_ROWS else ROUGH
    if not max(residual, enough) * beyond <= enough:
        return -1.0
    for i in range(m):
        spare[IMPULSE, order[i]] = space[solver.IMPULSE, i]
    return residual * beyond
