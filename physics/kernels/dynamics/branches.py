"""The matrix of an implicit step of a tree, M + s dID/dq' + s^2 dID/dq, factorized and solved in O(n).

With the relative changes of `derivatives`, a change x of a joint's coordinates changes velocity and acceleration of all
bodies beyond by the same m x and p x. So, as in the articulated-body algorithm, the force on a body and all beyond it
is a linear function A P + B M + g of the change (P, M) of its parent's motion once all coordinates beyond are
eliminated. But A is not symmetric, and force and motion do not have the same columns: the joint's rows are s^T (A P + B
M + g) + D x = r, and the force gains u x, u = A p + B m and the turn of the force with the bodies. B and M have an
angular part only. Nothing is pivoted beyond the tree's order.
"""

from .. import layout as at
from ..algebra.access import load3, load6, load9, load_twist
from ..algebra.inertia import Inertia, add_inertia, inertia_times, load_inertia, momentum
from ..algebra.lanes import (
    Pair,
    add_pair,
    dot_lanes,
    dot_pair,
    lanes_of,
    load_lanes,
    load_pair,
    pair_of,
    scale_add_lanes,
    scale_add_pair,
    store_lanes,
    store_pair,
)
from ..algebra.vectors import NONE, Array, dot6, scale_add6
from ..compiler.jit import inline, shared
from ..forces.passive import passive_slopes
from ..joints.tangent import MOVED, PUSHED, PUSHED_FAST, columns_of, is_screw, wrench_turned
from .derivatives import MOMENTUM, TURNED_INERTIA, motion_changes

# rows of the coordinates: s, p, m, u, u times the inverse block, A^T s, B^T s, the coordinate's solution, and its row
# of the inverse of its joint's block
AXIS, CHANGE, TURNING, FORCED, SPREAD, FELT, FELT_TURNING, SOLUTION, BLOCK = 0, 8, 16, 20, 28, 36, 44, 48, 49
# rows of the bodies, after them: columns of A and B; while solving, g, P and M
INERTIA, DRAG = 0, 48
REST, CHANGED, TURNED = 0, 8, 16
BRANCH_WIDTH = 72
MOST_IN_JOINT = BRANCH_WIDTH - BLOCK


@inline
def load_articulated(branches: Array, row: int) -> Inertia:
    return (
        load_pair(branches, row, INERTIA),
        load_pair(branches, row, INERTIA + 8),
        load_pair(branches, row, INERTIA + 16),
        load_pair(branches, row, INERTIA + 24),
        load_pair(branches, row, INERTIA + 32),
        load_pair(branches, row, INERTIA + 40),
    )


@inline
def load_drag(branches: Array, row: int) -> tuple[Pair, Pair, Pair]:
    return (
        load_pair(branches, row, DRAG),
        load_pair(branches, row, DRAG + 8),
        load_pair(branches, row, DRAG + 16),
    )


@shared
def begin_body(i: int, row: int, branches: Array, bodies: Array, work: Array) -> None:
    """A and B of the rigid body alone; see `derivatives.drag`."""
    inertia = load_inertia(work, i)
    store_pair(branches, row, INERTIA, inertia[0])
    store_pair(branches, row, INERTIA + 8, inertia[1])
    store_pair(branches, row, INERTIA + 16, inertia[2])
    store_pair(branches, row, INERTIA + 24, inertia[3])
    store_pair(branches, row, INERTIA + 32, inertia[4])
    store_pair(branches, row, INERTIA + 40, inertia[5])
    k, (x, y, z) = load9(bodies, i, TURNED_INERTIA), load3(bodies, i, MOMENTUM)
    store_pair(branches, row, DRAG, pair_of((k[0], k[3], k[6], 0.0, -2.0 * z, 2.0 * y)))
    store_pair(branches, row, DRAG + 8, pair_of((k[1], k[4], k[7], 2.0 * z, 0.0, -2.0 * x)))
    store_pair(branches, row, DRAG + 16, pair_of((k[2], k[5], k[8], -2.0 * y, 2.0 * x, 0.0)))


