"""The record beside each output: its input, settings and version.

A record is written before its output is renamed into place, and contains the hashes of the new and of the replaced
output. If a kill comes between the two, the output is missing or old, and the shot counts as not done.
"""

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
    """The record beside an output; None without one, or if it has another format."""
    try:
        record: dict[str, Any] = physics_access.part("io.files").read_json(record_path(target))
    except (OSError, physics_access.physics().FormatError):
        return None
    shape = {"input": dict, "output": dict, "settings": dict, "libraries": dict}
    ours = (record.get("format"), record.get("version")) == (FORMAT, VERSION)
    return record if ours and all(isinstance(record.get(key), kind) for key, kind in shape.items()) else None


def reason_to_bake(shot: Shot, source_digest: str, record: dict[str, Any] | None) -> str:
    """Why a shot must be baked, in a few words; empty if it is done."""
    if not shot.target.exists():
        return "new"
    if record is None:
        return "its output has no record"
    if digest(shot.target) != record["output"].get("sha256"):
        return "its output differs from the record"
    if record["input"].get("sha256") != source_digest:
        return "its input has changed"
    if record["settings"] != shot.asked:
        return "its settings have changed"
    for path, recorded in record["libraries"].items():
        if library_digest(path) != recorded:
            return f"the library {path} has changed"
    return ""


def is_ours(target: Path, record: dict[str, Any] | None) -> bool:
    """Whether an output is missing or unchanged since a batch wrote it, so that it can be replaced without loss."""
    if not target.exists():
        return True
    return record is not None and digest(target) in (record["output"].get("sha256"), record.get("replaced"))


def library_digest(path: str) -> str:
    """Hash of a linked file; empty if it is missing."""
    return digest(Path(path)) if Path(path).is_file() else ""


def publish(made: Path, shot: Shot, facts: dict[str, Any]) -> None:
    """Write the record of a new file, and rename the file to its target.

    Raises:
        OSError: one of them cannot be written; the previous output is then unchanged.
    """
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
    files.put_in_place(made, shot.target)


def part_path(target: Path, token: str) -> Path:
    """The hidden file beside the output that a child writes."""
    return target.with_name(f".{target.stem}.batch-{token}.blend")


def sweep(target: Path) -> None:
    """Remove temporary files of killed children and batches beside an output."""
    stem = re.escape(target.stem)
    part = rf"\.{{1,2}}{stem}\.batch-[0-9a-f]{{8}}(\.[0-9a-f]{{8}})?\.blend[@\d]*"
    record = rf"\.{re.escape(record_path(target).stem)}\.[0-9a-f]{{8}}\.json"
    for path in target.parent.iterdir():
        if re.fullmatch(f"{part}|{record}", path.name):
            path.unlink(missing_ok=True)


LOCK = ".condyle-batch.lock"


@contextmanager
def locked(folder: Path, part: str = "") -> Iterator[None]:
    """Lock a folder of outputs against other batches; creates the folder if it is missing.

    The system releases the lock whenever and however this process ends.

    Args:
        part: what this batch bakes of all shots, as "2-of-5"; other parts may be written at the same time.

    Raises:
        FormatError: the folder cannot be written to, or another batch has locked it.
    """
    with _locked(folder / (f"{LOCK}-{part}" if part else LOCK)):
        yield


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            file = path.open("a+")
            if not _try_lock(file):
                file.close()
                raise physics_access.physics().FormatError(f"another batch is writing into {path.parent}")
            if _is_same(file, path):  # else the other batch has just removed it
                break
            file.close()
    except OSError as error:
        raise physics_access.physics().FormatError(
            f"{path.parent} cannot be written to: {error.strerror or error}"
        ) from None
    try:
        yield
    finally:
        with suppress(OSError):  # Windows cannot remove an open file; leaving it is harmless
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
