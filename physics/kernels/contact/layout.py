"""Offsets in the arrays of contacts: pairs of points and obstacles, and detected contacts."""

from __future__ import annotations

# the contacts of a model: pairs of points and obstacles, a workspace for detected ones, and (2,) the farthest point
# from its body's origin and the least reach of detection [m]
PAIRS, FOUND, SIZE = 0, 1, 2

# kinds of obstacles
PLANE, SPHERE, CAPSULE, BOX, HEIGHT_FIELD = range(5)

OBSTACLE_KIND, OBSTACLE_ROTATION, OBSTACLE_POSITION, OBSTACLE_PARAMETERS = 0, 1, 10, 13

# parameters of a height field: samples along x and y, their spacing, the highest sample, then the samples, x slowest,
# surrounded by a ring of extrapolated ones
FIELD_COUNTS, FIELD_SPACING, FIELD_TOP, FIELD_SAMPLES = 0, 2, 4, 5

# pairs: how many, then a row for each
PAIR_COUNT = 0
PAIR_BODY, PAIR_POINT, PAIR_RADIUS, PAIR_OTHER, PAIR_OBSTACLE, PAIR_FRICTION, PAIR_RESTITUTION = (
    0,
    1,
    4,
    5,
    6,
    7,
    8,
)
PAIR_WIDTH = 9

# a row of a detected contact
FOUND_BODY, FOUND_OTHER, FOUND_POINT, FOUND_NORMAL, FOUND_GAP = 0, 1, 2, 5, 8
FOUND_FRICTION, FOUND_RESTITUTION, FOUND_PAIR = 9, 10, 11
FOUND_WIDTH = 12
