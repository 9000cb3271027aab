"""Looking at the scene without leaving a trace: at another frame, and without the bake that is in place."""

import re
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import Any

import bpy
import numpy as np
from bpy.types import ID, Constraint, Modifier, Object, PointCache, PoseBone, Scene

from ..blender import compat, physics_access
from ..data import stored_texts
from ..data.references import Body
from . import targets

#: kinds of data-blocks that refer to objects without a part in where others are
HOLDERS = {"COLLECTION", "SCENE", "SCREEN", "WINDOWMANAGER", "WORKSPACE"}
CHANNELS = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler")
SCALED = (*CHANNELS, "scale")
Kept = list[tuple[Any, str, Any]]


def is_put(item: Object | Scene) -> bool:
    """Whether there is a bake to be freed, even if its action has been deleted."""
    record = item.condyle.bake
    return record.action is not None or record.previous_action is not None or record.backup is not None


def is_baked(item: Object) -> bool:
    """Whether an object has a bake to be freed, even if the baked action itself has been deleted. That of a linked one
    is its library's, and a motion like any other here.
    """
    return item.library is None and (is_put(item) or bool(baked_bodies(item)))


def baked_bodies(item: Object) -> list[Body]:
    """The object and those of its bones whose channels a bake wrote."""
    bodies = [Body(item)] if item.condyle.channels.baked else []
    if item.pose is not None:
        bodies += [Body(item, bone.name) for bone in item.pose.bones if bone.condyle.channels.baked]
    return bodies


def own_constraints(body: Body) -> list[Constraint]:
    """The constraints by which a joint's slider moves a body."""
    return [constraint for constraint in body.owner.constraints if constraint.name.startswith("Condyle")]


def bending(item: Object) -> Iterator[tuple[PoseBone, Constraint, list[PoseBone]]]:
    """The bone, the constraint, and all bones that it moves, of each constraint of an armature's bones but sliders'."""
    yield from compat.ik_chains(item)
    for bone in item.pose.bones:
        ours = own_constraints(Body(item, bone.name))
        for constraint in bone.constraints:
            if constraint.type not in {"IK", "SPLINE_IK"} and constraint not in ours:
                yield bone, constraint, [bone]


def muted_by_bake(item: Object) -> list[Constraint]:
    """The constraints of an armature's bones that its bake has muted."""
    noted = stored_texts.names(item.condyle.bake.muted) or []
    every = bending(item) if noted and item.pose is not None else ()
    return [constraint for below, constraint, _ in every if identity(below, constraint) in noted]


def is_muted(constraint: Constraint) -> bool:
    """Whether the user has muted a constraint, not a bake."""
    if not constraint.mute:
        return False
    item = constraint.id_data
    driven = [body for body in baked_bodies(item) if body.data.channels.was_driven]
    sliders = (each for body in driven for each in own_constraints(body))
    return constraint not in (*muted_by_bake(item), *sliders)


def identity(below: PoseBone, constraint: Constraint) -> str:
    """How a bake notes a constraint of a bone, which has its uid by then."""
    return f"{below.condyle.uid} {constraint.name}"


def check_tweaked(item: Object | Scene, name: str) -> None:
    """ModelError where an object or scene, by that name, is in the NLA's tweak mode: its action stays put then."""
    data = item.animation_data
    if data is not None and data.use_tweak_mode:
        raise physics_access.model_error(f"{name}: leave the NLA's tweak mode first (Tab in the NLA editor)")


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
        if off or (scene.frame_current, scene.frame_subframe) != (current, subframe):
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
    """Whether the place of an object may be asked for, a simulation of Blender reads its shape, or it would lose what
    such a one has found: a modifier that is turned off and on forgets it, unless it was baked.
    """
    ours = item.condyle
    groups = (ours.body, ours.joint, ours.connection, ours.muscle, ours.obstacle)
    if item.type in {"ARMATURE", "EMPTY"} or any(group.enabled for group in groups):
        return True
    shapes = item.rigid_body is not None or (item.field is not None and item.field.type != "NONE")
    caches = (cache for each in item.modifiers for cache in _caches(each) if not cache.is_baked)
    return (
        shapes
        or any(each.type == "COLLISION" for each in item.modifiers)
        or any(re.search("[1-9]", cache.info) for cache in caches)
    )


