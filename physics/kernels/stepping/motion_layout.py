"""Offsets in the arrays of prescribed motions.

A motion is ``(channels, pieces)``. Channels (n, 4): coordinate, first piece, number of pieces, and what the values are:
positions, velocities or accelerations. A piece (13 numbers): the time of its beginning, whether it holds the
coordinate, and six coefficients by rising powers of the time since then. A channel's first piece also has state of
`motion.catch`: the velocity jump where a free coordinate becomes prescribed, the time of the last call, the piece found
then, plus 1, and the piece of the step before; and whether the motion begins within the run, from rest.
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
