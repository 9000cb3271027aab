"""Positions in the tuples of a model's soft bodies and of their workspace.

Free nodes come first, in the order in which the step's matrix eliminates them, then modes of flexible surfaces, which
have no blocks, then the attached ones. Places, rates
and forces of all nodes are flat, three numbers a node. The nodes of an element rise, so that its blocks (row, column)
with row >= column are those of the lower triangle.
"""

from __future__ import annotations

# mesh: tetrahedra (m, 4), their blocks (m, 10) and numbers (m, TET_WIDTH); springs (s, 2), their blocks (s, 3) and
# numbers (s, SPRING_WIDTH); of nodes mass, mass damping and what gravity acts on (n, 3);
# bodies of attached nodes and their points in the link frame; the coordinates that move these
TETS, TET_BLOCKS, TET_DATA, SPRINGS, SPRING_BLOCKS, SPRING_DATA, NODES, BODIES, POINTS, COORDINATES = range(
    10
)
# the lower triangle of the factors: where each column's rows begin, the rows; the entries of each row to the left of
# the diagonal as (column, place in it), and where they begin; blocks of an attached node (row) with a free one
# (column); and of two attached ones; what points touch: None, or a tuple
COLUMNS, ROWS, ENTRY_STARTS, ENTRIES, COUPLES, MEETS, TOUCHING = range(10, 17)
# flexible surfaces: None, or a tuple, see below
SURFACES = 17
# None, or of each tetrahedron whether its law is the stable Neo-Hookean one (m,)
NEO = 18

# flexible surfaces: of sheets (s, SHEET_WIDTH); of their modes (m, MODE_WIDTH); what modes and corners have with
# corners in stiffness, damping and inertia (3, m, MOST_CORNERS) and (3, s, MOST_CORNERS, MOST_CORNERS), zeros of
# corners that are missing; of control points their weights by modes and corners, by fours; the control points of the
# nets, row by row; of shapes bead and row of its weights, or -1 and a corner (r, 2); of unknowns (u, UNKNOWN_WIDTH);
# of beads (b, BEAD_WIDTH)
SHEETS, MODES, JOINED, MEETING, COMBINATIONS, NET, KINDS, UNKNOWNS, BEADS = range(9)
MOST_CORNERS = 4
LAW_STIFFNESS, LAW_DAMPING, LAW_MASS = range(3)
# of a mode: the laws (its inertia is that of a node), how it moves as all nodes move by one, and a force that is
# constant in the axes of the carrier's link frame
MODE_SHARE, MODE_FORCE, MODE_WIDTH = 3, 4, 7
# of a sheet: first mode among nodes and among modes, and their number; first corner among attached nodes, and their
# number; body that carries it or -1, whether modes have constant forces; first shape and unknown, and how many: those
# that a step of 0 has come first
SHEET_MODE, SHEET_NUMBER, SHEET_MODES, SHEET_CORNER, SHEET_CORNERS, SHEET_PARENT, SHEET_BENT = range(7)
SHEET_ROW, SHEET_FIRM_ROWS, SHEET_ROWS, SHEET_UNKNOWN, SHEET_FIRM_UNKNOWNS, SHEET_UNKNOWNS = range(7, 13)
SHEET_WIDTH = 13
# of an unknown whose columns of the modes' equations have shapes: its place in the step's matrix, the first of its
# sheet's shapes and how many; of a bead's its number, otherwise -1, and the axis of its force, or 3: a coordinate
UNKNOWN_INDEX, UNKNOWN_ROW, UNKNOWN_ROWS, UNKNOWN_BEAD, UNKNOWN_PART, UNKNOWN_WIDTH = range(6)
# of a bead, a body on a surface: the body, its first coordinate, that of its place on the surface, the number of
# directions, where the surface is in the model's data and its net in NET, its sheet
BEAD_BODY, BEAD_SHIFT, BEAD_ALONG, BEAD_DIRECTIONS, BEAD_DATA, BEAD_NET, BEAD_SHEET, BEAD_WIDTH = range(8)

