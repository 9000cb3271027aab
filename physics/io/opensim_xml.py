"""XML read safely, by a reader that remembers what it was asked for: what nobody asked for can be named in the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError

DEEPEST = 200  # elements within each other; a model has about 15
ONLY_SEEN = frozenset(  # how things look, and who made them: nothing of this moves anything
    {
        "Appearance",
        "FrameGeometry",
        "GeometryPathAppearance",
        "VisibleObject",
        "assembly_accuracy",
        "credits",
        "default_color",
        "display_preference",
        "fixed",
        "groups",
        "optimal_force",
        "publications",
        "socket_frame",
    }
)


def read_xml(path: str | os.PathLike[str]) -> ElementTree.Element:
    """The root element of an XML file.

    A document type (and so any entity of its own) is refused, and so is what nests deeper than any model.

    Raises:
        FormatError: not XML, cut short, or one of these.
        OSError: the file cannot be read.
    """
    data = Path(path).read_bytes()
    builder = ElementTree.TreeBuilder()
    parser = expat.ParserCreate()
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > DEEPEST:
            raise FormatError(f"{path}: elements nest deeper than {DEEPEST}")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: Any) -> None:
        raise FormatError(f"{path}: has a document type declaration, which a model does not need")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except FormatError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:  # the latter two of encodings that are none
        raise FormatError(f"{path}: not XML: {error}") from error
    return builder.close()


class Node:
    """An XML element that remembers which of its children were asked for.

    Attributes:
        tag: what it is. path: where it stands, in words, for errors.
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
        """All children, which counts as reading them."""
        self._read.update(range(len(self._children)))
        return iter(self._children)

    def child(self, tag: str) -> Node | None:
        """The first child of this tag."""
        for k, child in enumerate(self._children):
            if child.tag == tag:
                self._read.add(k)
                return child
        return None

    def objects(self, tag: str) -> list[Node]:
        """What a set holds: the children of <tag><objects>."""
        collection = self.child(tag)
        held = None if collection is None else collection.child("objects")
        return [] if held is None else list(held)

    def elements(self, tag: str) -> list[Node]:
        """What a list holds: the children of <tag>."""
        held = self.child(tag)
        return [] if held is None else list(held)

    def text(self, tag: str, default: str = "") -> str:
        """Text of a child, without blanks around it."""
        child = self.child(tag)
        return default if child is None else (child.element.text or "").strip()

    def numbers(self, tag: str, default: Any, count: int | None = None) -> FloatArray:
        """Numbers that a child lists; FormatError where they are not numbers, not finite or not `count`."""
        text = self.text(tag)
        if not text:
            return np.array(default, dtype=np.float64)
        try:
            values = np.array([float(word) for word in text.split()])
        except ValueError as error:
            raise FormatError(f"{self.path}: {tag} must be numbers, got {text!r:.80}") from error
        if count is not None and len(values) != count:
            raise FormatError(f"{self.path}: {tag} must be {count} numbers, got {text!r:.80}")
        if not np.isfinite(values).all():
            raise FormatError(f"{self.path}: {tag} must be finite, got {text!r:.80}")
        return values

    def number(self, tag: str, default: float) -> float:
        """The number of a child."""
        return float(self.numbers(tag, [default], 1)[0])

    def truth(self, tag: str, default: bool) -> bool:
        """Truth of a child; FormatError for anything but true and false."""
        text = self.text(tag).lower()
        if text not in ("", "true", "false"):
            raise FormatError(f"{self.path}: {tag} must be true or false, got {text!r:.80}")
        return default if not text else text == "true"

    def forget(self) -> None:
        """Count the node as dealt with, whatever it holds."""
        self._children, self._read = [], set()

    def unread(self) -> list[str]:
        """Paths of what holds something and was not asked for."""
        found = []
        for k, child in enumerate(self._children):
            if child.tag in ONLY_SEEN:
                continue
            if k in self._read:
                found += child.unread()
            else:
                found += _filled(child)
        return found


def _filled(node: Node) -> list[str]:
    """The node's path where it holds anything but empty sets."""
    whole = node.element
    told = any((part.text or "").strip() for part in whole.iter() if part.tag not in ONLY_SEEN)
    return [node.path] if told else []


def _called(element: ElementTree.Element) -> str:
    name = element.get("name")
    return f"{element.tag} {name!r}" if name else element.tag
