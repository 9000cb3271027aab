"""What was computed of a bake until its simulation went wrong: kept while Blender runs, to be baked all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from bpy.types import Scene

from ..animation.scene_model import SceneModel
from ..blender import physics_access, session, units
from ..data import frame_times
from ..reading import scene as scene_to_model
from ..reading import stepper

#: what is farther away [m] is of no use as a key
FARTHEST = 1e5
#: what hangs elsewhere than it was simulated by more than this [m, rad, share of the scale] is not where it was
MOVED = 1e-5


@dataclass(frozen=True)
class Unfinished:
    """A bake that went wrong: of which scene, by session uid, what `bake` had made ready for it and fitted, and what
    came back for these frames (F,); length_scale: metres in one Blender unit then.
    """

    scene_uid: int
    length_scale: float
    frames: np.ndarray
    ready: Any
    fitted: dict[int, Any]
    answer: Any


def keep(scene: Scene, frames: np.ndarray, ready: Any, fitted: dict[int, Any], error: Exception) -> None:
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
        seen = frame_times.part_of(answer.arrays, slice(rolled + count))
        answer = replace(answer, arrays=frame_times.part_of(seen, slice(-count, None)))
        scale = units.length_scale(scene)
        session.unfinished = Unfinished(scene.session_uid, scale, frames[:count], ready, fitted, answer)


def of(scene: Scene) -> Unfinished | None:
    """What was kept for a scene."""
    kept = session.unfinished
    return kept if kept is not None and kept.scene_uid == scene.session_uid else None


def why_not(scene: Scene, kept: Unfinished) -> str:
    """Why what was kept can certainly not be baked now; empty where nothing is known against it. Costs nothing."""
    now = units.length_scale(scene)
    if now == kept.length_scale:
        return ""
    return (
        f"The scene's Unit Scale was {kept.length_scale:g} when this was simulated and is {now:g} now: set it back, or "
        "bake again"
    )


def check(scene: Scene, kept: Unfinished) -> None:
    """ModelError where the scene is no longer put together as it was simulated, so that bodies would be torn apart."""
    refused = why_not(scene, kept)
    if refused:
        raise physics_access.model_error(refused)
    curves = {uid: report.curve for uid, report in kept.fitted.items()}
    with stepper.unbaked(scene.session_uid, int(kept.ready.frames[0])) as view:
        now = scene_to_model.read(view, curves, kept.ready.read.followed)
    places = dict(_places(now))
    for handle, (name, scale, frames) in _places(kept.ready.shot.read):
        found = places.get(handle)
        if found is None:
            raise physics_access.model_error(
                f"{name} was simulated, but by this name no joint moves anything now: bake again"
            )
        if abs(found[1] - scale) > MOVED * scale or np.abs(found[2] - frames).max() > MOVED:
            raise physics_access.model_error(
                f"{name} was simulated in another place or size: what it hangs on was moved, turned or scaled since; "
                "put it back, or bake again"
            )


def _places(read: SceneModel) -> Iterator[tuple[Any, tuple[str, float, np.ndarray]]]:
    """Of each body of a model: its handle; its name, its scale, and where its joint is in its parent and it in that."""
    for entry in read.bodies:
        body = read.model.bodies[entry.index]
        yield entry.handle, (entry.name, entry.scale, np.array([body.joint_in_parent, body.body_in_joint]))
