"""OpenSim's forces without a path that the engine has elements for: on coordinates, and between two points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..joints import CubicSpline, Function
from ..model.builder import ModelBuilder
from .opensim_frames import Frames
from .opensim_joints import ReadJoint
from .opensim_notes import Notes
from .opensim_xml import Node

# of the spline of a limit's transition; its force errs by at most 1e-4 of stiffness times transition
KNOTS = 24
NUMBERS = {
    "SpringGeneralizedForce": ("stiffness", "rest_length", "viscosity"),
    "CoordinateLimitForce": (
        "lower_limit",
        "upper_limit",
        "lower_stiffness",
        "upper_stiffness",
        "transition",
    ),
}


@dataclass(frozen=True)
class CoordinateForce:
    """A force on a coordinate: its kind, and its numbers (`NUMBERS`), in degrees for limits of angles."""

    kind: str
    numbers: tuple[float, ...]


def coordinate_forces(nodes: Sequence[Node], notes: Notes) -> dict[str, list[CoordinateForce]]:
    """The forces among these that act on coordinates, by the names of these."""
    found: dict[str, list[CoordinateForce]] = {}
    for node in nodes:
        if node.tag not in NUMBERS:
            continue
        numbers = [node.number(name, 0.0) for name in NUMBERS[node.tag]]
        if node.number("damping", 0.0) != 0.0:
            notes.warn("the damping of a CoordinateLimitForce is not applied", node.path)
        if node.truth("appliesForce", True):
            found.setdefault(node.text("coordinate"), []).append(CoordinateForce(node.tag, tuple(numbers)))
        node.forget()
    return found


def laws(read: ReadJoint, forces: dict[str, list[CoordinateForce]]) -> dict[str, Any]:
    """Arguments of `ModelBuilder.add_body` for the forces on a joint's coordinates."""
    count = read.joint.num_coordinates
    stiffness, rest, damping = np.zeros((3, count))
    elastic: list[Function | None] = [None] * count
    for coordinate in read.coordinates:
        own = forces.get(coordinate.name, [])
        k = read.joint.coordinate_names.index(coordinate.coordinate)
        springs = np.array([force.numbers for force in own if force.kind == "SpringGeneralizedForce"])
        if len(springs):
            stiffness[k], damping[k] = springs[:, 0].sum(), springs[:, 2].sum()
            rest[k] = springs[:, 0] @ springs[:, 1] / (stiffness[k] or 1.0)
        unit = np.pi / 180.0 if coordinate.motion == "rotational" else 1.0
        limits = [
            np.array(force.numbers) * [unit, unit, 1.0 / unit, 1.0 / unit, unit]
            for force in own
            if force.kind == "CoordinateLimitForce"
        ]
        if limits:
            elastic[k] = _limit_spline(limits)
    given = {"stiffness": stiffness, "rest": rest, "damping": damping}
    options: dict[str, Any] = {name: values for name, values in given.items() if values.any()}
    return options | ({"elastic": elastic} if any(law is not None for law in elastic) else {})


def _limit_spline(limits: list[FloatArray]) -> Function:
    """Resistance of coordinate limits: stiffness times excess, faded in by a smooth step over the transition."""
    edges = [(low, -w) for low, _, _, _, w in limits] + [(high, w) for _, high, _, _, w in limits]
    steps = np.concatenate(
        [np.linspace(-1.0 / KNOTS, 1.0 + 2.0 / KNOTS, KNOTS + 4), [-1.0, -0.5, -0.2, 1.5, 2.0, 2.5, 3.0]]
    )
    x = np.unique(np.round(np.concatenate([edge + (w or 1e-6) * steps for edge, w in edges]), 12))
    y = np.zeros(len(x))
    for low, high, low_stiffness, high_stiffness, w in limits:
        for excess, stiffness in (
            (np.minimum(x - low, 0.0), low_stiffness),
            (np.maximum(x - high, 0.0), high_stiffness),
        ):
            share = np.clip(np.abs(excess) / (w or 1e-6), 0.0, 1.0)
            y += stiffness * excess * share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
    return CubicSpline(x, y)


def add_point_spring(node: Node, frames: Frames, builder: ModelBuilder, notes: Notes) -> None:
    """A PointToPointSpring."""
    ends = [
        frames.resolve(node.text(f"socket_body{k}") or node.text(f"body{k}"), "/", node.path) for k in (1, 2)
    ]
    places = [
        end.pose[:3, :3] @ node.numbers(f"point{k}", np.zeros(3), 3) + end.pose[:3, 3]
        for k, end in zip((1, 2), ends)
    ]
    if ends[0].body is None:
        ends, places = ends[::-1], places[::-1]
    if ends[0].body == ends[1].body:
        notes.note("a spring within a body moves nothing", node.path)
    elif node.truth("appliesForce", True):
        numbers = {"stiffness": node.number("stiffness", 1.0), "rest_length": node.number("rest_length", 0.0)}
        builder.add_spring(
            node.name or node.tag, ends[0].body or "", places[0], ends[1].body, places[1], **numbers
        )
    node.forget()
