"""Copies what a simulation reads of a scene, as it is evaluated now, into records with Blender's names.

What reads a scene reads such a copy as well. All of Condyle's own groups are copied by what they declare, those that
are not in use by their defaults; pointers lead from record to record. Matrices are copies that nobody changes: Blender
4.2 cannot read frozen ones. Meshes are not copied (`meshes`), nor is what f-curves say between their keys, and how
bones inherit: `evaluate` and `convert_local_to_pose` are Blender's own.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, cast

import bpy
import numpy as np
from bpy.types import (
    ID,
    Action,
    Constraint,
    FCurve,
    FModifier,
    NlaStrip,
    Object,
    PoseBone,
    Property,
    PropertyGroup,
    Scene,
)

from ..blender import compat
from ..data import evaluated_objects
from ..data.joints import slider_ends, slider_names
from ..data.properties import shown_by
from ..data.records import Numbers, Record, Rows, fill

SCENE = (
    *("name", "name_full", "session_uid", "frame_current", "frame_start", "frame_end", "frame_current_final"),
    *("use_preview_range", "frame_preview_start", "frame_preview_end"),
)
OBJECT = (
    *("name", "name_full", "session_uid", "type", "parent_type", "parent_bone", "hide_viewport"),
    *("rotation_mode", "empty_display_size"),
)
BONE = ("name", "rotation_mode")
REST = (
    *("name", "length", "inherit_scale", "use_connect", "use_inherit_rotation", "use_local_location"),
    *("use_relative_parent", "convert_local_to_pose"),
)
CONSTRAINT = ("name", "type", "mute", "influence")
#: of some constraints alone
CONSTRAINT_OF = ("enabled", "map_to", "use_tail", "chain_count", "subtarget", "pole_subtarget")
MATRICES = ("matrix_world", "matrix_basis", "matrix_parent_inverse")
VECTORS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
DELTAS = ("delta_rotation_euler", "delta_rotation_quaternion")
#: of what plays on a data-block, of a strip of the NLA, and of a curve's cycles
ANIMATION = ("action_influence", "action_blend_type", "use_nla", "use_tweak_mode")
STRIP = (
    *("name", "type", "mute", "scale", "repeat", "use_reverse", "blend_type", "blend_in", "blend_out"),
    *("action_frame_start", "action_frame_end", "frame_start", "frame_end"),
    *("use_animated_influence", "use_animated_time"),
)
CYCLES = (
    *("mode_before", "mode_after", "cycles_before", "cycles_after", "use_influence", "influence"),
    *("use_restricted_range", "frame_start", "frame_end", "blend_in", "blend_out"),
)
#: groups of objects and bones that nothing reads who is not enabled, but for control points that parts may use
SWITCHED = {"body", "joint", "connection", "muscle", "obstacle", "collider"}


def take(scene: Scene) -> Scene:
    """A copy of a scene, of its objects and of all they point to; it reads like a scene and cannot be changed."""
    return cast(Scene, _Reader(scene).scene)


class _Reader:
    def __init__(self, scene: Scene) -> None:
        self.scene = Record()
        self._known: dict[int, Record] = {scene.session_uid: self.scene}
        self._waiting: list[Object] = []
        objects = list(scene.objects)
        self._inside = {item.session_uid for item in objects}
        self._evaluated = _evaluated()
        values = {name: getattr(scene, name) for name in SCENE}
        values["unit_settings"] = Record(scale_length=scene.unit_settings.scale_length)
        render = ("fps", "fps_base", "frame_map_old", "frame_map_new")
        values["render"] = Record(**{name: getattr(scene.render, name) for name in render})
        values |= {
            "condyle": self._group(scene.condyle),
            "animation_data": self._animation(scene),
            "objects": Rows(self.item(item) for item in objects),
        }
        fill(self.scene, values)
        while self._waiting:
            item = self._waiting.pop()
            fill(self._known[item.session_uid], self._of_item(item))

    def item(self, item: Object | None) -> Record | None:
        """The record of an object, which is filled later."""
        if item is None:
            return None
        known = self._known.get(item.session_uid)
        if known is None:
            known = self._known[item.session_uid] = Record()
            self._waiting.append(item)
        return known

    def _of_item(self, item: Object) -> dict[str, Any]:
        own = self._known[item.session_uid]
        groups: Any = self._root(item)
        values: dict[str, Any] = {name: getattr(item, name) for name in OBJECT}
        values |= {name: tuple(getattr(item, name)) for name in (*VECTORS, "delta_scale", "delta_location")}
        values |= {name: getattr(item, name).copy() for name in (*MATRICES, *DELTAS)}
        is_inside = item.session_uid in self._inside
        unevaluated = item.hide_viewport or item.session_uid not in self._evaluated
        values |= {
            "id_data": own,
            "parent": self.item(item.parent),
            "condyle": groups,
            "users_scene": (self.scene,) if is_inside else (),
            "users_collection": (None,) if is_inside else tuple(map(_named, item.users_collection)),
            "unevaluated": evaluated_objects.why_not(item) if unevaluated else "",
            "library": _named(item.library),
            "animation_data": self._animation(item),
            "constraints": Rows(self._constraint(each, "") for each in item.constraints),
            "modifiers": Rows(self._modifier(each) for each in item.modifiers),
            "data": self._data(item),
            "rigid_body": None if item.rigid_body is None else Record(),
            "pose": None,
        }
        if item.type == "MESH":
            values["bound_box"] = tuple(map(tuple, item.bound_box))
        joint = groups.joint
        names = [name for name in slider_names(joint) if joint.driven and name in item]
        values["custom"] = {name: item[name] for name in names}
        values["ends"] = {name: slider_ends(item, name) for name in names if isinstance(item[name], float)}
        if item.pose is not None:
            bones = {bone.name: Record() for bone in item.pose.bones}
            for bone in item.pose.bones:
                fill(bones[bone.name], self._of_bone(bone, own, bones))
            values["pose"] = Record(bones=Rows(bones.values()))
        return values

    def _of_bone(self, bone: PoseBone, item: Record, bones: dict[str, Record]) -> dict[str, Any]:
        path = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'
        rest = bone.bone
        return {
            **{name: getattr(bone, name) for name in BONE},
            **{name: tuple(getattr(bone, name)) for name in VECTORS},
            "id_data": item,
            "path": path,
            "parent": None if bone.parent is None else bones[bone.parent.name],
            "matrix": bone.matrix.copy(),
            "matrix_basis": bone.matrix_basis.copy(),
            "condyle": self._root(bone),
            "constraints": Rows(self._constraint(each, f"{path}.") for each in bone.constraints),
            "bone": Record(
                **{name: getattr(rest, name) for name in REST}, matrix_local=rest.matrix_local.copy()
            ),
        }

    def _root(self, owner: Object | PoseBone) -> Record:
        """Condyle's data of an object or bone, of groups that are not in use their defaults."""
        root = owner.condyle
        is_body = root.body.enabled
        values: dict[str, Any] = {}
        for name, kind in _fields_of(root).items():
            value = getattr(root, name)
            is_read = name not in SWITCHED or value.enabled or (is_body and name == "collider")
            if not (is_read or (name == "joint" and len(value.frames))):
                values[name] = _usual_of(value)
            else:
                values[name] = self._value(value, kind)
        return Record(**values)

    def _group(self, group: Any) -> Record:
        kinds = _fields_of(group).items()
        return Record(**{name: self._value(getattr(group, name), kind) for name, kind in kinds})

    def _value(self, value: Any, kind: str) -> Any:
        if kind == "PLAIN" or value is None:
            return value
        if kind == "ARRAY":
            return tuple(value)
        if kind == "COLLECTION":
            return Rows(map(self._group, value))
        if isinstance(value, PropertyGroup):
            return self._group(value)
        return self._pointed(value)

    def _pointed(self, value: Any) -> Record | None:
        if isinstance(value, bpy.types.Object):
            return self.item(value)
        if isinstance(value, bpy.types.Curve):
            return self._curve(value)
        made = _named(value)
        if isinstance(value, bpy.types.Collection):
            fill(made, {"all_objects": Rows(map(_named, value.all_objects))})
        return made

    def _data(self, item: Object) -> Record | None:
        data = item.data
        if data is None:
            return None
        if item.type == "CURVE":
            return self._curve(data)
        return _named(data)

    def _modifier(self, modifier: Any) -> Record:
        made = Record(name=modifier.name, type=modifier.type, show_viewport=modifier.show_viewport)
        if modifier.type == "HOOK":
            inverse = modifier.matrix_inverse.copy()
            values = {"object": self.item(modifier.object), "subtarget": modifier.subtarget}
            fill(
                made, {**values, "matrix_inverse": inverse, "vertex_indices": tuple(modifier.vertex_indices)}
            )
        return made

    def _constraint(self, constraint: Constraint, prefix: str) -> Record:
        name = bpy.utils.escape_identifier(constraint.name)
        values: dict[str, Any] = {each: getattr(constraint, each) for each in CONSTRAINT}
        values["path"] = f'{prefix}constraints["{name}"]'
        values |= {each: getattr(constraint, each) for each in CONSTRAINT_OF if hasattr(constraint, each)}
        for each in ("target", "pole_target"):
            if hasattr(constraint, each):
                values[each] = self._pointed(getattr(constraint, each))
        rows: Iterable[Any] = getattr(constraint, "targets", ())
        values["targets"] = Rows(
            Record(name="", target=self.item(row.target), subtarget=row.subtarget) for row in rows
        )
        return Record(**values)

    def _curve(self, curve: Any) -> Record:
        """A curve with the control points of its splines."""
        rows = []
        for spline in curve.splines:
            points = spline.bezier_points if spline.type == "BEZIER" else spline.points
            size = 3 if spline.type == "BEZIER" else 4
            values = np.empty(size * len(points), dtype=np.float32)
            points.foreach_get("co", values)
            rows.append(_Spline(spline.type, values.reshape(-1, size)))
        own = {"name": curve.name, "session_uid": curve.session_uid}
        return Record(splines=rows, animation_data=self._animation(curve), **own)

    def _animation(self, block: ID) -> Record | None:
        data = getattr(block, "animation_data", None)
        if data is None:
            return None
        return Record(
            **{name: getattr(data, name) for name in ANIMATION},
            action=_action(data.action, compat.curves_in_use(block)),
            nla_tracks=Rows(
                Record(name=each.name, mute=each.mute, strips=_strips(each.strips))
                for each in data.nla_tracks
            ),
            drivers=Rows(map(self._driver, data.drivers)),
        )

    def _driver(self, curve: FCurve) -> Record:
        variables = []
        for each in curve.driver.variables:
            values = ("data_path", "bone_target", "transform_space")
            targets = [
                Record(id=self._block(one.id), **{name: getattr(one, name) for name in values})
                for one in each.targets
            ]
            variables.append(Record(type=each.type, targets=targets))
        own = {"data_path": curve.data_path, "array_index": curve.array_index}
        return Record(name="", driver=Record(variables=variables), **own)

    def _block(self, value: ID | None) -> Record | None:
        """The record of what a driver looks at."""
        if value is None or isinstance(value, Object):
            return self.item(value)
        known = self._known.get(value.session_uid)
        if known is None:
            known = self._known[value.session_uid] = Record(name=value.name, session_uid=value.session_uid)
            fill(known, {"animation_data": self._animation(value)})
        return known


