"""A motion of a scene's model -> the channels of its bodies, at frames and between them; nothing is changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeVar

import numpy as np
from bpy.types import Scene

from ..animation.scene_model import SceneModel
from ..blender import physics_access, scales, session, units
from ..blender.compute_process import Breath, Steps
from ..data import references
from ..data.references import Body, Key, key_of
from ..reading import conflicts, stepper
from . import channels, keys, parents_between_frames
from .channels import Channels
from .local_matrices import LocalPoses, Samples, nearest_above, what_carries

Item = TypeVar("Item")

#: matrices that are turned into channels at once: some hundredths of a second
GROUP = 8192


def of_motion(
    scene: Scene,
    frames: np.ndarray,
    read: SceneModel,
    result: physics_access.Result,
    inside: physics_access.Between | None,
    samples: Samples | None = None,
) -> Steps[tuple[list[Channels], bool]]:
    """Steps that find what each body's keys shall be, and whether nothing was changed meanwhile; ModelError before
    anything is changed.

    scene: a snapshot of it without its bake, at the first frame. samples: as of `LocalPoses`.
    """
    if len(result.poses) != len(frames):
        raise physics_access.model_error(f"the run gave {len(result.poses)} samples for {len(frames)} frames")
    bodies = [references.find_body_in(scene, entry.handle, entry.name) for entry in read.bodies]
    for body in bodies:
        units.split_scale(body.matrix, body.name, body.owner)  # it may have been scaled since it was read
        scales.check_own_scale(body)
    worlds = _worlds(scene, read, bodies, result.poses)
    local, bent = LocalPoses(scene, frames, worlds, samples=samples), bent_with(bodies)
    more = _with_bent(local, bent) if bent else local
    changes = session.changes
    found = yield from _of_bodies(local, bodies)
    if inside is not None and len(inside.rows):
        yield from _see_between(scene, frames, read, result, inside, found, local.samples)
    found += yield from _of_bodies(more, bent)
    for group in _groups(found, [len(frames)] * len(found)):
        keys.shape(frames, group)
        yield Breath()
    stepper.settle()
    return found, session.changes == changes


def _of_bodies(local: LocalPoses, bodies: Sequence[Body]) -> Steps[list[Channels]]:
    """Steps that find the channels of bodies at the frames."""
    rows, found = np.arange(len(local.frames)), list[Channels]()
    for group in _groups(bodies, [len(rows)] * len(bodies)):
        matrices = local.bases(group, [rows] * len(group)).reshape(len(group), -1, 4, 4)
        found += channels.of_bodies(group, matrices, local.scene)
        yield Breath()
    return found


def _groups(items: Sequence[Item], sizes: Sequence[int]) -> Iterator[Sequence[Item]]:
    """Items one after the other, with sizes of about `GROUP` together."""
    numbers = np.cumsum(sizes) // GROUP
    edges = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(items)]
    yield from (items[begin:end] for begin, end in pairwise(edges) if begin < end)


def bent_with(bodies: Sequence[Body]) -> list[Body]:
    """The other bones that a constraint moves together with bodies: a bake mutes it, so they get keys of their
    evaluated poses.
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


def _with_bent(local: LocalPoses, bent: Sequence[Body]) -> LocalPoses:
    """Local poses of bones, too, that are at the frames where they are seen."""
    scene, wanted = local.scene, {key_of(body) for body in bent}
    carriers, between = what_carries(scene, local.worlds.keys() | wanted)
    items = {item.name_full: item for item in (*carriers, *(body.object for body in bent))}
    samples = stepper.sample_matrices(scene, items.values(), local.frames, between | wanted)
    seen = {(name, bone): samples[name][""] @ samples[name][f"pose:{bone}"] for name, bone in wanted}
    return LocalPoses(scene, local.frames, local.worlds | seen, samples=samples)


def _worlds(
    scene: Scene, read: SceneModel, bodies: Sequence[Body], poses: np.ndarray
) -> dict[Key, np.ndarray]:
    """World matrices with scale, in Blender units, of bodies at poses (n, nb, 4, 4)."""
    worlds = units.to_blender(poses[:, [entry.index for entry in read.bodies]].swapaxes(0, 1), scene)
    worlds[..., :3, :3] *= np.array([entry.scale for entry in read.bodies])[:, None, None, None]
    return dict(zip(map(key_of, bodies), worlds))


def _see_between(
    scene: Scene,
    frames: np.ndarray,
    read: SceneModel,
    result: physics_access.Result,
    inside: physics_access.Between,
    found: Sequence[Channels],
    samples: Samples,
) -> Steps[None]:
    """Steps that note what channels are between frames (F,), where the motion of bodies or of their simulated parents
    differs from an interpolation of frames; parents that are not simulated move by their samples (F,).
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
    seen = []
    for entry in found:
        number = numbers[key_of(entry.body)]
        above = nearest_above(entry.body, numbers)
        kept = inside.missed[:, number]
        if above is not None:
            kept = kept | inside.missed[:, numbers[above]]
        kept = kept & ~parents_between_frames.leaping(carried, entry.body, numbers, rows)
        if kept.any():
            seen.append((entry, np.flatnonzero(kept)))
    for group in _groups(seen, [count * len(kept) for _, kept in seen]):
        looks = [(count * kept[:, None] + np.arange(count)).ravel() for _, kept in group]
        matrices = local.bases([entry.body for entry, _ in group], looks)
        own = [(entry, rows[kept]) for entry, kept in group]
        channels.see_between(own, matrices.reshape(-1, count, 4, 4))
        yield Breath()


def _follow_between(
    scene: Scene,
    read: SceneModel,
    first: np.ndarray,
    poses: np.ndarray,
    carried: Mapping[str, parents_between_frames.Between],
) -> None:
    """Place what a simulation has followed between frames, too, by its poses (nb, 4, 4) at the first frame, and those
    (n, nb, 4, 4) at places. Objects come first: bones are in them.
    """
    numbers = {entry.handle: entry.index for entry in read.leaders}
    for handle, leader in sorted(read.followed.leaders.items(), key=lambda pair: bool(pair[0].bone)):
        body, number = handle.find_in(scene), numbers[leader]
        if body is not None and body.object.name_full in carried:
            moves = units.to_blender(poses[:, number] @ units.inverses(first[number]), scene)
            carried[body.object.name_full].follow(body.bone, moves)
