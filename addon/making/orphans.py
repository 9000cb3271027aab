"""Reports and removes control frames and ends of connections whose joint or connection was deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import bpy
from bpy.types import Collection, Object, Scene

from ..blender import session
from ..data import findings, references
from ..data.findings import Finding

REMEDY = "condyle.remove_left_over"
#: session uids of the deleted owners reported last, by session uid of the scene
_told: dict[int, set[int]] = {}


def of(scene: Scene) -> dict[Any, list[Any]]:
    """Orphaned Empties of a scene by their deleted joint or connection, without those that have children."""
    found: dict[Any, list[Any]] = {}
    for item in scene.objects:
        owner = item.condyle.frame_of if item.type == "EMPTY" else None
        if owner is None or not _is_left(scene, item, owner):
            continue
        if item.library is None and item.override_library is None and not item.children:
            found.setdefault(owner, []).append(item)
    return found


def _is_left(scene: Scene, item: Object, owner: Object) -> bool:
    """Whether an Empty's owner was deleted, either entirely, or from this scene only. An Empty that is here through a
    collection shared with the owner's scene does not count.
    """
    if references.is_deleted(owner):
        return True
    others = owner.users_scene
    return bool(others) and scene not in others and not set(_homes(scene, item)) & _collections(others)


def _collections(scenes: Iterable[Scene]) -> set[Collection]:
    return {each for scene in scenes for each in (scene.collection, *scene.collection.children_recursive)}


def _homes(scene: Scene, item: Object) -> list[Collection]:
    """The collections of a scene that contain an object."""
    return [each for each in item.users_collection if each in _collections([scene])]


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
        short = f"Deleted: {', '.join(owner.name for owner in owners)}; see Warnings"
        session.tell(short if listed else "; ".join(line.text for line in lines), "ERROR", scene.session_uid)
    _told[scene.session_uid] = now


def listed(scene_uid: int) -> list[Finding]:
    """The warnings about orphans that the list of a scene shows now."""
    if session.findings_scene != scene_uid:
        return []
    return [each for each in session.findings if each.remedy == REMEDY]


def remove(scene: Scene) -> int:
    """Delete orphans, or unlink them from this scene if their owner is in others; returns their number."""
    found = of(scene)
    for owner, items in found.items():
        for item in items:
            if references.is_deleted(owner):
                bpy.data.objects.remove(item)
            else:
                for home in _homes(scene, item):
                    home.objects.unlink(item)
    tell(scene)
    return sum(map(len, found.values()))
