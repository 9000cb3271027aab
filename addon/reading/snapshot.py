"""Copies what a simulation reads of a scene, as it is evaluated now, into records with Blender's names.

Condyle's own groups and constraints are copied by what they declare, groups that are not in use by their defaults;
pointers lead from record to record. Matrices are copies that nobody changes: Blender 4.2 cannot read frozen ones.
An f-curve has its keys as arrays, and the address at which `Evaluated` asks Blender for its values between them.
"""

import functools
from collections.abc import Container, Iterable
from typing import Any, cast

import bpy
import numpy as np
from bpy.types import ID, Action, Bone, Collection, Constraint, Curve, Object, PoseBone, Property, Scene

from ..baked import targets
from ..blender import compat, evaluated_objects
from ..data.joints import slider_names
from ..data.properties import shown_by
from ..data.records import Field, Fields, Record, Rows, fill
from .animation_records import Points, animation, before_bake, block_of, copied

SCENE = (
    *("name", "name_full", "session_uid", "frame_current", "frame_start", "frame_end", "frame_current_final"),
    *("use_preview_range", "frame_preview_start", "frame_preview_end"),
)
OBJECT = (
    *("name", "name_full", "session_uid", "type", "parent_type", "parent_bone", "hide_viewport"),
    *("rotation_mode", "empty_display_size", "instance_type"),
)
BONE = ("name", "rotation_mode")
REST = (
    *("name", "length", "inherit_scale", "use_connect", "use_inherit_rotation", "use_local_location"),
    *("use_relative_parent", "bbone_segments", "bbone_handle_type_start", "bbone_handle_type_end"),
)
HANDLES = ("bbone_custom_handle_start", "bbone_custom_handle_end")
MATRICES = ("matrix_world", "matrix_basis", "matrix_parent_inverse")
VECTORS = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")
DELTAS = ("delta_rotation_euler", "delta_rotation_quaternion")
#: groups of objects and bones that nothing reads who is not enabled, but for control points that parts may use
SWITCHED = {"body", "joint", "connection", "muscle", "obstacle", "collider", "soft"}


def take(scene: Scene, whole: Iterable[int] = ()) -> Scene:
    """A copy of a scene, of its objects and of all they point to; it reads like a scene and cannot be changed.

    whole: session uids of objects to copy with all they have, though they have nothing of Condyle yet.
    """
    return cast(Scene, _Reader(scene, list(scene.objects), set(whole)).scene)


def settings(scene: Scene) -> Scene:
    """A copy of a scene's own settings, without its objects."""
    return cast(Scene, _Reader(scene, [], set()).scene)


