"""Control frames, and ends of connections, whose joint or connection was deleted: they are told, and can be removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import bpy

from . import findings, references, session
from .findings import CHECK, Finding

REMEDY = "condyle.remove_left_over"
#: session uids of what was deleted and is told to be
_told: set[int] = set()


def of(scene: Any) -> dict[Any, list[Any]]:
    """Empties of a scene that nothing lists any more, by what they were of. What something hangs on is none of them."""
    found: dict[Any, list[Any]] = {}
    for item in scene.objects:
        owner = item.condyle.frame_of if item.type == "EMPTY" else None
        if owner is None or not references.is_deleted(owner):
            continue
        if item.library is None and item.override_library is None and not item.children:
            found.setdefault(owner, []).append(item)
    return found


def check(scene: Any) -> Iterator[Finding]:
    """A line for each joint or connection that has left some."""
    for owner, items in of(scene).items():
        what = "control frame" if owner.condyle.joint.enabled else "end"
        left = f"its {what} is" if len(items) == 1 else f"its {len(items)} {what}s are"
        text = f"{owner.name} was deleted and {left} left: remove what is left, or undo"
        yield replace(findings.about(text, CHECK, items[0]), remedy=REMEDY)


def tell(scene: Any) -> None:
    """Have the list of warnings say of a scene what is left now, and the panel's last line what has come to be."""
    lines = list(check(scene))
    others = [each for each in session.findings if each.remedy != REMEDY]
    if session.findings_scene in (0, scene.session_uid) or not others:
        session.findings, session.findings_scene = [*others, *lines], scene.session_uid
    now = {owner.session_uid for owner in of(scene)}
    if now - _told:
        session.tell("; ".join(line.text for line in lines), "ERROR")
    _told.clear()
    _told.update(now)


def remove(scene: Any) -> int:
    """Delete them; returns how many."""
    items = [item for found in of(scene).values() for item in found]
    for item in items:
        bpy.data.objects.remove(item)
    tell(scene)
    return len(items)
