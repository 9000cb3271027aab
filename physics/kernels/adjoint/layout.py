"""Offsets in the workspace of a motion's gradient, and in its sums."""

from __future__ import annotations

# rows of vectors (nv and inputs): generalized forces with inputs, given and found; the state before the step, and the
# end that it has without impulses; coordinates and velocities of the first stage; accelerations of both stages; y of
# the stage; derivatives of the loss by the state at hand and by the accelerations of the stage; those by the known part
# of the second stage; those by the coordinates before the step through its impulses; and of muscles the states before
# the step, the known part of them in a stage, and derivatives by those at hand and by the known part of the second
# stage
(
    GIVEN_FORCE,
    FOUND_FORCE,
    BEGUN_Q,
    BEGUN_QD,
    END_Q,
    END_QD,
    FIRST_Q,
    FIRST_QD,
    FIRST_QDD,
    LAST_QDD,
    ANSWER,
    BY_Q,
    BY_QD,
    BY_QDD,
    KNOWN_Q,
    KNOWN_QD,
    STOPPED_Q,
    BEGUN_STATES,
    BASE_STATES,
    BY_STATES,
    KNOWN_STATES,
) = range(21)
VECTORS = 21
# rows of a stop: coordinates and velocities that the step would have reached, and which coordinates it stopped
TRIAL_Q, TRIAL_QD, STOPPED = 0, 1, 2
STOP_ROWS = 3

# rows of what a stage notes of all coordinates: q, q', q'' and y; of those behind joints instead the derivatives by
# their values and two rates, -y^T K, -y^T D and -y^T M, and the wrench that holds them, negative
NOTES = 4
# what a step's end on the constraints notes: its two stages of length 0, and the end itself
END_NOTES = 3

# columns of a body's sums: by mass, centre of mass in link axes, and inertia about it in these axes (xx, yy, zz, xy,
# xz, yz; each of the last three stands twice in the matrix)
BY_MASS, BY_COM, BY_INERTIA = 0, 1, 4
BODY_SUMS = 10
# columns of a coordinate's sums: by stiffness, rest and damping
BY_STIFFNESS, BY_REST, BY_DAMPING = 0, 1, 2
COORDINATE_SUMS = 3
# displacements of differences of order four, and the weights of what they give
WAYS, WEIGHTS = (1.0, -1.0, 2.0, -2.0), (2.0 / 3.0, -2.0 / 3.0, -1.0 / 12.0, 1.0 / 12.0)
# rows of momentum: about the world's origin, angular and linear; the mass times its centre; and the kinetic energy
ANGULAR, LINEAR, MOMENT, KINETIC = 0, 3, 6, 9
MOMENTUM_ROWS = 10
# column of a muscle: the speed of its path
PATH_SPEED = 0
MUSCLE_COLUMNS = 1

# Times that accelerations are so long that the forces which do not depend on them do not count; a power of two, so that
# dividing by it is exact.
HIDING = 2.0**200