class _Reader:
    def __init__(self, scene: Scene, objects: list[Object], whole: set[int]) -> None:
        self.scene = Record()
        self._known: dict[int, Record] = {scene.session_uid: self.scene}
        self._waiting: list[Object] = []
        aside = (item for item in objects if not _is_read(item) and item.session_uid not in whole)
        self._aside = {item.session_uid: item for item in aside}
        self._inside = {item.session_uid for item in objects}
        elsewhere = (item for item in bpy.data.objects if objects and self._is_elsewhere(item))
        render = Record(**copied(scene.render, ("fps", "fps_base", "frame_map_old", "frame_map_new")))
        values = {
            **copied(scene, SCENE),
            "unit_settings": Record(scale_length=scene.unit_settings.scale_length),
            "render": render,
            "condyle": self._group(scene.condyle),
            "animation_data": animation(scene, self.block),
            "before_bake": before_bake(scene),
            "objects": Rows(map(self._listed, objects)),
            "joints_elsewhere": Rows(map(self.item, elsewhere)),
        }
        fill(self.scene, values)
        while self._waiting:
            item = self._waiting.pop()
            fill(self._known[item.session_uid], self._of_item(item))
        for uid, item in self._aside.items():
            fill(self._known[uid], self._of_other(item))

    @functools.cached_property
    def _scenes(self) -> list[tuple[Scene, set[int]]]:
        """Scenes, and the session uids of their objects."""
        return [(each, {item.session_uid for item in each.objects}) for each in bpy.data.scenes]

    @functools.cached_property
    def _evaluated(self) -> set[int]:
        """Session uids of the objects that the present view layer evaluates."""
        homes = evaluated_objects.collections(bpy.context.view_layer.layer_collection)
        return {item.session_uid for home in homes for item in home.objects}

    def _is_elsewhere(self, item: Object) -> bool:
        """Whether an object is a joint outside of the scene."""
        return bool(
            item.type == "EMPTY" and item.session_uid not in self._inside and item.condyle.joint.enabled
        )

    def item(self, item: Object | None) -> Record | None:
        """The record of an object, which is filled later."""
        if item is None:
            return None
        uid = item.session_uid
        if uid not in self._known or uid in self._aside:
            self._waiting.append(self._aside.pop(uid, item))
        return self._known.setdefault(uid, Record())

    def _listed(self, item: Object) -> Record | None:
        """The record of an object of the scene."""
        if item.session_uid in self._aside:
            return self._known.setdefault(item.session_uid, Record())
        return self.item(item)

    def _of_other(self, item: Object) -> dict[str, Any]:
        """Of an object that has nothing of Condyle, and that nothing points at, only what it is."""
        nothing = {
            "pose": None,
            "animation_data": None,
            "constraints": Rows(),
            "keyed_since": "",
            "field": None,
        }
        own = {"condyle": _usual(cast(Any, type(item.condyle))), "users_scene": (self.scene,), **nothing}
        return copied(item, ("name", "name_full", "session_uid", "type", "instance_type")) | own

    def _of_item(self, item: Object) -> dict[str, Any]:
        own = self._known[item.session_uid]
        is_inside = item.session_uid in self._inside
        unevaluated = item.hide_viewport or item.session_uid not in self._evaluated
        is_plain = is_inside and item.library is None and item.override_library is None
        groups: Any = self._root(item)
        values = copied(item, OBJECT)
        values |= {name: tuple(getattr(item, name)) for name in (*VECTORS, "delta_scale", "delta_location")}
        values |= {name: getattr(item, name).copy() for name in (*MATRICES, *DELTAS)}
        values |= {
            "id_data": own,
            "parent": self.item(item.parent),
            "condyle": groups,
            "users_scene": tuple(self._user(each) for each, uids in self._scenes if item.session_uid in uids),
            "users_collection": (None,) if is_plain else tuple(map(_named, item.users_collection)),
            "unevaluated": evaluated_objects.why_not(item) if unevaluated else "",
            "library": _library(item),
            "override_library": _override(item),
            "animation_data": animation(item, self.block),
            "before_bake": before_bake(item),
            "keyed_since": targets.keyed_since(item),
            "constraints": Rows(self._constraint(each, own, "") for each in item.constraints),
            "modifiers": Rows(self._modifier(each) for each in item.modifiers),
            "vertex_groups": {each.name: each.index for each in getattr(item, "vertex_groups", ())},
            "rigid_body": None if item.rigid_body is None else _rigid_body(item),
            "data": None,
            "pose": None,
            "field": self._group(item.field) if _has_field(item) else None,
        }
        if item.type == "MESH":
            values["bound_box"] = tuple(map(tuple, item.bound_box))
        if item.instance_type == "COLLECTION":
            values["instance_collection"] = _collection(item.instance_collection)
        joint = groups.joint
        names = [name for name in slider_names(joint) if name in item] if joint.enabled else []
        values["custom"] = {name: item[name] for name in names}
        values["ends"] = {name: _ends(item, name) for name in names if isinstance(item[name], float)}
        rests: dict[str, Record] = {}
        if item.data is not None:
            values["data"] = self._data(item, rests)
        if item.pose is not None:
            bones = {bone.name: Record() for bone in item.pose.bones}
            for bone in item.pose.bones:
                fill(bones[bone.name], self._of_bone(bone, own, bones, rests))
            values["pose"] = Record(bones=Rows(bones.values()))
        return values

    def _user(self, scene: Scene) -> Record:
        """A scene that has an object; of others than the one that is copied the joints alone."""
        known = self._known.get(scene.session_uid)
        if known is None:
            joints = [each for each in scene.objects if each.type == "EMPTY" and each.condyle.joint.enabled]
            known = self._known[scene.session_uid] = Record(
                name=scene.name, objects=Rows(map(self.item, joints))
            )
        return known

    def _of_bone(
        self, bone: PoseBone, item: Record, bones: dict[str, Record], rests: dict[str, Record]
    ) -> dict[str, Any]:
        path = f'pose.bones["{bpy.utils.escape_identifier(bone.name)}"]'
        return {
            **copied(bone, BONE),
            **{name: tuple(getattr(bone, name)) for name in VECTORS},
            "id_data": item,
            "path": path,
            "parent": None if bone.parent is None else bones[bone.parent.name],
            "matrix": bone.matrix.copy(),
            "matrix_basis": bone.matrix_basis.copy(),
            "condyle": self._root(bone),
            "constraints": Rows(self._constraint(each, item, f"{path}.") for each in bone.constraints),
            "bone": rests.get(bone.name),
        }

    def _root(self, owner: Object | PoseBone) -> Record:
        """Condyle's data of an object or bone, of groups that are not in use their defaults."""
        return self._group(owner.condyle, SWITCHED)

    def _group(self, group: Any, switched: Container[str] = ()) -> Record:
        """The properties of a group: the defaults of those never set, and of switched groups that are off. All groups
        of a kind of which nothing was ever set share one record.
        """
        usual, names = _usual(cast(Any, type(group))), compat.names_set(group)
        if names is not None and not names:
            return usual
        read, how = dict(usual.__dict__), usual.__dict__["declared"].how
        read["names_set"] = frozenset(how if names is None else how.keys() & names)
        for name in read["names_set"]:
            value = getattr(group, name)
            is_read = name not in switched or value.enabled or (name == "collider" and group.body.enabled)
            if is_read or (name == "joint" and len(value.frames)):
                read[name] = self._value(value, how[name])
        return Record(**read)

    def _value(self, value: Any, how: str) -> Any:
        if how == "PLAIN" or value is None:
            return value
        if how == "ARRAY":
            return _tuple(value)
        if how == "COLLECTION":
            return Rows(map(self._group, value))
        return self._pointed(value) if isinstance(value, ID) else self._group(value)

    def _pointed(self, value: ID | None) -> Record | None:
        if isinstance(value, Object):
            return self.item(value)
        if isinstance(value, Curve):
            return self._curve(value)
        if isinstance(value, Action):
            return block_of(value)
        return _collection(value) if isinstance(value, Collection) else _named(value)

    def _data(self, item: Object, rests: dict[str, Record]) -> Record:
        """An object's data; bones at rest by their names."""
        if item.type == "CURVE":
            return self._curve(item.data)
        more: dict[str, Any] = {"animation_data": animation(item.data, self.block)}
        if item.type == "ARMATURE":
            rests |= {bone.name: _rest(bone) for bone in item.data.bones}
            more |= {"bones": Rows(rests.values()), "pose_position": item.data.pose_position}
            more["override_library"] = _override(item.data)
        return fill(_named(item.data), more)

    def _modifier(self, modifier: Any) -> Record:
        made = Record(**copied(modifier, ("name", "type", "show_viewport")))
        if modifier.type == "HOOK":
            inverse = modifier.matrix_inverse.copy()
            values = {"object": self.item(modifier.object), "subtarget": modifier.subtarget}
            fill(
                made, {**values, "matrix_inverse": inverse, "vertex_indices": tuple(modifier.vertex_indices)}
            )
        return made

    def _constraint(self, constraint: Constraint, item: Record, prefix: str) -> Record:
        name = bpy.utils.escape_identifier(constraint.name)
        made = self._group(constraint)
        return fill(made, {"id_data": item, "path": f'{prefix}constraints["{name}"]'})

    def _curve(self, curve: Any) -> Record:
        """A curve with the control points of its splines."""
        rows = []
        for spline in curve.splines:
            points = spline.bezier_points if spline.type == "BEZIER" else spline.points
            size = 3 if spline.type == "BEZIER" else 4
            values = np.empty(size * len(points), dtype=np.float32)
            points.foreach_get("co", values)
            places = Points(len(points), {"co": values})
            rows.append(Record(type=spline.type, points=places, bezier_points=places))
        own = {"animation_data": animation(curve, self.block), "use_path": curve.use_path, "splines": rows}
        own["has_shape_keys"] = curve.shape_keys is not None
        return fill(_named(curve), own)

    def block(self, value: ID | None) -> Record | None:
        """The record of what a driver looks at."""
        if value is None or isinstance(value, Object):
            return self.item(value)
        known = self._known.get(value.session_uid)
        if known is None:
            known = self._known[value.session_uid] = Record(name=value.name, session_uid=value.session_uid)
            fill(known, {"animation_data": animation(value, self.block)})
        return known


