"""Atomic writing of files and strict reading of JSON."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import FormatError


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path beside ``path``, with its suffix; renamed to ``path`` at the end, removed on any error."""
    target = Path(path)
    temporary = target.with_name(f".{target.stem}.{secrets.token_hex(4)}{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        FormatError: not UTF-8, not JSON (such as a truncated file), a duplicate key, not an object.
        OSError: the file cannot be read.
    """
    data = Path(path).read_bytes()
    if not data.strip():
        raise FormatError(f"{path}: the file is empty")
    return parse_object(data, str(path))


def parse_object(data: bytes | str, where: str) -> dict[str, Any]:
    """The object in a JSON text; FormatError, with the prefix ``where``, for anything else."""
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        document = json.loads(text, object_pairs_hook=_unique_keys)
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: not a text file (byte {error.start} is not UTF-8)") from error
    except json.JSONDecodeError as error:
        ended = " (truncated?)" if error.pos >= len(error.doc.rstrip()) - 1 else ""
        raise FormatError(f"{where}: line {error.lineno} is not JSON: {error.msg}{ended}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; very deep nesting
        raise FormatError(f"{where}: unsupported JSON: {error}") from error
    if not isinstance(document, dict):
        raise FormatError(f"{where}: must be an object, got a {type(document).__name__}")
    return document


def format_json(value: Any, indent: str = "") -> str:
    """JSON with one line for each key and each row of numbers; floats as the shortest text with the same bits."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        lines = [
            f"{deeper}{json.dumps(str(key))}: {format_json(item, deeper)}" for key, item in value.items()
        ]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, (dict, list, tuple)) for item in value):
        lines = [deeper + format_json(item, deeper) for item in value]
        return "[\n" + ",\n".join(lines) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for key, value in pairs:
        if key in document:
            raise FormatError(f"duplicate key {key!r} in an object")
        document[key] = value
    return document
