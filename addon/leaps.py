"""Where joints that follow their animation leap, since keys are stepped: looked for between frames, and told."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import core, given_motions, hold, keyframes, references, timing, units
from .given_motions import SEEN, Followed

# Looks before a frame [frames]: what is mostly still on its way to the frame's value then gets there by a leap.
LOOK, MOST = 2.0**-8, 0.5
# A frame is looked at where the way to it is so many times as long as the way before or after.
STANDS_OUT = 3.0


def looked_for(scene: Any, followed: list[Followed], frames: np.ndarray) -> list[Followed]:
    """Joints as they were seen at whole frames (F,), and where they leap at the last sample before, too; the scene, at
    the first frame, is put back.
    """
    wanted = [
        _with_neighbours(np.flatnonzero(_stands_out(each) & _near(each)) + 1, len(frames))
        for each in followed
    ]
    if not any(len(each) for each in wanted):
        return followed
    items = [references.object_by_session_uid(each.uid) for each in followed]
    sources = [keyframes.source_of_joint(item) for item in items]
    sample = 1.0 / timing.samples(scene)
    values: list[list[Any]] = [[] for _ in followed]
    with hold.at_frame(scene, int(frames[0])):
        for k in sorted(set(np.concatenate(wanted).tolist())):
            for before in (sample, LOOK):
                at = frames[k] - before
                scene.frame_set(int(np.floor(at)), subframe=float(at % 1.0))
                for found, item, source, where in zip(values, items, sources, wanted):
                    if k in where:
                        found.append(given_motions.shown(item, source, f"{item.name} at frame {at:g}"))
    return [
        _with_leaps(each, where, given_motions.measured(scene, item, np.array(found)), frames, sample)
        if len(where)
        else each
        for each, item, where, found in zip(followed, items, wanted, values)
    ]


def told(each: Followed, q: np.ndarray, rows: np.ndarray) -> list[str]:
    """A line where a joint leaps, by its coordinates (R, n) at some of its rows (R,), while it is held."""
    places = [k for k in np.flatnonzero(_reached(each, rows)) if each.switched[rows[k]]]
    if not places:
        return []
    lie, transform = core.physics().lie, each.joint.transform
    changes = [lie.inverse(transform(q[k - 1])) @ transform(q[k]) for k in places]
    turns = [float(np.linalg.norm(lie.log(change)[:3])) for change in changes]
    ways = [float(np.linalg.norm(change[:3, 3])) for change in changes]
    most = int(np.argmax(np.maximum(turns, np.array(ways) / (each.length_scale or 1.0))))
    by = [f"{np.degrees(turns[most]):.3g}°"] if turns[most] > SEEN else []
    by += [units.told_length(ways[most])] if ways[most] > SEEN else []
    more = f", and at {len(places) - 1} more" if len(places) > 1 else ""
    text = f"{each.name} leaps by {' and '.join(by)} at frame {each.frames[rows[places[most]]]:g}{more}"
    return [
        f"{text}: its keys are stepped; it gets there within the last sample before, and what hangs on it is struck"
    ]


def times_of(each: Followed, rows: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Those of a joint's times (R,) at some of its rows that it reaches by a leap."""
    leaps: np.ndarray = times[rows][_reached(each, rows)]
    return leaps


def _reached(each: Followed, rows: np.ndarray) -> np.ndarray:
    """Which of some rows (R,) are reached by a leap from the one before them."""
    follows = np.diff(rows, prepend=-2) == 1
    reached: np.ndarray = each.leapt[rows] & follows
    return reached


def _parts(each: Followed, readings: Any, poses: Any) -> list[np.ndarray]:
    """What is keyed in ways of its own, each (R, k), in the joint's readings (R, n) or its poses (R, 4, 4)."""
    if each.readings is not None:
        return list(given_motions.unrolled(readings, each.periods).T[:, :, None])
    return [poses[:, :3, :3].reshape(-1, 9), poses[:, :3, 3]]


def _near(each: Followed) -> np.ndarray:
    """Whether a joint is held at either of the frames, from each to the next (F - 1,)."""
    near: np.ndarray = each.switched[1:] | each.switched[:-1]
    return near


def _with_neighbours(rows: np.ndarray, count: int) -> np.ndarray:
    """Rows (k,), and those next to them, of as many as there are; none is the first."""
    around = np.unique(np.concatenate([rows - 1, rows, rows + 1]))
    found: np.ndarray = around[(around > 0) & (around < count)]
    return found


def _stands_out(each: Followed) -> np.ndarray:
    """From which frame to the next one (F - 1,) a joint goes much farther than before or after."""
    found = np.zeros(len(each.frames) - 1, dtype=bool)
    for part in _parts(each, each.readings, each.poses):
        ways = np.linalg.norm(np.diff(part, axis=0), axis=1)
        around = np.concatenate([ways[:1], ways, ways[-1:]])
        if len(ways) < 2:
            around = np.zeros(len(ways) + 2)
        found |= ways > STANDS_OUT * np.minimum(around[:-2], around[2:]) + SEEN
    return found


def _with_leaps(
    each: Followed, where: np.ndarray, looks: np.ndarray, frames: np.ndarray, sample: float
) -> Followed:
    """A joint with the rows in which it leaps marked, and with rows for the last samples before those.

    Args:
        where: rows (k,) that were looked at. looks: what there was a sample, and shortly, before each (2 k, ...).
        sample: from one sample to the next [frames].
    """
    name = "poses" if each.readings is None else "readings"
    values, before, stepped = getattr(each, name), {}, set()
    for k, earlier, look in zip(where.tolist(), looks[::2], looks[1::2]):
        three, before[k] = np.array([values[k - 1], look, values[k]]), earlier
        if any(_is_leap(part) for part in _parts(each, three, three)):
            stepped.add(k)
    # what is stepped from frame to frame is a motion that was sampled, and not interpolated between the samples
    leapt = [k for k in sorted(stepped) if not stepped & {k - 1, k + 1}]
    if not leapt:
        return each
    each.leapt[leapt] = True
    if sample < 1.0:
        inserted = np.array([before[k] for k in leapt])
        setattr(each, name, np.insert(values, leapt, inserted, axis=0))
        for of_frame in ("switched", "weights"):
            rows = getattr(each, of_frame)
            setattr(each, of_frame, np.insert(rows, leapt, rows[np.array(leapt) - 1]))
        each.leapt = np.insert(each.leapt, leapt, False)
        each.frames = np.insert(each.frames, leapt, frames[leapt] - sample)
    return each


def _is_leap(part: np.ndarray) -> bool:
    """Whether what is (3, k) at a frame, just before the next and at the next goes most of the way at once."""
    whole, last = np.linalg.norm(part[2] - part[0]), np.linalg.norm(part[2] - part[1])
    return bool(last > MOST * whole and last > SEEN)
