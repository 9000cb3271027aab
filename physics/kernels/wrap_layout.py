"""Where things lie in the record and the memory of a strand that runs over obstacles between two via points.

A strand's record in the model's data: how many obstacles, their bodies, their frames in these (rotation by rows,
position), how it is smoothed, and the obstacles' shapes. All that a strand's length leaves behind for its points
lies in an array of its own, which also remembers where the strand lay before.
"""

from __future__ import annotations

FRAME_WIDTH = 12  # a frame: rotation by rows, position

# behind the number of obstacles, their bodies and frames: the length that rounds attaching and detaching off (0 for
# the true shortest path), then a record for each obstacle
SMOOTHING = 0
SHAPES = 1
SHAPE_KIND, SHAPE_SENSE, SHAPE_HINT, SHAPE_PARAMETERS = 0, 1, 2, 5
SHAPE_WIDTH = 9

SPHERE, CYLINDER, CAPSULE, ELLIPSOID, TORUS = 0, 1, 2, 3, 4

# senses: by a hint, towards which the path bulges; the short way round; counterclockwise or clockwise about z
BY_HINT, SHORTER, COUNTERCLOCKWISE, CLOCKWISE = 0, 1, 2, 3

# a strand's own memory
WARM, STATUS, LENGTH, RATE, CURVATURE, ENDS, FRAMES = 0, 1, 2, 3, 4, 5, 11
STRAIGHT, WRAPPED, INSIDE, UNSOLVED = 0, 1, 2, 3

# of a path over one sphere or cylinder, behind its frame: axes of the plane of the path and what is across it, in
# world axes; then in these axes both ends with first and second derivatives in time
AXES = FRAMES + FRAME_WIDTH
START, START_RATE, START_SECOND, STOP, STOP_RATE, STOP_SECOND = (AXES + 9 + 3 * k for k in range(6))
TILT = STOP_SECOND + 3  # how fast the plane's normal turns towards its first two axes
# each a number with its first and second derivatives in time: radius, angles of both tangent points, lengths of both
# straight pieces, length in the plane, reach of the rounding
RADIUS, FIRST_ANGLE, LAST_ANGLE, FIRST_LENGTH, LAST_LENGTH, PLANE_LENGTH, REACH = (
    TILT + 2 + 3 * k for k in range(7)
)
NORMALS = REACH + 3  # at both tangent points, in the plane
WRAP = NORMALS + 4  # angle of the arc
# each four derivatives by both ends in the plane
RADIUS_BY, FIRST_ANGLE_BY, LAST_ANGLE_BY, FIRST_LENGTH_BY, PLANE_LENGTH_BY, REACH_BY = (
    WRAP + 1 + 4 * k for k in range(6)
)
ROUND_SIZE = WRAP + 1 + 24


def strand_size(count: int) -> int:
    """How many numbers a strand over `count` obstacles keeps."""
    return ROUND_SIZE + 32