def _evaluated() -> set[int]:
    """Session uids of the objects that the present view layer evaluates."""
    homes = evaluated_objects.collections(bpy.context.view_layer.layer_collection)
    return {item.session_uid for home in homes for item in home.objects}


def _strips(strips: Iterable[NlaStrip]) -> Rows:
    return Rows(
        Record(
            **{name: getattr(each, name) for name in STRIP},
            action=_action(each.action, compat.curves(each.action, compat.slot_of(each))),
            strips=_strips(each.strips),
            modifiers=tuple(modifier.type for modifier in each.modifiers),
        )
        for each in strips
    )


def _action(action: Action | None, curves: Iterable[FCurve]) -> Record | None:
    return None if action is None else Record(name=action.name, fcurves=Rows(map(_fcurve, curves)))


def _named(value: Any) -> Any:
    """The name of a data-block and of its library."""
    if value is None:
        return None
    made = Record(name=value.name, name_full=value.name_full)
    library = (
        None if value.library is None else Record(name=value.library.name, filepath=value.library.filepath)
    )
    return fill(made, {"library": library})


class _Spline:
    def __init__(self, kind: str, places: np.ndarray) -> None:
        self.type = kind
        self.points = self.bezier_points = _Places(len(places), {"co": places.ravel()})


class _Places(Numbers):
    def __iter__(self) -> Any:
        places = self._arrays["co"].reshape(len(self), -1)
        return (Record(co=tuple(place)) for place in places.tolist())


