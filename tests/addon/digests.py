"""Everything that an undo has to bring back, as nested plain values that can be compared.

All data of ours, and all animation data of the file: actions with their slots, layers and keys, drivers, NLA,
constraints, modifiers, custom properties with their limits, shape keys, transforms, bones, collections, selection.
"""

import functools
import math
from typing import Any

import bpy
import numpy as np

# two roundings to single precision; angles and lengths of nothing
ROUNDING = {"rel_tol": 2.5e-7, "abs_tol": 1e-9}
# what the user's screens, the program and its brushes are made of: no step of undo holds it; and all kinds in one
NOT_UNDONE = {
    *("all_ids", "window_managers", "workspaces", "screens", "brushes", "palettes", "paint_curves"),
    *("fonts",),
}
# what tells of a session, of evaluation or of the screen, not of the file
PASSING = {
    *("rna_type", "is_valid", "error_location", "error_rotation", "is_active", "active", "show_expanded"),
    *("execution_time", "persistent_uid", "is_in_ik_chain", "session_uid", "is_evaluated", "tag"),
    *("is_runtime_data", "dimensions", "bound_box", "matrix_local", "matrix_world"),
    "is_simple_expression",  # read from the expression where it is first evaluated
    "use_nodes",  # always true, and on its way out of Blender
}
KEYS = ("co", "handle_left", "handle_right", "back", "amplitude", "period")
KINDS_OF_KEYS = ("type", "interpolation", "easing", "handle_left_type", "handle_right_type")


def digest() -> dict[str, Any]:
    """The whole file, by kind and name, evaluated."""
    found: dict[str, Any] = {"actions": {item.name_full: of_action(item) for item in bpy.data.actions}}
    kinds = [each.identifier for each in bpy.data.bl_rna.properties if each.type == "COLLECTION"]
    for kind in {*kinds} - NOT_UNDONE - {"actions"}:
        found[kind] = {item.name_full: of_datablock(item) for item in getattr(bpy.data, kind)}
    for name in [item.name_full for item in bpy.data.images if item.type == "RENDER_RESULT"]:
        del found["images"][name]  # it is of the session
    layer = bpy.context.view_layer
    active = layer.objects.active
    found["chosen"] = {
        "mode": bpy.context.mode,
        "active": active and active.name_full,
        "selected": sorted(item.name_full for item in layer.objects if item.select_get()),
        "hidden": sorted(item.name_full for item in layer.objects if item.hide_get()),
    }
    # as evaluated: through an undo Blender keeps no matrix of what stands still, nor of what nothing seen needs
    graph = bpy.context.evaluated_depsgraph_get()
    seen = [item.evaluated_get(graph) for item in layer.objects if item.visible_get()]
    found["matrices"] = {item.name_full: plain(item.matrix_world) for item in seen}
    found["poses"] = {
        rig.name_full: [plain(bone.matrix) for bone in rig.pose.bones] for rig in seen if rig.pose
    }
    return found


def differences(first: Any, second: Any, path: str = "") -> list[str]:
    """Where two digests differ, for people; numbers that Blender evaluates again in single precision may be rounded."""
    if first == second:
        return []
    if isinstance(first, float) and isinstance(second, float) and math.isclose(first, second, **ROUNDING):
        return []
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
    return [f"{path}: {first!r:.200} is not {second!r:.200}"]


def of_datablock(item: Any) -> dict[str, Any]:
    """Animation, custom properties, settings and, by type, what hangs in a datablock."""
    found: dict[str, Any] = {"animation": of_animation(item), "custom": custom(item)}
    found["settings"] = settings(item)
    if item.override_library is not None:
        found["override"] = settings(item.override_library)
    if hasattr(item, "condyle"):
        found["condyle"] = plain(item.condyle)
    return found | (OF_KIND[kind_of(item)](item) if kind_of(item) in OF_KIND else {})


def kind_of(item: Any) -> str:
    """The name of a datablock's type: of its kind of curve or light, too, only "Curve" or "Light"."""
    return next(name for name in (each.__name__ for each in type(item).__mro__) if name in (*OF_KIND, "ID"))


def of_object(item: Any) -> dict[str, Any]:
    return {
        "parent": (plain(item.parent), plain(item.matrix_parent_inverse)),
        "constraints": [settings(each) for each in item.constraints],
        "modifiers": [settings(each) | of_inputs(each) for each in item.modifiers],
        "groups": [each.name for each in item.vertex_groups],
        "slots": [(each.link, plain(each.material)) for each in item.material_slots],
        "bones": {bone.name: of_bone(bone) for bone in (item.pose.bones if item.pose else ())},
    }


def of_inputs(modifier: Any) -> dict[str, Any]:
    """What geometry nodes are given."""
    return {"inputs": custom(modifier)} if modifier.type == "NODES" else {}


def of_scene(item: Any) -> dict[str, Any]:
    return {
        "units": settings(item.unit_settings),
        "rate": (item.render.fps, item.render.fps_base, item.render.frame_map_old, item.render.frame_map_new),
        "autokey": item.tool_settings.use_keyframe_insert_auto,
        "markers": [(marker.name, marker.frame) for marker in item.timeline_markers],
        "cursor": plain(item.cursor.matrix),
        "collection": of_collection(item.collection),
        "layers": {layer.name: of_layer(layer.layer_collection) for layer in item.view_layers},
    }