@shared
def invert_block(branches: Array, first: int, count: int) -> int:
    """Invert the block of a joint in place; returns a coordinate without a pivot, or -1."""
    for k in range(count):
        pivot = branches[first + k, BLOCK + k]
        if not abs(pivot) > 0.0:
            return first + k
        branches[first + k, BLOCK + k] = 1.0
        for j in range(count):
            branches[first + k, BLOCK + j] /= pivot
        for i in range(count):
            if i != k:
                share = branches[first + i, BLOCK + k]
                branches[first + i, BLOCK + k] = 0.0
                for j in range(count):
                    branches[first + i, BLOCK + j] -= share * branches[first + k, BLOCK + j]
    return -1


@shared
def fill_coordinate(
    d: int, i: int, row: int, step: float, branches: Array, tangent: Array, work: Array, dof: Array
) -> None:
    """Columns and rows of coordinate d of body i; nothing where its motion is prescribed."""
    if dof[d, at.HELD] != 0.0:
        for k in range(SOLUTION):
            branches[d, k] = 0.0
        return
    s, moved = load_twist(dof, d, at.SUBSPACE), load6(tangent, d, MOVED)
    p = scale_add6(load6(tangent, d, PUSHED_FAST), step, load6(tangent, d, PUSHED))
    p = scale_add6(s, step, p)
    m = (step * (s[0] + step * moved[0]), step * (s[1] + step * moved[1]), step * (s[2] + step * moved[2]))
    inertia, (x, y, z) = load_articulated(branches, row), load_drag(branches, row)
    u = scale_add_pair(inertia_times(inertia, p), m[0], x)
    u = scale_add_pair(scale_add_pair(u, m[1], y), m[2], z)
    turned = pair_of(wrench_turned(s, load_twist(work, i, at.FORCE)))
    axis = pair_of(s)
    felt = (
        dot_pair(inertia[0], axis), dot_pair(inertia[1], axis), dot_pair(inertia[2], axis),
        dot_pair(inertia[3], axis), dot_pair(inertia[4], axis), dot_pair(inertia[5], axis),
    )  # fmt: skip
    store_pair(branches, d, AXIS, axis)
    store_pair(branches, d, CHANGE, pair_of(p))
    store_lanes(branches, d, TURNING, lanes_of(m))
    store_pair(branches, d, FORCED, scale_add_pair(u, step * step, turned))
    store_pair(branches, d, FELT, pair_of(felt))
    felt_turning = dot_pair(x, axis), dot_pair(y, axis), dot_pair(z, axis)
    store_lanes(branches, d, FELT_TURNING, lanes_of(felt_turning))


@shared
def fill_block(
    first: int, count: int, i: int, simple: bool, step: float, branches: Array, tangent: Array, work: Array
) -> None:
    """The joint's own block, without what its coordinates have beside the bodies."""
    force, columns = load_twist(work, i, at.FORCE), columns_of(tangent)
    for e in range(first, first + count):
        axis = load_pair(branches, e, AXIS)
        for d in range(first, first + count):
            entry = dot_pair(axis, load_pair(branches, d, FORCED))
            if not simple:
                entry += step * step * dot6(load6(tangent, d, columns + 6 * (e - first)), force)
            branches[e, BLOCK + d - first] = entry


