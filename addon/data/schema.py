"""Old files: every root of our data carries a schema version, and a chain of steps brings it up to date on load.

A file of a newer version is not changed: it can be viewed, and operators that change data refuse.
"""

from collections.abc import Callable, Iterator

import bpy

from .roots import BoneData, ObjectData, SceneData

Root = BoneData | ObjectData | SceneData
SCHEMA_VERSION = 9


def _store_pitch_of_parts(root: Root) -> None:
    """Store pitch 0 of parts of composite joints that have none: the default is now that of a joint."""
    for part in root.joint.parts if hasattr(root, "joint") else ():
        if not part.is_property_set("pitch"):
            part.pitch = 0.0


def _nothing_to_change(_root: Root) -> None:
    """Versions 3 (connections, prescribed motions), 4 (muscles), 5 (start, loop), 6 (weights of prescribed motions,
    controllers, joints that close loops, soft parts, output, rest poses), 7 (springs to the animation, shares of
    gravity, drag) and 8 (colliders) only add data.
    """


def _play_as_before(root: Root) -> None:
    """Play in scenes with data still plays keys alone; by default it now starts a live run of chains."""
    if isinstance(root, SceneData) and not root.is_property_set("play_live"):
        root.play_live = False


#: step k brings a root (SceneData, ObjectData or BoneData) from version k to k + 1
STEPS: dict[int, Callable[[Root], None]] = {
    1: _store_pitch_of_parts,
    2: _nothing_to_change,
    3: _nothing_to_change,
    4: _nothing_to_change,
    5: _nothing_to_change,
    6: _nothing_to_change,
    7: _nothing_to_change,
    8: _play_as_before,
}


def roots() -> Iterator[tuple[str, Root]]:
    """Name and root of everything in the file that may have our data."""
    for scene in bpy.data.scenes:
        yield f"scene {scene.name!r}", scene.condyle
    for item in bpy.data.objects:
        yield f"object {item.name!r}", item.condyle
        if item.pose is not None:
            for bone in item.pose.bones:
                yield f"bone {bone.name!r} of {item.name!r}", bone.condyle


def stamp(*roots: Root) -> None:
    """Store the version of roots' data; called by functions that write their first data."""
    for root in roots:
        if root.schema_version == 0:
            root.schema_version = SCHEMA_VERSION
