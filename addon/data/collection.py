"""The collection of Condyle's own objects."""

from __future__ import annotations

import bpy
from bpy.types import Collection, Scene

#: one joint and all its Empties lie in a collection of this name beneath the scene's own
COLLECTION = "Condyle"


def collection_of(scene: Scene) -> Collection:
    """The collection of joints, connections and muscles; the first call makes it."""
    found = (
        entry
        for entry in scene.collection.children_recursive
        # the second scene's is called "Condyle.001"
        if entry.name.partition(".")[0] == COLLECTION
        and entry.library is None
        and entry.override_library is None
    )
    collection = next(found, None)
    if collection is None:
        collection = bpy.data.collections.new(COLLECTION)
        scene.collection.children.link(collection)
    return collection
