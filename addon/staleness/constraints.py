"""Fingerprints of the constraints that act on what a bake was made from; see `staleness`."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from bpy.types import Constraint, Object, PoseBone, Scene

#: what does not move anything; "mute" is "enabled" by another name
UNMOVING = {"rna_type", "name", "active", "mute", "enabled", "show_expanded"}
LABEL = "Constraint "
#: where a constraint names a bone or vertex group, the setting that tells of which object
HOLDERS = {"subtarget": "target", "pole_subtarget": "pole_target", "space_subtarget": "space_object"}


def of(
    item: Object, constraints: Iterable[Constraint], moved: Collection[str], bone: PoseBone | None = None
) -> Iterator[tuple[str, str]]:
    """A label and a value for each constraint that acts, but for those by which a joint's slider moves its child.

    What a constraint is aimed at has labels of its own.

    Args:
        item: the object that has them, or the bones that have. moved: paths that are animated on it.
        bone: the pose bone that has them where the prints are not its own.
    """
    for constraint in constraints:
        path = constraint.path_from_id()
        if constraint.name.startswith("Condyle"):
            continue
        if constraint.mute and f"{path}.mute" not in moved and f"{path}.enabled" not in moved:
            continue
        label = f"{LABEL}{bone.name}: {constraint.name}" if bone is not None else f"{LABEL}{constraint.name}"
        values = [constraint.type]
        if bone is not None:
            values.append(identity(item, bone.name))
        aims = []
        for name, called, kind in _settings(type(constraint)):  # type: ignore[arg-type]  # classes are hashable
            if f"{path}.{name}" in moved:  # its value is that of the frame that is shown
                continue
            value = getattr(constraint, name)
            if kind == "POINTER":
                aims.append((called, value))
            elif name in HOLDERS:
                values.append(identity(getattr(constraint, HOLDERS[name], None), value))
            else:
                values.append(_text(value, kind))
        for number, row in enumerate(getattr(constraint, "targets", ()), 1):
            aims.append((f"Target {number}", row.target))
            values.append(identity(row.target, row.subtarget))
            if f"{path}.targets[{number - 1}].weight" not in moved:
                values.append(f"{row.weight:.7g}")
        yield label, hashlib.sha1("\n".join(values).encode(), usedforsecurity=False).hexdigest()[:12]
        for called, value in aims:
            if value is not None:
                yield f"{label}: {called}", f"@{getattr(value, 'name_full', called)}"


def identity(holder: Object | Scene | None, name: str) -> str:
    """What tells a bone from others, or a vertex group, whatever it is called: its rest pose, or its number."""
    if not name or holder is None:
        return name
    if holder.type == "ARMATURE":
        bone = holder.data.bones.get(name)
        return name if bone is None else " ".join(f"{each:.6g}" for row in bone.matrix_local for each in row)
    groups = getattr(holder, "vertex_groups", {})
    return str(groups[name].index) if name in groups else name


@functools.cache
def _settings(kind: type[Constraint]) -> list[tuple[str, str, str]]:
    """Names, names for people and types of what can be set on a kind of constraint, but for collections."""
    return [
        (found.identifier, found.name, found.type)
        for found in kind.bl_rna.properties
        if found.identifier not in UNMOVING and found.type != "COLLECTION" and not found.is_readonly
    ]


def _text(value: Any, kind: str) -> str:
    if kind == "FLOAT" and hasattr(value, "__len__"):
        return " ".join(_text(each, kind) for each in value)
    return f"{value:.7g}" if kind == "FLOAT" else str(value if not isinstance(value, set) else sorted(value))
