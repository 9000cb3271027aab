"""Constraints beside the joints' coordinates: a value, its Jacobian and its bias each, for an engine to keep at
zero or above it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..errors import FormatError
from .base import Constraint
from .coupling import CouplingConstraint
from .distance import DistanceConstraint
from .frames import HingeConstraint, PointConstraint, WeldConstraint
from .planar import Connector, PlanarConnector, SegmentedPlanarConnector
from .rolling import RollingConstraint

#: every constraint class by its ``type``
REGISTRY: dict[str, type[Constraint]] = {
    constraint.type: constraint
    for constraint in (
        PointConstraint,
        HingeConstraint,
        WeldConstraint,
        DistanceConstraint,
        CouplingConstraint,
        RollingConstraint,
        PlanarConnector,
        SegmentedPlanarConnector,
    )
}


def from_dict(description: Mapping[str, Any]) -> Constraint:
    """The constraint that ``to_dict`` described.

    Raises:
        FormatError: the type is unknown, a key is unknown or a required one is missing.
        ModelError: a value is not acceptable to the constraint.
    """
    if not isinstance(description, Mapping):
        raise FormatError(f"a constraint must be an object with a 'type', got {description!r:.80}")
    kind = description.get("type")
    found = REGISTRY.get(kind) if isinstance(kind, str) else None
    if found is None:
        raise FormatError(f"unknown constraint type {kind!r}; known are {', '.join(sorted(REGISTRY))}")
    values = {key: value for key, value in description.items() if key != "type"}
    known = {field.name for field in fields(found)}  # type: ignore[arg-type]
    for key in values:
        if key not in known:
            raise FormatError(
                f"unknown key {key!r} in a constraint of type {kind!r}; known are {sorted(known)}"
            )
    try:
        return found(**values)
    except TypeError as error:
        raise FormatError(f"constraint of type {kind!r}: {error}") from error


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
