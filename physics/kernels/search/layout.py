"""Offsets in the arrays of the search for coordinates: targets, bounds, limits, settings and report."""

# a row of a target: body, weight of rotations [1/rad] and positions [1/m], its frame in the body's and its goal in the
# world (rotation by rows, position each)
TARGET_BODY, TARGET_ROTATION, TARGET_POSITION, TARGET_FRAME, TARGET_GOAL = 0, 1, 2, 3, 15
TARGET_WIDTH = 27
# a row of the errors: rotation [rad] and position [m] to the goal, in world axes
ERROR_WIDTH = 6
# rows of vectors with one number a coordinate: J^T e, step, right side, scale of the damping, trial, zeros
GRADIENT, STEP, RIGHT, SCALE, TRIAL, STILL = range(6)
VECTOR_ROWS = 6
# rows of indices: coordinates in a target or a step, how each is bound, changed charts
INVOLVED, BINDING, CHARTS = 0, 1, 2
INDEX_ROWS = 3

# columns of a coordinate: bounds, largest step
BOUND_LOWER, BOUND_UPPER, MOST_STEP = 0, 1, 2
BOUND_WIDTH = 3
# how a coordinate is bound in a step
FREE, AT_LOWER, AT_UPPER = 0, 1, 2
# columns of a limit's row: whether it is active, value, gradient, size of the second derivative, its spring and its
# force
ACTS, VALUE, SLOPE, BEND, SPRING, PUSH = 0, 1, 2, 5, 6, 7
LIMIT_SPACE = 8

# settings: [m] and [rad] within which a goal is met, most steps, length of a rotation vector that changes its chart
NEAR, STRAIGHT, MOST_STEPS, CHART = 0, 1, 2, 3
SETTINGS = 4
# report: outcome, steps taken, half the weighted sum of squares
OUTCOME, STEPS, COST = 0, 1, 2
REPORT_WIDTH = 3
MET, STUCK, UNFINISHED = 0, 1, 2
# a row of a constraint within this is met [m, rad]
TIED = 1e-9
