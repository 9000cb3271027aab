"""Data of a joint, on the Empty that is the joint's frame."""

from typing import Any

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)
from bpy.types import Object, PropertyGroup

from ..common import OVERRIDE, OVERRIDE_INSERT, BodyReference, angle_view, length_view
from ..fitting.properties import FitProperties

#: joints of physics.joints.REGISTRY (a test compares them); files store the position: new ones go to the end
JOINT_TYPES = (
    (
        "spline_curve",
        "Spline Curve",
        "Moves along a smooth curve through control frames: knees, jaws, beads on wires",
    ),
    ("hinge", "Hinge", "Turns about one axis"),
    ("slider", "Slider", "Slides along one axis"),
    ("helical", "Helical", "Turns about one axis and advances along it, as a screw does"),
    ("cylindrical", "Cylindrical", "Turns about and slides along one axis"),
    ("universal", "Universal", "Turns about two axes that meet"),
    ("planar", "Planar", "Slides in the x-y plane and turns about its normal"),
    ("translational", "Translational", "Slides in every direction, does not turn"),
    ("spherical", "Spherical", "Turns about a point in every direction"),
    ("free", "Free", "Moves without any hold"),
    ("fixed", "Fixed", "Does not move"),
    ("composite", "Composite", "Several joints in a row with no body between them"),
)
PART_TYPES = tuple(item for item in JOINT_TYPES if item[0] not in {"composite", "fixed"})
IDENTITY = tuple(float(row == column) for row in range(4) for column in range(4))

#: name and unit of each coordinate, as the classes of physics.joints give them (a test compares them)
COORDINATES = {
    "spline_curve": (("q", "1"),),
    "hinge": (("angle", "rad"),),
    "slider": (("distance", "m"),),
    "helical": (("angle", "rad"),),
    "cylindrical": (("angle", "rad"), ("distance", "m")),
    "universal": (("angle_1", "rad"), ("angle_2", "rad")),
    "planar": (("x", "m"), ("y", "m"), ("angle", "rad")),
    "translational": (("x", "m"), ("y", "m"), ("z", "m")),
    "spherical": (("r_x", "rad"), ("r_y", "rad"), ("r_z", "rad")),
    "free": (("x", "m"), ("y", "m"), ("z", "m"), ("r_x", "rad"), ("r_y", "rad"), ("r_z", "rad")),
    "fixed": (),
}


def coordinate_list(joint: Any) -> list[tuple[str, str]]:
    """Names and units of the coordinates that a joint has by its type and parts."""
    if joint.type != "composite":
        return list(COORDINATES[joint.type])
    return [
        (f"{number}.{name}", unit)
        for number, part in enumerate(joint.parts, 1)
        for name, unit in COORDINATES[part.type]
    ]


def has_curve(settings: Any) -> bool:
    """Whether a joint is, or as a composite contains, a spline curve through its control frames."""
    if settings.type == "composite":
        return any(part.type == "spline_curve" for part in settings.parts)
    return settings.type == "spline_curve"


def match_coordinates(joint: Any) -> None:
    """Give a joint one row of settings a coordinate; rows that still fit keep their values."""
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


def _type_changed(self: Any, context: Any) -> None:
    shape_changed(context, self.id_data)


def shape_changed(context: Any, item: Any) -> None:
    """After a change of a joint's type or parts: its coordinates and its slider follow."""
    from ... import drive

    match_coordinates(item.condyle.joint)
    drive.shape_changed(context.scene, item)


class CoordinateProperties(PropertyGroup):
    """Settings of one coordinate of a joint. All values are SI: radians, metres, seconds."""

    label: StringProperty(name="Label", description="Name of the coordinate", override=OVERRIDE)
    unit: StringProperty(name="Unit", description='"rad", "m" or "1"', override=OVERRIDE)
    limits: EnumProperty(
        name="Limits",
        description="How far the coordinate may go",
        items=(
            ("NONE", "None", "No limits"),
            ("RANGE", "Curve's Ends", "From one end of the curve to the other (spline curves only)"),
            ("CUSTOM", "Custom", "From the lower to the upper value"),
        ),
        override=OVERRIDE,
    )
    lower: FloatProperty(name="Lower", description="Lower limit", default=-1.0, override=OVERRIDE)
    upper: FloatProperty(name="Upper", description="Upper limit", default=1.0, override=OVERRIDE)
    stiffness: FloatProperty(
        name="Stiffness",
        description="Spring towards the rest value: N·m a radian, or N a metre",
        min=0.0,
        override=OVERRIDE,
    )
    rest: FloatProperty(name="Rest", description="Where the spring is relaxed", override=OVERRIDE)
    damping: FloatProperty(
        name="Damping",
        description="Resistance against speed: N·m·s a radian, or N·s a metre",
        min=0.0,
        override=OVERRIDE,
    )
    armature: FloatProperty(
        name="Armature",
        description="Inertia of the joint itself, added to the coordinate: kg·m², or kg",
        min=0.0,
        override=OVERRIDE,
    )
    limit_stiffness: FloatProperty(
        name="Limit Stiffness",
        description="Stiffness of the stop at a limit: N·m a radian, or N a metre. 0: chosen by the masses",
        min=0.0,
        override=OVERRIDE,
    )
    limit_damping: FloatProperty(
        name="Limit Damping",
        description="Damping of the stop at a limit. 0: chosen by the masses",
        min=0.0,
        override=OVERRIDE,
    )
    start: FloatProperty(
        name="Start", description="Value at the first frame of a simulation", override=OVERRIDE
    )
    start_speed: FloatProperty(
        name="Start Speed", description="Speed at the first frame, in units a second", override=OVERRIDE
    )
    lower_angle: angle_view("lower", "Lower", "Lower limit")
    lower_length: length_view("lower", "Lower", "Lower limit")
    upper_angle: angle_view("upper", "Upper", "Upper limit")
    upper_length: length_view("upper", "Upper", "Upper limit")
    rest_angle: angle_view("rest", "Rest", "Where the spring is relaxed")
    rest_length: length_view("rest", "Rest", "Where the spring is relaxed")
    start_angle: angle_view("start", "Start", "Value at the first frame of a simulation")
    start_length: length_view("start", "Start", "Value at the first frame of a simulation")
    start_speed_angle: angle_view("start_speed", "Start Speed", "Speed at the first frame, a second")
    start_speed_length: length_view("start_speed", "Start Speed", "Speed at the first frame, a second")


