"""What a bake keys: every n-th frame or fewer, and how far the keyed motion is from the simulated one then."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..curves import fit_between_keys, reduction
from ..curves.fcurve_arrays import KeyedPath
from ..curves.slopes import Slopes


@dataclass(frozen=True)
class Output:
    """How a bake is written.

    Attributes:
        target: NEW, CURRENT or STRIP. every: frames from key to key at most.
        reduce: whether to leave out keys that are not needed within `distance` [m] and `angle` [rad].
        extras: of COORDINATES, TORQUES, ENERGY, MUSCLES.
    """

    target: str = "NEW"
    every: int = 1
    reduce: bool = False
    distance: float = 0.0
    angle: float = 0.0
    extras: frozenset[str] = frozenset()

    @property
    def is_full(self) -> bool:
        """Whether every frame gets a key."""
        return self.every <= 1 and not self.reduce


@dataclass
class Kept:
    """How many keys of how many were written, and how far bodies are off at most: [m] and [rad], against the full
    motion in the axes of what carries them.
    """

    keys: int = 0
    samples: int = 0
    distance: float = 0.0
    angle: float = 0.0

    def count(self, keys: int, samples: int) -> None:
        self.keys += keys
        self.samples += samples


def keyed(
    frames: np.ndarray, channels: Sequence[Any], output: Output, kept: Kept
) -> Iterator[list[KeyedPath]]:
    """Keys of the channels (`channels.Channels`) of each body at frames (F,); `kept` counts what is left out."""
    shape(frames, [entry for entry in channels if not entry.slopes])
    for entry in channels:
        yield _keyed(frames, entry, output, kept)


def shape(frames: np.ndarray, channels: Sequence[Any]) -> None:
    """Find the slopes of channels at frames (F,), and curves where it is known what they are inside; all paths of a
    width at once.
    """
    late = [[rows[-len(frames) :] for _, rows in entry.paths()] for entry in channels]
    of_bake = reduction.slopes_of(frames, late)
    paths: dict[int, list[tuple[int, int]]] = {}
    for number, entry in enumerate(channels):
        for place, seen in enumerate(entry.inside):
            if len(seen.rows):
                paths.setdefault(late[number][place].shape[1], []).append((number, place))
    for own in paths.values():
        values = np.array([late[number][place] for number, place in own])
        slopes = [of_bake[number][place] for number, place in own]
        inside = [channels[number].inside[place] for number, place in own]
        for (number, place), made in zip(own, fit_between_keys.fitted(values, slopes, inside)):
            of_bake[number][place] = made
    for entry, found in zip(channels, of_bake):
        entry.slopes = found


def _keyed(frames: np.ndarray, channels: Any, output: Output, kept: Kept) -> list[KeyedPath]:
    """Keys of one body's paths at the frames (F,) of the bake. Its early frames all get keys, for they are not of the
    simulation.
    """
    group, early, paths, of_bake = channels.group, channels.early, channels.paths(), channels.slopes
    found, count = [], len(early)
    (of_early,) = reduction.slopes_of(early, [[rows[:count] for _, rows in paths]])
    if channels.inside:
        _see_missed(channels, of_bake[-1])
    for (path, rows), earlier, slopes in zip(paths, of_early, of_bake):
        before, values = rows[:count], rows[count:]
        keys = np.arange(len(frames))
        if len(frames) > 2 and not output.is_full:
            keys = _chosen(frames, values, slopes, path.endswith(channels.path), channels, output, kept)
        kept.count(len(keys), len(frames))
        positions, kept_rows = np.concatenate([early, frames[keys]]), np.concatenate([before, values[keys]])
        together = slopes.chosen(keys).behind(earlier)
        found.append(KeyedPath(path, group, positions, kept_rows, together))
    return found


def _see_missed(channels: Any, slopes: Slopes) -> None:
    """Know by how much rotations miss what is halfway where that was seen, and not foreseen from keys alone."""
    if not channels.missed.any():
        return
    seen, keys = channels.inside[-1], np.arange(float(len(channels.rotation)))
    near = reduction.cubic(keys, channels.rotation, slopes, seen.rows + 0.5)
    off = reduction.rotation_errors(channels.mode, seen.values[:, seen.values.shape[1] // 2], near)
    channels.missed[seen.rows] = np.minimum(channels.missed[seen.rows], off)


def _chosen(
    frames: np.ndarray,
    values: np.ndarray,
    slopes: Slopes,
    turns: bool,
    channels: Any,
    output: Output,
    kept: Kept,
) -> np.ndarray:
    """Indices of the frames that get a key, for places or (`turns`) rotations."""
    at = reduction.samples(frames, reduction.places_of(slopes))
    exact = reduction.cubic(frames, values, slopes, at)
    metres = 0.0 if turns else channels.metres

    def error(keys: np.ndarray) -> np.ndarray:
        near = reduction.cubic(frames[keys], values[keys], slopes.chosen(keys), at)
        if turns:
            return reduction.rotation_errors(channels.mode, exact, near)
        return metres * np.linalg.norm(near - exact, axis=1)

    keys = reduction.thinned(frames, output.every)
    if output.reduce:
        keys = reduction.reduced(keys, error, output.angle if turns else output.distance)
    worst = float(error(keys).max())
    if turns:
        kept.angle = max(kept.angle, worst)
    else:
        kept.distance = max(kept.distance, worst)
    return keys


def shapes_kept(frames: np.ndarray, points: np.ndarray, output: Output, metres: float) -> np.ndarray:
    """Indices of the frames (F,) at which a muscle's points (F, n, 3) get a shape key; straight lines between them."""
    keys = reduction.thinned(frames, output.every)
    if not output.reduce or len(frames) < 3:
        return keys
    flat = points.reshape(len(points), -1)
    at = reduction.samples(frames)
    exact = reduction.straight(frames, flat, at).reshape(len(at), -1, 3)

    def error(chosen: np.ndarray) -> np.ndarray:
        found = reduction.straight(frames[chosen], flat[chosen], at).reshape(exact.shape)
        return metres * np.linalg.norm(found - exact, axis=2).max(axis=1)

    return reduction.reduced(keys, error, output.distance)


def thinned_path(path: str, group: str, frames: np.ndarray, values: np.ndarray, output: Output) -> KeyedPath:
    """Keys of a figure (F,) that is to be seen in the Graph Editor: at every n-th frame."""
    keys = reduction.thinned(frames, output.every)
    column = values[:, None]
    ((slopes,),) = reduction.slopes_of(frames, [[column]])
    return KeyedPath(path, group, frames[keys], column[keys], slopes.chosen(keys))


def described(kept: Kept) -> str:
    """A line for people; empty where nothing was left out."""
    if kept.keys >= kept.samples:
        return ""
    return (
        f"{kept.keys:,} of {kept.samples:,} keys kept, off by at most {1e3 * kept.distance:.2g} mm and "
        f"{np.degrees(kept.angle):.2g}°"
    )
