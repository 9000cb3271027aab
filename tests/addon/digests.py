"""Everything that an undo has to bring back, as nested plain values that can be compared.

All data of ours, and all animation data of the file: actions with their slots, layers and keys, drivers, NLA,
constraints, modifiers, custom properties with their limits, shape keys, transforms, bones, collections, selection.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

ID_LISTS = (
    "objects",
    "scenes",
    "curves",
    "meshes",
    "armatures",
    "materials",
    "node_groups",
    "shape_keys",
    "cameras",
    "lights",
    "worlds",
    "texts",
)
# what tells of a session, of evaluation or of the screen, not of the file
PASSING = {
    "rna_type",
    "is_valid",
    "error_location",
    "error_rotation",
    "is_active",
    "active",
    "show_expanded",
    "execution_time",
    "persistent_uid",
    "is_in_ik_chain",
}
CHANNELS = (
    "location",
    "rotation_euler",
    "rotation_quaternion",
    "rotation_axis_angle",
    "rotation_mode",
    "scale",
)
OF_OBJECT = (
    *CHANNELS,
    "delta_location",
    "parent_type",
    "parent_bone",
    "hide_viewport",
    "hide_render",
    "hide_select",
    "display_type",
    "empty_display_type",
    "empty_display_size",
    "show_in_front",
    "instance_type",
)
OF_BONE = ("use_connect", "use_inherit_rotation", "inherit_scale", "use_local_location", "use_deform")


def digest() -> dict[str, Any]:
    """The whole file, by kind and name."""
    found: dict[str, Any] = {"actions": {item.name_full: of_action(item) for item in bpy.data.actions}}
    for kind in ID_LISTS:
        found[kind] = {item.name_full: of_datablock(item) for item in getattr(bpy.data, kind)}
    found["collections"] = {
        item.name_full: ([each.name for each in item.objects], [each.name for each in item.children])
        for item in (*bpy.data.collections, *(scene.collection for scene in bpy.data.scenes))
    }
    layer = bpy.context.view_layer
    active = layer.objects.active
    found["chosen"] = (
        active and active.name,
        sorted(item.name for item in layer.objects if item.select_get()),
    )
    return found


def differences(first: Any, second: Any, path: str = "") -> list[str]:
    """Where two digests differ, for people."""
    if isinstance(first, dict) and isinstance(second, dict):
        found = [f"{path}/{key} is in one alone" for key in first.keys() ^ second.keys()]
        for key in first.keys() & second.keys():
            found += differences(first[key], second[key], f"{path}/{key}")
        return found
    if isinstance(first, (list, tuple)) and isinstance(second, (list, tuple)) and len(first) == len(second):
        return [
            line
            for number, pair in enumerate(zip(first, second))
            for line in differences(*pair, f"{path}/{number}")
        ]
    return [] if first == second else [f"{path}: {first!r:.200} is not {second!r:.200}"]


def of_datablock(item: Any) -> dict[str, Any]:
    """Animation, custom properties and, by type, what else of a datablock our operators may change."""
    found: dict[str, Any] = {"animation": of_animation(item), "custom": custom(item), "users": item.users}
    if hasattr(item, "condyle"):
        found["condyle"] = plain(item.condyle)
    if isinstance(item, bpy.types.Object):
        found |= {name: plain(getattr(item, name)) for name in OF_OBJECT}
        found["parent"] = plain(item.parent), plain(item.matrix_parent_inverse)
        found["data"] = plain(item.data)
        found["constraints"] = [settings(each) for each in item.constraints]
        found["modifiers"] = [settings(each) for each in item.modifiers]
        found["bones"] = {bone.name: of_bone(bone) for bone in (item.pose.bones if item.pose else ())}
    elif isinstance(item, bpy.types.Scene):
        found["frames"] = item.frame_start, item.frame_end, item.frame_current, item.frame_subframe
        found["preview"] = item.use_preview_range, item.frame_preview_start, item.frame_preview_end
        found["markers"] = [(marker.name, marker.frame) for marker in item.timeline_markers]
        found["cursor"] = plain(item.cursor.matrix)
    elif isinstance(item, bpy.types.Key):
        found["eval_time"], found["relative"] = item.eval_time, item.use_relative
        found["blocks"] = [of_shape(block) for block in item.key_blocks]
    elif isinstance(item, bpy.types.Curve):
        found["points"] = [[plain(point.co) for point in spline.points] for spline in item.splines]
        found["bezier"] = [[plain(p.co) for p in spline.bezier_points] for spline in item.splines]
        found["look"] = item.bevel_depth, item.use_path, [plain(each) for each in item.materials]
    elif isinstance(item, bpy.types.Mesh):
        values = np.empty(3 * len(item.vertices), dtype=np.float32)
        item.vertices.foreach_get("co", values)
        found["vertices"], found["materials"] = values.tobytes(), [plain(each) for each in item.materials]
    elif isinstance(item, bpy.types.Armature):
        found["bones"] = [
            (bone.name, plain(bone.matrix_local), [getattr(bone, name) for name in OF_BONE])
            for bone in item.bones
        ]
    elif isinstance(item, bpy.types.Text):
        found["text"] = item.as_string()
    return found


def of_bone(bone: Any) -> dict[str, Any]:
    return {
        "channels": [plain(getattr(bone, name)) for name in CHANNELS],
        "condyle": plain(bone.condyle),
        "constraints": [settings(each) for each in bone.constraints],
        "custom": custom(bone),
    }


def of_shape(block: Any) -> tuple[Any, ...]:
    values = np.empty(3 * len(block.data), dtype=np.float32)
    block.data.foreach_get("co", values)
    return block.name, block.value, block.interpolation, values.tobytes()


def custom(owner: Any) -> dict[str, Any]:
    """Custom properties with what the interface knows of them."""
    found = {}
    for name, value in owner.items():
        if name == "condyle" or name == "_RNA_UI" or hasattr(value, "keys"):
            continue
        facts = {}
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            facts = owner.id_properties_ui(name).as_dict()
        found[name] = plain(value), facts, owner.is_property_overridable_library(f'["{name}"]')
    return found


def of_animation(item: Any) -> Any:
    """The use of actions, the NLA and the drivers of a datablock; None where it has no animation data."""
    data = getattr(item, "animation_data", None)
    if data is None:
        return None
    slot = getattr(data, "action_slot", None)
    return {
        "action": plain(data.action),
        "slot": slot and slot.identifier,
        "blending": (data.action_blend_type, data.action_extrapolation, data.action_influence),
        "drivers": [(of_curve(curve), of_driver(curve.driver)) for curve in data.drivers],
        "nla": (data.use_nla, [settings(track, ("strips",)) for track in data.nla_tracks]),
    }


def of_driver(driver: Any) -> dict[str, Any]:
    return settings(driver, ("variables",)) | {
        "variables": [
            settings(variable, ("targets",)) | {"targets": [settings(each) for each in variable.targets]}
            for variable in driver.variables
        ]
    }


def of_action(action: Any) -> dict[str, Any]:
    """Slots, layers, strips, channel bags and every key of an action."""
    found: dict[str, Any] = {"users": action.users, "fake": action.use_fake_user, "custom": custom(action)}
    if not hasattr(action, "slots"):
        return found | {"curves": [of_curve(curve) for curve in action.fcurves]}
    found["slots"] = [slot.identifier for slot in action.slots]
    found["layers"] = [
        {
            (strip.type, slot.identifier): [of_curve(curve) for curve in strip.channelbag(slot).fcurves]
            for strip in layer.strips
            for slot in action.slots
            if strip.channelbag(slot) is not None
        }
        for layer in action.layers
    ]
    return found


def of_curve(curve: Any) -> tuple[Any, ...]:
    points = curve.keyframe_points
    values = []
    for name in ("co", "handle_left", "handle_right"):
        array = np.empty(2 * len(points), dtype=np.float32)
        points.foreach_get(name, array)
        values.append(array.tobytes())
    kinds = [(point.interpolation, point.handle_left_type, point.handle_right_type) for point in points]
    group = curve.group.name if curve.group else ""
    return (
        curve.data_path,
        curve.array_index,
        curve.mute,
        curve.extrapolation,
        group,
        [each.type for each in curve.modifiers],
        kinds,
        *values,
    )


def settings(owner: Any, deeper: tuple[str, ...] = ()) -> dict[str, Any]:
    """All simple settings of a constraint, modifier, driver, NLA track ...; lists in `deeper` likewise."""
    found = {}
    for item in owner.bl_rna.properties:
        name = item.identifier
        if name in PASSING:
            continue
        if item.type == "COLLECTION":
            if name in deeper:
                found[name] = [settings(each) for each in getattr(owner, name)]
        elif item.type != "POINTER" or isinstance(getattr(owner, name), (bpy.types.ID, type(None))):
            found[name] = plain(getattr(owner, name))
    return found


def plain(value: Any) -> Any:
    """A value without anything of Blender's in it."""
    if isinstance(value, bpy.types.PropertyGroup):
        names = [item.identifier for item in value.bl_rna.properties if item.identifier != "rna_type"]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, bpy.types.ID):
        return value.name_full
    if isinstance(value, (str, bytes, set)):
        return value
    if hasattr(value, "__len__"):
        return [plain(entry) for entry in value]
    return value
