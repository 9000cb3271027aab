"""Where joints stand that are added by hand, the axes of hinges, and dampers: as the shapes of the bodies suggest."""

import math
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix, Vector

from ..blender import units
from ..data.references import Body
from ..posing import project_poses
from ..reading import masses
from . import bodies_and_joints
from .presets import FRONT
from .presets_placing import ROUNDS, between, box_of

#: joints that turn about a point, and those of them with one axis; others stand where their children are
TURNING = {"hinge", "universal", "skewed_universal", "euler", "spherical", "helical", "cylindrical"}
AXIAL = {"hinge", "helical", "cylindrical"}
# Limbs are bent where the sine of the angle between them is larger. Bodies touch where they are nearer than this share
# of their distance, and a direction is upright where the sine of its angle to that is smaller.
BENT, TOUCH, UPRIGHT = math.sin(math.radians(2.0)), 1e-3, 0.3
# Rate at which joints lose speed [1/s], as dampers on the moment of inertia of the limb about its end.
LOSS = 2.0
# A start value this near to its slider [m, rad] is what is seen.
SHOWN = 1e-3


def add(
    scene: Scene, parent: Body | None, child: Body, kind: str, closes_loop: bool = False
) -> Object | None:
    """Add a joint as `bodies_and_joints.add_joint` does: one that turns at a bone's head, or where two objects are
    nearest; about the axis across the bend, else so that the child swings down.
    """
    if kind not in TURNING:
        return bodies_and_joints.add_joint(scene, parent, child, kind, closes_loop=closes_loop)
    bodies_and_joints.check_joints([(parent, child)])
    turn, place = child.matrix.to_quaternion().to_matrix(), _place(parent, child)
    axis = turn.transposed() @ _axis(parent, child, place)
    frame = Matrix.Translation(place) @ turn.to_4x4()
    item = bodies_and_joints.add_joint(scene, parent, child, kind, frame, closes_loop=closes_loop)
    if kind in AXIAL and axis.length > 0.0:
        item.condyle.joint.axis = axis.normalized()
    return item


def begin_as_shown(scene: Scene, item: Object) -> None:
    """Let a joint begin in the pose that is seen at the first frame, with its speed, unless it has a start speed, or
    start values that its sliders do not show now.
    """
    settings = item.condyle.joint
    shown = project_poses.readings_now(scene, item)
    told = any(
        row.start_speed or (row.start and abs(row.start - now) > SHOWN)
        for row, now in zip(settings.coordinates, shown)
    )
    if settings.start_from == "SCENE" and not told:
        settings.start_from = "MOTION"


def damp(scene: Scene, joint: Object, child: Body, loss: float = LOSS) -> None:
    """Give a joint dampers that fit its child; loss: rate [1/s]. ModelError where the child's mass cannot be read."""
    found = masses.mass_properties(scene, child)
    apart = (joint.matrix_world.translation - child.matrix.translation).length * units.length_scale(scene)
    arm = apart + float(np.linalg.norm(found.center))
    for row in joint.condyle.joint.coordinates:
        # with the inertia a damper acts by the speed at a step's end, and none is too strong for the step
        row.damping = loss * (found.mass * arm**2 + float(np.diag(found.inertia).max()))
        row.armature = scene.condyle.simulation.time_step * row.damping


def hinge_axis(upper: Vector, lower: Vector, toward: Vector) -> Vector:
    """The axis of a hinge between two limbs of these unit directions: across the bend, which flexion makes larger, or
    of straight limbs that about which the lower one turns towards a direction.
    """
    axis: Any = upper.cross(lower)
    if axis.length < BENT:
        axis = lower.cross(toward)
    return Vector(axis)


def _place(parent: Body | None, child: Body) -> Vector:
    """The head of a bone, the middle of the gap between two objects, or an object's origin."""
    if parent is None or child.bone:
        return child.matrix.translation.copy()
    bodies = (parent, child)
    place = Vector(between(box_of(parent), box_of(child)))
    if any(each.bone or each.object.type != "MESH" or not each.object.data.polygons for each in bodies):
        return place
    ends = [place, place]
    for _ in range(ROUNDS):
        ends = [_nearest(parent, ends[1]), ends[1]]
        ends = [ends[0], _nearest(child, ends[0])]
    apart = (ends[0] - ends[1]).length
    far = (Vector(box_of(parent).middle) - Vector(box_of(child).middle)).length
    return ends[0].lerp(ends[1], 0.5) if apart > TOUCH * far else place


def _nearest(body: Body, place: Vector) -> Vector:
    """The point of an object's surface that is nearest to a place in the world."""
    world, seen = body.matrix, bpy.context.evaluated_depsgraph_get()
    _, point, _, _ = body.object.closest_point_on_mesh(world.inverted() @ place, depsgraph=seen)
    return world @ point


def _axis(parent: Body | None, child: Body, place: Vector) -> Vector:
    """The axis of a hinge at a place, in the world; 0 where nothing suggests one."""
    if child.bone:
        turn = child.matrix.to_quaternion()
        if parent is None or parent.object != child.object or not parent.bone:
            return turn @ Vector((1.0, 0.0, 0.0))
        bones = child.object.data.bones
        to_child = bones[child.bone].matrix_local.to_3x3().inverted()
        upper = (to_child @ bones[parent.bone].matrix_local.to_3x3()).col[1]
        return turn @ hinge_axis(upper.normalized(), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0)))
    lower = Vector(box_of(child).middle) - place
    if lower.length < TOUCH * float(np.linalg.norm(box_of(child).half)):
        return Vector()
    lower.normalize()
    upper = lower if parent is None else (place - Vector(box_of(parent).middle)).normalized()
    down = Vector((0.0, 0.0, -1.0))
    return hinge_axis(upper, lower, down if lower.cross(down).length > UPRIGHT else Vector(FRONT))