def _caches(modifier: Modifier) -> Iterator[PointCache]:
    if modifier.type in {"CLOTH", "SOFT_BODY"}:
        yield modifier.point_cache
    elif modifier.type == "PARTICLE_SYSTEM":
        yield modifier.particle_system.point_cache
    elif modifier.type == "DYNAMIC_PAINT" and modifier.canvas_settings is not None:
        yield from (each.point_cache for each in modifier.canvas_settings.canvas_surfaces)


@contextmanager
def without_bake(scene: Scene) -> Iterator[None]:
    """The scene as Free Bake would leave it, to be looked at; afterwards the bake is in place again.

    Raises:
        ModelError: a strip is tweaked.
    """
    held = [item for item in scene.objects if is_baked(item)]
    if not held:
        yield
        return
    for item in held:
        check_tweaked(item, repr(item.name))
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
        bpy.context.view_layer.update()
        yield
    finally:
        for each in bring_back:
            each()
        for constraint, name, value in muted:
            setattr(constraint, name, value)
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
        _put_back(kept)


def restore_channels(body: Body, moved: Container[tuple[str, int]]) -> None:
    """Give a body the channels from before its bake, but for those by path and index that another action moves."""
    for name in CHANNELS:
        now, before = getattr(body.owner, name), getattr(body.data.channels, name)
        path = f"{body.path_prefix}{name}"
        values = [now[k] if (path, k) in moved else value for k, value in enumerate(before)]
        setattr(body.owner, name, values)


def _hold_off(item: Object, moved: Container[tuple[str, int]]) -> None:
    """Give a baked object its earlier channels, but for those that an action moves which stays in use."""
    for body in baked_bodies(item):
        restore_channels(body, moved)
        # a connected bone has no location of its own, whatever its channel says
        if body.data.channels.was_connected:
            body.owner.location = (0.0, 0.0, 0.0)


def _free_sliders(item: Object, muted: Kept) -> None:
    """Let sliders move a baked object as they did, and note what was."""
    for body in baked_bodies(item):
        for constraint in body.owner.constraints:
            if constraint.name.startswith("Condyle"):
                muted.append((constraint, "mute", constraint.mute))
                constraint.mute = not body.data.channels.was_driven
    for constraint in muted_by_bake(item):
        muted.append((constraint, "mute", True))
        constraint.mute = False


def _has_animation(item: Object) -> bool:
    data = item.animation_data
    return data is not None and bool(data.action or data.nla_tracks)


def _channels_of(items: list[Object]) -> Kept:
    """Channels of objects, of their bones and sliders, with their values."""
    kept: Kept = []
    for item in items:
        kept += [(item, name, tuple(getattr(item, name))) for name in SCALED]
        if item.pose is not None:
            kept += [(item.pose.bones, name, _of_bones(item.pose.bones, name)) for name in SCALED]
        if item.type == "EMPTY":
            sliders = [(name, value) for name, value in item.items() if isinstance(value, float)]
            kept += [(item, f'["{name}"]', value) for name, value in sliders]
    return kept


def _of_bones(bones: Any, name: str) -> np.ndarray:
    """One channel of all bones of a pose (n, 3 or 4)."""
    values = np.empty((len(bones), 4 if name in CHANNELS[1:3] else 3), dtype=np.float32)
    bones.foreach_get(name, values.ravel())
    return values


def _put_back(kept: Kept) -> None:
    changed = False
    for owner, name, value in kept:
        if isinstance(value, np.ndarray):
            for row in np.flatnonzero((_of_bones(owner, name) != value).any(axis=1)):
                setattr(owner[int(row)], name, value[row].tolist())
                changed = True
        elif name.startswith("["):
            if owner[name[2:-2]] != value:
                owner[name[2:-2]] = value
                owner.update_tag()
                changed = True
        elif tuple(getattr(owner, name)) != value:
            setattr(owner, name, value)
            changed = True
    if changed:
        bpy.context.view_layer.update()
