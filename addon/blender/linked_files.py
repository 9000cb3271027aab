"""Which files a .blend links to, read before Blender opens it: Blender waits for ever for what is no plain file.

Of the format only the heads of blocks are known here, which are those of Blender 2.5 to 4.5, or of 5.0 and later. Where
something else is found nothing is told, and the file is Blender's to judge.
"""

from __future__ import annotations

import gzip
import importlib
import re
import stat
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

LIBRARY, END = b"LI\0\0", b"ENDB"
BLOCK = 1 << 20
#: magic numbers of compressed files: of Blender up to 2.93, and since
GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def no_plain_files(source: Path) -> list[Path]:
    """Files that a .blend links to, and those that these link to, which are there and no plain files: pipes, say."""
    waiting, found = [source], []
    known: set[Path] = set()
    while waiting:
        path = waiting.pop()
        try:
            path = path.resolve()
            kind = path.stat().st_mode
        except (OSError, ValueError, RuntimeError):  # it is not there, or no path at all
            continue
        if path in known or stat.S_ISDIR(kind):
            continue
        known.add(path)
        if stat.S_ISREG(kind):
            waiting += [_absolute(text, path) for text in _texts(path)]
        else:
            found.append(path)
    return sorted(found)


def _absolute(text: str, of: Path) -> Path:
    """Where a path that a .blend has leads; Blender begins those that are relative to it with two slashes."""
    return of.parent / text[2:] if text.startswith("//") else of.parent / text


def _texts(path: Path) -> set[str]:
    """What stands in a .blend's blocks of libraries, their paths among it; none where it cannot be read."""
    found: set[str] = set()
    try:
        with _opened(path) as file:
            for block in _libraries(file):
                found |= {
                    text.decode("utf-8", "surrogateescape") for text in re.findall(rb"[^\0]{3,}", block)
                }
    except Exception:  # of a library that takes compressed files apart: no file that is broken ends this
        return found
    return found


def _opened(path: Path) -> BinaryIO | gzip.GzipFile:
    """A .blend for reading, as it is without compression."""
    with path.open("rb") as file:
        magic = file.read(4)
    if magic[:2] == GZIP:
        return gzip.open(path)
    if magic == ZSTANDARD:  # the module is Blender's own
        return importlib.import_module("zstandard").open(path, "rb")
    return path.open("rb")


def _libraries(file: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """The blocks of libraries of a .blend; none where it is another file."""
    head = file.read(12)
    if head[:7] != b"BLENDER":
        return
    if head[7:9].isdigit():
        file.read(5)
        head_of_block, order = struct.Struct("<4siQqq"), (0, 3)
    elif head[8:9] == b"v":
        head_of_block, order = struct.Struct("<4siQii" if head[7:8] == b"-" else "<4siIii"), (0, 1)
    else:
        return
    while len(read := file.read(head_of_block.size)) == head_of_block.size:
        code, length = (head_of_block.unpack(read)[k] for k in order)
        if code == END or length < 0:
            return
        if code == LIBRARY:
            yield file.read(length)
            continue
        while length > 0:  # what is compressed cannot be sought in
            length -= len(file.read(min(length, BLOCK))) or length
