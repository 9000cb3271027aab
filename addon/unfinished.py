"""What was computed of a bake until its simulation went wrong: kept while Blender runs, to be baked all the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import session, timing

#: what is farther away [m] is of no use as a key
FARTHEST = 1e5


@dataclass(frozen=True)
class Unfinished:
    """A bake that went wrong: of which scene, by session uid, what `tasks` had made ready for it and fitted, and what
    came back for these frames (F,).
    """

    scene_uid: int
    frames: np.ndarray
    ready: Any
    fitted: dict[int, Any]
    answer: Any


def keep(scene_uid: int, frames: np.ndarray, ready: Any, fitted: dict[int, Any], error: Exception) -> None:
    """Note what an error brings along for the frames (F,) that were asked for, if it is a motion."""
    answer = getattr(error, "partial", None)
    # a run that looks for a loop ends anywhere in its cycles, which belong to no frames
    if answer is None or "loop" in ready.options:
        return
    asked = round(ready.options["duration"] / ready.options["record_interval"]) + 1
    rolled = asked - len(frames)
    far = ~(np.abs(answer.arrays["poses"]) <= FARTHEST).all(axis=(1, 2, 3))
    count = (int(far.argmax()) if far.any() else len(far)) - rolled
    if count >= 2:
        seen = timing.first(answer.arrays, rolled + count)
        answer = replace(answer, arrays=timing.trimmed(seen, count))
        session.unfinished = Unfinished(scene_uid, frames[:count], ready, fitted, answer)


def of(scene: Any) -> Unfinished | None:
    """What was kept for a scene."""
    kept = session.unfinished
    return kept if kept is not None and kept.scene_uid == scene.session_uid else None
