"""Free Bake: the channels and actions that a bake replaced return exactly."""

import itertools
from collections.abc import Iterable

import bpy
from bpy.types import Object, Scene

from ..blender import physics_access
from ..data import stored_texts
from ..data.references import Body
from . import targets, temporarily


def is_armature_linked(item: Object) -> bool:
    """Whether the bones of a rig belong to another file, as those of a library override do, so that none of them can be
    connected or disconnected here.
    """
    return item.data.library is not None or item.data.override_library is not None


def how_to_disconnect(body: Body) -> str:
    """What to do so that keys can move a connected bone away from its parent."""
    data = body.object.data
    if not is_armature_linked(body.object):
        return "disconnect it, or turn on Disconnect Bones"
    library = data.library or data.override_library.reference.library
    return (
        f"disconnect it in {library.filepath}, of which its armature {data.name!r} is linked, and reload that"
    )


def check_editable(body: Body) -> None:
    """ModelError where edit mode, which alone can connect and disconnect bones, cannot be had."""
    item = body.object
    if is_armature_linked(item):
        raise physics_access.model_error(
            f"bone {body.name!r} cannot be connected or disconnected here: {how_to_disconnect(body)}"
        )
    if item.name not in bpy.context.view_layer.objects or not item.visible_get():
        raise physics_access.model_error(
            f"bone {body.name!r} cannot be connected or disconnected: {item.name!r} is hidden; make it visible first"
        )


def free(scene: Scene) -> int:
    """Take every bake of a scene away and put back exactly what was; returns the number of objects freed.

    An action that the user has put in use since stays, with the channels that it moves as they are.

    Raises:
        ModelError: a bone that the bake disconnected cannot be connected again now, or a strip is tweaked; nothing is
            changed.
    """
    baked = [item for item in scene.objects if temporarily.is_baked(item)]
    for item in baked:
        temporarily.check_tweaked(item, repr(item.name))
    bodies = {item.name_full: temporarily.baked_bodies(item) for item in baked}
    connect = [body for found in bodies.values() for body in found if body.data.channels.was_connected]
    for body in connect:
        check_editable(body)
    for item in baked:
        moved = targets.moved_since(item)
        for constraint in temporarily.muted_by_bake(item):
            constraint.mute = False
        targets.free(item)
        for body in bodies[item.name_full]:
            record = body.data.channels
            turned = {f"{body.path_prefix}{name}" for name in temporarily.CHANNELS[1:]}.intersection(
                path for path, _ in moved
            )
            if record.rotation_mode and not turned:
                # before its channels: changing it converts them
                stored_texts.put_back(body.owner, "rotation_mode", record.rotation_mode)
            temporarily.restore_channels(body, moved)
            for constraint in temporarily.own_constraints(body):
                constraint.mute = not record.was_driven
    _set_connected(connect, True)
    for body in itertools.chain.from_iterable(bodies.values()):
        body.data.property_unset("channels")
    return len(baked)


def disconnect(bodies: Iterable[Body]) -> None:
    """Disconnect bones from their parents and remember it."""
    bodies = list(bodies)
    for body in bodies:
        check_editable(body)
    _set_connected(bodies, False)
    for body in bodies:
        body.data.channels.was_connected = True


def _set_connected(bodies: list[Body], connected: bool) -> None:
    """Only edit mode can change it."""
    if not bodies:
        return
    context = bpy.context
    active, mode = context.view_layer.objects.active, context.mode
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for item in {body.object for body in bodies}:
        context.view_layer.objects.active = item
        bpy.ops.object.mode_set(mode="EDIT")
        for body in bodies:
            if body.object == item:
                item.data.edit_bones[body.bone].use_connect = connected
        bpy.ops.object.mode_set(mode="OBJECT")
    context.view_layer.objects.active = active
    if mode == "POSE":
        bpy.ops.object.mode_set(mode="POSE")
