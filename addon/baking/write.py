"""A motion of a scene's model -> keys, shapes and figures in the scene: all is checked before anything is changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
from bpy.types import Constraint, Object, PoseBone, PropertyGroup, Scene

from ..baked import channels_back as actions
from ..baked import nla_tracks, targets, temporarily
from ..blender import physics_access, units
from ..data import findings, references, schema, stored_texts
from ..data.references import Body, Key, key_of
from ..reading import conflicts
from ..reading.scene import SceneModel
from . import channels as channels_
from . import figures as bake_figures
from . import keys, lead_in_keys, muscles, parents_between_frames
from .keys import Kept
from .local_matrices import LocalPoses, Samples, nearest_above, sample_matrices

#: degrees off between frames that are told
MISSED = 0.5
#: kept among the fingerprints of a scene whose bodies another scene has baked since
ELSEWHERE = "Motion, baked in another scene,"


@dataclass(frozen=True)
class Written:
    """What was written: names of the actions, a line about keys that were left out, or an empty text, and what the
    animator may not expect.
    """

    actions: list[str]
    told: str
    warnings: list[findings.Finding]


def write(
    scene: Scene,
    frames: np.ndarray,
    read: SceneModel,
    result: physics_access.Result,
    drawn: Sequence[muscles.Shown] = (),
    inputs: physics_access.Table | None = None,
    between: Callable[[], None] | None = None,
    inside: physics_access.Between | None = None,
) -> Written:
    """Free the bake in place and write this motion, as the scene's output settings say.

    Args:
        frames: rising positions (F,) in frames. read: the `SceneModel`. result: of physics, at F times.
        drawn: what is to be seen of the muscles. inputs: the `Table` that drove the model, for figures of torques.
        between: called when the old bake is gone and the new one is not there yet.
        inside: what the motion does between whole frames (`Between`); None: nothing is known.

    Raises:
        ModelError: why it cannot be written; nothing has been changed.
    """
    output, kept = channels_.output_of(scene), Kept()
    figures = bake_figures.figures(scene, read, result, drawn, output, inputs)
    with temporarily.without_bake(scene):
        channels = _channels_of(scene, frames, read, result, inside)
        for item in [*(entry.body.object for entry in channels), *(figure.item for figure in figures)]:
            conflicts.check_target(item, output.target)
        muscles.check(scene, frames, list(drawn), [entry.body.object for entry in channels])
    lost = [*broken(scene), *_overwriting(scene)]
    free(scene)
    if between is not None:
        between()
    lead_in_keys.lead(scene, int(frames[0]), channels, read.parents())  # with sliders as a fit has left them
    more, names = bake_figures.keyed(frames, figures, output)
    bodies = [entry.body for entry in channels]
    bending = conflicts.bending(bodies)
    made = channels_.write(scene, frames, channels, kept, more)
    for item in {body.object for body in bodies if body.bone}:
        ours = [(below, each) for below, each, _ in bending.values() if below.id_data == item]
        _mute(item, ours)
    bake_figures.add_properties(names)
    muscles.write(scene, frames, list(drawn))
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    told = keys.described(kept)
    scene.condyle.simulation.output.told = told
    return Written([action.name for action in made], told, [*lost, *_missed(frames, channels)])


def _mute(item: Object, constraints: Sequence[tuple[PoseBone, Constraint]]) -> None:
    """Mute the IK constraints of bones under a bake of an armature, and note them there."""
    item.condyle.bake.muted = json.dumps([temporarily.identity(*each) for each in constraints])
    for _, constraint in constraints:
        constraint.mute = True


def _overwriting(scene: Scene) -> Iterator[findings.Finding]:
    """Says once that a stored OVERWRITE became CURRENT."""
    output = scene.condyle.simulation.output
    if output.target == "OVERWRITE":
        output.target = "CURRENT"
        yield findings.about(None, "overwrite-is-current", scene=scene.name)


def edited(scene: Scene) -> Iterator[findings.Finding]:
    """Findings about actions of the bake in place that were edited since: Free Bake keeps them aside."""
    for item in (scene, *scene.objects):
        if action := targets.keyed_since(item):
            yield findings.about(None, "edits-kept", object=item.name, action=action)


def _missed(frames: np.ndarray, channels: list[channels_.Channels]) -> Iterator[findings.Finding]:
    """A finding for each body whose rotation mode cannot follow it between the keys."""
    for entry in channels:
        worst = float(np.degrees(entry.missed.max(initial=0.0)))
        if worst > MISSED:
            mode = "Axis Angle" if entry.mode == "AXIS_ANGLE" else f"{entry.mode} Euler"
            body, frame = entry.body, float(frames[entry.missed.argmax()])
            yield findings.about(body, "swinging-angles", body=body.name, mode=mode, frame=frame, angle=worst)


def free(scene: Scene) -> int:
    """Take every bake of the scene away and put back exactly what was; returns how many objects had one."""
    if temporarily.is_put(scene):
        temporarily.check_tweaked(scene, repr(scene.name))
    is_moved = any(map(temporarily.is_baked, scene.objects))
    count = (actions.free(scene) if is_moved else 0) + muscles.free(scene)
    if temporarily.is_put(scene):
        targets.free(scene)
    _forget(scene)
    return count


def free_and_forget(scene: Scene) -> int:
    """As `free`, and clear what the bake told of itself, in other scenes with the same bodies, too."""
    baked = [each for each in bpy.data.scenes if each.library is None and is_baked(each)]
    count = free(scene)
    for each in baked:
        if not is_baked(each):
            _forget(each)
            for told in (each.condyle.simulation.statistics, each.condyle.loop):
                _unset(told)
    return count


def _forget(scene: Scene) -> None:
    """Clear what a scene's bake has read, and what was told of its keys."""
    for name in ("read", "told"):
        scene.condyle.simulation.output.property_unset(name)