def _is_read(item: Object) -> bool:
    """Whether a simulation may read an object by itself."""
    own = item.condyle
    is_enabled = own.body.enabled or own.obstacle.enabled or own.collider.enabled or own.soft.enabled
    is_baked = own.channels.baked or own.bake.action is not None
    is_read = is_enabled or is_baked or _has_field(item)
    return item.type in {"EMPTY", "ARMATURE", "CURVE"} or is_read


def _has_field(item: Object) -> bool:
    return item.field is not None and item.field.type != "NONE"


def _ends(item: Object, name: str) -> tuple[float, float]:
    """Least and greatest value of a slider."""
    found = item.id_properties_ui(name).as_dict()
    return float(found["min"]), float(found["max"])


def _rest(bone: Bone) -> Record:
    return Record(
        **copied(bone, REST),
        **{name: getattr(bone, name).copy() for name in ("matrix_local", "head_local", "tail_local")},
        **{name: (by := getattr(bone, name)) and Record(name=by.name) for name in HANDLES},
    )


def _rigid_body(item: Object) -> Record:
    """A rigid body of Blender; `simulated`: a world of it that is switched on has it."""
    worlds = [scene.rigidbody_world for scene in item.users_scene]
    on = [world for world in worlds if world is not None and world.enabled and world.collection is not None]
    simulated = any(each == item for world in on for each in world.collection.all_objects)
    return Record(**copied(item.rigid_body, ("type", "kinematic")), simulated=simulated)


