"""Parts fixed to the bodies of an OpenSim model: paths of muscles, wrap objects, markers, geometry."""

import math
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np

from .opensim_cords import BETWEEN_POINTS, cord_law
from .opensim_frames import Frames, placed
from .opensim_functions import read_function
from .opensim_joints import STILL
from .opensim_laws import LAWS, SCHUTTE_CURVES
from .opensim_notes import Notes
from .opensim_parts import (
    WRAPS,
    OpenSimFrame,
    OpenSimGeometry,
    OpenSimMuscle,
    OpenSimPathWrap,
    OpenSimPoint,
    OpenSimWrapObject,
)
from .opensim_xml import Node

CURVES = ("ActiveForceLengthCurve", "ForceVelocityCurve", "FiberForceLengthCurve", "TendonForceLengthCurve")
PATHS = ("GeometryPath", "path")


def read_muscle(node: Node, frames: Frames, known: Collection[str], notes: Notes) -> OpenSimMuscle | None:
    """A force along a path; None if the force has no path of a known kind.

    Args:
        known: names of the model's coordinates.
    """
    if node.tag == BETWEEN_POINTS:
        ends = [(k, frames.of(node, f"body{k}")) for k in (1, 2)]
        points = [OpenSimPoint(f"point{k}", end.body, end.place(node.vector(f"point{k}"))) for k, end in ends]
        active = node.truth("appliesForce", True)
        return OpenSimMuscle(node.name, node.tag, tuple(points), active=active, law=cord_law(node))
    path = next((found for tag in PATHS if (found := node.child(tag)) is not None), None)
    if path is None:
        return None
    entries = path.objects("PathPointSet")
    kept = tuple(point for entry in entries if (point := _point(entry, frames, known, notes)) is not None)
    if len(kept) < 2:
        raise path.error(f"a path needs at least 2 points, got {len(kept)}")
    wraps = tuple(_wrap(entry, len(entries)) for entry in path.objects("PathWrapSet"))
    law = cord_law(node)
    flags: dict[str, bool] = {}
    parameters: dict[str, float] = {}
    _values(node, "", parameters, flags)
    for curve in CURVES:
        child = node.child(curve)
        if child is not None:
            _values(child, f"{curve}.", parameters, flags)
    held = SCHUTTE_CURVES if node.tag == "Schutte1993Muscle_Deprecated" else {}
    functions = {ours: read_function(node, theirs) for theirs, ours in held.items()}
    curves = {ours: function for ours, function in functions.items() if function is not None}
    if node.tag not in LAWS:
        node.forget()  # its curves mean nothing to the tension that replaces it
    active = flags.pop("appliesForce", True)
    return OpenSimMuscle(node.name, node.tag, kept, wraps, parameters, flags, active, law, curves)


def _wrap(node: Node, count: int) -> OpenSimPathWrap:
    """The wrap of a path with this number of points."""
    first, last = (int(bound) for bound in node.numbers("range", [-1.0, -1.0], 2))
    if last > count:
        raise node.error(f"range must end within the path's points, 1 to {count}, got {first} to {last}")
    return OpenSimPathWrap(node.text("wrap_object"), node.text("method", "hybrid").lower(), (first, last))


def _values(node: Node, prefix: str, parameters: dict[str, float], flags: dict[str, bool]) -> None:
    """Collects every child that is a finite number or a truth value; others are words, or bounds that are open."""
    for entry in node.element:
        text = (entry.text or "").strip().lower()
        if len(entry) or not text or len(text.split()) > 1:
            continue
        node.child(entry.tag)
        if text in ("true", "false"):
            flags[prefix + entry.tag] = text == "true"
            continue
        try:
            value = float(text)
        except ValueError:
            continue
        if math.isfinite(value):
            parameters[prefix + entry.tag] = value


