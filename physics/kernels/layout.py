"""Offsets in the flat arrays that the kernels read and write.

A model is five arrays, ``(body_int, body_float, block_int, data, dof_float)``; a workspace is ``(work, dof, flags)``,
with one row of work a body and one of dof a coordinate. The *link frame* of a body is the moving frame of its joint:
constant transforms after the joint are folded into the children's placements and into the mass properties. Positions in
a tree are relative to the origin of the root's link frame, which limits round-off far from the world's origin.
"""

# positions in the tuple of a model's arrays, and in that of a workspace
BODY_INT, BODY_FLOAT, BLOCK_INT, MODEL_DATA, DOF_FLOAT = 0, 1, 2, 3, 4
WORK, DOF, FLAGS = 0, 1, 2

# body_int columns
PARENT, DOF_START, DOF_COUNT, BLOCK_START, BLOCK_COUNT, ROOT = 0, 1, 2, 3, 4, 5
# the body at this place in breadth-first order, parents first: neighbours there seldom depend on each other, as they do
# along a chain
VISITED = 6
TREE_END = 7  # one past the last body of its tree
WAY = 8  # fast path of a joint that is a single factor
BODY_INT_WIDTH = 9
NO_WAY, HINGE_WAY, SCREW_WAY, CURVE_WAY = 0, 1, 2, 3

# body_float columns: placement in the parent's link frame (rotation by rows, position), mass, centre of mass,
# rotational inertia about it, body frame in the link frame. The inertia is c I + a a^T + b b^T, stored as (c, a, b) in
# link axes: rotating two vectors is cheaper than rotating a matrix.
PLACEMENT, MASS, COM, INERTIA, BODY_FRAME = 0, 12, 13, 16, 23
BODY_FLOAT_WIDTH = 35

# block_int columns; FRAME is the offset in data of a constant frame applied before the block, or -1. The array has 32
# bits if the model has muscles, else 64: this type selects the kernels that are compiled with muscles.
KIND, COORDINATE, DATA, FRAME = 0, 1, 2, 3
BLOCK_INT_WIDTH = 4
# width of the integers in block_int if the model has muscles, else 64; if a network lays one's path
MUSCLE_BITS, NETWORK_BITS = 32, 16

# the entries of a model's contacts that only one with one-sided constraints, hard limits or contacts has, and only one
# with colliders (see `contact.layout`)
ONE_SIDED, COLLIDERS = 1, 3

# the entry of a system of rows that only one of a model with local loops has (see `constraints.loops_layout`)
SYSTEM_LOOPS = 22

# block kinds
SCREW = 0  # exp(g q) about the z axis: data = angular rate, linear rate
SPLINE_CURVE = 1  # product of exponentials of cumulative B-splines
ROTATION_VECTOR = 2  # exp(sign [r]), three coordinates: data = sign
FUNCTION = (
    3  # exp(g f(u)), u a sum of coordinates: data = constant twist, their number, their weights, the function
)

SPLINE_SURFACE = (
    4  # three translations and three Euler angles, each a tensor-product B-spline (see `surface`)
)
OF_TWO = 5  # exp(g f(x, y)) of two coordinates: data = constant twist, which function, three numbers (see `of_two`)

# kinds of functions, the first number of each (see `functions`)
LINEAR_FUNCTION, TRIGONOMETRIC, POLYNOMIAL, PIECEWISE, TANGENT_ANGLE, BENT_PIECEWISE = 0, 1, 2, 3, 4, 5

# functions of two coordinates: angles of an ellipsoid's normal, by its semi-axes; places of an arc's end, by its length
# and the angles at 0
NORMAL_TILT, NORMAL_SPIN, ARC_X, ARC_Y, ARC_Z = range(5)

# data: gravity first, then how many limit rows and force elements there are and where they begin,
GRAVITY, LIMIT_COUNT, LIMIT_ROWS, ELEMENT_COUNT, ELEMENT_ROWS = 0, 3, 4, 5, 6
# then the number of muscles, where they begin (see `muscles.layout`), how many have mass, and the number of their
# states (see `muscles.states`)
MUSCLE_COUNT, MUSCLE_ROWS, MUSCLE_MASSIVE, MUSCLE_STATES = 7, 8, 9, 10
# then the number of joints that are single hinges, and single curves, and where the table of couplings by muscles'
# masses begins
HINGE_COUNT, CURVE_COUNT, MUSCLE_COUPLINGS = 11, 12, 13
DATA_HEADER = 14

