"""OpenSim's joints as those of `joints`: CustomJoint directly, others by factors; coordinates keep their names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from .. import joints
from .._typing import FloatArray
from ..errors import ModelError, UnknownJointError
from .opensim_functions import read_function
from .opensim_notes import Notes
from .opensim_parts import OpenSimCoordinate
from .opensim_xml import Node

AXES = tuple(tuple(float(x) for x in row) for row in np.eye(3))
UNLED = "free unless a simulation gets the motion of its prescribed function"
STILL = joints.Linear(0.0, 0.0)
AXIS_NAMES = tuple(f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3))


@dataclass(frozen=True)
class ReadJoint:
    """A joint without its frames.

    Attributes:
        coordinates: OpenSim's, with their names in the joint. held: values of those that keep theirs, by these names.
        pose: (4, 4) of a joint that turns or moves by constants only; None: the identity.
    """

    joint: joints.Joint
    coordinates: tuple[OpenSimCoordinate, ...]
    held: Mapping[str, float] = field(default_factory=dict)
    pose: FloatArray | None = None


def read_joint(node: Node, notes: Notes, allow_welds: bool) -> ReadJoint:
    """The joint that a node describes.

    Raises:
        FormatError: it is invalid, or of an unknown kind and must not become a weld.
    """
    kind = KINDS.get(node.tag)
    if kind is None:
        if not allow_welds:
            said = f"{node.path}: a {node.tag} is not supported; allow welds to read it as a weld"
            raise UnknownJointError(said)
        notes.warn("this kind of joint is not supported; it becomes a weld", node.path)
        others = (part for part in node if part.tag not in ("coordinates", "frames"))
        for part in (*node.elements("coordinates"), *others):
            part.forget()
        return ReadJoint(joints.Fixed(), ())
    make, count = kind
    entries = node.elements("coordinates")
    names = [entry.name or f"_coord_{k}" for k, entry in enumerate(entries)]
    names += [f"_coord_{k}" for k in range(len(names), count or 0)]  # OpenSim adds those that are missing
    if count not in (None, len(names)):
        raise node.error(f"must have {count} coordinates, got {len(names)}")
    joint, motions, pose = make(node, names, notes)
    locals_ = dict(zip(motions, joint.coordinate_names))
    held = dict.fromkeys(joint.coordinate_names[len(motions) :], 0.0)
    read = []
    for k, name in enumerate(names):
        entry = entries[k] if k < len(entries) else None
        if name not in motions:
            if entry is not None:
                entry.forget()
            continue
        coordinate = OpenSimCoordinate(name, locals_[name], motions[name], joint=node.name)
        if entry is not None:
            coordinate, value = _coordinate(entry, coordinate, notes)
            if value is not None:
                held[coordinate.coordinate] = value
        read.append(coordinate)
    return ReadJoint(joint, tuple(read), held, pose)


def _coordinate(node: Node, given: OpenSimCoordinate, notes: Notes) -> tuple[OpenSimCoordinate, float | None]:
    """A coordinate with its settings, and the value that it keeps: locked, prescribed, or without a range."""
    lower, upper = (float(bound) for bound in node.numbers("range", [-10.0, 10.0], 2))
    if lower > upper:
        raise node.error(f"the range of this coordinate is reversed: {lower:g} to {upper:g}")
    found = replace(
        given,
        default=node.number("default_value", 0.0),
        default_speed=node.number("default_speed_value", 0.0),
        range=(lower, upper),
        clamped=node.truth("clamped", False),
        locked=node.truth("locked", False),
    )
    holder, value = node.child("prescribed_function"), None
    if node.truth("prescribed", False):
        function = None if holder is None else read_function(holder)
        if isinstance(function, joints.Linear) and function.slope == 0.0:
            value = function.offset
        elif function is None:
            notes.warn("its prescribed function is not read; it is free", node.path)
        elif not found.locked:
            notes.warn(UNLED, node.path)
            found = replace(found, prescribed=function)
    elif holder is not None:
        holder.forget()
    if found.locked:
        value = found.default
    return found, value


class Made(NamedTuple):
    """A joint, the motions that are its coordinates by their names, and a pose (4, 4) before it."""

    joint: joints.Joint
    motions: dict[str, str]
    pose: FloatArray | None = None


Maker = Callable[[Node, list[str], Notes], Made]


def _single(make: Callable[[], joints.Joint], motion: str) -> Maker:
    def read(node: Node, names: list[str], notes: Notes) -> Made:
        return Made(make(), dict.fromkeys(names, motion))

    return read


def _sequence(rotations: str, translations: str) -> Maker:
    """A joint that rotates about these axes in turn, then translates along those of the parent."""

    def read(node: Node, names: list[str], notes: Notes) -> Made:
        turns = [(AXES["xyz".index(axis)], joints.Linear(), name) for axis, name in zip(rotations, names)]
        rest = names[len(rotations) :]
        slides = [(AXES["xyz".index(axis)], joints.Linear(), name) for axis, name in zip(translations, rest)]
        motions = dict.fromkeys(names[: len(rotations)], "rotational") | dict.fromkeys(rest, "translational")
        return Made(joints.Custom(tuple(names), _three(turns), _three(slides), _units(motions)), motions)

    return read


def _three(entries: list[Any]) -> tuple[Any, ...]:
    return tuple([*entries, *((axis, STILL, None) for axis in AXES)][:3])


def _units(motions: dict[str, str]) -> tuple[str, ...]:
    return tuple("m" if motion == "translational" else "rad" for motion in motions.values())


def _scapulothoracic(node: Node, names: list[str], notes: Notes) -> Made:
    joint = joints.Scapulothoracic(
        node.numbers("thoracic_ellipsoid_radii_x_y_z", [1.0, 1.0, 1.0], 3),
        node.numbers("scapula_winging_axis_origin", [0.0, 0.0], 2),
        node.number("scapula_winging_axis_direction", 0.0),
    )
    return Made(joint, dict.fromkeys(names, "rotational"))


def _ellipsoid(node: Node, names: list[str], notes: Notes) -> Made:
    """OpenSim's has three coordinates; the fourth, the last turn, stays 0."""
    radii = node.numbers("radii_x_y_z", [1.0, 1.0, 1.0], 3)
    return Made(joints.Ellipsoid(*radii), dict.fromkeys(names, "rotational"))


