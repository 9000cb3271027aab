"""Constraints beside the joints' coordinates: a value, its Jacobian and its bias each, for an engine to keep at
zero or above it.
"""

from __future__ import annotations

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
        ModelError: a value is not acceptable.
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
