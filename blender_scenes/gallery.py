"""A gallery with one of every joint, each coordinate swept by keys.

The joints are those of Lee & Terzopoulos 2008 and of ArtiSynth's modelling guide, sec. 3.4 (Figs. 3.13 to 3.25).
Threads show the path of the moving part's tip while one coordinate passes its range, and clear copies in the same
colour show the ends; small arrows are the fixed and the moving frame.
"""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from physics._typing import FloatArray
from physics.joints import Spherical
from physics.joints.drawing import drawing

from . import gallery_panel, gallery_parts, staging
from .gallery_joints import REACH, SWEEP_FRAMES, Exhibit, whole_gallery
from .keys import key_poses, key_property
from .picture import Image, Label, Shot, glow, grid, node_tree, prepare_render, render
from .production import Progress, Recipe, check_shown, new_file

COLUMNS = 5
SPACING = 0.4  # m between exhibits
TILE = (276, 240)
VIEW = (0.45, -0.8, 0.5)  # of the camera, from an exhibit
LEAST_WIDTH = 0.13  # m
STONE, METAL, PAINT = (0.33, 0.36, 0.41), (0.55, 0.58, 0.62), (0.86, 0.80, 0.68)
LIMIT_COLOR = (0.92, 0.2, 0.16)
# one colour a coordinate, distinct for the colour-blind (Okabe & Ito)
COLORS = (
    (0.90, 0.42, 0.03),
    (0.13, 0.55, 0.85),
    (0.05, 0.62, 0.42),
    (0.90, 0.80, 0.12),
    (0.80, 0.36, 0.62),
    (0.55, 0.70, 0.98),
)


@dataclass(frozen=True)
class Stand:
    """An exhibit in the scene."""

    exhibit: Exhibit
    root: bpy.types.Object
    moving: bpy.types.Object
    place: FloatArray
    poses: FloatArray  # (frames, 4, 4) in the root
    joint: bpy.types.Object  # the add-on's Empty


def stand(exhibit: Exhibit, place: FloatArray, into: bpy.types.Collection) -> Stand:
    """Fixture, moving part, threads and copies of one exhibit, and the keys of its sweep."""
    root = bpy.data.objects.new(exhibit.title, None)
    root.empty_display_size, root.location = 0.02, place
    root["joint"] = exhibit.joint.type
    into.objects.link(root)
    moving = part_object(
        f"{exhibit.title} moving", exhibit, into, staging.plain_material("Moving part", PAINT)
    )
    moving.parent = root
    for made in (*fixtures(exhibit, into), *ranges(exhibit, into), *limit_of_ball(exhibit, into)):
        made.parent = root
    arrows = staging.frames_object(f"{exhibit.title} moving frame", np.eye(4)[None], 0.018, into)
    arrows.parent = moving
    readings = exhibit.sweep()
    poses = exhibit.pose(readings)
    frames = np.arange(1, len(poses) + 1)
    key_poses(moving, frames, poses)
    for name, values in zip(exhibit.joint.reading_names, readings.T, strict=True):
        key_property(root, name, frames, values)
    joint = gallery_panel.add_joint(bpy.context.scene, exhibit, moving, place)
    return Stand(exhibit, root, moving, place, poses, joint)


def part_object(
    name: str, exhibit: Exhibit, into: bpy.types.Collection, material: bpy.types.Material
) -> bpy.types.Object:
    """The moving part, in the axes of the moving frame."""
    if exhibit.part == "wire":  # the curve itself, which runs through an eyelet
        wire = staging.curve_object(name, inverse_points(exhibit), 0.0018, PAINT, into)
        wire.data.materials[0] = material
        return wire
    solid = gallery_parts.arm() if exhibit.part == "arm" else gallery_parts.dart()
    return staging.faceted_object(name, *solid, into, material)


def inverse_points(exhibit: Exhibit) -> FloatArray:
    """The fixed frame's origin as seen from the moving frame (n, 3), over the range of the first coordinate."""
    return np.linalg.inv(exhibit.pose(exhibit.along(0, 97)))[:, :3, 3]


