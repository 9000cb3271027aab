"""Offsets in the records of muscles, and in their workspace.

A muscle is a record in data; the first begins at ``data[MUSCLE_ROWS]`` (see `kernels.layout`). The workspace is the
rest of `work` after its other rows, as one flat array: a header, one row for each point of the path, and for each
strand over obstacles a record of its own (see `strand`). Offsets are counted from a record's beginning.
"""

# a muscle: size of its record, its path's points, its mass points, the coordinates that move it (increasing numbers),
# its tension, the input that is its tension or its excitation (-1: none), its law of force (0: none), where its states
# begin in tau and how many come before them, whether velocity terms are included, the width of rounded corners (see
# `corner`), the coordinates that its forces depend on (increasing numbers; without mass those that change its length),
# where in the workspace forces of its mass points are stored (see `pairs`), the inertia of its length, the body that
# carries the whole path along (-1: none), and the coordinates that move parts of the path against it, in the order of
# `COUPLED_BODY`, with the bodies of their joints after them
MUSCLE_SIZE, MUSCLE_VIA_COUNT, MUSCLE_VIAS, MUSCLE_MASS_COUNT, MUSCLE_MASSES = range(5)
MUSCLE_SPAN_COUNT, MUSCLE_SPAN, MUSCLE_TENSION, MUSCLE_INPUT, MUSCLE_LAW = range(5, 10)
MUSCLE_STATE, MUSCLE_VELOCITY_TERMS, MUSCLE_ROUNDING, MUSCLE_ACTING_COUNT, MUSCLE_ACTING = range(10, 15)
MUSCLE_KEPT, MUSCLE_ARMATURE, MUSCLE_BASE, MUSCLE_INNER_COUNT, MUSCLE_INNER = range(15, 20)
MUSCLE_HEADER = 20

# a point of a path: its body (-1: the world), its place in the link frame, the coordinate that its existence depends on
# (-1: none) and the range of that, the strand after it (0: straight), whether it moves in its body, for each component
# in body axes the coordinate and the function that it follows, and the body frame in the link frame
VIA_BODY, VIA_POINT, VIA_CONDITION, VIA_LOWER, VIA_UPPER = 0, 1, 4, 5, 6
VIA_STRAND, VIA_MOVES, VIA_COORDINATES, VIA_FUNCTIONS, VIA_FRAME = 7, 8, 9, 12, 15
VIA_WIDTH = 27

# a mass point: its mass, and its arc length along the path as offset + share * length
POINT_MASS, POINT_OFFSET, POINT_SHARE = 0, 1, 2
POINT_WIDTH = 3

# a strand over obstacles: their number, offset of its record in the workspace, size of its memory between steps, and
# the record of its obstacles, as in `wrapping.strand`
STRAND_OBSTACLES, STRAND_PLACE, STRAND_OWN, STRAND_RECORD = 0, 1, 2, 3
STRAND_HEADER = 3

# such a record, for m obstacles and n = 6 + 6 m inputs: places of both ends, then frames of the obstacles (12 each),
# levers of their origins (3 each), rates of the inputs, their accelerations, the length's gradient (n each), forces on
# (z', L', a') and their mass matrix (n + 2, squared), a mass point with tangent and bias and its Jacobian, the strand's
# memory
PLACE_FRAMES = 6


def place_size(obstacles: int, own: int) -> int:
    """Size of the record of a strand."""
    n = 6 + 6 * obstacles
    return PLACE_FRAMES + 15 * obstacles + 3 * n + (n + 2) + (n + 2) ** 2 + 9 + 3 * n + own


# the workspace's header: length of the path, its first and second derivative, its number of points, and of obstacles of
# its strands, the magnitude of all muscles' power, and the place of stored forces of mass points: over obstacles they
# are multiplied by the accelerations there, or stored where negative (0: neither); and the signed power of all muscles
# with non-conservative pull
LENGTH, RATE, SECOND, ACTIVE, OBSTACLES, POWER, KEPT, PUT_IN_BY_MUSCLES = 0, 1, 2, 3, 4, 5, 6, 7
SPACE_HEADER = 8

# the row of a point: its record in data, its body, lever from the reference point of its tree, place in the world,
# velocity, acceleration, the force on it, and its derivatives by each of its components in its body; of the strand
# after it its length with two derivatives, unit vector and its rate, length of all strands before it with two
# derivatives, inertial forces along all these and along the path, its mass points, its record in the workspace (0:
# straight), and sums over its mass points of m, m c, m s, m c^2, m c s, m s^2 (c: share of the strand, s: share of the
# path); mass points at the corner at the point, and its width
AT_RECORD, AT_BODY, AT_LEVER, AT_PLACE, AT_VELOCITY, AT_ACCELERATION, AT_FORCE, AT_SLIDES = (
    0,
    1,
    2,
    5,
    8,
    11,
    14,
    17,
)
STRAND_LENGTH, STRAND_RATE, STRAND_SECOND, STRAND_UNIT, STRAND_UNIT_RATE = 26, 27, 28, 29, 32
BEFORE, BEFORE_RATE, BEFORE_SECOND, ALONG_BEFORE, ALONG_PATH = 35, 36, 37, 38, 39
STRAND_FIRST, STRAND_COUNT, STRAND_AT, STRAND_BEFORE, SUMS = 40, 41, 42, 43, 44
CORNER_FIRST, CORNER_COUNT, CORNER_WIDTH = 50, 51, 52
SPACE_ROW = 53
# the sums of a strand over obstacles: mass, first moment, kinetic energy, stored forces times accelerations
SUM_MASS, SUM_MOMENT, SUM_KINETIC, SUM_WORKED = 0, 1, 4, 5

# after a coordinate's other columns in its workspace: its row of couplings with other coordinates (see
# `dynamics.coupled`), and then derivatives of the current muscle: of its length, the length before a strand, the six
# other numbers of a straight strand, momenta of mass points at a bend, the momentum of all mass points as a wrench, the
# velocity of each point of the path, the twist of each obstacle; then (z', L', a') and their momenta
COLUMN_LENGTH, COLUMN_BEFORE, COLUMN_MOTION, COLUMN_WEIGHED, COLUMN_WRENCH, COLUMN_POINTS = 0, 1, 2, 9, 16, 22
# in place of the fourteen, before the strand is processed: eleven numbers of a corner, and the velocity of a mass point
COLUMN_CORNER, COLUMN_MOVED = 2, 13
