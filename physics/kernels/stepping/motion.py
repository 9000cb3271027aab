"""Prescribed motions: coordinates on piecewise polynomials of time, while these hold them."""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array, Vector
from ..compiler.jit import inline, shared
from . import motion_layout as channel

# Times closer than this are equal: sums of steps have round-off [s].
EDGE = 1e-9
# A velocity that changes by less than this share does not jump.
SMOOTH = 1e-6


@inline
def find_piece(motion: Array, k: int, t: float) -> int:
    """The piece of channel k at time t; the first has no beginning."""
    channels, pieces = motion
    low: int = channels[k, channel.CHANNEL_FIRST]
    high = low + channels[k, channel.CHANNEL_COUNT] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if pieces[middle, channel.PIECE_START] <= t:
            low = middle
        else:
            high = middle - 1
    return low


@inline
def evaluate_piece(pieces: Array, piece: int, t: float) -> Vector:
    """Position, velocity and acceleration at time t."""
    x = t - pieces[piece, channel.PIECE_START]
    value, slope, curve = 0.0, 0.0, 0.0
    for j in range(channel.PIECE_ORDER - 1, -1, -1):
        curve = curve * x + slope
        slope = slope * x + value
        value = value * x + pieces[piece, channel.PIECE_COEFFICIENTS + j]
    return value, slope, 2.0 * curve


@inline
def pieces_of_step(motion: Array, k: int, t: float, dt: float) -> tuple[int, int, int]:
    """The pieces of channel k before time t, from it on, and before the end of a step from there. The first and the
    last are the second where the coordinate is not prescribed all the way, or the run begins with the motion.
    """
    channels, pieces = motion
    piece = find_piece(motion, k, t + EDGE)
    before = find_piece(motion, k, t - EDGE)
    first = channels[k, channel.CHANNEL_FIRST]
    if pieces[before, channel.PIECE_HOLDS] == 0.0 or (
        before == first and pieces[first, channel.PIECE_RESTS] == 0.0
    ):
        before = piece
    last = piece
    end = find_piece(motion, k, t + dt - EDGE)
    while last < end and pieces[last + 1, channel.PIECE_HOLDS] != 0.0:
        last += 1
    return before, piece, last


@inline
def corner_jumps(pieces: Array, found: tuple[int, int, int], t: float, dt: float) -> float:
    """Change of velocity in a step beyond that of its first piece: the jumps at corners, which act as impulses."""
    before, piece, last = found
    change = evaluate_piece(pieces, piece, t)[1] - evaluate_piece(pieces, before, t)[1]
    return change + evaluate_piece(pieces, last, t + dt)[1] - evaluate_piece(pieces, piece, t + dt)[1]


@inline
def shift_pieces(motion: Array, k: int, piece: int, t: float, shift: float, faster: float) -> None:
    """Shift the pieces of channel k from one on, while they hold, by shift + faster (time - t)."""
    channels, pieces = motion
    end = channels[k, channel.CHANNEL_FIRST] + channels[k, channel.CHANNEL_COUNT]
    while piece < end and pieces[piece, channel.PIECE_HOLDS] != 0.0:
        pieces[piece, channel.PIECE_COEFFICIENTS] += shift + faster * (pieces[piece, channel.PIECE_START] - t)
        pieces[piece, channel.PIECE_COEFFICIENTS + 1] += faster
        piece += 1


@inline
def piece_before(pieces: Array, first: int, piece: int, at_edge: int, t: float) -> int:
    """The channel's piece in the step before; at a run's beginning the one before it, `at_edge`.

    Steps may be repeated from the same time.
    """
    known = pieces[first, channel.PIECE_SEEN] > 0.0 and t >= pieces[first, channel.PIECE_LOOKED]
    if not known:
        pieces[first, channel.PIECE_BEFORE] = at_edge
    elif t > pieces[first, channel.PIECE_LOOKED]:
        pieces[first, channel.PIECE_BEFORE] = pieces[first, channel.PIECE_SEEN] - 1.0
    pieces[first, channel.PIECE_LOOKED], pieces[first, channel.PIECE_SEEN] = t, piece + 1.0
    return int(pieces[first, channel.PIECE_BEFORE])


@shared
def catch(motion: Array, t: float, q: Array, qd: Array) -> None:
    """Find coordinates that become prescribed at time t, and the jumps of their velocities; given velocities and
    accelerations continue from the present state.
    """
    channels, pieces = motion
    for k in range(channels.shape[0]):
        first, d = channels[k, channel.CHANNEL_FIRST], channels[k, channel.CHANNEL_COORDINATE]
        piece = find_piece(motion, k, t + EDGE)
        before = piece_before(pieces, first, piece, find_piece(motion, k, t - EDGE), t)
        pieces[first, channel.PIECE_LEAP] = 0.0
        free = False
        for between in range(before, piece):  # possibly for less than a step
            free |= pieces[between, channel.PIECE_HOLDS] == 0.0
        if not free or pieces[piece, channel.PIECE_HOLDS] == 0.0:
            continue
        value, speed, _ = evaluate_piece(pieces, piece, t)
        shift = 0.0 if channels[k, channel.CHANNEL_KIND] == channel.GIVEN_POSITION else q[d] - value
        faster = qd[d] - speed if channels[k, channel.CHANNEL_KIND] == channel.GIVEN_ACCELERATION else 0.0
        shift_pieces(motion, k, piece, t, shift, faster)
        pieces[first, channel.PIECE_LEAP] = speed + faster - qd[d]


