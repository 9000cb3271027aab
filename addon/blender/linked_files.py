"""Files that a .blend links to, read before Blender opens it: Blender would wait forever for a pipe, for example.

Only the heads of blocks of Blender 2.5 to 4.5, and of 5.0 and later, are known; other files are left to Blender.
"""

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
#: magic numbers of compressed files: up to Blender 2.93, and later
GZIP, ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def no_plain_files(source: Path) -> list[Path]:
    """Linked files of a .blend, directly or through others, that exist but are not plain files, e.g. pipes."""
    waiting, found = [source], []
    known: set[Path] = set()
    while waiting:
        path = waiting.pop()
        try:
            path = path.resolve()
            kind = path.stat().st_mode
        except (OSError, ValueError, RuntimeError):  # it does not exist, or is not a path
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
    """Absolute form of a path in a .blend; Blender begins relative paths with two slashes."""
    return of.parent / text[2:] if text.startswith("//") else of.parent / text


def _texts(path: Path) -> set[str]:
    """Texts in a .blend's blocks of libraries, among them their paths; none if it cannot be read."""
    found: set[str] = set()
    try:
        with _opened(path) as file:
            for block in _libraries(file):
                found |= {
                    text.decode("utf-8", "surrogateescape") for text in re.findall(rb"[^\0]{3,}", block)
                }
    except Exception:  # of a library for decompression: a broken file is not an error here
        return found
    return found


def _opened(path: Path) -> BinaryIO | gzip.GzipFile:
    """A .blend for reading, decompressed."""
    with path.open("rb") as file:
        magic = file.read(4)
    if magic[:2] == GZIP:
        return gzip.open(path)
    if magic == ZSTANDARD:  # the module is Blender's own
        return importlib.import_module("zstandard").open(path, "rb")
    return path.open("rb")


def _libraries(file: BinaryIO | gzip.GzipFile) -> Iterator[bytes]:
    """The blocks of libraries of a .blend; none if it is another file."""
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
        while length > 0:  # compressed files cannot seek
            length -= len(file.read(min(length, BLOCK))) or length
