"""Reads OpenSim models (``.osim``) into a `ModelBuilder`; warnings name unsupported parts."""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from .._typing import FloatArray
from ..constraints import DistanceConstraint, PlanarConnector, PointConstraint, WeldConstraint
from ..errors import FormatError, ModelError
from ..joints.symbols import facing
from ..model.builder import ModelBuilder
from ..validation import file_path, truth
from .opensim_cords import CORDS
from .opensim_elements import Elements
from .opensim_forces import KINDS
from .opensim_frames import GROUND, Frames, members
from .opensim_muscles import add_muscles
from .opensim_notes import Notes
from .opensim_old import OLDEST, modernized
from .opensim_parts import (
    OpenSimFrame,
    OpenSimGeometry,
    OpenSimModel,
    OpenSimMuscle,
    OpenSimPoint,
    OpenSimWrapObject,
)
from .opensim_paths import PATHS, read_geometry, read_marker, read_muscle, read_wrap_object
from .opensim_tree import Tree, couple, coupled_names, free_name
from .opensim_xml import Node, read_xml

NEWEST = 49999
DEFAULT_GRAVITY = (0.0, -9.80665, 0.0)
ACTUATORS = ("ActivationCoordinateActuator", "PointToPointActuator")
FRAMES = ("PhysicalOffsetFrame", "StationDefinedFrame")
UNITS = {"length_units": ("meters", "m"), "force_units": ("N", "newtons")}  # of which the first is taken
# entries left over from older versions, which OpenSim does not heed either
LEFT_OVER = frozenset(
    {
        *("location", "coordinate", "body", "use_euler_angles", "mesh_file", "muscle_parameters"),
        *("MuscleFirstOrderActivationDynamicModel", "MuscleSecondOrderActivationDynamicModel"),
    }
)
BETWEEN_FRAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # sockets, and places in their frames
    "WeldConstraint": (("frame1", "frame2"), ()),
    "PointConstraint": (("body_1", "body_2"), ("location_body_1", "location_body_2")),
    "ConstantDistanceConstraint": (("body_1", "body_2"), ("location_body_1", "location_body_2")),
    "PointOnLineConstraint": (("line_body", "follower_body"), ("point_on_line", "point_on_follower")),
}


def read_opensim(
    path: str | os.PathLike[str],
    *,
    limits: bool = True,
    muscles: bool = True,
    smoothing: float | None = None,
    geometry: Any = (),
    allow_welds: bool = False,
) -> OpenSimModel:
    """Read an OpenSim model.

    Welded bodies without mass are merged into their parents; moving ones get a mass of 1e-9 kg. Coupled coordinates
    become constraints; locked ones and those prescribed to be constant are held. BallJoint and FreeJoint rotate by
    three angles about x, y and z, so that their coordinates are the file's.

    Args:
        path: an ``.osim`` file of OpenSim 1.9 or later.
        limits: whether clamped coordinates get their range as compliant limits.
        muscles: whether muscles and their forces are added to the builder; `OpenSimModel.muscles` describes them in
            any case. A path wraps over a surface between all points of the wrap's range that move relative to it, and
            where the line between two others meets it. In about a hundred poses within the coordinates' ranges it is
            seen where a quadrant alone would force it round the surface: it is left out there.
        smoothing: of the wraps [m]; None: their default, 0: exact shortest paths.
        geometry: folders searched for meshes, after those beside the file (itself, ``Geometry``, ``geometry``).
        allow_welds: whether a joint of an unknown kind is read as a weld, with a warning.

    Returns:
        The model; `OpenSimModel.warnings` names unsupported content of the file.

    Raises:
        FormatError: not an OpenSim model, an inconsistent one, or one with an unknown kind of joint.
        ModelError: a body's mass or inertia is impossible.
        OSError: the file cannot be read.
    """
    limits, muscles = truth(limits, "limits"), truth(muscles, "muscles")
    if isinstance(geometry, str | bytes) or not isinstance(geometry, list | tuple):
        raise ModelError(f"geometry must be a list of folders, got {geometry!r:.80}")
    folders = [file_path(folder, f"geometry[{k}]") for k, folder in enumerate(geometry)]
    root = read_xml(path)
    version = root.get("Version", "")
    known = len(version) == len(str(NEWEST)) and version.isdecimal() and OLDEST <= int(version) <= NEWEST
    if root.tag != "OpenSimDocument" or not known:
        raise FormatError(
            f"{path}: not an OpenSim model of versions {OLDEST} to {NEWEST} (element {root.tag!r}, version {version!r})"
        )
    modernized(root, int(version))
    _fill_defaults(root)
    document = Node(root, str(path))
    model = document.child("Model")
    if model is None:
        raise FormatError(f"{path}: contains no model")
    places = [Path(path).parent / part for part in (".", "Geometry", "geometry")]
    reading = _Reading(model, limits, allow_welds, [*places, *folders])
    return reading.read(muscles, smoothing)


