"""Offsets in the record of a muscle's force law."""

# kinds of law
TENSION, MILLARD, THELEN, CORD, DEGROOTE, SCHUTTE = 0, 1, 2, 3, 4, 5

# the record's head
LAW_KIND = 0
LAW_STATES = 1  # 0: none; 1: activation; 2: activation and fibre length
MAX_FORCE = 2  # N
OPTIMAL_LENGTH = 3  # m
SLACK_LENGTH = 4  # m
HEIGHT = 5  # m: of the parallelogram of the pennate fibres
MAX_SPEED = 6  # m/s
DAMPING = 7  # of the largest force, at the largest speed
ACTIVATION_TIME = 8  # s
DEACTIVATION_TIME = 9  # s
MIN_ACTIVATION = 10
MIN_FIBRE = 11  # m
CURVES = 12

# Millard: offsets of its curves' records (below); Schutte: of integrals of functions, 0: none
ACTIVE_CURVE, PASSIVE_CURVE, TENDON_CURVE, VELOCITY_CURVE = 12, 13, 14, 15

# Thelen: parameters of its formulas
TENDON_STRAIN, PASSIVE_STRAIN, ACTIVE_SHAPE, PASSIVE_SHAPE = 12, 13, 14, 15
CONCENTRIC_SHAPE, MAX_ECCENTRIC, ECCENTRIC_SHARE = 16, 17, 18

# De Groote: rates, offset and scale of its exponentials, width of the active curve, smoothing of the activation
TENDON_RATE, PASSIVE_RATE, PASSIVE_OFFSET, PASSIVE_SCALE, ACTIVE_WIDTH, SMOOTHING = 12, 13, 14, 15, 16, 17

# a cord: offsets of its functions (0: none) and whether its viscosity acts only while it lengthens; of the elastic one
# the integral
CORD_ELASTIC, CORD_VISCOSITY, CORD_DAMPER, CORD_ONE_WAY, CORD_FUNCTIONS = 2, 3, 4, 5, 6

# a curve: ends as x, y, slope, the integral at the upper end, then its sections
SECTIONS = 0
LOW_X, LOW_Y, LOW_SLOPE = 1, 2, 3
HIGH_X, HIGH_Y, HIGH_SLOPE, HIGH_INTEGRAL = 4, 5, 6, 7
CURVE_HEAD = 8
# a section: x, y and the integral of y over x as polynomials of u in [0, 1], by rising powers
SECTION_X, SECTION_Y, SECTION_INTEGRAL = 0, 6, 12
SECTION_WIDTH = 23
DEGREE = 5
