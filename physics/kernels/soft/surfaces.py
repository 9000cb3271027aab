"""Surfaces that bend: spline surfaces whose control points move (bodies on them: `beads`).

Lee & Terzopoulos 2008, sec. 8: D-NURBS (Terzopoulos & Qin 1994) with weights 1. Mass and stiffness of the control
points are constant, M = int rho N N^T and K from tension and bending, the same for x, y and z. So the nodes of a
surface are its modes z, combinations of the free control points in which M and K are diagonal, and a few
corners, fixed control points whose combinations are the others (`soft.surface_packing`). Modes have no matrix between
them: their part of an implicit step's is a number each, whatever the step.

Columns of the modes' equations are a shape times a vector: of a coordinate that moves corners, how these drag each
mode times their velocities; of F and u, weights of the modes at the bead times directions or F. So elimination of the
modes needs products of shapes alone (`couple_sheets`).
"""

from __future__ import annotations

from .. import layout as tree
from ..algebra.access import flat3, load3, load_rotation, load_twist, store3
from ..algebra.lanes import (
    Columns,
    Lanes,
    flat_lanes,
    lanes_of,
    load_lanes,
    numbers_of,
    scale_add_lanes,
    scale_lanes,
)
from ..algebra.spatial import rotate
from ..algebra.vectors import Array, Vector, dot3, scale_add3, scale_add6
from ..compiler.jit import inline, shared
from ..constraints.row_pieces import point_acceleration
from ..forces.points import reference_of, twist_of
from . import layout as at
from .nodes import (
    NOTHING,
    Soft,
    add_at,
    count_free,
    number3,
    relative_place,
    velocity_by,
    write3,
)


@inline
def corner(free: int, sheets: Array, s: int, c: int) -> int:
    """Number of a sheet's corner among the nodes, of which so many are free."""
    return free + sheets[s, at.SHEET_CORNER] + c


@inline
def node_of(free: int, sheets: Array, s: int, n: int) -> int:
    """Number among the nodes, of which so many are free, of a sheet's n-th mode, or corner behind the modes."""
    count = sheets[s, at.SHEET_MODES]
    return sheets[s, at.SHEET_MODE] + n if n < count else corner(free, sheets, s, n - count)


@inline
def corner_lanes(free: int, sheets: Array, s: int, c: int, x: Array, base: Lanes) -> Lanes:
    """Numbers of a corner from a base; of one that the sheet does not have, any."""
    value = NOTHING
    if c < sheets[s, at.SHEET_CORNERS]:
        value = number3(x, corner(free, sheets, s, c))
    return scale_add_lanes(lanes_of(value), -1.0, base)


@shared
def pull(free: int, surfaces: Array, law: int, share: float, x: Array, f: Array) -> None:
    """Subtract a share of stiffness, damping or what is left of inertia (law) times x from f.

    Stiffness takes places from corner 0, so that round-off does not grow with the distance from the world's origin.
    """
    if surfaces is not None:
        sheets, modes, joined = surfaces[at.SHEETS], surfaces[at.MODES], surfaces[at.JOINED]
        for s in range(sheets.shape[0]):
            if law == at.LAW_MASS and sheets[s, at.SHEET_PARENT] < 0:
                continue
            m, first = sheets[s, at.SHEET_NUMBER], sheets[s, at.SHEET_MODE]
            taken = 1.0 if law == at.LAW_STIFFNESS else 0.0
            base = scale_lanes(taken, lanes_of(number3(x, corner(free, sheets, s, 0))))
            y0, y1 = corner_lanes(free, sheets, s, 0, x, base), corner_lanes(free, sheets, s, 1, x, base)
            y2, y3 = corner_lanes(free, sheets, s, 2, x, base), corner_lanes(free, sheets, s, 3, x, base)
            t0 = t1 = t2 = t3 = lanes_of(NOTHING)
            for n in range(sheets[s, at.SHEET_MODES]):
                own = scale_add_lanes(flat_lanes(x, 3 * (first + n)), -modes[m + n, at.MODE_SHARE], base)
                a, b = joined[law, m + n, 0], joined[law, m + n, 1]
                c, d = joined[law, m + n, 2], joined[law, m + n, 3]
                value = scale_add_lanes(scale_lanes(modes[m + n, law], own), a, y0)
                value = scale_add_lanes(scale_add_lanes(scale_add_lanes(value, b, y1), c, y2), d, y3)
                t0, t1 = scale_add_lanes(t0, a, own), scale_add_lanes(t1, b, own)
                t2, t3 = scale_add_lanes(t2, c, own), scale_add_lanes(t3, d, own)
                add_at(f, first + n, -share, numbers_of(value))
            places = numbers_of(y0), numbers_of(y1), numbers_of(y2), numbers_of(y3)
            sums = numbers_of(t0), numbers_of(t1), numbers_of(t2), numbers_of(t3)
            for c in range(sheets[s, at.SHEET_CORNERS]):
                total = sums[c]
                for e in range(sheets[s, at.SHEET_CORNERS]):
                    total = scale_add3(total, surfaces[at.MEETING][law, s, c, e], places[e])
                add_at(f, corner(free, sheets, s, c), -share, total)


