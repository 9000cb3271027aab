"""Velocity jumps of prescribed motions, for methods whose steps end at them."""

from __future__ import annotations

from .. import layout as at
from ..algebra.vectors import Array
from ..compiler.jit import entry
from . import motion_layout as channel
from .bundles import Loads, Spaces, Tables
from .evaluate import evaluate_here
from .motion import catch, hold, jump


@entry
def pass_corner(
    arrays: Array,
    constraints: Array,
    motion: Array,
    tables: Tables,
    t: float,
    q: Array,
    qd: Array,
    loads: Loads,
    system: Array,
    spaces: Spaces,
) -> bool:
    """Apply the impulse of prescribed velocities that jump at time t; whether there was one.

    The accelerations in loads (2, nv) are a workspace: velocities change by the difference of accelerations with and
    without the jumps added to the prescribed ones.
    """
    (channels, _), dof, (tau, accelerations, effort), jumps = motion, spaces[at.DOF], loads, False
    catch(motion, t, q, qd)
    hold(motion, t, 0.0, q, qd, dof)
    before, after = (tau, accelerations[0], effort), (tau, accelerations[1], effort)
    evaluate_here(arrays, constraints, tables, t, q, qd, before, system, spaces)
    for k in range(channels.shape[0]):
        change = jump(motion, k, t)
        jumps |= change != 0.0
        dof[channels[k, channel.CHANNEL_COORDINATE], at.GIVEN] += change
    if jumps:
        evaluate_here(arrays, constraints, tables, t, q, qd, after, system, spaces)
        for d in range(qd.shape[0]):
            if dof[d, at.HELD] == 0.0:
                qd[d] += accelerations[1, d] - accelerations[0, d]
    return jumps
