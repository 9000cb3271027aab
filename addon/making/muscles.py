"""Creates muscles: functions of the operators, also for scripts.

Lengths, points and matrices are in Blender units; masses and forces in SI.
"""

import math
from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from bpy.types import Material, Object, Scene
from mathutils import Vector

from ..blender import physics_access
from ..blender.physics_access import model_error
from ..data import collection, references, schema
from ..data.muscles import ObstacleUse
from ..data.references import Body
from ..reading import muscle_points
from . import bodies_and_joints

#: radius of a new muscle's belly, as a share of its length
SLENDERNESS = 0.06


def add_muscle(
    scene: Scene, points: Sequence[tuple[Body | None, Any]], name: str = "Muscle"
) -> Object | None:
    """Add a muscle along points, from its origin to its insertion.

    Args:
        points: (body, place (3,) in the world) each; body None: the world. An object that is not a body counts as part
            of the body that carries it.

    Returns:
        The curve object, a poly spline with its points hooked to the bodies.

    Raises:
        ModelError: fewer than two points, or all on one body.
    """
    _check(points, name)
    curve = bpy.data.curves.new(name, "CURVE")
    item = bpy.data.objects.new(name, curve)
    owner = next(body.object for body, _ in points if body is not None)
    collection.collection_of(scene, owner).objects.link(item)
    _draw(item, [place for _, place in points])
    return _made(scene, item, points)


def from_curve(scene: Scene, item: Object, bodies: Sequence[Body] = ()) -> Object:
    """Make a curve object a muscle, and hook its control points to the nearest of the bodies (none: all bodies).

    Raises:
        ModelError: not one spline of two or more points, no bodies, or all points are nearest to the same body.
    """
    if item.type != "CURVE" or item.library is not None:
        raise model_error(f"{item.name!r} is not a curve object of this file")
    if item.condyle.muscle.enabled:
        raise model_error(f"{item.name!r} is already a muscle")
    splines = item.data.splines
    if len(splines) != 1:
        raise model_error(
            f"curve {item.name!r} must have one spline to become a muscle, but has {len(splines)}"
        )
    found = splines[0].bezier_points if splines[0].type == "BEZIER" else splines[0].points
    places = [item.matrix_world @ Vector(point.co[:3]) for point in found]
    candidates = list(bodies) or references.bodies_of(scene)
    points = [(nearest_body(candidates, place), place) for place in places]
    _check(points, item.name)
    for modifier in [each for each in item.modifiers if each.type == "HOOK"]:
        item.modifiers.remove(modifier)
    splines.remove(splines[0])
    _draw(item, places)
    return _made(scene, item, points)


def _check(points: Sequence[tuple[Body | None, Any]], name: str) -> None:
    if len(points) < 2:
        raise model_error(f"muscle {name!r} needs 2 points or more, got {len(points)}")
    carriers = [muscle_points.carrier(body) or body for body, _ in points]
    if all(references.same(each, carriers[0]) for each in carriers):
        where = carriers[0].name if carriers[0] else "the world"
        raise model_error(
            f"all points of muscle {name!r} are on {where}, so it cannot move anything: it needs points on two bodies"
        )
    for body, _ in points:
        if body is not None:
            bodies_and_joints.check_own(body)


def _draw(item: Object, places: Sequence[Any]) -> None:
    """Add a poly spline through places in the world."""
    spline = item.data.splines.new("POLY")
    spline.points.add(len(places) - 1)
    inverse = item.matrix_world.inverted()
    for point, place in zip(spline.points, places):
        point.co = (*(inverse @ Vector(place)), 1.0)


def _made(scene: Scene, item: Object, points: Sequence[tuple[Body | None, Any]]) -> Object:
    curve = item.data
    curve.dimensions = "3D"
    curve.use_path = False
    curve.use_fill_caps = True
    curve.bevel_resolution = 3
    for index, (body, place) in enumerate(points):
        if body is not None:
            muscle_points.hook(item, index, body, place)
    settings = item.condyle.muscle
    places = np.array([point.place for point in muscle_points.points_of(item)])
    length = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
    settings.enabled = True
    settings.radius = max(SLENDERNESS * length, 1e-6)
    settings.law.fibre_length, settings.law.tendon_length = 0.5 * max(length, 1e-5), 0.5 * max(length, 1e-5)
    if not len(curve.materials):
        curve.materials.append(material_of(item))
    for body, _ in points:
        owner = muscle_points.carrier(body)
        if body is not None and owner is None:
            bodies_and_joints.make_body(scene, body)
    schema.stamp(item.condyle, scene.condyle)
    show_thickness(item)
    return item


