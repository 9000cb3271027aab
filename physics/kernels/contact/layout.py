"""Offsets in the arrays of contacts: pairs of points and obstacles, and detected contacts."""

from __future__ import annotations

from ..layout import COLLIDERS as COLLIDERS
from ..layout import ONE_SIDED as ONE_SIDED

# the contacts of a model: pairs of points and obstacles, a workspace for detected ones, and (3,) the farthest point
# from its body's origin and the least reach of detection [m], and the greatest restitution of colliders; then their
# arrays if there are colliders (see `collider_layout`). For steps of a model with equalities alone, the pairs alone.
PAIRS, FOUND, SIZE = 0, 1, 2
FARTHEST, LEAST_REACH, BOUNCE = 0, 1, 2

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

# a row of a detected contact; its number, and what it is of: the same number, or of colliders a and b of n
# -1 - (a n + b)
FOUND_BODY, FOUND_OTHER, FOUND_POINT, FOUND_NORMAL, FOUND_GAP = 0, 1, 2, 5, 8
FOUND_FRICTION, FOUND_RESTITUTION, FOUND_PAIR, FOUND_SOURCE = 9, 10, 11, 12
FOUND_WIDTH = 13
