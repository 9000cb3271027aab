"""Registries of classes by the types that files name, and instances from descriptions."""

import inspect
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

from .errors import FormatError

Kind = TypeVar("Kind")


def by_type(*kinds: type[Kind]) -> dict[str, type[Kind]]:
    """A registry of classes, each by its ``type``."""
    return {kind.type: kind for kind in kinds}  # type: ignore[attr-defined]


def modules_of(package: str, path: Iterable[str]) -> Iterator[ModuleType]:
    return (import_module(f"{package}.{each.name}") for each in pkgutil.iter_modules(path))


def found_in(modules: Iterable[ModuleType], base: type[Kind]) -> dict[str, type[Kind]]:
    """A registry of the classes of a kind in these modules that have a ``type`` of their own."""
    classes = (each for module in modules for each in vars(module).values() if isinstance(each, type))
    return by_type(*(each for each in classes if issubclass(each, base) and vars(each).get("type")))


def from_dict(
    description: Any, registry: Mapping[str, type[Kind]], what: str, read: Mapping[str, Any] | None = None
) -> Kind:
    """The dataclass instance described by ``{"type": ..., field: value, ...}``.

    Args:
        what: its kind in words for errors, "a joint". read: {field: function to convert its value first}.

    Raises:
        FormatError: it is not an object, its type or a key is unknown, or a required key is missing.
        ModelError: a value is invalid.
    """
    noun = what.partition(" ")[2]
    if not isinstance(description, Mapping):
        raise FormatError(f"{what} must be an object with a 'type', got {description!r:.80}")
    name = description.get("type")
    kind = registry.get(name) if isinstance(name, str) else None
    if kind is None:
        raise FormatError(f"unknown {noun} type {name!r}; known are {', '.join(sorted(registry))}")
    values = {key: value for key, value in description.items() if key != "type"}
    return instance_from_dict(values, kind, f"{what} of type {name!r}", read)


def instance_from_dict(
    description: Any, kind: type[Kind], what: str, read: Mapping[str, Any] | None = None
) -> Kind:
    """The instance of one dataclass described by ``{field: value, ...}``; arguments and errors as of `from_dict`."""
    check_keys(description, [entry.name for entry in fields(kind)], required(kind), what)  # type: ignore[arg-type]
    values = dict(description)
    for key, convert in (read or {}).items():
        if key in values:
            values[key] = convert(values[key])
    try:
        return kind(**values)
    except TypeError as error:
        raise FormatError(f"{what}: {error}") from error


def required(kind: Any) -> list[str]:
    """Names of the fields of a dataclass without a default."""
    return [each.name for each in fields(kind) if each.default is each.default_factory is MISSING]


def to_dict(instance: Any) -> dict[str, Any]:
    """The description of a dataclass that `from_dict` reads: its ``type``, if it has one, and its fields, JSON-able."""
    return ({"type": instance.type} if hasattr(instance, "type") else {}) | described(instance)


def described(instance: Any) -> dict[str, Any]:
    """The fields of a dataclass by their names, JSON-able."""
    return {entry.name: _plain(getattr(instance, entry.name)) for entry in fields(instance)}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def check_keys(entry: Any, known: Any, required: Any, where: str) -> None:
    """FormatError if an entry is not an object, has a key that is not known (None: any), or lacks a required one."""
    if not isinstance(entry, Mapping):
        raise FormatError(f"{where} must be an object, got {entry!r:.80}")
    for key in entry:
        if known is not None and key not in known:
            raise FormatError(f"unknown key {key!r} in {where}; known are {sorted(known)}")
    for key in required:
        if key not in entry:
            raise FormatError(f"{where} lacks the key {key!r}")


def checked_entries(entries: Any, key: str, known: Any, required: Any) -> list[Mapping[str, Any]]:
    """The list that a description has under a plural key; FormatError if it is none, or by `check_keys` of an entry."""
    if not isinstance(entries, list | tuple):
        raise FormatError(f"{key!r} must be a list, got {entries!r:.80}")
    for position, entry in enumerate(entries):
        check_keys(entry, known, required, f"{key[:-1]} number {position}")
    return list(entries)


@cache
def arguments(method: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of a method's arguments except ``self``, and of the required ones, as `check_keys` takes them."""
    parameters = list(inspect.signature(method).parameters.values())[1:]
    required = (each.name for each in parameters if each.default is each.empty)
    return tuple(each.name for each in parameters), tuple(required)
