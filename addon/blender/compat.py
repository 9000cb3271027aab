"""What plays on a datablock: Blender's actions, keys, strips, drivers and constraints.

Blender 4.2 to 5.2 differ: actions have slots and layers since 4.4, and their f-curves are elsewhere since 5.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import bpy
import numpy as np
from bpy.types import ID, Action, AnimData, Constraint, FCurve, NlaStrip, Object, PoseBone

if TYPE_CHECKING:
    from bpy.types import ActionChannelbag, ActionSlot


#: attributes of a key: name, numbers per key, and Blender's own type: arrays of another type are written key by key,
#: which takes seven times as long
ATTRIBUTES = (
    ("interpolation", 1, np.uint8),
    ("easing", 1, np.uint8),
    ("type", 1, np.uint8),
    ("handle_left_type", 1, np.uint8),
    ("handle_right_type", 1, np.uint8),
    ("amplitude", 1, np.float32),
    ("back", 1, np.float32),
    ("period", 1, np.float32),
    ("select_control_point", 1, bool),
    ("select_left_handle", 1, bool),
    ("select_right_handle", 1, bool),
    ("co", 2, np.float32),
    ("handle_left", 2, np.float32),
    ("handle_right", 2, np.float32),
)
BEZIER = bpy.types.Keyframe.bl_rna.properties["interpolation"].enum_items["BEZIER"].value
Keys = dict[str, np.ndarray]


def has_slots(action: Action | None) -> bool:
    return hasattr(action, "slots")


def names_set(group: Any) -> set[str] | None:
    """Names of the properties of a group of ours that were ever set; None: it is one of Blender's."""
    if not isinstance(group, bpy.types.PropertyGroup):
        return None
    if bpy.app.version < (5, 0):
        return set(bpy.types.bpy_struct.keys(group))  # of the class: a group may have a property named so
    if hasattr(group, "bl_system_properties_get"):  # 6 to 18 times as fast; Blender means it for debugging
        return set((group.bl_system_properties_get() or {}).keys())
    names = (each.identifier for each in group.bl_rna.properties)
    return set(filter(group.is_property_set, names)) - {"rna_type"}


def slot_of(player: AnimData | NlaStrip) -> ActionSlot | None:
    """The slot in use of animation data or of a strip; None without one, and before 4.4."""
    return getattr(player, "action_slot", None)


#: types of parents by which a child is where a matrix says
RIGID_PARENTS = ("OBJECT", "ARMATURE", "BONE")
#: instead of a slot's identifier: the action was in use without a slot
NO_SLOT = "-"


def slot_name(animation_data: AnimData) -> str:
    """Identifier of the slot in use, for `reassign`; NO_SLOT without one, empty before 4.4."""
    if animation_data.action is None or not has_slots(animation_data.action):
        return ""
    slot = animation_data.action_slot
    return slot.identifier if slot is not None else NO_SLOT


def slot_handle(slot: ActionSlot | None) -> int:
    """The permanent number of a slot, equal in copies of its action; 0 without a slot, and before 4.4."""
    return slot.handle if slot is not None else 0


def find_slot(action: Action, identifier: str, handle: int = 0) -> ActionSlot | None:
    """The slot of an action by its handle (0: unknown), else by its identifier, e.g. ``"OBTibia"``; None without it."""
    if not has_slots(action) or identifier == NO_SLOT:
        return None
    kept = [slot for slot in action.slots if handle and slot.handle == handle]
    named = [slot for slot in action.slots if slot.identifier == identifier]
    return next(iter(kept + named), None)


