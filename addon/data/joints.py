"""Data of a joint, on the Empty that is the joint's frame."""

import re

import bpy
from bpy.types import Context, Object, PropertyGroup

from . import callbacks, references
from .body_reference import BodyReference
from .fitting import FitProperties
from .joint_control import JointControl
from .joint_shape import JointShape, on_change
from .joint_types import WHOLE_ONLY, grouped_items, readings_of
from .properties import (
    angle_view,
    choice,
    collection,
    factor,
    flag,
    flags,
    integer,
    integers,
    length,
    length_view,
    number,
    pointer,
    seconds,
    span,
    text,
    vector,
)
from .records import Record
from .selection import select_marked

#: types with a rotation vector, whose torques may keep their axes
TURNING = ("spherical", "free")
#: custom property of a joint with one coordinate; with several, the coordinate's name follows
PROPERTY = "coordinate"
#: paths on a joint's Empty: whether it follows its animation, and how strongly
PRESCRIBED_PATH, FOLLOW_PATH = "condyle.joint.prescribed", "condyle.joint.follow"
IDENTITY = tuple(float(row == column) for row in range(4) for column in range(4))


def coordinate_list(joint: "JointProperties") -> list[tuple[str, str]]:
    """Names and units of a joint's coordinates by its type and parts."""
    if joint.type != "composite":
        return readings_of(joint, _frames_owner(joint, joint))
    return [
        (f"{number}.{name}", unit)
        for number, part in enumerate(joint.parts, 1)
        for name, unit in readings_of(part, _frames_owner(part, joint))
    ]


def _frames_owner(shape: "JointPart | JointProperties", joint: "JointProperties") -> "JointProperties":
    """The JointProperties whose control frames a joint or a part of it uses."""
    return joint if shape.frames_of is None else shape.frames_of.condyle.joint


def shapes(settings: "JointProperties") -> "list[JointPart] | list[JointProperties]":
    """The shapes that a joint consists of: itself, or its parts."""
    return list(settings.parts) if settings.type == "composite" else [settings]


def has_curve(settings: "JointProperties") -> bool:
    """Whether a joint is, or as a composite contains, a spline curve through its own control frames."""
    return any(each.type == "spline_curve" and each.frames_of is None for each in shapes(settings))


def has_surface(settings: "JointProperties") -> bool:
    """Whether a joint is, or as a composite contains, a spline surface over its own control frames."""
    return any(each.type == "spline_surface" and each.frames_of is None for each in shapes(settings))


def slider_names(settings: "JointProperties") -> list[str]:
    """Custom properties that are the joint's sliders, one for each coordinate."""
    rows = settings.coordinates
    return [PROPERTY] if len(rows) == 1 else [f"{PROPERTY} {row.label}" for row in rows]


def slider_ends(item: Object, name: str) -> tuple[float, float]:
    """Least and greatest value of a slider of a joint, in its own unit."""
    if isinstance(item, Record):
        return item.ends[name]
    found = item.id_properties_ui(name).as_dict()
    return float(found["min"]), float(found["max"])


def torque_path(number: int) -> str:
    """Data path, on a joint's Empty, of the torque of its coordinate of this number."""
    return f"condyle.joint.coordinates[{number}].torque"


def torques_keep_axes(settings: "JointProperties") -> bool:
    """Whether torques of a joint act about the axes of its frame, not on its rotation vector."""
    return settings.type in TURNING and settings.torque_keeps_axes


def is_baked_over(settings: "JointProperties") -> bool:
    """Whether the child is baked: the slider then does not move it."""
    child = references.resolve(settings.child)
    return child is not None and child.data.channels.baked


def match_coordinates(joint: "JointProperties") -> None:
    """Give a joint one row of settings per coordinate; rows that still match keep their values."""
    wanted = coordinate_list(joint)
    for index, (name, unit) in enumerate(wanted):
        if index == len(joint.coordinates):
            joint.coordinates.add()
        row = joint.coordinates[index]
        if (row.label, row.unit) != (name, unit):
            joint.coordinates.remove(index)
            joint.coordinates.add()
            joint.coordinates.move(len(joint.coordinates) - 1, index)
            row = joint.coordinates[index]
            row.label, row.unit = name, unit
    while len(joint.coordinates) > len(wanted):
        joint.coordinates.remove(len(joint.coordinates) - 1)


