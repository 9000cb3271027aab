"""Removes the findings of a check after an undo or redo of the things that they are about.

Findings describe the scene at the time of the check. Without this, undoing the reported step would leave them shown.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Scene

from ..baking import restoring
from ..blender import session
from ..blender.attachments import Handler
from ..data import finding_list, findings, references
from ..data.stored_texts import Prints
from ..making import rest_poses
from ..reading import prints

#: session uid of the scene, and its digests before the running undo or redo
_before: tuple[int, Prints] | None = None


def before(*_: Any) -> None:
    """Handler of undo_pre and redo_pre: stores the digests of the scene of the findings."""
    global _before
    scene = _told_of()
    _before = None if scene is None else (scene.session_uid, _seen(scene))


def forget_changed() -> None:
    """Remove the findings of a check that are about, or name, a changed thing, and those of an undone bake."""
    global _before
    scene, known = _told_of(), _before
    _before = None
    if scene is None or known is None or known[0] != scene.session_uid:
        return
    old, new = known[1], _seen(scene)
    changed = {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    if changed:
        session.findings = [each for each in session.findings if not _is_about(each, changed)]
    if not restoring.is_baked(scene):
        finding_list.forget_bake(scene)


def _told_of() -> Scene | None:
    """The scene of the findings; None without any."""
    if not session.findings:
        return None
    return next((each for each in bpy.data.scenes if each.session_uid == session.findings_scene), None)


def _seen(scene: Scene) -> Prints:
    """Inputs of a check by name: stored settings and channels, bakes, and which objects are evaluated."""
    found = prints.prints(scene)
    for each in (*restoring.gone(scene), *restoring.put_aside(scene)):
        found.setdefault(each.values["object"], {})["Bake"] = each.text
    for item in references.joints_of(scene):
        rest = f"{rest_poses.turned(item):.4g} {rest_poses.points_of(item)}"
        found.setdefault(item.name, {})["Rest"] = rest
    for item in references.evaluated(scene):
        found.setdefault(item.name, {})["Evaluated"] = ""
    return found


def _is_about(finding: findings.Finding, changed: set[str]) -> bool:
    """Whether a finding of a check is about one of these names; one without a culprit is about the scene."""
    if finding.source != findings.CHECK:
        return False
    body = finding_list.culprit(finding)
    if body is None:
        return "Scene" in changed
    return body.name in changed or any(findings.place_of(name, finding.text) is not None for name in changed)


attached = (Handler(before, "undo_pre", "redo_pre"),)
