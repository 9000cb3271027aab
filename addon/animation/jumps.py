"""Where joints leap that follow stepped keys, or keys that start over: looked for between frames, and told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..blender import physics_access, units
from ..curves.fcurve_values import SEEN
from ..data import findings
from . import jump_search, led_joints, whole_turns
from .jump_search import MOST, Shown
from .led_joints import Followed
from .motion_curves import MotionCurves

# A leap between frames is known so narrowly [frames], where samples lie between them.
NARROW = 2.0**-12
# Blender's elastic keys end by so small a leap, or a smaller one, of what they go through.
LEAST = 2e-3
# Looks from a frame to the next by which leaps are told from what begins to move.
LEAST_LOOKS = 8
# A frame is looked at where the way to it is so many times as long as the way before or after.
STANDS_OUT = 3.0

Keyed = MotionCurves | None


@dataclass(frozen=True)
class Rows:
    """Rows (k,) that are added to a joint's.

    Attributes:
        before: the rows that each of them comes before. frames: that they belong to. shown: there, (k, ...).
        leapt: whether that is reached by a leap. drawn: whether they draw the joint where that follows in part.
    """

    before: np.ndarray
    frames: np.ndarray
    shown: np.ndarray
    leapt: np.ndarray
    drawn: bool


@dataclass(frozen=True)
class Seen:
    """A joint, its curves, and what it shows at any frames."""

    joint: Followed
    by: Keyed
    shown: Shown


def looked_for(
    followed: list[Followed], curves: list[Keyed], shown: list[Shown], frames: np.ndarray, sample: float
) -> list[Seen]:
    """Joints as they were seen at whole frames (F,), and where they leap, at frames or between them, at the last sample
    before, too. Those that start over by whole turns go on.

    Args:
        curves: of the joints. shown: what they show. sample: from one sample to the next [frames].
    """
    found = []
    for each, by, own in zip(followed, curves, shown):
        where = _to_look_at(each, by, frames)
        own = whole_turns.counted(each, own, where)
        held = where[each.strength.held_between(frames)[where - 1]]
        found.append(Seen(_with_leaps(own, each, held, frames, sample), by and replace(by, shown=own), own))
    return found


def _to_look_at(each: Followed, by: Keyed, frames: np.ndarray) -> np.ndarray:
    """Rows (k,) of a joint's frames (F,) which it may reach by a leap, so far as is seen without going to others."""
    near = each.strength.held_between(frames)
    if each.turns.any():
        near |= each.strength.led_between(frames) | bool(each.controller)
    if by is not None and by.starts_over:  # the way back from a short cycle is no longer than the way there
        where = np.flatnonzero(near) + 1
    else:
        out = _stands_out(each) | whole_turns.stands_out(each)
        where = _with_neighbours(np.flatnonzero(out & near) + 1, len(frames))
    return where if by is None else where[at_once(each, looks_between(by.shown, frames[where - 1]))]


def looks_between(shown: Shown, begin: np.ndarray) -> np.ndarray:
    """What is shown at so many looks that leaps can be told (k, looks, ...), from each of frames (k,) to the next."""
    at = begin[:, None] + np.arange(LEAST_LOOKS + 1) / LEAST_LOOKS
    found = shown(at.ravel())
    return found.reshape(*at.shape, *found.shape[1:])


def at_once(each: Followed, looks: np.ndarray) -> np.ndarray:
    """In which of some stretches (k,) most of the way of something is from one look (k, looks, ...) to the next: what
    goes smoothly, even from rest, does not do that.
    """
    found = np.zeros(len(looks), dtype=bool)
    for part in parts(each, looks):
        ways = np.linalg.norm(np.diff(part, axis=1), axis=2)
        found |= ways.max(axis=1) > MOST * ways.sum(axis=1) + SEEN
    return found


def told(each: Followed, q: np.ndarray, rows: np.ndarray) -> list[findings.Finding]:
    """A finding where a joint leaps, by its coordinates (R, n) at some of its rows (R,), while it is held."""
    places = [k for k in np.flatnonzero(by_leap(each, rows)) if each.switched[rows[k]]]
    if not places:
        return []
    turns, ways = np.array([_size(each.joint, q[k - 1], q[k]) for k in places]).T.tolist()
    most = int(np.argmax(np.maximum(turns, np.array(ways) / (each.length_scale or 1.0))))
    by = [f"{np.degrees(turns[most]):.3g}°"] if turns[most] > SEEN else []
    by += [units.told_length(ways[most])] if ways[most] > SEEN else []
    size, frame = " and ".join(by), round(float(each.frames[rows[places[most]]]), 2)
    return [
        findings.about(each.handle, "keys-jump", joint=each.name, size=size, frame=frame, count=len(places))
    ]


def _size(joint: physics_access.Joint, before: np.ndarray, after: np.ndarray) -> tuple[float, float]:
    """How far a joint turns [rad] and goes [m] by a leap from coordinates (n,) to others: as what it carries does, and
    as an angle or a length of it says where that is more, as of a leap by half a turn or more.
    """
    lie, steps, kinds = physics_access.physics().lie, np.abs(after - before), np.array(joint.coordinate_units)
    if led_joints.rotation_vector(joint) is not None:
        steps[led_joints.rotation_vector(joint)] = 0.0
    change = lie.inverse(joint.transform(before)) @ joint.transform(after)
    shown = np.linalg.norm(lie.log(change)[:3]), np.linalg.norm(change[:3, 3])
    turn, way = (max(float(size), *steps[kinds == unit], 0.0) for size, unit in zip(shown, ("rad", "m")))
    return turn, way


