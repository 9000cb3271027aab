"""Reads XML safely; nodes record which children were read, so that unread parts can be reported."""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator
from itertools import count
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError
from .files import read_bytes
from .limits import ELEMENTS, XML_NESTING

BARE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[0-9a-fA-F]+);)")
ONLY_SEEN = frozenset(  # appearance and authorship, without effect on motion
    {
        "Appearance",
        "ContactGeometrySet",
        "FrameGeometry",
        "GeometryPathAppearance",
        "ModelVisualPreferences",
        "ProbeSet",
        "SurfaceProperties",
        "VisibleObject",
        "assembly_accuracy",
        "credits",
        "default_color",
        "defaults",
        "display_preference",
        "fixed",
        "groups",
        "initial_value",
        "input_transform",
        "is_free_to_satisfy_constraints",
        "motion_type",
        "optimal_force",
        "publications",
        "socket_frame",
    }
)


def read_xml(path: str | os.PathLike[str], what: str = "an OpenSim model") -> ElementTree.Element:
    """The root element of an XML file.

    A bare ``&``, ``--`` in a comment and text in no valid encoding are read as well, as OpenSim does. Refuses a
    document type declaration (and with it entities), and what is beyond `limits`. what: as in `limits.BYTES`.

    Raises:
        FormatError: not XML, truncated, or refused.
        OSError: the file cannot be read.
    """
    data = read_bytes(path, what)
    try:
        return _parsed(path, data)
    except expat.ExpatError:
        mended = BARE.sub(b"&amp;", _without_comments(data))
        encoding = None
        try:
            mended.decode("utf-8")
        except UnicodeDecodeError:
            encoding = "iso-8859-1"
        try:
            return _parsed(path, mended, encoding)
        except expat.ExpatError as error:
            raise FormatError(f"{path}: not XML: {error}") from error


def _without_comments(data: bytes) -> bytes:
    parts, at = [], 0
    while (start := data.find(b"<!--", at)) >= 0 and (end := data.find(b"-->", start)) >= 0:
        parts.append(data[at:start])
        at = end + len(b"-->")
    return b"".join([*parts, data[at:]])


def _parsed(path: str | os.PathLike[str], data: bytes, encoding: str | None = None) -> ElementTree.Element:
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate(encoding)
    depth = total = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, total
        depth, total = depth + 1, total + 1
        if depth > XML_NESTING or total > ELEMENTS:
            raise FormatError(f"{path}: more than {ELEMENTS} elements, or nested deeper than {XML_NESTING}")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: Any) -> None:
        raise FormatError(f"{path}: a document type declaration is not allowed")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except (FormatError, expat.ExpatError):
        raise
    except (LookupError, ValueError) as error:  # unknown encodings
        raise FormatError(f"{path}: not XML: {error}") from error
    return builder.close()


class Node:
    """An XML element that records which of its children were read.

    Attributes:
        tag: of the element. path: its location in words, for errors.
    """

    def __init__(self, element: ElementTree.Element, path: str) -> None:
        self.element = element
        self.tag = element.tag
        self.path = path
        self._children = [Node(child, f"{path}/{_called(child)}") for child in element]
        self._read: set[int] = set()

    @property
    def name(self) -> str:
        return self.element.get("name", "")

    def __iter__(self) -> Iterator[Node]:
        """All children; marks them as read."""
        self._read.update(range(len(self._children)))
        return iter(self._children)

    def child(self, tag: str, name: str = "") -> Node | None:
        """The first child of this tag, and of this name if one is given."""
        for k, child in enumerate(self._children):
            if child.tag == tag and name in ("", child.name):
                self._read.add(k)
                return child
        return None

    def objects(self, tag: str) -> list[Node]:
        """Members of a set: the children of <tag><objects>."""
        collection = self.child(tag)
        members = None if collection is None else collection.child("objects")
        return [] if members is None else list(members)

    def elements(self, tag: str) -> list[Node]:
        """Members of a list: the children of <tag>."""
        members = self.child(tag)
        return [] if members is None else list(members)

    def text(self, tag: str, default: str = "") -> str:
        """Text of a child, stripped."""
        child = self.child(tag)
        return default if child is None else (child.element.text or "").strip()

    def numbers(self, tag: str, default: Any, size: int | None = None) -> FloatArray:
        """Numbers listed by a child; FormatError if they are not numbers, not finite or not `size`."""
        text = self.text(tag)
        if not text:
            return np.array(default, dtype=np.float64)
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError as error:
            raise self.error(f"{tag} must be numbers, got {text!r:.80}") from error
        if size is not None and len(values) != size:
            raise self.error(f"{tag} must be {size} numbers, got {text!r:.80}")
        if not np.isfinite(values).all():
            raise self.error(f"{tag} must be finite, got {text!r:.80}")
        return values

    def vector(self, tag: str) -> FloatArray:
        """The three numbers of a child, 0 if there is none."""
        return self.numbers(tag, np.zeros(3), 3)

    def number(self, tag: str, default: float) -> float:
        """The number of a child."""
        return float(self.numbers(tag, [default], 1)[0])

    def truth(self, tag: str, default: bool) -> bool:
        """Truth value of a child; FormatError for anything but true and false."""
        text = self.text(tag).lower()
        if text not in ("", "true", "false"):
            raise self.error(f"{tag} must be true or false, got {text!r:.80}")
        return default if not text else text == "true"

    def error(self, what: str) -> FormatError:
        """An error that names the node."""
        return FormatError(f"{self.path}: {what}")

    def forget(self) -> None:
        """Mark the node and everything in it as read."""
        self._children, self._read = [], set()

    def unread(self) -> list[Node]:
        """Unread parts that are not empty."""
        found = []
        for k, child in enumerate(self._children):
            if child.tag in ONLY_SEEN:
                continue
            if k in self._read:
                found += child.unread()
            elif any((part.text or "").strip() for part in child.element.iter() if part.tag not in ONLY_SEEN):
                found.append(child)
        return found


def numbered(name: str, taken: Container[str]) -> str:
    """The name, with a number if it is taken."""
    free = (f"{name}_{number}" for number in count())
    return name if name not in taken else next(each for each in free if each not in taken)


def _called(element: ElementTree.Element) -> str:
    name = element.get("name")
    return f"{element.tag} {name!r}" if name else element.tag
