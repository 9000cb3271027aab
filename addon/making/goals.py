"""Makes goals of bodies."""

from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Vector

from ..blender import units
from ..data import collection, references, schema
from ..data.goals import AT_TARGETS, AXES
from ..data.joints import slider_names
from ..data.references import Body
from ..reading import goals, muscle_points
from . import joint_places

#: size of a new target as a share of a bone's length or an object's largest side
SHARE = 0.3
#: lengths of a body between it and what it looks at
AWAY = 4.0
#: rate [1/s] at which joints lose speed that get dampers; with 2 a search for torques missed one of five goals, with 10
#: none of six
LOSS = 10.0


def add(scene: Scene, body: Body, kind: str, frame: int, target: Object | None) -> Any:
    """Add a goal to a body; one without a target that needs it gets an Empty, at the body's tip or before it. Returns
    the goal.

    The `undamped` joints get dampers. ModelError where a mass cannot be read.
    """
    for joint, child in undamped(scene, body):
        joint_places.damp(scene, joint, child, LOSS)
    listed = body.data.goals
    row = listed.rows.add()
    row.kind, row.frame = kind, frame
    children = [] if body.bone or body.object.type == "MESH" else body.object.children
    places = [
        np.array(body.matrix.inverted_safe() @ each.matrix_world @ Vector(corner))
        for each in children if each.type == "MESH" for corner in each.bound_box
    ]  # fmt: skip
    if places:  # meshes of an imported body
        row.use_tip, row.point = False, goals.far_side(scene, body, np.array(places))
    if kind == "LOOK":
        row.looks_along = _front(body)
    if kind in AT_TARGETS:
        along = goals.axis_of(row.looks_along) if kind == "LOOK" else None
        row.target = target or _empty(scene, body, goals.point_of(scene, body, row), along)
    if kind == "POSE" and (joint := references.joint_of(scene, body)) is not None:
        row.value = _value_now(scene, joint)
    listed.active_row = len(listed.rows) - 1
    schema.stamp(body.data)
    return row


def undamped(scene: Scene, body: Body) -> list[tuple[Object, Body]]:
    """The joints without damping between the world and a body, and what they carry; none where muscles may damp."""
    found: list[tuple[Object, Body]] = []
    seen, met = set[str](), None if muscle_points.muscles_of(scene) else body
    while (
        met is not None and (joint := references.joint_of(scene, met)) is not None and joint.name not in seen
    ):
        seen.add(joint.name)
        if not any(row.damping for row in joint.condyle.joint.coordinates):
            found.append((joint, met))
        met = None if joint.condyle.joint.to_world else references.resolve(joint.condyle.joint.parent)
    return found


def _value_now(scene: Scene, joint: Object) -> float:
    """The value of a joint's first coordinate now by its slider, or else at the start [rad, m]."""
    settings = joint.condyle.joint
    if not settings.driven:
        return settings.coordinates[0].start if settings.coordinates else 0.0
    factor = units.length_scale(scene) if settings.coordinates[0].unit == "m" else 1.0
    return factor * float(joint[slider_names(settings)[0]])


def _front(body: Body) -> str:
    """The axis of a body that is nearest to the world's -Y, to which characters turn their faces."""
    axes = units.array4(body.matrix)[:3, :3]
    toward = axes[1] / np.linalg.norm(axes, axis=0)
    return min(AXES, key=lambda name: float(toward @ goals.axis_of(name)))


def _empty(scene: Scene, body: Body, tip: np.ndarray, along: np.ndarray | None) -> Object:
    """A new Empty at a body's tip (3,), or some lengths of it away along an axis (3,) of its own."""
    item = bpy.data.objects.new(f"{body.bone or body.object.name} Goal", None)
    item.show_in_front = True
    size = body.pose_bone.bone.length if body.bone else max(body.object.dimensions)
    item.empty_display_type, item.empty_display_size = "SPHERE", SHARE * size or 1.0
    collection.collection_of(scene, body.object).objects.link(item)
    if along is not None:
        tip = AWAY * float(np.linalg.norm(tip) or 1.0) * along
    place = units.array4(body.matrix) @ np.append(tip, 1.0)
    item.location = place[:3]
    return item
