"""OpenSim's joints as those of `joints`: CustomJoint directly, others by factors; coordinates keep their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import FormatError, ModelError
from ..joints import Custom, Fixed, Function, Hinge, Joint, Linear, Scapulothoracic, Slider
from .opensim_functions import read_function
from .opensim_parts import OpenSimCoordinate
from .opensim_xml import Node

AXES = tuple(tuple(float(x) for x in row) for row in np.eye(3))
STILL = Linear(0.0, 0.0)
AXIS_NAMES = tuple(f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3))


@dataclass(frozen=True)
class ReadJoint:
    """A joint without its frames, and OpenSim's coordinates with their names in it."""

    joint: Joint
    coordinates: tuple[OpenSimCoordinate, ...]


def read_joint(node: Node, warnings: list[str]) -> ReadJoint:
    """The joint that a node describes; an unknown kind becomes a weld, with a warning."""
    coordinates = node.elements("coordinates")
    kind = KINDS.get(node.tag)
    if kind is None:
        warnings.append(f"{node.path}: this kind of joint is not supported; it becomes a weld")
        return ReadJoint(Fixed(), ())
    joint, motions = kind(node, [entry.name for entry in coordinates], warnings)
    if len(motions) != joint.num_coordinates:
        raise FormatError(f"{node.path}: must have {joint.num_coordinates} coordinates, got {len(motions)}")
    read = [
        read_coordinate(entry, local, motions[entry.name])
        for entry in coordinates
        if entry.name in motions
        for local in [joint.coordinate_names[list(motions).index(entry.name)]]
    ]
    return ReadJoint(joint, tuple(read))


def read_coordinate(node: Node, local: str, motion: str) -> OpenSimCoordinate:
    """A coordinate; its `coordinate` is the name in the joint until the joint has a body."""
    lower, upper = node.numbers("range", [-10.0, 10.0], 2)
    if lower > upper:
        raise FormatError(f"{node.path}: the range of this coordinate is reversed: {lower:g} to {upper:g}")
    if node.truth("prescribed", False):
        node.child("prescribed")  # the function remains unread, so that a warning names it
    else:
        node.child("prescribed_function")
    return OpenSimCoordinate(
        node.name,
        local,
        motion,
        node.number("default_value", 0.0),
        node.number("default_speed_value", 0.0),
        (float(lower), float(upper)),
        node.truth("clamped", False),
        node.truth("locked", False),
    )


Made = tuple[Joint, dict[str, str]]


def _weld(node: Node, names: list[str], warnings: list[str]) -> Made:
    return Fixed(), {}


def _single(make: Callable[[], Joint], motion: str) -> Callable[[Node, list[str], list[str]], Made]:
    def read(node: Node, names: list[str], warnings: list[str]) -> Made:
        return make(), dict.fromkeys(names, motion)

    return read


def _sequence(rotations: str, translations: str) -> Callable[[Node, list[str], list[str]], Made]:
    """A joint that rotates about these axes in turn, then translates along those of the parent."""

    def read(node: Node, names: list[str], warnings: list[str]) -> Made:
        if len(names) != len(rotations) + len(translations):
            raise FormatError(
                f"{node.path}: must have {len(rotations + translations)} coordinates, got {len(names)}"
            )
        turns = [(AXES["xyz".index(axis)], Linear(), name) for axis, name in zip(rotations, names)]
        rest = names[len(rotations) :]
        slides = [(AXES["xyz".index(axis)], Linear(), name) for axis, name in zip(translations, rest)]
        motions = dict.fromkeys(names[: len(rotations)], "rotational") | dict.fromkeys(rest, "translational")
        return Custom(tuple(names), _three(turns), _three(slides), _units(motions)), motions

    return read


def _three(entries: list[Any]) -> tuple[Any, ...]:
    return tuple([*entries, *((axis, STILL, None) for axis in AXES)][:3])


def _units(motions: dict[str, str]) -> tuple[str, ...]:
    return tuple("m" if motion == "translational" else "rad" for motion in motions.values())


def _scapulothoracic(node: Node, names: list[str], warnings: list[str]) -> Made:
    joint = Scapulothoracic(
        node.numbers("thoracic_ellipsoid_radii_x_y_z", [1.0, 1.0, 1.0], 3),
        node.numbers("scapula_winging_axis_origin", [0.0, 0.0], 2),
        node.number("scapula_winging_axis_direction", 0.0),
    )
    return joint, dict.fromkeys(names, "rotational")


def _custom(node: Node, names: list[str], warnings: list[str]) -> Made:
    transform = node.child("SpatialTransform")
    found = {} if transform is None else {entry.name: entry for entry in transform}
    missing = [name for name in AXIS_NAMES if name not in found]
    if missing:
        raise FormatError(f"{node.path}: its SpatialTransform lacks {missing[0]!r}")
    axes = [_axis(found[name], names, warnings) for name in AXIS_NAMES]
    motions = {name: _motion(name, axes) for name in names}
    used = {name for _, _, name in axes}
    for name in names:
        if name not in used:
            warnings.append(f"{node.path}: coordinate {name!r} moves nothing and is left out")
            del motions[name]
    if not motions:
        raise FormatError(f"{node.path}: no coordinate moves this joint; make it a WeldJoint")
    try:
        return Custom(tuple(motions), tuple(axes[:3]), tuple(axes[3:]), _units(motions)), motions
    except ModelError as error:
        raise FormatError(f"{node.path}: {error}") from error


Axis = tuple[tuple[float, ...], Function, str | None]


def _axis(node: Node, names: list[str], warnings: list[str]) -> Axis:
    """Direction, function and coordinate of a TransformAxis."""
    axis = tuple(float(x) for x in node.numbers("axis", AXES[int(node.name[-1]) - 1], 3))
    follows = node.text("coordinates").split()
    holder = node.child("function") or node
    function = read_function(holder)
    if len(follows) > 1 or function is None or not function.smooth:
        what = f"a function of {len(follows)} coordinates" if len(follows) > 1 else "its function"
        warnings.append(f"{node.path}: {what} is not supported; it is set to 0")
        return axis, STILL, None
    for name in follows:
        if name not in names:
            raise FormatError(f"{node.path}: follows {name!r}, which is no coordinate of the joint")
    constant = isinstance(function, Linear) and function.slope == 0.0
    return axis, function, follows[0] if follows and not constant else None


def _motion(name: str, axes: Sequence[Axis]) -> str:
    def itself(entries: Sequence[Axis]) -> bool:
        return any(
            follows == name and isinstance(function, Linear) and abs(function.slope) == 1.0
            for _, function, follows in entries
        )

    if itself(axes[:3]):
        return "rotational"
    if itself(axes[3:]) and not any(follows == name for _, _, follows in axes[:3]):
        return "translational"
    return "coupled"


KINDS: dict[str, Callable[[Node, list[str], list[str]], Made]] = {
    "WeldJoint": _weld,
    "PinJoint": _single(Hinge, "rotational"),
    "SliderJoint": _single(lambda: Slider((1.0, 0.0, 0.0)), "translational"),
    "UniversalJoint": _sequence("xy", ""),
    "GimbalJoint": _sequence("xyz", ""),
    "BallJoint": _sequence("xyz", ""),
    "FreeJoint": _sequence("xyz", "xyz"),
    "PlanarJoint": _sequence("z", "xy"),
    "ScapulothoracicJoint": _scapulothoracic,
    "CustomJoint": _custom,
}