def _loop_closed(self: "JointProperties", context: Context) -> None:
    """Remove the sliders: a joint that closes a loop has none."""
    if self.closes_loop and self.driven:
        callbacks.call().loop_closed(context.scene, self.id_data)


class CoordinateProperties(PropertyGroup):
    """Settings of one coordinate of a joint. All values are SI: radians, metres, seconds."""

    label: text("Label", "Name of the coordinate")
    unit: text("Unit", '"rad", "m", "s" or "1"')
    title: text("Title", "Name of the coordinate in the panel; empty: its label")
    limits: choice(
        "Limits",
        "Range of the coordinate",
        items=(
            ("NONE", "None", "No limits"),
            ("RANGE", "Curve's Ends", "From one end of the curve to the other (spline curves only)"),
            ("CUSTOM", "Custom", "From the lower to the upper value"),
        ),
        update=on_change,
    )
    lower: number("Lower", "Lower limit, in radians or metres", default=-1.0, update=on_change)
    upper: number("Upper", "Upper limit, in radians or metres", default=1.0, update=on_change)
    stiffness: number("Stiffness", "Spring towards the rest value: N·m per radian, or N per metre", min=0.0)
    rest: number("Rest", "Value at which the spring is relaxed, in radians or metres")
    damping: number("Damping", "Resistance against speed: N·m·s per radian, or N·s per metre", min=0.0)
    armature: number(
        "Rotor Inertia", "Inertia of the joint itself, added to the coordinate: kg·m², or kg", min=0.0
    )
    laws: text(
        "Laws",
        "Laws of an import beside spring and damping: a JSON object with functions of physics by the names elastic "
        "(force by the value), viscosity (damping by the value) and damper (force by the speed)",
    )
    torque: number(
        "Torque",
        "Torque (N·m) or force (N) on the coordinate in simulations, e.g. of a motor; of a ball about an axis of the "
        "Empty. It can be keyed",
    )
    limit_stiffness: number(
        "Limit Stiffness",
        "Stiffness of the stop at a limit: N·m per radian, or N per metre. 0: chosen by the masses",
        min=0.0,
    )
    limit_damping: number(
        "Limit Damping",
        "Damping of the stop at a limit: N·m·s per radian, or N·s per metre. 0: chosen by the masses",
        min=0.0,
    )
    start: number("Start", "Value at the first frame of a simulation, in radians or metres")
    start_speed: number("Start Speed", "Speed at the first frame, in radians or metres per second")
    lower_angle: angle_view("lower", "Lower", "Lower limit")
    lower_length: length_view("lower", "Lower", "Lower limit")
    upper_angle: angle_view("upper", "Upper", "Upper limit")
    upper_length: length_view("upper", "Upper", "Upper limit")
    rest_angle: angle_view("rest", "Rest", "Value at which the spring is relaxed")
    rest_length: length_view("rest", "Rest", "Value at which the spring is relaxed")
    start_angle: angle_view("start", "Start", "Value at the first frame of a simulation")
    start_length: length_view("start", "Start", "Value at the first frame of a simulation")
    start_speed_angle: angle_view("start_speed", "Start Speed", "Speed at the first frame, per second")
    start_speed_length: length_view("start_speed", "Start Speed", "Speed at the first frame, per second")


class JointPart(JointShape, PropertyGroup):
    """One part of a composite joint."""

    type: choice("Type", "Kind of joint", items=grouped_items(WHOLE_ONLY), default="hinge", update=on_change)


class ControlFrame(PropertyGroup):
    """One control frame of a spline curve joint."""

    object: pointer("Empty", "Empty whose pose is the control point", type=Object)


class KnotValue(PropertyGroup):
    """One knot of a fitted spline curve."""

    value: number("Knot", "Value of the knot")


class SwitchedInfluence(PropertyGroup):
    """An IK constraint whose influence is 0 while the sliders of a joint move its bones."""

    bone_uid: text("Bone UID", "Identity of the bone that has the constraint")
    constraint: text("Constraint", "Name of the constraint")
    influence: factor("Influence", "Its influence before")
    keyed: flag("Keyed", "It got a key")
    frame: integer("Frame", "Frame of this key")