# table of couplings: where the record of each body begins, tips first, so that a subtree comes without others between;
# then the records: the body, the number of coordinates nearer to the end of the table that its subtree is coupled with,
# and for each of them, last first: the coordinate, where its coupling with the body's twist is in the workspace, and
# where that with its parent's is (0: the coordinate moves a body beyond the parent, -1: there is no parent), and the
# body of its joint
COUPLED_BODY, COUPLED_COUNT, COUPLED_WITH = 0, 1, 2
WITH_COORDINATE, WITH_PLACE, WITH_OUTER, WITH_OWNER, WITH_WIDTH = 0, 1, 2, 3, 4
COUPLED_TWIST = 8  # numbers of a coupling with a twist

# a force element: kind, bodies (-1 for the world), size of its record, and parameters of its kind
ELEMENT_KIND, ELEMENT_BODY, ELEMENT_OTHER, ELEMENT_SIZE, ELEMENT_HEADER = 0, 1, 2, 3, 4
SPRING_ELEMENT, WRENCH_ELEMENT, DAMPING_ELEMENT, GROUND_ELEMENT, MOUNT_ELEMENT = 0, 1, 2, 3, 4
# from this kind on elements are rare: body_int has RARE_BITS bits in models that have one, or a factor OF_TWO, else 64,
# which selects the kernels that are compiled with them
RARE_ELEMENTS, RARE_BITS = 5, 32
# among them fields, for which it has FIELD_BITS bits
BUSHING_ELEMENT, SPHERE_ELEMENT, FIELD_ELEMENT, FIELD_BITS = 5, 6, 7, 16
# offsets from the element's beginning; points, normals and axes are in link frames
SPRING_POINT, SPRING_OTHER_POINT, SPRING_STIFFNESS, SPRING_DAMPING, SPRING_REST = 4, 7, 10, 11, 12
WRENCH_POINT, WRENCH_MOMENT, WRENCH_FORCE, WRENCH_TURNS, WRENCH_MAGNITUDE, WRENCH_INPUT = 4, 7, 10, 13, 14, 15
WORLD_AXES, BODY_AXES, OTHER_AXES = 0.0, 1.0, 2.0  # of WRENCH_TURNS
DAMPING_POINT, DAMPING_ANGULAR, DAMPING_LINEAR = 4, 7, 8
GROUND_ORIGIN, GROUND_NORMAL, GROUND_STIFFNESS, GROUND_EXPONENT, GROUND_DAMPING = 4, 7, 10, 11, 12
MOUNT_POINT, MOUNT_OTHER_POINT, MOUNT_AXIS = 4, 7, 10
MOUNT_ALONG, MOUNT_ACROSS, MOUNT_ALONG_DAMPING, MOUNT_ACROSS_DAMPING = 13, 14, 15, 16
GROUND_FRICTION, GROUND_SPEED, GROUND_RADIUS, GROUND_COUNT, GROUND_POINTS = 13, 14, 15, 16, 17
# of a bushing: frames (rotation by rows, origin), whether it is measured in that of its body, dampers, and
# offsets of the springs' energies as functions
BUSHING_FRAME, BUSHING_OTHER_FRAME, BUSHING_TURNED, BUSHING_DAMPING, BUSHING_FUNCTIONS = 4, 16, 28, 29, 35
BUSHING_HEADER = 41
# of a sphere on a half-space: in place of the ground's numbers, and after its one point
SPHERE_STIFFNESS, SPHERE_DISSIPATION, SPHERE_STATIC, SPHERE_DYNAMIC, SPHERE_VISCOUS = 10, 11, 12, 13, 14
SPHERE_SPEED, SPHERE_OFFSET, SPHERE_DEPTH_STEEPNESS, SPHERE_SPEED_STEEPNESS, SPHERE_SHARE = 20, 21, 22, 23, 24
# of a field: a point of the body, origin and axis; then numbers, fading along and across the axis by least and largest
# distance and power
FIELD_POINT, FIELD_ORIGIN, FIELD_AXIS, FIELD_EFFECT, FIELD_SHAPE, FIELD_FALLOFF = 4, 7, 10, 13, 14, 15
FIELD_STRENGTH, FIELD_INPUT, FIELD_LINEAR, FIELD_FLOW, FIELD_MASS, FIELD_UNIT = 16, 17, 18, 19, 20, 21
FIELD_FADING, FIELD_RADIAL, FIELD_SIDE, FIELD_SQUARED = 22, 25, 28, 29
FIELD_WIND, FIELD_FORCE, FIELD_VORTEX, FIELD_DRAG = 0, 1, 2, 3
FIELD_POINT_SHAPE, FIELD_PLANE, FIELD_LINE = 0, 1, 2

