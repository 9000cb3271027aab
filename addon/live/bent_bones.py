"""Bones that a constraint moves together with simulated ones: a run mutes it, and shows them where it held them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import bpy
import numpy as np
from bpy.types import Scene
from mathutils import Matrix

from ..animation.scene_model import SceneModel
from ..baking import body_channels
from ..blender import physics_access, units
from ..data.references import Body, Handle, key_of
from ..reading import conflicts, stepper


class BentBones:
    """The other bones of these constraints in a run, and names of the constraints by their bones."""

    def __init__(self, scene: Scene, read: SceneModel, bodies: Sequence[Body], frames: np.ndarray) -> None:
        """bodies: that are simulated. frames: whole ones (F,), one after the other, the first as the run begins.

        ModelError where a bone cannot be keyed.
        """
        self.muted: dict[Handle, list[str]] = defaultdict(list)
        for below, constraint, _ in conflicts.bending(bodies).values():
            self.muted[Body(below.id_data, below.name).handle()].append(constraint.name)
        bent = body_channels.bent_with(bodies)
        items = {each.object.name_full: each.object for each in bent}
        samples = stepper.sample_matrices(scene, items.values(), frames, {key_of(each) for each in bent})
        self._first, self._poses = float(frames[0]), dict[Handle, np.ndarray]()
        self._led = dict[Handle, tuple[int, np.ndarray, np.ndarray]]()
        numbers = {entry.handle: entry.index for entry in read.leaders}
        for each in bent:
            seen, handle = samples[each.object.name_full], each.handle()
            self._poses[handle] = seen[f"pose:{each.bone}"]
            number = numbers.get(read.followed.leaders.get(handle, handle))
            if number is not None:
                start = physics_access.physics().body_poses(read.model, read.state)[number]
                self._led[handle] = number, units.inverses(start), seen[""][0] @ self._poses[handle][0]

    def bodies(self) -> list[Body]:
        """The bent bones, and those with muted constraints, that are still there."""
        items = {item.session_uid: item for item in bpy.data.objects} if self.muted else {}
        found = ((items.get(handle.session_uid), handle.bone) for handle in {**self._poses, **self.muted})
        return [Body(item, bone) for item, bone in found if item is not None and bone in item.pose.bones]

    def world(self, scene: Scene, body: Body, poses: np.ndarray) -> np.ndarray | None:
        """World matrix (4, 4) of a bent bone where poses (nb, 4, 4) [m] are the model's; None for other bones.

        What the simulation follows is where that has it; the others are interpolated between whole frames.
        """
        handle = body.handle()
        if handle in self._led:
            number, start, begin = self._led[handle]
            led: np.ndarray = units.to_blender(poses[number] @ start, scene) @ begin
            return led
        if handle not in self._poses:
            return None
        own = self._poses[handle]
        place = min(max(scene.frame_current_final - self._first, 0.0), len(own) - 1.0)
        row = min(int(place), max(len(own) - 2, 0))
        pose = Matrix(own[row].tolist()).lerp(Matrix(own[min(row + 1, len(own) - 1)].tolist()), place - row)
        return np.array(body.object.matrix_world @ pose)
