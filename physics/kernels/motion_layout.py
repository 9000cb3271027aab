"""Where things lie in the arrays of given motions.

A motion is ``(channels, pieces)``: channels (n, 3) are coordinate, first piece and how many; a piece (8 numbers) is
the time where it begins, whether it holds the coordinate, and six coefficients by rising powers of the time since
then.
"""

from __future__ import annotations

CHANNEL_COORDINATE, CHANNEL_FIRST, CHANNEL_COUNT = 0, 1, 2
PIECE_START, PIECE_HOLDS, PIECE_COEFFICIENTS = 0, 1, 2
PIECE_ORDER = 6
PIECE_WIDTH = PIECE_COEFFICIENTS + PIECE_ORDER
