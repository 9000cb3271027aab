"""The record beside each output: from which input, by which settings and with which version it was made.

A record is written before its output is put in place, and names it by its hash. So a kill between the two leaves a
record whose output is not there, or is the one before, which the record names as well: both mean that the shot is not
done.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from ..blender import physics_access
from .job_file import Shot

FORMAT, VERSION = "condyle-batch-record", 1
SUFFIX = ".condyle.json"
BLOCK = 1 << 20


def record_path(target: Path) -> Path:
    """Where the record of an output stands."""
    return target.with_name(target.name + SUFFIX)


def digest(path: Path) -> str:
    """SHA-256 of a file's bytes."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


@functools.cache
def version() -> str:
    """Condyle's version."""
    manifest = (Path(__file__).parents[1] / "blender_manifest.toml").read_bytes().decode("utf-8")
    return str(tomllib.loads(manifest)["version"])


def load(target: Path) -> dict[str, Any] | None:
    """The record beside an output; None where there is none, or it is none of ours."""
    try:
        record: dict[str, Any] = physics_access.part("io.files").read_json(record_path(target))
    except (OSError, physics_access.physics().FormatError):
        return None
    shape = {"input": dict, "output": dict, "settings": dict, "libraries": dict}
    ours = (record.get("format"), record.get("version")) == (FORMAT, VERSION)
    return record if ours and all(isinstance(record.get(key), kind) for key, kind in shape.items()) else None


def reason_to_bake(shot: Shot, source_digest: str, record: dict[str, Any] | None) -> str:
    """Why a shot is not done, in a few words; empty: it is."""
    if not shot.target.exists():
        return "new"
    if record is None:
        return "no record of its output"
    if digest(shot.target) != record["output"].get("sha256"):
        return "its output is not the one that was recorded"
    if record["input"].get("sha256") != source_digest:
        return "its input has changed"
    if record["settings"] != shot.asked:
        return "its settings have changed"
    for path, recorded in record["libraries"].items():
        if library_digest(path) != recorded:
            return f"the library {path} has changed"
    return ""


def is_ours(target: Path, record: dict[str, Any] | None) -> bool:
    """Whether an output is as a batch left it, or is not there, so that nothing is lost where it is replaced."""
    if not target.exists():
        return True
    return record is not None and digest(target) in (record["output"].get("sha256"), record.get("replaced"))


def library_digest(path: str) -> str:
    """Hash of a linked file; empty where it is missing."""
    return digest(Path(path)) if Path(path).is_file() else ""


def publish(made: Path, shot: Shot, facts: dict[str, Any]) -> None:
    """Write the record of a file that was made, and put the file in its place.

    Raises:
        OSError: one of them cannot be written; the output before is then as it was.
    """
    with made.open("r+b") as file:
        os.fsync(file.fileno())  # a rename must not outlive what it names where the power fails
    record = {
        "format": FORMAT,
        "version": VERSION,
        "condyle": version(),
        "settings": shot.asked,
        **facts,
        "output": {"sha256": digest(made), "size": made.stat().st_size},
        "replaced": digest(shot.target) if shot.target.exists() else None,
    }
    files = physics_access.part("io.files")
    with files.write_atomically(record_path(shot.target)) as temporary:
        temporary.write_text(files.format_json(record) + "\n", "utf-8")
    os.replace(made, shot.target)


def part_path(target: Path, token: str) -> Path:
    """Where a child writes: beside the output, hidden."""
    return target.with_name(f".{target.stem}.batch-{token}.blend")


def sweep(target: Path) -> None:
    """Remove what killed children and batches left beside an output."""
    stem = re.escape(target.stem)
    part = rf"\.{{1,2}}{stem}\.batch-[0-9a-f]{{8}}(\.[0-9a-f]{{8}})?\.blend[@\d]*"
    record = rf"\.{re.escape(record_path(target).stem)}\.[0-9a-f]{{8}}\.json"
    for path in target.parent.iterdir():
        if re.fullmatch(f"{part}|{record}", path.name):
            path.unlink(missing_ok=True)


LOCK = ".condyle-batch.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other batches out of a folder of outputs, which is made if it is not there.

    The system gives the lock back when this process ends, in whatever way.

    Raises:
        FormatError: the folder cannot be written to, or another batch holds it.
    """
    path = folder / LOCK
    try:
        folder.mkdir(parents=True, exist_ok=True)
        while True:
            file = path.open("a+")
            if not _try_lock(file):
                file.close()
                raise physics_access.physics().FormatError(f"another batch is writing into {folder}")
            if _is_same(file, path):  # else the other batch has just removed it
                break
            file.close()
    except OSError as error:
        raise physics_access.physics().FormatError(
            f"{folder} cannot be written to: {error.strerror or error}"
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file; it does no harm
            path.unlink()
        file.close()


def _try_lock(file: TextIO) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_same(file: TextIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