@shared
def take_joint_out(first: int, count: int, row: int, outer: int, branches: Array) -> None:
    """Eliminate the joint's coordinates from the body's A and B, and add these to the parent's row."""
    for d in range(first, first + count):
        none = lanes_of(NONE)
        spread = none, none
        for e in range(first, first + count):
            spread = scale_add_pair(spread, branches[e, BLOCK + d - first], load_pair(branches, e, FORCED))
        store_pair(branches, d, SPREAD, spread)
    for c in range(6 + 3):  # columns of A, then of B
        place = INERTIA + 8 * c
        column = load_pair(branches, row, place)
        for d in range(first, first + count):
            # the angular and the linear half of FELT are padded
            felt = branches[d, FELT + c + c // 3]
            column = scale_add_pair(column, -felt, load_pair(branches, d, SPREAD))
        store_pair(branches, outer, place, add_pair(column, load_pair(branches, outer, place)))


@shared
def factorize_tree(
    arrays: Array,
    step: float,
    q: Array,
    qd: Array,
    qdd: Array,
    tau: Array,
    mass: Array,
    branches: Array,
    tangents: Array,
    spaces: Array,
) -> int:
    """`inverse_dynamics` into tau, and the factors of the matrix into branches; returns a coordinate without a pivot,
    or -1. The diagonal of mass (nv, nv) gets the coordinates' own inertias.

    For trees without limits of several coordinates, force elements and muscles.
    """
    body_int, _, block_int, data, dof_float = arrays
    (work, dof, _), (tangent, bodies, _, _), nv = spaces, tangents, q.shape[0]
    motion_changes(arrays, q, qd, qdd, tau, tangents, spaces)
    for i in range(body_int.shape[0]):
        begin_body(i, nv + i, branches, bodies, work)
    for i in range(body_int.shape[0] - 1, -1, -1):
        parent, first, count = body_int[i, at.PARENT], body_int[i, at.DOF_START], body_int[i, at.DOF_COUNT]
        inertia = load_inertia(work, i)
        for d in range(first, first + count):
            fill_coordinate(d, i, nv + i, step, branches, tangent, work, dof)
            s = load_twist(dof, d, at.SUBSPACE)
            mass[d, d] = dot6(s, momentum(inertia, s)) + dof_float[d, at.ARMATURE]
        fill_block(first, count, i, is_screw(body_int, block_int, i), step, branches, tangent, work)
        for d in range(first, first + count):
            by_position, by_velocity = passive_slopes(dof_float, data, tau, d, q[d], qd[d])
            branches[d, BLOCK + d - first] += dof_float[d, at.ARMATURE]
            branches[d, BLOCK + d - first] -= step * (by_velocity + step * by_position)
            if dof[d, at.HELD] != 0.0:
                for e in range(first, first + count):
                    branches[d, BLOCK + e - first] = branches[e, BLOCK + d - first] = 0.0
                branches[d, BLOCK + d - first] = 1.0
        bad = invert_block(branches, first, count)
        if bad >= 0:
            return bad
        if parent >= 0:
            take_joint_out(first, count, nv + i, nv + parent, branches)
            add_inertia(work, parent, inertia)
    return -1


@shared
def solve_tree(body_int: Array, branches: Array, x: Array) -> None:
    """Solve with the factors of `factorize_tree`; x (nv,) comes in as the right side."""
    none, nv = lanes_of(NONE), x.shape[0]
    for i in range(body_int.shape[0]):
        store_pair(branches, nv + i, REST, (none, none))
    for i in range(body_int.shape[0] - 1, -1, -1):
        parent, first, count = body_int[i, at.PARENT], body_int[i, at.DOF_START], body_int[i, at.DOF_COUNT]
        rest = load_pair(branches, nv + i, REST)
        outer = rest
        for d in range(first, first + count):
            x[d] -= dot_pair(load_pair(branches, d, AXIS), rest)
            outer = scale_add_pair(outer, x[d], load_pair(branches, d, SPREAD))
        if parent >= 0:
            store_pair(branches, nv + parent, REST, add_pair(outer, load_pair(branches, nv + parent, REST)))
    for i in range(body_int.shape[0]):
        parent, first, count = body_int[i, at.PARENT], body_int[i, at.DOF_START], body_int[i, at.DOF_COUNT]
        change, turning = (none, none), none
        if parent >= 0:
            change = load_pair(branches, nv + parent, CHANGED)
            turning = load_lanes(branches, nv + parent, TURNED)
        for d in range(first, first + count):
            x[d] -= dot_pair(load_pair(branches, d, FELT), change)
            x[d] -= dot_lanes(load_lanes(branches, d, FELT_TURNING), turning, none, none)
        for d in range(first, first + count):
            found = 0.0
            for e in range(first, first + count):
                found += branches[d, BLOCK + e - first] * x[e]
            branches[d, SOLUTION] = found
        for d in range(first, first + count):
            x[d] = branches[d, SOLUTION]
            change = scale_add_pair(change, x[d], load_pair(branches, d, CHANGE))
            turning = scale_add_lanes(turning, x[d], load_lanes(branches, d, TURNING))
        store_pair(branches, nv + i, CHANGED, change)
        store_lanes(branches, nv + i, TURNED, turning)
