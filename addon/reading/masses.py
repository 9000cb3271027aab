"""Mass, centre and inertia of meshes, and of bones without one."""

from __future__ import annotations

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..blender import physics_access, units
from ..data import references
from ..data.references import Body

#: radius of the capsule that a bone's mass is that of, as a share of its length: so limbs have about theirs
SLIMNESS = 0.2


def mass_properties(scene: Scene, body: Body) -> units.MassProperties:
    """Mass properties of a body in its own axes; ModelError names the body."""
    settings = body.data.body
    if settings.mass_source == "MANUAL":
        xx, yy, zz = settings.inertia_diagonal
        xy, xz, yz = settings.inertia_products
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=np.float64)
        center = np.array(settings.center_of_mass, dtype=np.float64) * units.length_scale(scene)
        return units.MassProperties(settings.mass, center, inertia)
    shape = settings.shape or (body.object if not body.bone else None)
    if shape is None or shape.type != "MESH":
        raise physics_access.model_error(
            f"{body.name} has no mesh to compute its mass from; choose a shape, or enter the mass by hand"
        )
    references.check_evaluated(shape, f"{body.name}: its shape {shape.name!r}")
    pose, _ = units.split_scale(body.matrix, body.name, body.owner)
    vertices, triangles = mesh_arrays(shape)
    to_body = physics_access.physics().lie.inverse(pose) @ units.array4(shape.matrix_world)
    vertices = vertices @ to_body[:3, :3].T + to_body[:3, 3]
    return units.mesh_mass_properties(
        vertices * units.length_scale(scene), triangles, settings.density, body.name
    )


def mesh_arrays(item: Object) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in the object's space and triangles (m, 3) of an object's evaluated mesh."""
    evaluated = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
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


def capsule_along(
    scene: Scene, bone: Body, volume: float | None = None
) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass [kg], centre (3,) in Blender units in its axes, and moments of inertia (3,) [kg m^2] of a capsule along a
    bone, from its head to its tail.

    volume: of the capsule [m^3]; None: its radius is `SLIMNESS` of its length.
    """
    length = bone.pose_bone.bone.length * float(np.cbrt(abs(bone.matrix.determinant())))
    metres = length * units.length_scale(scene)
    radius = SLIMNESS * metres if volume is None else float(np.sqrt(volume / (np.pi * metres)))
    straight = max(metres - 2.0 * radius, 0.0)
    rod, ball = np.pi * radius**2 * straight, 4.0 / 3.0 * np.pi * radius**3
    along = 0.5 * rod * radius**2 + 0.4 * ball * radius**2
    # half balls at both ends: about their centres, and these 3/8 of a radius beyond the ends of the rod
    across = rod * (0.25 * radius**2 + straight**2 / 12.0)
    across += ball * (0.4 * radius**2 + 0.25 * straight**2 + 0.375 * straight * radius)
    mass = bone.data.body.density * (rod + ball if volume is None else volume)
    share = mass / (rod + ball)
    return mass, np.array([0.0, 0.5 * length, 0.0]), share * np.array([across, along, across])
