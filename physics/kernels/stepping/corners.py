"""Instants at which given motions leap in velocity, for methods whose steps do not have them within."""

from __future__ import annotations

from .. import layout as at
from ..algebra.spatial import Array
from ..compiler.jit import entry
from . import motion_layout as channel
from .evaluate import evaluate_here
from .motion import catch, hold, leap


@entry
def pass_corner(
    arrays: Array,
    constraints: Array,
    motion: Array,
    tables: Array,
    t: float,
    q: Array,
    qd: Array,
    tau: Array,
    accelerations: Array,
    effort: Array,
    system: Array,
    spaces: Array,
) -> bool:
    """Give all that hangs on held coordinates the impulse of their velocities' leaps at time t; whether there was one.

    accelerations (2, nv) is a workspace: what velocities change by is what accelerations do where those of the held
    coordinates are larger by their leaps.
    """
    channels, dof = motion[0], spaces[1]
    leaps = False
    catch(motion, t, q, qd)
    hold(motion, t, 0.0, q, qd, dof)
    evaluate_here(arrays, constraints, tables, t, q, qd, tau, accelerations[0], effort, system, spaces)
    for k in range(channels.shape[0]):
        change = leap(motion, k, t)
        leaps |= change != 0.0
        dof[channels[k, channel.CHANNEL_COORDINATE], at.GIVEN] += change
    if leaps:
        evaluate_here(arrays, constraints, tables, t, q, qd, tau, accelerations[1], effort, system, spaces)
        for d in range(qd.shape[0]):
            if dof[d, at.HELD] == 0.0:
                qd[d] += accelerations[1, d] - accelerations[0, d]
    return leaps
