"""Offsets in the workspaces of the solver for large islands (see `sparse`)."""

from __future__ import annotations

# the system's Jacobian, responses and vectors (of which MOTION has velocities and SIDE a right side); then of the
# island: vectors as in `impulse_layout` (VECTORS, n), diagonal blocks (n, 3), contacts and single rows (n, UNIT_WIDTH),
# trees and places (nv + 1, PLACE_WIDTH), and mass matrices of the trees, one after the other, with the band behind them
JACOBIAN, RESPONSE, MOTIONS, VECTOR_ROWS, BLOCKS, UNITS, PLACES, BAND = range(8)
PUSHES, MOTION, SIDE = 0, 1, 2
# of these, what is kept in the system
OWN_VECTORS, OWN_BLOCKS, OWN_UNITS, OWN_PLACES, OWN_BAND = range(5)

# columns of UNITS: the one or two trees that a contact or single row moves, the next unit of either, as 2 i + side, and
# the row of the system
UNIT_TREE, UNIT_LINK, UNIT_ROW, UNIT_WIDTH = 0, 2, 4, 5
# columns of PLACES: of a tree, by its first coordinate: first unit, one past the last coordinate, first body and one
# past the last, mark, place of the first coordinate, offset of the mass matrix; the trees in their order; the place of
# a coordinate; of a place, its first column in the band and one past the last, and where its row begins
TREE_HEAD, TREE_STOP, TREE_BODY, TREE_LAST, TREE_MARK, TREE_PLACE, TREE_MASS = range(7)
QUEUE, PLACE, LOW, HIGH, BEGIN, PLACE_WIDTH = range(7, 13)
