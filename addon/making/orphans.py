"""Reports and removes control frames and ends of connections whose joint or connection was deleted."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import bpy
from bpy.types import Scene

from ..blender import session
from ..data import finding_list, findings, references
from ..data.findings import Finding

REMEDY = "condyle.remove_left_over"
#: session uids of the deleted owners reported last, by session uid of the scene
_told: dict[int, set[int]] = {}


def of(scene: Scene) -> dict[Any, list[Any]]:
    """Orphaned Empties of a scene by their deleted joint or connection, without those that have children."""
    found: dict[Any, list[Any]] = {}
    for item in scene.objects:
        owner = item.condyle.frame_of if item.type == "EMPTY" else None
        left = owner is not None and references.is_deleted(owner)
        if left and item.library is None and item.override_library is None and not item.children:
            found.setdefault(owner, []).append(item)
    return found


def check(scene: Scene) -> Iterator[Finding]:
    """A finding for each deleted joint or connection with orphans."""
    for owner, items in of(scene).items():
        found = findings.about(items[0], "left-over", owner=owner.name, count=len(items))
        yield replace(found, remedy=REMEDY)


def tell(scene: Scene) -> None:
    """Update the warnings about orphans of a scene if the list shows it, and report new orphans in the panel's last
    line: briefly if they are in the list, else in full.
    """
    lines = list(check(scene))
    others = [each for each in session.findings if each.remedy != REMEDY]
    listed = session.findings_scene in (0, scene.session_uid) or not others
    if listed:
        session.findings, session.findings_scene = [*others, *lines], scene.session_uid
    owners = list(of(scene))
    now = {owner.session_uid for owner in owners}
    if now - _told.get(scene.session_uid, set()):
        short = f"Deleted: {', '.join(owner.name for owner in owners)}; {finding_list.WHERE}"
        session.tell(short if listed else "; ".join(line.text for line in lines), "ERROR", scene.session_uid)
    _told[scene.session_uid] = now


def listed(scene_uid: int) -> list[Finding]:
    """The warnings about orphans that the list of a scene shows now."""
    if session.findings_scene != scene_uid:
        return []
    return [each for each in session.findings if each.remedy == REMEDY]


def remove(scene: Scene) -> int:
    """Delete orphans; returns their number."""
    items = [item for items in of(scene).values() for item in items]
    for item in items:
        bpy.data.objects.remove(item)
    tell(scene)
    return len(items)
