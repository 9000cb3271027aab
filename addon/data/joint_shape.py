"""The settings of every joint type, which joints and parts of composite joints share."""

import math
from typing import Any

from bpy.types import Context, Object

from . import callbacks
from .properties import angle, angles, choice, flag, length, lengths, pointer, text, updating, vector

SEQUENCES = tuple(
    (letters, " ".join(letters.upper()), f"First about {letters[0]}, then {letters[1]}, then {letters[2]}")
    for letters in ("zyx", "zxy", "yxz", "yzx", "xyz", "xzy", "zyz", "zxz", "yzy", "yxy", "xzx", "xyx")
)


def on_change(self: Any, context: Context) -> None:
    """Update the coordinates and sliders of a joint to its settings."""
    if self.id_data.condyle.joint.enabled:
        callbacks.call().joint_shape_changed(context.scene, self.id_data)


@updating(on_change)
class JointShape:
    """Settings of every joint type; the panel shows those that apply (`types.JointType.settings`)."""

    inverted: flag("Flip Direction", "Swap parent and child, which inverts the motion of the joint")
    axis: vector("Axis", "Axis in the joint's frame", default=(0, 0, 1), subtype="XYZ")
    axis_2: vector("Second Axis", "Second axis of a universal joint", default=(0, 1, 0), subtype="XYZ")
    pitch: length("Pitch", "Advance of a helical joint along its axis per radian", default=0.01)
    skew: angle(
        "Skew", "Angle of the second axis from y towards z", min=math.radians(-89.0), max=math.radians(89.0)
    )
    sequence: choice(
        "Angles About",
        "Axes of the three angles in order, each carried by the ones before. For a spline surface "
        "choose one whose middle angle stays away from a quarter turn (from 0 and a half turn if first "
        "and last axis are the same)",
        items=SEQUENCES,
        default="zyx",
    )
    rotation_first: flag(
        "Rotation First",
        "The child turns first and then moves along its own axes; otherwise along the joint's",
    )
    semi_axes: lengths(
        "Semi-Axes",
        "Half the size of the ellipse or ellipsoid along x, y and z",
        default=(0.1, 0.1, 0.1),
        min=0.0,
    )
    normal: choice(
        "Normal",
        "Orientation of the child on the ellipsoid",
        items=(
            ("opensim", "As OpenSim", "Turned by longitude and latitude: near to upright, and simple"),
            ("true", "True", "Upright on the surface everywhere but at its two poles"),
        ),
    )
    winging: angle("Winging", "Angle between x and the axis of the last turn, in the x-y plane")
    winging_origin: lengths(
        "Winging Origin", "Where the axis of winging meets the x-y plane of the moving frame", size=2
    )
    winging_direction: angle("Winging Direction", "Angle between y and the axis of winging, about z")
    rod_length: length("Rod Length", "Length of the rod, which bends to an arc", default=0.1, min=0.0)
    neutral: angles(
        "Neutral", "Turns of the rod's end about x, then z, then y where its coordinates are 0", size=3
    )
    ball_limit: choice(
        "Limit",
        "Limit of the total rotation of a ball joint",
        items=(
            ("NONE", "None", "No limit in all; each coordinate may have its own"),
            ("CONE", "Reach Cone", "An axis of the child stays inside a cone; turning about it is free"),
            (
                "ROTATION",
                "Total Rotation",
                "Turned by at most an angle, which depends on the axis of the turn",
            ),
        ),
    )
    cone_angle: angle(
        "Half Opening",
        "Largest angle of the axis from its direction at zero coordinates",
        min=0.001,
        max=math.pi,
        default=math.radians(60.0),
    )
    rotation_limit: angles(
        "Largest Turn",
        "Largest rotation about x, y and z alone",
        size=3,
        min=0.001,
        max=math.pi,
        default=(math.radians(60.0),) * 3,
    )
    custom_text: text("Description", "Description of a custom joint as in scene files (JSON); made by import")
    frames_of: pointer(
        "Control Points of",
        "Another joint's Empty whose control points the curve or surface uses; empty: those of this joint",
        type=Object,
        poll=lambda _, item: len(item.condyle.joint.frames) > 0,
    )
