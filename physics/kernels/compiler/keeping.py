"""Files of compiled kernels: each ends with a checksum, and a damaged one is as good as none."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, cast

from numba.core.caching import IndexDataCacheFile

CHECKSUM_BYTES = 4


class _Checked(IndexDataCacheFile):  # type: ignore[misc, unused-ignore]
    """The files of a kernel, with checksums; Numba skips what stands behind its data."""

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[BytesIO]:
        content = BytesIO()
        yield content
        with super()._open_for_write(path) as file:
            file.write(content.getvalue() + zlib.crc32(content.getvalue()).to_bytes(CHECKSUM_BYTES, "little"))

    def _load_index(self) -> Any:
        try:
            _content(self._index_path)
            return cast(Any, super())._load_index()
        except OSError:
            return {}

    def _load_data(self, name: str) -> Any:
        return pickle.loads(_content(cast(Any, self)._data_path(name)))


def _content(path: str) -> bytes:
    """What a file holds before its checksum; OSError, as for a file that is lost, if it was changed."""
    data = Path(path).read_bytes()
    content, checksum = data[:-CHECKSUM_BYTES], data[-CHECKSUM_BYTES:]
    if zlib.crc32(content).to_bytes(CHECKSUM_BYTES, "little") != checksum:
        raise OSError(f"{path} is damaged")
    return content


def forgive(dispatcher: Any) -> Any:
    """The dispatcher, for which a file of the cache that cannot be read is as good as none, and what is there was made
    of this source, as the folder's name says: some Numbas ask for the source file's time instead, which is another one
    as soon as the same add-on is installed again.
    """
    cache, files = dispatcher._cache, cast(Any, _Checked)
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
