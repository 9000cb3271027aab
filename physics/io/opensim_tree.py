"""The tree of an OpenSim model: sorts its joints so that parents come first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from .._typing import FloatArray
from ..bodies.body import point_inertia
from ..constraints import CouplingConstraint, WeldConstraint
from ..errors import FormatError, ModelError
from ..geometry import lie
from ..joints import Fixed, Free, Inverted
from ..model.builder import ModelBuilder
from .opensim_forces import coordinate_forces, laws, tell_left
from .opensim_frames import Frames, members
from .opensim_functions import scaled
from .opensim_joints import ReadJoint, read_joint
from .opensim_notes import Notes
from .opensim_parts import OpenSimCoordinate, OpenSimFrame
from .opensim_terms import read_terms
from .opensim_xml import Node, numbered

TRACE_MASS = 1e-9  # kg, of a moving body without mass; its forces are below round-off
TRACE_RADIUS = 1e-2  # m: radius of gyration of a body without mass and inertia
POINT_RADIUS = 1e-5  # m: that of a body with mass but without inertia, below round-off of lengths near 1 m
POINT_SHARE = 1e-9  # least moment of inertia, as a share of the largest
# whether parent and child are placed; in order of joining
CASES = ((True, False), (False, True), (False, False))
ROUND_OFF = 1e-9  # as a share of the largest moment


@dataclass(frozen=True)
class _Link:
    """A joint between two frames."""

    node: Node
    read: ReadJoint
    parent: OpenSimFrame
    child: OpenSimFrame


@dataclass(frozen=True)
class _Solid:
    """Mass, centre of mass and inertia of a body."""

    mass: float
    com: FloatArray
    inertia: FloatArray

    @property
    def possible(self) -> bool:
        """Whether a body can have this mass and inertia."""
        moments = np.linalg.eigvalsh(self.inertia)
        slack = ROUND_OFF * moments[2]
        return self.mass > 0.0 and moments[0] > 0.0 and bool(moments[0] + moments[1] >= moments[2] - slack)

    def joined(self, other: _Solid, pose: FloatArray) -> _Solid:
        """Both combined; the other one is at a pose (4, 4) in this one's frame."""
        mass = self.mass + other.mass
        if mass == 0.0:
            return self
        turn, place = pose[:3, :3], OpenSimFrame(None, pose).place(other.com)
        com = (self.mass * self.com + other.mass * place) / mass
        inertia = self.inertia + turn @ other.inertia @ turn.T
        for part, where in ((self.mass, self.com - com), (other.mass, place - com)):
            inertia = inertia + point_inertia(part, where)
        return _Solid(mass, com, inertia)


