"""Instants at which given motions leap in velocity, for methods whose steps do not have them within."""

from __future__ import annotations

from .. import layout as at
from ..algebra.spatial import Array
from ..compiler.jit import entry
from . import motion_layout as channel
from .bundles import Loads, Spaces, Tables
from .evaluate import evaluate_here
from .motion import catch, hold, leap


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
    """Give all that hangs on held coordinates the impulse of their velocities' leaps at time t; whether there was one.

    The accelerations in loads (2, nv) are a workspace: velocities change as accelerations do where those of the held
    coordinates are larger by their leaps.
    """
    (channels, _), dof, (tau, accelerations, effort), leaps = motion, spaces[at.DOF], loads, False
    catch(motion, t, q, qd)
    hold(motion, t, 0.0, q, qd, dof)
    before, after = (tau, accelerations[0], effort), (tau, accelerations[1], effort)
    evaluate_here(arrays, constraints, tables, t, q, qd, before, system, spaces)
    for k in range(channels.shape[0]):
        change = leap(motion, k, t)
        leaps |= change != 0.0
        dof[channels[k, channel.CHANNEL_COORDINATE], at.GIVEN] += change
    if leaps:
        evaluate_here(arrays, constraints, tables, t, q, qd, after, system, spaces)
        for d in range(qd.shape[0]):
            if dof[d, at.HELD] == 0.0:
                qd[d] += accelerations[1, d] - accelerations[0, d]
    return leaps
