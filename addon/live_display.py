"""How a live run is seen: poses go straight into the channels of objects and bones, without keys, and out again.

While a run shows poses the scene is marked. Should the user undo to a moment within the run, or save during it, the
mark tells that the channels are not the user's own, and they are put back from what is remembered here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy
import numpy as np

from . import actions, core, references, units
from .references import Handle, key_of
from .transforms import LocalPoses

MOVED = 1e-5
#: channels of bodies before the last run of each scene, by its session uid and their handles: {name: value}; and muted
#: constraints by name
_before: dict[int, dict[Handle, dict[str, Any]]] = {}


class Display:
    """Shows poses of a model's bodies in the scene."""

    def __init__(self, scene: Any, read: Any) -> None:
        """Remember what is there, and mute what else would move the bodies; ModelError where a body is gone."""
        self._scene_uid = scene.session_uid
        self._entries = read.bodies
        self._frame = scene.frame_current, scene.frame_subframe
        bodies = [references.find_body(entry.handle, entry.name) for entry in read.bodies]
        self._rigs = {
            body.object.name: units.array4(body.object.matrix_world) for body in bodies if body.bone
        }
        # what an earlier run knew of the scene is not what the user has made of it since
        _before[self._scene_uid] = known = {}
        for body in bodies:
            kept: dict[str, Any] = {name: tuple(getattr(body.owner, name)) for name in actions.CHANNELS}
            for constraint in body.owner.constraints:
                if constraint.name.startswith("Condyle"):
                    kept[f"constraint {constraint.name}"] = constraint.mute
            known[body.handle()] = kept
        self._begin(scene)

    def _begin(self, scene: Any) -> None:
        scene.condyle.live = True
        for _, body in self._bodies():
            for constraint in body.owner.constraints:
                if constraint.name.startswith("Condyle"):
                    constraint.mute = True

    def _bodies(self) -> list[tuple[int, Any]]:
        """Number in the model and body of each that is still there."""
        objects = {item.session_uid: item for item in bpy.data.objects}
        found = []
        for index, entry in enumerate(self._entries):
            item = objects.get(entry.handle.session_uid)
            bone = entry.handle.bone
            if item is not None and (not bone or (item.pose is not None and bone in item.pose.bones)):
                found.append((index, references.Body(item, bone)))
        return found

    def show(self, poses: np.ndarray) -> None:
        """Show world poses (nb, 4, 4) [m] of the model's bodies.

        Raises:
            ModelError: channels cannot give a pose: a parent is not uniformly scaled, a bone is connected.
        """
        scene = references.find_scene(self._scene_uid)
        if not scene.condyle.live:  # the file was saved, or the user has undone to before the run
            self._begin(scene)
        if bpy.context.scene == scene:
            bpy.context.view_layer.update()  # an undo leaves no matrices
        bodies = self._bodies()
        worlds = {}
        for index, body in bodies:
            world = units.to_blender(poses[index], scene)
            world[:3, :3] *= self._entries[index].scale
            worlds[key_of(body)] = world[None]
        local = LocalPoses(scene, np.array([float(scene.frame_current)]), worlds, sampled=False)
        for _, body in bodies:
            try:
                channels = actions.Channels(body, local.basis(body), scene)
            except core.physics().CondyleError as error:
                raise self._why(error) from error
            owner = body.owner
            if channels.location is not None:
                owner.location = channels.location[0]
            setattr(owner, channels.path, channels.rotation[0])

    def _why(self, error: Exception) -> Exception:
        """What to tell where poses cannot be shown: bones cannot leave an armature that was moved meanwhile."""
        for name, stood in self._rigs.items():
            item = bpy.data.objects.get(name)
            if item is not None and np.abs(units.array4(item.matrix_world) - stood).max() > MOVED:
                return core.model_error(
                    f"the live run has ended: {name!r} was moved since it began, by hand or by an undo, and its bones "
                    "cannot go where they were; begin it anew"
                )
        return error

    def put_back(self) -> None:
        """The scene as it was; where it is gone, the bodies that are left in others."""
        scene = next((each for each in bpy.data.scenes if each.session_uid == self._scene_uid), None)
        if scene is None:
            _give_back(self._scene_uid, [body.object for _, body in self._bodies()])
            return
        put_back(scene)
        if (scene.frame_current, scene.frame_subframe) != self._frame:
            scene.frame_set(self._frame[0], subframe=self._frame[1])


def put_back(scene: Any) -> None:
    """Give the bodies of a scene that shows a live run their own channels again."""
    if not scene.condyle.live:
        return
    scene.condyle.live = False
    _give_back(scene.session_uid, scene.objects)


def _give_back(scene_uid: int, items: Iterable[Any]) -> None:
    """Give objects and their bones the channels that they had before the last run of a scene."""
    objects = {item.session_uid: item for item in items}
    for handle, kept in _before.get(scene_uid, {}).items():
        item = objects.get(handle.session_uid)
        if item is None or (handle.bone and (item.pose is None or handle.bone not in item.pose.bones)):
            continue
        owner = references.Body(item, handle.bone).owner
        for name, value in kept.items():
            if name.startswith("constraint "):
                constraint = owner.constraints.get(name.removeprefix("constraint "))
                if constraint is not None:
                    constraint.mute = value
            else:
                setattr(owner, name, value)