@shared
def jumps_within(motion: Array, t: float, dt: float) -> bool:
    """Whether prescribed velocities jump in a step from time t on, after `catch`."""
    channels, pieces = motion
    found = False
    for k in range(channels.shape[0]):
        before, piece, last = pieces_of_step(motion, k, t, dt)
        if pieces[piece, channel.PIECE_HOLDS] != 0.0:
            change = corner_jumps(pieces, (before, piece, last), t, dt)
            change += pieces[channels[k, channel.CHANNEL_FIRST], channel.PIECE_LEAP]
            ahead = evaluate_piece(pieces, last, t + dt)[1]
            found |= abs(change) > SMOOTH * (abs(ahead) + abs(ahead - change))
    return found


@shared
def jump(motion: Array, k: int, t: float) -> float:
    """Jump of the velocity of channel k's coordinate at time t, after `catch`."""
    channels, pieces = motion
    before, piece, _ = pieces_of_step(motion, k, t, 0.0)
    if pieces[piece, channel.PIECE_HOLDS] == 0.0:
        return 0.0
    change: float = evaluate_piece(pieces, piece, t)[1] - evaluate_piece(pieces, before, t)[1]
    change += pieces[channels[k, channel.CHANNEL_FIRST], channel.PIECE_LEAP]
    return change


@shared
def hold(motion: Array, t: float, dt: float, q: Array, qd: Array, dof: Array) -> bool:
    """Set the coordinates that are prescribed at time t, their velocities and accelerations: present ones, or where dt
    > 0 means over the step including corners. Returns whether others are prescribed than before.
    """
    channels, pieces = motion
    others = False
    for k in range(channels.shape[0]):
        d = channels[k, channel.CHANNEL_COORDINATE]
        before, piece, last = pieces_of_step(motion, k, t, dt)
        others |= dof[d, at.HELD] != pieces[piece, channel.PIECE_HOLDS]
        dof[d, at.HELD] = pieces[piece, channel.PIECE_HOLDS]
        dof[d, at.GIVEN] = dof[d, at.LAG] = 0.0
        if dof[d, at.HELD] != 0.0:
            q[d], qd[d], dof[d, at.GIVEN] = evaluate_piece(pieces, piece, t)
            if dt > 0.0:
                qd[d] = (
                    evaluate_piece(pieces, before, t)[1]
                    - pieces[channels[k, channel.CHANNEL_FIRST], channel.PIECE_LEAP]
                )
                dof[d, at.GIVEN] = (evaluate_piece(pieces, last, t + dt)[1] - qd[d]) / dt
    return others


@shared
def follow(motion: Array, t: float, dt: float, now: float, q: Array, qd: Array, dof: Array) -> None:
    """Set the coordinates that are prescribed in a step from time t on to their values now, and their accelerations."""
    channels, pieces = motion
    for k in range(channels.shape[0]):
        d = channels[k, channel.CHANNEL_COORDINATE]
        before, piece, last = pieces_of_step(motion, k, t, dt)
        dof[d, at.HELD] = pieces[piece, channel.PIECE_HOLDS]
        dof[d, at.GIVEN] = 0.0
        if dof[d, at.HELD] != 0.0:
            here = min(max(find_piece(motion, k, now - EDGE), piece), last)
            q[d], qd[d], _ = evaluate_piece(pieces, here, now)
            jumps = corner_jumps(pieces, (before, piece, last), t, dt)
            jumps += pieces[channels[k, channel.CHANNEL_FIRST], channel.PIECE_LEAP]
            dof[d, at.GIVEN] = evaluate_piece(pieces, piece, now)[2] + jumps / dt


@shared
def note_lag(motion: Array, t: float, dt: float, dof: Array) -> None:
    """Store the excess of prescribed velocities at the end of a step from time t on over their means: bodies in contact
    cover the distance of the means.
    """
    channels, pieces = motion
    for k in range(channels.shape[0]):
        d = channels[k, channel.CHANNEL_COORDINATE]
        _, piece, last = pieces_of_step(motion, k, t, dt)
        dof[d, at.LAG] = 0.0
        if pieces[piece, channel.PIECE_HOLDS] != 0.0:
            end, speed, _ = evaluate_piece(pieces, last, t + dt)
            dof[d, at.LAG] = speed - (end - evaluate_piece(pieces, piece, t)[0]) / dt


@shared
def finish_held(motion: Array, t: float, dt: float, q: Array, qd: Array) -> None:
    """Set the coordinates that were prescribed from time t on to their values at the step's end."""
    channels, pieces = motion
    for k in range(channels.shape[0]):
        d = channels[k, channel.CHANNEL_COORDINATE]
        _, piece, last = pieces_of_step(motion, k, t, dt)
        if pieces[piece, channel.PIECE_HOLDS] != 0.0:
            q[d], qd[d], _ = evaluate_piece(pieces, last, t + dt)
