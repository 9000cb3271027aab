"""How a live run is seen: poses go straight into the channels of objects and bones, without keys, and out again.

While a run shows poses the scene is marked, and what bodies were before stands beside them in the file. Should the user
undo to a moment within the run, save or copy the scene during it, or open what Blender has saved of it by itself, the
mark tells that the channels are not the user's own, and they are put back.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import bpy
import numpy as np
from bpy.types import Scene
from mathutils import Matrix

from ..animation.scene_model import ModelBody, SceneModel
from ..baked import temporarily
from ..baking import channels as channels_
from ..baking.local_matrices import LocalPoses
from ..blender import physics_access, scales, units
from ..data import references, stored_texts
from ..data.references import Body, key_of
from . import soft_meshes
from .bent_bones import BentBones
from .frames import Playhead

MOVED = 1e-5


class Display:
    """Shows poses of a model's bodies in the scene."""

    def __init__(
        self, scene: Scene, read: SceneModel, frames: np.ndarray, playhead: Playhead | None = None
    ) -> None:
        """Remember what is there, and mute what else would move the bodies; ModelError where a body is gone.

        frames: whole ones (F,) of the run. playhead: where the scene goes meanwhile; None: it stays.
        """
        self._playhead = playhead
        self._scene_uid = scene.session_uid
        self._entries = read.bodies
        self._soft = soft_meshes.SoftMeshes(read)
        self._frame = scene.frame_current, scene.frame_subframe
        bodies = [references.find_body(entry.handle, entry.name) for entry in read.bodies]
        self._bent = BentBones(scene, read, bodies, frames[:1] if playhead is None else frames)
        self._rigs = {
            body.object.name: units.array4(body.object.matrix_world) for body in bodies if body.bone
        }
        self._mark(scene)

    def _mark(self, scene: Scene) -> None:
        """Keep what bodies are, but for those that a run shows already; so it is where the file was saved, and where
        the user has undone to before the run, or into an earlier one.
        """
        scene.condyle.live = True
        for body in (*self._bent.bodies(), *(body for _, body in self._bodies())):
            if not body.data.before_live.shown:
                _keep(body, self._bent.muted.get(body.handle(), []))

    def _bodies(self) -> list[tuple[ModelBody, Body]]:
        """Body of the model and of the scene of each that is still there."""
        objects = {item.session_uid: item for item in bpy.data.objects}
        found = []
        for entry in self._entries:
            item = objects.get(entry.handle.session_uid)
            bone = entry.handle.bone
            if item is not None and (not bone or (item.pose is not None and bone in item.pose.bones)):
                found.append((entry, Body(item, bone)))
        return found

    def show(self, poses: np.ndarray, time: float = 0.0, nodes: np.ndarray | None = None) -> None:
        """Show world poses (nb, 4, 4) [m] of the model's bodies at a time of the run [s], and places of nodes (n, 3).

        Raises:
            ModelError: channels cannot give a pose: a parent is not uniformly scaled, a bone is connected.
        """
        scene = references.find_scene(self._scene_uid)
        self._mark(scene)
        if self._playhead is not None:
            frame = self._playhead(time)
            scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
        if bpy.context.scene == scene:
            bpy.context.view_layer.update()  # an undo leaves no matrices
        bodies = self._bodies()
        worlds = {}
        for entry, body in bodies:
            world = units.to_blender(poses[entry.index], scene)
            world[:3, :3] *= entry.scale
            worlds[key_of(body)] = world[None]
        moved = [body for _, body in bodies]
        for body in self._bent.bodies():
            bent = self._bent.world(scene, body, poses)
            if bent is not None:
                worlds[key_of(body)] = bent[None]
                moved.append(body)
        local = LocalPoses(scene, np.array([scene.frame_current_final]), worlds, sampled=False)
        for body in moved:
            basis = local.basis(body)
            if body.bone and _put_plainly(body, basis[0]):
                continue
            try:
                (channels,) = channels_.of_bodies([body], basis[None], scene)
            except physics_access.physics().CondyleError as error:
                raise self._why(error) from error
            owner = body.owner
            if channels.location is not None:
                owner.location = channels.location[0]
            setattr(owner, channels.path, channels.rotation[0])
        if nodes is not None:
            self._soft.show(scene, nodes)

    def _why(self, error: Exception) -> Exception:
        """What to tell where poses cannot be shown: bones cannot leave an armature that was moved meanwhile."""
        for name, stood in self._rigs.items() if self._playhead is None else ():
            item = bpy.data.objects.get(name)
            if item is not None and np.abs(units.array4(item.matrix_world) - stood).max() > MOVED:
                return physics_access.model_error(
                    f"the live run has ended: {name!r} was moved since it began, by hand or by an undo, and its bones "
                    "cannot go where they were; begin it anew"
                )
        return error

    def put_back(self) -> None:
        """The file as it was."""
        put_back()
        scene = next((each for each in bpy.data.scenes if each.session_uid == self._scene_uid), None)
        if scene is not None and (scene.frame_current, scene.frame_subframe) != self._frame:
            scene.frame_set(self._frame[0], subframe=self._frame[1])


def _put_plainly(body: Body, basis: np.ndarray) -> bool:
    """Give a bone the channels of a matrix (4, 4), by Blender's mathematics in a tenth of the time of `Channels`; False
    where these have to tell what it cannot have.
    """
    bone = body.pose_bone
    location, turn, scale = Matrix(basis.tolist()).decompose()
    apart = max(abs(ratio - 1.0) for ratio in (scale[k] / (bone.scale[k] or 1.0) for k in range(3)))
    held = bone.bone.use_connect
    far = held and location.length > scales.TOLERANCE * bone.length
    if apart > scales.TOLERANCE or far or bone.rotation_mode == "AXIS_ANGLE":
        return False
    if not held:
        bone.location = location
    if bone.rotation_mode == "QUATERNION":
        near = bone.rotation_quaternion.dot(turn) >= 0.0
        bone.rotation_quaternion = turn if near else turn * -1.0
    else:
        mode: Any = bone.rotation_mode
        bone.rotation_euler = turn.to_euler(mode, bone.rotation_euler)
    return True


def put_back() -> None:
    """Give all that a live run has moved its own channels again, in whatever scenes it is."""
    for scene in bpy.data.scenes:
        if scene.condyle.live:
            scene.condyle.live = False
    for item in bpy.data.objects:
        soft_meshes.take_away(item)
        bones = item.pose.bones if item.pose is not None else ()
        for body in (Body(item), *(Body(item, bone.name) for bone in bones)):
            if body.data.before_live.shown:
                _give_back(body)


def _keep(body: Body, muted: Collection[str] = ()) -> None:
    """Note what a body is, and mute what would move it beside the run: sliders, and constraints of these names."""
    owner, record = body.owner, body.data.before_live
    for name in temporarily.CHANNELS:
        setattr(record, name, tuple(getattr(owner, name)))
    own = temporarily.own_constraints(body) + [
        owner.constraints[name] for name in muted if name in owner.constraints
    ]
    acting = [each for each in own if not each.mute]
    record.muted = json.dumps([constraint.name for constraint in acting])
    record.shown = True
    for constraint in acting:
        constraint.mute = True


def _give_back(body: Body) -> None:
    """Let a body be what was noted."""
    owner, record = body.owner, body.data.before_live
    for name in temporarily.CHANNELS:
        setattr(owner, name, tuple(getattr(record, name)))
    for name in stored_texts.names(record.muted) or ():
        constraint: Any = owner.constraints.get(name)
        if constraint is not None:
            constraint.mute = False
    body.data.property_unset("before_live")
