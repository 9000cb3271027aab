"""Atomic writing of files, and strict reading of regular files and of JSON."""

import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import FormatError
from ..validation import file_path
from .limits import BYTES, NESTING, PIECE

LONGEST_NAME = 255  # bytes, as most file systems have it
STEPS = np.zeros(256, dtype=np.int8)  # of the nesting, by character
STEPS[list(b"[{")], STEPS[list(b"]}")] = 1, -1


@contextmanager
def write_atomically(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a path beside ``path``, with its suffix; put in the place of ``path`` at the end, removed on any error.

    A link stays a link: its target is replaced. The new file has the permissions of the one before.

    Raises:
        FormatError: the path is a device or a pipe.
        OSError: the file cannot be written.
    """
    target = Path(os.path.realpath(_checked(path)))
    _check_kind(target)
    token = f".{secrets.token_hex(4)}{target.suffix if len(target.suffix) < 20 else ''}"
    stem = target.stem
    while len(os.fsencode(stem + token)) >= LONGEST_NAME:
        stem = stem[:-10]
    temporary = target.with_name(f".{stem}{token}")
    try:
        yield temporary
        put_in_place(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def put_in_place(made: Path, target: Path) -> None:
    """Rename a complete file to its target, whose permissions it takes; it is on the disk before and after.

    Raises:
        OSError: it is not possible; the target is then unchanged.
    """
    with made.open("r+b") as file:  # else a power failure may leave an empty file
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):
        made.chmod(stat.S_IMODE(target.stat().st_mode))
    os.replace(made, target)
    with suppress(OSError):  # folders cannot be synchronized everywhere
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def open_regular(path: str | os.PathLike[str], what: str) -> Iterator[BinaryIO]:
    """Open a file to read it, without buffer.

    Args:
        what: a key of `limits.BYTES`.

    Raises:
        FormatError: it is a device or a pipe, whose reading may never end, or too large.
        OSError: it cannot be read.
    """
    _check_kind(Path(_checked(path)))
    with open(path, "rb", buffering=0) as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > BYTES[what]:
            raise FormatError(f"{path}: has {size} bytes, more than the {BYTES[what]} that {what} may have")
        yield stream


def read_bytes(path: str | os.PathLike[str], what: str) -> bytes:
    """The content of a file; raises as `open_regular`."""
    with open_regular(path, what) as stream:
        return stream.read()


def read_text(path: str | os.PathLike[str], what: str) -> str:
    """The text in a file in UTF-8; FormatError for any other, and as `open_regular`."""
    return _decoded(read_bytes(path, what), path)


def _decoded(data: bytes, where: object) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: not a text file (byte {error.start} is not UTF-8)") from error


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The object in a JSON file.

    Raises:
        FormatError: not UTF-8, not JSON (such as a truncated file), a duplicate key, not an object, or as
            `open_regular`.
        OSError: the file cannot be read.
    """
    data = read_bytes(path, "a model")
    if not data.strip():
        raise FormatError(f"{path}: the file is empty")
    return parse_object(data, str(path))


def parse_object(data: bytes, where: str) -> dict[str, Any]:
    """The object in a JSON text in UTF-8; FormatError, with the prefix ``where``, for anything else."""
    text = _decoded(data, where)
    try:
        check_nesting(data)
        document = json.loads(text, object_pairs_hook=_unique_keys)
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from error
    except json.JSONDecodeError as error:
        ended = " (truncated?)" if error.pos >= len(error.doc.rstrip()) - 1 else ""
        raise FormatError(f"{where}: line {error.lineno} is not JSON: {error.msg}{ended}") from error
    except ValueError as error:  # a number of thousands of digits
        raise FormatError(f"{where}: unsupported JSON: {error}") from error
    if not isinstance(document, dict):
        raise FormatError(f"{where}: must be an object, got a {type(document).__name__}")
    return document


def check_nesting(text: bytes) -> None:
    """FormatError if lists and objects of a JSON text nest deeper than any reader or writer follows them."""
    plain = text.replace(rb"\\", b"").replace(rb"\"", b"")
    characters, depth, quotes = np.frombuffer(plain, dtype=np.uint8), 0, 0
    for start in range(0, len(characters), PIECE):
        piece = characters[start : start + PIECE]
        quotes_until = quotes + np.cumsum(piece == ord('"'), dtype=np.int32)
        depths = depth + np.cumsum(np.where(quotes_until % 2, 0, STEPS[piece]), dtype=np.int32)
        depth, quotes = int(depths[-1]), int(quotes_until[-1])
        if depths.max() > NESTING:
            raise FormatError(f"unsupported JSON: lists and objects nest deeper than {NESTING}")


def _checked(path: str | os.PathLike[str]) -> str:
    """The path as text; FormatError if the system could not even ask for it."""
    text = str(file_path(path))
    if "\0" in text:
        raise FormatError(f"{text!r}: a path must not contain the character NUL")
    return text


def _check_kind(path: Path) -> None:
    """FormatError for what is neither a file, a folder nor missing."""
    try:
        mode = path.stat().st_mode
    except OSError:  # opening it says why
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise FormatError(f"{path}: is a device or a pipe: name a file")


def format_json(value: Any, indent: str = "") -> str:
    """JSON with one line for each key and each row of numbers; floats as the shortest text with the same bits."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        lines = [
            f"{deeper}{json.dumps(str(key))}: {format_json(each, deeper)}" for key, each in value.items()
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