# laws of a coordinate (see `passive`): offsets in the record of its spring's energy and its damper's force as
# functions, 0 for none; gains and largest force of its controller, numbers of the controller's inputs; and the offset
# of its viscosity
LAW_ELASTIC, LAW_DAMPER, LAW_GAIN, LAW_RATE_GAIN, LAW_MOST, LAW_TARGET, LAW_TARGET_RATE, LAW_VISCOSITY = (
    range(8)
)
LAW_HEADER = 8

# limit rows (see `limits`); restitution is -1 if a limit is compliant
LIMIT_KIND, LIMIT_BODY, LIMIT_DOF, LIMIT_SPRING, LIMIT_DAMPER, LIMIT_RESTITUTION, LIMIT_PARAMETERS = range(7)
LIMIT_WIDTH = 12
LIMIT_LOWER, LIMIT_UPPER, LIMIT_CONE, LIMIT_ROTATION, LIMIT_ANGLE = range(5)

# dof_float columns
STIFFNESS, REST, DAMPING, ARMATURE, LOWER, UPPER, LIMIT_STIFFNESS, LIMIT_DAMPING = 0, 1, 2, 3, 4, 5, 6, 7
PRESCRIBED = 8  # 1: the coordinate keeps its velocity whatever the forces (HELD from the start)
LAW = 9  # offset of its laws in data, 0 for none
DOF_FLOAT_WIDTH = 10

# a constant twist g: unit axis n, |w|, v, n x v, n . v
TWIST_WIDTH = 11

# spline block: header, bucket table, breaks (each with 1 / the width of its span), spans, two end records (frame,
# twist); in an inverted one the frame of a span or an end follows its twists
SPLINE_LOWER, SPLINE_UPPER, SPLINE_PERIOD, SPLINE_SPANS, SPLINE_BUCKETS, SPLINE_BUCKET_SCALE = range(6)
SPLINE_ORDER, SPLINE_OUTSIDE, SPLINE_INVERTED = 6, 7, 8
# offsets from the header: of the map from the coordinate to the knots' parameter (0: identity), and of a second copy of
# the spans for the fast path (0: none)
SPLINE_PACE, SPLINE_TURNED = 9, 10
SPLINE_HEADER = 11
# spans of a cubic curve that is not inverted, in frames whose z axes are the axes of their twists: the first such frame
# by columns, the first twist in the curve's axes and the coefficients of the twists' polynomials, lowest powers first,
# and |w| of each twist, each vector padded to four numbers; then of each twist v and the rotation from its frame to the
# next, or from the last frame out
TURNED_POLYNOMIALS, TURNED_RATES, TURNED_FIRST, TURNED_TWIST, TURNED_WIDTH = 24, 40, 44, 12, 44 + 3 * 12
# a spline's pace: first and last coordinate, period, and the function that gives the parameter
PACE_LOWER, PACE_UPPER, PACE_PERIOD, PACE_FUNCTION = 0, 1, 2, 3
OUTSIDE_EXTEND, OUTSIDE_CLAMP, OUTSIDE_ERROR = 0, 1, 2

# spline surface block: header, a table for each of its directions, control values; offsets are from its header
SURFACE_DIRECTIONS, SURFACE_ROTATION_FIRST, SURFACE_SIGN, SURFACE_OUTSIDE = 0, 1, 2, 3
SURFACE_AXES, SURFACE_TABLES, SURFACE_COUNTS, SURFACE_VALUES = 4, 7, 10, 13
SURFACE_HEADER = 14
SURFACE_MOST_ORDER = 20

