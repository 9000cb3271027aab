"""Plain data that reads like the objects of Blender it was copied from (`reading.snapshot`): by the same names."""

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, NamedTuple, SupportsIndex

PART = re.compile(r"\[(\d+)\]|(\w+)")


class Record:
    """Attributes by Blender's names; also custom properties, by `[]` and `get`. Only its maker fills it."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{name} of a snapshot cannot be changed")

    def __repr__(self) -> str:
        return f"<snapshot of {self.__dict__.get('name', 'a group')!r}>"

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["custom"][name]

    def get(self, name: str, default: Any = None) -> Any:
        """A custom property."""
        return self.__dict__.get("custom", {}).get(name, default)

    def path_resolve(self, path: str) -> Any:
        """The value that a data path of attributes and numbers in brackets leads to."""
        found: Any = self
        for number, name in PART.findall(path):
            found = found[int(number)] if number else getattr(found, name)
        return found

    def path_from_id(self) -> str:
        """Path of a bone or constraint in its object."""
        return str(self.__dict__["path"])

    @property
    def parent_recursive(self) -> list[Any]:
        """The parents of a bone, from the nearest on."""
        found, above = [], self.__dict__["parent"]
        while above is not None:
            found.append(above)
            above = above.parent
        return found


class Block(Record):
    """A data-block, the same as another record of it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self.__dict__["session_uid"] == other.__dict__["session_uid"]

    def __hash__(self) -> int:
        return hash(self.__dict__["session_uid"])


class Field(NamedTuple):
    """A property of a kind of group: its name, what the panel calls it, how it is read (PLAIN, ARRAY, POINTER,
    COLLECTION), and its value where it was never set.
    """

    name: str
    label: str
    how: str
    plain: Any


class Fields:
    """The properties of a kind of group; `declared` of its records."""

    def __init__(self, rows: Iterable[Field]) -> None:
        self.rows = tuple(rows)
        self.how = {each.name: each.how for each in self.rows}


class Rows(tuple[Any, ...]):
    """Records in order, also by their names."""

    def __getitem__(self, key: SupportsIndex | slice | str) -> Any:
        return self._named[key] if isinstance(key, str) else super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        return key in self._named if isinstance(key, str) else super().__contains__(key)

    def get(self, name: str, default: Any = None) -> Any:
        return self._named.get(name, default)

    def keys(self) -> Iterator[str]:
        return iter(self._named)

    @cached_property
    def _named(self) -> dict[str, Any]:
        return {each.name: each for each in self}

    @cached_property
    def by_uid(self) -> dict[int, Any]:
        """Data-blocks by their session uids."""
        return {each.session_uid: each for each in self}


class Numbers:
    """Many numbers by name, as Blender's collections hand them over."""

    def __init__(self, count: int, arrays: dict[str, Any]) -> None:
        self._count, self._arrays = count, arrays

    def __len__(self) -> int:
        return self._count

    def foreach_get(self, name: str, into: Any) -> None:
        """Copy the numbers of that name into an array, flat."""
        into[:] = self._arrays[name]


def fill(record: Record, values: Iterable[tuple[str, Any]] | dict[str, Any]) -> Record:
    """Give a record attributes; for its maker alone."""
    record.__dict__.update(values)
    return record
