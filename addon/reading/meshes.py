"""What is read of meshes, also of those of a snapshot (`snapshot`): vertices and triangles, vertex groups, and the skin
about bones, which is that of the meshes that an armature deforms.
"""

from collections.abc import Sequence

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..data import references


def mesh_arrays(item: Object) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in the object's space and triangles (m, 3) of an object's evaluated mesh."""
    evaluated = references.live(item).evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    try:
        mesh.calc_loop_triangles()
        vertices = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", vertices)
        triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
        mesh.loop_triangles.foreach_get("vertices", triangles)
    finally:
        evaluated.to_mesh_clear()
    return vertices.reshape(-1, 3).astype(np.float64), triangles.reshape(-1, 3)


def stored_vertices(shape: Object) -> np.ndarray:
    """Vertices (n, 3) of an object's own mesh, in its space."""
    mesh = references.live(shape).data
    vertices = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    mesh.vertices.foreach_get("co", vertices)
    return vertices.reshape(-1, 3).astype(np.float64)


def in_group(shape: Object, name: str, count: int) -> list[int]:
    """Indices of the vertices of an object in a vertex group; count: of those of its evaluated mesh."""
    shape = references.live(shape)
    group = shape.vertex_groups.get(name)
    if group is None:
        known = ", ".join(each.name for each in shape.vertex_groups) or "it has none"
        raise physics_access.model_error(f"{shape.name!r} has no vertex group {name!r} ({known})")
    vertices = shape.data.vertices
    if len(vertices) != count:
        raise physics_access.model_error(
            f"modifiers of {shape.name!r} change its number of vertices, so vertex group {name!r} cannot be used"
        )
    return [
        vertex.index
        for vertex in vertices
        if any(entry.group == group.index and entry.weight > 0.5 for entry in vertex.groups)
    ]


def skin_volumes(scene: Scene, rig: Object, bones: Sequence[str]) -> dict[str, float]:
    """Volume [m^3] of the skin of each bone of an armature that has one, in the rest pose.

    By the divergence theorem a solid about an axis has the volume 1/2 integral of rho . n dA, rho pointing from the
    axis to its surface: ends across the axis count nothing, so the cuts from bone to bone need no faces. Each face
    counts with its share of the bone, the mean of its vertices' weights.
    """
    found = dict.fromkeys(bones, 0.0)
    to_rig = np.linalg.inv(units.array4(rig.matrix_world))
    size = abs(np.linalg.det(units.array4(rig.matrix_world)[:3, :3])) * units.length_scale(scene) ** 3
    for item in skins(scene, rig):
        triangles = _triangles(item)
        shares = _shares(item, rig, bones)[triangles].mean(axis=1)
        corners = _places(item, to_rig @ units.array4(item.matrix_world))[triangles]
        areas = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        for name, share in zip(bones, shares.T):
            bone = rig.data.bones[name]
            axis = np.array(bone.tail_local - bone.head_local) / bone.length
            away = corners.mean(axis=1) - np.array(bone.head_local)
            away -= np.outer(away @ axis, axis)
            found[name] += 0.5 * float(share @ np.einsum("ki,ki->k", away, areas)) * size
    return {name: volume for name, volume in found.items() if volume > 0.0}


def skin_points(scene: Scene, rig: Object, bone: str) -> np.ndarray:
    """Vertices (n, 3) of the skin that a bone moves more than all others together, in its axes, in the rest pose."""
    scene, rig = references.find_scene(scene.session_uid), references.live(rig)
    to_bone = np.linalg.inv(units.array4(rig.matrix_world @ rig.data.bones[bone].matrix_local))
    found = [np.empty((0, 3))]
    for item in skins(scene, rig):
        if bone in item.vertex_groups:
            places = _places(item, to_bone @ units.array4(item.matrix_world))
            found.append(places[_shares(item, rig, [bone])[:, 0] > 0.5])
    return np.concatenate(found)


def skins(scene: Scene, rig: Object) -> list[Object]:
    """The meshes that an armature deforms."""
    return [
        item
        for item in scene.objects
        if item.type == "MESH"
        and any(each.type == "ARMATURE" and each.object == rig for each in item.modifiers)
    ]


def _triangles(item: Object) -> np.ndarray:
    """Vertices (m, 3) of the triangles of an object's own mesh."""
    item.data.calc_loop_triangles()
    triangles = np.empty(3 * len(item.data.loop_triangles), dtype=np.int32)
    item.data.loop_triangles.foreach_get("vertices", triangles)
    return triangles.reshape(-1, 3)


def _places(item: Object, matrix: np.ndarray) -> np.ndarray:
    """Vertices (n, 3) of an object's own mesh, moved by a matrix (4, 4)."""
    places = np.empty(3 * len(item.data.vertices), dtype=np.float32)
    item.data.vertices.foreach_get("co", places)
    return places.reshape(-1, 3).astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def _shares(item: Object, rig: Object, bones: Sequence[str]) -> np.ndarray:
    """Shares (vertices, bones) that bones have in moving each vertex, of all bones of the armature."""
    columns = {name: column for column, name in enumerate(bones)}
    groups = [
        columns.get(group.name, -1) if group.name in rig.data.bones else None for group in item.vertex_groups
    ]
    shares, whole = np.zeros((len(item.data.vertices), len(bones))), np.zeros(len(item.data.vertices))
    for vertex in item.data.vertices:
        for entry in vertex.groups:
            column = groups[entry.group] if entry.group < len(groups) else None
            if column is not None:
                whole[vertex.index] += entry.weight
                if column >= 0:
                    shares[vertex.index, column] += entry.weight
    return shares / np.where(whole > 0.0, whole, 1.0)[:, None]
