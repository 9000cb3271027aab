"""Where things lie in the arrays of given motions.

A motion is ``(channels, pieces)``: channels (n, 4) are coordinate, first piece, how many, and of what the values were
given: positions, velocities or accelerations; a piece (13 numbers) is the time where it begins, whether it holds the
coordinate, six coefficients by rising powers of the time since then, and in a channel's first piece by how much the
velocity leaps where the step catches a free coordinate, and for `motion.catch` when it looked last, the piece that it
found then, 1 more than its number, and the one that the step before had; and whether it is a rest from which the run
sees the motion begin.
"""

from __future__ import annotations

CHANNEL_COORDINATE, CHANNEL_FIRST, CHANNEL_COUNT, CHANNEL_KIND = 0, 1, 2, 3
CHANNEL_WIDTH = 4
GIVEN_POSITION, GIVEN_VELOCITY, GIVEN_ACCELERATION = 0, 1, 2
PIECE_START, PIECE_HOLDS, PIECE_COEFFICIENTS = 0, 1, 2
PIECE_ORDER = 6
PIECE_LEAP = PIECE_COEFFICIENTS + PIECE_ORDER
PIECE_LOOKED, PIECE_SEEN, PIECE_BEFORE = PIECE_LEAP + 1, PIECE_LEAP + 2, PIECE_LEAP + 3
PIECE_RESTS = PIECE_BEFORE + 1
PIECE_WIDTH = PIECE_RESTS + 1
