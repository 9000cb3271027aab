"""Files of compiled kernels: each ends with a checksum, and a damaged one is as good as none; old ones go."""

import os
import pickle
import shutil
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any, cast

from numba.core.caching import IndexDataCacheFile

CHECKSUM_BYTES = 4
# Kernels of sources that nobody used for so long [s] are removed, and the longest unused ones beyond so many bytes.
# A use is noted once in so many seconds.
LONGEST, LARGEST, NOTED = 30 * 86400.0, 1 << 29, 86400.0
BASE = "kernels-"  # how the folder of all kernels begins; in it each version of a module has a folder


class _Checked(IndexDataCacheFile):  # type: ignore[misc, unused-ignore]
    """The files of a kernel, with checksums; Numba ignores bytes after its data."""

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[BytesIO]:
        content = BytesIO()
        yield content
        for parent in Path(path).parents:
            if parent.name.startswith(BASE):
                prune(parent)
        with super()._open_for_write(path) as file:
            file.write(content.getvalue() + zlib.crc32(content.getvalue()).to_bytes(CHECKSUM_BYTES, "little"))

    def _load_index(self) -> Any:
        try:
            _content(self._index_path)
            return cast(Any, super())._load_index()
        except OSError:
            return {}

    def _load_data(self, name: str) -> Any:
        path = cast(Any, self)._data_path(name)
        note_use(Path(path).parent)
        return pickle.loads(_content(path))


def _content(path: str) -> bytes:
    """The contents of a file before its checksum; OSError, as for a file that is lost, if it was changed."""
    data = Path(path).read_bytes()
    content, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    if zlib.crc32(content).to_bytes(CHECKSUM_BYTES, "little") != checksum:
        raise OSError(f"{path} is damaged")
    return content


def note_use(folder: Path) -> None:
    """Give the folder of a module's version, in or above this one, the time of now, unless it was used today."""
    with suppress(OSError):  # a cache that can only be read
        versions = [folder, *folder.parents]
        version = next(each for each in versions if each.parent.name.startswith(BASE) or each == versions[-1])
        if time.time() - version.stat().st_mtime > NOTED:
            os.utime(version)


@cache
def prune(base: Path) -> None:
    """Once a process: remove what was not used for LONGEST, then the longest unused beyond LARGEST bytes."""
    used = []
    for version in base.iterdir():
        with suppress(OSError):  # another process removes it
            files = sum(each.stat().st_size for each in version.rglob("*") if each.is_file())
            used.append((version.stat().st_mtime, files, version))
    left, now = sum(size for _, size, _ in used), time.time()
    for moment, size, version in sorted(used):
        if now - moment < LONGEST and left <= LARGEST:
            break
        shutil.rmtree(version, ignore_errors=True)
        left -= size


def forgive(dispatcher: Any) -> Any:
    """The dispatcher, for which a file of the cache that cannot be read is as good as none, and what is there was made
    of this source, as the folder's name says: Numba's own folder in it is named after where the source is, and some
    Numbas ask for its time, which both change where the same add-on is installed again or elsewhere.
    """
    cache, files = dispatcher._cache, cast(Any, _Checked)
    cache._cache_path = str(Path(cache._cache_path).parent)
    cache._cache_file = files(cache._cache_path, cache._impl.filename_base, "as the folder's name says")

    def load_overload(signature: Any, context: Any) -> Any:
        try:  # without the implementations of all that Numba knows, which take as long as the kernels: for compilers
            with cache._guard_against_spurious_io_errors():
                return cache._load_overload(signature, context)
        except (pickle.UnpicklingError, EOFError, ValueError, IndexError, AttributeError, ImportError):
            cache.flush()
            return None

    cache.load_overload = load_overload
    return dispatcher
