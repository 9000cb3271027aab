"""Pictures of a scene: stills from Cycles on the CPU, side by side on one sheet, with labels."""

import os
import struct
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import bpy
import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

Image = NDArray[np.float32]  # (height, width, 4), rows from bottom to top, as Blender keeps them


@dataclass(frozen=True)
class Label:
    """A line of text in the picture; `place` in shares of width and height from the lower left, `size` of height."""

    text: str
    place: tuple[float, float]
    size: float = 0.05
    align: str = "LEFT"
    color: tuple[float, float, float] = (0.92, 0.94, 0.97)


@dataclass(frozen=True)
class Shot:
    """One still: place and target of the camera [m], width of its view at the target [m], frame, size and labels."""

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    width: float
    frame: float = 1
    pixels: tuple[int, int] = (360, 264)
    labels: Sequence[Label] = ()
    hidden: Sequence[str] = ()


DRAFT = {"wanted": False}
FILM_PIXELS = 480, 270


def take_drafts() -> None:
    """Let all further pictures have one sample a pixel, for quick tests."""
    DRAFT["wanted"] = True


def prepare_render(scene: bpy.types.Scene, samples: int = 16) -> None:
    """Set up Cycles on the CPU: the same picture everywhere; EEVEE by software OpenGL takes a minute a picture."""
    scene.render.engine = "CYCLES"
    scene.cycles.device = "CPU"
    scene.cycles.samples = 1 if DRAFT["wanted"] else samples
    scene.cycles.use_denoising = True
    scene.cycles.max_bounces = 4
    scene.cycles.transparent_max_bounces = 8
    scene.render.resolution_percentage = 100
    scene.render.use_persistent_data = True
    if hasattr(scene.render.image_settings, "media_type"):  # from Blender 5.0 on
        scene.render.image_settings.media_type = "IMAGE"
    scene.render.image_settings.file_format = "PNG"
    scene.render.dither_intensity = 0.0  # it adds noise that makes the file large
    scene.view_settings.view_transform = "Standard"


def render(scene: bpy.types.Scene, shot: Shot) -> Image:
    """The picture of one shot; the scene's camera, frame and resolution are as before afterwards."""
    of = scene.render
    before = scene.camera, scene.frame_current, of.resolution_x, of.resolution_y, of.filepath
    whole = int(np.floor(shot.frame))
    scene.frame_set(whole, subframe=float(shot.frame - whole))
    of.resolution_x, of.resolution_y = shot.pixels
    with TemporaryDirectory() as folder, camera_for(scene, shot), hidden_objects(shot.hidden):
        path = os.path.join(folder, "still.png")
        of.filepath = path
        with silence():
            bpy.ops.render.render(write_still=True, scene=scene.name)
        picture = read_image(path)
    scene.camera, frame, of.resolution_x, of.resolution_y, of.filepath = before
    scene.frame_set(frame)
    return picture


def wider(shot: Shot) -> float:
    """How much wider a film's view is than a still's, so that it is as high."""
    return (FILM_PIXELS[0] * shot.pixels[1]) / (FILM_PIXELS[1] * shot.pixels[0])


