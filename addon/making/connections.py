"""Creates connections between bodies: functions of the operators, also for scripts. In Blender units."""

from collections.abc import Sequence
from typing import Any

import bpy
import numpy as np
from bpy.types import Object, Scene
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree

from ..blender import units
from ..blender.physics_access import model_error
from ..data import references, schema
from ..data.connection_kinds import JOINED, KINDS
from ..data.references import Body
from . import bodies_and_joints

#: places of a new connection
PLACES = ("AUTO", "CURSOR", "CONTACT")
# Most vertices of a mesh that are searched for the nearest points: of a denser mesh every second, third ...
MOST_VERTICES = 5000


def add_connection(
    scene: Scene,
    other: Body | None,
    body: Body,
    kind: str,
    matrix: Matrix | np.ndarray | None = None,
    end: Sequence[float] | Vector | np.ndarray | None = None,
    name: str = "",
) -> Object:
    """Add a constraint, a spring or ground between two bodies, or between the world (other None) and a body.

    Args:
        kind: one of `data.connection_kinds.KINDS`.
        matrix: world matrix (4, 4) of its frame, on `other`; from `place` if None.
        end: point (3,) in the world, on `body`, of kinds that have one: rods and springs (the body's origin if None)
            and connectors (the frame's place if None). Of points, hinges and welds the frame (4, 4) on `body` that the
            connection joins to its own, None: where both are at the first frame.
        name: of the Empty; composed of the kind and the bodies' names if empty.

    Returns:
        The Empty that is its frame, in Blender a child of `other`. `body` becomes a free body if it was none.

    Raises:
        ModelError: both are the same body, a transform is not rigid with uniform scale, or a gear's bodies have no
            joints.
    """
    if kind not in KINDS:
        raise model_error(f"unknown kind of connection {kind!r}; use one of {', '.join(KINDS)}")
    if other is not None and references.same(other, body):
        raise model_error(f"{body.name} cannot be connected to itself")
    surface = None
    if kind == "ground" and other is not None and not other.data.body.enabled:
        surface, other = other.object, None  # scenery is not a body
    bodies = [each for each in (body, other) if each is not None]
    for each in bodies:
        bodies_and_joints.check_own(each)
        units.split_scale(each.matrix, each.name, each.owner)
    joints = _joints_to_couple(scene, body, other) if kind == "coupling" else None
    if matrix is None:
        matrix, suggested = place(scene, other, body, kind)
        end = suggested if end is None else end
    world = Matrix(units.split_scale(matrix, "the frame of the connection")[0].tolist())
    for each in bodies:
        if not each.data.body.enabled:
            bodies_and_joints.make_body(scene, each, motion="FREE" if each is body else "HELD")
    names = " - ".join(each.name for each in reversed(bodies))
    item = bodies_and_joints.new_empty(
        scene, name or f"{KINDS[kind].label.split(',')[0]} {names}", "PLAIN_AXES", body.object
    )
    share = 0.5 if KINDS[kind].sided else 0.25  # a plane is drawn larger
    item.empty_display_size = share * max(bodies_and_joints.typical_length(body), 1e-6)
    bodies_and_joints.attach(item, other, world)
    _set_up(item, kind, body, other, surface, joints)
    schema.stamp(item.condyle, scene.condyle)
    if KINDS[kind].has_end and (end is not None or not KINDS[kind].sided):
        set_end(scene, item, body.matrix.translation if end is None else end)
    elif end is not None and kind in JOINED:
        item.condyle.connection.own_places = True
        set_end(scene, item, end)
    return item


def _set_up(
    item: Object,
    kind: str,
    body: Body,
    other: Body | None,
    surface: Object | None,
    joints: list[Object] | None,
) -> None:
    """Fill in the settings of a new connection: its bodies, its surface, the joints that it couples."""
    settings = item.condyle.connection
    settings.enabled = True
    settings.kind = kind
    settings.to_world = other is None
    references.point_at(settings.body, body)
    references.point_at(settings.other, other)
    settings.ground.surface = surface
    if joints is not None:
        settings.coupling.joint, settings.coupling.leader = joints
    if kind == "segmented_planar_connector":
        size = 4.0 * item.empty_display_size
        for x, z in ((-1.0, 0.0), (0.0, 0.0), (1.0, 0.5)):
            settings.corners.add().place = (size * x, size * z)


def _joints_to_couple(scene: Scene, body: Body, other: Body | None) -> list[Object]:
    found = []
    for each in (body, other):
        joint = None if each is None else references.joint_of(scene, each)
        if joint is None:
            raise model_error(
                "a gear needs two bodies with joints: select the driving one, then the one that follows"
                + (f"; {each.name} has no joint" if each is not None else "")
            )
        found.append(joint)
    return found


