"""Frames of an OpenSim model by path: bodies, ground and offset frames."""

import posixpath
from collections.abc import Iterable
from contextlib import suppress

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
        self._stations: dict[str, tuple[str, FloatArray]] = {}
        self._defined: dict[str, Node] = {}
        self._bodies: dict[str, OpenSimFrame] = {GROUND: OpenSimFrame(None, np.eye(4))}
        self._own: dict[str, str] = {}
        self._based: dict[str, tuple[str, FloatArray]] = {}
        self._open: set[str] = set()
        self._by_name: dict[str, list[str]] = {}
        ground = model.child("Ground")
        if ground is not None:
            self._collect(ground.elements("components"), GROUND)
        self._collect(model.objects("ComponentSet"), "/componentset")
        self._collect(model.elements("components"), "")
        self._collect(model.objects("MarkerSet"), "/markerset")
        for path, body in members(model, "BodySet"):
            if not body.name or body.name in self._own:
                raise body.error(f"a body needs a unique name, got {body.name!r}")
            self._own[body.name] = path
            self._bodies[path] = OpenSimFrame(body.name, np.eye(4))
            self._collect(body.elements("components"), path)
        for tag in ("JointSet", "ConstraintSet", "ForceSet"):
            for path, part in members(model, tag):
                self._collect(part.elements("frames"), path)
        for path in (*self._bodies, *self._given, *self._defined):
            self._by_name.setdefault(path.rsplit("/", 1)[-1], []).append(path)

    def _collect(self, nodes: Iterable[Node], owner: str) -> None:
        for node in nodes:
            path = f"{owner}/{node.name}"
            if node.tag == "PhysicalOffsetFrame":
                pose = placed(node.vector("translation"), node.vector("orientation"))
                self._given[path] = (self._absolute(node.text("socket_parent"), path), pose)
                self._collect(node.elements("components"), path)
            elif node.tag in ("Station", "Marker"):
                frame = self._absolute(node.text("socket_parent_frame"), path)
                self._stations[path] = (frame, node.vector("location"))
            elif node.tag == "StationDefinedFrame":
                self._defined[path] = node

    @staticmethod
    def _absolute(text: str, owner: str) -> str:
        return posixpath.normpath(posixpath.join(owner, text))

    def merge(self, body: str, into: OpenSimFrame) -> None:
        """Merge a body, with the bodies merged into it, into another one or the ground."""
        for path, place in self._bodies.items():
            if place.body == body:
                self._bodies[path] = OpenSimFrame(into.body, into.pose @ place.pose)

    def body(self, name: str) -> OpenSimFrame:
        """Where a body is after merging, by its name."""
        return self._bodies[self._own[name]]

    def of(self, node: Node, *sockets: str, owner: str = "/") -> OpenSimFrame:
        """The frame that the first of these entries of a node names, seen from the component at a path."""
        text = next((found for socket in sockets if (found := node.text(socket))), "")
        return self.resolve(text, owner, node.path)

    def resolve(self, text: str, owner: str, where: str) -> OpenSimFrame:
        """The body and pose of the frame that a socket names.

        Args:
            text: of the socket. owner: path of its component. where: prefix of the error.

        Raises:
            FormatError: an unknown frame, or frames that are relative to each other.
        """
        path, pose = self._base(self._path(text, owner, where), where)
        base = self._bodies[path]
        return OpenSimFrame(base.body, base.pose @ pose)

    def _base(self, path: str, where: str) -> tuple[str, FloatArray]:
        """Path of a frame's body, and its pose there."""
        way: dict[str, None] = {}  # from the frame to one whose place is known
        while path not in self._bodies and path not in self._based:
            if path in way or path in self._open:
                raise FormatError(f"{where}: frame {path!r} is relative to itself")
            if path in self._defined:
                self._open.add(path)
                try:
                    self._based[path] = self._through(path, where)
                finally:
                    self._open.discard(path)
                break
            way[path] = None
            path = self._path(self._given[path][0], path, where)
        body, pose = self._based.get(path, (path, np.eye(4)))
        for each in reversed(way):
            pose = pose @ self._given[each][1]
            self._based[each] = body, pose
        return body, pose

    def _through(self, path: str, where: str) -> tuple[str, FloatArray]:
        """A StationDefinedFrame: one axis along a to b, one along the normal of a, b and c."""
        node = self._defined[path]
        found = []
        for socket in ("point_a", "point_b", "point_c", "origin_point"):
            station = self._absolute(node.text(f"socket_{socket}"), path)
            if station not in self._stations:
                raise node.error(f"{socket} {station!r} is no station")
            frame, location = self._stations[station]
            body, pose = self._base(self._path(frame, station, where), where)
            found.append(OpenSimFrame(None, pose).place(location))
        a, b, c, origin = found
        along, normal = b - a, np.cross(b - a, c - a)
        if not np.linalg.norm(normal) > 0.0:
            raise node.error("its stations lie on a line")
        result = np.eye(4)
        signed = [(node.text("ab_axis", "+x"), along), (node.text("ab_x_ac_axis", "+y"), normal)]
        for word, vector in signed:
            sign = -1.0 if word.startswith("-") else 1.0
            result[:3, "xyz".index(word[-1:].lower())] = sign * vector / np.linalg.norm(vector)
        first, second = ("xyz".index(word[-1:].lower()) for word, _ in signed)
        third = 3 - first - second
        result[:3, third] = np.cross(result[:3, (third + 1) % 3], result[:3, (third + 2) % 3])
        result[:3, 3] = origin
        return body, result

    def _path(self, text: str, owner: str, where: str) -> str:
        path = self._absolute(text, owner)
        if text and (path in self._bodies or path in self._given or path in self._defined):
            return path
        found = self._by_name.get(text.rsplit("/", 1)[-1], [])
        if len(found) != 1:
            raise FormatError(f"{where}: unknown frame {text!r}")
        return found[0]

    def all(self) -> dict[str, OpenSimFrame]:
        """Body and pose of every frame by its path, without those that are invalid."""
        found = {}
        for path in (*self._bodies, *self._given, *self._defined):
            with suppress(FormatError):  # a frame that nothing needs
                found[path] = self.resolve(path, "/", path)
        return found


# ends of the kinds that a set may have, of which members may be among the model's components instead
ENDS = {
    "BodySet": ("Body",),
    "JointSet": ("Joint",),
    "ConstraintSet": ("Constraint",),
    "ForceSet": ("Force", "Actuator", "Muscle", "Muscle_Deprecated", "Spring", "Ligament"),
    "MarkerSet": ("Marker",),
    "ContactGeometrySet": ("ContactSphere", "ContactHalfSpace", "ContactMesh"),
}


def members(model: Node, tag: str) -> list[tuple[str, Node]]:
    """Paths and nodes of a set's members, those among the model's components included."""
    inner = [(f"/{node.name}", node) for node in model.elements("components") if node.tag.endswith(ENDS[tag])]
    return [*((f"/{tag.lower()}/{node.name}", node) for node in model.objects(tag)), *inner]