class Tree:
    """Adds bodies and joints to a builder.

    Attributes:
        coordinates: by OpenSim's name, filled by `plant`.
    """

    def __init__(
        self,
        model: Node,
        frames: Frames,
        builder: ModelBuilder,
        limits: bool,
        allow_welds: bool,
        notes: Notes,
    ) -> None:
        self.frames, self.builder, self.limits, self.notes = frames, builder, limits, notes
        self.forces = coordinate_forces([node for _, node in members(model, "ForceSet")])
        self.coordinates: dict[str, OpenSimCoordinate] = {}
        self.solids = {node.name: _solid(node) for _, node in members(model, "BodySet")}
        self.links = [self._link(path, node, allow_welds) for path, node in members(model, "JointSet")]

    def _link(self, owner: str, node: Node, allow_welds: bool) -> _Link:
        ends = [self.frames.of(node, f"socket_{end}_frame", owner=owner) for end in ("parent", "child")]
        if ends[0].body == ends[1].body:
            raise node.error(f"joins {ends[0].body or 'the ground'!r} to itself")
        read = read_joint(node, self.notes, allow_welds)
        if read.pose is not None:
            ends[0] = replace(ends[0], pose=ends[0].pose @ read.pose)
        return _Link(node, read, *ends)

    def plant(self) -> None:
        """Add all bodies, parents first; joints that close loops last."""
        placed: set[str | None] = {None}
        waiting = self._merged(self.links)
        while waiting:
            known = [(link.parent.body in placed, link.child.body in placed) for link in waiting]
            case = next((each for each in CASES if each in known), None)
            if case is None:
                break
            link = waiting[known.index(case)]
            if any(case):
                self._add(link if case[0] else _turned(link))
                waiting.remove(link)
                placed |= {link.parent.body, link.child.body}
            else:
                self._free(link.parent.body or "")
                placed.add(link.parent.body)
        for link in waiting:
            self._close(link)
        for name in self.solids:
            if name not in placed:
                self._free(name)
        tell_left(self.forces, self.notes)

    def _merged(self, links: list[_Link]) -> list[_Link]:
        """The links without the welds by which bodies of no or impossible mass were merged into their parents."""
        left, counts = list(links), Counter(link.child.body for link in links)
        for link in reversed(links):
            name = link.child.body
            solid = self.solids.get(name or "")
            alone = counts[name] == 1
            if name is None or solid is None or solid.possible or not alone or link.read.joint != Fixed():
                continue
            parent = self._current(link.parent)  # which may have been merged itself
            pose = parent.pose @ lie.inverse(link.child.pose)
            if parent.body is not None:
                carrier = self.solids[parent.body]
                self.solids[parent.body] = carrier.joined(solid, pose)
            del self.solids[name]
            self.frames.merge(name, OpenSimFrame(parent.body, pose))
            left.remove(link)
            lack = "no mass" if solid.mass == 0.0 else "an impossible inertia"
            self.notes.note(f"bodies of {lack} that are welded are merged into their parents", name)
        return [
            replace(link, parent=self._current(link.parent), child=self._current(link.child)) for link in left
        ]

    def _free(self, name: str) -> None:
        self.notes.warn("a body has no joint and is free", name)
        self.builder.add_body(name, joint=Free(), **vars(self._weighed(name)))

    def _add(self, link: _Link) -> None:
        name = link.child.body
        if name is None or name not in self.solids:
            raise link.node.error("has no child body")
        try:
            self.builder.add_body(
                name,
                link.parent.body,
                joint=link.read.joint,
                joint_in_parent=link.parent.pose,
                body_in_joint=lie.inverse(link.child.pose),
                limits=self._ranges(link.read),
                **vars(self._weighed(name)),
                **laws(link.read, self.forces, self.notes),
            )
        except ModelError as error:
            raise ModelError(f"{link.node.path}: {error}") from error
        self._name(link.read, name)

    def _current(self, frame: OpenSimFrame) -> OpenSimFrame:
        """The frame after merging bodies."""
        if frame.body is None:
            return frame
        base = self.frames.body(frame.body)
        return OpenSimFrame(base.body, base.pose @ frame.pose)

    def _weighed(self, name: str) -> _Solid:
        """The body with the least addition to its mass and inertia that makes them possible."""
        solid = self.solids[name]
        radius = POINT_RADIUS
        if solid.mass == 0.0:
            self.notes.note(f"bodies that move but have no mass get {TRACE_MASS:g} kg", name)
            solid, radius = replace(solid, mass=TRACE_MASS), TRACE_RADIUS
        if not solid.possible:
            moments, axes = np.linalg.eigh(solid.inertia)
            least = max(moments[2], solid.mass * radius**2)
            mended = np.array([*np.maximum(moments[:2], POINT_SHARE * least), least])
            mended[:2] += max(0.5 * (mended[2] - mended[0] - mended[1]), 0.0)
            if np.abs(mended - moments).max() > ROUND_OFF * solid.mass and radius == POINT_RADIUS:
                self.notes.warn("an impossible inertia is increased as little as makes it possible", name)
            solid = replace(solid, inertia=axes @ np.diag(mended) @ axes.T)
        return solid

    def _ranges(self, read: ReadJoint) -> FloatArray | None:
        """Limits of the joint's coordinates: the ranges of clamped ones, the values of locked ones."""
        limits = np.tile([-np.inf, np.inf], (read.joint.num_coordinates, 1))
        names = read.joint.coordinate_names
        for coordinate in read.coordinates:
            if self.limits and coordinate.clamped:
                limits[names.index(coordinate.coordinate)] = coordinate.range
        for name, value in read.held.items():
            limits[names.index(name)] = value
        return limits if np.isfinite(limits).any() else None

    def _name(self, read: ReadJoint, body: str) -> None:
        for coordinate in read.coordinates:
            known = coordinate.name in self.coordinates
            key = f"{coordinate.joint}/{coordinate.name}" if known else coordinate.name
            if key in self.coordinates:
                raise FormatError(f"duplicate coordinate {key!r}")
            self.coordinates[key] = replace(
                coordinate, name=key, coordinate=f"{body}.{coordinate.coordinate}"
            )

    def _close(self, link: _Link) -> None:
        """Add a joint that closes a loop between placed bodies."""
        parent, child = link.parent, link.child
        name, joint = link.node.name, link.read.joint
        if child.body is None:
            parent, child, joint = child, parent, joint if joint == Fixed() else Inverted(joint)
        try:
            if joint == Fixed():
                weld = WeldConstraint(child.body, parent.body, child.pose, parent.pose)
                self.builder.add_constraint(name, weld)
                return
            self.builder.add_loop_joint(
                name,
                child.body or "",
                parent.body,
                joint=joint,
                joint_in_parent=parent.pose,
                body_in_joint=lie.inverse(child.pose),
                limits=self._ranges(link.read),
                **laws(link.read, self.forces, self.notes),
            )
        except ModelError as error:
            raise ModelError(f"{link.node.path}: {error}") from error
        self._name(link.read, name)