def of_layer(item: Any) -> dict[str, Any]:
    """What a view layer shows of a collection and of those within."""
    return settings(item) | {"children": [of_layer(each) for each in item.children]}


def of_collection(item: Any) -> dict[str, Any]:
    return {"objects": plain(item.objects), "children": plain(item.children)}


def of_key(item: Any) -> dict[str, Any]:
    return {"blocks": [of_shape(block) for block in item.key_blocks]}


def of_spline_curve(item: Any) -> dict[str, Any]:
    return {
        "splines": [
            (settings(each), *([settings(p) for p in points] for points in (each.points, each.bezier_points)))
            for each in item.splines
        ],
        "materials": plain(item.materials),
    }


def of_mesh(item: Any) -> dict[str, Any]:
    values = np.empty(3 * len(item.vertices), dtype=np.float32)
    item.vertices.foreach_get("co", values)
    corners = np.empty(len(item.loops), dtype=np.int32)
    item.loops.foreach_get("vertex_index", corners)
    weights = [(g.group, g.weight, v.index) for v in item.vertices for g in v.groups]
    return {
        "vertices": values.tobytes(),
        "corners": corners.tobytes(),
        "weights": weights,
        "attributes": sorted((each.name, each.data_type, each.domain) for each in item.attributes),
        "materials": plain(item.materials),
    }


def of_armature(item: Any) -> dict[str, Any]:
    return {"bones": [(bone.name, settings(bone), custom(bone)) for bone in item.bones]}


def of_text(item: Any) -> dict[str, Any]:
    return {"text": item.as_string()}


def of_node_tree(item: Any) -> dict[str, Any]:
    return {
        "nodes": [
            (settings(node), [plain(getattr(each, "default_value", None)) for each in node.inputs])
            for node in item.nodes
        ],
        "links": [
            (each.from_node.name, each.from_socket.identifier, each.to_node.name, each.to_socket.identifier)
            for each in item.links
        ],
    }


def of_material(item: Any) -> dict[str, Any]:
    return {"tree": of_node_tree(item.node_tree) if item.node_tree else None}


OF_KIND = {
    "Object": of_object,
    "Scene": of_scene,
    "Collection": of_collection,
    "Key": of_key,
    "Curve": of_spline_curve,
    "Mesh": of_mesh,
    "Armature": of_armature,
    "Text": of_text,
    "NodeTree": of_node_tree,
    "Material": of_material,
}


def of_bone(bone: Any) -> dict[str, Any]:
    return {
        "settings": settings(bone),
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
    found: dict[str, Any] = {"settings": settings(action), "custom": custom(action)}
    if not hasattr(action, "slots"):
        groups = [settings(group) for group in action.groups]
        return found | {"curves": [of_curve(curve) for curve in action.fcurves], "groups": groups}
    found["slots"] = [settings(slot) for slot in action.slots]
    found["layers"] = [
        (settings(layer), [of_strip(strip) for strip in layer.strips]) for layer in action.layers
    ]
    return found


def of_strip(strip: Any) -> tuple[Any, ...]:
    bags = [
        (
            bag.slot.identifier,
            [of_curve(curve) for curve in bag.fcurves],
            [settings(group) for group in bag.groups],
        )
        for bag in strip.channelbags
    ]
    return settings(strip), bags


def of_curve(curve: Any) -> tuple[Any, ...]:
    points = curve.keyframe_points
    values = []
    for name in (*KEYS, *KINDS_OF_KEYS):
        kind = np.int32 if name in KINDS_OF_KEYS else np.float32
        array = np.empty((2 if name in KEYS[:3] else 1) * len(points), dtype=kind)
        points.foreach_get(name, array)
        values.append(array.tobytes())
    group = curve.group.name if curve.group else ""
    return settings(curve), group, [settings(each) for each in curve.modifiers], *values


def settings(owner: Any, deeper: tuple[str, ...] = ()) -> dict[str, Any]:
    """All simple settings of a constraint, modifier, driver, NLA track ...; lists in `deeper` likewise."""
    simple, pointers, lists = properties_of(type(owner))
    found = {name: plain(getattr(owner, name)) for name in simple}
    for name in pointers:
        value = getattr(owner, name)
        if value is None or isinstance(value, bpy.types.ID):
            found[name] = plain(value)
    for name in deeper:
        if name in lists:
            found[name] = [settings(each) for each in getattr(owner, name)]
    return found


@functools.cache
def properties_of(kind: Any) -> tuple[list[str], list[str], list[str]]:
    """Names of the properties of a type of Blender's: simple ones, pointers and lists."""
    named: tuple[list[str], list[str], list[str]] = ([], [], [])
    passing = {"rna_type"} if issubclass(kind, bpy.types.PropertyGroup) else PASSING
    for item in kind.bl_rna.properties:
        if item.identifier not in passing:
            named[{"POINTER": 1, "COLLECTION": 2}.get(item.type, 0)].append(item.identifier)
    return named


def plain(value: Any) -> Any:
    """A value without anything of Blender's in it."""
    if value is None or isinstance(value, (float, int, str, bytes, set)):
        return value
    if isinstance(value, bpy.types.PropertyGroup):
        return {name: plain(getattr(value, name)) for names in properties_of(type(value)) for name in names}
    if isinstance(value, bpy.types.ID):
        return value.name_full
    return [plain(entry) for entry in value] if hasattr(value, "__len__") else value
