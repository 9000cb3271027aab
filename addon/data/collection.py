"""The collections of Condyle's own objects, each beneath the collection of the rig that they belong to."""

from collections.abc import Iterable

import bpy
from bpy.types import Collection, Object, Scene

#: joints, connections and muscles are in a collection of this name beneath that of their rig
COLLECTION = "Condyle"


def collection_of(scene: Scene, owner: Object | None = None) -> Collection:
    """The collection of what belongs to an object, beneath the object's own (None: the scene's); made if missing."""
    home = _home(scene, owner)
    if is_ours(home):
        return home
    found = next(filter(is_ours, own(home.children)), None)
    if found is None:
        found = bpy.data.collections.new(COLLECTION)
        home.children.link(found)
    return found


def is_ours(collection: Collection) -> bool:
    """Whether a collection is one of these, by its name; Blender calls the second one "Condyle.001"."""
    return bool(collection.name.partition(".")[0] == COLLECTION)


def own(collections: Iterable[Collection]) -> list[Collection]:
    """Collections without those of libraries, and their overrides, which cannot take objects."""
    return [each for each in collections if each.library is None and each.override_library is None]


def _home(scene: Scene, owner: Object | None) -> Collection:
    """The first collection of the scene, beneath its own, that has an object and can take others."""
    homes = () if owner is None else owner.users_collection
    found = (each for each in own(scene.collection.children_recursive) if each in homes)
    return next(found, scene.collection)
