"""Fingerprints of the constraints that act on what a bake was made from; see `staleness`."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from . import compat

#: what does not move anything
UNMOVING = {"rna_type", "name", "active", "mute", "enabled", "show_expanded", "target"}


def of(
    item: Any, constraints: Iterable[Any], curves: Iterable[Any], owner: str = ""
) -> Iterator[tuple[str, str]]:
    """A label and a value for each constraint that acts, but for those by which a joint's slider moves its child.

    Args:
        item: the object that has them, or the bones that have. curves: of its own animation.
        owner: beginning of the labels.
    """
    acting = [each for each in constraints if not each.mute and not each.name.startswith("Condyle")]
    animated = _animated(item, curves) if acting else set()
    for constraint in acting:
        path, values = constraint.path_from_id(), [constraint.type]
        for name, kind in _settings(type(constraint)):
            if f"{path}.{name}" not in animated:  # else its value is that of the frame that is shown
                values.append(_text(getattr(constraint, name), kind))
        for row in getattr(constraint, "targets", ()):
            values += [_text(row.target, "POINTER"), row.subtarget, f"{row.weight:.7g}"]
        target = getattr(constraint, "target", None)
        found = hashlib.sha1("\n".join(values).encode(), usedforsecurity=False).hexdigest()[:12]
        yield f"Constraint {owner}{constraint.name}", f"@{target.name_full}\n{found}" if target else found


def _animated(item: Any, curves: Iterable[Any]) -> set[str]:
    """Paths on an object that curves of its own, drivers or strips of the NLA animate."""
    found, data = {curve.data_path for curve in curves}, item.animation_data
    if data is not None:
        found |= {curve.data_path for curve in data.drivers}
        for strip in (strip for track in data.nla_tracks for strip in track.strips):
            found |= {curve.data_path for curve in compat.curves(strip.action, compat.slot_of(strip))}
    return found


@functools.cache
def _settings(kind: type) -> list[tuple[str, str]]:
    """Names and types of what can be set on a kind of constraint, but for its target and collections."""
    return [
        (found.identifier, found.type)
        for found in kind.bl_rna.properties
        if found.identifier not in UNMOVING and found.type != "COLLECTION" and not found.is_readonly
    ]


def _text(value: Any, kind: str) -> str:
    if kind == "POINTER":
        return str(getattr(value, "name_full", ""))
    if kind == "FLOAT" and hasattr(value, "__len__"):
        return " ".join(_text(each, kind) for each in value)
    return f"{value:.7g}" if kind == "FLOAT" else str(value if not isinstance(value, set) else sorted(value))