def note_statistics(scene: Scene, values: Mapping[str, Any]) -> None:
    """Keep what the solver met in a scene's bake (`solver_statistics`); an empty one changes nothing."""
    if not values:
        return
    kept = scene.condyle.simulation.statistics
    _unset(kept)
    for name, value in values.items():
        setattr(kept, name, value)
    schema.stamp(scene.condyle)


def _unset(kept: PropertyGroup) -> None:
    """Each property by itself: what is unset as a whole leaves scripts that look at it with freed memory."""
    for item in kept.bl_rna.properties:
        if item.identifier not in {"rna_type", "name"}:
            kept.property_unset(item.identifier)


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


def is_baked(scene: Scene) -> bool:
    """Whether anything of a scene shows a bake."""
    if temporarily.is_put(scene):
        return True
    return any(temporarily.is_baked(item) or muscles.is_baked(item) for item in scene.objects)


def broken(scene: Scene) -> Iterator[findings.Finding]:
    """A finding for each text that the bake in place has kept and that cannot be read."""
    read = scene.condyle.simulation.output.read
    if read and stored_texts.prints(read) is None:
        yield findings.about(None, "record-of-scene", scene=scene.name)
    for item in (scene, *(each for each in scene.objects if temporarily.is_baked(each))):
        record, culprit = item.condyle.bake, item if isinstance(item, Object) else None
        if stored_texts.names(record.paths) is None:
            yield findings.about(culprit, "record-of-channels", object=item.name)
        if stored_texts.names(record.figures) is None:
            yield findings.about(culprit, "record-of-properties", object=item.name)
        if stored_texts.called(record.bones) is None:
            yield findings.about(culprit, "record-of-bones", object=item.name)
    for item in filter(muscles.is_baked, scene.objects):
        if hooks := muscles.lost_hooks(item):
            yield findings.about(item, "record-of-hooks", muscle=item.name, hooks=", ".join(hooks))


def gone(scene: Scene) -> list[findings.Finding]:
    """Findings about objects of a scene whose baked action was deleted, so that they stand still."""
    return [
        findings.about(item, "baked-action-gone", object=item.name)
        for item in scene.objects
        if item.library is None and temporarily.baked_bodies(item) and item.condyle.bake.action is None
    ]


def put_aside(scene: Scene) -> Iterator[findings.Finding]:
    """As `gone`, of baked actions that the user has taken out of use; another one that is in use instead is meant."""
    for item in scene.objects:
        action, data = item.condyle.bake.action, item.animation_data
        if item.library is not None or action is None or not temporarily.baked_bodies(item):
            continue
        if data is None or (data.action is None and not nla_tracks.is_played(data, action)):
            yield findings.about(item, "baked-action-unused", object=item.name, action=action.name)


def _channels_of(
    scene: Scene,
    frames: np.ndarray,
    read: SceneModel,
    result: physics_access.Result,
    inside: physics_access.Between | None,
) -> list[channels_.Channels]:
    """What each body's keys shall be, the scene being without its bake; ModelError before anything is changed."""
    if len(result.poses) != len(frames):
        raise physics_access.model_error(f"the run gave {len(result.poses)} samples for {len(frames)} frames")
    with temporarily.at_frame(scene, int(frames[0])):
        bodies = []
        for entry in read.bodies:
            body = references.find_body(entry.handle, entry.name)
            conflicts.check(body)
            units.split_scale(body.matrix, body.name, body.owner)  # it may have been scaled since it was read
            bodies.append(body)
        worlds = _worlds(scene, read, bodies, result.poses)
        local = LocalPoses(scene, frames, worlds)
        found = [
            channels_.Channels(body, _all_frames(local.basis(body), len(frames)), scene) for body in bodies
        ]
        if inside is not None and len(inside.rows):
            _see_between(scene, frames, read, result, inside, found, local.samples)
        bent = _bent_with(bodies)
        if bent:
            local = LocalPoses(scene, frames, worlds | _sampled(scene, frames, bent))
            found += [
                channels_.Channels(body, _all_frames(local.basis(body), len(frames)), scene) for body in bent
            ]
    return found


