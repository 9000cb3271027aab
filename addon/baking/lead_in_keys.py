"""Keys before a bake begins: a bake mutes the sliders at all frames, so what they showed is to be keyed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bpy.types import Scene

from ..baked import temporarily
from ..blender import physics_access
from ..data import references
from ..data.references import Body, key_of
from ..reading import stepper
from ..reading.own_animation import Stillness
from . import channels as channels_
from .local_matrices import LocalPoses, Samples, carriers


def first(scene: Scene) -> int:
    """The frame at which a scene begins, in its range or the preview's."""
    return min(scene.frame_start, scene.frame_preview_start if scene.use_preview_range else scene.frame_start)


def lead(scene: Scene, begin: int, channels: Sequence[channels_.Channels], parents: Sequence[int]) -> None:
    """Give the channels of what sliders move, and of all that hangs together with it, rows before those of a bake.

    They show what is to be seen there now, from where the scene begins, or from behind the last frame at which keys
    cannot hold it.

    Args:
        scene: a snapshot of the scene without its bake, at the bake's first frame. begin: that frame.
        channels: of each simulated body. parents: number of each body's parent among them, -1 for the world.
    """
    bodies = [references.find_body_in(scene, entry.body.handle(), entry.body.name) for entry in channels]
    tied = _tied(scene, bodies, parents)
    led = [entry for entry in channels if entry.body.object.name_full in tied]
    if not led:
        return
    items = [body.object for body in bodies] + carriers(scene, map(key_of, bodies))
    early = np.arange(first(scene), begin)
    early = early[[0, -1][: len(early)]] if Stillness().holds(items) else early
    samples = stepper.sample_matrices(scene, {item.name_full: item for item in items}.values(), early)
    start, rows = _longest(scene, early, bodies, led, samples)
    for entry, row in zip(led, rows):
        entry.lead(early[start:], row)


def _tied(scene: Scene, bodies: Sequence[Body], parents: Sequence[int]) -> set[str]:
    """Names of the objects whose bodies sliders move, or that joints or parenting connect with such.

    The others keep what they have before a bake; one of these that did not stay where it was would be torn off.
    """
    names = [body.object.name_full for body in bodies]
    links = [(name, names[index]) for name, index in zip(names, parents) if index >= 0]
    for item in references.loop_joints(scene):  # which the model's tree does not have
        settings = item.condyle.joint
        child, parent = references.resolve(settings.child), references.resolve(settings.parent)
        if child is not None and parent is not None:
            links.append((child.object.name_full, parent.object.name_full))
    for body in bodies:
        above = body.object.parent
        while above is not None:
            links.append((body.object.name_full, above.name_full))
            above = above.parent
    known = set(names)
    links = [(one, other) for one, other in links if one != other and {one, other} <= known]
    tied = {
        body.object.name_full
        for body in bodies
        if any(not each.mute for each in temporarily.own_constraints(body))
    }
    grown = True
    while grown:
        more = {name for link in links if not tied.isdisjoint(link) for name in link} - tied
        grown = bool(more)
        tied |= more
    return tied


def _longest(
    scene: Scene,
    early: np.ndarray,
    bodies: Sequence[Body],
    led: Sequence[channels_.Channels],
    samples: Samples,
) -> tuple[int, list[channels_.Rows]]:
    """Index of the first of the frames (E,) from which on keys can hold all that is shown, and the rows from there.

    What begins later can be had where more can, so halves are tried.
    """
    works, fails, start = len(early), -1, 0
    found: list[channels_.Rows] = []
    while works - fails > 1:
        try:
            later = {name: {key: rows[start:] for key, rows in row.items()} for name, row in samples.items()}
            found = _rows(scene, early[start:], bodies, led, later)
            works = start
        except (physics_access.physics().CondyleError, np.linalg.LinAlgError, ValueError):
            fails = start
        start = (works + fails) // 2
    return works, found


def _rows(
    scene: Scene,
    early: np.ndarray,
    bodies: Sequence[Body],
    led: Sequence[channels_.Channels],
    samples: Samples,
) -> list[channels_.Rows]:
    """Rows (E, ...) of the channels that show, without sliders, what the samples show; ModelError or LinAlgError."""
    worlds = {}
    for body in bodies:
        row = samples[body.object.name_full]
        worlds[key_of(body)] = row[""] @ row[f"pose:{body.bone}"] if body.bone else row[""]
    local = LocalPoses(scene, early, worlds, samples=samples)
    shape = (len(early), 4, 4)
    return [entry.early_rows(np.broadcast_to(local.basis(entry.body), shape)) for entry in led]
