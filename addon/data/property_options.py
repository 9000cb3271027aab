"""What all features share: options of properties, the sidebar's place, what a poll asks."""

import functools
from collections.abc import Callable
from types import FunctionType
from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    BoolVectorProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    IntVectorProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Context, Object, PropertyGroup

from ..blender import mixins, physics_access, session
from . import references

OVERRIDE = {"LIBRARY_OVERRIDABLE"}
GRAM_CENTIMETRE = 1e-7  # kg m², of g cm²


def _declared(function: Callable[..., Any], **usual: Any) -> Callable[..., Any]:
    """A function that declares a stored property: its name, its description, then options of `function` by keyword."""

    def declare(name: str, description: str = "", **options: Any) -> Any:
        return function(name=name, description=description, **{"override": OVERRIDE, **usual, **options})

    return declare


flag, flags = _declared(BoolProperty), _declared(BoolVectorProperty)
integer, integers = _declared(IntProperty), _declared(IntVectorProperty)
number, vector = _declared(FloatProperty), _declared(FloatVectorProperty)
text, choice, pointer = _declared(StringProperty), _declared(EnumProperty), _declared(PointerProperty)
collection = _declared(CollectionProperty, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"})
length = _declared(FloatProperty, subtype="DISTANCE", unit="LENGTH")
lengths = _declared(FloatVectorProperty, subtype="XYZ_LENGTH", unit="LENGTH")
angle = _declared(FloatProperty, subtype="ANGLE", unit="ROTATION")
angles = _declared(FloatVectorProperty, subtype="EULER", unit="ROTATION")
factor = _declared(FloatProperty, subtype="FACTOR", min=0.0, max=1.0)
seconds = _declared(FloatProperty, subtype="TIME_ABSOLUTE", unit="TIME_ABSOLUTE")


class SidebarPanel(mixins.Panel):
    """Place of every panel: the 3D view's sidebar, tab Condyle."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Condyle"


def _object_chosen(self: "BodyReference", _context: Context) -> None:
    """Another object has not the bone of the last one."""
    bones = () if self.object is None or self.object.pose is None else self.object.pose.bones
    if self.bone_uid and not any(bone.condyle.uid == self.bone_uid for bone in bones):
        self.bone_uid = ""
        self.bone_name = ""


def _bone_chosen(self: "BodyReference", _context: Context) -> None:
    """The bone is meant by its identity, so that it may be renamed; no name: the armature itself."""
    if not self.bone_name:
        self.bone_uid = ""
    elif self.object is not None and self.object.pose is not None:
        bone = self.object.pose.bones.get(self.bone_name)
        if bone is not None:
            self.bone_uid = references.ensure_uid(bone)


class BodyReference(PropertyGroup):
    """A body: an object, or a pose bone of it (see the module `references`)."""

    object: pointer("Object", "Object, or armature of the bone", type=Object, update=_object_chosen)
    bone_uid: text("Bone UID", "Identity of the bone, kept on it")
    bone_name: text("Bone", "Name of the bone when last seen", update=_bone_chosen)


def writable(cls: Any) -> bool:
    """Whether operators may change data now; else the button says why not."""
    if session.read_only:
        cls.poll_message_set(
            "This file was saved by a newer Condyle: its settings can be seen but not changed"
        )
        return False
    if session.job is not None:
        cls.poll_message_set("Condyle is computing: wait, or press Esc in the 3D view to cancel")
        return False
    return True


def own_joint(context: Any) -> Object | None:
    """As `active_joint`, but not a joint that the active object or bone merely carries as its parent."""
    return active_joint(context, roles=("child",))


def active_joint(context: Any, roles: tuple[str, ...] = ("child", "parent")) -> Object | None:
    """The joint at hand: the active Empty, or whose control frame, child or parent the active object or bone is."""
    active = context.active_object
    if active is None or not hasattr(active, "condyle"):
        return None
    if active.condyle.joint.enabled:
        return active
    owner = active.condyle.frame_of
    if owner is not None and owner.condyle.joint.enabled:
        return owner
    body = references.active_body(context)
    joints = references.carrying_joints(context.scene) + references.loop_joints(context.scene)
    for role in roles:
        for item in joints:
            if references.same(references.resolve(getattr(item.condyle.joint, role)), body):
                return item
    return None


def active_connection(context: Any) -> Object | None:
    """The connection at hand: the active Empty, or whose end it is; None without one."""
    active = context.active_object
    if active is None or not hasattr(active, "condyle"):
        return None
    if active.condyle.connection.enabled:
        return active
    owner = active.condyle.frame_of
    return owner if owner is not None and owner.condyle.connection.enabled else None


def active_muscle(context: Any) -> Object | None:
    """The muscle at hand: the active curve; None without one."""
    active = context.active_object
    if active is None or not hasattr(active, "condyle") or not active.condyle.muscle.enabled:
        return None
    return active if active.type == "CURVE" else None


def needs_joint(cls: Any, context: Context) -> bool:
    """Poll: data may change, in a mode that undoes it, and a joint is at hand."""
    if not (writable(cls) and need_object_mode(cls, context)):
        return False
    joint = active_joint(context)
    if joint is None:
        cls.poll_message_set("Select a joint's Empty, one of its control frames, or its moving body")
        return False
    if joint.library is not None:
        cls.poll_message_set(f"{joint.name} is linked; make a library override first")
        return False
    return True


def needs_own_joint(cls: Any, context: Context) -> bool:
    """Poll: as `needs_joint`, but one that no library brings back with the next load."""
    if not needs_joint(cls, context):
        return False
    joint = active_joint(context)
    if joint.override_library is not None:
        cls.poll_message_set(f"{joint.name} is of a library, which would bring it back with the next load")
        return False
    return True


def need_object_mode(cls: Any, context: Context) -> bool:
    """Poll: not in an edit mode, where an undo would leave most of what operators change as it is."""
    if context.mode in session.MODES_UNDONE_WHOLE:
        return True
    cls.poll_message_set("Leave the edit mode first (Tab)")
    return False


def figure(value: float) -> str:
    """A residual for people: three digits, and nothing smaller than a thousandth."""
    return "under 0.001" if value < 0.001 else f"{value:.3g}"


def failed(operator: Any, error: Exception) -> set[str]:
    """Report an error of ours, or of a file, and end an operator; nothing has been changed."""
    told = str(error)
    if isinstance(error, OSError) and error.strerror:
        told = f"{error.filename}: {error.strerror}"  # without the system's number
    session.tell(told, "ERROR")
    operator.report({"ERROR"}, told)
    return {"CANCELLED"}


def reporting(operator: Any) -> Any:
    """An operator's class, so that it reports errors of ours, and where one ends well the panel tells the error of an
    earlier one no longer.

    Not where it `keeps_errors`: it only shows what the error is about, or looks elsewhere.
    """
    if not getattr(operator, "keeps_errors", False):
        for name, wrap in (("execute", _with_context), ("invoke", _with_event), ("modal", _with_event)):
            method = getattr(operator, name, None)
            if isinstance(method, FunctionType) and not hasattr(method, "reports"):
                wrapped: Any = functools.wraps(method)(wrap(method))
                wrapped.reports = True
                setattr(operator, name, wrapped)
    return operator


# Blender counts the arguments of these functions, so that they cannot be one.


def _with_context(method: Any) -> Any:
    def wrapped(self: Any, context: Context) -> set[str]:
        return _reported(self, method, context)

    return wrapped


def _with_event(method: Any) -> Any:
    def wrapped(self: Any, context: Any, event: Any) -> set[str]:
        return _reported(self, method, context, event)

    return wrapped


def _reported(operator: Any, method: Any, *arguments: Any) -> set[str]:
    since = session.tellings
    try:
        outcome: set[str] = method(operator, *arguments)
    except physics_access.physics().CondyleError as error:
        return failed(operator, error)
    if "FINISHED" in outcome:
        session.forget_error(since)
        session.stale_unknown = (
            True  # what writes nothing but the add-on's own values is no change to Blender
        )
    return outcome


# Figures are stored in SI (radians, metres, kg·m²). These make a second property that shows the stored one in the
# user's units, or in smaller ones; it stores nothing itself.


def shown_by(name: str) -> str:
    """Name of the number that a property of this name shows in the user's units; empty: it is none of these."""
    for ending in ("_angle", "_length", "_small"):
        if name.endswith(ending):
            return name.removesuffix(ending)
    return ""


def angle_view(stored: str, name: str, description: str) -> Any:
    """A property that shows the stored SI angle `stored` in the scene's angle unit."""
    return angle(
        name,
        description,
        options=set(),
        get=lambda self: getattr(self, stored),
        set=lambda self, value: setattr(self, stored, value),
    )


def length_view(stored: str, name: str, description: str) -> Any:
    """A property that shows the stored SI length `stored` in the scene's length unit."""
    return length(
        name,
        description,
        options=set(),
        get=lambda self: getattr(self, stored) / _unit_scale(),
        set=lambda self, value: setattr(self, stored, value * _unit_scale()),
    )


def small_inertia_view(stored: str, name: str, description: str) -> Any:
    """A property that shows three stored moments [kg·m²] in g·cm²: fields have six decimals at most."""
    return vector(
        name,
        description,
        precision=6,
        options=set(),
        get=lambda self: tuple(value / GRAM_CENTIMETRE for value in getattr(self, stored)),
        set=lambda self, values: setattr(self, stored, [value * GRAM_CENTIMETRE for value in values]),
    )


def _unit_scale() -> float:
    return float(bpy.context.scene.unit_settings.scale_length)