@inline
def balance(surfaces: Array, s: int, n: int, work: Array) -> Vector:
    """Force on a mode that balances its surface at rest as it was built."""
    body, force = surfaces[at.SHEETS][s, at.SHEET_PARENT], load3(surfaces[at.MODES], n, at.MODE_FORCE)
    return force if body < 0 else rotate(load_rotation(work, body), force)


@inline
def add_constant_forces(surfaces: Array, work: Array, f: Array) -> None:
    """Add the forces that balance surfaces at rest as they were built."""
    if surfaces is not None:
        sheets = surfaces[at.SHEETS]
        for s in range(sheets.shape[0]):
            for n in range(sheets[s, at.SHEET_MODES] if sheets[s, at.SHEET_BENT] > 0 else 0):
                force = balance(surfaces, s, sheets[s, at.SHEET_NUMBER] + n, work)
                add_at(f, sheets[s, at.SHEET_MODE] + n, 1.0, force)


@inline
def add_constant_loads(body_int: Array, surfaces: Array, work: Array, x: Array, loads: Array) -> None:
    """Add the opposite forces at the same places on the bodies that carry surfaces."""
    if surfaces is not None:
        sheets, modes = surfaces[at.SHEETS], surfaces[at.MODES]
        for s in range(sheets.shape[0]):
            body, bent = sheets[s, at.SHEET_PARENT], sheets[s, at.SHEET_BENT] > 0
            for n in range(sheets[s, at.SHEET_MODES] if bent and body >= 0 else 0):
                m = sheets[s, at.SHEET_NUMBER] + n
                share, force = modes[m, at.MODE_SHARE], balance(surfaces, s, m, work)
                place = number3(x, sheets[s, at.SHEET_MODE] + n)
                place = scale_add3(place, -share, reference_of(body_int, work, body))
                for k in range(3):
                    loads[body, k] -= share * force[k]
                    for e in range(3):
                        loads[body, 3 + 3 * k + e] -= place[k] * force[e]


@inline
def acceleration_of(arrays: Array, work: Array, body: int, lever: Vector) -> Vector:
    """Acceleration of a body's point, without the share of gravity."""
    g = flat3(arrays[tree.MODEL_DATA], tree.GRAVITY)
    true = scale_add6(load_twist(work, body, tree.ACCELERATION), 1.0, (0.0, 0.0, 0.0, g[0], g[1], g[2]))
    return point_acceleration(true, twist_of(work, body), lever)


@inline
def add_inertia_forces(soft: Soft, surfaces: Array, a: Array, f: Array) -> None:
    """Add inertia between nodes for accelerations a of the free ones, after inverse dynamics for those of bodies."""
    if surfaces is not None:
        _, mesh, space, _, (work, _, _) = soft
        arrays, every, sheets = soft[0], space[at.SURFACE_SPACE][at.NODE_ACCELERATIONS], surfaces[at.SHEETS]
        for s in range(sheets.shape[0]):
            first, body = sheets[s, at.SHEET_MODE], sheets[s, at.SHEET_PARENT]
            for i in range(3 * first, 3 * (first + sheets[s, at.SHEET_MODES])):
                every[i] = a[i]
            for c in range(sheets[s, at.SHEET_CORNERS] if body >= 0 else 0):
                lever = relative_place(mesh, sheets[s, at.SHEET_CORNER] + c, work)
                write3(
                    every, corner(count_free(mesh), sheets, s, c), acceleration_of(arrays, work, body, lever)
                )
        pull(count_free(mesh), surfaces, at.LAW_MASS, 1.0, every, f)


@inline
def three_sums(table: Array, row: int, count: int, x: Array, first: int) -> Columns:
    """Sums of the numbers of modes by three rows of factors."""
    t0 = t1 = t2 = lanes_of(NOTHING)
    for n in range(count):
        own = flat_lanes(x, 3 * (first + n))
        t0 = scale_add_lanes(t0, table[row, n], own)
        t1 = scale_add_lanes(t1, table[row + 1, n], own)
        t2 = scale_add_lanes(t2, table[row + 2, n], own)
    return t0, t1, t2


