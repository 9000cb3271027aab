"""What keyed sliders and children say between frames: joints that follow them do so in whatever rate the scene plays,
and as strongly as the keys of their weights say there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import (
    actions,
    bake_keys,
    channels,
    curve_values,
    follow_weights,
    given_motions,
    keyframes,
    leaps,
    references,
    timing,
)
from .curve_values import SEEN
from .features.joints.properties import slider_names
from .given_motions import Followed

# Looks a second: with these a pendulum that hangs on a joint with a key twice a second is 1.5e-5 rad off, and 1e-3
# with 24 of them (test_between_frames).
RATE = 120.0
# Looks from a frame to the next by which leaps are told from what begins to move.
LEAST_LOOKS = 8


@dataclass(frozen=True)
class _Keyed:
    """What a joint follows, by curves alone: "readings" or "poses", what it shows at frames (k,), and the curves."""

    name: str
    shown: Callable[[np.ndarray], np.ndarray]
    curves: list[Any]


def positions(frames: np.ndarray, fps: float) -> np.ndarray:
    """Rising whole frames (F,), each the next one's neighbour, with `RATE` or more looks a second (L,)."""
    return timing.recorded_frames(frames[0], frames[-1], _looks(fps))


def _looks(fps: float) -> int:
    """From each frame to the next."""
    return max(int(np.ceil(RATE / fps)), 1)


def looked_at(scene: Any, followed: list[Followed], frames: np.ndarray, fps: float) -> list[Followed]:
    """Joints as they were seen at whole frames (F,), and what the curves that lead them and those of their weights say
    between those, at `RATE` or more often. Where something has a key at both frames its motion was sampled: there it
    goes as smoothly as it can. The scene is at the first of the frames.
    """
    count, looks = _looks(fps), positions(frames, fps)
    return [_with_looks(scene, each, count, looks) for each in followed]


def _with_looks(scene: Any, each: Followed, count: int, looks: np.ndarray) -> Followed:
    item = references.object_by_session_uid(each.uid)
    each.strength = follow_weights.between_frames(item, each.strength, looks)
    found = (_sliders if each.readings is not None else _child)(scene, item, each)
    if count < 2 or not any(curve is not None for curve in found.curves):
        return each
    whole = np.flatnonzero(each.frames % 1.0 == 0.0)
    seen, said = getattr(each, found.name), found.shown(each.frames[whole])
    # what else has a say in it, as a driver, limits or constraints, is seen at frames alone
    if np.abs(said - seen[whole]).max() > SEEN * max(1.0, np.abs(said).max()):
        return each
    wide = _interpolated(each, curve_values.keyed(found.curves))
    at = each.frames[wide - 1][:, None] + np.arange(count + 1) / count
    shown = found.shown(at.ravel()).reshape(*at.shape, *said.shape[1:])
    smooth = ~_leaps(each, found, at, shown)
    inside, values = at[smooth, 1:-1], shown[smooth, 1:-1]
    before = np.repeat(wide[smooth], inside.shape[1])
    values = values.reshape(len(before), *said.shape[1:])
    added = leaps.Rows(before, inside.ravel(), values, np.zeros(len(before), dtype=bool), drawn=True)
    return leaps.with_rows(each, found.name, added)


def _sliders(scene: Any, item: Any, each: Followed) -> _Keyed:
    """The curves of a joint's sliders."""
    names = slider_names(item.condyle.joint)
    curves = [curve_values.alone(item, f'["{name}"]') for name in names]
    still = [float(item[name]) for name in names]

    def shown(frames: np.ndarray) -> np.ndarray:
        return given_motions.measured(scene, item, curve_values.columns(curves, still, frames))

    return _Keyed("readings", shown, curves)


def _child(scene: Any, item: Any, each: Followed) -> _Keyed:
    """The curves of the child's own channels: they move it as it was seen, where nothing else moves it in the joint."""
    body = keyframes.source_of_joint(item).child
    owner, mode = body.owner, body.owner.rotation_mode
    turn = channels.rotation_path(mode)
    still = [*owner.location, *getattr(owner, turn)]
    paths = [("location", k) for k in range(3)] + [(turn, k) for k in range(len(still) - 3)]
    curves = [curve_values.alone(body.object, f"{body.path_prefix}{path}", k) for path, k in paths]
    metres = bake_keys.metres_of(body, scene)
    delta = np.eye(3) if body.bone else np.array(actions.delta_rotation(body.object, mode))

    def own(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        values = curve_values.columns(curves, still, frames)
        return metres * values[:, :3], delta @ channels.matrices(values[:, 3:], mode)

    places, turns = own(each.frames[:1])
    frame = each.poses[0, :3, :3] @ turns[0].T
    origin = each.poses[0, :3, 3] - frame @ places[0]

    def shown(frames: np.ndarray) -> np.ndarray:
        places, turns = own(frames)
        found = np.tile(np.eye(4), (len(frames), 1, 1))
        found[:, :3, :3], found[:, :3, 3] = frame @ turns, places @ frame.T + origin
        return found

    return _Keyed("poses", shown, curves)


def _leaps(each: Followed, found: _Keyed, at: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """In which of some stretches from frame to frame (k,) what is shown (k, looks, ...) at frames (k, looks) leaps:
    what goes smoothly, even from rest, does not go most of its way from one of many looks to the next.
    """
    leapt = _at_once(each, shown)
    finer = int(np.ceil(LEAST_LOOKS / (at.shape[1] - 1)))
    if finer > 1 and leapt.any():
        begin, count = at[leapt, 0], finer * (at.shape[1] - 1)
        more = begin[:, None] + np.arange(count + 1) / count
        leapt[leapt] = _at_once(each, found.shown(more.ravel()).reshape(*more.shape, *shown.shape[2:]))
    return leapt


def _at_once(each: Followed, shown: np.ndarray) -> np.ndarray:
    """In which of some stretches (k,) most of the way of something is from one look (k, looks, ...) to the next."""
    found = np.zeros(len(shown), dtype=bool)
    for part in leaps.parts(each, shown):
        ways = np.linalg.norm(np.diff(part, axis=1), axis=2)
        found |= ways.max(axis=1) > leaps.MOST * ways.sum(axis=1) + SEEN
    return found


def _interpolated(each: Followed, keys: list[np.ndarray]) -> np.ndarray:
    """Rows (k,) that are reached over a whole frame, not by a leap or a slider that starts anew after a whole turn, and
    not where something has a key, of these frames, at both of its ends.
    """
    begin, end = each.frames[:-1], each.frames[1:]
    wide = (begin % 1.0 == 0.0) & (end - begin == 1.0) & ~each.leapt[1:]
    if each.readings is not None:
        turned = (each.periods > 0.0) & (np.abs(np.diff(each.readings, axis=0)) > 0.5 * each.periods)
        wide &= ~turned.any(axis=1)
    for own in keys:
        wide &= ~(np.isin(begin, own) & np.isin(end, own))
    found: np.ndarray = np.flatnonzero(wide) + 1
    return found
