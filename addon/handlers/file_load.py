"""Handlers of opened files, undo and redo: migrate data, and clear outdated messages."""

from typing import Any

from bpy.types import Scene

from ..blender import session
from ..blender.attachments import Handler
from ..data import findings, schema
from ..making import duplicates as copies
from . import duplicates, undone_findings


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
    warning = migrate()
    message = f"{title} was cancelled, because a file was opened" if title else ""
    session.tell(warning or message, "ERROR" if warning else "INFO", scene_uid=0)
    if warning:
        print(warning)


def on_undo(_scene: Scene | None = None, *_rest: Any) -> None:
    """Handler of undo_post and redo_post: clears messages and findings that may no longer apply."""
    duplicates.look()
    if session.job is None:
        session.tell("")
    if session.findings:
        findings.forget_gone()
        undone_findings.forget_changed()


attached = (
    Handler(before_load, "load_pre"),
    Handler(on_load, "load_post"),
    Handler(on_undo, "undo_post", "redo_post"),
)