def earlier_slot(action: Action, id_type: str, identifier: str, handle: int = 0) -> ActionSlot | None:
    """The slot that an action had before a bake, as `find_slot` finds it, or the only suitable one.

    An identifier stored before 4.4 is empty: Blender then gave the action's curves a slot when it loaded the file. A
    slot of unknown handle may have been renamed.

    Args:
        id_type: type of the slot's datablocks, e.g. ``"OBJECT"``.
        identifier: the result of `slot_name`.
    """
    slot = find_slot(action, identifier, handle)
    if slot is None and identifier != NO_SLOT and has_slots(action):
        suitable = [each for each in action.slots if each.target_id_type in (id_type, "UNSPECIFIED")]
        slot = suitable[0] if suitable and (not identifier or len(suitable) == 1) else None
    return slot


def same_slot(action: Action | None, slot: ActionSlot) -> ActionSlot | None:
    """The slot of an action from which a slot of its copy was copied, also if renamed; None if it no longer exists."""
    if slot is None or not has_slots(action):
        return None
    return next((each for each in action.slots if each.handle == slot.handle), None)


def reassign(animation_data: AnimData, action: Action | None, name: str, handle: int = 0) -> None:
    """Assign an action again, with the slot that `earlier_slot` finds."""
    animation_data.action = action
    if action is not None and has_slots(action):
        animation_data.action_slot = earlier_slot(action, animation_data.id_data.id_type, name, handle)


def new_slot(action: Action, datablock: ID) -> ActionSlot:
    """A new slot of an action for a datablock; None before 4.4."""
    return action.slots.new(id_type=datablock.id_type, name=datablock.name) if has_slots(action) else None


def assign(animation_data: AnimData, action: Action, slot: ActionSlot) -> None:
    """Assign an action and, if there are slots, the slot."""
    animation_data.action = action
    if action is not None and has_slots(action):
        animation_data.action_slot = slot


def curves(action: Action | None, slot: ActionSlot | None, ensure: bool = False) -> Any:
    """Blender's collection of the f-curves of an action for a slot; an empty tuple without one, unless `ensure`."""
    if action is None:
        return ()
    if not has_slots(action):
        return action.fcurves
    if slot is None:
        return ()
    if ensure:
        layer = action.layers[0] if action.layers else action.layers.new("Layer")
        strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
        return strip.channelbag(slot, ensure=True).fcurves
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            if bag is not None:
                return bag.fcurves
    return ()


def all_curves(action: Action) -> Iterator[FCurve]:
    """The f-curves of all slots of an action."""
    for slot in action.slots if has_slots(action) else (None,):
        yield from curves(action, slot)


def curves_in_use(datablock: ID) -> Iterator[FCurve]:
    """The f-curves of the action that a datablock uses now."""
    animation_data = datablock.animation_data
    if animation_data is not None:
        yield from curves(animation_data.action, slot_of(animation_data))


def new_curves(
    action: Action, slot: ActionSlot, path: str, indices: Iterable[int], group: str
) -> list[FCurve]:
    """New f-curves of an action for a slot, shown under a group's name."""
    found = curves(action, slot, ensure=True)
    given = found.bl_rna.functions["new"].parameters.keys()
    named = next(
        (name for name in ("group_name", "action_group") if name in given), None
    )  # none in Blender 4.4
    if named is not None:
        return [found.new(path, index=index, **{named: group}) for index in indices]
    groups = _bag(action, slot).groups
    made = [found.new(path, index=index) for index in indices]
    for curve in made:
        curve.group = groups.get(group) or groups.new(group)
    return made


def taken(curve: FCurve) -> Keys:
    """All keys of a curve with all their attributes, in arrays with one row for each key."""
    points = curve.keyframe_points
    found = {}
    for name, width, kind in ATTRIBUTES:
        numbers = np.empty(width * len(points), dtype=kind)
        points.foreach_get(name, numbers)
        found[name] = numbers.reshape(len(points), width) if width > 1 else numbers
    return found


