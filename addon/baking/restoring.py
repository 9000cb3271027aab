"""Takes a bake away again, and tells what has become of the one in place."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
from bpy.types import Object, PropertyGroup, Scene

from ..baked import channels_back as actions
from ..baked import nla_tracks, targets, temporarily
from ..data import findings, stored_texts
from . import mesh_caches, muscles


def free(scene: Scene) -> int:
    """Take every bake of the scene away and put back exactly what was; returns how many objects had one."""
    if temporarily.is_put(scene):
        temporarily.check_tweaked(scene, repr(scene.name))
    is_moved = any(map(temporarily.is_baked, scene.objects))
    count = (actions.free(scene) if is_moved else 0) + muscles.free(scene) + mesh_caches.free(_cached(scene))
    if temporarily.is_put(scene):
        targets.free(scene)
    _forget(scene)
    return count


def free_and_forget(scene: Scene) -> int:
    """As `free`, and clear the bake's messages, in other scenes with the same bodies, too."""
    baked = [each for each in bpy.data.scenes if each.library is None and is_baked(each)]
    count = free(scene)
    for each in baked:
        if not is_baked(each):
            _forget(each)
            for told in (each.condyle.simulation.statistics, each.condyle.loop):
                unset(told)
    return count


def _forget(scene: Scene) -> None:
    """Clear a scene's records of its bake: what was read, and the message about its keys."""
    for name in ("read", "told"):
        scene.condyle.simulation.output.property_unset(name)


def unset(kept: PropertyGroup) -> None:
    """Unset each property alone: unsetting the group frees memory that scripts may still look at."""
    for item in kept.bl_rna.properties:
        if item.identifier not in {"rna_type", "name"}:
            kept.property_unset(item.identifier)


def is_baked(scene: Scene) -> bool:
    """Whether anything of a scene shows a bake."""
    if temporarily.is_put(scene) or _cached(scene):
        return True
    return any(temporarily.is_baked(item) or muscles.is_baked(item) for item in scene.objects)


def _cached(scene: Scene) -> list[Object]:
    """The soft bodies of a scene that a cache moves."""
    meshes = [item for item in scene.objects if item.type == "MESH" and item.library is None]
    return [item for item in meshes if item.condyle.soft.cache]


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


def edited(scene: Scene) -> Iterator[findings.Finding]:
    """Findings about actions of the bake in place that were edited since: Free Bake keeps them aside."""
    for item in (scene, *scene.objects):
        if action := targets.keyed_since(item):
            yield findings.about(None, "edits-kept", object=item.name, action=action)


def gone(scene: Scene) -> list[findings.Finding]:
    """Findings about objects of a scene whose baked action or cache was deleted, so that they stand still."""
    found = [
        findings.about(item, "baked-action-gone", object=item.name)
        for item in scene.objects
        if item.library is None and temporarily.baked_bodies(item) and item.condyle.bake.action is None
    ]
    return [*found, *mesh_caches.gone(_cached(scene))]


def put_aside(scene: Scene) -> Iterator[findings.Finding]:
    """As `gone`, of baked actions that the user has taken out of use; another one that is in use instead is meant."""
    for item in scene.objects:
        action, data = item.condyle.bake.action, item.animation_data
        if item.library is not None or action is None or not temporarily.baked_bodies(item):
            continue
        if data is None or (data.action is None and not nla_tracks.is_played(data, action)):
            yield findings.about(item, "baked-action-unused", object=item.name, action=action.name)
