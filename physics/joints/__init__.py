"""Every joint, and the registry by which files and menus name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..errors import FormatError
from ..geometry.exponential_coordinates import ReachCone
from .anatomical import Custom, Elliptic
from .base import Block, Factorization
from .composite import Composite
from .elementary import (
    Cylindrical,
    Fixed,
    Helical,
    Hinge,
    Planar,
    PlanarTranslation,
    SkewedUniversal,
    Slider,
    SlottedHinge,
    Translational,
    Universal,
)
from .ellipsoid import Ellipsoid, Scapulothoracic
from .functions import (
    CubicSpline,
    Function,
    Linear,
    PiecewiseLinear,
    Polynomial,
    TangentAngle,
    Wave,
    function_from_dict,
)
from .inverted import Inverted
from .joint import Joint
from .legacy import ReversedHinge, RollPitch, RollPitchYaw
from .rotation_limits import RotationLimit
from .rotational import Euler, Free, Spherical
from .spline_curve import SplineCurve
from .spline_surface import SplineSurface

#: every joint class by its ``type``; a new joint adds one entry
REGISTRY: dict[str, type[Joint]] = {
    joint.type: joint
    for joint in (
        Fixed,
        Hinge,
        Slider,
        Helical,
        Cylindrical,
        Universal,
        Planar,
        Translational,
        Spherical,
        Free,
        SplineCurve,
        Composite,
        PlanarTranslation,
        SlottedHinge,
        SkewedUniversal,
        Euler,
        Elliptic,
        Ellipsoid,
        Custom,
        Inverted,
        SplineSurface,
        Scapulothoracic,
        ReversedHinge,
        RollPitch,
        RollPitchYaw,
    )
}


def from_dict(description: Mapping[str, Any]) -> Joint:
    """The joint that ``Joint.to_dict`` described.

    Raises:
        FormatError: the type is unknown, a key is unknown or a required one is missing.
        ModelError: a value is not acceptable to the joint.
    """
    if not isinstance(description, Mapping):
        raise FormatError(f"a joint must be an object with a 'type', got {description!r:.80}")
    kind = description.get("type")
    joint_class = REGISTRY.get(kind) if isinstance(kind, str) else None
    if joint_class is None:
        raise FormatError(f"unknown joint type {kind!r}; known are {', '.join(sorted(REGISTRY))}")
    values = {key: value for key, value in description.items() if key != "type"}
    known = {field.name for field in fields(joint_class)}  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            raise FormatError(f"unknown key {key!r} in a joint of type {kind!r}; known are {sorted(known)}")
    if joint_class is Composite:
        parts = values.get("joints")
        if not isinstance(parts, (list, tuple)):
            raise FormatError(f"'joints' of a composite joint must be a list, got {parts!r:.80}")
        values["joints"] = tuple(from_dict(part) for part in parts)
    if joint_class is Inverted and "joint" in values:
        values["joint"] = from_dict(values["joint"])
    try:
        return joint_class(**values)
    except TypeError as error:
        raise FormatError(f"joint of type {kind!r}: {error}") from error


__all__ = [
    "REGISTRY",
    "Block",
    "Composite",
    "CubicSpline",
    "PiecewiseLinear",
    "Custom",
    "Cylindrical",
    "Ellipsoid",
    "Elliptic",
    "Euler",
    "Factorization",
    "Fixed",
    "Free",
    "Function",
    "Helical",
    "Hinge",
    "Inverted",
    "Joint",
    "Linear",
    "Planar",
    "PlanarTranslation",
    "Polynomial",
    "ReachCone",
    "ReversedHinge",
    "RollPitch",
    "RollPitchYaw",
    "RotationLimit",
    "Scapulothoracic",
    "SkewedUniversal",
    "Slider",
    "SlottedHinge",
    "Spherical",
    "SplineCurve",
    "SplineSurface",
    "TangentAngle",
    "Translational",
    "Universal",
    "Wave",
    "from_dict",
    "function_from_dict",
]
