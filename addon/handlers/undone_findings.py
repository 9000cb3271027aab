"""After an undo or redo: which lines of a check are about what it has changed, and go.

What is told of a scene is what was so when it was looked at. Who mends that looks again; who takes back the step that
was told of would see it told on, of what is there again.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Scene

from ..baking import write
from ..blender import session
from ..blender.attachments import Handler
from ..data import findings, references
from ..making import rest_poses, shifted_meshes
from ..staleness import compare

Seen = dict[str, dict[str, str]]

#: what there was before the step that is under way, of the scene by this session uid
_before: tuple[int, Seen] | None = None


def before(*_: Any) -> None:
    """Handler of undo_pre and redo_pre."""
    global _before
    scene = _told_of()
    _before = None if scene is None else (scene.session_uid, _seen(scene))


def forget_changed() -> None:
    """Take away the lines of a check about what is another now, or what they name is; and those of a bake that is
    undone.
    """
    global _before
    scene, known = _told_of(), _before
    _before = None
    if scene is None or known is None or known[0] != scene.session_uid:
        return
    old, new = known[1], _seen(scene)
    changed = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    if changed:
        session.findings = [each for each in session.findings if not _is_about(each, changed)]
    if not write.is_baked(scene):
        findings.forget_bake(scene)


def _told_of() -> Scene | None:
    """The scene that there are lines about; None: there is none."""
    if not session.findings:
        return None
    return next((each for each in bpy.data.scenes if each.session_uid == session.findings_scene), None)


def _seen(scene: Scene) -> Seen:
    """By names what a check looks at: settings and channels as they are stored, bakes, what is evaluated at all."""
    found: Seen = compare.prints(scene)
    for item, text in (*write.gone(scene), *write.put_aside(scene)):
        found.setdefault(item.name, {})["Bake"] = text
    for item in references.joints_of(scene):
        rest = f"{rest_poses.turned(item):.4g} {shifted_meshes.points_of(item)}"
        found.setdefault(item.name, {})["Rest"] = rest
    for item in references.evaluated(scene):
        found.setdefault(item.name, {})["Evaluated"] = ""
    return found


def _is_about(finding: findings.Finding, changed: set[str]) -> bool:
    """Whether a line of a check is about something by these names; one that names nothing is about the scene."""
    if finding.source != findings.CHECK:
        return False
    body = finding.culprit()
    if body is None:
        return "Scene" in changed
    return body.name in changed or any(findings.place_of(name, finding.text) is not None for name in changed)


attached = (Handler(before, "undo_pre", "redo_pre"),)
