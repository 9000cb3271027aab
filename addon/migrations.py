"""Old files: every root of our data carries a schema version, and a chain of steps brings it up to date on load.

A file of a newer version is left alone: it can be looked at, and operators that change data refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import bpy

from . import copies, session

SCHEMA_VERSION = 6


def _store_pitch_of_parts(root: Any) -> None:
    """Parts of composite joints had no pitch unless they were given one; now they begin with that of a joint."""
    for part in root.joint.parts if hasattr(root, "joint") else ():
        if not part.is_property_set("pitch"):
            part.pitch = 0.0


def _nothing_to_change(_root: Any) -> None:
    """Versions 3 (connections, given motions), 4 (muscles), 5 (start, loop) and 6 (weights of given motions,
    controllers, joints that close loops, soft parts, what is written, rest poses) have what an older add-on would
    leave out; old files have none of it.
    """


#: step k brings a root (SceneData, ObjectData or BoneData) from version k to k + 1
STEPS: dict[int, Callable[[Any], None]] = {
    1: _store_pitch_of_parts,
    2: _nothing_to_change,
    3: _nothing_to_change,
    4: _nothing_to_change,
    5: _nothing_to_change,
}


def roots() -> Iterator[tuple[str, Any]]:
    """Name and root of everything in the file that holds our data."""
    for scene in bpy.data.scenes:
        yield f"scene {scene.name!r}", scene.condyle
    for item in bpy.data.objects:
        yield f"object {item.name!r}", item.condyle
        if item.pose is not None:
            for bone in item.pose.bones:
                yield f"bone {bone.name!r} of {item.name!r}", bone.condyle


def stamp(root: Any) -> None:
    """Mark a root as holding data of this version; whoever writes the first data calls it."""
    if root.schema_version == 0:
        root.schema_version = SCHEMA_VERSION


def migrate() -> str:
    """Bring all data of the open file up to date; returns a warning, or an empty text.

    Sets ``session.read_only`` where something was saved by a newer version.
    """
    session.read_only = False
    used = [(name, root) for name, root in roots() if root.schema_version > 0]
    newer = [(name, root.schema_version) for name, root in used if root.schema_version > SCHEMA_VERSION]
    if newer:
        session.read_only = True
        name, version = newer[0]
        return (
            f"Condyle: {name} was saved by a newer version (data version {version}, this is {SCHEMA_VERSION}); "
            "its data can be seen but not changed"
        )
    for _, root in used:
        for version in range(root.schema_version, SCHEMA_VERSION):
            STEPS[version](root)
            root.schema_version = version + 1
    copies.mend()
    return ""


@bpy.app.handlers.persistent
def before_load(_path: Any = None, *_rest: Any) -> None:
    """Handler of load_pre: Blender ends the operator of a job with the file."""
    session.given_up = "" if session.job is None else session.job.title


@bpy.app.handlers.persistent
def on_load(_path: Any = None, *_rest: Any) -> None:
    """Handler of load_post."""
    title, session.given_up = session.given_up, ""
    session.job = None
    session.findings = []
    session.unfinished = None
    copies.forget()
    warning = migrate()
    told = f"{title} was given up, since a file was opened" if title else ""
    session.tell(warning or told, "ERROR" if warning else "INFO", scene_uid=0)
    if warning:
        print(warning)


@bpy.app.handlers.persistent
def on_undo(_scene: Any = None, *_rest: Any) -> None:
    """Handler of undo_post and redo_post: what the panel told may be about what is gone."""
    copies.look()
    if session.job is None:
        session.tell("")
    if session.findings:
        from . import findings, findings_undone

        findings.forget_gone()
        findings_undone.forget_changed()