def give(curve: FCurve, keys: Keys) -> None:
    """Give a curve exactly these keys, sorted. The caller must update one curve of the action afterwards, which tags
    the action; free handles keep their places then.
    """
    points, count = curve.keyframe_points, len(keys["co"])
    if len(points) > count:
        points.clear()
    fresh = not points
    points.add(count - len(points))
    for name, numbers in keys.items():
        if not (fresh and name == "interpolation" and (numbers == BEZIER).all()):  # as new
            points.foreach_set(name, numbers.ravel())


def same_keys(one: FCurve, other: FCurve) -> bool:
    """Whether two curves have the same keys, apart from selection."""
    if len(one.keyframe_points) != len(other.keyframe_points):
        return False
    ours, theirs = taken(one), taken(other)
    return all(np.array_equal(ours[name], theirs[name]) for name in ours if not name.startswith("select_"))


def _bag(action: Action, slot: ActionSlot) -> ActionChannelbag:
    """The existing channels of an action for a slot."""
    bags = (strip.channelbag(slot) for layer in action.layers for strip in layer.strips)
    return next(bag for bag in bags if bag is not None)


def assign_strip_slot(strip: NlaStrip, slot: ActionSlot | None) -> None:
    """Set the slot that an NLA strip plays; None: it plays none. Does nothing before 4.4."""
    if hasattr(strip, "action_slot"):
        strip.action_slot = slot


def flat_strips(strips: Iterable[NlaStrip]) -> Iterator[NlaStrip]:
    """NLA strips and those within meta strips."""
    for strip in strips:
        yield strip
        yield from flat_strips(strip.strips)


def is_used(action: Action, item: Any) -> bool:
    """Whether an object with the same data plays an action, so that Blender gives it new names of bones itself."""
    for other in bpy.data.objects:
        data = other.animation_data if other.data == item.data else None
        if data is None:
            continue
        strips = flat_strips(strip for track in data.nla_tracks for strip in track.strips)
        if data.action == action or any(strip.action == action for strip in strips):
            return True
    return False


def is_alone(data: AnimData) -> bool:
    """Whether nothing plays below the action in use: Blender then takes no notice of how it is to be blended.

    A strip that is muted counts, one on a muted track does not. While a track plays solo, the action in use does not
    play at all; what counts is how it will be without.
    """
    return not data.use_nla or not any(len(track.strips) and not track.mute for track in data.nla_tracks)


def is_played(datablock: ID, path: str) -> bool:
    """Whether keys, drivers or strips of the NLA move what a data path leads to."""
    data = datablock.animation_data
    if data is None:
        return False
    strips = flat_strips(strip for track in data.nla_tracks for strip in track.strips)
    played = [curve for strip in strips for curve in curves(strip.action, slot_of(strip))]
    return any(curve.data_path == path for curve in (*curves_in_use(datablock), *data.drivers, *played))


def is_switched(item: Object, constraint: Constraint) -> bool:
    """Whether something mutes and unmutes a constraint with time."""
    path = constraint.path_from_id()
    return any(is_played(item, f"{path}.{name}") for name in ("mute", "enabled"))


def acts(item: Object, constraint: Constraint) -> bool:
    """Whether a constraint of an object or of one of its bones does anything, now or at another frame: not one that is
    muted, that looks at nothing, or whose influence is 0, as a switch between FK and IK leaves it.
    """
    if getattr(constraint, "target", item) is None or (constraint.mute and not is_switched(item, constraint)):
        return False
    return bool(constraint.influence > 0.0 or is_played(item, f"{constraint.path_from_id()}.influence"))


def ik_chains(item: Object) -> Iterator[tuple[PoseBone, Constraint, list[PoseBone]]]:
    """The bone, the constraint, and all bones that it bends, of each IK constraint of an armature, muted ones, too."""
    for below in item.pose.bones:
        for constraint in below.constraints:
            if constraint.type in {"IK", "SPLINE_IK"}:
                chain = [below, *below.parent_recursive]
                if constraint.type == "IK" and not constraint.use_tail:
                    del chain[0]
                yield below, constraint, chain[: constraint.chain_count or len(chain)]
