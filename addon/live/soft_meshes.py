"""How a live run shows soft bodies: a Mesh Cache modifier of each reads its vertices from a file of one picture, which
is written anew for every picture.
"""

from pathlib import Path

import bpy
import numpy as np
from bpy.types import Object, Scene

from ..animation.scene_model import SceneModel
from ..baking import mesh_caches
from ..blender import units
from ..reading import soft_shapes

MODIFIER = "Condyle Live"


class SoftMeshes:
    """The soft bodies of a run."""

    def __init__(self, read: SceneModel) -> None:
        self._shapes = [
            (shape.session_uid, read.model.soft_mesh.slices[shape.name], mesh_caches.embedding(shape))
            for shape in read.soft
        ]

    def show(self, scene: Scene, nodes: np.ndarray) -> None:
        """Show places (n, 3) of all nodes [m]; ModelError where Blender's folder cannot be written to."""
        if bpy.context.scene == scene:
            bpy.context.view_layer.update()  # bodies were moved, and what is parented to them
        objects = {item.session_uid: item for item in bpy.data.objects}
        for uid, own, embedding in self._shapes:
            item = objects.get(uid)
            if item is None or item.type != "MESH":
                continue
            world = units.array4(item.matrix_world)[None]
            content = mesh_caches.packed(scene, 0.0, world, embedding.places(nodes[None, own]))
            try:
                _file_of(uid).write_bytes(content)
            except OSError as error:
                raise mesh_caches.not_written(_file_of(uid), error) from error
            if MODIFIER not in item.modifiers:
                _add_modifier(item)
            item.update_tag(refresh={"DATA"})


def _file_of(uid: int) -> Path:
    """In a folder that Blender removes when it ends."""
    return Path(bpy.app.tempdir) / f"condyle-live-{uid}.pc2"


def _add_modifier(item: Object) -> None:
    """Add the modifier where a bake adds its own, and behind that one, which then has no effect."""
    place, active = soft_shapes.later(item), item.modifiers.active
    if place < len(item.modifiers) and item.modifiers[place].name == item.condyle.soft.modifier:
        place += 1
    modifier = mesh_caches.add_modifier(item, MODIFIER, str(_file_of(item.session_uid)), place)
    item.modifiers.active = active or modifier


def take_away(item: Object) -> None:
    """Remove the modifier of a run."""
    modifier = item.modifiers.get(MODIFIER)
    if modifier is not None and modifier.type == "MESH_CACHE":
        item.modifiers.remove(modifier)
        _file_of(item.session_uid).unlink(missing_ok=True)
