"""A motion of a scene's model -> keys, shapes and figures in the scene: all is checked before anything is changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Action, Object, Scene

from ..animation.scene_model import SceneModel
from ..baked import channels_back as actions
from ..baked import targets, temporarily
from ..blender import compute_process, physics_access, units
from ..curves.fcurve_arrays import KeyedPath
from ..data import findings, references, schema, stored_texts
from ..data.references import Body
from ..reading import conflicts, stepper
from . import body_channels, keys, lead_in_keys, mesh_caches, muscles, restoring
from . import channels as channels_
from . import figures as bake_figures
from .keys import Kept, Output

#: degrees off between frames that are told
MISSED = 0.5
#: what is stored of a loop
LOOP = {"cycles", "settled", "position_jump", "angle_jump", "speed_jump", "turn_speed_jump"}
#: kept among the fingerprints of a scene whose bodies another scene has baked since
ELSEWHERE = "Motion, baked in another scene,"


@dataclass(frozen=True)
class Written:
    """What was written: names of the actions, a line about keys that were left out, or an empty text, and what the
    animator may not expect. view: the snapshot of the scene right before. edited: whether what the next bake reads is
    another by now: bones were disconnected or connected, which rounds their rest poses, or an action left its place.
    """

    actions: list[str]
    told: str
    warnings: list[findings.Finding]
    view: Scene
    edited: bool


def write(
    scene: Scene,
    frames: np.ndarray,
    read: SceneModel,
    result: physics_access.Result,
    drawn: muscles.Drawn | None = None,
    inputs: physics_access.Table | None = None,
    between: Callable[[], None] | None = None,
    inside: physics_access.Between | None = None,
    view: Scene | None = None,
    channels: Sequence[channels_.Channels] | None = None,
) -> Written:
    """Free the bake in place and write this motion, as the scene's output settings say.

    Args:
        frames: rising positions (F,) in frames. read: the `SceneModel`. result: of physics, at F times.
        drawn: what is to be seen of the muscles; None: there are none.
        inputs: the `Table` that drove the model, for figures of torques.
        between: called when the old bake is gone and the new one is not there yet.
        inside: what the motion does between whole frames (`Between`); None: nothing is known.
        view: a snapshot of the scene as it is now, without its bake, at the first frame; None: it is taken.
        channels: what `body_channels.of_motion` found with that snapshot; None: it is asked.

    Raises:
        ModelError: why it cannot be written; nothing has been changed.
    """
    begin, kept = int(frames[0]), Kept()
    if view is None:
        with stepper.unbaked(scene.session_uid, begin) as view:
            pass
    output, shown = channels_.output_of(view), muscles.shown(view, read, drawn)
    figures = bake_figures.figures(view, read, result, shown, output, inputs)
    if channels is None:
        for entry in read.bodies:
            conflicts.check(references.find_body_in(view, entry.handle, entry.name))
        channels, _ = compute_process.run(body_channels.of_motion(view, frames, read, result, inside))
    for item in [*(entry.body.object for entry in channels), *(figure.item for figure in figures)]:
        conflicts.check_target(item, output.target)
    mesh_caches.check(view, read.soft)
    spaces = muscles.spaces(view, frames, shown, [entry.body for entry in channels])
    lost, edited = [*restoring.broken(scene), *_overwriting(scene)], _is_edited(scene)
    restoring.free(scene)
    if between is not None:
        between()
    if lead_in_keys.first(view) < begin:  # with sliders as a fit has left them
        lead_in_keys.lead(stepper.seen_at(view, begin), begin, channels, read.parents())
    more, names = keyed_figures(scene, frames, figures, output)
    made = put(scene, frames, channels, kept, more, output)
    _mute(scene, [entry.body for entry in channels])
    add_properties(names)
    if read.soft:
        mesh_caches.write(scene, frames, read.soft, result)
    muscles.write(frames, shown, spaces, output, units.length_scale(view))
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    told = keys.described(kept)
    scene.condyle.simulation.output.told = told
    warnings = [*lost, *_missed(frames, channels)]
    return Written([action.name for action in made], told, warnings, view, edited or _is_edited(scene))


def _is_edited(scene: Scene) -> bool:
    """Whether a bake has disconnected bones, or the user has put another action in the place of its own."""
    bodies = (body for item in scene.objects for body in temporarily.baked_bodies(item))
    replaced = (temporarily.is_put(item) and targets.is_replaced(item) for item in (scene, *scene.objects))
    return any(replaced) or any(body.data.channels.was_connected for body in bodies)


def _mute(scene: Scene, bodies: Sequence[Body]) -> None:
    """Mute the constraints that move bodies of a snapshot, and note them on their armatures."""
    bending = [(below, each) for below, each, _ in conflicts.bending(bodies).values()]
    for rig in {body.object for body in bodies if body.bone}:
        item, noted = references.live(rig), []
        for below, each in bending:
            if below.id_data == rig:
                bone = item.pose.bones[below.name]
                bone.constraints[each.name].mute = True
                noted.append(f"{targets.uid_of(bone)} {each.name}")
        item.condyle.bake.muted = json.dumps(noted)


def _overwriting(scene: Scene) -> Iterator[findings.Finding]:
    """Says once that a stored OVERWRITE became CURRENT."""
    output = scene.condyle.simulation.output
    if output.target == "OVERWRITE":
        output.target = "CURRENT"
        yield findings.about(None, "overwrite-is-current", scene=scene.name)


def _missed(frames: np.ndarray, channels: Sequence[channels_.Channels]) -> Iterator[findings.Finding]:
    """A finding about the bodies whose rotation modes cannot follow them between the keys."""
    far = np.degrees([entry.missed.max(initial=0.0) for entry in channels])
    missed = [channels[k] for k in np.argsort(-far, kind="stable") if far[k] > MISSED]
    if missed:
        worst, bodies = missed[0], findings.few(entry.body.name for entry in missed)
        modes = sorted({entry.mode for entry in missed})
        mode = " and ".join("Axis Angle" if each == "AXIS_ANGLE" else f"{each} Euler" for each in modes)
        frame, angle = float(frames[worst.missed.argmax()]), float(far.max())
        yield findings.about(worst.body, "swinging-angles", body=bodies, mode=mode, frame=frame, angle=angle)


def put(
    scene: Scene,
    frames: np.ndarray,
    channels: Sequence[channels_.Channels],
    kept: Kept | None = None,
    more: Sequence[tuple[Object | Scene, list[KeyedPath]]] = (),
    output: Output | None = None,
) -> list[Action]:
    """Put the bake in place, as `output` or the scene's settings say; where keys are left out, `kept` tells how many.

    Args:
        frames: rising positions (F,) of the channels' rows after those of early frames, in frames.
        more: keys of further objects and scenes. channels: of bodies of the scene, or of a snapshot of it.

    Returns:
        The actions, one for each object and scene.

    Raises:
        ModelError: a bake cannot go to that target; nothing has been changed.
    """
    output, kept = output or channels_.output_of(scene), kept if kept is not None else Kept()
    bodies = _live(scene, channels)
    for item in {entry.body.object for entry in channels}:
        conflicts.check_target(item, output.target)
    items = (body.object for body in bodies)
    keyed = list(zip(items, keys.keyed(frames, channels, output, kept)))
    apart = [body for body, entry in zip(bodies, channels) if body.bone and entry.location is not None]
    actions.disconnect([body for body in apart if body.pose_bone.bone.use_connect])
    for body, entry in zip(bodies, channels):
        owner = body.owner
        _remember_channels(body)
        if owner.rotation_mode != entry.mode:  # an earlier bake was freed since the keys were made
            owner.rotation_mode = entry.mode
    return [targets.put(item, paths, output.target) for item, paths in _by_item([*keyed, *more])]


def _live(scene: Scene, channels: Sequence[channels_.Channels]) -> list[Body]:
    """The bodies of channels in the scene itself."""
    objects = {item.session_uid: item for item in scene.objects}
    return [Body(objects[entry.body.object.session_uid], entry.body.bone) for entry in channels]


def _by_item(
    entries: Sequence[tuple[Object | Scene, list[KeyedPath]]],
) -> list[tuple[Object | Scene, list[KeyedPath]]]:
    """Keys of several bodies and figures (object or scene, keys), together for each object or scene."""
    found: dict[int, tuple[Any, list[KeyedPath]]] = {}
    for item, paths in entries:
        found.setdefault(item.as_pointer(), (item, []))[1].extend(paths)
    return list(found.values())


def _remember_channels(body: Body) -> None:
    record = body.data.channels
    record.baked = True
    record.rotation_mode = body.owner.rotation_mode
    for name in temporarily.CHANNELS:
        setattr(record, name, tuple(getattr(body.owner, name)))
    for constraint in temporarily.own_constraints(body):
        record.was_driven = record.was_driven or not constraint.mute
        constraint.mute = True
    schema.stamp(body.data)


def keyed_figures(
    scene: Scene, frames: np.ndarray, found: Sequence[bake_figures.Figure], output: Output
) -> tuple[list[tuple[Object | Scene, list[KeyedPath]]], list[tuple[Object | Scene, str]]]:
    """Keys of figures at frames (F,), by object or scene; and the names of the properties that they key."""
    entries, names = [], []
    there = {item.session_uid: item for item in (scene, *scene.objects)}
    for figure in found:
        item = there[figure.item.session_uid]
        name = _unused(item, f"{bake_figures.PREFIX} {figure.name}")
        path = f'["{bpy.utils.escape_identifier(name)}"]'
        entries.append((item, [keys.thinned_path(path, bake_figures.GROUP, frames, figure.values, output)]))
        names.append((item, name))
    return entries, names


def _unused(item: Object | Scene, name: str) -> str:
    """The name, or where the user has a property of that name another one."""
    if name not in item or name in (stored_texts.names(item.condyle.bake.figures) or ()):
        return name
    return next(other for other in (f"{name} {k}" for k in range(2, 1000)) if other not in item)


def add_properties(names: Iterable[tuple[Object | Scene, str]]) -> None:
    """Make the properties, and note them for Free Bake."""
    for item, name in names:
        item[name] = 0.0
        record = item.condyle.bake
        record.figures = json.dumps([*(stored_texts.names(record.figures) or ()), name])


def note_statistics(scene: Scene, values: Mapping[str, Any]) -> None:
    """Keep what the solver met in a scene's bake (`solver_statistics`); an empty one changes nothing."""
    if not values:
        return
    kept = scene.condyle.simulation.statistics
    restoring.unset(kept)
    for name, value in values.items():
        setattr(kept, name, value)
    schema.stamp(scene.condyle)


def note_loop(scene: Scene, result: physics_access.Result) -> None:
    """Store how well a loop closes, for the panel."""
    kept = scene.condyle.loop
    found = result.info.get("loop", {"cycles": 0})
    for name in LOOP.intersection(found):
        setattr(kept, name, found[name])


def note_read(scene: Scene, prints: stored_texts.Prints) -> None:
    """Keep with a bake the fingerprints of what it has read. Other scenes with the same bodies (linked copies) show
    this bake now, and theirs no longer.
    """
    scene.condyle.simulation.output.read = _packed(prints)
    baked = {body.name for item in scene.objects for body in temporarily.baked_bodies(item)}
    for other in bpy.data.scenes:
        output = other.condyle.simulation.output
        if other == scene or other.library is not None or not output.read:
            continue
        kept = stored_texts.prints(output.read)
        if kept is not None and baked & kept.keys():
            kept["Scene"][ELSEWHERE] = "yes"
            output.read = _packed(kept)


def _packed(prints: stored_texts.Prints) -> str:
    return json.dumps(prints, separators=(",", ":"), ensure_ascii=False)
