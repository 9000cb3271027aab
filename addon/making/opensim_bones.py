"""Meshes of an imported OpenSim model: those of its files, or sticks from joint to joint where none was found."""

from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.types import Material

from ..blender import physics_access, units
from ..data import collection, findings
from . import bodies_and_joints
from .opensim_state import Imported, Standing, target_of

BONE_COLOR = (0.86, 0.82, 0.72, 1.0)
#: Blender's importers of other meshes than .vtp
IMPORTERS = {".obj": "obj_import", ".ply": "ply_import", ".stl": "stl_import"}
# Half the width of a stick as a share of its length, where it is widest, and the least length [m] that is drawn.
WIDTH, SHORTEST = 0.1, 1e-3
#: corners of a stick: in its axes, that along it in lengths and those across it in widths; and its faces
CORNERS = np.array([[0.0, 0, 0], [WIDTH, 1, 0], [WIDTH, 0, 1], [WIDTH, -1, 0], [WIDTH, 0, -1], [1.0, 0, 0]])
FACES = [[0, b, a] for a, b in ((1, 2), (2, 3), (3, 4), (4, 1))] + [
    [5, a, b] for a, b in ((1, 2), (2, 3), (3, 4), (4, 1))
]


def add(standing: Standing, made: Imported) -> None:
    """Import meshes of bones as children of their bodies; warns of those that cannot be read."""
    drawn = set()
    for shape in standing.read.geometry:
        if shape.path is None:
            continue
        try:
            points, polygons = _surface(shape.path)
        except (physics_access.physics().CondyleError, OSError, RuntimeError) as error:
            told = findings.about(None, "import-geometry", file=shape.path.name, error=error)
            made.warnings.append(told)
            continue
        points = points * np.asarray(shape.scale)
        _add_mesh(standing, made, shape.path.stem, (shape.frame.body, shape.frame.pose), (points, polygons))
        drawn.add(shape.frame.body)
    for number, body in enumerate(standing.model.bodies):
        if body.name not in drawn:
            _add_sticks(standing, made, number)


def _surface(path: Path) -> tuple[np.ndarray, list[list[int]]]:
    """Points (n, 3) [m] and polygons of a file; FormatError, OSError or the importer's RuntimeError."""
    importer = IMPORTERS.get(path.suffix.lower())
    if importer is None:
        read: tuple[np.ndarray, list[list[int]]] = physics_access.part("io.vtp").read_vtp(path)
        return read
    kinds = bpy.data.objects, bpy.data.meshes, bpy.data.materials, bpy.data.images
    before = {each.session_uid for kind in kinds for each in kind}
    try:
        getattr(bpy.ops.wm, importer)(filepath=str(path), forward_axis="Y", up_axis="Z")
        points, polygons = [np.empty((0, 3))], []
        made = [each for each in bpy.data.objects if each.session_uid not in before and each.type == "MESH"]
        for item in made:
            first, corners = sum(map(len, points)), np.empty(3 * len(item.data.vertices))
            item.data.vertices.foreach_get("co", corners)
            polygons += [[first + corner for corner in each.vertices] for each in item.data.polygons]
            points.append(corners.reshape(-1, 3))
        if not polygons:
            raise RuntimeError("it has no faces")
        return np.concatenate(points), polygons
    finally:
        bpy.data.batch_remove([each for kind in kinds for each in kind if each.session_uid not in before])


def _add_sticks(standing: Standing, made: Imported, number: int) -> None:
    """Draw a body as sticks from its joint to those of its children, or without any to twice its centre's distance."""
    bodies = standing.model.bodies
    body = bodies[number]
    # the joint's moving frame in the body
    start = physics_access.physics().lie.inverse(np.asarray(body.body_in_joint))[:3, 3]
    ends = [np.asarray(each.joint_in_parent)[:3, 3] for each in bodies if each.parent == number]
    if not ends:
        ends = [2.0 * np.asarray(body.com) - start]
    points, faces = [np.empty((0, 3))], []
    for end in ends:
        length = float(np.linalg.norm(end - start))
        if length > SHORTEST:
            axes = np.linalg.svd((end - start)[None] / length)[2]  # the first along it, whatever its sign
            axes[0] = (end - start) / length
            axes[2] = np.cross(axes[0], axes[1])
            faces += [[6 * (len(points) - 1) + corner for corner in face] for face in FACES]
            points.append(start + length * (CORNERS * (1.0, WIDTH, WIDTH)) @ axes)
    if faces:
        _add_mesh(standing, made, f"{body.name} stick", (body.name, None), (np.concatenate(points), faces))


def _add_mesh(
    standing: Standing,
    made: Imported,
    name: str,
    frame: tuple[str | None, np.ndarray | None],
    shape: tuple[np.ndarray, list[Any]],
) -> None:
    """A mesh of points (n, 3) [m] and faces in the frame of a body, and a pose (4, 4) in that."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata((shape[0] / units.length_scale(standing.scene)).tolist(), [], shape[1])
    mesh.validate()
    mesh.materials.append(_material())
    mesh.polygons.foreach_set("use_smooth", np.full(len(mesh.polygons), frame[1] is not None))
    item = bpy.data.objects.new(name, mesh)
    collection.collection_of(standing.scene).objects.link(item)
    bodies_and_joints.attach(item, target_of(made, frame[0]), standing.matrix(*frame), update=False)


def _material() -> Material:
    found = bpy.data.materials.get("Condyle Bone") or bpy.data.materials.new("Condyle Bone")
    found.diffuse_color = BONE_COLOR
    return found
