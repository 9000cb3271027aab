"""Reads OpenSim models (``.osim`` of version 4) into a `ModelBuilder`; warnings name unsupported parts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..constraints import DistanceConstraint, PointConstraint, WeldConstraint
from ..errors import FormatError, ModelError
from ..model.builder import ModelBuilder
from ..validation import file_path, truth
from .opensim_frames import GROUND, Frames
from .opensim_muscles import add_muscles
from .opensim_parts import (
    OpenSimFrame,
    OpenSimGeometry,
    OpenSimModel,
    OpenSimMuscle,
    OpenSimPoint,
    OpenSimWrapObject,
)
from .opensim_paths import read_geometry, read_marker, read_muscle, read_wrap_object
from .opensim_tree import Tree, couple, coupled_names, lock
from .opensim_xml import Node, read_xml

OLDEST, NEWEST = 40000, 49999
DEFAULT_GRAVITY = (0.0, -9.80665, 0.0)
NAMED = 5  # most missing meshes that a warning names


def read_opensim(
    path: str | os.PathLike[str],
    *,
    limits: bool = True,
    muscles: bool = True,
    smoothing: float | None = None,
    geometry: Any = (),
) -> OpenSimModel:
    """Read an OpenSim model.

    Welded bodies without mass are merged into their parents; moving ones get a mass of 1e-9 kg. Locked and coupled
    coordinates become constraints. BallJoint and FreeJoint rotate by three angles about x, y and z, so that their
    coordinates are the file's.

    Args:
        path: an ``.osim`` file of version 4.
        limits: whether clamped coordinates get their range as compliant limits.
        muscles: whether muscles and their forces are added to the builder; `OpenSimModel.muscles` describes them in
            any case. A path wraps over a surface between those of its points where the straight line meets it in some
            of about a hundred poses within the coordinates' ranges.
        smoothing: of the wraps [m]; None: their default, 0: exact shortest paths.
        geometry: folders searched for meshes, after those beside the file (itself, ``Geometry``, ``geometry``).

    Returns:
        The model; `OpenSimModel.warnings` names unsupported content of the file.

    Raises:
        FormatError: not an OpenSim model of version 4, or an inconsistent one.
        ModelError: a body's mass or inertia is impossible.
        OSError: the file cannot be read.
    """
    limits, muscles = truth(limits, "limits"), truth(muscles, "muscles")
    if isinstance(geometry, str | bytes) or not isinstance(geometry, list | tuple):
        raise ModelError(f"geometry must be a list of folders, got {geometry!r:.80}")
    folders = [file_path(folder, f"geometry[{k}]") for k, folder in enumerate(geometry)]
    root = read_xml(path)
    document = Node(root, str(path))
    version = root.get("Version", "")
    known = len(version) == len(str(NEWEST)) and version.isdecimal() and OLDEST <= int(version) <= NEWEST
    if root.tag != "OpenSimDocument" or not known:
        raise FormatError(
            f"{path}: not an OpenSim model of version 4 (element {root.tag!r}, version {version!r}); "
            "open and save it in OpenSim 4 to convert it"
        )
    model = document.child("Model")
    if model is None:
        raise FormatError(f"{path}: contains no model")
    places = [Path(path).parent / part for part in (".", "Geometry", "geometry")]
    reading = _Reading(model, limits, [*places, *folders])
    return reading.read(muscles, smoothing)


class _Reading:
    """Reads one file."""

    def __init__(self, model: Node, limits: bool, folders: list[Path]) -> None:
        self.model = model
        self.folders = folders
        self.warnings: list[str] = []
        self.frames = Frames(model)
        self.builder = ModelBuilder(model.numbers("gravity", DEFAULT_GRAVITY, 3))
        self.tree = Tree(model, self.frames, self.builder, limits, self.warnings)

    def read(self, with_muscles: bool, smoothing: float | None) -> OpenSimModel:
        for tag, unit in (("length_units", "meters"), ("force_units", "N")):
            if self.model.text(tag, unit).lower() != unit.lower():
                self.warnings.append(f"{tag} {self.model.text(tag)!r} are taken as {unit}")
        self.tree.plant()
        self._constraints()
        lock(self.builder, self.tree.coordinates.values(), self.warnings)
        wrap_objects, drawn = self._on_bodies()
        muscles, groups = self._forces()
        markers = self._markers()
        self._check_wraps(muscles, wrap_objects)
        if with_muscles:
            add_muscles(self.builder, muscles, wrap_objects, self.tree.coordinates, smoothing, self.warnings)
        for part in self.model.unread():
            self.warnings.append(f"{part}: is not read")
        return OpenSimModel(
            self.model.name,
            self.builder,
            self.tree.coordinates,
            self.frames.all(),
            muscles,
            wrap_objects,
            markers,
            drawn,
            groups,
            tuple(self._shortened(warning) for warning in self.warnings),
        )

    def _shortened(self, warning: str) -> str:
        return warning.removeprefix(self.model.path + "/")

    def _find(self, file: str) -> Path | None:
        name = Path(file.replace("\\", "/")).name
        return next((folder / name for folder in self.folders if name and (folder / name).is_file()), None)

    def _on_bodies(self) -> tuple[dict[str, OpenSimWrapObject], tuple[OpenSimGeometry, ...]]:
        """Wrap objects and meshes of ground, bodies and the offset frames in them."""
        owners = [(GROUND, self.model.child("Ground"))]
        owners += [(f"/bodyset/{body.name}", body) for body in self.model.objects("BodySet")]
        for joint in self.model.objects("JointSet"):
            owners += [(f"/jointset/{joint.name}/{frame.name}", frame) for frame in joint.elements("frames")]
        for path, owner in tuple(owners):
            inner = [] if owner is None or path.startswith("/jointset") else owner.elements("components")
            owners += [(f"{path}/{part.name}", part) for part in inner if part.tag == "PhysicalOffsetFrame"]
        wraps: dict[str, OpenSimWrapObject] = {}
        drawn: list[OpenSimGeometry] = []
        for path, owner in owners:
            if owner is None:
                continue
            frame = self.frames.resolve(path, "/", owner.path)
            for node in owner.objects("WrapObjectSet"):
                found = read_wrap_object(node, frame, self.warnings)
                if found is not None:
                    if found.name in wraps:
                        self.warnings.append(f"{node.path}: replaces another wrap object of this name")
                    wraps[found.name] = found
            for node in owner.elements("attached_geometry"):
                shape = read_geometry(node, frame, self._find, self.warnings)
                if shape is not None:
                    drawn.append(shape)
        lost = sorted({shape.file for shape in drawn if shape.path is None})
        if lost:
            more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
            self.warnings.append(f"geometry not found: {', '.join(lost[:NAMED])}{more}")
        return wraps, tuple(drawn)

    def _forces(self) -> tuple[dict[str, OpenSimMuscle], dict[str, tuple[str, ...]]]:
        muscles: dict[str, OpenSimMuscle] = {}
        for node in self.model.objects("ForceSet"):
            muscle = read_muscle(node, self.frames, self.warnings)
            if muscle is None:
                self.warnings.append(f"{node.path}: this kind of force is not supported")
                node.forget()
            elif muscle.name in muscles:
                raise FormatError(f"{node.path}: duplicate name of a force")
            else:
                muscles[muscle.name] = muscle
        collection = self.model.child("ForceSet")
        entries = [] if collection is None else collection.elements("groups")
        groups = {node.name: tuple(node.text("members").split()) for node in entries}
        return muscles, groups

    def _markers(self) -> tuple[OpenSimPoint, ...]:
        return tuple(
            read_marker(node, self.frames) for node in self.model.objects("MarkerSet") if node.tag == "Marker"
        )

    def _lost(self, names: Iterable[str]) -> str | None:
        """The first of these coordinates that the file has but the model lacks, such as one of an unknown joint."""
        joints = self.model.objects("JointSet")
        known = {entry.name for joint in joints for entry in joint.elements("coordinates")}
        return next((name for name in names if name in known - set(self.tree.coordinates)), None)

    def _check_wraps(
        self, muscles: dict[str, OpenSimMuscle], wrap_objects: dict[str, OpenSimWrapObject]
    ) -> None:
        for muscle in tuple(muscles.values()):
            lost = self._lost(name for point in muscle.points for name in _followed(point))
            if lost is not None:
                self.warnings.append(
                    f"muscle {muscle.name!r} is left out: it follows coordinate {lost!r}, which is not read"
                )
                del muscles[muscle.name]
                continue
            for wrap in muscle.wraps:
                if wrap.wrap_object not in wrap_objects:
                    raise FormatError(
                        f"{self.model.path}: {muscle.name!r} wraps over {wrap.wrap_object!r}, which is missing"
                    )
            for point in muscle.points:
                for name in _followed(point):
                    if name not in self.tree.coordinates:
                        raise FormatError(
                            f"{self.model.path}: point {point.name!r} follows {name!r}, which is missing"
                        )

    def _constraints(self) -> None:
        for node in self.model.objects("ConstraintSet"):
            if not node.truth("isEnforced", True):
                self.warnings.append(f"{node.path}: left out, as it is not enforced")
            elif node.tag == "CoordinateCouplerConstraint" and (lost := self._lost(coupled_names(node))):
                self.warnings.append(f"{node.path}: left out, as coordinate {lost!r} is not read")
            elif node.tag == "CoordinateCouplerConstraint":
                couple(node, self.builder, self.tree.coordinates, self.warnings)
                continue
            elif node.tag in ("PointConstraint", "WeldConstraint", "ConstantDistanceConstraint"):
                self._constrain(node)
                continue
            else:
                self.warnings.append(f"{node.path}: left out, as this kind of constraint is not supported")
            node.forget()

    def _constrain(self, node: Node) -> None:
        """Add a constraint between two frames."""
        weld = node.tag == "WeldConstraint"
        sockets = [f"socket_frame{k}" if weld else f"socket_body_{k}" for k in (1, 2)]
        ends = [self.frames.resolve(node.text(socket), "/", node.path) for socket in sockets]
        if ends[0].body is None:
            ends.reverse()
            order = (2, 1)
        else:
            order = (1, 2)
        (body, pose), (other, other_pose) = ((end.body, end.pose) for end in ends)
        try:
            if weld:
                constraint: Any = WeldConstraint(body, other, pose, other_pose)
            else:
                point, other_point = (
                    _on(end, node.numbers(f"location_body_{k}", np.zeros(3), 3))
                    for k, end in zip(order, ends)
                )
                length = node.number("constant_distance", 1.0)
                constraint = (
                    PointConstraint(body, other, point, other_point)
                    if node.tag == "PointConstraint"
                    else DistanceConstraint(body, other, point, other_point, length)
                )
            self.builder.add_constraint(node.name, constraint)
        except ModelError as error:
            raise FormatError(f"{node.path}: {error}") from error


def _followed(point: OpenSimPoint) -> list[str]:
    """Names of the coordinates that a point of a path follows."""
    return [name for name in (point.coordinate, *(name for _, name in point.moves)) if name is not None]


def _on(end: OpenSimFrame, location: FloatArray) -> FloatArray:
    point: FloatArray = (end.pose @ np.append(location, 1.0))[:3]
    return point