def film(scene: bpy.types.Scene, shots: Sequence[Shot], path: Path) -> None:
    """Write a film (H.264 in MPEG-4) with one picture for each shot, at the scene's frame rate; frame, range, camera,
    resolution and path are as before afterwards.
    """
    of, image = scene.render, scene.render.image_settings
    shots = [replace(shot, width=shot.width * wider(shot)) for shot in shots]
    prepare_render(scene, 4)
    size = of.resolution_x, of.resolution_y, of.filepath
    of.resolution_x, of.resolution_y = FILM_PIXELS
    if hasattr(image, "media_type"):  # from Blender 5.0 on
        image.media_type = "VIDEO"
    image.file_format, of.ffmpeg.format, of.ffmpeg.codec = "FFMPEG", "MPEG4", "H264"
    of.ffmpeg.constant_rate_factor, of.ffmpeg.gopsize = "HIGH", 96
    before = scene.frame_start, scene.frame_end, scene.camera, scene.frame_current
    scene.frame_start, scene.frame_end = int(shots[0].frame), int(shots[-1].frame)
    with camera_for(scene, shots[0]):
        camera = scene.camera
        for shot in shots:
            aim(camera, shot)
            for channel in ("location", "rotation_quaternion"):
                camera.keyframe_insert(channel, frame=shot.frame)
        with TemporaryDirectory(dir=path.parent) as folder:
            of.filepath = os.path.join(folder, "film")
            of.use_file_extension = True
            with silence():
                bpy.ops.render.render(animation=True, scene=scene.name)
            (made,) = Path(folder).iterdir()
            os.replace(made, path)
        action = camera.animation_data.action
        camera.animation_data_clear()
        bpy.data.actions.remove(action)
    scene.frame_start, scene.frame_end, scene.camera, frame = before
    of.resolution_x, of.resolution_y, of.filepath = size
    scene.frame_set(frame)
    prepare_render(scene)


@contextmanager
def silence() -> Iterator[None]:
    """Suppress the line that Blender writes to the standard output for each still. Errors are exceptions."""
    sys.stdout.flush()
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        kept = os.dup(1)
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)


def add_camera(scene: bpy.types.Scene, shot: Shot, collection: bpy.types.Collection) -> bpy.types.Object:
    """Add a camera for the shot, and make it the scene's camera."""
    data = bpy.data.cameras.new("Camera")
    data.lens, data.sensor_fit, data.clip_start = 85.0, "HORIZONTAL", 0.01
    camera = bpy.data.objects.new("Camera", data)
    collection.objects.link(camera)
    camera.rotation_mode = "QUATERNION"
    aim(camera, shot)
    scene.camera = camera
    return camera


def aim(camera: bpy.types.Object, shot: Shot) -> None:
    """Put a camera where the shot has it."""
    backward = (Vector(shot.eye) - Vector(shot.target)).normalized()
    camera.rotation_quaternion = backward.to_track_quat("Z", "Y")
    camera.location = Vector(shot.target) + backward * (
        shot.width * camera.data.lens / camera.data.sensor_width
    )


@contextmanager
def camera_for(scene: bpy.types.Scene, shot: Shot) -> Iterator[None]:
    """A camera with the shot's labels in front; both are removed afterwards."""
    camera = add_camera(scene, shot, scene.collection)
    texts = [label_object(scene, camera, shot, label) for label in shot.labels]
    try:
        yield
    finally:
        for made in (*texts, camera):
            block = made.data
            bpy.data.objects.remove(made)
            (bpy.data.cameras if isinstance(block, bpy.types.Camera) else bpy.data.curves).remove(block)


@contextmanager
def hidden_objects(names: Sequence[str]) -> Iterator[None]:
    """Hide objects from the pictures."""
    shown = [bpy.data.objects[name] for name in names if not bpy.data.objects[name].hide_render]
    for made in shown:
        made.hide_render = True
    try:
        yield
    finally:
        for made in shown:
            made.hide_render = False


def label_object(
    scene: bpy.types.Scene, camera: bpy.types.Object, shot: Shot, label: Label
) -> bpy.types.Object:
    """Glowing text on a plane close to the camera, in front of everything."""
    distance = 0.05
    across = distance * camera.data.sensor_width / camera.data.lens
    high = across * shot.pixels[1] / shot.pixels[0]
    text = bpy.data.curves.new("Label", "FONT")
    text.body, text.align_x, text.size = label.text, label.align, label.size * high
    name = "Label " + "".join(f"{round(255 * value):02x}" for value in label.color)
    text.materials.append(glow(name, label.color, 1.0))
    made = bpy.data.objects.new("Label", text)
    made.parent = camera
    made.location = ((label.place[0] - 0.5) * across, (label.place[1] - 0.5) * high, -distance)
    made.visible_shadow = made.visible_diffuse = made.visible_glossy = False
    scene.collection.objects.link(made)
    return made


