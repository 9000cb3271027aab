"""Offsets in the record and the memory of a strand over obstacles between two via points.

A strand's record in the model's data: the number of obstacles, their bodies, their frames in these (rotation by rows,
position), smoothing, and the obstacles' shapes. The memory is an array of the strand: results for its points. A path
does not depend on what was in it before.
"""

FRAME_WIDTH = 12  # a frame: rotation by rows, position

# after the number of obstacles, their bodies and frames: the smoothing length (0 for the true shortest path), then a
# record for each obstacle
SMOOTHING = 0
TOUCHING, CONTACTS, JUNCTIONS, JUNCTIONS_BY, BEFORE, BEFORE_BY, PIECE, TOUCHES, MATRIX, PIECES = range(1, 11)
NETWORK, SHAPES = 12, 13  # NETWORK: number of nodes of the network behind the only shape (0: none)
# SHAPE_NUMBER: of a surface that several strands of a path may have to leave to one of them (0: of no such)
SHAPE_KIND, SHAPE_SENSE, SHAPE_HINT, SHAPE_PARAMETERS, SHAPE_NUMBER = 0, 1, 2, 5, 8
SHAPE_WIDTH = 9

# senses: towards a hint; the shorter side; counterclockwise or clockwise about z; towards a hint, always
BY_HINT, SHORTER, COUNTERCLOCKWISE, CLOCKWISE, ALWAYS = 0, 1, 2, 3, 4

# a strand's own memory
STATUS, LENGTH, RATE, CURVATURE, PARTS, ENDS, FRAMES = 0, 1, 2, 3, 4, 5, 11  # PARTS: of a row (see `places`)
STRAIGHT, WRAPPED, INSIDE, UNSOLVED = 0, 1, 2, 3
FOUND = 4  # WRAPPED, between the same ends as before
ALONG_NODES = 5  # a curve through places from a network

# of a path over one sphere or cylinder, after its frame: axes of the path's plane and its normal, in world axes; then
# in these axes both ends with first and second derivatives in time
AXES = FRAMES + FRAME_WIDTH
START, START_RATE, START_SECOND, STOP, STOP_RATE, STOP_SECOND = (AXES + 9 + 3 * k for k in range(6))
TILT = STOP_SECOND + 3  # rates of the plane's normal towards its first two axes
# each a number with its first and second derivatives in time: radius, angles of both tangent points, lengths of both
# straight pieces, length in the plane, reach of the rounding, smoothing length in use
RADIUS, FIRST_ANGLE, LAST_ANGLE, FIRST_LENGTH, LAST_LENGTH, PLANE_LENGTH, REACH, WIDTH = (
    TILT + 2 + 3 * k for k in range(8)
)
NORMALS = WIDTH + 3  # at both tangent points, in the plane
WRAP = NORMALS + 4  # angle of the arc
# each four derivatives by both ends in the plane
RADIUS_BY, FIRST_ANGLE_BY, LAST_ANGLE_BY, FIRST_LENGTH_BY, PLANE_LENGTH_BY, REACH_BY, WIDTH_BY = (
    WRAP + 1 + 4 * k for k in range(7)
)
SENSE = WRAP + 1 + 28  # 1 or -1: keep to this way round a cylinder, whatever the ends; 0: find it
OFF = SENSE + 1  # whether the path leaves the obstacle to another strand
ROUND_SIZE = OFF + 1
ROUND_SPACE = ROUND_SIZE + 26  # then workspace for a point over a sphere or cylinder