def _coordinate(node: Node, socket: str, known: Collection[str]) -> str | None:
    """Our key of the coordinate that a socket names, which may have its joint's name before its own."""
    *_, joint, name = ["", *node.text(socket).split("/")]
    return f"{joint}/{name}" if f"{joint}/{name}" in known else name or None


def _point(node: Node, frames: Frames, known: Collection[str], notes: Notes) -> OpenSimPoint | None:
    frame = frames.of(node, "socket_parent_frame")
    if node.tag == "MovingPathPoint":
        return _moving_point(node, frame, known)
    location = frame.place(node.vector("location"))
    if node.tag == "ConditionalPathPoint":
        lower, upper = node.numbers("range", [0.0, 0.0], 2)
        coordinate = _coordinate(node, "socket_coordinate", known)
        if coordinate is None:
            raise node.error("a conditional point needs a coordinate")
        return OpenSimPoint(node.name, frame.body, location, coordinate, (float(lower), float(upper)))
    if node.tag != "PathPoint":
        notes.warn(f"a {node.tag} is not supported and is left out", node.path)
        return None
    return OpenSimPoint(node.name, frame.body, location)


def _moving_point(node: Node, frame: OpenSimFrame, known: Collection[str]) -> OpenSimPoint:
    moves = []
    for axis in "xyz":
        holder = node.child(f"{axis}_location")
        function = None if holder is None else read_function(holder)
        if holder is not None and function is None:
            raise holder.error("its function is not supported")
        moves.append((function or STILL, _coordinate(node, f"socket_{axis}_coordinate", known)))
    if all(function is not STILL for function, _ in moves):
        node.child("location")  # which they replace
    at_zero = np.array([float(function(0.0)) for function, _ in moves])
    location = frame.place(at_zero)
    return OpenSimPoint(node.name, frame.body, location, moves=tuple(moves), frame=frame.pose)


def read_wrap_object(node: Node, owner: OpenSimFrame, notes: Notes) -> OpenSimWrapObject | None:
    """A surface on a frame; None and a warning for an unknown kind."""
    kind = node.tag.removeprefix("Wrap").lower()
    if kind not in WRAPS:
        notes.warn(f"a {node.tag} is not supported and is left out", node.path)
        return None
    pose = placed(node.vector("translation"), node.vector("xyz_body_rotation"))
    counts = {entry: 3 if entry == "dimensions" else 1 for entry in WRAPS[kind][1]}
    size = np.concatenate([node.numbers(entry, [np.nan] * count, count) for entry, count in counts.items()])
    if not (size > 0.0).all():
        raise node.error(f"its size must be positive, got {size.tolist()}")
    quadrant = node.text("quadrant", "all").lower().lstrip("+") or "all"
    if quadrant not in ("all", "x", "y", "z", "-x", "-y", "-z"):
        raise node.error(f"quadrant must be all or one of x, -x, ..., got {quadrant!r}")
    if kind == "cylinder" and quadrant.endswith("z"):
        notes.warn("a side along a cylinder's axis is not supported; paths take the shorter one", node.path)
    return OpenSimWrapObject(
        node.name,
        kind,
        OpenSimFrame(owner.body, owner.pose @ pose),
        tuple(float(x) for x in size),
        quadrant,
        node.truth("active", True),
    )


def read_marker(node: Node, frames: Frames) -> OpenSimPoint:
    """A marker on a frame."""
    frame = frames.of(node, "socket_parent_frame")
    location = frame.place(node.vector("location"))
    return OpenSimPoint(node.name, frame.body, location)


def read_geometry(
    node: Node, owner: OpenSimFrame, find: Callable[[str], Path | None], notes: Notes
) -> OpenSimGeometry | None:
    """A mesh on a frame; None and a warning for other shapes."""
    if node.tag != "Mesh":
        node.forget()
        notes.note(f"a {node.tag} is not drawn", node.path)
        return None
    file = node.text("mesh_file")
    return OpenSimGeometry(node.name, owner, file, find(file), node.numbers("scale_factors", np.ones(3), 3))
