"""The gallery's joints as joints of the add-on, with the settings that its panel shows."""

import json
from typing import Any

import bpy
import numpy as np

from addon.data import stored_joints as joint_reading
from addon.data.references import Body
from addon.making import bodies_and_joints
from physics import joints
from physics._typing import FloatArray

from . import SceneError
from .gallery_joints import Exhibit

# settings with the same names as in physics
SAME_NAMES = (
    "pitch",
    "skew",
    "sequence",
    "rotation_first",
    "normal",
    "winging",
    "winging_origin",
    "winging_direction",
    "rod_length",
    "neutral",
)
# Blender keeps settings and control frames in single precision: 6e-8 of metres and radians, through a few factors
READ_WITHIN = 2e-6
MASS, INERTIA = 0.1, (1e-5, 1e-5, 1e-5)  # of a moving part, kg and kg m^2


def add_joint(
    scene: bpy.types.Scene, exhibit: Exhibit, moving: bpy.types.Object, place: FloatArray
) -> bpy.types.Object:
    """Make the moving part a body with a joint to the world, including its limits; returns the joint's Empty."""

    inner = exhibit.joint.joint if isinstance(exhibit.joint, joints.Inverted) else exhibit.joint
    matrix = np.eye(4)
    matrix[:3, 3] = place
    bodies_and_joints.make_body(scene, Body(moving), mass=MASS, center=(0.0, 0.0, 0.0), inertia=INERTIA)
    item = bodies_and_joints.add_joint(
        scene, parent=None, child=Body(moving), kind=inner.type, matrix=matrix, name=f"{exhibit.title} joint"
    )
    item.empty_display_size = 0.02
    settings = item.condyle.joint
    settings.inverted = inner is not exhibit.joint
    if isinstance(inner, joints.Composite):
        settings.parts.clear()
        for part in inner.joints:
            row = settings.parts.add()
            row.type = part.type
            set_shape(scene, item, row, part)
    else:
        set_shape(scene, item, settings, inner)
    settings.child_in_joint = tuple(np.eye(4).ravel())
    for row, (low, high), rest in zip(
        settings.coordinates, exhibit.ranges, exhibit.rest_readings, strict=True
    ):
        row.limits, row.lower, row.upper, row.start = "CUSTOM", low, high, rest
    return item


def set_shape(scene: bpy.types.Scene, item: bpy.types.Object, shape: Any, joint: joints.Joint) -> None:
    """Write a joint's parameters into the settings of a joint, or of a part of a composite one."""

    if isinstance(joint, joints.SplineSurface):
        settings = item.condyle.joint
        settings.grid = (*joint.values.shape[:-1], 1, 1)[:3]
        settings.grid_orders = (*joint.order, 4, 4)[:3]
        settings.grid_periodic = (*joint.periodic, False, False)[:3]
        shape.sequence, shape.rotation_first = joint.sequence, joint.rotation_first
        bodies_and_joints.set_control_frames(
            scene, item, joint.control_frames.reshape(-1, 4, 4), np.concatenate(joint.knots)
        )
    elif isinstance(joint, joints.SplineCurve):
        item.condyle.joint.order, item.condyle.joint.periodic = joint.order, joint.periodic
        bodies_and_joints.set_control_frames(scene, item, joint.frames, joint.knots)
    elif isinstance(joint, joints.Custom):
        shape.custom_text = json.dumps(joint.to_dict())
    elif isinstance(joint, joints.Spherical) and joint.limit is not None:
        if isinstance(joint.limit, joints.ReachCone):
            shape.ball_limit, shape.axis, shape.cone_angle = "CONE", joint.limit.axis, joint.limit.angle
        else:
            shape.ball_limit, shape.rotation_limit = "ROTATION", joint.limit.most
    else:
        for name, value in joint.to_dict().items():
            if name in SAME_NAMES:
                setattr(shape, name, value)
        for name in ("axis", "axis_1"):
            if hasattr(joint, name):
                shape.axis = getattr(joint, name)
        if hasattr(joint, "axis_2"):
            shape.axis_2 = joint.axis_2
        if hasattr(joint, "radii"):
            shape.semi_axes = joint.radii
        elif hasattr(joint, "a"):
            shape.semi_axes = (joint.a, joint.b, getattr(joint, "c", 0.1))


def check_read(scene: bpy.types.Scene, item: bpy.types.Object, exhibit: Exhibit) -> float:
    """Compare the joint that the add-on reads with the exhibit's; raises SceneError if they differ."""

    joint = joint_reading.read_joint(scene, item)
    readings = exhibit.sweep()[::10]
    if joint.type != exhibit.joint.type or joint.num_coordinates != exhibit.joint.num_coordinates:
        raise SceneError(f"the add-on reads {exhibit.title!r} as a joint of type {joint.type!r}")
    error = float(np.abs(joint.transform(joint.from_readings(readings)) - exhibit.pose(readings)).max())
    if not error < READ_WITHIN:
        raise SceneError(
            f"the add-on's {exhibit.title!r} differs from the exhibit by {error:.1e}, not less than {READ_WITHIN:g}"
        )
    return error