def _fill_defaults(root: Element) -> None:
    """Entries that forces leave out, from the file's defaults of their kind."""
    defaults = {default.tag: list(default) for default in root.iterfind("Model/defaults/*")}
    for force in (*root.iterfind("Model/ForceSet/objects/*"), *root.iterfind("Model/components/*")):
        there = {part.tag for part in force} | {*PATHS}
        force.extend(part for part in defaults.get(force.tag, ()) if part.tag not in there)


class _Reading:
    """Reads one file."""

    def __init__(self, model: Node, limits: bool, allow_welds: bool, folders: list[Path]) -> None:
        self.model = model
        self.folders = folders
        self.notes = Notes()
        self.frames = Frames(model)
        self.builder = ModelBuilder(model.numbers("gravity", DEFAULT_GRAVITY, 3))
        self.tree = Tree(model, self.frames, self.builder, limits, allow_welds, self.notes)

    def read(self, with_muscles: bool, smoothing: float | None) -> OpenSimModel:
        for tag, known in UNITS.items():
            unit = self.model.text(tag)
            if unit.lower() not in ("", "unassigned", *(name.lower() for name in known)):
                self.notes.warn(f"{unit!r} are taken as {known[0]}", tag)
        self.tree.plant()
        self._constraints()
        wrap_objects, drawn = self._on_bodies()
        muscles, groups = self._forces()
        markers = self._markers()
        self._check_wraps(muscles, wrap_objects)
        if with_muscles:
            add_muscles(self.builder, muscles, wrap_objects, self.tree.coordinates, smoothing, self.notes)
        frames = self.frames.all()
        for part in self.model.unread():
            tell = self.notes.note if part.tag in LEFT_OVER else self.notes.warn
            tell(f"{part.tag} is not read", part.path)
        parts = (self.tree.coordinates, frames, muscles, wrap_objects, markers, drawn, groups)
        said = (self.notes.lines(physics=True), self.notes.lines(physics=False))
        return OpenSimModel(self.model.name, self.builder, *parts, *said, self.actuators)

    def _find(self, file: str) -> Path | None:
        whole = Path(file.replace("\\", "/"))
        parts = [part for part in (whole, Path(whole.name)) if part.name]
        places = (folder / part for folder in self.folders for part in parts)
        return next((place for place in places if place.is_file()), None)

    def _on_bodies(self) -> tuple[dict[str, OpenSimWrapObject], tuple[OpenSimGeometry, ...]]:
        """Wrap objects and meshes of ground, bodies and the offset frames in them."""
        owners: list[tuple[str, Node | None]] = [(GROUND, self.model.child("Ground"))]
        owners += members(self.model, "BodySet")
        for path, joint in members(self.model, "JointSet"):
            owners += [(f"{path}/{frame.name}", frame) for frame in joint.elements("frames")]
        for path, owner in tuple(owners):
            inner = [] if owner is None or path.startswith("/jointset") else owner.elements("components")
            owners += [(f"{path}/{part.name}", part) for part in inner if part.tag in FRAMES]
        wraps: dict[str, OpenSimWrapObject] = {}
        drawn: list[OpenSimGeometry] = []
        for path, owner in owners:
            if owner is None:
                continue
            frame = self.frames.resolve(path, "/", owner.path)
            for node in owner.objects("WrapObjectSet"):
                found = read_wrap_object(node, frame, self.notes)
                if found is not None:
                    if found.name in wraps:
                        self.notes.warn("a wrap object replaces another one of its name", node.path)
                    wraps[found.name] = found
            for node in owner.elements("attached_geometry"):
                shape = read_geometry(node, frame, self._find, self.notes)
                if shape is not None:
                    drawn.append(shape)
        for file in sorted({shape.file for shape in drawn if shape.path is None}):
            self.notes.note("geometry not found", file)
        return wraps, tuple(drawn)

    def _forces(self) -> tuple[dict[str, OpenSimMuscle], dict[str, tuple[str, ...]]]:
        muscles: dict[str, OpenSimMuscle] = {}
        elements = Elements(self.model, self.frames, self.builder, self.tree.coordinates, self.notes)
        self.actuators = elements.actuators
        for _, node in members(self.model, "ForceSet"):
            if node.tag in KINDS or elements.add(node):  # those of coordinates are read with them
                continue
            try:
                muscle = read_muscle(node, self.frames, self.tree.coordinates, self.notes)
            except FormatError as error:
                if node.tag not in CORDS:
                    raise
                self.notes.warn(f"it applies no force: {error}", node.path)
                node.forget()
                continue
            if muscle is None:
                self._not_applied(node)
            else:
                name = muscle.name
                if name in muscles:
                    name = f"{name}_{len(muscles)}"
                    self.notes.note("forces of the same name are numbered", node.path)
                muscles[name] = replace(muscle, name=name)
        collection = self.model.child("ForceSet")
        entries = [] if collection is None else collection.elements("groups")
        groups = {node.name: tuple(node.text("members").split()) for node in entries}
        return muscles, groups

    def _markers(self) -> tuple[OpenSimPoint, ...]:
        markers = []
        for _, node in members(self.model, "MarkerSet"):
            try:
                if node.tag == "Marker":
                    markers.append(read_marker(node, self.frames))
            except FormatError as error:
                self.notes.note(f"a marker is left out: {error}", node.path)
        return tuple(markers)

    def _not_applied(self, node: Node) -> None:
        """A force that is not read."""
        node.forget()
        if node.tag in ACTUATORS:
            self.notes.note(f"a {node.tag} is not supported; without control it applies no force", node.path)
        else:
            self.notes.warn(f"a {node.tag} is not supported; it applies no force", node.path)

    def _lost(self, names: Iterable[str]) -> str | None:
        """The first of these coordinates that the file has but the model lacks, such as one of an unknown joint."""
        known = {
            entry.name
            for _, joint in members(self.model, "JointSet")
            for entry in joint.elements("coordinates")
        }
        return next((name for name in names if name in known - set(self.tree.coordinates)), None)

    def _check_wraps(
        self, muscles: dict[str, OpenSimMuscle], wrap_objects: dict[str, OpenSimWrapObject]
    ) -> None:
        for muscle in tuple(muscles.values()):
            for name in (name for point in muscle.points for name in _followed(point)):
                if name not in self.tree.coordinates:
                    self.notes.warn(
                        f"a muscle that follows coordinate {name!r}, which is not read, is left out",
                        muscle.name,
                    )
                    muscles.pop(muscle.name, None)
            for wrap in muscle.wraps:
                if wrap.wrap_object not in wrap_objects:
                    raise FormatError(
                        f"{self.model.path}: {muscle.name!r} wraps over {wrap.wrap_object!r}, which is missing"
                    )

    def _constraints(self) -> None:
        for path, node in members(self.model, "ConstraintSet"):
            coupler = node.tag == "CoordinateCouplerConstraint"
            if not node.truth("isEnforced", True):
                self.notes.note("constraints that are not enforced are left out", node.path)
            elif coupler and (lost := self._lost(coupled_names(node))):
                self.notes.warn(f"a constraint of {lost!r}, which is not read, is left out", node.path)
            elif coupler:
                couple(node, self.builder, self.tree.coordinates, self.notes)
                continue
            elif node.tag in BETWEEN_FRAMES:
                ends = [
                    self.frames.of(node, f"socket_{end}", owner=path) for end in BETWEEN_FRAMES[node.tag][0]
                ]
                try:
                    for constraint in _between(node, ends):
                        self.builder.add_constraint(free_name(self.builder, node), constraint)
                except ModelError as error:
                    raise node.error(f"{error}") from error
                continue
            else:
                self.notes.warn(f"a {node.tag} is not supported and is left out", node.path)
            node.forget()


