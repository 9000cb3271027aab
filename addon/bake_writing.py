"""A motion of a scene's model -> keys, shapes and figures in the scene: all is checked before anything is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from . import (
    actions,
    bake_early,
    bake_figures,
    bake_keys,
    bake_targets,
    bakeable,
    core,
    hold,
    kept_texts,
    muscle_bakes,
    references,
    statistics,
    units,
)
from .bake_keys import Kept
from .references import key_of
from .transforms import LocalPoses

#: degrees off between frames that are told
MISSED = 0.5


@dataclass(frozen=True)
class Written:
    """What was written: names of the actions, a line about keys that were left out, or an empty text, and what the
    animator may not expect, one line each.
    """

    actions: list[str]
    told: str
    warnings: list[str]


def write(
    scene: Any,
    frames: np.ndarray,
    read: Any,
    result: Any,
    drawn: Sequence[muscle_bakes.Shown] = (),
    inputs: Any = None,
    between: Callable[[], None] | None = None,
) -> Written:
    """Free the bake in place and write this motion, as the scene's output settings say.

    Args:
        frames: rising positions (F,) in frames. read: the `SceneModel`. result: of physics, at F times.
        drawn: what is to be seen of the muscles. inputs: the `Table` that drove the model, for figures of torques.
        between: called when the old bake is gone and the new one is not there yet.

    Raises:
        ModelError: why it cannot be written; nothing has been changed.
    """
    output, kept = bake_keys.output_of(scene), Kept()
    figures = bake_figures.figures(scene, read, result, drawn, output, inputs)
    with hold.without_bake(scene):
        channels = _channels_of(scene, frames, read, result)
        for item in [*(entry.body.object for entry in channels), *(figure.item for figure in figures)]:
            bake_targets.check(item, output.target)
        muscle_bakes.check(scene, frames, list(drawn), [entry.body.object for entry in channels])
    lost = broken(scene)
    free(scene)
    if between is not None:
        between()
    bake_early.lead(scene, int(frames[0]), channels, read.model.parent)  # with sliders as a fit has left them
    more, names = bake_figures.keyed(frames, figures, output)
    made = actions.write(scene, frames, channels, kept, more)
    bake_figures.add_properties(names)
    muscle_bakes.write(scene, frames, list(drawn))
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    told = bake_keys.described(kept)
    scene.condyle.simulation.output.told = told
    return Written([action.name for action in made], told, [*lost, *_missed(frames, channels)])


def _missed(frames: np.ndarray, channels: list[actions.Channels]) -> list[str]:
    """One line for each body whose rotation mode cannot follow it between the keys."""
    told = []
    for entry in channels:
        worst = float(np.degrees(entry.missed.max(initial=0.0)))
        if worst > MISSED:
            mode = "Axis Angle" if entry.mode == "AXIS_ANGLE" else f"{entry.mode} Euler"
            told.append(
                f"{entry.body.name}: {mode} angles swing around near frame {frames[entry.missed.argmax()]:g}, so that "
                f"between frames (in motion blur) it is up to {worst:.2g}° off; choose Quaternion rotation for it"
            )
    return told


def free(scene: Any) -> int:
    """Take every bake of the scene away and put back exactly what was; returns how many objects had one."""
    if bake_targets.is_put(scene):
        bake_targets.check_tweaked(scene, repr(scene.name))
    count = actions.free(scene) + muscle_bakes.free(scene)
    if bake_targets.is_put(scene):
        bake_targets.free(scene)
    _forget(scene)
    return count


def free_and_forget(scene: Any) -> int:
    """As `free`, and clear what the bake told of itself, in other scenes with the same bodies, too."""
    baked = [each for each in bpy.data.scenes if each.library is None and is_baked(each)]
    count = free(scene)
    for each in baked:
        if not is_baked(each):
            _forget(each)
            statistics.forget(each)
    return count


def _forget(scene: Any) -> None:
    """Clear what a scene's bake has read, and what was told of its keys."""
    for name in ("read", "told"):
        scene.condyle.simulation.output.property_unset(name)


def is_baked(scene: Any) -> bool:
    """Whether anything of a scene shows a bake."""
    if bake_targets.is_put(scene):
        return True
    return any(actions.is_baked(item) or muscle_bakes.is_baked(item) for item in scene.objects)


def broken(scene: Any) -> list[str]:
    """A line for each text that the bake in place has kept and that cannot be read."""
    told = []
    read = scene.condyle.simulation.output.read
    if read and kept_texts.prints(read) is None:
        told.append(f"{scene.name}: what its bake was made of cannot be read any more: bake again")
    for item in (scene, *(each for each in scene.objects if actions.is_baked(each))):
        record = item.condyle.bake
        lost = []
        if kept_texts.names(record.paths) is None:
            lost.append("which channels it has keyed: the baked action stays in the file")
        if kept_texts.names(record.figures) is None:
            lost.append("which custom properties it has added: they stay")
        if kept_texts.called(record.bones) is None:
            lost.append("which bones it has keyed: earlier actions do not follow new names of bones")
        told += [f"{item.name}: its bake does not know any more {each}, when it is freed" for each in lost]
    return told


def _channels_of(scene: Any, frames: np.ndarray, read: Any, result: Any) -> list[actions.Channels]:
    """What each body's keys shall be, the scene being without its bake; ModelError before anything is changed."""
    if len(result.poses) != len(frames):
        raise core.model_error(f"the simulation gave {len(result.poses)} samples for {len(frames)} frames")
    with hold.at_frame(scene, int(frames[0])):
        bodies, worlds = [], {}
        for index, entry in enumerate(read.bodies):
            body = references.find_body(entry.handle, entry.name)
            bakeable.check(body)
            units.split_scale(body.matrix, body.name, body.owner)  # it may have been scaled since it was read
            world = units.to_blender(result.poses[:, index], scene)
            world[:, :3, :3] *= entry.scale
            bodies.append(body)
            worlds[key_of(body)] = world
        local = LocalPoses(scene, frames, worlds)
        return [actions.Channels(body, _all_frames(local.basis(body), len(frames)), scene) for body in bodies]


def _all_frames(matrices: np.ndarray, count: int) -> np.ndarray:
    return np.broadcast_to(matrices, (count, 4, 4))
