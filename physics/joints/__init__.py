"""All joint classes, and the registry that names them in files and menus."""

from collections.abc import Mapping
from typing import Any

from .. import registry
from ..errors import FormatError
from ..geometry.exponential_coordinates import ReachCone
from .anatomical import Custom, Elliptic
from .base import Block, Factorization
from .composite import Composite
from .constant_curvature import ConstantCurvature
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
from .flexible_surface import FlexibleSurface
from .functions import (
    CubicSpline,
    Function,
    Linear,
    PiecewiseLinear,
    PiecewisePolynomial,
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

#: every joint class of the modules of this package by its ``type``
REGISTRY: dict[str, type[Joint]] = registry.found_in(registry.modules_of(__name__, __path__), Joint)


def from_dict(description: Mapping[str, Any]) -> Joint:
    """The joint described by ``Joint.to_dict``.

    Raises:
        FormatError: the type or a key is unknown, or a required key is missing.
        ModelError: a value is invalid.
    """
    return registry.from_dict(description, REGISTRY, "a joint", READERS)


def _parts(entries: Any) -> tuple[Joint, ...]:
    if not isinstance(entries, list | tuple):
        raise FormatError(f"'joints' of a composite joint must be a list, got {entries!r:.80}")
    return tuple(map(from_dict, entries))


#: fields of joints that are joints themselves
READERS = {"joint": from_dict, "surface": from_dict, "joints": _parts}


__all__ = [
    "REGISTRY",
    "Block",
    "Composite",
    "ConstantCurvature",
    "CubicSpline",
    "PiecewiseLinear",
    "PiecewisePolynomial",
    "Custom",
    "Cylindrical",
    "Ellipsoid",
    "Elliptic",
    "Euler",
    "FlexibleSurface",
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
