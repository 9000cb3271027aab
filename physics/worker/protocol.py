"""Messages between the add-on and the compute process: a JSON header followed by raw arrays, never pickle.

On the wire: 4 bytes ``CDL1``, the length of the header (4 bytes) and the total length of the arrays (8 bytes), both
unsigned and little-endian; the header as UTF-8 JSON; the arrays one after the other, C-ordered, little-endian.
``header["arrays"]`` describes them: ``[{"name": ..., "dtype": ..., "shape": [...]}, ...]``.
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, cast

import numpy as np

from ..errors import FormatError

VERSION = 1
MAGIC = b"CDL1"
PREFIX = struct.Struct("<4sIQ")
MAX_HEADER_BYTES = 64 * 2**20
MAX_ARRAY_BYTES = 8 * 2**30
MAX_ARRAYS = 4096
MAX_DIMENSIONS = 8
DTYPES = {"<f8": np.dtype("<f8"), "<i8": np.dtype("<i8"), "|b1": np.dtype("|b1"), "|u1": np.dtype("|u1")}

ArrayMap = Mapping[str, np.ndarray[Any, Any]]


@dataclass
class Message:
    """A JSON-able header without the key ``arrays``, and named arrays (float64, int64, bool or uint8)."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)


def encode(header: Mapping[str, Any], arrays: ArrayMap | None = None) -> list[bytes | memoryview]:
    """The message as pieces to write one after the other; large arrays are not copied.

    Raises:
        FormatError: the header is not JSON-able or contains NaN or infinity, or an array has another type.
    """
    if "arrays" in header:
        raise FormatError("a message's header must not use the key 'arrays'")
    described: list[dict[str, Any]] = []
    bodies: list[memoryview] = []
    for name, array in (arrays or {}).items():
        contiguous = _on_the_wire(name, np.asarray(array))
        described.append({"name": name, "dtype": contiguous.dtype.str, "shape": list(contiguous.shape)})
        bodies.append(contiguous.reshape(-1).view(np.uint8).data)
    try:
        text = json.dumps({**header, "arrays": described}, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError) as error:
        raise FormatError(f"header of a message is not JSON: {error}") from error
    total = sum(body.nbytes for body in bodies)
    if len(text) > MAX_HEADER_BYTES or total > MAX_ARRAY_BYTES:
        raise FormatError(f"message too large: header of {len(text)} bytes, arrays of {total} bytes")
    return [PREFIX.pack(MAGIC, len(text), total) + text, *bodies]


def read_message(stream: BinaryIO) -> Message | None:
    """Read one message; None at the end of the stream.

    Raises:
        FormatError: the stream ends within a message, or the data are not a message of this protocol.
    """
    prefix = _read_exactly(stream, PREFIX.size, "a message's first bytes", may_end=True)
    if prefix is None:
        return None
    magic, header_bytes, array_bytes = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise FormatError(f"not a message of the compute process: starts with {magic!r}")
    if header_bytes > MAX_HEADER_BYTES:
        raise FormatError(f"a message's header of {header_bytes} bytes exceeds the limit {MAX_HEADER_BYTES}")
    if array_bytes > MAX_ARRAY_BYTES:
        raise FormatError(f"a message's arrays of {array_bytes} bytes exceed the limit of {MAX_ARRAY_BYTES}")
    header = _parse_header(bytes(_read_exactly(stream, header_bytes, "the header") or b""))
    layout = _parse_layout(header.pop("arrays", None), array_bytes)
    arrays = {}
    for name, dtype, shape in layout:
        size = math.prod(shape) * dtype.itemsize
        data = cast(memoryview, _read_exactly(stream, size, f"array {name!r}"))
        native = np.frombuffer(data, dtype=dtype).reshape(shape)
        arrays[name] = native.astype(dtype.newbyteorder("="), copy=False)
    return Message(header, arrays)


def _on_the_wire(name: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    wire = {"f": "<f8", "i": "<i8", "b": "|b1", "u": "|u1"}.get(array.dtype.kind)
    if wire is None or (wire == "|u1" and array.dtype.itemsize != 1) or array.dtype.itemsize > 8:
        raise FormatError(f"array {name!r} has type {array.dtype}, which messages do not support")
    return np.ascontiguousarray(array, dtype=wire).reshape(array.shape)


def _read_exactly(stream: BinaryIO, size: int, what: str, may_end: bool = False) -> memoryview | None:
    buffer = np.empty(size, dtype=np.uint8)  # takes memory only as it is filled, whatever size is claimed
    view = buffer.data
    filled = 0
    while filled < size:
        count = stream.readinto(view[filled:])  # type: ignore[attr-defined]
        if not count:
            if may_end and filled == 0:
                return None
            raise FormatError(f"truncated: {filled} of {size} bytes of {what}")
        filled += count
    return view


def _parse_header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"a message's header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise FormatError(f"a message's header is a {type(header).__name__}, not an object")
    return header


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _parse_layout(described: Any, array_bytes: int) -> list[tuple[str, np.dtype[Any], tuple[int, ...]]]:
    if not isinstance(described, list) or len(described) > MAX_ARRAYS:
        raise FormatError(f"a message's 'arrays' must be a list of at most {MAX_ARRAYS} descriptions")
    layout: list[tuple[str, np.dtype[Any], tuple[int, ...]]] = []
    total = 0
    for entry in described:
        if not isinstance(entry, dict) or entry.keys() != {"name", "dtype", "shape"}:
            raise FormatError(f"an array's description needs name, dtype and shape: {entry!r}")
        name, dtype, shape = entry["name"], entry["dtype"], entry["shape"]
        if not isinstance(name, str) or any(name == known for known, _, _ in layout):
            raise FormatError(f"an array needs a unique name, got {name!r}")
        if not isinstance(dtype, str) or dtype not in DTYPES:
            raise FormatError(f"array {name!r} has type {dtype!r}, not one of {', '.join(DTYPES)}")
        whole = isinstance(shape, list) and len(shape) <= MAX_DIMENSIONS
        if not whole or not all(type(n) is int and 0 <= n <= MAX_ARRAY_BYTES for n in shape):
            raise FormatError(f"array {name!r} has the invalid shape {shape!r}")
        layout.append((name, DTYPES[dtype], tuple(shape)))
        total += math.prod(shape) * DTYPES[dtype].itemsize
    if total != array_bytes:
        raise FormatError(
            f"a message's arrays take {total} bytes by description, but {array_bytes} by its prefix"
        )
    return layout
