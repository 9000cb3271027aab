"""Materials, lights, and a joint's curve and frames as solid things, for pictures."""

from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from addon.making.demo_shapes import polygon_object
from physics._typing import FloatArray

from .anatomy.surface import Mesh
from .picture import glow, node_tree

AXIS_COLORS = ((0.90, 0.16, 0.12), (0.30, 0.75, 0.16), (0.13, 0.40, 0.95))


def mesh_object(
    name: str, mesh: Mesh, collection: bpy.types.Collection, material: bpy.types.Material
) -> bpy.types.Object:
    """Smooth-shaded object of a bone's mesh."""
    return polygon_object(name, mesh.vertices, mesh.faces, collection, material)


def plain_material(
    name: str,
    color: tuple[float, float, float],
    roughness: float = 0.45,
    alpha: float = 1.0,
    metallic: float = 0.0,
) -> bpy.types.Material:
    """A material of one colour, made once per name in a file; transparent if `alpha` is below 1."""
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material = bpy.data.materials.new(name)
    shader = node_tree(material).nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (*color, 1.0)
    shader.inputs["Roughness"].default_value = roughness
    shader.inputs["Metallic"].default_value = metallic
    shader.inputs["Alpha"].default_value = alpha
    material.diffuse_color = (*color, alpha)
    return material


def faceted_object(
    name: str,
    vertices: FloatArray,
    faces: Sequence[Sequence[int]],
    collection: bpy.types.Collection,
    material: bpy.types.Material,
    smooth: bool = False,
) -> bpy.types.Object:
    """Object of any polygons."""
    return polygon_object(name, vertices, faces, collection, material, smooth)


def surface_object(
    name: str, points: FloatArray, collection: bpy.types.Collection, material: bpy.types.Material
) -> bpy.types.Object:
    """Smooth sheet through a net of points (rows, columns, 3)."""
    rows, columns = points.shape[:2]
    return faceted_object(name, points.reshape(-1, 3), net_faces(rows, columns), collection, material, True)


def net_faces(rows: int, columns: int) -> NDArray[np.int64]:
    """Quadrilaterals (n, 4) of a net of points, counted row by row."""
    corner = np.arange((rows - 1) * columns).reshape(rows - 1, columns)[:, :-1].ravel()
    return np.stack([corner, corner + columns, corner + columns + 1, corner + 1], axis=1)


def bone_material(name: str, clear_below: float | None = None) -> bpy.types.Material:
    """Matt, slightly mottled bone; below the height `clear_below` [m] in its own axes it is transparent."""
    material = bpy.data.materials.new(name)
    material.diffuse_color = (0.86, 0.78, 0.62, 1.0)
    tree = node_tree(material)
    shader = tree.nodes["Principled BSDF"]
    shader.inputs["Roughness"].default_value = 0.48
    place = tree.nodes.new("ShaderNodeTexCoord")
    noise = tree.nodes.new("ShaderNodeTexNoise")
    noise.inputs["Scale"].default_value = 55.0
    noise.inputs["Detail"].default_value = 6.0
    ramp = tree.nodes.new("ShaderNodeValToRGB")
    ramp.color_ramp.elements[0].position, ramp.color_ramp.elements[1].position = 0.3, 0.75
    ramp.color_ramp.elements[0].color = (0.70, 0.57, 0.40, 1.0)
    ramp.color_ramp.elements[1].color = (0.90, 0.82, 0.66, 1.0)
    bump = tree.nodes.new("ShaderNodeBump")
    bump.inputs["Strength"].default_value = 0.12
    bump.inputs["Distance"].default_value = 0.002
    tree.links.new(place.outputs["Object"], noise.inputs["Vector"])
    tree.links.new(noise.outputs[0], ramp.inputs["Fac"])
    tree.links.new(noise.outputs[0], bump.inputs["Height"])
    tree.links.new(ramp.outputs["Color"], shader.inputs["Base Color"])
    tree.links.new(bump.outputs["Normal"], shader.inputs["Normal"])
    if clear_below is not None:
        clear_towards(tree, shader, place.outputs["Object"], clear_below)
    return material


def clear_towards(
    tree: bpy.types.NodeTree, shader: bpy.types.Node, place: bpy.types.NodeSocket, height: float
) -> None:
    """Let the surface turn transparent over the 50 mm below `height`, except where it is seen edge on."""
    split = tree.nodes.new("ShaderNodeSeparateXYZ")
    fade = tree.nodes.new("ShaderNodeMapRange")
    fade.interpolation_type = "SMOOTHSTEP"
    for socket, value in (
        ("From Min", height),
        ("From Max", height - 0.05),
        ("To Min", 0.0),
        ("To Max", 1.0),
    ):
        fade.inputs[socket].default_value = value
    facing = tree.nodes.new("ShaderNodeLayerWeight")
    facing.inputs["Blend"].default_value = 0.35
    through = tree.nodes.new("ShaderNodeMapRange")
    for socket, value in (("From Min", 0.0), ("From Max", 0.9), ("To Min", 0.8), ("To Max", 0.0)):
        through.inputs[socket].default_value = value
    opaque = tree.nodes.new("ShaderNodeMath")
    opaque.operation = "MULTIPLY_ADD"  # 1 - fade * through, by a negated fade
    negated = tree.nodes.new("ShaderNodeMath")
    negated.operation = "MULTIPLY"
    negated.inputs[1].default_value = -1.0
    opaque.inputs[2].default_value = 1.0
    tree.links.new(place, split.inputs["Vector"])
    tree.links.new(split.outputs["Z"], fade.inputs["Value"])
    tree.links.new(facing.outputs["Facing"], through.inputs["Value"])
    tree.links.new(fade.outputs["Result"], negated.inputs[0])
    tree.links.new(negated.outputs[0], opaque.inputs[0])
    tree.links.new(through.outputs["Result"], opaque.inputs[1])
    tree.links.new(opaque.outputs[0], shader.inputs["Alpha"])