def fixtures(exhibit: Exhibit, into: bpy.types.Collection) -> list[bpy.types.Object]:
    """The static parts, in the axes of the fixed frame."""
    name = f"{exhibit.title} {exhibit.fixture}"
    stone, metal = (
        staging.plain_material("Stone", STONE, 0.6),
        staging.plain_material("Metal", METAL, 0.3, metallic=0.6),
    )
    made = [staging.frames_object(f"{exhibit.title} fixed frame", np.eye(4)[None], 0.026, into)]
    if exhibit.fixture == "post":
        made.append(staging.faceted_object(name, *gallery_parts.post(), into, stone))
    elif exhibit.fixture == "wire":
        points = exhibit.pose(exhibit.along(0, 97))[:, :3, 3]
        wire = staging.curve_object(name, points, 0.0018, METAL, into)
        wire.data.materials[0] = metal
        made.append(wire)
    elif exhibit.fixture == "surface":
        points = exhibit.pose(exhibit.over())[..., :3, 3]
        made.append(staging.surface_object(name, points, into, stone))
    elif exhibit.fixture == "dart":
        made.append(staging.faceted_object(name, *gallery_parts.dart(), into, stone))
    return made


def tip(exhibit: Exhibit) -> FloatArray:
    """The point of the moving part that draws the threads (4,)."""
    reach = {"arm": REACH, "dart": 0.022, "wire": 0.0}[exhibit.part]
    return np.array([reach, 0.0, 0.004 if exhibit.part == "dart" else 0.0, 1.0])


def ranges(exhibit: Exhibit, into: bpy.types.Collection) -> list[bpy.types.Object]:
    """Draw each coordinate's range in its colour: a thread, and a clear copy of the moving part at each end."""
    made = []
    for k in range(len(exhibit.ranges)):
        name, color = f"{exhibit.title} {exhibit.joint.reading_names[k]}", COLORS[k]
        poses = exhibit.pose(exhibit.along(k, 65))
        points = (poses @ tip(exhibit))[:, :3]
        made.append(staging.curve_object(name, points, 0.0009, color, into))
        ahead = points[-1] - points[-2]
        if np.linalg.norm(ahead) > 1e-6:  # a head at the upper end shows the sense of the coordinate
            head = gallery_parts.cone(points[-1], points[-1] + 0.009 * ahead / np.linalg.norm(ahead), 0.0032)
            made.append(staging.faceted_object(f"{name} sense", *head, into, glow(name, color, 1.6)))
        clear = clear_paint(f"Clear {k}", color)
        for pose, end in ((poses[0], "lower"), (poses[-1], "upper")):
            if np.allclose(pose, exhibit.pose(exhibit.rest_readings)):
                continue  # the part itself is here
            copy = part_object(f"{name} {end}", exhibit, into, clear)
            copy.matrix_basis = Matrix(pose.tolist())
            made.append(copy)
    return made


def limit_of_ball(exhibit: Exhibit, into: bpy.types.Collection) -> list[bpy.types.Object]:
    """The lines of the add-on's overlay for the limit of a ball joint, as threads."""
    if not isinstance(exhibit.joint, Spherical) or exhibit.joint.limit is None:
        return []
    signs = drawing(exhibit.joint, 1.6 * REACH)
    lines = np.asarray(signs.lines)[np.asarray(signs.roles) == "limit"]
    ways = np.asarray(signs.points)[lines]
    return [staging.curves_object(f"{exhibit.title} limit", ways, 0.0006, LIMIT_COLOR, into)]


def clear_paint(name: str, color: tuple[float, float, float]) -> bpy.types.Material:
    material = staging.plain_material(name, color, alpha=0.35)
    shader = node_tree(material).nodes["Principled BSDF"]
    shader.inputs["Emission Color"].default_value = (*color, 1.0)
    shader.inputs["Emission Strength"].default_value = 0.25
    return material


def place_exhibits(rooms: list[bpy.types.Collection]) -> list[Stand]:
    """Place all exhibits in rows of COLUMNS, each in its own collection."""
    stands = []
    for index, (exhibit, room) in enumerate(zip(whole_gallery(), rooms, strict=True)):
        row, column = divmod(index, COLUMNS)
        place = np.array([SPACING * column, -SPACING * row, 0.0])
        stands.append(stand(exhibit, place, room))
    return stands


