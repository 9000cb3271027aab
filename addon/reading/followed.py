"""Samples animated bodies that are not simulated over the frames, so that a simulation follows them, whatever moves
them: keys, constraints, inverse kinematics, drivers, parents, strips of the NLA.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from bpy.types import Scene

from ..animation import led_joints
from ..animation.follow_weights import Strength
from ..animation.led_joints import Followed
from ..animation.scene_model import Leaders, SceneModel
from ..blender import physics_access, scales, units
from ..data.references import Body, Handle, key_of
from . import carriers as read_carriers
from . import stepper
from .own_animation import Stillness

# Smaller motions [Blender units, or the sine of a turn] count as none: a hundred times the rounding of a matrix.
MOVES = 1e-5


@dataclass
class Moving:
    """Animated bodies; of each followed one its poses (F, 4, 4) in its carrier at the frames (F,), in Blender units."""

    followed: Leaders
    poses: dict[Handle, np.ndarray] = field(default_factory=dict)
    was_sampled: bool = False
    frames: np.ndarray = field(default_factory=lambda: np.empty(0))

    def joints(self, scene: Scene, read: SceneModel) -> list[Followed]:
        """The joints by which a model follows it."""
        lie, held = physics_access.physics().lie, np.ones(len(self.frames), dtype=bool)
        found = []
        for entry in read.leaders:
            poses, parent = self.poses[entry.handle], int(read.model.parent[entry.index])
            joint, base = read.model.joints[entry.index], read.handle_of(parent)
            shown = units.to_metres(lie.inverse(poses[0]) @ poses, scene)
            made = Followed(entry.name, entry.name, joint, np.eye(4), 1.0, held, poses=shown)
            made.handle, made.base, made.frame = entry.handle, base, poses[0]
            found.append(led_joints.seen_at(made, Strength(self.frames, 0.0 * self.frames, held)))
        return found


def sample(scene: Scene, frames: np.ndarray, beside: stepper.Sampler | None = None) -> Moving:
    """Find the animated bodies from the first of whole frames (F,), the current one, to the last; restores the frame.
    scene: a snapshot of it. beside: what to sample in the same pass, if the scene goes through the frames at all.

    A body without motion, or carried rigidly by another animated one, is not followed: of bodies connected rigidly
    only the one nearest to the world is, because f-curves alone may give its motion.
    """
    followed, axes = dict[Handle, Handle](), dict[Handle, np.ndarray]()
    found = Moving(Leaders(followed, axes), frames=frames)
    still = Stillness()
    watched = [body for body in read_carriers.wanted(scene) if not still.holds([body.object])]
    if not watched:
        return found
    moving = read_carriers.simulated(scene)
    bases = [read_carriers.base_of(body, moving) for body in watched]
    above = [list(read_carriers.carrying(*pair)) for pair in zip(watched, bases)]
    wanted = [*watched, *chain.from_iterable(above), *filter(None, bases)]
    seen, found.was_sampled = stepper.matrices(scene, wanted, frames, beside), True
    rigid, inverse = {key: _rigid(rows) for key, rows in seen.items()}, physics_access.physics().lie.inverse

    def within(body: Body, other: Body | None) -> np.ndarray:
        """Poses (F, 4, 4) of a body in another, or in the world."""
        own = rigid[key_of(body)]
        return own if other is None else inverse(rigid[key_of(other)]) @ own

    leaders: dict[Handle | None, list[Body]] = {}
    for body, base, carrying in zip(watched, bases, above):
        if not _moves(within(body, base)):
            continue
        leader = body
        for each in carrying:
            if _moves(within(body, each)):
                break
            if _is_even(seen[key_of(each)]):  # what it carries may undo its scale, or not inherit it
                leader = each
        group = leaders.setdefault(None if base is None else base.handle(), [])
        known = next((each for each in group if not _moves(within(leader, each))), None)
        if known is None:
            group.append(leader)
            for matrix, frame in zip(seen[key_of(leader)], frames):
                units.split_scale(matrix, f"{leader.name} at frame {frame:g}", leader.owner)
            poses = found.poses[leader.handle()] = within(leader, base)
            axis = led_joints.turning_axis(poses[0, :3, :3].T @ poses[:, :3, :3])
            if axis is not None:
                axes[leader.handle()] = axis
        followed[body.handle()] = (known or leader).handle()
    return found


def _moves(poses: np.ndarray) -> bool:
    """Whether poses (F, 4, 4) are others than the first."""
    away = np.abs(poses - poses[0])
    reach = max(1.0, float(np.abs(poses[:, :3, 3]).max()))
    return bool(away[:, :3, :3].max() > MOVES or away[:, :3, 3].max() > MOVES * reach)


def _is_even(matrices: np.ndarray) -> bool:
    """Whether matrices (F, 4, 4) are of one size in every direction, and none is mirrored."""
    sizes = np.linalg.svd(matrices[:, :3, :3], compute_uv=False)
    uneven = np.ptp(sizes, axis=1) > 2.0 * scales.TOLERANCE * sizes[:, 1]
    return not uneven.any() and bool((np.linalg.det(matrices[:, :3, :3]) > 0.0).all())


def _rigid(matrices: np.ndarray) -> np.ndarray:
    """Poses (F, 4, 4) nearest to matrices."""
    left, _, right = np.linalg.svd(matrices[:, :3, :3])
    found = matrices.copy()
    found[:, :3, :3] = left @ right
    return found