def glow(name: str, color: tuple[float, float, float], strength: float) -> bpy.types.Material:
    """An emissive material, made once per name."""
    if name in bpy.data.materials:
        return bpy.data.materials[name]
    material = bpy.data.materials.new(name)
    shader = node_tree(material).nodes["Principled BSDF"]
    shader.inputs["Base Color"].default_value = (0.0, 0.0, 0.0, 1.0)
    shader.inputs["Emission Color"].default_value = (*color, 1.0)
    shader.inputs["Emission Strength"].default_value = strength
    material.diffuse_color = (*color, 1.0)
    return material


def node_tree(block: bpy.types.Material | bpy.types.World) -> bpy.types.NodeTree:
    """The node tree of a material or world; from Blender 5.0 on all have one, and `use_nodes` is deprecated."""
    if bpy.app.version < (5, 0, 0):
        block.use_nodes = True
    return block.node_tree


def read_image(path: str) -> Image:
    """Pixels of an image file as they are stored."""
    image = bpy.data.images.load(path, check_existing=False)
    try:
        width, height = image.size
        pixels = np.empty(width * height * 4, dtype=np.float32)
        image.pixels.foreach_get(pixels)
    finally:
        bpy.data.images.remove(image)
    return pixels.reshape(height, width, 4)


def write_image(picture: Image, path: Path) -> None:
    """Write an 8-bit RGB PNG (ISO/IEC 15948), packed as tightly as zlib can, under a temporary name, then renamed.

    Blender's own `Image.save` packs so lightly that the same sheet takes more than twice the space.
    """
    rows = np.round(255.0 * np.clip(picture[::-1, :, :3], 0.0, 1.0)).astype(np.uint8)
    height, width = rows.shape[:2]
    above = np.vstack([np.zeros_like(rows[:1]), rows[:-1]])
    # filter type 2: difference to the row above
    filtered = np.full((height, 1 + 3 * width), 2, dtype=np.uint8)
    filtered[:, 1:] = (rows - above).reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    temporary = path.with_name(f".{path.name}.part")
    with temporary.open("wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n")
        packed = zlib.compress(filtered.tobytes(), 9)
        for kind, data in ((b"IHDR", header), (b"IDAT", packed), (b"IEND", b"")):
            check = struct.pack(">I", zlib.crc32(kind + data))
            file.write(struct.pack(">I", len(data)) + kind + data + check)
    os.replace(temporary, path)


def sheet(large: Image, small: Sequence[Image], columns: int, gap: int = 4, shade: float = 0.16) -> Image:
    """One picture: `large` to the left, the `small` ones row by row in `columns` to its right, thin gaps between."""
    rows = -(-len(small) // columns)
    total_height = rows * small[0].shape[0] + (rows - 1) * gap
    if large.shape[0] != total_height:
        raise ValueError(
            f"the large picture is {large.shape[0]} pixels high, the small ones together {total_height}"
        )
    between = np.full((total_height, gap, 4), (shade, shade, shade, 1.0), dtype=np.float32)
    return np.hstack([large, between, grid(small, columns, gap, shade)])


def grid(tiles: Sequence[Image], columns: int, gap: int = 4, shade: float = 0.07) -> Image:
    """Equal tiles row by row, thin gaps between them; the rest of the last row stays empty."""
    height, width = tiles[0].shape[:2]
    rows = -(-len(tiles) // columns)
    whole = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 4), shade, dtype=np.float32)
    whole[..., 3] = 1.0
    for index, tile in enumerate(tiles):
        row, column = divmod(index, columns)
        low, left = (rows - 1 - row) * (height + gap), column * (width + gap)
        whole[low : low + height, left : left + width] = tile
    return whole
