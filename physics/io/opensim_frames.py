"""Where things of an OpenSim model are fixed: bodies, ground and offset frames by their paths."""

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
    """Frames by their absolute paths, each given in another one; bodies and ground are given in themselves.

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
                raise FormatError(f"{body.path}: a body's name must be given, once, got {body.name!r}")
            self._bodies[path] = OpenSimFrame(body.name, np.eye(4))
            self._collect(body.elements("components"), path)
        for joint in model.objects("JointSet"):
            self._collect(joint.elements("frames"), f"/jointset/{joint.name}")

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
        """Let a body be part of another one, or of the ground, with all that are part of it."""
        for path, place in self._bodies.items():
            if place.body == body:
                self._bodies[path] = OpenSimFrame(into.body, into.pose @ place.pose)

    def resolve(self, text: str, owner: str, where: str) -> OpenSimFrame:
        """The body and pose that a socket names.

        Args:
            text: what the socket says. owner: path of the component that has it. where: for the error.

        Raises:
            FormatError: there is no such frame, or frames are given in each other.
        """
        path, pose = self._path(text, owner, where), np.eye(4)
        visited = {path}
        while path not in self._bodies:
            parent, offset = self._given[path]
            pose = offset @ pose
            path = self._path(parent, path, where)
            if path in visited:
                raise FormatError(f"{where}: frame {text!r} is given in itself")
            visited.add(path)
        base = self._bodies[path]
        return OpenSimFrame(base.body, base.pose @ pose)

    def _path(self, text: str, owner: str, where: str) -> str:
        known: Callable[[str], bool] = lambda path: path in self._bodies or path in self._given  # noqa: E731
        path = self._absolute(text, owner)
        if text and known(path):
            return path
        last = text.rsplit("/", 1)[-1]
        found = [path for path in (*self._bodies, *self._given) if path.rsplit("/", 1)[-1] == last]
        if len(found) != 1:
            raise FormatError(f"{where}: there is no frame {text!r}")
        return found[0]

    def all(self) -> dict[str, OpenSimFrame]:
        """Every frame's body and pose by its path."""
        return {path: self.resolve(path, "/", path) for path in (*self._bodies, *self._given)}
