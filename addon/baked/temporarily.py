"""Looking at the scene without leaving a trace: at another frame, and without the bake that is in place."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from bpy.types import ID, Modifier, Object, Scene

from ..data.joints import slider_names
from . import channels_back, ik_chains, targets

#: kinds of data-blocks that refer to objects without a part in where others are
HOLDERS = {"COLLECTION", "SCENE", "SCREEN", "WINDOWMANAGER", "WORKSPACE"}
SCALED = (*channels_back.CHANNELS, "scale")
Kept = list[tuple[Any, str, Any]]


@contextmanager
def at_frame(scene: Scene, frame: int) -> Iterator[Callable[[float], None]]:
    """The scene evaluated at a frame; afterwards as it was, with poses that were changed but not keyed yet.

    Gives a function that goes to other frames. From its first call on no modifier acts that only changes how things
    look: evaluating the mesh of a character takes ten times as long as its pose.
    """
    current, subframe = scene.frame_current, scene.frame_subframe
    kept = _channels_of([item for item in scene.objects if _has_animation(item)])
    off: list[Modifier] | None = None
    scene.frame_set(frame)

    def go(at: float) -> None:
        nonlocal off
        if off is None:
            off = idle_modifiers(scene)
            for modifier in off:
                modifier.show_viewport = False
        scene.frame_set(int(np.floor(at)), subframe=float(at % 1.0))

    try:
        yield go
    finally:
        for modifier in off or ():
            modifier.show_viewport = True
        scene.frame_set(current, subframe=subframe)
        _put_back(kept)


def idle_modifiers(scene: Scene) -> list[Modifier]:
    """Visible modifiers of objects that have no part in where armatures, Empties and our own things are: none of these
    refers to them, be it by way of others, nor do Blender's simulations.
    """
    shaped = [item for item in scene.objects if any(each.show_viewport for each in item.modifiers)]
    if all(map(_is_needed, shaped)):
        return []
    kinds = {kind.identifier for kind in ID.bl_rna.properties["id_type"].enum_items}
    users = bpy.data.user_map(key_types={"OBJECT"}, value_types=kinds - HOLDERS)
    needed: set[ID] = {item for item in users if isinstance(item, Object) and _is_needed(item)}
    while more := {
        item
        for item, others in users.items()
        if item not in needed and any(each in needed or not isinstance(each, Object) for each in others)
    }:
        needed |= more
    return [each for item in shaped if item not in needed for each in item.modifiers if each.show_viewport]


def _is_needed(item: Object) -> bool:
    """Whether the place of an object may be asked for, or a simulation of Blender reads its shape."""
    ours = item.condyle
    groups = (ours.body, ours.joint, ours.connection, ours.muscle, ours.obstacle)
    if item.type in {"ARMATURE", "EMPTY"} or any(group.enabled for group in groups):
        return True
    shapes = item.rigid_body is not None or (item.field is not None and item.field.type != "NONE")
    return shapes or any(each.type == "COLLISION" for each in item.modifiers)


@contextmanager
def without_bake(scene: Scene) -> Iterator[None]:
    """The scene as Free Bake would leave it, to be looked at; afterwards the bake is in place again.

    Raises:
        ModelError: a strip is tweaked.
    """
    held = [item for item in scene.objects if channels_back.is_baked(item)]
    for item in held:
        targets.check_tweaked(item, repr(item.name))
    # going to a frame puts everything that is animated at its keys
    kept = _channels_of([item for item in scene.objects if item in held or _has_animation(item)])
    muted: Kept = []
    bring_back = []
    try:
        for item in held:
            moved = targets.moved_since(item)  # by an action that stays in use when the bake is freed
            bring_back.append(targets.hold_off(item))
            _hold_off(item, moved)
            _free_sliders(item, muted)
        if held or muted:
            bpy.context.view_layer.update()
        yield
    finally:
        for each in bring_back:
            each()
        for constraint, name, value in muted:
            setattr(constraint, name, value)
        if held or muted:
            scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
            _put_back(kept)


def _hold_off(item: Object, moved: Container[tuple[str, int]]) -> None:
    """Give a baked object its earlier channels, but for those that an action moves which stays in use."""
    for body in channels_back.baked_bodies(item):
        channels_back.restore_channels(body, moved)
        # a connected bone has no location of its own, whatever its channel says
        if body.data.channels.was_connected:
            body.owner.location = (0.0, 0.0, 0.0)


def _free_sliders(item: Object, muted: Kept) -> None:
    """Let sliders move a baked object as they did, and note what was."""
    for body in channels_back.baked_bodies(item):
        for constraint in body.owner.constraints:
            if constraint.name.startswith("Condyle"):
                muted.append((constraint, "mute", constraint.mute))
                constraint.mute = not body.data.channels.was_driven
    for constraint in ik_chains.muted_by_bake(item):
        muted.append((constraint, "mute", True))
        constraint.mute = False


def _has_animation(item: Object) -> bool:
    data = item.animation_data
    return data is not None and bool(data.action or data.nla_tracks)


def _channels_of(items: list[Object]) -> Kept:
    """Channels of objects, of their bones and sliders, with their values."""
    kept: Kept = []
    for item in items:
        for owner in (item, *(item.pose.bones if item.pose is not None else ())):
            kept += [(owner, name, tuple(getattr(owner, name))) for name in SCALED]
        for name in slider_names(item.condyle.joint):
            if isinstance(item.get(name), float):
                kept.append((item, f'["{name}"]', item[name]))
    return kept


def _put_back(kept: Kept) -> None:
    changed = False
    for owner, name, value in kept:
        if name.startswith("["):
            if owner[name[2:-2]] != value:
                owner[name[2:-2]] = value
                owner.update_tag()
                changed = True
        elif tuple(getattr(owner, name)) != value:
            setattr(owner, name, value)
            changed = True
    if changed:
        bpy.context.view_layer.update()