class JointProperties(JointShape, JointControl, PropertyGroup):
    """A joint between two bodies."""

    enabled: flag("Joint", "This Empty is a joint's frame")
    type: choice(
        "Type",
        "How the child moves relative to the parent",
        items=grouped_items(),
        default="spline_curve",
        update=on_change,
    )
    to_world: flag("Hold to World", "The joint connects the child to the world, not to a parent body")
    parent: pointer("Parent", "Body that carries the joint", type=BodyReference)
    child: pointer("Child", "Body that the joint moves", type=BodyReference)
    child_in_joint: vector(
        "Child in Joint",
        "Pose of the child in the joint's frame where all coordinates are 0, row by row",
        size=16,
        default=IDENTITY,
    )
    parts: collection("Parts", type=JointPart)
    frames: collection("Control Points", type=ControlFrame)
    active_frame: integer("Control Point", "Selected control point", min=0, update=select_marked)
    knots: collection("Knots", type=KnotValue)
    order: integer(
        "Order",
        "Order of the spline: 4 is cubic, 5 and 6 are smoother and follow the frames less closely",
        default=4,
        min=3,
        max=20,
        update=on_change,
    )
    periodic: flag("Closed", "The curve closes on itself", update=on_change)
    outside: choice(
        "Beyond Ends",
        "What the joint does beyond the ends of the curve",
        items=(
            ("extend", "Extend", "Continues straight"),
            ("clamp", "Stop", "Stays at the end (not for simulation)"),
            ("error", "Error", "Refuses"),
        ),
        update=on_change,
    )
    length_scale: length(
        "Length Scale",
        "Length that counts as much as one radian where distances along the curve are measured",
        default=1.0,
        min=1e-9,
        update=on_change,
    )
    grid: integers(
        "Grid",
        "Rows, columns and layers of the control points of a surface; 1: none in that direction",
        size=3,
        default=(4, 4, 1),
        min=1,
        update=on_change,
    )
    grid_orders: integers(
        "Orders",
        "Order of the surface along rows, columns and layers: 4 is cubic, higher is smoother",
        size=3,
        default=(4, 4, 4),
        min=3,
        max=20,
        update=on_change,
    )
    grid_periodic: flags(
        "Closed",
        "Whether the surface closes on itself along rows, columns and layers",
        size=3,
        update=on_change,
    )
    moving: flag(
        "Moves in Time",
        "The last direction of the grid is time in seconds: the surface deforms as time passes",
        update=on_change,
    )
    line_seconds: seconds(
        "Seconds per Layer",
        "Of a surface that moves in time: how long it takes from one layer of control points to the next, "
        "on average. 0: as it was fitted, or one second for all layers",
        **span(0.0, 60.0, update=on_change),
    )
    prescribed: flag(
        "Animated",
        "On: in a simulation the joint follows its animation (the keys of the child, or the sliders). "
        "Off: it is simulated. Key it to release or catch the child",
    )
    closes_loop: flag(
        "Closes a Loop",
        "On: another joint carries the child, or it is free, and this joint connects it to its parent as well, "
        "as in a four-bar linkage. Off: this joint carries the child",
        update=_loop_closed,
    )
    no_slip: flag(
        "Rolls, No Slip",
        "The surface rolls on the touching one: they may turn about the normal, but not slide",
    )
    hard_limits: flag(
        "Hard Limits", "The joint stops at once at its limits; otherwise springs and dampers stop it"
    )
    restitution: factor(
        "Bounce", "Share of the speed that is left after a hard limit: 0 stops dead, 1 loses nothing"
    )
    coordinates: collection("Coordinates", type=CoordinateProperties)
    torque_keeps_axes: flag(
        "Torques Keep Axes",
        "On: torques of a ball or free joint act about the axes of this Empty, which turn with the parent, through "
        "any number of turns. Off: on the sliders Turn X, Y and Z, as in files of earlier versions; they jump beyond "
        "half a turn",
    )
    fit: pointer("Fit", type=FitProperties)
    driven: flag("Driven by Slider", "The child follows the sliders (custom properties of this Empty)")
    switched: collection("Switched", type=SwitchedInfluence)
    follower: pointer(
        "Follower",
        "Hidden Empty that moves along the joint and that the driven child copies",
        type=bpy.types.Object,
    )


def title_of(row: "CoordinateProperties") -> str:
    return row.title or label_of(row.label)


def label_of(name: str) -> str:
    """A coordinate's name for people: "angle_1" is Angle 1, "2.x" is 2: X."""
    part, _, own = name.rpartition(".")
    words = re.sub("^r_", "turn_", re.sub(r"^q(?=$|_|\d)", "coordinate", own)).replace("_", " ").title()
    return f"{part}: {words}" if part else words
