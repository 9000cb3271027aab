"""Offsets in the arrays of constraints, and in the system of rows that a step solves.

The constraints of a model are ``(con_int, con_float, con_data, marked, marked_spaces)``; the last two are a model and
its workspaces with the points of contact of rolling joints as bodies. A system is a tuple of arrays (see SYSTEM below):
one row a scalar constraint, its Jacobian, its response (the velocities per unit impulse), and workspaces.
"""

from __future__ import annotations

from ..layout import SYSTEM_LOOPS as SYSTEM_LOOPS

CON_INT, CON_FLOAT, CON_DATA, MARKED, MARKED_SPACES = 0, 1, 2, 3, 4

# con_int columns; LOCKS has a bit for each component that a frame constraint locks: translations along x, y, z (1, 2,
# 4) and rotations about x, y, z (8, 16, 32) of the frame on the other body
(
    CONSTRAINT_KIND,
    CONSTRAINT_BODY,
    CONSTRAINT_OTHER,
    CONSTRAINT_LOCKS,
    CONSTRAINT_ROW,
    CONSTRAINT_ROWS,
    CONSTRAINT_SENSE,
    CONSTRAINT_DATA,
) = range(8)
CONSTRAINT_INT_WIDTH = 8

# con_float columns: the frame on the body and the frame on the other one, in link axes, and a length
FRAME_ON_BODY, FRAME_ON_OTHER, CONSTRAINT_LENGTH = 0, 12, 24
CONSTRAINT_FLOAT_WIDTH = 25

# kinds of constraints
FRAMES, SEGMENTS, DISTANCE, COUPLING, ROLLING = 0, 1, 2, 3, 4
ALL_LOCKS, POINT_LOCKS = 63, 7

# conditions on a row's speed u and impulse l: u = 0; u >= 0, l >= 0, one of them 0; the same with friction in the two
# rows after it
EQUALITY, UNILATERAL, NORMAL, TANGENT = 0, 1, 2, 3

# columns of rows: value, rate without accelerations of coordinates (J' q'), target speed, speed without impulses, force
# over the step, owner (constraint k as k, limit or contact k as -1 - k), mean force over the parts of a step
ROW_VALUE, ROW_BIAS, ROW_AIM, ROW_FREE, ROW_FORCE, ROW_OWNER, ROW_MEAN = range(7)
ROW_WIDTH = 7

# a system's arrays, n rows long where not said otherwise: rows (n, ROW_WIDTH); Jacobian (values, columns, spans), see
# below; responses (values, ranges); of an island's rows, numbered from 0: matrix, and
# workspaces of the solver; of all equalities, island by island: factors, order and begins of their blocks; right side,
# impulses, kinds, friction, restitution; vectors (nv,): velocities without impulses, and WORK_VECTORS others, see
# below, in models with soft bodies before nv of factors (see `dense_response`); islands and trees, see below;
# workspaces of large islands (see `contact.sparse_layout`); statistics
(
    SYSTEM_ROWS,
    SYSTEM_JACOBIAN,
    SYSTEM_RESPONSE,
    SYSTEM_MATRIX,
    SYSTEM_FACTOR,
    SYSTEM_ORDER,
    SYSTEM_BEGINS,
    SYSTEM_RIGHT,
    SYSTEM_IMPULSE,
    SYSTEM_KINDS,
    SYSTEM_FRICTION,
    SYSTEM_RESTITUTION,
    SYSTEM_FREE,
    SYSTEM_VECTORS,
    SYSTEM_SPACE,
    SYSTEM_SOLVER_ORDER,
    SYSTEM_SPARE,
    SYSTEM_SOLVER_KINDS,
    SYSTEM_ROW_ISLANDS,
    SYSTEM_TREES,
    SYSTEM_SPARSE,
    SYSTEM_STATISTICS,
) = range(22)
# a model whose loops are local has one more, see `loops_layout`
# vectors: three workspaces, zero between uses; whether the step knows the responses of a tree with SIX coordinates, as
# of a free body, by its first one; that to each of its coordinates, from INVERSES on
SIX, KNOWN, INVERSES = 6, 3, 4
WORK_VECTORS = INVERSES + SIX
# the equalities: their number, and that of their islands
COUNT, ISLANDS = 0, 1

# a Jacobian: values and columns (n, width), of which a row fills the first few, and spans (n, SPAN_WIDTH): how many;
# one or two ranges of coordinates with the trees of the row's bodies, and the bodies of each; the row's island
VALUES, COLUMNS, SPANS = 0, 1, 2
SPAN_COUNT, SPAN_FIRST, SPAN_END, SPAN_SECOND, SPAN_ISLAND, SPAN_WIDTH = 0, 1, 2, 5, 9, 10
SPAN_RANGE = 4
# responses: values (n, width) of one or two ranges of coordinates, one after the other, and these (n, RANGES_WIDTH)
RANGE_END, RANGE, RANGES_WIDTH = 1, 2, 4

# islands are sets of trees that rows couple. Columns of the islands of rows (n, ISLANDS_WIDTH): the rows, island by
# island; of each island the first of these and one past the last; the same of the equalities alone, and the rank of
# each island of them
MEMBER, ISLAND_FIRST, ISLAND_END, EQUAL, RANK, ISLANDS_WIDTH = 0, 1, 2, 3, 6, 7
# columns of trees (nv + 1, TREES_WIDTH): by a coordinate, the number of its tree; by this number, a tree that leads
# all that are coupled with it, and the island of a leader
TREE, LEADER, NUMBER, TREES_WIDTH = 0, 1, 2, 3

# statistics: largest residual of the solver, most rows in a step, steps with inequalities, largest drift of a
# constraint before and after projection, steps in which a constraint could not be met, present drift after projection,
# largest penetration of a contact, the number of that pair, and what the largest island needs: rows of its matrix, or
# entries of its fronts
RESIDUAL, MOST_ROWS, UNILATERAL_STEPS, DRIFT, DRIFT_LEFT, UNMET, LEFT_NOW = range(7)
OVERLAP, DEEPEST, LARGEST, WIDEST = range(7, 11)
STATISTICS = 11
# A constraint with this error after a step [m, rad] contradicts prescribed coordinates or other constraints.
TORN = 1e-3

# memory of a limit or a contact between steps: whether it is active, its last impulses (three with friction), whether a
# coordinate rests on the limit, and these four from before the current part of a step
ACTIVE, WARM, RESTS, KEPT = 0, 1, 4, 5
MEMORY_WIDTH = 9
