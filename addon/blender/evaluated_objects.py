"""Which objects Blender evaluates, so that their places are known."""

from collections.abc import Iterator

import bpy
from bpy.types import LayerCollection, Object


def why_not(item: Object) -> str:
    """Why Blender does not evaluate an object, and the way out; empty: it does."""
    layers = [bpy.context.view_layer]
    if bpy.context.scene not in item.users_scene:
        layers = [layer for scene in item.users_scene for layer in scene.view_layers]
    homes = item.users_collection
    enabled = not item.hide_viewport and any(
        collection in homes for layer in layers for collection in collections(layer.layer_collection)
    )
    if not item.users_scene:
        return "was deleted: it is in no scene any more"
    if enabled:
        return ""
    home = "" if item.hide_viewport else f", as its collection {homes[0].name} is excluded or disabled"
    return (
        f"is disabled in the viewport{home}, so it does not move with its parents: enable "
        f"{'that' if home else 'it'} (hiding with the eye does no harm)"
    )


def collections(layer_collection: LayerCollection) -> Iterator[bpy.types.Collection]:
    """The collections of a view layer that are neither excluded nor disabled."""
    if layer_collection.collection.hide_viewport:
        return
    if not layer_collection.exclude:
        yield layer_collection.collection
    for child in layer_collection.children:
        yield from collections(child)