def add_studio(
    scene: bpy.types.Scene, collection: bpy.types.Collection, target: Sequence[float], size: float
) -> None:
    """A soft key light, a cool rim from behind and a faint fill about `target`, for things of about `size` metres."""
    world = bpy.data.worlds.new("Studio")
    scene.world = world
    background = node_tree(world).nodes["Background"]
    background.inputs["Color"].default_value = (0.016, 0.022, 0.034, 1.0)
    background.inputs["Strength"].default_value = 1.0
    for name, direction, color, watts, spread in (
        ("Key", (-0.75, -1.0, 1.1), (1.0, 0.96, 0.90), 62.0, 0.9),
        ("Rim", (0.5, 1.3, 0.9), (0.65, 0.8, 1.0), 60.0, 0.8),
        ("Fill", (1.2, -0.9, -0.35), (0.75, 0.85, 1.0), 30.0, 1.4),
    ):
        light = bpy.data.lights.new(name, "AREA")
        light.color, light.energy, light.size = color, watts * size**2, spread * size
        made = bpy.data.objects.new(name, light)
        made.location = Vector(target) + 1.6 * size * Vector(direction)
        made.rotation_mode = "QUATERNION"
        made.rotation_quaternion = Vector(direction).to_track_quat("Z", "Y")
        collection.objects.link(made)


def add_backdrop(stage: bpy.types.Collection, floor: float, size: float) -> bpy.types.Object:
    """A dark ground at the height `floor` that bends up behind, wide enough for things of about `size` metres."""
    turn = np.linspace(0.0, 0.5 * np.pi, 17)
    bend = 2.5 * size * np.column_stack([np.sin(turn), 1.0 - np.cos(turn)]) + (1.2 * size, 0.0)
    profile = np.vstack([(-6.0 * size, 0.0), bend, (3.7 * size, 9.0 * size)])
    sides = np.array([-9.0, 9.0]) * size
    points = np.array([[(x, y, floor + z) for x in sides] for y, z in profile])
    return surface_object("Backdrop", points, stage, plain_material("Backdrop", (0.05, 0.07, 0.10), 0.6))


def curve_object(
    name: str,
    points: FloatArray,
    radius: float,
    color: tuple[float, float, float],
    collection: bpy.types.Collection,
) -> bpy.types.Object:
    """A glowing thread through the points (n, 3)."""
    return curves_object(name, [points], radius, color, collection)


def curves_object(
    name: str,
    ways: Sequence[FloatArray],
    radius: float,
    color: tuple[float, float, float],
    collection: bpy.types.Collection,
) -> bpy.types.Object:
    """Glowing threads through the points (n, 3) of several paths, as one object."""
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions, curve.bevel_depth, curve.bevel_resolution, curve.use_fill_caps = "3D", radius, 4, True
    for points in ways:
        line = curve.splines.new("POLY")
        line.points.add(len(points) - 1)
        line.points.foreach_set(
            "co", np.column_stack([points, np.ones(len(points))]).astype(np.float32).ravel()
        )
    curve.materials.append(glow(name, color, 1.6))
    made = bpy.data.objects.new(name, curve)
    collection.objects.link(made)
    return made


def frames_object(
    name: str, frames: FloatArray, length: float, collection: bpy.types.Collection
) -> bpy.types.Object:
    """The axes of frames (n, 4, 4) as arrows in red, green and blue, all in one mesh."""
    arrow_vertices, arrow_faces = arrow(length, 0.045 * length)
    turns = (
        np.array([[0, 0, 1], [1, 0, 0], [0, 1, 0]]),
        np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]]),
        np.eye(3),
    )
    vertices, faces, materials = [], [], []
    for frame in frames:
        for axis, turn in enumerate(turns):
            shift = sum(len(part) for part in vertices)
            vertices.append(arrow_vertices @ turn.T @ frame[:3, :3].T + frame[:3, 3])
            faces += [tuple(index + shift for index in face) for face in arrow_faces]
            materials += [axis] * len(arrow_faces)
    data = bpy.data.meshes.new(name)
    data.from_pydata(np.vstack(vertices).tolist(), [], faces)
    data.polygons.foreach_set("material_index", np.array(materials, dtype=np.int32))
    for axis, color in enumerate(AXIS_COLORS):
        data.materials.append(glow(f"{name} {'XYZ'[axis]}", color, 0.9))
    data.update()
    made = bpy.data.objects.new(name, data)
    collection.objects.link(made)
    return made


def arrow(length: float, radius: float, sides: int = 10) -> tuple[FloatArray, list[tuple[int, ...]]]:
    """A closed arrow along z: vertices (4 sides + 1, 3) and faces, outward."""
    turn = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    circle = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(sides)])
    up = np.array([0.0, 0.0, 1.0])
    rings = [
        radius * circle,
        radius * circle + 0.76 * length * up,
        2.4 * radius * circle + 0.76 * length * up,
    ]
    vertices = np.vstack([*rings, length * up])
    faces: list[tuple[int, ...]] = [tuple(range(sides))[::-1]]
    for k in range(sides):
        after = (k + 1) % sides
        faces += [
            (r * sides + k, r * sides + after, (r + 1) * sides + after, (r + 1) * sides + k) for r in (0, 1)
        ]
        faces.append((2 * sides + k, 2 * sides + after, 3 * sides))
    return vertices, faces
