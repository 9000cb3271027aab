"""Reads JSON texts that a bake stores in hidden properties; None if a file or a script put something else there.

Data that may not be the bake's then counts as the user's, so that no work of the user is lost.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bpy.types import AnimData, Object, PoseBone

#: fingerprints of what a simulation reads: owner (an object, a bone, the scene) -> label -> value, in short
Prints = dict[str, dict[str, str]]
#: kept among those of the scene: which version of fingerprints they are
LOOKED_AT = "What Is Looked At", "6"


def names(text: str) -> list[str] | None:
    """Names, or data paths; empty if nothing was stored."""
    found = _read(text, "[]")
    whole = isinstance(found, list) and all(isinstance(each, str) for each in found)
    return found if whole else None


def called(text: str) -> dict[str, str] | None:
    """Texts by name; empty if nothing was stored."""
    found = _read(text, "{}")
    return found if _is_called(found) else None


def prints(text: str) -> Prints | None:
    """Texts by owner (one of them "Scene") and label."""
    found = _read(text, "")
    whole = isinstance(found, dict) and "Scene" in found and all(map(_is_called, found.values()))
    return found if whole else None


def switches(text: str) -> dict[str, list[bool] | None] | None:
    """Two switches by name, None for invalid ones; empty if nothing was stored."""
    found = _read(text, "{}")
    if not isinstance(found, dict):
        return None
    return {name: pair if _is_pair(pair) else None for name, pair in found.items()}


def _is_pair(pair: object) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(each, bool) for each in pair)


def put_back(owner: AnimData | Object | PoseBone, name: str, kept: str) -> None:
    """Set an enumeration of Blender's to a stored value, if it has that value."""
    if kept in owner.bl_rna.properties[name].enum_items:
        setattr(owner, name, kept)


def _read(text: object, nothing: str) -> Any:
    """A text read as JSON; None if it is not JSON."""
    try:
        return json.loads(text or nothing) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None


def _is_called(found: object) -> bool:
    return isinstance(found, dict) and all(isinstance(each, str) for each in found.values())
