"""Motions that are given: coordinates held on piecewise polynomials of time, for as long as they are held."""

from __future__ import annotations

from ._jit import inline, jit
from .layout import GIVEN, HELD
from .motion_layout import (
    CHANNEL_COORDINATE,
    CHANNEL_COUNT,
    CHANNEL_FIRST,
    PIECE_COEFFICIENTS,
    PIECE_HOLDS,
    PIECE_ORDER,
    PIECE_START,
)
from .spatial import Array, Vector


@inline
def find_piece(motion: Array, k: int, t: float) -> int:
    """The piece of channel k that time t falls into; the first begins before all time."""
    channels, pieces = motion
    low: int = channels[k, CHANNEL_FIRST]
    high = low + channels[k, CHANNEL_COUNT] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if pieces[middle, PIECE_START] <= t:
            low = middle
        else:
            high = middle - 1
    return low


@inline
def evaluate_piece(pieces: Array, piece: int, t: float) -> Vector:
    """Position, velocity and acceleration at time t."""
    x = t - pieces[piece, PIECE_START]
    value, slope, curve = 0.0, 0.0, 0.0
    for j in range(PIECE_ORDER - 1, -1, -1):
        curve = curve * x + slope
        slope = slope * x + value
        value = value * x + pieces[piece, PIECE_COEFFICIENTS + j]
    return value, slope, 2.0 * curve


@jit
def hold(motion: Array, t: float, dt: float, q: Array, qd: Array, dof: Array) -> None:
    """Put the coordinates that are held at time t where they are, with their velocity, and note their acceleration:
    of the moment, or where dt > 0 its mean over the step.
    """
    channels, pieces = motion
    for k in range(channels.shape[0]):
        d, piece = channels[k, CHANNEL_COORDINATE], find_piece(motion, k, t)
        dof[d, HELD] = pieces[piece, PIECE_HOLDS]
        dof[d, GIVEN] = 0.0
        if dof[d, HELD] != 0.0:
            q[d], qd[d], dof[d, GIVEN] = evaluate_piece(pieces, piece, t)
            if dt > 0.0:
                dof[d, GIVEN] = (evaluate_piece(pieces, piece, t + dt)[1] - qd[d]) / dt


@jit
def follow(motion: Array, t: float, now: float, q: Array, qd: Array, dof: Array) -> None:
    """Put the coordinates that are held from time t on where they are now, and note their accelerations."""
    channels, pieces = motion
    for k in range(channels.shape[0]):
        d, piece = channels[k, CHANNEL_COORDINATE], find_piece(motion, k, t)
        dof[d, HELD] = pieces[piece, PIECE_HOLDS]
        dof[d, GIVEN] = 0.0
        if dof[d, HELD] != 0.0:
            q[d], qd[d], dof[d, GIVEN] = evaluate_piece(pieces, piece, now)


@jit
def finish_held(motion: Array, t: float, dt: float, q: Array, qd: Array) -> None:
    """Put the coordinates that were held from time t on where the step ends."""
    channels, pieces = motion
    for k in range(channels.shape[0]):
        d, piece = channels[k, CHANNEL_COORDINATE], find_piece(motion, k, t)
        if pieces[piece, PIECE_HOLDS] != 0.0:
            q[d], qd[d], _ = evaluate_piece(pieces, piece, t + dt)
