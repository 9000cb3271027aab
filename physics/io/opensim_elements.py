"""OpenSim's forces between bodies, and its actuators, as force elements and inputs of the engine."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..errors import FormatError, ModelError
from ..joints import Function
from ..model.builder import ModelBuilder
from .opensim_expressions import read_expression
from .opensim_frames import Frames, members, placed
from .opensim_functions import SPAN, read_function
from .opensim_notes import Notes
from .opensim_parts import OpenSimActuator, OpenSimCoordinate, OpenSimFrame
from .opensim_xml import Node, numbered

FRICTIONS = ("static_friction", "dynamic_friction", "viscous_friction")
SMOOTH = {  # numbers of a SmoothSphereHalfSpaceForce by ours, and OpenSim's defaults
    **{name: (name, 0.0) for name in (*FRICTIONS, "dissipation")},
    "transition_speed": ("transition_velocity", 0.01),
    "offset": ("constant_contact_force", 1e-5),
    "depth_steepness": ("hertz_smoothing", 300.0),
    "speed_steepness": ("hunt_crossley_smoothing", 50.0),
}


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
        others = {each.name for each in (*self.builder.springs, *self.builder.forces)}
        return numbered(node.name or node.tag, others | set(self.actuators))


def _point_spring(made: Elements, node: Node) -> None:
    ends = [made.frames.of(node, f"socket_body{k}", f"body{k}") for k in (1, 2)]
    places = [end.place(node.vector(f"point{k}")) for k, end in zip((1, 2), ends)]
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
        raise node.error(f"unknown coordinate {name!r}")
    optimal = node.number("optimal_force", 1.0)
    given = made.free_name(node)
    made.actuators[given] = OpenSimActuator(given, node.tag, made.coordinates[name].coordinate, optimal)


def _point_actuator(made: Elements, node: Node) -> None:
    """A force of which the control times the optimal force is the magnitude; the control is an input."""
    end = made.frames.of(node, "body")
    if node.truth("point_is_global", False):
        raise node.error("a point that is fixed in the world is not supported")
    in_world = node.truth("force_is_global", False)
    force = _direction(node, "direction", (1.0, 0.0, 0.0)) * node.number("optimal_force", 1.0)
    name = _input(made, node)
    if end.body is not None:
        force, axes = (force, "world") if in_world else (end.pose[:3, :3] @ force, "body")
        point = end.place(node.vector("point"))
        made.builder.add_wrench(name, end.body, np.zeros(3), force, name, point=point, axes=axes)


def _torque_actuator(made: Elements, node: Node) -> None:
    """As `_point_actuator`, a torque on one body and the opposite on another."""
    first = made.frames.of(node, "bodyA")
    second = made.frames.of(node, "bodyB") if node.text("bodyB") else OpenSimFrame(None, np.eye(4))
    torque = _direction(node, "axis", (0.0, 0.0, 1.0)) * node.number("optimal_force", 1.0)
    in_world = node.truth("torque_is_global", True)
    name, force = _input(made, node), np.zeros(3)
    if first.body == second.body:
        return
    if not in_world:
        torque = first.pose[:3, :3] @ torque
    if first.body is not None and not in_world:
        made.builder.add_wrench(name, first.body, torque, force, name, axes="body", other=second.body)
        return
    for end, moment, own in zip((first, second), (torque, -torque), (name, f"{name} opposite")):
        if end.body is not None:
            made.builder.add_wrench(own, end.body, moment, force, name)


def _direction(node: Node, name: str, default: tuple[float, ...]) -> FloatArray:
    given = node.numbers(name, default, 3)
    length = np.linalg.norm(given)
    if length == 0.0:
        raise node.error(f"{name} must not be zero")
    return given / length


def _input(made: Elements, node: Node) -> str:
    """Add an input for the control of an actuator."""
    name = made.free_name(node)
    made.builder.add_input(name)
    made.actuators[name] = OpenSimActuator(name, node.tag, None, node.number("optimal_force", 1.0))
    return name


def _bushing(made: Elements, node: Node) -> None:
    """Measured in its first frame; by stiffnesses, functions or expressions, each of one angle or displacement."""
    owner = f"/forceset/{node.name}"
    fixed, moving = (made.frames.of(node, f"socket_frame{k}", owner=owner) for k in (1, 2))
    if fixed.body == moving.body:
        made.notes.note("a bushing within a body moves nothing", node.path)
        return
    kinds = ("rotational", "translational")
    damping = np.concatenate([node.vector(f"{kind}_damping") for kind in kinds])
    elastic: list[Any] = [_by_function(node, k) or _by_expression(node, k) for k in range(6)]
    if node.tag == "BushingForce":
        stiffness = np.concatenate([node.vector(f"{kind}_stiffness") for kind in kinds])
        elastic = stiffness.tolist()
    turned = moving.body is None
    own, other = (fixed, moving) if turned else (moving, fixed)
    made.builder.add_bushing(
        made.free_name(node),
        own.body or "",
        other.body,
        elastic=elastic,
        damping=damping,
        frame=own.pose,
        other_frame=other.pose,
        measured_in="body" if turned else "other",
    )


def _by_function(node: Node, k: int) -> Function | None:
    axis = "xyz"[k % 3]
    holder = node.child(f"f_{axis}_delta_{axis}_function" if k > 2 else f"m_{axis}_theta_{axis}_function")
    function = None if holder is None else read_function(holder)
    if holder is not None and function is None:
        raise holder.error("its function is not supported")
    return function


def _by_expression(node: Node, k: int) -> Function:
    axis = "xyz"[k % 3]
    text, name = node.text(f"{'FM'[k < 3]}{axis}_expression", "0.0"), f"{('delta', 'theta')[k < 3]}_{axis}"
    return read_expression(text, name, SPAN, node.path)


def _surface(made: Elements, name: str, where: str) -> tuple[OpenSimFrame, float]:
    """Frame and radius of the contact geometry of a name or a path; 0 for a half-space."""
    name = name.rsplit("/", 1)[-1]
    held = members(made.model, "ContactGeometrySet")
    node = next((each for _, each in held if each.name == name), None)
    if node is None or node.tag not in ("ContactSphere", "ContactHalfSpace"):
        raise FormatError(f"{where}: no contact geometry {name!r} is a sphere or a half-space")
    frame = made.frames.of(node, "socket_frame")
    pose = frame.pose @ placed(node.vector("location"), node.vector("orientation"))
    radius = node.number("radius", 0.0) if node.tag == "ContactSphere" else 0.0
    if node.tag == "ContactSphere" and not radius > 0.0:
        raise node.error("a sphere's radius must be positive")
    return OpenSimFrame(frame.body, pose), radius


def _contact(
    made: Elements,
    node: Node,
    sphere: OpenSimFrame,
    radius: float,
    half: OpenSimFrame,
    firmness: float,
    values: Mapping[str, float],
) -> None:
    """A sphere on a half-space, which is where x is positive; firmness: of both surfaces in series (Hertz)."""
    name = made.free_name(node)
    if sphere.body is None:
        raise FormatError(f"{name!r}: a sphere on the ground is not supported")
    plane = half.pose.copy()
    plane[:3, :3] = half.pose[:3, [1, 2, 0]] * [1.0, -1.0, -1.0]
    stiffness = 4.0 / 3.0 * firmness * np.sqrt(radius * firmness)
    place: dict[str, Any] = {"other": half.body, "plane": plane, "stiffness": stiffness, **values}
    made.builder.add_sphere_contact(name, sphere.body, sphere.pose[:3, 3], radius, **place)


def _smooth_contact(made: Elements, node: Node) -> None:
    (sphere, radius), (half, flat) = (
        _surface(made, node.text(f"socket_{end}"), node.path) for end in ("sphere", "half_space")
    )
    if not radius or flat:
        raise node.error("needs a sphere and a half-space")
    values = {ours: node.number(theirs, usual) for ours, (theirs, usual) in SMOOTH.items()}
    firmness = 0.5 * node.number("stiffness", 1.0) ** (2.0 / 3.0)
    _contact(made, node, sphere, radius, half, firmness, values)


def _contacts(made: Elements, node: Node) -> None:
    """A HuntCrossleyForce: each of its spheres on each of its half-spaces."""
    surfaces = [
        (part, *_surface(made, name, node.path))
        for part in node.objects("HuntCrossleyForce::ContactParametersSet")
        for name in part.text("geometry").split()
    ]
    spheres = [each for each in surfaces if each[2]]
    if len({sphere.body for _, sphere, _ in spheres}) > 1:
        made.notes.note("spheres touch half-spaces only, not each other", node.path)
    for own, sphere, radius in spheres:
        for its, half, _ in (each for each in surfaces if not each[2]):
            hard = np.array([part.number("stiffness", 0.0) ** (2.0 / 3.0) for part in (own, its)])
            if sphere.body == half.body or not hard.all():
                continue
            share = hard[1] / hard.sum()
            losses = [part.number("dissipation", 0.0) for part in (own, its)]
            rough = np.array([[part.number(each, 0.0) for each in FRICTIONS] for part in (own, its)])
            both = rough.sum(axis=0)
            mean = 2.0 * rough[0] * rough[1] / np.where(both == 0.0, 1.0, both)
            values = dict(zip(FRICTIONS, mean.tolist())) | {
                "dissipation": share * losses[0] + (1.0 - share) * losses[1],
                "transition_speed": node.number("transition_velocity", 0.01),
                "depth_share": share,
            }
            _contact(made, node, sphere, radius, half, hard[0] * share, values)


READERS: dict[str, Callable[[Elements, Node], None]] = {
    "PointToPointSpring": _point_spring,
    "CoordinateActuator": _coordinate_actuator,
    "PointActuator": _point_actuator,
    "TorqueActuator": _torque_actuator,
    "BushingForce": _bushing,
    "FunctionBasedBushingForce": _bushing,
    "ExpressionBasedBushingForce": _bushing,
    "HuntCrossleyForce": _contacts,
    "SmoothSphereHalfSpaceForce": _smooth_contact,
}