class JointPart(PropertyGroup):
    """One of the joints that a composite joint is made of."""

    type: EnumProperty(
        name="Type",
        description="Kind of joint",
        items=PART_TYPES,
        default="hinge",
        update=_type_changed,
        override=OVERRIDE,
    )
    axis: FloatVectorProperty(
        name="Axis",
        description="Axis in the joint's frame",
        default=(0, 0, 1),
        subtype="XYZ",
        override=OVERRIDE,
    )
    axis_2: FloatVectorProperty(
        name="Second Axis",
        description="Second axis of a universal joint",
        default=(0, 1, 0),
        subtype="XYZ",
        override=OVERRIDE,
    )
    pitch: FloatProperty(
        name="Pitch",
        description="Advance along the axis in one radian, of a helical joint",
        unit="LENGTH",
        subtype="DISTANCE",
        override=OVERRIDE,
    )


class ControlFrame(PropertyGroup):
    """One control frame of a spline curve joint."""

    object: PointerProperty(
        name="Empty", description="Empty whose pose is the control frame", type=Object, override=OVERRIDE
    )


class KnotValue(PropertyGroup):
    """One knot of a fitted spline curve."""

    value: FloatProperty(name="Knot", description="Value of the knot", override=OVERRIDE)


class JointProperties(PropertyGroup):
    """A joint between two bodies."""

    enabled: BoolProperty(name="Joint", description="This Empty is a joint's frame", override=OVERRIDE)
    type: EnumProperty(
        name="Type",
        description="How the child moves against the parent",
        items=JOINT_TYPES,
        default="spline_curve",
        update=_type_changed,
        override=OVERRIDE,
    )
    to_world: BoolProperty(
        name="Hold to World",
        description="The child hangs on the world itself, not on a parent body",
        override=OVERRIDE,
    )
    parent: PointerProperty(
        name="Parent", description="Body that the joint sits on", type=BodyReference, override=OVERRIDE
    )
    child: PointerProperty(
        name="Child", description="Body that the joint moves", type=BodyReference, override=OVERRIDE
    )
    child_in_joint: FloatVectorProperty(
        name="Child in Joint",
        description="Pose of the child in the joint's frame where all coordinates are 0, row by row",
        size=16,
        default=IDENTITY,
        override=OVERRIDE,
    )
    axis: FloatVectorProperty(
        name="Axis",
        description="Axis in the joint's frame",
        default=(0, 0, 1),
        subtype="XYZ",
        override=OVERRIDE,
    )
    axis_2: FloatVectorProperty(
        name="Second Axis",
        description="Second axis of a universal joint",
        default=(0, 1, 0),
        subtype="XYZ",
        override=OVERRIDE,
    )
    pitch: FloatProperty(
        name="Pitch",
        description="Advance along the axis in one radian, of a helical joint",
        unit="LENGTH",
        subtype="DISTANCE",
        default=0.01,
        override=OVERRIDE,
    )
    parts: CollectionProperty(type=JointPart, name="Parts", override=OVERRIDE_INSERT)
    frames: CollectionProperty(type=ControlFrame, name="Control Frames", override=OVERRIDE_INSERT)
    active_frame: IntProperty(
        name="Control Frame", description="Control frame at hand", min=0, override=OVERRIDE
    )
    knots: CollectionProperty(type=KnotValue, name="Knots", override=OVERRIDE_INSERT)
    order: IntProperty(
        name="Order",
        description="Order of the spline: 4 is cubic, 5 and 6 are smoother and follow the frames less closely",
        default=4,
        min=3,
        max=6,
        override=OVERRIDE,
    )
    periodic: BoolProperty(name="Closed", description="The curve closes on itself", override=OVERRIDE)
    outside: EnumProperty(
        name="Beyond Ends",
        description="What the joint does beyond the ends of the curve",
        items=(
            ("extend", "Extend", "Goes on straight as at the end"),
            ("clamp", "Stop", "Stays at the end (not for simulation)"),
            ("error", "Error", "Refuses"),
        ),
        override=OVERRIDE,
    )
    length_scale: FloatProperty(
        name="Length Scale",
        description="Length that counts as much as one radian where distances along the curve are measured",
        unit="LENGTH",
        subtype="DISTANCE",
        default=1.0,
        min=1e-9,
        override=OVERRIDE,
    )
    coordinates: CollectionProperty(type=CoordinateProperties, name="Coordinates", override=OVERRIDE_INSERT)
    fit: PointerProperty(type=FitProperties, name="Fit", override=OVERRIDE)
    driven: BoolProperty(
        name="Driven by Slider",
        description="The child follows the slider (the custom property “coordinate” of this Empty)",
        override=OVERRIDE,
    )
    follower: PointerProperty(
        name="Follower",
        description="Hidden Empty that moves along the joint and that the driven child copies",
        type=bpy.types.Object,
        override=OVERRIDE,
    )


classes = (CoordinateProperties, JointPart, ControlFrame, KnotValue, JointProperties)