def by_leap(each: Followed, rows: np.ndarray) -> np.ndarray:
    """Which of some rows (R,) are reached by a leap from the one before them."""
    follows = np.diff(rows, prepend=-2) == 1
    return each.leapt[rows] & follows


def parts(each: Followed, shown: np.ndarray) -> list[np.ndarray]:
    """What is keyed in ways of its own, each (..., k), of readings (..., n) or poses (..., 4, 4), as the joint has."""
    if each.readings is not None:
        return [shown[..., [k]] for k in range(shown.shape[-1])]
    return [shown[..., :3, :3].reshape(*shown.shape[:-2], 9), shown[..., :3, 3]]


def _going_on(each: Followed, shown: np.ndarray) -> list[np.ndarray]:
    """`parts` (R, k) of a joint's rows (R, ...), of sliders without the jumps of those that start anew after a turn."""
    return parts(each, shown if each.readings is None else led_joints.going_on(each, shown))


def _with_neighbours(rows: np.ndarray, count: int) -> np.ndarray:
    """Rows (k,), and those next to them, of as many as there are; none is the first."""
    around = np.unique(np.concatenate([rows - 1, rows, rows + 1]))
    return around[(around > 0) & (around < count)]


def _stands_out(each: Followed) -> np.ndarray:
    """From which frame to the next one (F - 1,) a joint goes much farther than before or after."""
    found = np.zeros(len(each.frames) - 1, dtype=bool)
    for part in _going_on(each, each.poses if each.readings is None else each.readings):
        ways = np.linalg.norm(np.diff(part, axis=0), axis=1)
        around = np.concatenate([ways[:1], ways, ways[-1:]])
        if len(ways) < 2:
            around = np.zeros(len(ways) + 2)
        found |= ways > STANDS_OUT * np.minimum(around[:-2], around[2:]) + SEEN
    return found


def _with_leaps(
    shown: Shown, each: Followed, where: np.ndarray, frames: np.ndarray, sample: float
) -> Followed:
    """A joint with the rows in which it leaps marked, and with rows for leaps between frames and for the last samples
    before leaps.

    Args:
        shown: what it shows at frames. where: rows (k,) to look at. sample: from one sample to the next [frames].
    """
    stepped, least = {}, least_leap(each)
    for k in where.tolist():
        leap = leap_between(each, shown, (frames[k - 1], frames[k]), least)
        if leap is not None:
            stepped[k] = min(_sample_of(each, shown, leap, frames[k - 1], sample), frames[k])
    # what is stepped from frame to frame, three times or more, was sampled and is not interpolated between the samples
    sampled = {k for k in stepped if stepped.keys() >= {k - 1, k, k + 1}}
    leapt = {k: at for k, at in sorted(stepped.items()) if not sampled & {k - 1, k, k + 1}}
    added = []
    for k, at in leapt.items():
        if sample < 1.0 and at - sample > frames[k - 1]:
            added.append((k, at - sample, False))
        if at < frames[k]:
            added.append((k, at, True))
    each.leapt[[k for k, at in leapt.items() if at == frames[k]]] = True
    if not added:
        return each
    before, places, reached = (np.array(column) for column in zip(*added))
    return with_rows(each, Rows(before, places, shown(places), reached, drawn=False))


def with_rows(each: Followed, added: Rows) -> Followed:
    """A joint with rows added, of its readings or its poses, whichever it has."""
    for kept, new in (
        ("poses" if each.readings is None else "readings", added.shown),
        ("switched", each.strength.held_at(added.frames)),
        ("weights", each.strength.weights_at(added.frames)),
        ("leapt", added.leapt),
        ("drawn", added.drawn),
        ("frames", added.frames),
    ):
        setattr(each, kept, np.insert(getattr(each, kept), added.before, new, axis=0))
    return each


def leap_between(
    each: Followed, shown: Shown, ends: tuple[float, float], least: float
) -> tuple[float, Any, Any] | None:
    """As `jump_search.narrowed`, of a joint; least: that is a leap, see `least_leap`."""
    return jump_search.narrowed(shown, lambda *pair: _way(each, *pair), ends, least)


def _sample_of(
    each: Followed, shown: Shown, leap: tuple[float, Any, Any], begin: float, sample: float
) -> float:
    """The first sample, behind a frame, that shows what a joint has leapt to: the one before shows what it leapt from.
    Just behind a sample, as at the end of a cycle, it is there a sample later.
    """
    at, before, there = leap
    number = (at - begin) / sample
    near = round(number)
    if near > 0 and abs(number - near) * sample <= NARROW:
        (found,) = shown(np.array([begin + near * sample]))
        number = near + (_way(each, before, found) < _way(each, found, there))
    return float(begin + max(np.ceil(number), 1.0) * sample)


def least_leap(each: Followed) -> float:
    """What is a leap of a joint, at the least: what is less than `LEAST` of all that it goes through is none."""
    found = _going_on(each, each.poses if each.readings is None else each.readings)
    return max(SEEN, LEAST * max(float(np.linalg.norm(np.ptp(part, axis=0))) for part in found))


def _way(each: Followed, one: np.ndarray, other: np.ndarray) -> float:
    """How far two poses of a joint are apart, or two readings: of what is keyed in ways of its own the farthest."""
    pair = np.array([one, other])
    return max(float(np.linalg.norm(part[1] - part[0])) for part in _going_on(each, pair))