def _bent_with(bodies: Sequence[Body]) -> list[Body]:
    """The other bones that inverse kinematics bends together with bodies: they get keys of what it makes of them,
    because a bake mutes it.
    """
    known = {key_of(body) for body in bodies}
    chains = [chain for _, _, chain in conflicts.bending(bodies).values()]
    found = {
        key_of(each): each for chain in chains for each in (Body(bone.id_data, bone.name) for bone in chain)
    }
    bent = [each for key, each in found.items() if key not in known]
    for body in bent:
        conflicts.check(body)
    return bent


def _sampled(scene: Scene, frames: np.ndarray, bent: Sequence[Body]) -> dict[Key, np.ndarray]:
    """World matrices (F, 4, 4) of bones as they are at the frames."""
    keys = {key_of(body) for body in bent}
    items = {body.object.name_full: body.object for body in bent}
    samples = sample_matrices(scene, items.values(), frames, keys)
    return {(name, bone): samples[name][""] @ samples[name][f"pose:{bone}"] for name, bone in keys}


def _worlds(
    scene: Scene, read: SceneModel, bodies: Sequence[Body], poses: np.ndarray
) -> dict[Key, np.ndarray]:
    """World matrices with scale, in Blender units, of bodies at poses (n, nb, 4, 4)."""
    worlds = {}
    for entry, body in zip(read.bodies, bodies):
        world = units.to_blender(poses[:, entry.index], scene)
        world[:, :3, :3] *= entry.scale
        worlds[key_of(body)] = world
    return worlds


def _see_between(
    scene: Scene,
    frames: np.ndarray,
    read: SceneModel,
    result: physics_access.Result,
    inside: physics_access.Between,
    found: Sequence[channels_.Channels],
    samples: Samples,
) -> None:
    """Let the channels know what they are between frames (F,) where bodies, or what they hang on, go otherwise than
    frames tell; what carries them and is not simulated goes as the samples (F,) of it tell.
    """
    rows, count = inside.rows, inside.poses.shape[1] + 2
    ends = result.poses[rows[:, None] + np.array([0, 1])]
    poses = np.concatenate([ends[:, :1], inside.poses, ends[:, 1:]], axis=1)
    bodies = [entry.body for entry in found]
    worlds = _worlds(scene, read, bodies, poses.reshape(-1, *poses.shape[2:]))
    places = (
        frames[rows, None] + (frames[rows + 1] - frames[rows])[:, None] * np.linspace(0.0, 1.0, count)
    ).ravel()
    carried = parents_between_frames.between(samples, frames, places)
    _follow_between(scene, read, result.poses[0], poses.reshape(-1, *poses.shape[2:]), carried)
    local = LocalPoses(scene, places, worlds, samples=carried)
    numbers = {key_of(body): entry.index for entry, body in zip(read.bodies, bodies)}
    for entry in found:
        number = numbers[key_of(entry.body)]
        above = nearest_above(entry.body, numbers)
        kept = inside.missed[:, number]
        if above is not None:
            kept = kept | inside.missed[:, numbers[above]]
        kept = kept & ~parents_between_frames.leaping(carried, entry.body, numbers, rows)
        if not kept.any():
            continue
        seen = np.flatnonzero(np.repeat(kept, count))
        matrices = _all_frames(local.basis(entry.body, seen), len(seen))
        entry.see_between(rows[kept], matrices.reshape(-1, count, 4, 4))


def _follow_between(
    scene: Scene,
    read: SceneModel,
    first: np.ndarray,
    poses: np.ndarray,
    carried: Mapping[str, parents_between_frames.Between],
) -> None:
    """Let what a simulation has followed be where it was, between frames too, from its poses (nb, 4, 4) at the first
    frame, and those (n, nb, 4, 4) at places. Objects come first: bones are in them.
    """
    numbers = {entry.handle: entry.index for entry in read.leaders}
    for handle, leader in sorted(read.followed.leaders.items(), key=lambda pair: bool(pair[0].bone)):
        body, number = handle.find(), numbers[leader]
        if body is not None and body.object.name_full in carried:
            moves = units.to_blender(poses[:, number] @ units.inverses(first[number]), scene)
            carried[body.object.name_full].follow(body.bone, moves)


def _all_frames(matrices: np.ndarray, count: int) -> np.ndarray:
    return np.broadcast_to(matrices, (count, 4, 4))
