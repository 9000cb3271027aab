"""Damage to files: to their bytes and words, and to the values in their documents."""

import copy
import io
import json
import re
import zipfile
from typing import Any

import numpy as np

TEXTS = ["", "0", "-1", "1e308", "-1e-320", "nan", "inf", "9" * 30, "9" * 5000, "0x" + "f" * 9999, "\0"]
TEXTS += ["\x1b[2J", "\u202e\u00df", "a" * 300, "../", "[" * 2000, "{", "]" * 9, "<a>" * 300, "<!DOCTYPE a>"]
TEXTS += ["</", "&lt;", '"']
NUMBERS = [True, 0, -1, 3, 0.5, 2**70, 1e308, -1e308, 1e-320, float("nan")]
VALUES: list[Any] = [None, *NUMBERS, "", "x", "\0", "a" * 9999, [], [[]], [None], [0] * 4, {}]
VALUES += [{"type": "hinge"}, {"type": "fixed"}]


def pick(rng: np.random.Generator, entries: Any) -> Any:
    return entries[int(rng.integers(len(entries)))]


def damaged(rng: np.random.Generator, data: bytes, word: bytes = rb"[\w.+-]+") -> bytes:
    """A file with up to three damages: words or pieces of it are lost, doubled, replaced, or a bit is changed."""
    for _ in range(int(rng.integers(1, 4))):
        words = list(re.finditer(word, data))
        if words and rng.random() < 0.9:
            (start, end), other = pick(rng, words).span(), pick(rng, words)[0]
        else:
            start, other = int(rng.integers(len(data) + 1)), rng.bytes(8)
            end = start + int(2.0 ** rng.uniform(0, 12))
        piece = data[start:end]
        bit = bytes([piece[0] ^ (1 << int(rng.integers(8)))]) + piece[1:] if piece else b""
        new = pick(rng, [b"", piece * 2, bit, other, other, pick(rng, TEXTS).encode()])
        data = data[:start] + new + data[end:]
    return data if rng.random() < 0.97 else data[: int(rng.integers(len(data) + 1))]


def changed(rng: np.random.Generator, document: Any) -> Any:
    """A JSON document with up to three values lost, doubled, renamed or replaced."""
    document = copy.deepcopy(document)
    for _ in range(int(rng.integers(1, 4))):
        held: Any = {"": document}
        key: Any = ""
        while held[key] and isinstance(held[key], dict | list) and rng.random() < 0.9:
            held = held[key]
            key = pick(rng, list(held) if isinstance(held, dict) else range(len(held)))
        kind = int(rng.integers(5))
        if kind == 0:
            del held[key]
        elif kind == 1 and isinstance(held, list):
            held.insert(key, copy.deepcopy(held[key]))
        elif kind == 1:
            held[pick(rng, TEXTS)] = held.pop(key)
        else:
            held[key] = copy.deepcopy(pick(rng, VALUES if kind < 4 else list(document.values()) or [0]))
    return document


def archive(rng: np.random.Generator, header: Any, arrays: dict[str, np.ndarray]) -> bytes:
    """A result whose header, claims or names are changed, with right checksums; at times with damaged bytes."""
    text = json.dumps(changed(rng, header) if rng.random() < 0.5 else header)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", pick(rng, [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as made:
        for name, array in {"header": np.array(text), **arrays}.items():
            member = io.BytesIO()
            np.save(member, array)
            data = member.getvalue()
            data = damaged(rng, data[:128]) + data[128:] if rng.random() < 0.1 else data
            wrong = pick(rng, ["other.npy", "t", "t.npy", "../t.npy"])
            made.writestr(f"{name}.npy" if rng.random() < 0.98 else wrong, data)
    return stream.getvalue() if rng.random() < 0.5 else damaged(rng, stream.getvalue())


def message(rng: np.random.Generator, header: Any, arrays: bytes) -> bytes:
    """A message of the compute process with a changed header, whose lengths are mostly right."""
    text = json.dumps(changed(rng, header)).encode()
    text = damaged(rng, text) if rng.random() < 0.3 else text
    size = len(arrays) if rng.random() < 0.8 else int(2.0 ** rng.uniform(0, 63))
    data = b"CDL1" + len(text).to_bytes(4, "little") + size.to_bytes(8, "little") + text + arrays
    return data if rng.random() < 0.7 else damaged(rng, data)