# of a path over one curved obstacle, in the obstacle's axes: point, tangent and length of the geodesic at its
# beginning; the nodes of its lanes (see `flow`): time, the state of `jacobi`, level
LANE, LANES, MOST_STEPS, STAGES = 24, 3, 96, 17  # STAGES: of a step
TANGENTS, RATES = 4, 8  # in a lane
TIME_LANE, FIELDS_LANE, LEVEL_LANE = 0, 1, 2
GEODESIC = ROUND_SPACE
BEGINNING, STEPS, LONGEST = GEODESIC, GEODESIC + 7, GEODESIC + 8  # LONGEST: more than the path's length
# each a number with two derivatives in time, then its derivatives by both ends
LEVEL, ARC = GEODESIC + 9, GEODESIC + 12
WAY = GEODESIC + 15  # three points of an initial guess: first contact, middle, last contact
# where the path bulges if a hint decides that, in axes in which an ellipsoid is the unit sphere
SIDE = WAY + 9
RADIUS_ENDS, ALONG_ENDS, ARC_ENDS, ASIDE_ENDS, TURN_ENDS, LEVEL_ENDS, FIRST_ENDS, LENGTH_ENDS = (
    SIDE + 3 + 6 * k for k in range(8)
)
REACH_ENDS, WIDTH_ENDS = LENGTH_ENDS + 6, LENGTH_ENDS + 12
# each a vector with two derivatives in time, then its derivatives by both ends (3 x 6)
FIRST_POINT, FIRST_DIRECTION, LAST_POINT, LAST_DIRECTION = (WIDTH_ENDS + 6 + 27 * k for k in range(4))
LAID = LAST_DIRECTION + 27  # whether the lanes and all above are known, not only lengths (see `jacobi`)
LAYERS = LAID + 1  # lanes in use: LANES, or one less for a level that no end moves
NORMAL, BESIDE, LAST_NORMAL, LAST_BESIDE = (LAYERS + 1 + 3 * k for k in range(4))
TERMS = LAYERS + 13
STATE = TERMS + 22
PLACES = STATE + 16
NODES = PLACES + MOST_STEPS + 1
STEP_SPACE = NODES + LANE * LANES * (MOST_STEPS + 1)
GEODESIC_SIZE = STEP_SPACE + 12 * STAGES + LANES * LANE

# a point of one piece of a strand: position, tangent, bias, Jacobian (3 x 12)
OUT_TANGENT, OUT_BIAS, OUT_JACOBIAN = 3, 6, 9
OUT_SIZE = 45

PIECE_SIZE = GEODESIC_SIZE + OUT_SIZE  # of the only obstacle's path, or of one piece of several

# a network's record behind the shape: layers, units, number of nodes, their fractions, second derivatives of the spline
# through values at the nodes by these, and weights: of each layer the matrix (inputs, outputs) by rows, then offsets.
# What it knows: the least and largest distance of an end from the axis over the radius, the largest angle between them
NEAREST, FARTHEST, MOST_TURN = 1.05, 10.0, 4.0
NETWORK_INPUTS, NETWORK_OUTPUTS = 4, 2
# memory after the piece: the inputs that the nodes are of, derivatives of the length, a point for each node, its second
# derivatives along the spline, and workspace
NODES_OF = PIECE_SIZE
NODES_BY = NODES_OF + 31
NODE_PLACES = NODES_BY + 12


def nodes_size(nodes: int, units: int) -> int:
    """Size of this memory."""
    return NODE_PLACES - NODES_OF + 2 * OUT_SIZE * nodes + 10 * (nodes - 2) * units


def strand_size(count: int) -> int:
    """Size of the memory of a strand over `count` obstacles."""
    return PIECE_SIZE if count == 1 else chain_places(count)[-1]


def chain_places(count: int) -> tuple[int, ...]:
    """Offsets in the memory of a strand over several obstacles (see `chain`), and its size."""
    n, most = 6 + 6 * count, 3 * (count - 1)
    sizes = (
        2 * count,  # flags of obstacles, and the touching ones in order
        6 * count,  # first and last contact of each
        3 * most,  # junctions, their first and second derivatives in time
        most * n,  # junctions by the inputs
        3 * count,  # length before each touching piece, with two derivatives in time
        count * n,  # that length by the inputs
        12,  # rates of a piece
        2 * OUT_SIZE * count,  # contacts of all touching pieces
        most * (most + n),  # a linear system
        PIECE_SIZE * count,  # the pieces
    )
    places = [FRAMES + FRAME_WIDTH * count]
    for size in sizes:
        places.append(places[-1] + size)
    return tuple(places)
