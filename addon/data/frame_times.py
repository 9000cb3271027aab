"""Frames that a simulation covers and records, options and warnings of loops, and a clock for stages."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from bpy.types import Scene

from ..blender import physics_access, units
from ..blender.physics_access import model_error
from . import findings

# Speeds at a loop's seam that differ by more than this share of the fastest, and by more than this [m/s, rad/s].
JERK, SLOW = 0.1, 1e-3


def recorded_frames(first: float, last: float, samples: int) -> np.ndarray:
    """Frames (F,) that get keys, from one whole frame to another, with `samples` per frame."""
    return first + np.arange(int(last - first) * samples + 1) / samples


def frame_ends(scene: Scene) -> tuple[int, int]:
    """First and last frame that a bake covers."""
    settings = scene.condyle.simulation
    if not settings.use_scene_range:
        first, last = settings.frame_start, settings.frame_end
    elif scene.use_preview_range:
        first, last = scene.frame_preview_start, scene.frame_preview_end
    else:
        first, last = scene.frame_start, scene.frame_end
    return (scene.frame_current if scene.condyle.start.begin == "PLAYHEAD" else first), last


def frame_range(scene: Scene) -> np.ndarray:
    """Frames (F,) that a bake records, including samples between whole frames; ModelError if fewer than two."""
    first, last = frame_ends(scene)
    if last <= first and scene.condyle.start.begin == "PLAYHEAD":
        raise model_error(
            f"Begin: Playhead begins at frame {first}, {'at' if last == first else 'after'} the end of the "
            f"range, {last}: go to an earlier frame, or choose Begin: Range"
        )
    if last == first:
        raise model_error(f"the frame range has one frame only, {first}: a bake needs two or more")
    if last < first:
        raise model_error(f"the frame range is empty or reversed: from {first} to {last}")
    if scene.render.frame_map_old != scene.render.frame_map_new:
        raise model_error(
            f"time remapping ({scene.render.frame_map_old} to {scene.render.frame_map_new}) would show the baked keys "
            "at other frames; set both to 100"
        )
    return recorded_frames(first, last, samples(scene))


def step(scene: Scene) -> float:
    """The Time Step [s]; ModelError if it is not finite."""
    value = float(scene.condyle.simulation.time_step)
    if not np.isfinite(value):
        raise model_error(f"the Time Step is {value}: set it to some milliseconds")
    return value


def run_frames(scene: Scene, frames: np.ndarray) -> np.ndarray:
    """Whole frames that are simulated: those of the pre-roll, and of the recorded ones (F,)."""
    first = frames[0] - scene.condyle.start.preroll
    return np.arange(first, frames[-1] + 1.0)


def samples(scene: Scene) -> int:
    """Keys for each frame."""
    return int(scene.condyle.start.samples)


def part_of(arrays: dict[str, np.ndarray], rows: slice) -> dict[str, np.ndarray]:
    """Some samples of a result's arrays."""
    return {name: each[:, rows] if name == "rotations" else each[rows] for name, each in arrays.items()}


def at(frames: np.ndarray, whole: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Values (F, n) at frames (F,), interpolated linearly between the values at whole frames."""
    columns = [np.interp(frames, whole, column) for column in values.T]
    return np.array(columns).reshape(-1, len(frames)).T


def loop_options(scene: Scene, frames: np.ndarray) -> dict[str, Any] | None:
    """Keywords of `simulate_loop`; None without a loop.

    Raises:
        ModelError: there is a pre-roll too, or there are more frames to blend than in the loop.
    """
    settings = scene.condyle.start
    if not settings.loop:
        return None
    if settings.preroll:
        raise model_error("a loop's cycles replace the Pre-Roll; set Pre-Roll to 0, or turn off Loop")
    length = frames[-1] - frames[0]
    if settings.loop_blend >= length:
        raise model_error(f"Blend Frames is {settings.loop_blend}, but the loop has {length:g}: blend fewer")
    return {
        "most_cycles": settings.loop_cycles,
        "tolerance": 1e-3 * settings.loop_tolerance,
        "blend": settings.loop_blend / units.frames_per_second(scene),
    }


def loop_warnings(result: physics_access.Result, tolerance: float) -> list[findings.Finding]:
    """A finding for a loop that does not repeat itself, and either does not close or is closed only by the blend."""
    found = result.info.get("loop")
    if found is None:
        return []
    if found["settled"]:
        return _jerks(result, found)
    for kind, code in (("jump", "loop-open"), ("blended", "loop-blended")):
        metres, radians = found[f"position_{kind}"], found[f"angle_{kind}"]
        if max(metres, radians) > 1e-3 * tolerance:
            distance, angle = units.told_length(metres), float(np.degrees(radians))
            return [findings.about(None, code, cycles=found["cycles"], distance=distance, angle=angle)]
    return []


def _jerks(result: physics_access.Result, found: dict[str, Any]) -> list[findings.Finding]:
    """A finding for a motion that returns to its place with another speed, like a body that was thrown up."""
    times = np.diff(result.t)[:, None]
    away = np.linalg.norm(np.diff(result.poses[:, :, :3, 3], axis=0), axis=2) / times
    turned = np.linalg.norm(np.diff(result.poses[:, :, :3, :3], axis=0), axis=(2, 3)) / (np.sqrt(2.0) * times)
    speed, turn = found["speed_jump"], found["turn_speed_jump"]
    if speed <= JERK * away.max(initial=0.0) + SLOW and turn <= JERK * turned.max(initial=0.0) + SLOW:
        return []
    turning = float(np.degrees(turn))
    return [findings.about(None, "loop-speed", speed=units.told_length(speed), turning=turning)]


class Clock:
    """Seconds spent in each stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = now - self._last
        self._last = now
