"""OpenSim's forces between bodies, and its actuators, as force elements and inputs of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError, ModelError
from ..joints import Hinge
from ..model.builder import ModelBuilder
from .opensim_frames import Frames
from .opensim_notes import Notes
from .opensim_parts import OpenSimActuator, OpenSimCoordinate, OpenSimFrame
from .opensim_xml import Node

ALONG = 1e-12  # sine of an angle below which axes are parallel, round-off of rotations


class Elements:
    """Adds forces to a builder.

    Attributes:
        actuators: those that were read, by name.
    """

    def __init__(
        self,
        model: Node,
        frames: Frames,
        builder: ModelBuilder,
        coordinates: Mapping[str, OpenSimCoordinate],
        notes: Notes,
    ) -> None:
        self.model, self.frames, self.builder = model, frames, builder
        self.coordinates, self.notes = coordinates, notes
        self.actuators: dict[str, OpenSimActuator] = {}

    def add(self, node: Node) -> bool:
        """Add a force, or say why it cannot be; False for kinds that are not read here."""
        reader = READERS.get(node.tag)
        if reader is None:
            return False
        try:
            if node.truth("appliesForce", True):
                reader(self, node)
        except (FormatError, ModelError) as error:
            self.notes.warn(f"it applies no force: {error}", node.path)
        node.forget()
        return True

    def free_name(self, node: Node) -> str:
        """The name of a force, or of its kind, numbered if another one has it."""
        taken = {each.name for each in (*self.builder.springs, *self.builder.forces)} | set(self.actuators)
        given = name = node.name or node.tag
        number = 0
        while name in taken:
            name, number = f"{given}_{number}", number + 1
        return name

    def end(self, node: Node, *sockets: str) -> OpenSimFrame:
        """The frame that the first of these entries names; FormatError if there is none."""
        text = next((found for socket in sockets if (found := node.text(socket))), "")
        return self.frames.resolve(text, "/", node.path)


def _on(end: OpenSimFrame, point: FloatArray) -> FloatArray:
    """A point of a frame in the frame of its body."""
    result: FloatArray = end.pose[:3, :3] @ point + end.pose[:3, 3]
    return result


def _point_spring(made: Elements, node: Node) -> None:
    ends = [made.end(node, f"socket_body{k}", f"body{k}") for k in (1, 2)]
    places = [_on(end, node.numbers(f"point{k}", np.zeros(3), 3)) for k, end in zip((1, 2), ends)]
    if ends[0].body is None:
        ends, places = ends[::-1], places[::-1]
    if ends[0].body == ends[1].body:
        made.notes.note("a spring within a body moves nothing", node.path)
        return
    numbers = {"stiffness": node.number("stiffness", 1.0), "rest_length": node.number("rest_length", 0.0)}
    made.builder.add_spring(
        made.free_name(node), ends[0].body or "", places[0], ends[1].body, places[1], **numbers
    )


def _coordinate_actuator(made: Elements, node: Node) -> None:
    name = node.text("coordinate").rsplit("/", 1)[-1]
    if name not in made.coordinates:
        raise FormatError(f"{node.path}: unknown coordinate {name!r}")
    optimal = node.number("optimal_force", 1.0)
    given = made.free_name(node)
    made.actuators[given] = OpenSimActuator(given, node.tag, made.coordinates[name].coordinate, optimal)


def _point_actuator(made: Elements, node: Node) -> None:
    """A force of which the control times the optimal force is the magnitude; the control is an input."""
    end = made.end(node, "body")
    if node.truth("point_is_global", False):
        raise FormatError(f"{node.path}: a point that is fixed in the world is not supported")
    in_world = node.truth("force_is_global", False)
    force = _direction(node, "direction", (1.0, 0.0, 0.0)) * node.number("optimal_force", 1.0)
    name = _input(made, node)
    if end.body is not None:
        force, axes = (force, "world") if in_world else (end.pose[:3, :3] @ force, "body")
        point = _on(end, node.numbers("point", np.zeros(3), 3))
        made.builder.add_wrench(name, end.body, np.zeros(3), force, name, point=point, axes=axes)


def _torque_actuator(made: Elements, node: Node) -> None:
    """As `_point_actuator`, a torque on one body and the opposite on another."""
    first = made.end(node, "bodyA")
    second = made.end(node, "bodyB") if node.text("bodyB") else OpenSimFrame(None, np.eye(4))
    torque = _direction(node, "axis", (0.0, 0.0, 1.0)) * node.number("optimal_force", 1.0)
    in_world = node.truth("torque_is_global", True) or first.body is None
    pair = [torque, torque]
    if not in_world:
        pair[0] = first.pose[:3, :3] @ torque
        pair[1] = _seen_from(made, node, first.body, second.body, pair[0])
    name = _input(made, node)
    axes = "world" if in_world else "body"
    for end, moment, sign, own in zip((first, second), pair, (1.0, -1.0), (name, f"{name} opposite")):
        if end.body is not None and first.body != second.body:
            made.builder.add_wrench(own, end.body, sign * moment, np.zeros(3), name, axes=axes)


def _seen_from(
    made: Elements, node: Node, body: str | None, other: str | None, axis: FloatArray
) -> FloatArray:
    """An axis of a body in another one, in which it must be fixed."""
    if other is None or other == body:
        return axis
    numbers = made.builder.body_numbers()
    for moving, fixed in ((body, other), (other, body)):
        link = made.builder.bodies[numbers[moving or ""]]
        if link.parent != numbers.get(fixed or "") or not isinstance(link.joint, Hinge):
            continue
        turn, base = link.body_in_joint[:3, :3], link.joint_in_parent[:3, :3]
        here = turn @ axis if moving == body else base.T @ axis
        if np.linalg.norm(np.cross(here, link.joint.axis)) <= ALONG * np.linalg.norm(here):
            found: FloatArray = base @ here if moving == body else turn.T @ here
            return found
    raise FormatError(
        f"{node.path}: a torque on {other!r} about an axis that turns with {body!r} is not supported"
    )


def _direction(node: Node, name: str, default: tuple[float, ...]) -> FloatArray:
    given = node.numbers(name, default, 3)
    length = np.linalg.norm(given)
    if length == 0.0:
        raise FormatError(f"{node.path}: {name} must not be zero")
    unit: FloatArray = given / length
    return unit


def _input(made: Elements, node: Node) -> str:
    """Add an input for the control of an actuator."""
    name = made.free_name(node)
    made.builder.add_input(name)
    made.actuators[name] = OpenSimActuator(name, node.tag, None, node.number("optimal_force", 1.0))
    return name


READERS: dict[str, Callable[[Elements, Node], None]] = {
    "PointToPointSpring": _point_spring,
    "CoordinateActuator": _coordinate_actuator,
    "PointActuator": _point_actuator,
    "TorqueActuator": _torque_actuator,
}
