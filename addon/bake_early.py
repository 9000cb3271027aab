"""Keys before a bake begins: a bake mutes the sliders at all frames, so what they showed is to be keyed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import bpy
import numpy as np

from . import actions, core, hold, references
from .references import Body, key_of
from .transforms import BAKED_THROUGH, LocalPoses, carriers, sample_matrices

Samples = Mapping[str, Mapping[str, np.ndarray]]


def lead(scene: Any, begin: int, channels: Sequence[actions.Channels], parents: np.ndarray) -> None:
    """Give the channels of what sliders move, and of all that hangs together with it, rows before those of a bake.

    They show what is to be seen there now, from where the scene begins, or from behind the last frame at which keys
    cannot hold it. The scene is without its bake.

    Args:
        begin: the bake's first frame. channels: of each body of the model. parents: index of each body's parent (nb,),
            -1 for the world.
    """
    bodies = [entry.body for entry in channels]
    tied = _tied(scene, bodies, parents)
    led = [entry for entry in channels if entry.body.object.name_full in tied]
    first = min(
        scene.frame_start, scene.frame_preview_start if scene.use_preview_range else scene.frame_start
    )
    if not led or first >= begin:
        return
    with hold.at_frame(scene, begin):
        items = [body.object for body in bodies] + carriers(key_of(body) for body in bodies)
        early = np.unique([first, begin - 1]) if _stand_still(items) else np.arange(first, begin)
        samples = sample_matrices(scene, {item.name_full: item for item in items}.values(), early)
        start, rows = _longest(scene, early, bodies, led, samples)
    for entry, row in zip(led, rows):
        entry.lead(early[start:], row)


def _tied(scene: Any, bodies: Sequence[Body], parents: np.ndarray) -> set[str]:
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
    tied = {body.object.name_full for body in bodies if actions.is_driven(body)}
    grown = True
    while grown:
        more = {name for link in links if not tied.isdisjoint(link) for name in link} - tied
        grown = bool(more)
        tied |= more
    return tied


def _longest(
    scene: Any, early: np.ndarray, bodies: Sequence[Body], led: Sequence[actions.Channels], samples: Samples
) -> tuple[int, list[actions.Rows]]:
    """Index of the first of the frames (E,) from which on keys can hold all that is shown, and the rows from there.

    What begins later can be had where more can, so halves are tried.
    """
    works, fails, start = len(early), -1, 0
    found: list[actions.Rows] = []
    while works - fails > 1:
        try:
            found = _rows(scene, early[start:], bodies, led, _later(samples, start))
            works = start
        except (core.physics().CondyleError, np.linalg.LinAlgError, ValueError):
            fails = start
        start = (works + fails) // 2
    return works, found


def _later(samples: Samples, start: int) -> Samples:
    return {name: {key: rows[start:] for key, rows in row.items()} for name, row in samples.items()}


def _rows(
    scene: Any, early: np.ndarray, bodies: Sequence[Body], led: Sequence[actions.Channels], samples: Samples
) -> list[actions.Rows]:
    """Rows (E, ...) of the channels that show, without sliders, what the samples show; ModelError or LinAlgError."""
    worlds = {}
    for body in bodies:
        row = samples[body.object.name_full]
        worlds[key_of(body)] = row[""] @ row[f"pose:{body.bone}"] if body.bone else row[""]
    local = LocalPoses(scene, early, worlds, samples=samples)
    shape = (len(early), 4, 4)
    return [entry.early_rows(np.broadcast_to(local.basis(entry.body), shape)) for entry in led]


def _stand_still(items: Iterable[Any]) -> bool:
    """Whether nothing that moves objects with time can be found: on them, on what carries them, and on what their
    constraints and drivers look at.
    """
    seen: set[int] = set()
    left = list(items)
    while left:
        item = left.pop()
        if item.as_pointer() in seen:
            continue
        seen.add(item.as_pointer())
        owners = (item, *(item.pose.bones if item.pose is not None else ()))
        constraints = [constraint for owner in owners for constraint in owner.constraints]
        drivers = _drivers(item)
        if drivers is None or item.rigid_body is not None or not _is_carried_plainly(item):
            return False
        if any(not constraint.name.startswith("Condyle") for constraint in constraints):
            return False
        variables = [variable for driver in drivers for variable in driver.variables]
        looked = [target.id for variable in variables for target in variable.targets]
        if any(not isinstance(each, bpy.types.Object | None) for each in looked):
            return False
        looked += [item.parent, *(getattr(constraint, "target", None) for constraint in constraints)]
        left += [each for each in looked if each is not None]
    return True


def _is_carried_plainly(item: Any) -> bool:
    return item.parent is None or (item.parent_type in BAKED_THROUGH and item.parent.type != "CURVE")


def _drivers(item: Any) -> list[Any] | None:
    """Drivers of an object and of its data; None: there are keys too, or a driver that may look at the time."""
    found = []
    for block in (item, item.data):
        data = getattr(block, "animation_data", None)  # an Empty may show an image, which cannot be animated
        if data is None:
            continue
        if data.action is not None or data.nla_tracks:
            return None
        found += [curve.driver for curve in data.drivers]
    for driver in found:
        if any(variable.type == "CONTEXT_PROP" for variable in driver.variables):
            return None
        plain = driver.is_simple_expression and "frame" not in driver.expression
        if driver.type == "SCRIPTED" and not plain:
            return None
    return found