def set_end(scene: Scene, item: Object, point: Sequence[float] | Vector | np.ndarray) -> Object:
    """Place the end of a connection, an Empty on its body, at a point (3,) or pose (4, 4) in the world; creates it if
    missing.
    """
    settings = item.condyle.connection
    given = np.array(point)
    pose = Matrix(given.tolist()) if given.ndim == 2 else Matrix.Translation(given.tolist())
    body = references.resolve(settings.body)
    if body is None:
        raise model_error(f"connection {item.name!r}: its body is missing")
    empty = settings.end
    if not references.in_scene(scene, empty) or empty.condyle.frame_of != item:
        empty = bodies_and_joints.new_empty(scene, f"{item.name} End", "SPHERE", item)
        empty.empty_display_size = 0.25 * item.empty_display_size
        empty.condyle.frame_of = item
        schema.stamp(empty.condyle)
        settings.end = empty
        bodies_and_joints.attach(empty, body, pose)
    else:
        empty.matrix_world = pose
    bpy.context.view_layer.update()
    return empty


def remove_connection(item: Object) -> None:
    """Delete a connection and its end; bodies are kept."""
    end = item.condyle.connection.end
    if end is not None and end.condyle.frame_of == item:
        bpy.data.objects.remove(end)
    bpy.data.objects.remove(item)


def place(scene: Scene, other: Body | None, body: Body, kind: str, where: str = "AUTO") -> tuple[Any, Any]:
    """World matrix of a new connection, and its end (3,) on the body or None.

    Args:
        where: "CURSOR": the 3D cursor. "CONTACT": the nearest points of the two meshes, z along the other's normal.
            "AUTO": from origin to origin for rods and springs, the cursor for everything else.
    """
    spans = kind in {"distance", "spring"}
    if where == "CONTACT" and other is not None:
        frame, end = contact(other, body)
        return frame, end if spans or KINDS[kind].has_end else None
    if where == "CONTACT" and not spans:
        raise model_error("a contact needs two bodies: select both, or use the 3D cursor")
    frame = scene.cursor.matrix.normalized()
    if spans and where == "AUTO" and other is not None:
        frame = Matrix.Translation(other.matrix.translation)
    return frame, body.matrix.translation if spans else None


def contact(other: Body, body: Body) -> tuple[Matrix, Vector]:
    """Nearest points of two bodies' meshes: a frame on the other with z along its normal, and the point of the body.

    Raises:
        ModelError: one of them has no mesh.
    """
    trees, meshes = [], []
    for each in (other, body):
        shape = each.data.body.shape or (each.object if not each.bone else None)
        if shape is None or shape.type != "MESH" or not len(shape.data.polygons):
            raise model_error(f"{each.name} has no mesh with faces for a contact; use the 3D cursor")
        tree = BVHTree.FromObject(shape, bpy.context.evaluated_depsgraph_get())
        trees.append((tree, shape.matrix_world.copy()))
        meshes.append(_some_vertices(shape))
    found: list[Any] = []
    for this, that in ((0, 1), (1, 0)):
        tree, world = trees[that]
        inverse = world.inverted_safe()
        for vertex in meshes[this]:
            place, normal, _, _ = tree.find_nearest(inverse @ vertex)
            if place is None:
                continue
            point = world @ place
            normal = (world.to_3x3().inverted_safe().transposed() @ normal).normalized()
            pair = (point, vertex, normal) if that == 0 else (vertex, point, -normal)
            found.append(((point - vertex).length, *pair))
    if not found:
        raise model_error(f"no contact of {other.name} and {body.name} was found; use the 3D cursor")
    least = min(distance for distance, *_ in found)
    # for parallel faces the middle, not a corner
    slack = 1e-4 * max(bodies_and_joints.typical_length(body), bodies_and_joints.typical_length(other))
    nearest = [row for row in found if row[0] <= least + slack]
    on_other, on_body, normal = (
        sum((row[k] for row in nearest), Vector((0.0, 0.0, 0.0))) / len(nearest) for k in (1, 2, 3)
    )
    gap = on_body - on_other
    frame = (gap if gap.length > slack else normal).to_track_quat("Z", "Y").to_matrix().to_4x4()
    frame.translation = on_other
    return frame, on_body


def _some_vertices(shape: Object) -> list[Vector]:
    vertices = shape.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices
    step = 1 + len(vertices) // MOST_VERTICES
    coordinates = np.empty(3 * len(vertices), dtype=np.float32)
    vertices.foreach_get("co", coordinates)
    return [shape.matrix_world @ Vector(row) for row in coordinates.reshape(-1, 3)[::step].tolist()]
