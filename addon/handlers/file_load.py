"""Handlers of opened files, undo and redo: migrate data, and clear outdated messages."""

from typing import Any

import bpy
from bpy.types import Scene

from ..blender import compat, session
from ..blender.attachments import Handler
from ..data import finding_list, findings, references, schema
from ..data.references import Body, key_of
from ..making import duplicates as copies
from . import duplicates, undone_findings

#: version of data from which on bodies that are not simulated follow their animation
FOLLOWED = 7


def migrate() -> str:
    """Migrate all data of the open file to the present version; returns a warning, or an empty text.

    Sets ``session.read_only`` where a newer version has saved any of it.
    """
    session.read_only = False
    used = [(name, root) for name, root in schema.roots() if root.schema_version > 0]
    newer = [
        (name, root.schema_version) for name, root in used if root.schema_version > schema.SCHEMA_VERSION
    ]
    if newer:
        session.read_only = True
        name, version = newer[0]
        return (
            f"Condyle: {name} was saved by a newer version (data version {version}, supported "
            f"{schema.SCHEMA_VERSION}); its data is read-only"
        )
    for _, root in used:
        for version in range(root.schema_version, schema.SCHEMA_VERSION):
            schema.STEPS[version](root)
            root.schema_version = version + 1
    if used:
        copies.mend()
    return ""


def now_followed() -> list[str]:
    """Names of animated bodies that carry joints in files of before `FOLLOWED`: they stood still then."""
    found = []
    for scene in bpy.data.scenes:
        joints = [item.condyle.joint for item in references.carrying_joints(scene)]
        carried = [references.resolve(joint.child) for joint in joints]
        parents = [references.resolve(joint.parent) for joint in joints]
        for body in {key_of(body): body for body in parents if body is not None}.values():
            held = body.data.body.motion == "HELD" and not any(
                references.same(body, each) for each in carried if each is not None
            )
            if held and 0 < body.data.schema_version < FOLLOWED and _is_keyed(body):
                found.append(body.name)
    return found


def _is_keyed(body: Body) -> bool:
    """Whether keys or constraints move a body, or what it hangs on in Blender."""
    above: Body | None = body
    while above is not None:
        paths = (f"{above.path_prefix}{name}" for name in ("location", "rotation_", "delta_"))
        begins = tuple(paths)
        curves = compat.curves_in_use(above.object)
        if len(above.owner.constraints) or any(curve.data_path.startswith(begins) for curve in curves):
            return True
        own_rig = Body(above.object) if above.bone else None
        above = references.blender_parent(above) or own_rig
    return False


def before_load(_path: str | None = None, *_rest: Any) -> None:
    """Handler of load_pre: notes the running job, whose operator Blender ends with the file."""
    session.given_up = "" if session.job is None else session.job.title


def on_load(_path: str | None = None, *_rest: Any) -> None:
    """Handler of load_post: clears the state of the previous file and migrates the new one."""
    title, session.given_up = session.given_up, ""
    session.job = None
    session.findings = []
    session.unfinished = None
    duplicates.forget()
    followed = now_followed()
    warning = migrate()
    message = f"{title} was cancelled, because a file was opened" if title else ""
    if followed:
        message = f"Bodies now follow their animation in simulations, where they stood still: {findings.few(followed)}"
    session.tell(warning or message, "ERROR" if warning else "INFO", scene_uid=0)
    if warning:
        print(warning)


def on_undo(_scene: Scene | None = None, *_rest: Any) -> None:
    """Handler of undo_post and redo_post: clears messages and findings that may no longer apply."""
    duplicates.look()
    if session.job is None:
        session.tell("")
    if session.findings:
        finding_list.forget_gone()
        undone_findings.forget_changed()


attached = (
    Handler(before_load, "load_pre"),
    Handler(on_load, "load_post"),
    Handler(on_undo, "undo_post", "redo_post"),
)