# touching: of points their nodes (p, 4), the blocks of these (p, 10), weights (p, 4); of each soft body's skin the ends
# of its points and of its obstacles (s, 4) and numbers (s, SKIN_WIDTH); of obstacles body and record (o, 2) and numbers
# (o, 2); records as in `contact.geometry`
POINT_NODES, POINT_BLOCKS, POINT_WEIGHTS, SKINS, SKIN_LAWS, OBSTACLES, OBSTACLE_LAWS, SHAPES = range(8)
# of a skin: stiffness [N/m] a point, dissipation [s/m], speed [m/s] up to which friction rises, greatest sum of
# absolute weights; of an obstacle: coefficient of friction, distance at which points begin to touch [m]
PUSH_STIFFNESS, DISSIPATION, SLOW, SPREAD, SKIN_WIDTH = 0, 1, 2, 3, 4
FRICTION, RADIUS = 0, 1
# of a touch: normal, depth and that which is reached ahead, place from the reference point of the body's tree, the
# point's velocity from there, that of the body, the force on the point, and the matrix of this by the velocity, as a
# block
NORMAL, DEPTH, REACHED, LEVER, RATE = 0, 3, 4, 5, 8
BODY_RATE, TOUCH_FORCE, TOUCH_BLOCK, TOUCH_WIDTH = 11, 14, 17, 29

# of a tetrahedron: gradients of its four shape functions, volume, Lame's mu and lambda, stiffness damping [s]
GRADIENTS, VOLUME, MU, LAMBDA, TET_DAMPING, TET_WIDTH = 0, 12, 13, 14, 15, 16
# of a spring: stiffness EA [N], length at rest, stiffness damping [s]
TENSILE, REST, SPRING_DAMPING, SPRING_WIDTH = 0, 1, 2, 3
MASS, DRAG, WEIGHT = 0, 1, 2

# blocks (3 x 3 by columns, each padded to four numbers): diagonal ones of the free nodes, the rest of the factors, then
# couples and meets
BLOCK_WIDTH = 12

# workspace: blocks, inverses of diagonal blocks, place of a row in a column, of the coordinates' columns; sums of
# forces on each body and all beyond it (force, sum of place times force by rows), vectors of all nodes, rotations'
# scratch; touches, and of each its point, obstacle, skin and body, followed by their number
BLOCKS, INVERSES, PLACE, COUPLED, LOADS, VECTORS, SCRATCH, TOUCHES, TOUCHED = range(9)
# of flexible surfaces None, or a tuple: of each bead the weights of the nodes of its surface (b, WEIGHT_ROWS, width),
# the force of the surface on it (b, 3), bases of one place, accelerations of all nodes (3 n,), and blends of nodes by
# weights (b, 3 BLEND_ROWS); of the step's matrix shapes and the same by the modes' inverses (r, width), these inverses,
# products of shapes, vectors of unknowns and what they give, sums by shapes, and how many shapes and unknowns there
# are; control points around a place; for which step the part of corners was made, or -1 (s,), and for which coordinates
# the weights (b, 2); the weights by fours
SURFACE_SPACE = 9
WEIGHTS, PUSHES, BASES, NODE_ACCELERATIONS, BLENDS, COLUMN_SHAPES, SCALED, MODE_INVERSES = range(8)
GRAM, SHAPE_VECTORS, IMAGES, SHAPE_SUMS, IN_USE, AROUND, MADE_FOR, PLACED_AT, WEIGHT_PARTS = range(8, 17)
# weights of the place, its derivatives along the first and second direction, and the second derivatives; as blends,
# sums of places, then those of rates by the first three rows
PLACED, FIRST, SECOND, FIRST_TWICE, MIXED, SECOND_TWICE, WEIGHT_ROWS = range(7)
RATES, BLEND_ROWS = 6, 9
LOAD_WIDTH = 12

# vectors (rows; three numbers a node): accelerations, the stage's known part, places and rates that they give, forces,
# the correction and the next one, trial accelerations, the accelerations of the three stages before, newest first, and
# the state before the step
ACCELERATIONS, BASE, BASE_RATE, STAGE, STAGE_RATE, FORCE, CORRECTION = range(7)
FOLLOWING, TRIAL, NEWEST, NEWER, OLDEST, LAST, LAST_RATE, VECTOR_ROWS = range(7, 15)