def _fcurve(curve: FCurve) -> Record:
    count = len(curve.keyframe_points)
    values = np.empty(2 * count, dtype=np.float32)
    curve.keyframe_points.foreach_get("co", values)
    return Record(
        name="",
        data_path=curve.data_path,
        array_index=curve.array_index,
        mute=curve.mute,
        evaluate=curve.evaluate,
        modifiers=tuple(map(_cycles, curve.modifiers)),
        keyframe_points=_Places(count, {"co": values}),
    )


def _cycles(modifier: FModifier) -> Record:
    names = CYCLES if modifier.type == "CYCLES" else ()
    values = {name: getattr(modifier, name) for name in names}
    return Record(type=modifier.type, mute=modifier.mute, **values)


def _fields_of(group: PropertyGroup) -> dict[str, str]:
    kind: Any = type(group)
    return _fields(kind)


def _usual_of(group: PropertyGroup) -> Record:
    kind: Any = type(group)
    return _usual(kind)


@functools.cache
def _fields(kind: type) -> dict[str, str]:
    """Names of the stored properties of a group, and how each is read."""
    properties = kind.bl_rna.properties  # type: ignore[attr-defined]
    return {
        each.identifier: _kind(each)
        for each in properties
        if each.identifier not in {"rna_type"} and shown_by(each.identifier) not in properties
    }


def _kind(each: Property) -> str:
    if each.type in {"POINTER", "COLLECTION"}:
        return each.type
    return "ARRAY" if getattr(each, "is_array", False) else "PLAIN"


@functools.cache
def _usual(kind: type) -> Record:
    """A group that was never set."""
    values: dict[str, Any] = {}
    for name, how in _fields(kind).items():
        declared = kind.bl_rna.properties[name]  # type: ignore[attr-defined]
        if how == "POINTER":
            pointed = bpy.types.PropertyGroup.bl_rna_get_subclass_py(declared.fixed_type.identifier)
            values[name] = None if pointed is None else _usual(pointed)
        elif how == "COLLECTION":
            values[name] = Rows()
        elif how == "ARRAY":
            values[name] = tuple(declared.default_array)
        else:
            values[name] = (
                declared.default_flag if getattr(declared, "is_enum_flag", False) else declared.default
            )
    return Record(**values)
