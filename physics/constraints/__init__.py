"""Constraints in addition to joints: each has a value that is kept at zero (or above), its Jacobian and its bias."""

from collections.abc import Mapping
from typing import Any

from .. import registry
from .base import Constraint
from .coupling import CouplingConstraint
from .distance import DistanceConstraint
from .frames import HingeConstraint, PointConstraint, WeldConstraint
from .planar import Connector, PlanarConnector, SegmentedPlanarConnector
from .rolling import RollingConstraint

#: every constraint class by its ``type``
REGISTRY: dict[str, type[Constraint]] = registry.by_type(
    PointConstraint,
    HingeConstraint,
    WeldConstraint,
    DistanceConstraint,
    CouplingConstraint,
    RollingConstraint,
    PlanarConnector,
    SegmentedPlanarConnector,
)


def from_dict(description: Mapping[str, Any]) -> Constraint:
    """The constraint that ``to_dict`` described.

    Raises:
        FormatError: the type or a key is unknown, or a required key is missing.
        ModelError: the constraint rejects a value.
    """
    return registry.from_dict(description, REGISTRY, "a constraint")


__all__ = [
    "REGISTRY",
    "Constraint",
    "Connector",
    "CouplingConstraint",
    "DistanceConstraint",
    "HingeConstraint",
    "PlanarConnector",
    "PointConstraint",
    "RollingConstraint",
    "SegmentedPlanarConnector",
    "WeldConstraint",
    "from_dict",
]
