"""What leads joints by their animation in a simulation: motions that hold them, pulls, targets of controllers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..blender import physics_access
from ..blender.compute_process import Steps
from ..curves.fcurve_values import SEEN
from ..data import findings
from . import follow_weights, jumps, led_joints
from .led_joints import Followed

# A seam at which accelerations change from frame to frame so many times as much as elsewhere is no smooth one: the
# spline of what begins and ends at rest, or bounces there, is better off with two ends.
CORNER = 1.5


@dataclass
class Given:
    """What joints do by their animation, by body: motions, pulls, coordinates at the start; and by the names of
    controllers the times (R,) [s] of their targets and these (R, n); again: by bodies whose curves repeat themselves
    behind the last frame, whether they go on from there; else they start over as they began.
    """

    motions: dict[str, Any] = field(default_factory=dict)
    pulls: dict[str, Any] = field(default_factory=dict)
    start: dict[str, np.ndarray] = field(default_factory=dict)
    targets: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    warnings: list[findings.Finding] = field(default_factory=list)
    again: dict[str, bool] = field(default_factory=dict)


def motions(
    followed: list[Followed],
    times: np.ndarray,
    fitted: set[str],
    options: dict[str, Any],
    loop: dict[str, Any] | None = None,
) -> Steps[Given]:
    """Steps that find what joints do by their animation.

    Args:
        times: of the frames (F,) [s]. fitted: names of joints whose curve was fitted just now, with the child's own
            pose as the joint's. options: `dt` and `record_interval` of ``simulate``.
        loop: as of `timing.loop_options`.
    """
    made = Given()
    dt, interval = options["dt"], options["record_interval"]
    # a frame lies between two steps: it shows what is held where the earlier of them has ended so, and the sample
    # before it shows what is not where the later one of its own has
    early = min(2.0 * dt, max(interval - dt, 0.5 * interval))
    for each in followed:
        strength = each.strength
        own, at_strength = (
            np.interp(frames - each.frames[0], np.arange(len(times)), times)
            for frames in (each.frames, strength.frames)
        )
        rows = np.arange(len(own)) if each.controller else led_joints.rows_of(each)
        if not len(rows):
            continue
        q, told = yield from led_joints.coordinates(each, fitted, rows)
        made.warnings += told + jumps.told(each, q, rows)
        windows = None
        if not strength.held.all():
            windows = caught_early(led_joints.windows_of(strength.held, at_strength), early)
        if strength.held.any():
            leapt = own[rows][jumps.by_leap(each, rows)]
            goes_on = loop is not None and windows is None and not len(leapt)
            goes_on = goes_on and repeats(each.joint, q, own[rows], loop["tolerance"])
            through = "periodic" if goes_on else "cubic"
            made.motions[each.body] = physics_access.physics().Motion(
                own[rows], q, "position", through, windows=windows, leaps=leapt
            )
        drawn = each.drawn[rows]  # what draws a joint to its animation does so smoothly
        at = own[rows][drawn]
        if ((strength.weights > 0.0) & ~strength.held).any() and drawn.sum() > 1:
            weights = np.minimum(strength.weights, follow_weights.HELD)
            made.pulls[each.body] = physics_access.part("motions.pull").Pull(
                at, q[drawn], weights, each.time, at_strength
            )
        if each.controller:
            made.targets[each.controller] = at, q[drawn]
        if each.again is not None:
            made.again[each.body] = bool(np.abs(each.again).max() > SEEN)
        if each.switched[0]:
            made.start[each.body] = q[0]
    return made


def caught_early(windows: np.ndarray, early: float) -> np.ndarray:
    """Windows (k, 2) that begin a little earlier [s]: in a step that leads to the frame of a switch, and not in the one
    behind it, so that the frame shows what is held, as its key says. Those that meet by that are one.
    """
    found: list[list[float]] = []
    for start, end in windows.tolist():
        if found and start - early <= found[-1][1]:
            found[-1][1] = end
        else:
            found.append([start - early, end])
    return np.array(found).reshape(-1, 2)


def repeats(joint: physics_access.Joint, q: np.ndarray, times: np.ndarray, tolerance: float) -> bool:
    """Whether a joint that is led through coordinates (F, n) is at the last as at the first, and goes on from there as
    smoothly as it went: so a loop's seam is none of the motion's.

    Args:
        times: of the coordinates (F,) [s], even or not. tolerance: of the place [m, rad].
    """
    if len(q) < 5 or not comes_back(joint, q, tolerance):
        return False
    steps = np.diff(times)
    rates = np.diff(q, axis=0) / steps[:, None]
    around = 0.5 * (steps + np.roll(steps, 1))
    # accelerations, the first of them at the seam
    bends = (rates - np.roll(rates, 1, axis=0)) / around[:, None]
    changes = np.abs(np.roll(bends, -1, axis=0) - bends)
    seen = SEEN / steps.min() ** 2
    return bool((changes[[-1, 0]].max(axis=0) <= CORNER * changes[1:-1].max(axis=0) + seen).all())


def comes_back(joint: physics_access.Joint, q: np.ndarray, tolerance: float) -> bool:
    """Whether a joint that is led through coordinates (F, n) is at the last where it was at the first [m, rad]."""
    lie, rise = physics_access.physics().lie, q[-1] - q[0]
    if np.abs(lie.log(lie.inverse(joint.transform(q[0])) @ joint.transform(q[-1]))).max() > tolerance:
        return False
    vector = led_joints.rotation_vector(joint)
    turn = 0.0 if vector is None else float(np.linalg.norm(rise[vector]))
    if turn > 1.0:  # a whole turn on, a rotation vector means the same about its own axis alone
        aside = np.linalg.norm(np.cross(q[:, vector], rise[vector] / turn), axis=1)
        return bool(aside.max() <= led_joints.FAR_TURN)
    return True
