"""Messages survive the wire bit by bit, and garbage is refused with a reason."""

import io
import json
import math

import numpy as np
import pytest

from physics.errors import FormatError
from physics.worker import protocol

BITS = np.array([0.0, -0.0, 5e-324, 1.7976931348623157e308, math.pi, np.nan, np.inf, -np.inf])


def on_the_wire(header, arrays=None) -> bytes:
    return b"".join(bytes(piece) for piece in protocol.encode(header, arrays))


def read(data: bytes):
    return protocol.read_message(io.BytesIO(data))


@pytest.mark.parametrize(
    "array",
    [
        BITS,
        np.arange(24.0).reshape(2, 3, 4),
        np.arange(24.0).reshape(4, 6)[::2, ::-1],
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.zeros((0, 3)),
        np.array(2.5),
        np.array([1, -(2**62)]),
        np.array([True, False]),
        np.frombuffer(b"\0\xff", dtype=np.uint8),
        np.arange(3.0, dtype=">f8"),
    ],
    ids=["bits", "3d", "strided", "fortran", "empty", "scalar", "int", "bool", "bytes", "big-endian"],
)
def test_arrays_come_back_with_the_same_bits(array):
    message = read(on_the_wire({"id": 1}, {"a": array}))
    back = message.arrays["a"]
    assert back.shape == array.shape
    assert back.dtype.isnative and back.dtype.kind == array.dtype.kind
    assert back.tobytes() == array.astype(back.dtype).tobytes()
    assert back.flags.writeable


def test_single_precision_and_short_integers_are_widened():
    message = read(on_the_wire({}, {"f": np.float32([0.1]), "i": np.int16([-3])}))
    assert message.arrays["f"].dtype == np.float64 and message.arrays["f"][0] == np.float32(0.1)
    assert message.arrays["i"].dtype == np.int64


def test_several_messages_follow_each_other_and_then_the_end():
    stream = io.BytesIO(on_the_wire({"n": 1}, {"a": BITS}) + on_the_wire({"n": 2}))
    assert [protocol.read_message(stream).header["n"] for _ in range(2)] == [1, 2]
    assert protocol.read_message(stream) is None


def test_a_pipe_that_gives_single_bytes_is_read_to_the_end():
    class Slow(io.RawIOBase):
        def __init__(self, data):
            self.data = io.BytesIO(data)

        def readable(self):
            return True

        def readinto(self, buffer):
            return self.data.readinto(memoryview(buffer)[:1])

    message = protocol.read_message(Slow(on_the_wire({"id": 3}, {"a": BITS})))
    assert message.arrays["a"].tobytes() == BITS.tobytes()


@pytest.mark.parametrize(
    ("header", "arrays", "says"),
    [
        ({"x": math.nan}, {}, "not JSON"),
        ({"x": math.inf}, {}, "not JSON"),
        ({"x": {1, 2}}, {}, "not JSON"),
        ({"arrays": []}, {}, "must not use"),
        ({}, {"a": np.array(["text"])}, "array 'a' has type <U4"),
        ({}, {"a": np.array([object()])}, "array 'a' has type object"),
        ({}, {"a": np.array([1j])}, "array 'a' has type complex128"),
        ({}, {"a": np.array([1], dtype=np.uint32)}, "array 'a' has type uint32"),
    ],
)
def test_what_cannot_be_sent_is_refused_before_it_goes_out(header, arrays, says):
    with pytest.raises(FormatError, match=says):
        protocol.encode(header, arrays)


def raw(header, body: bytes = b"", header_bytes: int | None = None, array_bytes: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    prefix = protocol.PREFIX.pack(
        protocol.MAGIC,
        len(text) if header_bytes is None else header_bytes,
        len(body) if array_bytes is None else array_bytes,
    )
    return prefix + text + body


def described(**changes):
    return {"arrays": [{"name": "a", "dtype": "<f8", "shape": [1], **changes}]}


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "starts with b'GET '"),
        (b"CDL", "truncated: 3 of 16 bytes"),
        (raw({"arrays": []})[:-1], "truncated: 13 of 14 bytes of the header"),
        (raw(described(), b"1234567", array_bytes=8), "truncated: 7 of 8 bytes of array 'a'"),
        (raw(b"{}", header_bytes=2**31), "exceeds? the limit"),
        (raw({"arrays": []}, array_bytes=2**40), "exceeds? the limit"),
        (raw(b"not json"), "not JSON"),
        (raw(b"\xff\xfe"), "not JSON"),
        (raw(b'{"x": NaN, "arrays": []}'), "NaN is not a JSON number"),
        (raw(b"[" * 100000), "not JSON"),
        (raw([1]), "is a list, not an object"),
        (raw({}), "'arrays' must be a list"),
        (raw({"arrays": [{"name": "a"}] * 5000}), "at most 4096"),
        (raw({"arrays": ["a"]}), "needs name, dtype and shape"),
        (raw(described(extra=1)), "needs name, dtype and shape"),
        (raw(described(name=3), bytes(8)), "needs a unique name, got 3"),
        (raw({"arrays": described()["arrays"] * 2}, bytes(16)), "needs a unique name, got 'a'"),
        (raw(described(dtype="|O"), bytes(8)), "type '|O'".replace("|", r"\|")),
        (raw(described(dtype=["<f8"]), bytes(8)), "has type"),
        (raw(described(shape=[-1]), bytes(8)), "has the invalid shape"),
        (raw(described(shape=[True]), bytes(8)), "has the invalid shape"),
        (raw(described(shape=[1.0]), bytes(8)), "has the invalid shape"),
        (raw(described(shape=[1] * 9), bytes(8)), "has the invalid shape"),
        (raw(described(shape=[2]), bytes(8)), "take 16 bytes by description, but 8 by its prefix"),
        (raw(described(shape=[2**33, 2**33]), bytes(8)), "but 8 by its prefix"),
    ],
)
def test_garbage_is_refused_with_a_reason(data, says):
    with pytest.raises(FormatError, match=says):
        read(data)