def _between(node: Node, ends: list[OpenSimFrame]) -> list[Any]:
    """Our constraints of two frames, the first of which is a body's if one is."""
    _, places = BETWEEN_FRAMES[node.tag]
    points = [end.place(node.vector(place)) for place, end in zip(places, ends)]
    if node.tag == "PointOnLineConstraint":
        return _on_line(node, ends, points)
    if ends[0].body is None:
        ends, points = ends[::-1], points[::-1]
    (body, pose), (other, other_pose) = ((end.body, end.pose) for end in ends)
    if node.tag == "WeldConstraint":
        return [WeldConstraint(body, other, pose, other_pose)]
    if node.tag == "PointConstraint":
        return [PointConstraint(body, other, *points)]
    length = node.number("constant_distance", 1.0)
    return [DistanceConstraint(body, other, points[0], points[1], length)]


def _on_line(node: Node, ends: list[OpenSimFrame], points: list[FloatArray]) -> list[Any]:
    """A point on a line: on two planes that meet in it."""
    line, follower = ends
    along = line.pose[:3, :3] @ node.numbers("line_direction_vec", [1.0, 0.0, 0.0], 3)
    planes = np.linalg.svd(along[None])[2][1:]  # two normals of the line
    if follower.body is None:
        raise ModelError("the ground cannot follow a line")
    return [
        PlanarConnector(follower.body, points[1], line.body, facing(points[0], normal)) for normal in planes
    ]


def _followed(point: OpenSimPoint) -> list[str]:
    """Names of the coordinates that a point of a path follows."""
    return [name for name in (point.coordinate, *(name for _, name in point.moves)) if name is not None]
