"""Muscles: paths over bodies and obstacles, masses along them, and force laws."""

from .cord import Cord
from .force_law import ForceLaw
from .hill import DeGroote, Millard, Schutte, Tension, Thelen, law_from_dict
from .mass import MassPoints
from .muscle import Muscle
from .obstacle import Obstacle
from .obstacles import (
    Cylinder,
    DoubleCylinder,
    Ellipsoid,
    Sphere,
    SphereCappedCylinder,
    Torus,
    obstacle_from_dict,
)
from .path import Condition, Moving, PathPoint
from .signals import Keyframes, Proportional
from .wrapping import Wrap

__all__ = [
    "Condition",
    "Cord",
    "Cylinder",
    "DeGroote",
    "DoubleCylinder",
    "Ellipsoid",
    "ForceLaw",
    "Keyframes",
    "MassPoints",
    "Millard",
    "Moving",
    "Muscle",
    "Obstacle",
    "PathPoint",
    "Schutte",
    "Sphere",
    "SphereCappedCylinder",
    "Proportional",
    "Tension",
    "Thelen",
    "Torus",
    "Wrap",
    "law_from_dict",
    "obstacle_from_dict",
]
