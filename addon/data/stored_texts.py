"""What a bake keeps as text in hidden properties; None where a file or a script has left something else there.

What cannot be told to be the bake's is then taken for the user's, who loses nothing.
"""

from __future__ import annotations

import json
from typing import Any

from bpy.types import AnimData, Object, PoseBone


def names(text: str) -> list[str] | None:
    """Names, or data paths; none where nothing was kept."""
    found = _read(text, "[]")
    whole = isinstance(found, list) and all(isinstance(each, str) for each in found)
    return found if whole else None


def called(text: str) -> dict[str, str] | None:
    """Texts by name; none where nothing was kept."""
    found = _read(text, "{}")
    return found if _is_called(found) else None


def prints(text: str) -> dict[str, dict[str, str]] | None:
    """Texts by label, by owner, the scene among these."""
    found = _read(text, "")
    whole = isinstance(found, dict) and "Scene" in found and all(map(_is_called, found.values()))
    return found if whole else None


def switches(text: str) -> dict[str, list[bool] | None] | None:
    """Two switches by name, None for those of a name that are no such; none where nothing was kept."""
    found = _read(text, "{}")
    if not isinstance(found, dict):
        return None
    return {name: pair if _is_pair(pair) else None for name, pair in found.items()}


def _is_pair(pair: list[bool] | list[int]) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(each, bool) for each in pair)


def put_back(owner: AnimData | Object | PoseBone, name: str, kept: str) -> None:
    """Give an enumeration of Blender's the value that was kept of it; nothing where it has no such value."""
    if kept in owner.bl_rna.properties[name].enum_items:
        setattr(owner, name, kept)


def _read(text: str, nothing: str) -> Any:
    """What a text is as JSON; None where it is no such text."""
    try:
        return json.loads(text or nothing) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _is_called(found: dict[str, int] | dict[str, str] | None) -> bool:
    return isinstance(found, dict) and all(isinstance(each, str) for each in found.values())
