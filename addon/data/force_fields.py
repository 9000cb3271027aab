"""Blender's force fields that act on the links of chains."""

from bpy.types import Object, Scene

from . import references

#: names of physics by Blender's
EFFECTS = {"WIND": "wind", "FORCE": "force", "VORTEX": "vortex", "DRAG": "drag"}
SHAPES = {"POINT": "point", "PLANE": "plane", "LINE": "line"}


def kind_of(item: Object) -> str:
    """Blender's name of the field of an object; empty: it has none."""
    field = item.field
    return "" if field is None or field.type == "NONE" else str(field.type)


def in_use(scene: Scene) -> list[Object]:
    """The objects whose fields act on chains, by name; none without a chain."""
    found = [item for item in scene.objects if kind_of(item) in EFFECTS and item.field.shape in SHAPES]
    if not found or not any(body.data.body.spring.enabled for body in references.bodies_of(scene)):
        return []
    return sorted(found, key=lambda item: item.name)
