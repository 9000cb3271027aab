"""Which things in the prints of a bake are the same as now by another name; see `staleness`."""

from __future__ import annotations

import math
from collections.abc import Collection

import bpy
from bpy.types import Scene

from ..data import references
from ..data.names import title_of
from .constraints import LABEL

#: owner (an object, a bone, the scene) -> label of a setting -> its value, in short
Prints = dict[str, dict[str, str]]
#: begins the label of how many entries a list has, and of a slider's value
NUMBER, SLIDER = "Number of ", "Slider "


class Plain(str):
    """A value that says nothing where a bake has none: the default, which one that was never set has, too."""

    __slots__ = ()


def telling(entries: dict[str, str]) -> dict[str, str]:
    """What is kept of an owner's prints with a bake: no defaults, but how long its lists are."""
    return {
        label: value
        for label, value in entries.items()
        if not isinstance(value, Plain) or label.startswith(NUMBER)
    }


def as_kept(new: dict[str, str], old: dict[str, str]) -> dict[str, str]:
    """An owner's prints of now, without what says nothing because those of the bake have it not.

    Earlier versions kept no lengths of lists, and defaults where they had been set.
    """
    return {label: value for label, value in new.items() if not isinstance(value, Plain) or label in old}


def owners(old: Prints, new: Prints) -> dict[str, str]:
    """Owners that have another name and are the same otherwise."""
    gone = [owner for owner in old if owner not in new]
    come = [owner for owner in new if owner not in old]
    found: dict[str, str] = {}
    for owner in gone:
        match = next((other for other in come if _is_like(old[owner], new[other])), None)
        if match is not None:
            come.remove(match)
            found[owner] = match
    return found


def _is_like(old: dict[str, str], new: dict[str, str]) -> bool:
    new = as_kept(new, old)
    return _nameless(constraints_as_now(old, new)) == _nameless(new)


def called(value: str, renamed: dict[str, str]) -> str:
    """A value that names an object ("@Knee", and on a second line more), by the object's new name."""
    name, line, rest = value.removeprefix("@").partition("\n")
    return f"@{renamed.get(name, name)}{line}{rest}" if value.startswith("@") else value


def _nameless(entries: dict[str, str]) -> dict[str, str]:
    return {
        label: "@" if value.startswith("@") else value for label, value in entries.items() if label != "Bone"
    }


def constraints_as_now(old: dict[str, str], new: dict[str, str]) -> dict[str, str]:
    """The old prints of an owner, with the constraints and what they are aimed at by the names that they have now.

    A renamed constraint, or a bone that has it, is known by its values. What it was aimed at has been renamed where
    nothing has the old name any more: Blender keeps nothing else of an object from file to file. So one that is renamed
    and then replaced by another is not told.
    """
    if all(label in new and new[label] == old[label] for label in old if label.startswith(LABEL)):
        return old
    kinds = (bpy.data.objects, bpy.data.actions, bpy.data.cache_files, bpy.data.movieclips)
    names = {each.name_full for kind in kinds for each in kind}
    come = {label: value for label, value in new.items() if label.startswith(LABEL) and label not in old}
    found = {}
    for label, value in old.items():
        if label.startswith(LABEL):
            if label not in new:
                like = next((each for each in come if _is_same(value, come[each], names)), label)
                come.pop(like, None)
                label = like
            if label in new and _is_same(value, new[label], names):
                value = new[label]
        found[label] = value
    return found


def _is_same(old: str, new: str, names: Collection[str]) -> bool:
    """Whether two values are the same, or what the old one names has another name now."""
    renamed = old.startswith("@") and new.startswith("@") and old[1:] not in names
    return old == new or renamed


def titles(scene: Scene, owner: str) -> dict[str, str]:
    """What people read for the coordinates of an owner that is a joint, by their labels; of all others nothing."""
    joint = next((item for item in references.joints_of(scene) if item.name_full == owner), None)
    return {row.label: title_of(row) for row in joint.condyle.joint.coordinates} if joint is not None else {}


def spoken(label: str, titles: dict[str, str]) -> str:
    """A label without its unit, in lower case; coordinates by what the panel calls them."""
    beginning, colon, rest = label.partition(": ")
    slider = beginning.removeprefix(SLIDER)
    words = label if slider == beginning else f"Slider {titles.get(slider, slider)}"
    if colon and beginning in titles:
        words = f"{titles[beginning]}: {rest}"
    return words.split(" [")[0].lower()


def different(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Labels of what differs between two prints of an owner."""
    labels = [*one, *(each for each in other if each not in one)]
    return [label for label in labels if not _agree(label, one.get(label), other.get(label))]


def _agree(label: str, one: str | None, other: str | None) -> bool:
    """Whether two values are the same. Sliders are doubles, and a click puts back what the interface has of them in
    single precision: the last of the seven digits that are kept may be another then.
    """
    if one == other or one is None or other is None or not label.startswith(SLIDER):
        return one == other
    try:
        before, now = float(one), float(other)
    except ValueError:
        return False
    size = max(abs(before), abs(now))
    last = 10.0 ** (math.floor(math.log10(size)) - 6) if 0.0 < size < math.inf else 0.0
    return abs(before - now) <= 1.1 * last  # 1, and round-off of decimals
