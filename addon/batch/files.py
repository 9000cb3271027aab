"""Files that the command line reads and writes: warns of missing linked files, checks that outputs are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import bpy
from bpy.types import Library

from ..blender import physics_access
from ..data import findings
from . import console

# Bytes at a file's end that contain the mark of its last block, in every version.
LAST_BLOCK = 64


def path_of(library: Library) -> str:
    """Path of a linked file."""
    return os.path.normpath(bpy.path.abspath(library.filepath, library=library.parent))


def missing(libraries: list[str]) -> Iterator[findings.Finding]:
    """Findings about linked files that are missing or unreadable, or lack linked data."""
    for path in libraries:
        if not os.path.isfile(path):
            yield findings.about(None, "library-missing", path=path)
    for each in bpy.data.libraries:
        path = path_of(each)
        lost = sorted(item.name for item in each.users_id if item.library == each and item.is_missing)
        if lost and os.path.isfile(path):
            names = ", ".join(repr(name) for name in lost[:3])
            yield findings.about(None, "library-unread", path=path, names=names)


def save(target: Path, reporter: physics_access.Reporter) -> int:
    """Write the open file to a temporary file, then rename it to the target."""
    reporting = physics_access.part("reporting")
    try:
        with physics_access.part("io.files").write_atomically(target) as temporary, console.silenced():
            bpy.ops.wm.save_as_mainfile(
                filepath=str(temporary), copy=True, check_existing=False, relative_remap=True
            )
            check_whole(temporary)
    except (RuntimeError, OSError) as error:
        reporter.error(f"{target} cannot be written: {str(error).strip()}")
        return int(reporting.EXIT_FAILED)
    reporter.message(f"written: {target}")
    return int(reporting.EXIT_DONE)


def check_whole(path: Path) -> None:
    """OSError for a truncated file, which some Blender versions leave on a full disk without an error."""
    with path.open("rb") as file:
        plain = file.read(7) == b"BLENDER"
        file.seek(max(path.stat().st_size - LAST_BLOCK, 0))
        whole = not plain or b"ENDB" in file.read()
    try:
        with bpy.data.libraries.load(str(path)):  # a truncated compressed file cannot be read
            pass
    except OSError:
        whole = False
    if not whole:
        raise OSError("Blender has written a truncated file; is the disk full?")