@inline
def product(a: Array, i: int, b: Array, j: int) -> float:
    """Product of two rows, whose length is a multiple of four."""
    s0 = s1 = s2 = s3 = 0.0
    for n in range(0, a.shape[1], 4):
        s0 += a[i, n] * b[j, n]
        s1 += a[i, n + 1] * b[j, n + 1]
        s2 += a[i, n + 2] * b[j, n + 2]
        s3 += a[i, n + 3] * b[j, n + 3]
    return (s0 + s1) + (s2 + s3)


@inline
def at_step(joined: Array, m: int, c: int, step: float) -> float:
    """Inertia, damping and stiffness together over a step."""
    return joined[at.LAW_MASS, m, c] + step * (
        joined[at.LAW_DAMPING, m, c] + step * joined[at.LAW_STIFFNESS, m, c]
    )


@inline
def find_shapes(mesh: Array, surfaces: Array, s: int, step: float, own: Array) -> None:
    """Inverses of the modes' numbers in the step's matrix, shapes, and what these have in the matrix without modes."""
    sheets, modes, kinds = surfaces[at.SHEETS], surfaces[at.MODES], surfaces[at.KINDS]
    weights, gram, inverses = own[at.WEIGHTS], own[at.GRAM], own[at.MODE_INVERSES]
    shapes, scaled = own[at.COLUMN_SHAPES], own[at.SCALED]
    m, count, begin = sheets[s, at.SHEET_NUMBER], sheets[s, at.SHEET_MODES], sheets[s, at.SHEET_ROW]
    known, own[at.MADE_FOR][s] = own[at.MADE_FOR][s] == step, step
    for n in range(0 if known else count):
        j = sheets[s, at.SHEET_MODE] + n
        mass = mesh[at.NODES][j, at.MASS] * (1.0 + step * mesh[at.NODES][j, at.DRAG])
        elastic = modes[m + n, at.LAW_DAMPING] + step * modes[m + n, at.LAW_STIFFNESS]
        inverses[m + n] = 1.0 / (mass + step * elastic)
    rows = sheets[s, at.SHEET_ROWS] if step > 0.0 else sheets[s, at.SHEET_FIRM_ROWS]
    for r in range(rows):
        bead, part = kinds[begin + r, 0], kinds[begin + r, 1]
        if known and bead < 0:
            continue
        for n in range(count):
            value = weights[bead, part, n] if bead >= 0 else at_step(surfaces[at.JOINED], m + n, part, step)
            shapes[begin + r, n] = value
            scaled[begin + r, n] = value * inverses[m + n]
        for e in range(r + 1):
            value = -product(shapes, begin + r, scaled, begin + e)
            if kinds[begin + e, 0] < 0:
                c = kinds[begin + e, 1]
                if bead >= 0:
                    value += weights[bead, part, count + c]
                else:
                    value += at_step(surfaces[at.MEETING][:, s], part, c, step)
            gram[begin + r, e] = gram[begin + e, r] = value