def make() -> tuple[bpy.types.Scene, list[Stand]]:
    """Make the whole gallery in a new file."""
    scene, (stage, *rooms) = new_file("Gallery", ["Stage", *(item.title for item in whole_gallery())])
    scene.frame_start, scene.frame_end = 1, SWEEP_FRAMES + 1
    stands = place_exhibits(rooms)
    rows = -(-len(stands) // COLUMNS)
    middle = (0.5 * SPACING * (COLUMNS - 1), -0.5 * SPACING * (rows - 1), 0.0)
    staging.add_studio(scene, stage, middle, SPACING * rows)
    scene.frame_set(1)
    return scene, stands


def measure(made: tuple[bpy.types.Scene, list[Stand]], progress: Progress) -> tuple[None, dict[str, str]]:
    """Compare Blender's sweep with the joints' poses; raises SceneError if they differ."""
    scene, stands = made
    world = {}
    for item in stands:
        poses = item.poses.copy()
        poses[:, :3, 3] += item.place
        world[item.moving.name] = poses
    progress(0.0, "looking at the sweep")
    error = check_shown(scene, np.arange(1, SWEEP_FRAMES + 2), world)
    progress(0.5, "reading the joints back")
    read = max(gallery_panel.check_read(scene, item.joint, item.exhibit) for item in stands)
    coordinates = sum(len(item.exhibit.ranges) for item in stands)
    return None, {
        "joints, coordinates": f"{len(stands)}, {coordinates}",
        "sweep against the joints": f"{error:.1e} m, or of a matrix entry",
        "the add-on's joints against them": f"{read:.1e}",
    }


def draw(made: tuple[bpy.types.Scene, list[Stand]], _: None, progress: Progress) -> Image:
    """The contact sheet: a tile a joint, with its name and the range of each coordinate in that one's colour."""
    scene, stands = made
    prepare_render(scene, samples=8)
    tiles = []
    for index, item in enumerate(stands):
        progress(index / len(stands), f"drawing {item.exhibit.title}")
        for room in scene.collection.children:
            room.hide_render = room.name not in ("Stage", item.exhibit.title)
        tiles.append(tile(scene, item))
    for room in scene.collection.children:
        room.hide_render = False
    return grid(tiles, COLUMNS)


def tile(scene: bpy.types.Scene, item: Stand) -> Image:
    """One exhibit with its labels: up to two columns of three coordinates below."""
    lines = item.exhibit.captions()
    rows = min(len(lines), 3)
    labels = [Label(item.exhibit.title, (0.04, 0.90), 0.075)]
    for k, line in enumerate(lines):
        column, row = divmod(k, 3)
        labels.append(
            Label(line, (0.04 + 0.5 * column, 0.04 + 0.068 * (rows - 1 - row)), 0.058, color=COLORS[k])
        )
    return render(scene, framed(visible_points(item.root), 0.06 + 0.068 * rows, 0.87, labels))


def visible_points(root: bpy.types.Object) -> FloatArray:
    """Vertices (n, 3) of all objects of an exhibit, in the world."""
    points = []
    for made in root.children_recursive:
        if isinstance(made.data, bpy.types.Mesh):
            local = np.array([vertex.co for vertex in made.data.vertices])
        else:
            local = np.array([point.co[:3] for line in made.data.splines for point in line.points])
        world = np.array(made.matrix_world)
        points.append(local @ world[:3, :3].T + world[:3, 3])
    return np.vstack(points)


def framed(points: FloatArray, low: float, high: float, labels: list[Label]) -> Shot:
    """The shot that shows points (n, 3) between two shares of the tile's height, as large as they can be."""
    back = np.array(VIEW) / np.linalg.norm(VIEW)
    right = np.cross([0.0, 0.0, 1.0], back)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(back, right)], axis=1)
    lower, upper = (points @ axes).min(axis=0), (points @ axes).max(axis=0)
    across, upward = upper - lower
    aspect = TILE[0] / TILE[1]
    width = 1.06 * max(across / 0.94, upward * aspect / (high - low), LEAST_WIDTH)  # near objects look larger
    middle = axes @ (0.5 * (lower + upper)) + back * (points.mean(axis=0) @ back)
    target = middle + axes[:, 1] * (0.5 - 0.5 * (low + high)) * width / aspect
    return Shot(tuple(target + back), tuple(target), float(width), 1, TILE, labels)


RECIPE = Recipe("gallery", make, measure, draw)
build = RECIPE.build

if __name__ == "__main__":
    RECIPE.main(__doc__)