# workspace, one row a body: pose (the columns of the rotation, then the origin), spatial velocity, velocity-product
# acceleration, spatial acceleration, bias force, inertia (its six columns), reference point. Vectors are padded to four
# numbers, the width of a register (see `lanes`); a twist is two of them. Rows begin at cache lines. `kinematics` keeps
# intermediate results of curves in the inertia's columns (see `cubic_curve`).
POSE, ORIGIN, VELOCITY, BIAS, ACCELERATION, FORCE, COLUMNS, REFERENCE = 0, 12, 16, 24, 32, 40, 48, 96
WORK_WIDTH = 104
TWIST = (0, 1, 2, 4, 5, 6)  # offsets of a twist's numbers in a padded pair
# rows after the bodies': bases of a spline surface in up to three directions, each with two derivatives
SURFACE_ROWS = 3
# then the row of the energy check (see `step_checks`)
SCRATCH_ROWS = SURFACE_ROWS + 1
# and as many rows as sines and cosines of all coordinates fill, each padded to whole registers of four, and this one
TURN_ROWS, TURN_PADS = 1, 6
# in that row, after the columns of `step_checks`: the step [s] over which springs at limits are implicit, 0 where
# explicit; by how much [s] the last part of a step was shorter than the step, which halves the lag of velocities by it
# (see `stepper.euler_parts`); and whether prescribed velocities jumped in it
AHEAD, SHORTER, LEAPT = 20, 21, 22

# workspace, one row a coordinate: motion subspace column, articulated inertia times it, 1 / d, u, force of the limits
# that are functions of several coordinates; whether its motion is prescribed, its prescribed acceleration (0 where
# none), and the generalized force for it beside the others; the inertia that implicit limits of several
# coordinates add, to this one alone and with the one and the two before; and by how much the prescribed velocity at a
# step's end exceeds its mean over the step
SUBSPACE, PROJECTED, INVERSE, REMAINDER, EXTRA, HELD, GIVEN, EFFORT = 0, 8, 16, 17, 18, 19, 20, 21
COUPLED, LAG, DOF_WORK_WIDTH = 22, 25, 32

# flags: status and the body or muscle state that caused it
STATUS, CULPRIT = 0, 1
OK, OUT_OF_RANGE, SINGULAR, NOT_FINITE, NOT_CONVERGED, TOO_MANY_CONTACTS, ENERGY_LEAP = 0, 1, 2, 3, 4, 5, 6
LOST_STATE, CONTRADICTION = 7, 8

# rows of the workspace of explicit steps: q and q' at which a stage is evaluated, its accelerations, weighted sums of
# the stages' velocities and accelerations, generalized forces, the state before the step or the current part of it, the
# state before the whole step, and mean forces of prescribed coordinates. Methods with one stage keep velocities and
# accelerations from before in the rows of sums; muscles keep states after the coordinates (see `muscles.states`).
STAGE_Q, STAGE_QD, STAGE_QDD, SUM_QD, SUM_QDD, TAU, LAST_Q, LAST_QD, BEGUN_Q, BEGUN_QD, MEAN_EFFORT = range(
    11
)
STAGE_ROWS = 11
# a run's counters: steps done, samples written; and its tables of generalized forces, with the laws, the memory and the
# inputs' ranges that only those of models with feedback have (see `stepping.feedback`), and the sums of an adjoint's
DONE, WRITTEN = 0, 1
TIMES, VALUES, FEEDBACK, FEEDBACK_SUMS = 0, 1, 2, 3

# integrators of the rollout
SYMPLECTIC_EULER, FORWARD_EULER, RUNGE_KUTTA, TEXTBOOK_EULER = 0, 1, 2, 3
# of an explicit method: its number, number of stages, sum of their weights; then for each stage its time as a share of
# the step, which is also that of the slopes of the stage before, and its weight
SCHEME_NUMBER, SCHEME_STAGES, SCHEME_WHOLE, SCHEME_TIMES = 0, 1, 2, 3
# of the implicit ones
LINEARLY_IMPLICIT_EULER, BACKWARD_EULER, SDIRK2, SPRING_IMPLICIT_EULER = 0, 1, 2, 3