def _solid(node: Node) -> _Solid:
    xx, yy, zz, xy, xz, yz = node.numbers("inertia", np.zeros(6), 6)
    mass, com = node.number("mass", 0.0), node.vector("mass_center")
    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    # OpenSim's massless bodies have none
    return _Solid(mass, com, inertia if mass > 0.0 else np.zeros((3, 3)))


def _turned(link: _Link) -> _Link:
    """The joint from child to parent, for a child that is placed already."""
    read = replace(link.read, joint=Inverted(link.read.joint)) if link.read.coordinates else link.read
    return replace(link, read=read, parent=link.child, child=link.parent)


def coupled_names(node: Node) -> list[str]:
    """The dependent coordinate of a CoordinateCouplerConstraint, and the independent ones."""
    return [node.text("dependent_coordinate_name"), *node.text("independent_coordinate_names").split()]


def couple(
    node: Node, builder: ModelBuilder, coordinates: dict[str, OpenSimCoordinate], notes: Notes
) -> None:
    """Add a CoordinateCouplerConstraint."""
    follower, *drivers = coupled_names(node)
    holder = node.child("coupled_coordinates_function")
    for name in (follower, *drivers):
        if name not in coordinates:
            raise node.error(f"unknown coordinate {name!r}")
    try:
        terms = [] if holder is None else read_terms(holder, len(drivers))
    except FormatError as error:
        if len(drivers) == 1:
            raise
        notes.warn(f"the coordinates are not coupled: {error}", node.path)
        return node.forget()
    if not terms:
        notes.warn("its function is not supported; the coordinates are not coupled", node.path)
        return node.forget()
    ours = [coordinates[name].coordinate for name in drivers]
    factor = node.number("scale_factor", 1.0)
    first, *more = ((dict(zip(ours, weights)), scaled(function, factor)) for weights, function in terms)
    coupling = CouplingConstraint(coordinates[follower].coordinate, *first, more)
    builder.add_constraint(free_name(builder, node), coupling)


def free_name(builder: ModelBuilder, node: Node) -> str:
    """The name of a constraint, or one made of its kind, as OpenSim does, that no other constraint has."""
    return numbered(node.name or node.tag.lower(), builder.constraints)