def _constant_curvature(node: Node, names: list[str], notes: Notes) -> Made:
    neutral = node.numbers("neutral_angle_x_z_y", [0.0, 0.0, 0.0], 3)
    return Made(
        joints.ConstantCurvature(node.number("length", 1.0), neutral), dict.fromkeys(names, "rotational")
    )


def _custom(node: Node, names: list[str], notes: Notes) -> Made:
    transform = node.child("SpatialTransform")
    found = {} if transform is None else {entry.name: entry for entry in transform}
    axes = [
        _axis(found[name], names, notes) if name in found else (AXES[k % 3], STILL, None)
        for k, name in enumerate(AXIS_NAMES)
    ]
    motions = {name: _motion(name, axes) for name in names}
    used = {name for _, _, name in axes}
    for name in names:
        if name not in used:
            notes.warn(f"coordinate {name!r} moves nothing and is left out", node.path)
            del motions[name]
    try:
        if not motions:  # which stays where its functions put it
            still = joints.Custom(("0",), ((*axes[0][:2], "0"), *axes[1:3]), tuple(axes[3:]))
            return Made(joints.Fixed(), motions, still.transform(np.zeros(1)))
        return Made(joints.Custom(tuple(motions), tuple(axes[:3]), tuple(axes[3:]), _units(motions)), motions)
    except ModelError as error:
        raise node.error(f"{error}") from error


Axis = tuple[tuple[float, ...], joints.Function, str | None]


def _axis(node: Node, names: list[str], notes: Notes) -> Axis:
    """Direction, function and coordinate of a TransformAxis."""
    axis = tuple(float(x) for x in node.numbers("axis", AXES[int(node.name[-1]) - 1], 3))
    follows = node.text("coordinates").split()
    holder = node.child("function") or node
    function = read_function(holder)
    if function is None and not any(part.tag not in ("axis", "coordinates", "function") for part in holder):
        function = joints.Linear() if follows else STILL
    if len(follows) > 1 or function is None:
        what = "a function of several coordinates" if len(follows) > 1 else "its function"
        notes.warn(f"{what} is not supported; it is set to 0", node.path)
        return axis, STILL, None
    for name in follows:
        if name not in names:
            raise node.error(f"follows {name!r}, which is no coordinate of the joint")
    constant = isinstance(function, joints.Linear) and function.slope == 0.0
    return axis, function, follows[0] if follows and not constant else None


def _motion(name: str, axes: Sequence[Axis]) -> str:
    def itself(entries: Sequence[Axis]) -> bool:
        return any(
            follows == name and isinstance(function, joints.Linear) and abs(function.slope) == 1.0
            for _, function, follows in entries
        )

    if itself(axes[:3]):
        return "rotational"
    if itself(axes[3:]) and not any(follows == name for _, _, follows in axes[:3]):
        return "translational"
    return "coupled"


KINDS: dict[str, tuple[Maker, int | None]] = {  # and the number of coordinates, None: any
    "WeldJoint": (lambda node, names, notes: Made(joints.Fixed(), {}), None),
    "PinJoint": (_single(joints.Hinge, "rotational"), 1),
    "SliderJoint": (_single(lambda: joints.Slider((1.0, 0.0, 0.0)), "translational"), 1),
    "UniversalJoint": (_sequence("xy", ""), 2),
    "GimbalJoint": (_sequence("xyz", ""), 3),
    "BallJoint": (_sequence("xyz", ""), 3),
    "FreeJoint": (_sequence("xyz", "xyz"), 6),
    "PlanarJoint": (_sequence("z", "xy"), 3),
    "EllipsoidJoint": (_ellipsoid, 3),
    "ScapulothoracicJoint": (_scapulothoracic, 4),
    "ConstantCurvatureJoint": (_constant_curvature, 3),
    "CustomJoint": (_custom, None),
}