def _library(value: ID | None) -> Record | None:
    library = None if value is None else value.library
    return None if library is None else Record(name=library.name, filepath=library.filepath)


def _override(value: ID) -> Record | None:
    override = value.override_library
    return None if override is None else Record(reference=_named(override.reference))


def _named(value: Any) -> Any:
    """The name of a data-block and of its library."""
    if value is None:
        return None
    own = {"name_full": value.name_full, "session_uid": value.session_uid}
    return Record(name=value.name, library=_library(value), **own)


def _collection(value: Collection | None) -> Record | None:
    """A collection, with the names of what it has, and which of that are joints."""
    if value is None:
        return None
    rows = []
    for each in value.all_objects:
        groups = Record(joint=Record(enabled=each.condyle.joint.enabled))
        rows.append(fill(_named(each), {"condyle": groups}))
    return fill(_named(value), {"all_objects": Rows(rows)})


@functools.cache
def _fields(kind: type) -> Fields:
    """The stored properties of a kind of group or constraint."""
    properties = kind.bl_rna.properties  # type: ignore[attr-defined]
    return Fields(
        Field(each.identifier, each.name, _how(each), _plain(each))
        for each in properties
        if each.identifier != "rna_type" and shown_by(each.identifier) not in properties
    )


def _how(each: Property) -> str:
    if each.type in {"POINTER", "COLLECTION"}:
        return each.type
    return "ARRAY" if getattr(each, "is_array", False) else "PLAIN"


def _plain(each: Property) -> Any:
    """Value of a property that was never set."""
    if each.type in {"POINTER", "COLLECTION"}:
        return None if each.type == "POINTER" else Rows()
    if getattr(each, "is_array", False):
        return _tuple(each.default_array)
    return each.default_flag if getattr(each, "is_enum_flag", False) else each.default


def _tuple(values: Any) -> tuple[Any, ...]:
    made = tuple(values)
    return tuple(map(tuple, made)) if made and hasattr(made[0], "__len__") else made


@functools.cache
def _usual(kind: type) -> Record:
    """A group that was never set."""
    fields = _fields(kind)
    values = {each.name: each.plain for each in fields.rows}
    for name in (each.name for each in fields.rows if each.how == "POINTER"):
        declared = kind.bl_rna.properties[name].fixed_type.identifier  # type: ignore[attr-defined]
        pointed = bpy.types.PropertyGroup.bl_rna_get_subclass_py(declared)
        values[name] = None if pointed is None else _usual(pointed)
    return Record(declared=fields, names_set=frozenset(), **values)
