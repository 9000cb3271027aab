"""One batch at a time in a folder of outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from . import core

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
                raise core.physics().FormatError(f"another batch is writing into {folder}")
            if _is_same(file, path):  # else the other batch has just removed it
                break
            file.close()
    except OSError as error:
        raise core.physics().FormatError(
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
        if os.name == "nt":
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
