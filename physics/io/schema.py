"""Checks documents against the JSON Schemas in ``schemas/``; errors name the place and the problem.

The schemas are the only description of the formats, published and enforced here; what they do not say of a joint
follows from its class. Supports the part of draft 2020-12 that they use. Of a ``oneOf`` it checks the alternative for
the value's type, or its ``type`` key, so that errors refer to that one. Whole numbers must be written as such (4, not
4.0).
"""

from __future__ import annotations

import difflib
import json
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import FormatError, shown
from ..joints import REGISTRY
from ..registry import required

FOLDER = Path(__file__).parent / "schemas"
#: schemas of arguments by the types that a joint's class declares
OF_TYPE = {
    "float": {"type": "number"},
    "int": {"type": "integer"},
    "bool": {"type": "boolean"},
    "str": {"type": "string"},
    "Axis": {"$ref": "#/$defs/vector"},
    "SplineSurface": {"$ref": "#/$defs/spline_surface"},
}
# where in a document: the way to the object or list, then a key or an index
_Path = tuple[Any, str | int] | None
_Check = Callable[[Any, Any, _Path, "Schema"], None]
_ANYTHING: dict[str, Any] = {}
_NUMBER = {"type": "number"}


def load_schema(name: str) -> dict[str, Any]:
    """A published schema by its name: ``"model"`` or ``"result"``.

    A joint is one of those of the registry; without an entry in the file its arguments are the fields of its class.
    """
    return _loaded(name, tuple(REGISTRY.items()))


