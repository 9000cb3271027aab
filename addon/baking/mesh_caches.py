"""Baked soft bodies: the places of a mesh's vertices at each frame in a PC2 file beside the blend file, which Blender's
Mesh Cache modifier reads, also without the add-on.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import bpy
import numpy as np
from bpy.types import Modifier, Object, Scene

from ..animation.scene_model import SoftShape
from ..blender import physics_access, units
from ..blender.physics_access import model_error
from ..data import findings, references, schema
from ..data.findings import Finding
from ..reading import soft_shapes, stepper

MODIFIER = "Condyle Soft Body"
#: signature, version, number of vertices, first frame, frames between samples, number of samples
HEADER = struct.Struct("<12siiffi")


def _beginning() -> str:
    """Blender's relative path of the caches of the present blend file, but for the objects' names."""
    return f"//{Path(bpy.data.filepath).stem}.condyle-"


def file_of(item: Object) -> str:
    """Blender's relative path of an object's cache: beside the blend file, with the names of both. Names that differ in
    characters that a file cannot have differ in their checksums.
    """
    plain = re.sub(r"[^\w-]", "_", item.name)
    more = "" if plain == item.name else f"-{zlib.crc32(item.name.encode()):08x}"
    return f"{_beginning()}{plain}{more}.pc2"


def check(scene: Scene, shapes: Sequence[SoftShape], to_bake: bool = True) -> None:
    """ModelError where caches of soft bodies cannot be written, or not be read by a modifier.

    to_bake: False: nothing is written beside the blend file.
    """
    for shape in shapes:
        called = f"soft body {shape.name!r}"
        item = references.live(references.find_in(scene, shape.session_uid, called))
        if to_bake and not bpy.data.filepath:
            raise model_error(
                f"{called}: save the file first; what is baked goes into a file beside it (File > Save As)"
            )
        folder = Path(bpy.data.filepath).parent
        if to_bake and not folder.is_dir():
            raise model_error(f"{called}: there is no folder {folder} any more: save the file elsewhere")
        if item.library is not None:
            raise model_error(f"{called} is linked; make a library override first")
        if len(item.data.vertices) != len(shape.vertices):
            raise model_error(f"{called}: its number of vertices changed meanwhile: bake again")


def write(
    scene: Scene, frames: np.ndarray, shapes: Sequence[SoftShape], result: physics_access.Result
) -> None:
    """Write the caches of soft bodies at the whole ones of frames (F,), where the scene shows the rest of the bake, and
    let modifiers read them.

    Raises:
        ModelError: a file cannot be written.
    """
    rows = np.flatnonzero(frames % 1.0 == 0.0)
    items = [references.find_in(scene, shape.session_uid, shape.name) for shape in shapes]
    seen = stepper.sample_matrices(scene, items, frames[rows], bones=(), baked=True)
    for item, shape in zip(items, shapes):
        cache, first = file_of(item), float(frames[rows[0]])
        own = result.model.soft_mesh.slices[shape.name]  # energies, as of `result.soft`, take seconds here
        places = embedding(shape).places(result.soft_states[rows, 0, own])
        content = packed(scene, first, seen[item.name_full][""], places)
        path = Path(bpy.path.abspath(cache))
        try:
            with physics_access.part("io.files").write_atomically(path) as made:
                made.write_bytes(content)
        except OSError as error:
            raise not_written(path, error) from error
        modifier = add_modifier(item, MODIFIER, cache, soft_shapes.later(item))
        modifier.frame_start = first
        item.condyle.soft.cache, item.condyle.soft.modifier = cache, modifier.name
        schema.stamp(item.condyle)


def not_written(path: Path, error: OSError) -> Exception:
    """ModelError where a file cannot be written."""
    return model_error(f"{path} cannot be written: {error.strerror or error}")


def embedding(shape: SoftShape) -> physics_access.Embedding:
    """How the vertices of a soft body follow its nodes."""
    made = physics_access.part("soft.embedding").embedded
    return made(shape.nodes, shape.tets, shape.vertices, shape.name)


def packed(scene: Scene, first: float, worlds: np.ndarray, places: np.ndarray) -> bytes:
    """A PC2 file of places (F, k, 3) in the world [m], from a first frame on; worlds: of the object (F, 4, 4)."""
    inverse = np.linalg.pinv(worlds)  # an object may be scaled to 0
    local = places / units.length_scale(scene) @ inverse[:, :3, :3].swapaxes(1, 2) + inverse[:, None, :3, 3]
    header = HEADER.pack(b"POINTCACHE2\0", 1, local.shape[1], first, 1.0, len(local))
    return header + np.ascontiguousarray(local, dtype="<f4").tobytes()


def add_modifier(item: Object, name: str, cache: str, place: int) -> Modifier:
    """Let a modifier at a place read a cache, in the place of what those before it give."""
    modifier = item.modifiers.new(name, "MESH_CACHE")
    modifier.cache_format, modifier.filepath = "PC2", cache
    modifier.show_expanded = False
    item.modifiers.move(len(item.modifiers) - 1, place)
    return modifier


def free(items: Sequence[Object]) -> int:
    """Remove modifiers and files of the bake of objects; returns of how many. A file stays if it is another's: of the
    blend file that this one was saved from, or of an object that this one was copied from.
    """
    for item in items:
        kept = item.condyle.soft
        modifier = item.modifiers.get(kept.modifier)
        if modifier is not None and modifier.type == "MESH_CACHE":
            item.modifiers.remove(modifier)
        cache = kept.cache
        kept.property_unset("cache")
        kept.property_unset("modifier")
        users = (each for each in bpy.data.objects if each.type == "MESH")
        is_shared = any(each.condyle.soft.cache == cache for each in users)
        if bpy.data.filepath and cache.startswith(_beginning()) and not is_shared:
            Path(bpy.path.abspath(cache)).unlink(missing_ok=True)
    return len(items)


def gone(items: Sequence[Object]) -> Iterator[Finding]:
    """Findings about those of baked soft bodies whose cache was deleted, so that they do not move."""
    for item in items:
        if not Path(bpy.path.abspath(item.condyle.soft.cache)).is_file():
            yield findings.about(item, "cache-gone", object=item.name, file=item.condyle.soft.cache)
