"""Positions in the tuples of a model's soft bodies and of their workspace.

Free nodes come first, in the order in which the step's matrix eliminates them, then the attached ones. Places, rates
and forces of all nodes are flat, three numbers a node. The nodes of an element rise, so that its blocks (row, column)
with row >= column are those of the lower triangle.
"""

from __future__ import annotations

# mesh: tetrahedra (m, 4), their blocks (m, 10) and numbers (m, TET_WIDTH); springs (s, 2), their blocks (s, 3) and
# numbers (s, SPRING_WIDTH); of nodes mass and mass damping (n, 2); bodies of attached nodes and their points in the
# link frame; the coordinates that move these
TETS, TET_BLOCKS, TET_DATA, SPRINGS, SPRING_BLOCKS, SPRING_DATA, NODES, BODIES, POINTS, COORDINATES = range(
    10
)
# the lower triangle of the factors: where each column's rows begin, the rows; the entries of each row to the left of
# the diagonal as (column, place in it), and where they begin; blocks of an attached node (row) with a free one
# (column); and of two attached ones; what points touch: None, or a tuple
COLUMNS, ROWS, ENTRY_STARTS, ENTRIES, COUPLES, MEETS, TOUCHING = range(10, 17)
# flexible surfaces: None, or a tuple: of pairs of nodes that share an element their places (p, 2), blocks (p, 3: of
# both, of the first and of the second alone) and numbers (p, LINK_WIDTH); beads (b, BEAD_WIDTH), the nodes of their
# surfaces' nets in order, row by row; of nodes with a force that is constant in the axes of a body's link frame (k, 2)
# their place and this body, and the forces (k, 3)
SURFACES = 17
# None, or of each tetrahedron whether its law is the stable Neo-Hookean one (m,)
NEO = 18
LINK_NODES, LINK_BLOCKS, LINK_LAWS, BEADS, NET, CONSTANT_NODES, CONSTANT_FORCES = range(7)
# of a pair: how much force a difference of places, rates and accelerations gives
LINK_STIFFNESS, LINK_DAMPING, LINK_MASS, LINK_WIDTH = 0, 1, 2, 3
# of a bead, a body on a surface: the body, its first coordinate, that of its place on the surface, the number of
# directions, where the surface is in the model's data and its net in NET, the body that carries the surface or -1, and
# the first column of the coordinates on the surface among those that move nodes
BEAD_BODY, BEAD_SHIFT, BEAD_ALONG, BEAD_DIRECTIONS, BEAD_DATA, BEAD_NET, BEAD_PARENT, BEAD_COLUMN = range(8)
BEAD_WIDTH = 8

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
MASS, DRAG = 0, 1

# blocks (3 x 3 by columns, each padded to four numbers): diagonal ones of the free nodes, the rest of the factors, then
# couples and meets
BLOCK_WIDTH = 12

# workspace: blocks, inverses of diagonal blocks, place of a row in a column, of the coordinates' columns; sums of
# forces on each body and all beyond it (force, sum of place times force by rows), vectors of all nodes, rotations'
# scratch; touches, and of each its point, obstacle, skin and body, followed by their number
BLOCKS, INVERSES, PLACE, COUPLED, LOADS, VECTORS, SCRATCH, TOUCHES, TOUCHED = range(9)
# of flexible surfaces None, or a tuple: of each bead the weights of the nodes around it (b, WEIGHT_ROWS, n), these
# nodes (b, n + 1), followed by their number, the force of the surface on it (b, 3), bases of one place, and
# accelerations of all nodes (3 n,)
SURFACE_SPACE = 9
WEIGHTS, AROUND, PUSHES, BASES, NODE_ACCELERATIONS = range(5)
# weights of the place, its derivatives along the first and second direction, and the second derivatives
PLACED, FIRST, SECOND, FIRST_TWICE, MIXED, SECOND_TWICE, WEIGHT_ROWS = range(7)
LOAD_WIDTH = 12

# vectors (rows; three numbers a node): accelerations, the stage's known part, places and rates that they give, forces,
# the correction and the next one, trial accelerations, the accelerations of the stage before, and the state before the
# step
ACCELERATIONS, BASE, BASE_RATE, STAGE, STAGE_RATE, FORCE, CORRECTION = range(7)
FOLLOWING, TRIAL, NEWEST, LAST, LAST_RATE, VECTOR_ROWS = range(7, 13)