@cache
def _loaded(name: str, joints: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    known = schema.get("$defs", {})
    if "joint" in known:
        for kind, joint in joints:
            known.setdefault(kind, _of_fields(kind, joint))
        refs = [{"$ref": f"#/$defs/{kind}"} for kind, _ in joints]
        known["joint"] = {"description": "how a body moves against its parent", "oneOf": refs}
    return schema


def _of_fields(name: str, kind: Any) -> dict[str, Any]:
    """Schema of a joint by the fields of its class: by ``schema`` of their metadata, else by their type.

    The class alone checks values of other types.
    """
    arguments = {
        each.name: each.metadata.get("schema") or OF_TYPE.get(str(each.type), {}) for each in fields(kind)
    }
    return {
        "description": (kind.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": {"type": {"const": name}, **arguments},
        "required": ["type", *required(kind)],
        "additionalProperties": False,
    }


def check_document(document: Any, name: str, where: str) -> None:
    """FormatError, with the prefix ``where``, unless the document follows the schema of this name.

    ``format`` and ``version`` come first: a newer version is reported as such, not by its details.
    """
    root = load_schema(name)
    expected = root["properties"]["format"]["const"]
    newest = root["properties"]["version"]["const"]
    if not isinstance(document, dict) or document.get("format") != expected:
        found = document.get("format") if isinstance(document, dict) else document
        raise FormatError(f"{where}: not a {expected} file: format is {_shown(found)}")
    version = document.get("version")
    if type(version) is int and version > newest:
        raise FormatError(f"{where}: version {version} is of a newer Condyle; this one reads up to {newest}")
    try:
        _root(name, tuple(REGISTRY.items())).check(document)
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from error


@cache
def _root(name: str, joints: tuple[tuple[str, Any], ...]) -> Schema:
    return Schema(name, _loaded(name, joints))


class Schema:
    """A part of a schema file, which finds its own parts once and checks many values.

    Args:
        file: name of the schema file. schema: the part, or a ``$ref`` to it (``#/$defs/x``,
            ``model.schema.json#/$defs/x``).
    """

    def __init__(self, file: str, schema: Mapping[str, Any]) -> None:
        while "$ref" in schema:
            other, _, pointer = schema["$ref"].partition("#/")
            file = other.removesuffix(".schema.json") if other else file
            schema = load_schema(file)
            for key in pointer.split("/"):
                schema = schema[key]
        self.schema, self._file = schema, file
        self._parts: dict[int, Schema] = {}
        self._steps = [(check, schema[keyword]) for keyword, check in _CHECKS.items() if keyword in schema]
        self._fits = tuple(_TYPES[kind][1] for kind in _named(schema.get("type", [])))
        self._members = schema.get("properties", {})
        self._others = schema.get("additionalProperties") or _ANYTHING

    def part(self, schema: Mapping[str, Any]) -> Schema:
        """The same object for each part of this one."""
        if id(schema) not in self._parts:
            self._parts[id(schema)] = Schema(self._file, schema)
        return self._parts[id(schema)]

    def has_type(self, value: Any) -> bool:
        """Whether the value is of the schema's ``type``."""
        return self._fits[0](value) or any(fits(value) for fits in self._fits[1:])

    def check(self, value: Any, path: _Path = None) -> None:
        """FormatError naming the path in the document and the invalid value there."""
        if self.schema.get("additionalProperties") is False and isinstance(value, dict):
            # before missing keys: a misspelt key is both
            _check_keys(value, self._members, path)
        for check, argument in self._steps:
            check(value, argument, path, self)
        if isinstance(value, dict):
            for key, member in value.items():
                self.part(self._members.get(key, self._others)).check(member, (path, key))


def is_number(value: Any) -> bool:
    """Whether a value is a finite number that fits a float; True and False are not."""
    if isinstance(value, float):
        return math.isfinite(value)
    return type(value) is int and abs(value) <= 2**1023


_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "number": ("a finite number", is_number),
    "integer": ("a whole number", lambda value: type(value) is int),
    "string": ("a text", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
    "array": ("a list", lambda value: isinstance(value, list)),
    "object": ("an object", lambda value: isinstance(value, dict)),
}


def _named(kinds: str | list[str]) -> list[str]:
    return [kinds] if isinstance(kinds, str) else kinds


def _check_type(value: Any, kinds: str | list[str], path: _Path, owner: Schema) -> None:
    if not owner.has_type(value):
        raise _wrong_type(value, _named(kinds), path)


def _wrong_type(value: Any, kinds: list[str], path: _Path) -> FormatError:
    expected = " or ".join(_TYPES[kind][0] for kind in kinds)
    return FormatError(f"{_place(path)}: must be {expected}, got {_shown(value)}")


def _check_const(value: Any, constant: Any, path: _Path, owner: Schema) -> None:
    if type(value) is not type(constant) or value != constant:
        raise FormatError(f"{_place(path)}: must be {_shown(constant)}, got {_shown(value)}")


def _check_enum(value: Any, choices: list[Any], path: _Path, owner: Schema) -> None:
    if value not in choices:
        listed = ", ".join(_shown(choice) for choice in choices)
        raise FormatError(f"{_place(path)}: must be one of {listed}, got {_shown(value)}")


def _bound(beyond: Callable[[Any, Any], bool], words: str) -> _Check:
    """The check of numbers against a bound."""

    def check(value: Any, bound: float, path: _Path, owner: Schema) -> None:
        if is_number(value) and beyond(value, bound):
            raise FormatError(f"{_place(path)}: must be {words} {bound}, got {_shown(value)}")

    return check


def _check_shortest(value: Any, count: int, path: _Path, owner: Schema) -> None:
    if isinstance(value, (list, str)) and len(value) < count:
        raise FormatError(f"{_place(path)}: needs at least {count} entries, got {_shown(value)}")


def _check_longest(value: Any, count: int, path: _Path, owner: Schema) -> None:
    if isinstance(value, list) and len(value) > count:
        raise FormatError(f"{_place(path)}: takes at most {count} entries, got {len(value)}")


def _check_items(value: Any, schema: Mapping[str, Any], path: _Path, owner: Schema) -> None:
    if isinstance(value, list):
        items = owner.part(schema)
        if items.schema == _NUMBER and all(map(is_number, value)):
            return
        for index, item in enumerate(value):
            items.check(item, (path, index))


def _check_required(value: Any, keys: list[str], path: _Path, owner: Schema) -> None:
    for key in keys:
        if isinstance(value, dict) and key not in value:
            raise FormatError(f"{_place(path)}: the key {key!r} is missing")


def _check_one_of(value: Any, branches: list[Mapping[str, Any]], path: _Path, owner: Schema) -> None:
    parts = [owner.part(branch) for branch in branches]
    names = [part.schema.get("properties", {}).get("type", {}).get("const") for part in parts]
    named = sorted(filter(None, names))
    # with alternatives such as null, only the objects have names
    if named and (isinstance(value, dict) or len(named) == len(names)):
        kind = value.get("type") if isinstance(value, dict) else None
        if kind not in named:
            what = f"unknown type {_shown(kind)}" if isinstance(value, dict) else f"got {_shown(value)}"
            raise FormatError(f"{_place(path)}: {what}; known are {', '.join(named)}")
        return parts[names.index(kind)].check(value, path)
    for part in parts:
        if part.has_type(value):
            return part.check(value, path)
    raise _wrong_type(value, [kind for part in parts for kind in _named(part.schema["type"])], path)


def _check_keys(value: dict[str, Any], known: Mapping[str, Any], path: _Path) -> None:
    for key in value:
        if not isinstance(key, str):
            raise FormatError(f"{_place(path)}: a key must be text, got {key!r:.80}")
        if key not in known:
            close = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(known))}"
            raise FormatError(f"{_place(path)}: unknown key {key!r}; {hint}")


def _place(path: _Path) -> str:
    """A path as text: ``bodies[0].joint``."""
    keys: list[Any] = []
    while path is not None:
        path, key = path
        keys.append(key)
    text = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in reversed(keys))
    return text.removeprefix(".") or "the document"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        text = repr(value)
    return shown(text, 60)


_CHECKS: dict[str, _Check] = {
    "type": _check_type,
    "const": _check_const,
    "enum": _check_enum,
    "minimum": _bound(operator.lt, "at least"),
    "maximum": _bound(operator.gt, "at most"),
    "exclusiveMinimum": _bound(operator.le, "greater than"),
    "minItems": _check_shortest,
    "minLength": _check_shortest,
    "maxItems": _check_longest,
    "required": _check_required,
    "oneOf": _check_one_of,
    "items": _check_items,
}