def show_thickness(item: Object) -> None:
    """Give the tube that is shown before a bake, which has no belly, the muscle's volume."""
    settings = item.condyle.muscle
    if settings.own_curve is not None:
        return
    curve = item.data
    volume = physics_access.part("analysis.muscle_drawing").tube_volume(
        1.0, (settings.origin_tendon, settings.insertion_tendon)
    )
    curve.bevel_depth = settings.radius * math.sqrt(volume / math.pi)
    for spline in curve.splines:
        spline.points.foreach_set("radius", np.ones(len(spline.points), dtype=np.float32))


def remove_muscle(item: Object) -> None:
    """Make a muscle an ordinary curve again; its hooks and settings are kept."""
    item.condyle.muscle.enabled = False


def stick_points(scene: Scene, item: Object, bodies: Sequence[Body] = (), every: bool = False) -> int:
    """Hook points without a hook (or every point) to the nearest body of these; returns the number of hooked points."""
    candidates = list(bodies) or references.bodies_of(scene)
    hooked = muscle_points.hooks(item)
    count = 0
    for index, point in enumerate(muscle_points.points_of(item)):
        if every or index not in hooked:
            body = nearest_body(candidates, point.place)
            if body is None:
                raise model_error("the scene has no body to hook points to: make one first")
            muscle_points.hook(item, index, body, point.place)
            count += 1
    return count


def nearest_body(bodies: Sequence[Body], place: Vector | np.ndarray) -> Body | None:
    """The body whose surface, bone or origin is nearest to a place (3,) in the world; None without bodies."""
    return min(bodies, key=lambda body: (surface_point(body, place) - Vector(place)).length, default=None)


def surface_point(body: Body, place: Vector | np.ndarray) -> Vector:
    """The point of a body's mesh, bone or origin nearest to a place (3,) in the world."""
    place = Vector(place)
    if body.bone:
        bone = body.pose_bone
        head, tail = (body.object.matrix_world @ end for end in (bone.head, bone.tail))
        along = tail - head
        share = 0.0 if along.length == 0.0 else (place - head).dot(along) / along.length_squared
        return head + min(max(share, 0.0), 1.0) * along
    best = body.object.matrix_world.translation.copy()
    for item in (body.object, body.data.body.shape, *body.object.children):
        if item is None or item.type != "MESH" or not len(item.data.polygons):
            continue
        if item.condyle.obstacle.enabled or (item != body.object and item.condyle.body.enabled):
            continue
        found, point, _, _ = item.closest_point_on_mesh(item.matrix_world.inverted_safe() @ place)
        if found and (item.matrix_world @ point - place).length <= (best - place).length:
            best = item.matrix_world @ point
    return best


def wrap_over(muscle: Object, obstacle: Object, strand: int = 0) -> ObstacleUse:
    """Let a muscle wrap over an obstacle, between points `strand` and the next (0: at its nearest strand).

    Raises:
        ModelError: it already wraps over it, or the object is not an obstacle.
    """
    settings = muscle.condyle.muscle
    if not obstacle.condyle.obstacle.enabled:
        raise model_error(f"{obstacle.name!r} is not an obstacle")
    if any(row.obstacle == obstacle and row.strand == strand for row in settings.obstacles):
        raise model_error(f"muscle {muscle.name!r} already wraps over {obstacle.name!r}")
    row = settings.obstacles.add()
    row.obstacle, row.strand = obstacle, strand
    settings.active_obstacle = len(settings.obstacles) - 1
    return row


#: linear colours at rest and at full activation
REST, FULL = (0.28, 0.06, 0.07), (1.0, 0.16, 0.05)
NODE = "Activation"  # node of a muscle's material with its keyed activation


def colors(activation: np.ndarray) -> np.ndarray:
    """Linear colours (n, 3) of activations (n,)."""
    return np.array(REST) + np.clip(activation, 0.0, 1.0)[:, None] * (np.array(FULL) - np.array(REST))


def material_of(item: Object) -> Material:
    """Create a material for a muscle: a value node named Activation drives a colour ramp."""
    found = bpy.data.materials.new(f"{item.name} Muscle")
    found.diffuse_color = (*REST, 1.0)
    if found.node_tree is None:  # before 5.0
        found.use_nodes = True
    tree = found.node_tree
    shader = next((node for node in tree.nodes if node.type == "BSDF_PRINCIPLED"), None)
    if shader is None:
        return found
    value, ramp = tree.nodes.new("ShaderNodeValue"), tree.nodes.new("ShaderNodeValToRGB")
    value.name = value.label = NODE
    value.location, ramp.location = (-500.0, 250.0), (-300.0, 300.0)
    for element, color in zip(ramp.color_ramp.elements, (REST, FULL)):
        element.color = (*color, 1.0)
    tree.links.new(value.outputs[0], ramp.inputs[0])
    tree.links.new(ramp.outputs[0], shader.inputs["Base Color"])
    shader.inputs["Roughness"].default_value = 0.45
    return found
