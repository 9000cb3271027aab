"""Offsets in the workspaces of the solver for large islands (see `sparse`)."""

from __future__ import annotations

# the system's Jacobian, responses and vectors (of which MOTION has velocities and SIDE a right side); then of the
# island: vectors as in `impulse_layout` (VECTORS, n), diagonal blocks (n, 3), contacts and single rows (n, UNIT_WIDTH),
# trees (nv + 1, TREE_WIDTH), mass matrices of the trees, one after the other, with their fronts behind them, and lists
# of neighbours
JACOBIAN, RESPONSE, MOTIONS, VECTOR_ROWS, BLOCKS, UNITS, TREES, FRONTS, LISTS = range(9)
PUSHES, MOTION, SIDE = 0, 1, 2
# of these, what is kept in the system; there is room for a neighbour for every two entries of fronts
OWN_VECTORS, OWN_BLOCKS, OWN_UNITS, OWN_TREES, OWN_FRONTS, OWN_LISTS = range(6)
ENTRIES_A_NEIGHBOUR = 2

# columns of UNITS: the one or two trees that a contact or single row moves, the next unit of either, as 2 i + side, and
# the row of the system; the tree whose front has it, and where the coordinates of either tree begin in this
UNIT_TREE, UNIT_LINK, UNIT_ROW, UNIT_FRONT, UNIT_PLACE, UNIT_WIDTH = 0, 2, 4, 5, 6, 8
# columns of TREES: the trees in their order of elimination; then of a tree, by its first coordinate: first unit, one
# past the last coordinate, first body and one past the last, mark, number in the order, offset of the mass matrix; its
# neighbours: where their list begins, their number; its front: where it begins, rows, entries from one row to the next,
# and where the coordinates of a tree begin in that at hand
QUEUE, TREE_HEAD, TREE_STOP, TREE_BODY, TREE_LAST, TREE_MARK, TREE_RANK, TREE_MASS = range(8)
TREE_LIST, TREE_LINKS, TREE_FRONT, TREE_ROWS, TREE_STRIDE, TREE_PLACE, TREE_WIDTH = range(8, 15)
