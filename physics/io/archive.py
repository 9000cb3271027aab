"""Reads the arrays of an npz archive one by one, each after its claims are checked; nothing in it is trusted.

Neither the archive's list of entries nor an array's header may make the reader allocate more than is there.
"""

import errno
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError
from .limits import HEADER_BYTES, PIECE, UNPACKED_BYTES

MAGIC = b"\x93NUMPY"
#: of an array as numpy writes it, with the texts and numbers of one dtype
CLAIM = re.compile(
    r"\{'descr': '([<>|][biufUS]\d{1,9})', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,15}, )*(?:\d{1,15},?)?)\), \} *\n"
)
LONGEST_CLAIM = 2**12
ENCRYPTED = 0x1
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    ValueError,
    TypeError,  # a number type of no size that there is
    IndexError,
    RuntimeError,  # among them NotImplementedError: a method of compression
)


class Member:
    """An array in an archive, by its claims; `text` and `array` unpack it.

    Attributes:
        dtype, shape: of the array.
    """

    def __init__(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
        self._archive, self._entry = archive, entry
        if entry.flag_bits & ENCRYPTED:
            raise FormatError(f"{entry.filename!r} is encrypted")
        packed = entry.compress_type != zipfile.ZIP_STORED
        most = max(UNPACKED_BYTES, 10 * entry.compress_size) if packed else entry.compress_size
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or entry.file_size > most:
            raise FormatError(f"{entry.filename!r} is compressed in a way that is not supported")
        with archive.open(entry) as stream:
            start = stream.read(len(MAGIC) + 2)
            size = {1: "<H", 2: "<I", 3: "<I"}.get(start[-2] if len(start) > len(MAGIC) + 1 else 0)
            if not start.startswith(MAGIC) or size is None:
                raise FormatError(f"{entry.filename!r} is not an array of numpy")
            (length,) = struct.unpack(size, stream.read(struct.calcsize(size)))
            claim = CLAIM.fullmatch(stream.read(min(length, LONGEST_CLAIM)).decode("latin-1"))
        if claim is None:
            raise FormatError(f"{entry.filename!r} is not an array of numbers")
        self.dtype = np.dtype(claim[1])
        self.shape = tuple(int(count) for count in re.findall(r"\d+", claim[3]))
        self._order: Any = "F" if claim[2] == "True" else "C"
        self._start = len(MAGIC) + 2 + struct.calcsize(size) + length
        self._bytes = math.prod(self.shape) * self.dtype.itemsize
        if self._start + self._bytes != entry.file_size:
            raise FormatError(
                f"{entry.filename!r} has {entry.file_size} bytes, but claims to be {self.dtype} {self.shape}"
            )

    def array(self) -> FloatArray:
        """The array."""
        return np.frombuffer(self._content(), dtype=self.dtype).reshape(self.shape, order=self._order)

    def text(self) -> str:
        """The text that is the only entry."""
        if self.dtype.kind != "U" or self.shape != () or self._bytes > HEADER_BYTES:
            raise FormatError(f"{self._entry.filename!r} is not a text")
        return self._content().decode("utf-32-le").rstrip("\0")

    def _content(self) -> bytearray:
        """The bytes of the array; allocated as they come, and their checksum is right."""
        content = bytearray()
        with self._archive.open(self._entry) as stream:
            stream.read(self._start)
            while piece := stream.read(PIECE):
                content += piece
        if len(content) != self._bytes:
            raise FormatError(f"{self._entry.filename!r} is truncated: {len(content)} of {self._bytes} bytes")
        return content


def members(stream: BinaryIO, known: Collection[str]) -> dict[str, Member]:
    """The arrays in an npz archive by name; FormatError for one that is not known, and all of `telling`."""
    archive = zipfile.ZipFile(_Bounded(stream))
    found: dict[str, Member] = {}
    for entry in archive.infolist():
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename or name not in known or name in found:
            raise FormatError(f"not a result file: unexpected entry {entry.filename!r}")
        found[name] = Member(archive, entry)
    return found


@contextmanager
def telling(where: object) -> Iterator[None]:
    """Turns what reading a damaged archive raises into a FormatError with the prefix ``where``."""
    try:
        yield
    except FormatError as error:
        raise FormatError(f"{where}: {error}") from error
    except DAMAGED as error:
        raise FormatError(f"{where}: not a result file, or truncated: {error}") from error
    except MemoryError as error:
        raise FormatError(f"{where}: needs more memory than there is") from error
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # else a place before the file's begin
            raise
        raise FormatError(f"{where}: damaged: {error}") from error


class _Bounded:
    """A file for `zipfile`, which reads its list of entries at once, however large it claims to be."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.seek, self.tell, self.seekable = stream.seek, stream.tell, stream.seekable

    def read(self, size: int = -1) -> bytes:
        """The next bytes; FormatError for more than a piece."""
        data = self._stream.read(PIECE + 1 if size < 0 else min(size, PIECE + 1))
        if len(data) > PIECE:
            raise FormatError("its list of entries is too long")
        return data