@inline
def couple_sheets(soft: Soft, surfaces: Array, step: float, matrix: Array) -> None:
    """Add what is left of the nodes of surfaces in the tree's matrix without the modes; shapes stay for `solve_sheets`.

    Matrices keep the shapes and vectors with which they were made. With a step of 0 slopes of weights have no part.
    """
    if surfaces is not None:
        _, mesh, space, _, (work, dof, _) = soft
        sheets, unknowns, own = surfaces[at.SHEETS], surfaces[at.UNKNOWNS], space[at.SURFACE_SPACE]
        vectors, images, gram = own[at.SHAPE_VECTORS], own[at.IMAGES], own[at.GRAM]
        for s in range(sheets.shape[0]):
            find_shapes(mesh, surfaces, s, step, own)
            rows = sheets[s, at.SHEET_ROWS] if step > 0.0 else sheets[s, at.SHEET_FIRM_ROWS]
            begin, first = sheets[s, at.SHEET_ROW], sheets[s, at.SHEET_UNKNOWN]
            many = sheets[s, at.SHEET_UNKNOWNS] if step > 0.0 else sheets[s, at.SHEET_FIRM_UNKNOWNS]
            own[at.IN_USE][s, 0], own[at.IN_USE][s, 1] = rows, many
            for u in range(first, first + many):
                start, few = unknowns[u, at.UNKNOWN_ROW], unknowns[u, at.UNKNOWN_ROWS]
                bead, part = unknowns[u, at.UNKNOWN_BEAD], unknowns[u, at.UNKNOWN_PART]
                for c in range(few):
                    if bead < 0:
                        lever = relative_place(mesh, sheets[s, at.SHEET_CORNER] + c, work)
                        value = velocity_by(dof, unknowns[u, at.UNKNOWN_INDEX], lever)
                    elif part < 3:
                        twist = load_twist(dof, surfaces[at.BEADS][bead, at.BEAD_SHIFT] + part, tree.SUBSPACE)
                        value = twist[3], twist[4], twist[5]
                    else:
                        value = scale_add3(NOTHING, step * step, load3(own[at.PUSHES], bead, 0))
                    store3(vectors, u, 3 * c, value)
                for r in range(rows):
                    total = NOTHING
                    for c in range(few):
                        total = scale_add3(total, gram[begin + r, start + c], load3(vectors, u, 3 * c))
                    store3(images, u, 3 * r, total)
            for u in range(first, first + many):
                d, start = unknowns[u, at.UNKNOWN_INDEX], unknowns[u, at.UNKNOWN_ROW]
                for c in range(unknowns[u, at.UNKNOWN_ROWS]):
                    vector = load3(vectors, u, 3 * c)
                    for w in range(first, first + many):
                        image = load3(images, w, 3 * (start + c))
                        matrix[d, unknowns[w, at.UNKNOWN_INDEX]] += dot3(vector, image)


@inline
def solve_sheets(surfaces: Array, x: Array, right: Array, own: Array) -> None:
    """Take the right sides of modes, in x, out of those of the tree and of beads."""
    if surfaces is not None:
        sheets, unknowns = surfaces[at.SHEETS], surfaces[at.UNKNOWNS]
        vectors, sums = own[at.SHAPE_VECTORS], own[at.SHAPE_SUMS]
        for s in range(sheets.shape[0]):
            begin, first, count = sheets[s, at.SHEET_ROW], sheets[s, at.SHEET_MODE], sheets[s, at.SHEET_MODES]
            for r in range(0, own[at.IN_USE][s, 0], 3):
                t0, t1, t2 = three_sums(own[at.SCALED], begin + r, count, x, first)
                store3(sums, r, 0, numbers_of(t0))
                store3(sums, r + 1, 0, numbers_of(t1))
                store3(sums, r + 2, 0, numbers_of(t2))
            u = sheets[s, at.SHEET_UNKNOWN]
            for k in range(u, u + own[at.IN_USE][s, 1]):
                start = unknowns[k, at.UNKNOWN_ROW]
                for c in range(unknowns[k, at.UNKNOWN_ROWS]):
                    value = dot3(load3(vectors, k, 3 * c), load3(sums, start + c, 0))
                    right[unknowns[k, at.UNKNOWN_INDEX]] -= value


@inline
def follow_sheets(surfaces: Array, change: Array, x: Array, own: Array) -> None:
    """Solve for the modes in place of their right sides in x, by the change of the tree's coordinates and pushes."""
    if surfaces is not None:
        sheets, unknowns = surfaces[at.SHEETS], surfaces[at.UNKNOWNS]
        vectors, sums = own[at.SHAPE_VECTORS], own[at.SHAPE_SUMS]
        for s in range(sheets.shape[0]):
            begin, first, rows = sheets[s, at.SHEET_ROW], sheets[s, at.SHEET_MODE], own[at.IN_USE][s, 0]
            for r in range(rows):
                store3(sums, r, 0, NOTHING)
            u = sheets[s, at.SHEET_UNKNOWN]
            for k in range(u, u + own[at.IN_USE][s, 1]):
                start = unknowns[k, at.UNKNOWN_ROW]
                for c in range(unknowns[k, at.UNKNOWN_ROWS]):
                    share, total = change[unknowns[k, at.UNKNOWN_INDEX]], load3(sums, start + c, 0)
                    store3(sums, start + c, 0, scale_add3(total, share, load3(vectors, k, 3 * c)))
            for n in range(sheets[s, at.SHEET_MODES]):
                inverse = own[at.MODE_INVERSES][sheets[s, at.SHEET_NUMBER] + n]
                value = scale_lanes(inverse, flat_lanes(x, 3 * (first + n)))
                for r in range(rows):
                    value = scale_add_lanes(value, -own[at.SCALED][begin + r, n], load_lanes(sums, r, 0))
                write3(x, first + n, numbers_of(value))
