"""Frames of an OpenSim model by path: bodies, ground and offset frames."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError
from ..geometry import lie
from .opensim_parts import OpenSimFrame
from .opensim_xml import Node

GROUND = "/ground"


def placed(translation: FloatArray, angles: FloatArray) -> FloatArray:
    """Pose (4, 4) of a frame by its origin and body-fixed angles about x, y and z."""
    pose = np.eye(4)
    pose[:3, :3] = np.linalg.multi_dot([lie.so3_exp(angle * axis) for angle, axis in zip(angles, np.eye(3))])
    pose[:3, 3] = translation
    return pose


class Frames:
    """Frames by their absolute paths, each relative to another one; bodies and ground are their own base.

    Args:
        model: the node of the model.
    """

    def __init__(self, model: Node) -> None:
        self._given: dict[str, tuple[str, FloatArray]] = {}
        self._bodies: dict[str, OpenSimFrame] = {GROUND: OpenSimFrame(None, np.eye(4))}
        ground = model.child("Ground")
        if ground is not None:
            self._collect(ground.elements("components"), GROUND)
        self._collect(model.objects("ComponentSet"), "/componentset")
        for body in model.objects("BodySet"):
            if body.tag != "Body":
                continue
            path = f"/bodyset/{body.name}"
            if path in self._bodies or not body.name:
                raise FormatError(f"{body.path}: a body needs a unique name, got {body.name!r}")
            self._bodies[path] = OpenSimFrame(body.name, np.eye(4))
            self._collect(body.elements("components"), path)
        for joint in model.objects("JointSet"):
            self._collect(joint.elements("frames"), f"/jointset/{joint.name}")
        self._placed: dict[str, tuple[str, FloatArray]] = {}  # the body of a frame, and its pose in the body
        self._by_name: dict[str, list[str]] = {}
        for path in (*self._bodies, *self._given):
            self._by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    def _collect(self, nodes: Iterable[Node], owner: str) -> None:
        for node in nodes:
            if node.tag != "PhysicalOffsetFrame":
                continue
            path = f"{owner}/{node.name}"
            pose = placed(
                node.numbers("translation", np.zeros(3), 3), node.numbers("orientation", np.zeros(3), 3)
            )
            self._given[path] = (self._absolute(node.text("socket_parent"), path), pose)

    @staticmethod
    def _absolute(text: str, owner: str) -> str:
        return posixpath.normpath(posixpath.join(owner, text))

    def merge(self, body: str, into: OpenSimFrame) -> None:
        """Merge a body, with the bodies merged into it, into another one or the ground."""
        for path, place in self._bodies.items():
            if place.body == body:
                self._bodies[path] = OpenSimFrame(into.body, into.pose @ place.pose)

    def resolve(self, text: str, owner: str, where: str) -> OpenSimFrame:
        """The body and pose of the frame that a socket names.

        Args:
            text: of the socket. owner: path of its component. where: prefix of the error.

        Raises:
            FormatError: an unknown frame, or frames that are relative to each other.
        """
        path = self._path(text, owner, where)
        way: dict[str, None] = {}  # from the frame to one whose place is known
        while path not in self._bodies and path not in self._placed:
            if path in way:
                raise FormatError(f"{where}: frame {text!r} is relative to itself")
            way[path] = None
            path = self._path(self._given[path][0], path, where)
        body, pose = self._placed.get(path, (path, np.eye(4)))
        for path in reversed(way):
            pose = pose @ self._given[path][1]
            self._placed[path] = body, pose
        base = self._bodies[body]
        return OpenSimFrame(base.body, base.pose @ pose)

    def _path(self, text: str, owner: str, where: str) -> str:
        known: Callable[[str], bool] = lambda path: path in self._bodies or path in self._given  # noqa: E731
        path = self._absolute(text, owner)
        if text and known(path):
            return path
        found = self._by_name.get(text.rsplit("/", 1)[-1], ())
        if len(found) != 1:
            raise FormatError(f"{where}: unknown frame {text!r}")
        return found[0]

    def all(self) -> dict[str, OpenSimFrame]:
        """Body and pose of every frame by its path."""
        return {path: self.resolve(path, "/", path) for path in (*self._bodies, *self._given)}
