"""Whether a bake is out of date, and why: fingerprints of what it read (`reading.prints`) against those of now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from ..data import findings
from ..data.stored_texts import LOOKED_AT, Prints


def kept(before: Prints, at_writing: Prints, now: Prints) -> Prints:
    """What a bake keeps: fingerprints of now, but for what the user changed while it was computed.

    before, at_writing: when the scene was read, and just before the bake was written.
    """
    now = {owner: dict(entries) for owner, entries in now.items()}
    for owner in before.keys() & at_writing.keys() & now.keys():
        for label in _different(before[owner], at_writing[owner]):
            now[owner].pop(label, None)
            if label in before[owner]:
                now[owner][label] = before[owner][label]
    for owner in before.keys() - at_writing.keys():  # removed meanwhile, or renamed
        now[owner] = before[owner]
    for owner in at_writing.keys() - before.keys():
        now.pop(owner, None)
    return now


def changes(
    old: Prints, new: Prints, names: Collection[str], titles: Mapping[str, Mapping[str, str]]
) -> Iterator[findings.Finding]:
    """A finding for each thing that is another now than in the fingerprints of a bake.

    Args:
        names: of all data of now. A name that is not among them is of something that was renamed.
        titles: by joints, what people read for their coordinates, by the names in labels.
    """
    name, number = LOOKED_AT
    if old["Scene"].get(name) != number:  # by another version: what both have looked at
        old, new = _shared(old, new), _shared(new, old)
    renamed = _renamed(old, new, names)
    old = {
        renamed.get(owner, owner): {label: _called(value, renamed) for label, value in entries.items()}
        for owner, entries in old.items()
    }
    for owner in [*old, *(owner for owner in new if owner not in old)]:
        if owner not in new:
            yield findings.about(None, "gone-since-bake", owner=owner)
        elif owner not in old:
            yield findings.about(None, "new-since-bake", owner=owner)
        elif labels := _different(old[owner], new[owner], names):
            spoken = ", ".join(_spoken(label, titles.get(owner, {})) for label in labels)
            yield findings.about(None, "changed-since-bake", owner=owner, what=spoken)


def _shared(these: Prints, others: Prints) -> Prints:
    """The labels of one of two fingerprints that the other has too, without that of the version."""
    return {
        owner: {
            label: value
            for label, value in entries.items()
            if label in others[owner] and label != LOOKED_AT[0]
        }
        for owner, entries in these.items()
        if owner in others
    }


def _renamed(old: Prints, new: Prints, names: Collection[str]) -> dict[str, str]:
    """Owners that have another name and are the same otherwise: their names now."""
    come = [owner for owner in new if owner not in old]
    found: dict[str, str] = {}
    for owner in [owner for owner in old if owner not in new]:
        match = next((other for other in come if not _different(old[owner], new[other], names)), None)
        if match is not None:
            come.remove(match)
            found[owner] = match
    return found


def _called(value: str, renamed: Mapping[str, str]) -> str:
    """A value that refers to owners by the names that they have now."""
    lines = value.split("\n")
    return "\n".join(f"@{renamed.get(line[1:], line[1:])}" if line[:1] == "@" else line for line in lines)


def _different(
    one: Mapping[str, str], other: Mapping[str, str], names: Collection[str] | None = None
) -> list[str]:
    """Labels of what differs between two fingerprints of an owner."""
    labels = [*one, *(each for each in other if each not in one)]
    return [label for label in labels if not _agree(one.get(label), other.get(label), names)]


def _agree(one: str | None, other: str | None, names: Collection[str] | None) -> bool:
    """Whether two values are the same, or what the first refers to has another name now: Blender keeps nothing else of
    an object from file to file, so one that is renamed and then replaced by another is not told.
    """
    if one == other or one is None or other is None or names is None:
        return one == other
    lines = one.split("\n"), other.split("\n")
    return len(lines[0]) == len(lines[1]) and all(
        was == now or (was[:1] == now[:1] == "@" and was[1:] not in names) for was, now in zip(*lines)
    )


def _spoken(label: str, titles: Mapping[str, str]) -> str:
    """A label without its unit, in lower case; coordinates by what the panel calls them."""
    beginning, colon, rest = label.partition(": ")
    words = f"{titles[beginning]}: {rest}" if colon and beginning in titles else label
    return words.split(" [")[0].lower()
