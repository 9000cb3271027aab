"""Places of named things in a list that grows, for builders: each lookup costs the same, however long the list is."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any


class NameIndex:
    """Numbers in a list by name, kept from call to call; things may be appended, and removed from the end."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._known: list[Any] = []

    def __call__(
        self, things: Sequence[Any], names: Callable[[Any], Iterable[Hashable]] = lambda thing: (thing.name,)
    ) -> Mapping[Any, int]:
        """The number of each name among things, the list of the last call with further entries or fewer.

        names: the names of one thing, its own by default.
        """
        known = self._known
        if len(known) > len(things) or (known and known[-1] is not things[len(known) - 1]):
            self._numbers.clear()
            known.clear()
        for number in range(len(known), len(things)):
            self._numbers.update((name, number) for name in names(things[number]))
            known.append(things[number])
        return self._numbers


def coordinate_names(body: Any) -> list[str]:
    """``body.coordinate`` of each coordinate of a body's joint, as models name it."""
    return [f"{body.name}.{name}" for name in body.joint.coordinate_names]
