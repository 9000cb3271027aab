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
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import FormatError
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
}
_Check = Callable[[Any, Any, str, "Schema"], None]


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
        raise FormatError(
            f"{where}: version {version} was written by a newer Condyle; this one reads up to {newest}"
        )
    try:
        Schema(name).check(document, root, "")
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from error


class Schema:
    """One schema file, which resolves ``$ref``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def resolve(self, schema: Mapping[str, Any]) -> tuple[Mapping[str, Any], Schema]:
        """The schema and file of a ``$ref`` (``#/$defs/x``, ``model.schema.json#/$defs/x``)."""
        if "$ref" not in schema:
            return schema, self
        file, _, pointer = schema["$ref"].partition("#/")
        owner = Schema(file.removesuffix(".schema.json")) if file else self
        found: Any = load_schema(owner._name)
        for key in pointer.split("/"):
            found = found[key]
        return owner.resolve(found)

    def check(self, value: Any, schema: Mapping[str, Any], path: str) -> None:
        """FormatError naming the path in the document and the invalid value there."""
        schema, owner = self.resolve(schema)
        if isinstance(value, dict) and schema.get("additionalProperties") is False:
            # before missing keys: a misspelt key is both
            _check_keys(value, schema["properties"], path)
        for keyword in _CHECKS:
            if keyword in schema:
                _CHECKS[keyword](value, schema[keyword], path, owner)
        if isinstance(value, dict):
            others = schema.get("additionalProperties") or {}
            for key, member in value.items():
                member_schema = schema.get("properties", {}).get(key, others)
                owner.check(member, member_schema, f"{path}.{key}" if path else key)


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


def _has_type(value: Any, kinds: str | list[str]) -> bool:
    return any(_TYPES[kind][1](value) for kind in _named(kinds))


def _check_type(value: Any, kinds: str | list[str], path: str, owner: Schema) -> None:
    if not _has_type(value, kinds):
        expected = " or ".join(_TYPES[kind][0] for kind in _named(kinds))
        raise FormatError(f"{_place(path)}: must be {expected}, got {_shown(value)}")


def _check_const(value: Any, constant: Any, path: str, owner: Schema) -> None:
    if type(value) is not type(constant) or value != constant:
        raise FormatError(f"{_place(path)}: must be {_shown(constant)}, got {_shown(value)}")


def _check_enum(value: Any, choices: list[Any], path: str, owner: Schema) -> None:
    if value not in choices:
        listed = ", ".join(_shown(choice) for choice in choices)
        raise FormatError(f"{_place(path)}: must be one of {listed}, got {_shown(value)}")


def _check_lower(value: Any, bound: float, path: str, owner: Schema) -> None:
    if is_number(value) and value < bound:
        raise FormatError(f"{_place(path)}: must be at least {bound}, got {_shown(value)}")


def _check_upper(value: Any, bound: float, path: str, owner: Schema) -> None:
    if is_number(value) and value > bound:
        raise FormatError(f"{_place(path)}: must be at most {bound}, got {_shown(value)}")


def _check_above(value: Any, bound: float, path: str, owner: Schema) -> None:
    if is_number(value) and value <= bound:
        raise FormatError(f"{_place(path)}: must be greater than {bound}, got {_shown(value)}")


def _check_shortest(value: Any, count: int, path: str, owner: Schema) -> None:
    if isinstance(value, (list, str)) and len(value) < count:
        raise FormatError(f"{_place(path)}: needs at least {count} entries, got {_shown(value)}")


def _check_longest(value: Any, count: int, path: str, owner: Schema) -> None:
    if isinstance(value, list) and len(value) > count:
        raise FormatError(f"{_place(path)}: takes at most {count} entries, got {len(value)}")


def _check_items(value: Any, schema: Mapping[str, Any], path: str, owner: Schema) -> None:
    if isinstance(value, list):
        for index, item in enumerate(value):
            owner.check(item, schema, f"{path}[{index}]")


def _check_required(value: Any, keys: list[str], path: str, owner: Schema) -> None:
    for key in keys:
        if isinstance(value, dict) and key not in value:
            raise FormatError(f"{_place(path)}: the key {key!r} is missing")


def _check_one_of(value: Any, branches: list[Mapping[str, Any]], path: str, owner: Schema) -> None:
    resolved = [owner.resolve(branch) for branch in branches]
    names = [branch.get("properties", {}).get("type", {}).get("const") for branch, _ in resolved]
    named = sorted(filter(None, names))
    # with alternatives such as null, only the objects have names
    if named and (isinstance(value, dict) or len(named) == len(names)):
        kind = value.get("type") if isinstance(value, dict) else None
        if kind not in named:
            what = f"unknown type {_shown(kind)}" if isinstance(value, dict) else f"got {_shown(value)}"
            raise FormatError(f"{_place(path)}: {what}; known are {', '.join(named)}")
        branch, file = resolved[names.index(kind)]
        return file.check(value, branch, path)
    for branch, file in resolved:
        if _has_type(value, branch["type"]):
            return file.check(value, branch, path)
    _check_type(value, [kind for branch, _ in resolved for kind in _named(branch["type"])], path, owner)


def _check_keys(value: dict[str, Any], known: Mapping[str, Any], path: str) -> None:
    for key in value:
        if key not in known:
            close = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(sorted(known))}"
            raise FormatError(f"{_place(path)}: unknown key {key!r}; {hint}")


def _place(path: str) -> str:
    return path or "the document"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return repr(value)
    try:
        text = json.dumps(value)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_CHECKS: dict[str, _Check] = {
    "type": _check_type,
    "const": _check_const,
    "enum": _check_enum,
    "minimum": _check_lower,
    "maximum": _check_upper,
    "exclusiveMinimum": _check_above,
    "minItems": _check_shortest,
    "minLength": _check_shortest,
    "maxItems": _check_longest,
    "required": _check_required,
    "oneOf": _check_one_of,
    "items": _check_items,
}
